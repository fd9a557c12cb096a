"""Lists of numbers whose elements loops look up or set by their index: they lie in a tensor as long, in which any element is found at once
and is changed in place, and which grows and shrinks at its end. Lists of tuples of numbers lie in a tensor for each of these.

    dist[v] = dist[u] + 1          dist = set_at(dist, at(dist, u) + 1, v)
    dist.append(0)                 dist = append_row(dist, 0)

Only names stand for arrays: whoever reads the name for something else than an element or the length gets a list of cells. Lists are laid out
where a loop begins, and where a function that calls itself is called with one that it looks up. Which functions look their parameters up, and
do nothing else with them, is found out from round to round, and noted in the syntax trees.
"""

import ast
import builtins
import dataclasses
import types as python_types

from hiaton.function.array_uses import calls_itself, goes_over_row, looked_up, note_looked_up, note_read_as_lists, read_as_lists, resized, set_anew, taken_apart
from hiaton.function.iterations import CountedItems, ItemsInPlace, ItemsOfRow
from hiaton.function.own_trees import is_field
from hiaton.function.scopes import body_of, calls_change, changed, lent_names, nodes_below
from hiaton.function.source import tree_of
from hiaton.function.tables import PLACES_OF_ROWS, is_table
from hiaton.function.types import BOOL, FLOAT, INT, NEVER, NONE, SYMBOL, Const, Lst, Tens, Tup, Value, general

_DTYPES = {INT: "i64", FLOAT: "f64", BOOL: "bool", SYMBOL: "i64"}


def _numbers_in(element):
    """The types of the numbers that an element consists of, as those of tuples; empty: it consists of something else."""
    if element in _DTYPES:
        return [element]
    parts = [_numbers_in(item) for item in element.items] if isinstance(element, Tup) else []
    return [number for part in parts for number in part] if all(parts) else []


def dtypes_of_array(type_):
    """The types of the elements in the tensors that a list lies in: its numbers, and of a list of lists where each of these begins and ends."""
    element, places = (type_.element.element, ["i64"] * PLACES_OF_ROWS) if is_table(type_) else (type_.element, [])
    return [*(_DTYPES[number] for number in _numbers_in(element)), *places]


def _may_lie_in_array(type_):
    is_of_rows = is_table(type_) and type_.element == Lst(type_.element.element)
    return isinstance(type_, Lst) and bool(_numbers_in(type_.element.element if is_of_rows else type_.element))


def _is_empty(value):
    return value is not None and isinstance(value.type, Lst) and value.type.element is NEVER


def is_array_of(key, name):
    """Whether the key of a value in a frame is that of the array of a list of this name."""
    return isinstance(key, str) and key.endswith(f".array.{name}")


class NumberArrays:
    def begin_arrays(self, node, hidden):
        """Lays out the lists that a loop looks up. `hidden`: what its own names begin with."""
        for name in sorted(looked_up(node)):
            if self.stays_array(name, node, name):
                self.lay_out(name, hidden)

    def _is_taken_apart(self, name, node, inside):
        """Whether a name stands for a list of lists of which a loop or a function, where it is called `inside`, takes or sets whole ones."""
        return is_table(getattr(self.env.get(name), "type", None)) and inside in taken_apart(node)

    def stays_array(self, name, node, inside):
        """Whether a list that lies in an array stays there in a loop or a function, where it is called `inside`."""
        changes = resized(node) if is_table(getattr(self.env.get(name), "type", None)) else set_anew(node)
        return inside not in changes and not self._is_taken_apart(name, node, inside)

    def items_in_place(self, loop):
        """How to go over a list of numbers that lies in an array, or of which the loop sets elements, as a name or by `enumerate`, or over a row
        of a list of such lists: the way, the first state and the name of the list; None: it goes over something else."""
        node, is_counted = loop.iter, isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", None) == "enumerate"
        if is_counted and len(node.args) == 1 and not node.keywords and self.eval(node.func).type == Const(builtins.enumerate):
            node = node.args[0]
        if goes_over_row(loop):
            return self._items_of_row(node.value.id, node.slice)
        name = getattr(node, "id", None)
        lent = {name for part in nodes_below(loop.body) for name in calls_change(part)}
        if not self.is_list(name) or is_table(self.env[name].type) or name in set().union(lent, *map(set_anew, loop.body)):
            return None
        if name in changed(*loop.body) and self.env[name].type.fresh:
            self.lay_out(name, "")
        if not self.is_array(name):
            return None
        first = Value(INT, (self.constant(0, "i64"),))
        items = ItemsInPlace(name)
        return (items, [first], name) if node is loop.iter else (CountedItems(items), [first, first], name)

    def _items_of_row(self, name, index):
        table = self.array_of(name)
        if table is None or not is_table(table.type) or name in changed(index):
            return None
        row = self._index_into_list(self.eval(index))
        return ItemsOfRow(name), [Value(INT, (end,)) for end in self._ends_of_row(table, row)], name

    def lays_out(self):
        """Not where tensors are computed: what each turn looks up would wait for the turn before."""
        return self.converter.lays_out and not self.converter.has_tensors

    def is_array(self, name):
        return name in self.env and isinstance(self.env[name].type, Lst) and self.env[name].type.array

    def array_of(self, name):
        """The array of a list that a name stands for, to read it; None: it is none of numbers, or does not lie in an array."""
        if self.is_array(name):
            value = self.env[name]
            return Value(dataclasses.replace(value.type, fresh=False), value.ids)
        if not self._may_be_array(self.env.get(name)):
            return None
        return next((value for key, value in self.env.items() if is_array_of(key, name)), None)

    def _may_be_array(self, value):
        return value is not None and _may_lie_in_array(value.type) and self.lays_out()

    def lay_out(self, name, hidden):
        """A list to which others refer stays one of cells beside its array, since it is that very list for them."""
        value = self.env.get(name)
        if not self._may_be_array(value) or self.is_array(name) or value.type.fresh and name in read_as_lists(self.where.tree):
            return
        array = self.array_of(name)
        if array is None:
            self.note_slow_change(name)
            array = self.as_array(value)
        is_own = value.type.fresh and (value.type.owned or not is_table(value.type))
        self.env[name if is_own else f"{hidden}.array.{name}"] = array

    def as_cells(self, value):
        value = self.without_array(value)
        is_owned = isinstance(value.type, Lst) and value.type.owned
        return Value(dataclasses.replace(value.type, owned=False), value.ids) if is_owned else value

    def as_noted(self, name, value):
        """The value for a name: cells, where it is known to be read for something else than elements in the middle of loops or branches."""
        return self.as_cells(value) if name in read_as_lists(self.where.tree) else value

    def filled_array(self, node):
        """name = [x] * n, where elements of the list are looked up later; None where it is something else."""
        target, product = node.targets[0], node.value
        is_one = isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult) and isinstance(product.left, ast.List) \
            and len(product.left.elts) == 1 and len(node.targets) == 1 and isinstance(target, ast.Name)
        if not is_one or not self._is_looked_up_later(target.id):
            return None
        item, times = self.eval_many(product.left.elts), self.operand(self.eval(product.right))
        element = general(item[0].type) if len(item) == 1 else None
        if element not in _DTYPES or not self.numeric(times.type) or self.kind_of(times.type) is float:
            return self.binary("Mult", self.list_of(item, None), times)
        to = Lst(element, True, False, True)
        length = self.op("max", self.as_kind(times, int), self.constant(0, "i64"))
        zeros = self.zeros(to, Value(INT, (length,)))
        return Value(to, (self.op("broadcast_like", self.held(item[0]).ids[0], zeros.ids[0]),))

    def _is_looked_up_later(self, name):
        """Whether a list that begins to be one of this name may lie in an array from then on."""
        tree = self.where.tree
        return name in looked_up(tree) - read_as_lists(tree) and name not in self.where.set_outside and self.lays_out()

    # Changes at the end.

    def grown_array(self, name, items):
        """Puts numbers behind those of a list that lies in an array, or that has no elements yet and is looked up later. Whether it is that."""
        elements = {general(item.type) for item in items}
        value = self._begun_array(name, *elements) if len(elements) == 1 else None
        if value is None or is_table(value.type):
            return False
        for item in items:
            value = self.appended(value, self.coerce(item, value.type.element))
        self.bind(name, value)
        return True

    def appended(self, value, item):
        return Value(value.type, tuple(self.op("append_row", *both) for both in zip(value.ids, item.ids)))

    def popped_of_array(self, name):
        """name.pop(), of such a list."""
        value = self.env[name]
        last = Value(INT, (self.op("sub", self.length_of_array(value).ids[0], self.constant(1, "i64")),))
        item = self.element_at(value, last.ids[0])
        self.bind(name, Value(value.type, tuple(self.op("drop_last_row", one) for one in value.ids)))
        return item

    def _begun_array(self, name, element):
        """The array of a list of these elements, to which nobody else refers; None: it is something else."""
        value = self.env[name]
        if value.type.fresh and value.type.element is NEVER and _numbers_in(element) and self._is_looked_up_later(name):
            return self.empty_array(Lst(element, True, False, True))
        return value if value.type.fresh and value.type.array and value.type.element == element else None

    def extended_array(self, name, items):
        """The same as grown_array(), for the elements of a tuple or a list."""
        if isinstance(items.type, Tup):
            return bool(items.type.items) and self.grown_array(name, self.items(items))
        value = self._begun_array(name, items.type.element)
        if value is None or is_table(value.type):
            return False
        self.bind(name, self.extended(value, Value(Lst(items.type.element), self.forward(items).ids)))
        return True

    def extended(self, value, items):
        """An array with the elements of a list of cells behind its own."""
        def build(frame, values):
            rest, made = values

            def more():
                instance = frame.converter.instance(("extended",), "extended", [items.type, value.type], build)
                return frame.call_instance(instance, [frame.tail(rest), frame.appended(made, frame.head(rest))])
            return frame.either(frame.is_empty(rest), lambda: made, more, value.type)
        return Value(value.type, self._made_of_list(("extended",), [items.type, value.type], build, value.type, [items, value]).ids)

    # Arguments.

    def is_array_for(self, argument, function, place):
        """Whether an argument of a call is a name that stands for an array, and what is called looks its elements up and does nothing else
        with it. `place`: the number or the name of the parameter."""
        held = self.env.get(argument.id) if isinstance(argument, ast.Name) else None
        if not self._may_be_array(held) and not (_is_empty(held) and self.lays_out()):
            return False
        tree, parameter = self._parameter_of(function, place)
        if parameter is not None and parameter in read_as_lists(tree) and self.is_array(argument.id):
            self.cells_of(argument.id)
        if parameter is None or parameter not in looked_up(tree) - read_as_lists(tree) or not self.stays_array(argument.id, tree, parameter):
            return False
        self._note_lookups(argument.id)
        if calls_itself(tree):
            self.lay_out(argument.id, ".called" if self.loop is None else self.loop.hidden)
        return _is_empty(held) or self.array_of(argument.id) is not None

    def array_to_look_up(self, name):
        """The array of a list that is handed to something which only looks elements up; of one without elements, that list."""
        held = self.env[name]
        return Value(dataclasses.replace(held.type, fresh=False), held.ids) if _is_empty(held) else self.array_of(name)

    def lay_out_for(self, name, tree):
        """Lays out a list that a function defined inside, of this tree, changes, if it looks elements of it up as well."""
        held = self.env.get(name)
        if not self._may_be_array(held) and not (_is_empty(held) and self.lays_out()) or name not in looked_up(tree) - read_as_lists(tree) \
                or not self.stays_array(name, tree, name):
            return
        self._note_lookups(name)
        if name in lent_names(self.where.tree):
            self.converter.changed |= note_looked_up(self.where.tree, name)
        if calls_itself(tree):
            self.lay_out(name, ".called" if self.loop is None else self.loop.hidden)

    def array_to_capture(self, name, trees):
        """The array of a list that a name stands for, where functions defined inside, of which these are the trees, look its elements up and
        do nothing else with it; None elsewhere."""
        around = tree_of(self.where.function)
        others = set().union(read_as_lists(around), *map(resized, trees), *(changed(*body_of(tree)) for tree in trees))
        if name not in set().union(*map(looked_up, trees)) - others or not self._may_be_array(self.env.get(name)):
            return None
        if any(self._is_taken_apart(name, tree, name) for tree in trees):
            return None
        if any(map(calls_itself, trees)):
            self.lay_out(name, ".captured")
        return self.array_of(name)

    def _parameter_of(self, function, place):
        """The tree of a function of Python, and the name of a parameter; None: it is not known."""
        if isinstance(function, python_types.MethodType):
            function, place = function.__func__, place + 1 if isinstance(place, int) else place
        if not isinstance(function, python_types.FunctionType) or place is None:
            return None, None
        tree, _ = self._tree_and_parameters(function)
        if tree is None:
            return None, None
        by_place = [one.arg for one in (*tree.args.posonlyargs, *tree.args.args)]
        if isinstance(place, int):
            return (tree, by_place[place]) if place < len(by_place) else (None, None)
        return (tree, place) if place in by_place + [one.arg for one in tree.args.kwonlyargs] else (None, None)

    def _note_lookups(self, name):
        """What is called here looks up the list that a name stands for: so do the loops around, and this function."""
        loop, around = self.loop, []
        while loop is not None and loop.where is self.where:
            around.append(loop.node)
            loop = loop.outer
        for node in [*around, *([self.where.tree] if name in self.where.parameters else [])]:
            self.converter.changed |= note_looked_up(node, name)

    # Elements.

    def looked_at(self, node):
        """The value of an expression of which only the length or an element is asked: of a list, whichever end comes first."""
        held = self.env.get(node.id) if isinstance(node, ast.Name) else None
        if held is not None and isinstance(held.type, Lst) and held.type.backward:
            return held
        array = self.array_of(node.id) if isinstance(node, ast.Name) else None
        if array is not None and is_table(array.type):
            return self.cells_of(node.id)
        return self.peek_to_go_over(node) if array is None else array

    def length_of_array(self, value):
        return Value(INT, (self.op("size", value.ids[0], attributes=(0,)),))

    def element_of_array(self, value, index):
        return self.element_at(value, self.integer(index), 1)

    def element_at(self, value, place, from_end=0):
        """The numbers at a place of the tensors, which fails where it is outside. `from_end`: negative ones count from the end."""
        element, ids = (value.type.element.element, value.ids[:-PLACES_OF_ROWS]) if is_table(value.type) else (value.type.element, value.ids)
        return Value(element, tuple(self.op("at", one, place, attributes=(from_end,)) for one in ids))

    def with_element(self, value, index, element):
        return self.with_numbers(value, self.integer(index), element, 1)

    def with_numbers(self, value, place, element, from_end=0):
        return Value(value.type, tuple(self.op("set_at", *both, place, attributes=(from_end,)) for both in zip(value.ids, element.ids)))

    def integer(self, index):
        """An index, in the graph."""
        return self.op("i64", index.ids[0]) if isinstance(index.type, Tens) else self.as_kind(index, int)

    # From cells to arrays, and back.

    def as_array(self, value):
        """A list of numbers, laid out in a tensor, or one of lists of numbers."""
        if is_table(value.type):
            return self.as_table(value)
        from_cells = value.type
        to = Lst(from_cells.element, from_cells.fresh, False, True)
        cells = Lst(from_cells.element)
        items, plain = Value(cells, value.ids), dataclasses.replace(to, fresh=True)
        if not from_cells.backward:
            return Value(to, self.extended(self.empty_array(plain), items).ids)
        length = self.call_prelude("count", [items])
        last = self.op("sub", length.ids[0], self.constant(1, "i64"))

        def build(frame, values):
            rest, made, at = values

            def more():
                instance = frame.converter.instance(("laid_out",), "laid_out", [cells, plain, INT], build)
                filled = frame.with_numbers(made, at.ids[0], frame.head(rest))
                following = Value(INT, (frame.op("sub", at.ids[0], frame.constant(1, "i64")),))
                return frame.call_instance(instance, [frame.tail(rest), filled, following])
            return frame.either(frame.is_empty(rest), lambda: made, more, plain)
        values = [items, self.zeros(plain, length), Value(INT, (last,))]
        return Value(to, self._made_of_list(("laid_out",), [cells, plain, INT], build, plain, values).ids)

    def zeros(self, to, length):
        """An array of so many zeros."""
        numbers = _numbers_in(to.element)
        if len(numbers) > 1:
            return Value(to, tuple(self.zeros(dataclasses.replace(to, element=number), length).ids[0] for number in numbers))
        dtype = _DTYPES[numbers[0]]

        def zeros(frame, size):
            return frame.op("broadcast_to", frame.constant(False if dtype == "bool" else 0, dtype), attributes=(size,))

        def build(frame, values):
            count, = values
            two = frame.constant(2, "i64")

            def more():
                instance = frame.converter.instance(("zeros", to), "zeros", [INT], build)
                half = frame.call_instance(instance, [Value(INT, (frame.op("div", count.ids[0], two),))])
                both = frame.op("concat", half.ids[0], half.ids[0], attributes=(0,))
                is_odd = frame.op("eq", frame.op("rem", count.ids[0], two), frame.constant(1, "i64"))

                def with_one():
                    return Value(to, (frame.op("concat", both, zeros(frame, 1), attributes=(0,)),))
                return frame.either(is_odd, with_one, lambda: Value(to, (both,)), to)

            def none():
                return Value(to, (zeros(frame, 0),))
            return frame.either(frame.op("eq", count.ids[0], frame.constant(0, "i64")), none, more, to)
        return self._made_of_list(("zeros", to), [INT], build, to, [length])

    def without_array(self, value):
        """The list as one of cells, if nobody else refers to it."""
        if not isinstance(value.type, Lst) or not value.type.array:
            return value
        if not value.type.fresh:
            self._refuse_arrays()
        if is_table(value.type):
            return self.rows_of_table(value)
        return self.cells_between(value, self.constant(0, "i64"), self.length_of_array(value).ids[0])

    def part_of_array(self, value, start, stop):
        """The elements from one place to another one, as of lists of Python, as a new list of cells."""
        length = self.length_of_array(value).ids[0]

        def place(end, otherwise):
            if end.type == NONE:
                return otherwise
            end, none = self.integer(end), self.constant(0, "i64")
            from_end = self.op("max", self.op("add", end, length), none)
            return self.op("where", self.op("lt", end, none), from_end, self.op("min", end, length))
        return self.cells_between(value, place(start, self.constant(0, "i64")), place(stop, length))

    def cells_between(self, value, begin, end):
        array = dataclasses.replace(value.type, fresh=False)
        to = Lst(value.type.element, True)

        def build(frame, values):
            held, first, behind, made = values

            def more():
                instance = frame.converter.instance(("cells",), "cells", [array, INT, INT, to], build)
                at = frame.op("sub", behind.ids[0], frame.constant(1, "i64"))
                return frame.call_instance(instance, [held, first, Value(INT, (at,)), frame.cons(frame.element_at(held, at), made)])
            return frame.either(frame.op("le", behind.ids[0], first.ids[0]), lambda: made, more, to)
        given = [Value(array, value.ids), Value(INT, (begin,)), Value(INT, (end,)), self.default(to)]
        return Value(to, self._made_of_list(("cells",), [array, INT, INT, to], build, to, given).ids)

    def _refuse_arrays(self):
        """A parameter is an array that others refer to, and this is to be the list that these have: the next round hands it over as such."""
        arrays = {name for name in self.env if self.is_array(name) and not self.env[name].type.fresh}
        own = {name for name in arrays if name in self.where.parameters or is_field(name)}
        note_read_as_lists(self.where.tree, own)
        note_read_as_lists(tree_of(self.where.function), arrays - own)
        self.converter.changed = True
        self.fail()
