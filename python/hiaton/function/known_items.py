"""What loops and comprehensions go over where it is known before the run how many items there are.

    for number, layer in enumerate(self.layers): ...          the turns are written out
    sum(hia.sum(p * p) for p in self.parameters().values())   so are the elements, where they are of several types

A list of the graph holds elements of one type. Layers of a model are functions of their own, and its parameters have shapes of their own.
"""

import ast
import builtins
import functools

from hiaton.function.iterations import names_start
from hiaton.function.scopes import assigned, nodes_below, read_names
from hiaton.function.statements import leaves
from hiaton.function.types import NEVER, NONE, Const, Dct, MadeList, Tup, Union, Value, general, join, sides_of

MOST_UNROLLED = 32  # of one type: a list would do as well
MOST_UNLIKE = 256   # of several types
MOST_KEYS = 64      # of a dict

_HANDING_ON = ("enumerate", "zip", "reversed")
_VIEWS = ("items", "keys", "values", "parameters")


def are_alike(items):
    """Whether the items are of one type, so that a list of the graph holds them as they are."""
    return len({general(item.type) for item in items}) <= 1


def _is_plain(node):
    """Whether an expression only reads what is there: it may be read twice."""
    if isinstance(node, ast.Subscript):
        return _is_plain(node.value) and _is_plain(node.slice)
    if isinstance(node, ast.Slice):
        return all(end is None or _is_plain(end) for end in (node.lower, node.upper, node.step))
    if isinstance(node, (ast.UnaryOp, ast.Attribute)):
        return _is_plain(node.operand if isinstance(node, ast.UnaryOp) else node.value)
    return isinstance(node, (ast.Name, ast.Constant))


def _only_reads(node):
    """Whether an expression that a loop goes over calls nothing but what gives items of others: it may be read twice."""
    called = [part.func for part in nodes_below([node]) if isinstance(part, ast.Call)]
    return all(getattr(one, "id", None) in (*_HANDING_ON, "range", "len") or getattr(one, "attr", None) in _VIEWS for one in called)


def is_parameters_of_module(type_):
    """Whether it is the method that gives the parameters of a module."""
    function = getattr(type_.value, "__func__", None) if isinstance(type_, Const) else None
    return getattr(function, "__module__", None) == "hiaton.nn" and function.__qualname__ == "Module.parameters"


class KnownItems:
    """The part of a frame that concerns them."""

    def turns_written_out(self, node):
        """The items that a `for` goes over, whose turns are written out; None: it is a loop of the graph."""
        if leaves([*node.body, *node.orelse], (ast.Break, ast.Continue)):
            return None
        if not (self._may_be_known(node.iter) or self._indexes_unlike(node)):
            return None
        items = self.known_items(node.iter)
        if items is None or isinstance(node.iter, ast.List) and are_alike(items):
            return None
        return items if len(items) <= (MOST_UNROLLED if are_alike(items) else MOST_UNLIKE) else None

    def run_written_out(self, node, items):
        for item in items:
            self.assign(node.target, item)
            self.run_here(node.body)
        self.run_here(node.orelse)

    def elements_written_out(self, node):
        """The elements of a comprehension over items of several types, as a tuple; None: it is a loop of the graph."""
        first, *others = node.generators
        if first.is_async or not self._may_be_known(first.iter) or not all(_only_reads(part.iter) for part in others):
            return None
        items = self.known_items(first.iter)
        if items is None or are_alike(items) or len(items) > MOST_UNLIKE:
            return None
        found, targets = [], {part.id for each in node.generators for part in ast.walk(each.target) if isinstance(part, ast.Name)}

        def element():
            value = self.eval(node.elt)
            self.refuse_readers(targets, value)
            found.append(self.shared(value))
        before, self.env = self.env, dict(self.env)
        try:
            with self.on_a_side():
                is_known = self.over_known_items(node.generators, element) is None
            if is_known:
                self.keep_changes(before, targets)
        finally:
            self.env = before
        return self.tuple_of(found, MadeList) if is_known else None

    def kept(self, made):
        """A list of elements that were written out: one of the graph, if that holds them."""
        if not isinstance(made.type, Tup):
            return made
        element = functools.reduce(join, map(general, made.type.items), NEVER)
        is_of_functions = isinstance(element, Const) and callable(element.value)
        return made if is_of_functions or isinstance(element, Union) else self.list_of(self.items(made), None)

    def over_known_items(self, generators, element):
        """Does something for each element of a comprehension. Gives what is not known before the run: the items of a generator, or
        whether a condition holds; None where all is."""
        if not generators:
            element()
            return None
        items = None if generators[0].is_async else self.known_items(generators[0].iter)
        if items is None:
            return generators[0].iter
        for item in items:
            self.assign(generators[0].target, item)
            test, holds = None, True
            for test in generators[0].ifs:
                holds = self.condition(test)[0]
                if holds is not True:
                    break
            unknown = test if not isinstance(holds, bool) else self.over_known_items(generators[1:], element) if holds else None
            if unknown is not None:
                return unknown
        return None

    def known_items(self, node):
        """What an expression gives to a loop, where it is known before the run how many there are; None elsewhere."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return self.eval_many(node.elts)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            callee = self.eval(node.func).type
            target = callee.value if isinstance(callee, Const) else None
            if any(target is one for one in (builtins.range, builtins.enumerate, builtins.zip, builtins.reversed)):
                return self._known_items_of_call(target, node) if not node.keywords or names_start(node) else None
        value = self.peek_to_go_over(node)
        kinds = {type(side) for side in sides_of(value.type) if side != NONE}
        if not kinds <= {Tup, Dct, Const}:
            return None
        value = self.iterated(self.chosen(value, lambda side: isinstance(side, (Tup, Dct))))
        return self.items(value) if isinstance(value.type, Tup) else None

    def _known_items_of_call(self, target, node):
        if target is builtins.range:
            bounds = [self.eval(bound).type for bound in node.args]
            is_known = all(isinstance(bound, Const) and type(bound.value) is int for bound in bounds)
            return self._known_range([bound.value for bound in bounds]) if is_known else None
        if target is builtins.enumerate and len(node.args) in (1, 2):
            start = self.start_of(node).type
            is_known = isinstance(start, Const) and type(start.value) is int
            return self._handed_on(target, [self.known_items(node.args[0])], start.value) if is_known else None
        if target is builtins.zip or target is builtins.reversed and len(node.args) == 1:
            return self._handed_on(target, [self.known_items(part) for part in node.args])
        return None

    def parameters_of_module(self, module):
        """What module.parameters() gives: a dict of tensors."""
        found = module.parameters()
        self.converter.guard("parameters", module, None, tuple(found.items()))
        values = [self.constant_value(parameter, path) for path, parameter in found.items()]
        ids = tuple(id_ for value in values for id_ in value.ids)
        return Value(Dct(tuple(found), tuple(value.type for value in values), False, True), ids)

    def _known_range(self, bounds):
        try:
            numbers = range(*bounds)
        except (TypeError, ValueError) as error:
            self.fail(str(error))
        return [Value(Const(number)) for number in numbers] if len(numbers) <= MOST_UNLIKE else None

    def _handed_on(self, target, parts, start=0):
        """The items of zip, enumerate or reversed."""
        if None in parts:
            return None
        if target is builtins.reversed:
            return parts[0][::-1]
        if target is builtins.enumerate:
            parts = [[Value(Const(start + number)) for number in range(len(parts[0]))], *parts]
        return [self.tuple_of(items) for items in zip(*parts)]

    def _may_be_known(self, node):
        """Whether an expression may give as many items as are known before the run, and may be read twice."""
        if isinstance(node, ast.Tuple):
            return True
        if isinstance(node, ast.List):
            return all(map(_is_plain, node.elts))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            handed_on = node.args if node.func.id == "zip" else node.args[:1]
            return node.func.id in _HANDING_ON and node.args and all(map(self._may_be_known, handed_on))
        return _is_plain(node) or self._is_dict_view(node)

    def _is_dict_view(self, node):
        """Whether it is d.items() or its like, or model.parameters()."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args or node.keywords:
            return False
        holder = node.func.value
        if node.func.attr in ("items", "keys", "values"):
            return (_is_plain(holder) or self._is_dict_view(holder)) and self._is_dict(self.peek(holder, True).type)
        return node.func.attr == "parameters" and _is_plain(holder) and is_parameters_of_module(self.eval(node.func).type)

    @staticmethod
    def _is_dict(type_):
        return isinstance(type_, Dct) or isinstance(type_, Const) and type(type_.value) is dict

    def _indexes_unlike(self, node):
        """Whether a loop over a range takes by its number what is of several types, as one of the layers of a model."""
        call = node.iter
        if not isinstance(call, ast.Call) or getattr(call.func, "id", None) != "range" or not isinstance(node.target, ast.Name):
            return False
        changed = assigned(node)
        if not hasattr(node, "hiaton_subscripts"):
            node.hiaton_subscripts = [part for part in nodes_below(node.body) if isinstance(part, ast.Subscript)]
        for part in node.hiaton_subscripts:
            if node.target.id in read_names([part.slice]) and not read_names([part.value]) & changed:
                held = self._of_constant(part.value)
                if held is not None and isinstance(held.type, Tup) and not are_alike(self.items(held)):
                    return True
        return False

    def _of_constant(self, node):
        """The value of a name, or of an attribute of what is known before the run; None: it is something else."""
        if isinstance(node, ast.Name):
            return self.env.get(node.id) if node.id in self.where.locals else self.peek(node)
        holder = self._of_constant(node.value) if isinstance(node, ast.Attribute) else None
        return self.attribute(holder, node.attr) if holder is not None and isinstance(holder.type, Const) else None
