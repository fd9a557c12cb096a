"""What functions print: the graph gives the values that they print, and Python prints them when the run is over."""

import ast

from hiaton.function.types import Const, Lst, NeverType, Scalar, Symbol, Tens, Tup, Union


def is_print(node):
    """Whether a statement may be a call of `print` whose arguments are known one by one."""
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
            and node.value.func.id == "print" and not getattr(node, "hiaton_is_tried", False)
            and not any(isinstance(arg, ast.Starred) for arg in node.value.args)
            and not any(keyword.arg is None for keyword in node.value.keywords))


class Printing:
    """One statement `print(...)`. `leaves`: the expressions whose values the graph gives; `texts` makes of these values what is
    printed, the arguments and the keywords of `print`."""

    def __init__(self, node):
        leaves = _Leaves()
        call = leaves.visit(node.value)
        self.leaves = leaves.found
        arguments = ast.arguments([], [ast.arg(f"v{i}") for i in range(len(self.leaves))], None, [], [], None, [])
        tree = ast.fix_missing_locations(ast.copy_location(ast.Expression(ast.Lambda(arguments, call)), node))
        self.texts = eval(compile(tree, "<print>", "eval"), {"print": _texts})


def _texts(*args, sep=None, end=None, file=None, flush=False):
    if not all(isinstance(text, (str, type(None))) for text in (sep, end)):
        raise TypeError("sep and end must be None or a string")
    return tuple(map(str, args)), {"sep": sep, "end": end, "file": file, "flush": flush}


def has_own_text(type_):
    """Whether values of the type are printed as they were, however late: not objects."""
    if isinstance(type_, (Tup, Union)):
        return all(map(has_own_text, type_.items if isinstance(type_, Tup) else type_.sides))
    if isinstance(type_, Lst):
        return has_own_text(type_.element)
    return isinstance(type_, (Const, NeverType, Scalar, Symbol, Tens))


class _Leaves:
    """Takes the expressions out of the arguments of a call of `print`: what remains is how they are printed."""

    def __init__(self):
        self.found = []

    def visit(self, call):
        keywords = [ast.keyword(keyword.arg, self.leaf(keyword.value)) for keyword in call.keywords]
        return ast.Call(call.func, [self.leaf(arg) for arg in call.args], keywords)

    def leaf(self, node):
        if isinstance(node, ast.Constant):
            return node
        if isinstance(node, ast.JoinedStr):
            return ast.JoinedStr([self.leaf(part) for part in node.values])
        if isinstance(node, ast.FormattedValue):
            value = self.leaf(node.value)
            spec = None if node.format_spec is None else self.leaf(node.format_spec)
            return ast.FormattedValue(value, node.conversion, spec)
        self.found.append(node)
        return ast.Name(f"v{len(self.found) - 1}", ast.Load())
