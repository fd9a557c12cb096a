"""Lists of numbers whose elements loops look up or set by their index: they lie in a tensor as long, in which any element is found at once
and is changed in place.

    dist[v] = dist[u] + 1          dist = set_at(dist, at(dist, u) + 1, v)

Only names stand for such lists: whoever reads the name for something else than an element or the length gets a list of cells. They are laid out
where a loop begins, and where a function that calls itself is called with a list that it looks up. Which functions look up their parameters
is found out from round to round, and noted in the syntax trees.
"""

import ast
import dataclasses
import types as python_types

from hiaton.function.scopes import body_of, calls_change, found_below, nodes_below
from hiaton.function.types import BOOL, FLOAT, INT, Lst, Value, is_number

_DTYPES = {INT: "i64", FLOAT: "f64", BOOL: "bool"}


def dtype_of_array(type_):
    """The type of the elements in the tensor."""
    return _DTYPES[type_.element]


def _is_computed(index):
    """Whether an index is another one from turn to turn."""
    return not isinstance(index, (ast.Slice, ast.Constant)) and not (isinstance(index, ast.UnaryOp) and isinstance(index.operand, ast.Constant))


def _nodes_of(root):
    """All nodes below a loop or in a function."""
    return nodes_below(body_of(root) if isinstance(root, (ast.FunctionDef, ast.Lambda)) else [root])


def _find_looked_up(root):
    for node in _nodes_of(root):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and _is_computed(node.slice):
            yield node.value.id


def _find_resized(root):
    for node in _nodes_of(root):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and (
                isinstance(node.ctx, ast.Del) or isinstance(node.ctx, ast.Store) and isinstance(node.slice, ast.Slice)):
            yield node.value.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            yield node.func.value.id


def _looked_up(node):
    """The names of lists that it looks up at computed places, itself or by functions that it calls, as far as conversions have found out."""
    return found_below(node, "hiaton_looked_up", _find_looked_up) | getattr(node, "hiaton_array_names", frozenset())


def _resized(node):
    """The names that get other values, or lists of another length."""
    return found_below(node, "hiaton_resized", _find_resized)


def _calls_itself(tree):
    name = getattr(tree, "name", None)
    return found_below(tree, "hiaton_calls_itself", lambda tree: {
        name for node in _nodes_of(tree) if isinstance(node, ast.Call) and name in (
            getattr(node.func, "id", None), getattr(node.func, "attr", None))})


class NumberArrays:
    def begin_arrays(self, node):
        """Lays out the lists that a loop looks up."""
        for name in sorted(_looked_up(node) - _resized(node)):
            self._lay_out(name)

    def lays_out(self):
        """Not where tensors are computed: what each turn looks up would wait for the turn before."""
        return self.converter.lays_out and not self.converter.has_tensors

    def _may_be_array(self, value):
        return value is not None and isinstance(value.type, Lst) and value.type.element in _DTYPES and self.lays_out()

    def _lay_out(self, name):
        value = self.env.get(name)
        if self._may_be_array(value) and not value.type.array:
            self.env[name] = self.as_array(value)

    # Arguments.

    def is_array_for(self, argument, function, place):
        """Whether an argument of a call is a name that stands for an array, and what is called looks its elements up. `place`: the number or
        the name of the parameter."""
        if not isinstance(argument, ast.Name) or not self._may_be_array(self.env.get(argument.id)):
            return False
        tree, parameter = self._parameter_of(function, place)
        if parameter is None or parameter not in _looked_up(tree) or parameter in _resized(tree):
            return False
        self._note_lookups(argument.id)
        if _calls_itself(tree):
            self._lay_out(argument.id)
        return self.env[argument.id].type.array

    def _parameter_of(self, function, place):
        """The tree of a function of Python, and the name of a parameter; None: it is not known."""
        if not isinstance(function, python_types.FunctionType) or place is None:
            return None, None
        tree, parameters = self._tree_and_parameters(function)
        names = list(parameters)
        name = place if isinstance(place, str) else names[place] if place < len(names) else None
        return (tree, name) if tree is not None and name in names else (None, None)

    def _note_lookups(self, name):
        """What is called here looks up the list that a name stands for: so do the loops around, and this function."""
        loop, around = self.loop, []
        while loop is not None and loop.where is self.where:
            around.append(loop.node)
            loop = loop.outer
        for node in [*around, *([self.where.tree] if name in self.where.parameters else [])]:
            if name not in _looked_up(node):
                node.hiaton_array_names = getattr(node, "hiaton_array_names", frozenset()) | {name}
                self.converter.changed = True

    def shared_array(self, name):
        """The array that a name stands for, to which something else refers from now on."""
        value = self.env[name]
        self.env[name] = Value(dataclasses.replace(value.type, fresh=False), value.ids)
        return self.env[name]

    # Elements.

    def looked_at(self, node):
        """The value of an expression of which only the length or an element is asked."""
        held = self.env.get(node.id) if isinstance(node, ast.Name) else None
        return held if held is not None and isinstance(held.type, Lst) and held.type.array else self.peek(node)

    def length_of_array(self, value):
        return Value(INT, (self.op("size", value.ids[0], attributes=(0,)),))

    def element_of_array(self, value, index):
        return Value(value.type.element, (self.op("gather", value.ids[0], self._place_in_array(value, index)),))

    def with_element(self, value, index, element):
        return Value(value.type, (self.op("set_at", value.ids[0], element.ids[0], self._place_in_array(value, index)),))

    def _place_in_array(self, value, index):
        """An index from the beginning. One that is outside of the list fails when the element is looked up."""
        place = self.as_kind(index, int)
        if is_number(index.type) and index.type.value >= 0:
            return place
        length = self.length_of_array(value).ids[0]
        if is_number(index.type):
            return self.op("add", place, length)
        is_from_end = self.op("lt", place, self.constant(0, "i64"))
        return self.op("where", is_from_end, self.op("add", place, length), place)

    # From cells to arrays, and back.

    def as_array(self, value):
        """A list of numbers, laid out in a tensor."""
        from_cells = value.type
        to = Lst(from_cells.element, from_cells.fresh, False, True)
        cells = Lst(from_cells.element)
        items = Value(cells, value.ids)
        length = self.call_prelude("count", [items])
        step = -1 if from_cells.backward else 1
        first = self.op("sub", length.ids[0], self.constant(1, "i64")) if from_cells.backward else self.constant(0, "i64")
        plain = dataclasses.replace(to, fresh=True)

        def build(frame, values):
            rest, made, at = values

            def more():
                instance = frame.converter.instance(("laid_out", step), "laid_out", [cells, plain, INT], build)
                filled = Value(plain, (frame.op("set_at", made.ids[0], frame.head(rest).ids[0], at.ids[0]),))
                following = Value(INT, (frame.op("add", at.ids[0], frame.constant(step, "i64")),))
                return frame.call_instance(instance, [frame.tail(rest), filled, following])
            return frame.either(frame.is_empty(rest), lambda: made, more, plain)
        values = [items, self._zeros(plain, length), Value(INT, (first,))]
        return Value(to, self._made_of_list(("laid_out", step), [cells, plain, INT], build, plain, values).ids)

    def _zeros(self, to, length):
        """An array of so many zeros."""
        dtype = dtype_of_array(to)

        def build(frame, values):
            count, = values
            two = frame.constant(2, "i64")

            def more():
                instance = frame.converter.instance(("zeros", to), "zeros", [INT], build)
                half = frame.call_instance(instance, [Value(INT, (frame.op("div", count.ids[0], two),))])
                both = frame.op("concat", half.ids[0], half.ids[0], attributes=(0,))
                is_odd = frame.op("eq", frame.op("rem", count.ids[0], two), frame.constant(1, "i64"))

                def with_one():
                    one = frame.op("broadcast_to", frame.constant(False if dtype == "bool" else 0, dtype), attributes=(1,))
                    return Value(to, (frame.op("concat", both, one, attributes=(0,)),))
                return frame.either(is_odd, with_one, lambda: Value(to, (both,)), to)

            def none():
                return Value(to, (frame.op("broadcast_to", frame.constant(False if dtype == "bool" else 0, dtype), attributes=(0,)),))
            return frame.either(frame.op("eq", count.ids[0], frame.constant(0, "i64")), none, more, to)
        return self._made_of_list(("zeros", to), [INT], build, to, [length])

    def without_array(self, value):
        """The list as one of cells."""
        if not isinstance(value.type, Lst) or not value.type.array:
            return value
        array = dataclasses.replace(value.type, fresh=False)
        to = Lst(value.type.element, True)

        def build(frame, values):
            held, count, made = values

            def more():
                instance = frame.converter.instance(("cells",), "cells", [array, INT, to], build)
                at = frame.op("sub", count.ids[0], frame.constant(1, "i64"))
                item = Value(to.element, (frame.op("gather", held.ids[0], at),))
                return frame.call_instance(instance, [held, Value(INT, (at,)), frame.cons(item, made)])
            return frame.either(frame.op("eq", count.ids[0], frame.constant(0, "i64")), lambda: made, more, to)
        items = Value(array, value.ids)
        made = self._made_of_list(("cells",), [array, INT, to], build, to, [items, self.length_of_array(items), self.default(to)])
        return Value(Lst(value.type.element, value.type.fresh), made.ids)
