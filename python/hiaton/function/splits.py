"""Loops that are taken apart: what a turn computes without the turns before it becomes a list, whose elements do not wait for each
other, and the rest goes over that list in order.

    for t in trees:                    results = [(h := encode(t), loss(h, t.label)) for t in trees]
        h = encode(t)                  for h, x in results:
        total += loss(h, t.label)          total += x
"""

import ast
import builtins
import copy
import math
import types

from hiaton.function.liveness import names_outside
from hiaton.function.scopes import assigned, changed, iterated_names, needed_names, nodes_below, read_names
from hiaton.function.types import Func

_OF_LISTS_AND_DICTS = ("append", "extend", "pop", "insert", "remove", "clear", "reverse", "sort", "index", "count", "copy", "get",
                       "keys", "values", "items", "item")
_SCOPED = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


class Split:
    """The two parts of a loop: `first` gives the list a name, `loop` goes over it."""

    def __init__(self, first, loop):
        self.first = first
        self.loop = loop

    @property
    def name(self):
        """That of the list."""
        return self.first.targets[0].id


def split_of(node, frame):
    """The parts of a `for` in the scope of a frame; None: it stays whole."""
    functions = functions_in_scope(frame)
    if not hasattr(node, "hiaton_splits"):
        node.hiaton_splits = {}
    key = key_of(functions)
    if key not in node.hiaton_splits:
        node.hiaton_splits[key] = Splitting(node, frame, functions).made()
    return node.hiaton_splits[key]


def functions_in_scope(frame):
    """The functions defined inside that names stand for: by name, the tree and the scope."""
    known = dict(frame.where.functions)
    known.update((name, (value.type.node, value.type.scope)) for name, value in frame.env.items()
                 if isinstance(name, str) and isinstance(value.type, Func))
    return known


def key_of(functions):
    """What they are, as far as a loop that calls them is concerned."""
    return frozenset((name, id(tree)) for name, (tree, _) in functions.items())


def _copied(node):
    """A copy, without what was found out about the original."""
    made = copy.copy(node)
    for name in [name for name in vars(made) if name.startswith("hiaton_") and name not in ("hiaton_is_tried", "hiaton_changes")]:
        delattr(made, name)
    return made


class Splitting:
    """Finds out about one loop what its turns have to do with each other."""

    def __init__(self, node, frame, functions):
        self.node = node
        self.frame = frame
        self.functions = functions
        self.where = frame.where
        self.targets = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
        self.assigned = assigned(*node.body)
        # Names that have another value in each turn, which turns before have no part in: known from where they are assigned on.
        self.dependent = self.assigned | self.functions_that_read(self.assigned)
        self.parts = []  # of an element: trees, each of which gives one name its value
        self.names = []
        self.given_again = set()  # names of parts that statements which are left give the same value

    def made(self):
        node = self.node
        if node.orelse or not self._may_be_split():
            return None
        body = _without_continue(node.body)
        if body is None:
            return None
        rest = self._statements(body, [])
        if not any(map(self.is_worth_it, self.parts)):
            return None
        read = read_names(rest) | names_outside(self.where.tree, node)
        for name in sorted(self.targets & read):
            self.names.insert(0, name)
            self.parts.insert(0, ast.Name(name, ast.Load()))
        wanted = [name for name in self.names if name in read and name not in self.given_again]
        return self._both(rest, wanted or self.names[:1])

    def has_plain_elements(self):
        """Whether names are given elements that no turn changes, nor what the loop goes over."""
        node = self.node
        is_simple = all(isinstance(part, (ast.Name, ast.Tuple, ast.Starred, ast.Store)) for part in ast.walk(node.target))
        return (is_simple and not self.targets & (self.assigned | self.where.set_outside)
                and not iterated_names(node.iter) & changed(*node.body))

    def _may_be_split(self):
        leaving = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.FunctionDef, ast.Delete)
        body = self.node.body
        return (self.has_plain_elements() and not leaves_loop(body, (ast.Return, ast.Break))
                and not any(isinstance(part, leaving) for part in nodes_below(body)))

    def functions_that_read(self, names):
        """The names of functions defined inside that read one of these, as far as the scope tells."""
        return {name for name, (tree, scope) in self.functions.items() if needed_names(scope, tree)[0] & names}

    def is_independent(self, node):
        kept = (ast.NamedExpr, ast.JoinedStr)
        return not read_names([node]) & self.dependent and not any(isinstance(part, kept) for part in ast.walk(node))

    def _statements(self, statements, conditions):
        """What is left of them. `conditions`: the names of parts, and whether they hold where these statements run."""
        rest = []
        for statement in statements:
            if self.is_of_one_turn(statement, conditions):
                rest += self._names_of_one_turn(statement.targets[0], statement)
                continue
            statement = _copied(statement)
            if isinstance(statement, ast.If):
                self._if(statement, conditions)
            elif isinstance(statement, ast.Expr):
                self._call(statement, conditions)
            elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and statement.value is not None:
                statement.value = self._expression(statement.value, conditions)
            rest.append(statement)
        return rest

    def is_of_one_turn(self, statement, conditions):
        """Whether it gives names values that turns before have no part in, and that no turn reads before."""
        if conditions or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0]
        names = [part.id if isinstance(part, ast.Name) else None
                 for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
        if None in names or self.where.set_outside & set(names) or not self.is_independent(statement.value):
            return False
        body = self.node.body
        before = body[:body.index(statement)] if statement in body else body
        stores = [part.id for part in nodes_below(body) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)]
        return all(stores.count(name) == 1 and name not in read_names(before) and name not in changed(*body) for name in names)

    def _names_of_one_turn(self, target, statement):
        """Gives the names their values in the elements; and what is left of the statement."""
        if isinstance(target, ast.Name):
            self._add(target.id, statement.value)
            self.dependent = self.dependent - {target.id}
            return []
        whole = self._part(statement.value, [])
        for number, part in enumerate(target.elts):
            item = ast.Subscript(ast.Name(whole.id, ast.Load()), ast.Constant(number), ast.Load())
            self._add(part.id, ast.copy_location(item, statement.value))
            self.dependent = self.dependent - {part.id}
            self.given_again.add(part.id)
        statement = _copied(statement)
        statement.value = whole  # its length is looked at there
        return [statement]

    def _call(self, statement, conditions):
        """A statement that is an expression: it is there for what it does."""
        call = statement.value
        is_print = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"
        if isinstance(call, ast.Call) and not is_print:
            statement.value = _copied(call)
            statement.value.args = [self._expression(arg, conditions) for arg in call.args]

    def _if(self, node, conditions):
        if not self.is_independent(node.test):
            node.test = self._expression(node.test, conditions)
            return
        if self.is_worth_it(node.test):
            node.test = self._part(node.test, conditions)
        test = node.test
        node.body = self._statements(node.body, [*conditions, test])
        node.orelse = self._statements(node.orelse, [*conditions, ast.UnaryOp(ast.Not(), test)])

    def _expression(self, node, conditions):
        """The expression with names for the largest parts of it that other turns have no part in."""
        if isinstance(node, _SCOPED) and not self.is_independent(node):
            return node
        if self.is_independent(node):
            return self._part(node, conditions) if self.is_worth_it(node) else node
        node = _copied(node)
        if isinstance(node, ast.IfExp):
            node.test = self._expression(node.test, conditions)
        elif isinstance(node, ast.BoolOp):
            node.values = [self._expression(node.values[0], conditions), *node.values[1:]]
        elif isinstance(node, ast.Compare):
            node.left = self._expression(node.left, conditions)
            node.comparators = [self._expression(node.comparators[0], conditions), *node.comparators[1:]]
        else:
            for field, held in ast.iter_fields(node):
                if isinstance(held, ast.expr) and not (isinstance(node, ast.Call) and field == "func"):
                    setattr(node, field, self._expression(held, conditions))
                elif isinstance(held, list) and all(isinstance(part, ast.expr) for part in held):
                    setattr(node, field, [self._expression(part, conditions) for part in held])
        return node

    def is_worth_it(self, node):
        """Whether it calls a function of Python or an operation on tensors."""
        return any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.MatMult)
                   or isinstance(part, ast.Call) and not self._is_cheap(part.func) for part in nodes_below([node]))

    def _is_cheap(self, function):
        if isinstance(function, ast.Attribute):
            holder = self._global(function.value) if isinstance(function.value, ast.Name) else None
            return holder is math or not isinstance(holder, types.ModuleType) and function.attr in _OF_LISTS_AND_DICTS
        found = self._global(function) if isinstance(function, ast.Name) else None
        return found is None and isinstance(function, ast.Name) and hasattr(builtins, function.id) or getattr(
            found, "__module__", None) == "math"

    def _global(self, name):
        return None if name.id in self.frame.env or name.id in self.where.locals else self.where.globals.get(name.id)

    def _part(self, node, conditions):
        """A name for the expression, which is computed for each element on its own."""
        name = f"part@{id(self.node)}_{len(self.parts)}"
        if conditions:
            test = conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), conditions)
            made = ast.IfExp(test, node, ast.Constant(None))
        else:
            made = node
        self._add(name, made)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _add(self, name, value):
        self.names.append(name)
        self.parts.append(ast.copy_location(ast.NamedExpr(ast.Name(name, ast.Store()), value), value))

    def _both(self, rest, wanted):
        """`wanted`: the names of the parts that the loop over the list reads."""
        node, name = self.node, f"results@{id(self.node)}"
        element = ast.Tuple(self.parts, ast.Load())
        if wanted != self.names:
            kept = ast.Tuple([ast.Name(one, ast.Load()) for one in wanted], ast.Load())
            element = ast.Subscript(ast.Tuple([*self.parts, kept], ast.Load()), ast.Constant(len(self.parts)), ast.Load())
        made = ast.ListComp(element, [ast.comprehension(node.target, node.iter, [], 0)])
        first = ast.Assign([ast.Name(name, ast.Store())], made)
        target = ast.Tuple([ast.Name(one, ast.Store()) for one in wanted], ast.Store())
        loop = ast.For(target, ast.Name(name, ast.Load()), rest or [ast.Pass()], [])
        for one in (first, loop):
            place_at(one, node)
        loop.hiaton_is_split = True
        loop.hiaton_outside = names_outside(self.where.tree, node)
        return Split(first, loop)


def place_at(made, node):
    """What was made stands where the node does."""
    for part in ast.walk(made):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)


def leaves_loop(statements, kinds):
    """Whether one of these kinds of statements may leave the loop that the statements are the body of, or its turn."""
    pending = [(statement, kinds) for statement in statements]
    while pending:
        statement, leaving = pending.pop()
        if isinstance(statement, leaving):
            return True
        if isinstance(statement, ast.FunctionDef):
            continue
        if isinstance(statement, (ast.For, ast.While)):
            pending += [(one, leaving) for one in statement.orelse]
            pending += [(one, tuple(kind for kind in leaving if kind is ast.Return)) for one in statement.body]
            continue
        pending += [(one, leaving) for one in ast.iter_child_nodes(statement)
                    if isinstance(one, (ast.stmt, ast.ExceptHandler, ast.match_case))]
    return False


def _without_continue(statements):
    """The same statements without `continue`; None where it stands in other places than at the end of a branch."""
    made = []
    for number, statement in enumerate(statements):
        if isinstance(statement, ast.Continue):
            return made
        if isinstance(statement, (ast.If, ast.Try, ast.With, ast.Match)) and _has_continue(statement):
            if not isinstance(statement, ast.If):
                return None
            sides = [_without_continue(side) for side in (statement.body, statement.orelse)]
            rest = _without_continue(statements[number + 1:])
            ends = [_ends(side) for side in (statement.body, statement.orelse)]
            if None in (*sides, rest) or ends.count(True) != 1:
                return None
            sides[ends.index(False)] = [*sides[ends.index(False)], *rest]
            body, orelse = sides
            test = statement.test if body else ast.copy_location(ast.UnaryOp(ast.Not(), statement.test), statement.test)
            made.append(ast.copy_location(ast.If(test, body or orelse or [ast.copy_location(ast.Pass(), statement)],
                                                 orelse if body else []), statement))
            return made
        made.append(statement)
    return made


def _ends(statements):
    return bool(statements) and isinstance(statements[-1], ast.Continue) and not any(map(_has_continue, statements[:-1]))


def _has_continue(statement):
    if isinstance(statement, (ast.For, ast.While)):
        return any(map(_has_continue, statement.orelse))
    if isinstance(statement, ast.Continue):
        return True
    return any(_has_continue(part) for part in ast.iter_child_nodes(statement) if isinstance(part, (ast.stmt, ast.ExceptHandler,
                                                                                                 ast.match_case)))
