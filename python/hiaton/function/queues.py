"""Queues: lists that a function appends to and takes the first element of, and deques. Each becomes two lists, so that neither end is far away:
what is taken next stands at the end of one, what came last at the end of the other.

    q = [root]                 q, q_end = [root][::-1], []
    while q:                   while q or q_end:
        x = q.pop(0)               if not q:
                                       q, q_end = q_end[::-1], []
                                   x = q.pop()
        q.append(y)                q_end.append(y)

Only where the function does nothing else with the name than what is shown here, `extend`, `+=` and `len`: so nobody else refers to the list.
"""

import ast
import collections

from hiaton.function.array_uses import OF_EMPTINESS
from hiaton.function.rewrite import BUILTIN
from hiaton.function.scopes import declared_names, own_names

_END = "@end"  # ends the name of the list that grows
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_NOT_ONCE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.IfExp, ast.BoolOp)  # may run what is in them more or less often
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)


class StandsFor(ast.expr):
    """A name that stood for `value` when two lists took the place of a queue, and may stand for something else now."""

    _fields = ("name",)

    def __init__(self, name, value):
        super().__init__(name)
        self.value = value


def with_queues(tree, function):
    """The tree of a function, in its place, where two lists stand for each queue of it, and of functions that are defined inside."""
    classes = _classes_in(tree, function.__globals__)
    if any(isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("pop", "popleft") for node in ast.walk(tree)):
        _Apart(classes).generic_visit(tree)
    for inner in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        for name in sorted(_made_in(inner, classes)):
            uses = _Uses(name, classes)
            if uses.are_of_queue(inner):
                _Queue(uses).generic_visit(inner)
                ast.fix_missing_locations(inner)
    return tree


def _classes_in(tree, variables):
    """`list`, `len`, and the module and the class of deques, by the names that they have in a function, of variables of the module."""
    read, own = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else own).add(node.id)
        elif isinstance(node, (ast.arg, ast.alias)):
            own.add(node.arg if isinstance(node, ast.arg) else node.asname or node.name)
    found = {name: variables.get(name, {"list": list, "len": len}.get(name)) for name in read - own}
    return {name: value for name, value in found.items() if any(value is one for one in (list, len, collections, collections.deque))}


def _method(node, name, methods):
    """Whether it is a call name.method(...) of one of the methods, without arguments by name."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods and not node.keywords
    return is_call and getattr(node.func.value, "id", None) == name


def _is_taken(node, name):
    """Whether it takes the first element out, of a list or of a deque."""
    if _method(node, name, ("popleft",)):
        return not node.args
    number = node.args[0] if _method(node, name, ("pop",)) and len(node.args) == 1 else None
    return isinstance(number, ast.Constant) and type(number.value) is int and number.value == 0


def _is_grown(node, name):
    """Whether it is a statement that adds elements at the end."""
    if isinstance(node, ast.AugAssign):
        return getattr(node.target, "id", None) == name and isinstance(node.op, ast.Add)
    return isinstance(node, ast.Expr) and _method(node.value, name, ("append", "extend")) and len(node.value.args) == 1


def _is_deque(node, classes):
    """Whether it makes a collections.deque of any length. `classes`: as _classes_in() gives them."""
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) > 1:
        return False
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return classes.get(node.func.value.id) is collections and node.func.attr == "deque"
    return isinstance(node.func, ast.Name) and classes.get(node.func.id) is collections.deque


def _makes_list(node, classes):
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and classes.get(node.func.id) is list and not node.keywords
    return is_call or isinstance(node, (ast.List, ast.ListComp)) or _is_deque(node, classes)


def _assigned_name(node):
    """The name that a statement gives a value, and to nothing else."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return getattr(node.targets[0], "id", None)
    return getattr(node.target, "id", None) if isinstance(node, ast.AnnAssign) and node.value is not None else None


def _made_in(tree, classes):
    """The names of the function that stand for a list or a deque which it makes."""
    made = {_assigned_name(node) for node in ast.walk(tree) if _assigned_name(node) is not None and _makes_list(node.value, classes)}
    others = {node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)} | {
        node.asname or node.name if isinstance(node, ast.alias) else node.name
        for node in ast.walk(tree) if isinstance(node, (ast.alias, ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    return (made & own_names(tree)) - declared_names(tree) - others


def _truths(test):
    """The names in an expression of which only the truth is asked."""
    if isinstance(test, ast.BoolOp):
        return [name for value in test.values for name in _truths(value)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _truths(test.operand)
    return [test] if isinstance(test, ast.Name) else []


class _Apart(ast.NodeTransformer):
    """a, b = [], 0 becomes a = []; b = 0, where nothing that is called there may read the names."""

    def __init__(self, classes):
        self.classes = classes

    def visit_Assign(self, node):
        target, value = node.targets[0], node.value
        are_pairs = len(node.targets) == 1 and isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)
        if not are_pairs or not any(_makes_list(one, self.classes) for one in value.elts):
            return node
        names = {one.id for one in target.elts if isinstance(one, ast.Name)}
        parts = [part for one in value.elts for part in ast.walk(one) if part is not one or not _makes_list(one, self.classes)]
        if len(names) < len(target.elts) or any(isinstance(part, ast.Call) or getattr(part, "id", None) in names for part in parts):
            return node
        return [ast.copy_location(ast.Assign([name], one), node) for name, one in zip(target.elts, value.elts)]


class _Uses:
    """What a function does with a name: the nodes of that name which a queue may have, by identity."""

    def __init__(self, name, classes):
        self.name = name
        self.classes = classes
        self.known = set()
        self.is_grown = self.has_length = False
        self.made, self.taken = set(), set()  # whether what is made, and what elements are taken out of, is a deque

    def are_of_queue(self, tree):
        nodes = [node for statement in tree.body for node in ast.walk(statement)]
        for node in nodes:
            self._look_at(node)
        inner = {id(part) for node in nodes if isinstance(node, _SCOPES) for part in ast.walk(node)}
        is_queue = self.made == {True} >= self.taken or self.made == {False} == self.taken and self.is_grown
        return is_queue and self.known - inner == {id(node) for node in nodes if isinstance(node, ast.Name) and node.id == self.name}

    def is_length(self, node):
        return isinstance(node, ast.Call) and self.classes.get(getattr(node.func, "id", None)) is len and len(node.args) == 1 \
            and getattr(node.args[0], "id", None) == self.name

    def is_made(self, node):
        return _assigned_name(node) == self.name and _makes_list(node.value, self.classes) and not any(
            getattr(part, "id", None) == self.name for part in ast.walk(node.value))

    def takes(self, node):
        """The call by which a statement takes one element out; None: it does not do that once."""
        taken = [part for part in ast.walk(node) if _is_taken(part, self.name)] if isinstance(node, _SIMPLE) else []
        inside = {id(part) for outer in ast.walk(node) if isinstance(outer, _NOT_ONCE) for part in ast.walk(outer)}
        return taken[0] if len(taken) == 1 and id(taken[0]) not in inside else None

    def _look_at(self, node):
        taken = self.takes(node)
        if taken is not None:
            self.known.add(id(taken.func.value))
            self.taken.add(taken.func.attr == "popleft")
        if _is_grown(node, self.name):
            self.known.add(id(node.target if isinstance(node, ast.AugAssign) else node.value.func.value))
            self.is_grown = True
        if self.is_made(node):
            self.known.add(id(node.target if isinstance(node, ast.AnnAssign) else node.targets[0]))
            self.made.add(_is_deque(node.value, self.classes))
        if self.is_length(node):
            self.known.add(id(node.args[0]))
            self.has_length = True
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            self.known |= set(map(id, _truths(node.test)))
        if isinstance(node, ast.UnaryOp):
            self.known |= set(map(id, _truths(node)))


class _Queue(ast.NodeTransformer):
    def __init__(self, uses):
        self.uses = uses
        self.name, self.end = uses.name, uses.name + _END

    def _load(self, name, near):
        return ast.copy_location(ast.Name(name, ast.Load()), near)

    def _assigned(self, name, value, near):
        return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), near)

    def _turned(self, node):
        return ast.copy_location(ast.Subscript(node, ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))), ast.Load()), node)

    def _is_filled(self, near):
        return ast.copy_location(ast.BoolOp(ast.Or(), [self._load(self.name, near), self._load(self.end, near)]), near)

    def visit(self, node):
        if self.uses.is_made(node):
            return self._made(node)
        statements = []
        if self.uses.takes(node) is not None:
            is_empty = ast.UnaryOp(ast.Not(), self._load(self.name, node))
            fill = [self._assigned(self.name, self._turned(self._load(self.end, node)), node), self._assigned(self.end, ast.List([], ast.Load()), node)]
            statements = [ast.copy_location(ast.If(is_empty, fill, []), node)]
        if _is_grown(node, self.name):
            (node.target if isinstance(node, ast.AugAssign) else node.value.func.value).id = self.end
        made = super().visit(node)
        return [*statements, made] if statements else made

    def _made(self, node):
        value, classes = node.value, self.uses.classes
        names = [(value.func, collections.deque if _is_deque(value, classes) else list)] if isinstance(value, ast.Call) else []
        names += [(ast.Name(name, ast.Load()), len) for name, one in classes.items() if one is len and self.uses.has_length]
        made = [ast.copy_location(ast.Expr(ast.copy_location(StandsFor(*pair), value)), node) for pair in names]
        if _is_deque(value, classes):
            value = ast.copy_location(ast.Call(ast.Name("list" + BUILTIN, ast.Load()), value.args, []) if value.args else ast.List([], ast.Load()), value)
        value = self._turned(value) if not isinstance(value, ast.List) or value.elts else value
        return [*made, self._assigned(self.name, value, node), self._assigned(self.end, ast.List([], ast.Load()), node)]

    def visit_Call(self, node):
        if self.uses.is_length(node):
            ends = [ast.copy_location(ast.Call(node.func, [self._load(name, node)], []), node) for name in (self.name, self.end)]
            return ast.copy_location(ast.BinOp(ends[0], ast.Add(), ends[1]), node)
        if _is_taken(node, self.name):
            node.func.attr, node.args = "pop", []
            return node
        return self.generic_visit(node)

    def visit_Compare(self, node):
        number = node.comparators[0]
        is_short = len(node.ops) == 1 and isinstance(number, ast.Constant) and type(number.value) is int and self.uses.is_length(node.left)
        of_empty = OF_EMPTINESS.get((type(node.ops[0]).__name__, number.value)) if is_short else None
        if of_empty is None:
            return self.generic_visit(node)
        is_filled = self._is_filled(node)
        negated = ast.copy_location(ast.UnaryOp(ast.Not(), is_filled), node)
        return negated if of_empty else ast.copy_location(ast.UnaryOp(ast.Not(), negated), node)

    def visit_Name(self, node):
        return self._is_filled(node) if node.id == self.name and isinstance(node.ctx, ast.Load) else node
