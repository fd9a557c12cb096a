"""Generators that are run to their end: functions that give the list of what they yield."""

import ast

YIELDED = "yielded@"


def as_list_function(tree):
    """Changes the tree of a generator into that of a function that gives a list."""
    tree.body = [_made(ast.Assign([ast.Name(YIELDED, ast.Store())], ast.List([], ast.Load())), tree.body[0]),
                 *(part for statement in tree.body for part in _listed(_Yields().visit(statement))),
                 _made(ast.Return(ast.Name(YIELDED, ast.Load())), tree.body[-1])]
    return tree


def _listed(made):
    return made if isinstance(made, list) else [made]


def _made(statement, like):
    ast.copy_location(statement, like)
    for part in ast.walk(statement):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, like)
    return statement


def _append(item):
    return ast.Expr(ast.Call(ast.Attribute(ast.Name(YIELDED, ast.Load()), "append", ast.Load()), [item], []))


class _Yields(ast.NodeTransformer):
    def visit_Expr(self, node):
        if isinstance(node.value, ast.Yield):
            return _made(_append(node.value.value or ast.Constant(None)), node)
        if isinstance(node.value, ast.YieldFrom):
            item = f"item@{id(node)}"
            return _made(ast.For(ast.Name(item, ast.Store()), node.value.value, [_append(ast.Name(item, ast.Load()))], []), node)
        return node

    def visit_Return(self, node):
        return _made(ast.Return(ast.Name(YIELDED, ast.Load())), node)

    def visit_FunctionDef(self, node):
        return node

    visit_Lambda = visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef
