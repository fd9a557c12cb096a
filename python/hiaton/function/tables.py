"""Lists of lists of numbers, or of tuples of these, whose elements are looked up or set by two indices: all numbers lie in one tensor, or in one
for each place in the tuple, row after row, and where each row begins and ends in two others.

    rows[i][j] = x          numbers = set_at(numbers, x, at(begins, i) + j)

The rows may be of any lengths. They may be set where nobody else refers to any of them, as where a comprehension has made them; whoever takes
a whole row out makes cells of the list again. See number_arrays.py.
"""

import ast
import dataclasses

from hiaton.function.array_uses import is_element
from hiaton.function.types import INT, NEVER, Lst, Tup, Value, join

PLACES_OF_ROWS = 2  # tensors that say of each row where it begins and where it ends


def _makes_list(node):
    """Whether an expression gives a new list, to which nobody else refers."""
    is_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and any(isinstance(side, ast.List) for side in (node.left, node.right))
    is_part = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    return isinstance(node, (ast.List, ast.ListComp)) or is_product or is_part


def is_table(type_):
    """Whether it is a list of lists."""
    return isinstance(type_, Lst) and isinstance(type_.element, Lst)


def own_rows(value, elements):
    """A list that was just made, of what the expressions give."""
    if not is_table(value.type) or not value.type.fresh or not all(map(_makes_list, elements)):
        return value
    return Value(dataclasses.replace(value.type, owned=True), value.ids)


class Tables:
    def element_of_table(self, node):
        """rows[i][j], of a list of lists that lies in tensors or to whose rows nobody else refers; None where it is something else."""
        table = self._table_of(node.value) if is_element(node) else None
        if table is None:
            return None
        row = self._index_into_list(self.eval(node.value.slice))
        column = self._index_into_list(self.eval(node.slice))
        if any(self.is_changed_by(node.value.value, part, table) for part in (node.value.slice, node.slice)):
            table = self._table_of(node.value) or self._refuse_changed(node)
        if table.type.array:
            return self.element_at(table, self._place_in_table(table, row, column))
        return self.call_prelude("element", [self._row_of_cells(table, row), column])

    def _refuse_changed(self, node):
        self.refuse(f"an index in '{ast.unparse(node)}' changes the list; compute it on a line before", node)

    def length_in_table(self, node):
        """len(rows) and len(rows[i]) of the same; None where it is something else."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        argument, = node.args
        if isinstance(argument, ast.Name):
            table = self._table(argument.id)
            if table is None:
                return None
            return self.length_of_array(Value(table.type, table.ids[-PLACES_OF_ROWS:])) if table.type.array else self.call_prelude("count", [self._cells(table)])
        table = self._table_of(argument)
        if table is None:
            return None
        row = self._index_into_list(self.eval(argument.slice))
        if not table.type.array:
            return self.call_prelude("count", [self._row_of_cells(table, row)])
        begin, end = self._ends_of_row(table, row)
        return Value(INT, (self.op("sub", end, begin),))

    def set_in_table(self, target, value):
        """rows[i][j] = value. Gives whether it is an element of a list of lists to whose rows nobody else refers."""
        name = getattr(target.value.value, "id", None)
        held = self.env.get(name)
        if held is None or not is_element(target) or not is_element(target.value) or not is_table(held.type):
            return False
        if not held.type.fresh:
            self.own(name, held, target)
        if not held.type.owned:
            return False
        row, column = (self._index_into_list(self.eval(part)) for part in (target.value.slice, target.slice))
        element = held.type.element.element
        if join(element, value.type) == element and self._table(name).type.array:
            held = self.env[name]
            numbers = self.with_numbers(self._numbers_of(held), self._place_in_table(held, row, column), self.coerce(value, element))
            self.bind(name, Value(held.type, (*numbers.ids, *held.ids[-PLACES_OF_ROWS:])))
        else:
            self._set_in_cells(name, row, column, self.shared(value))
        return True

    def _set_in_cells(self, name, row, column, value):
        held = self.env[name]
        if held.type.element.element is NEVER:
            self.fail("an index into an empty list")
        element = join(held.type.element.element, value.type)
        rows = self.widened_rows(self._cells(held), element)
        changed = self.call_prelude("replaced", [self._row_of_cells(rows, row), column, self.coerce(value, element)])
        made = self.call_prelude("replaced", [rows, row, Value(Lst(element), self.forward(changed).ids)])
        self.bind(name, Value(Lst(Lst(element), True, owned=True), self.forward(made).ids))

    def widened_rows(self, rows, element):
        """A list of lists to which nobody else refers, as one of lists of elements of a wider type."""
        type_, to = Lst(rows.type.element), Lst(Lst(element))
        if type_.element.element == element:
            return Value(to, rows.ids)

        def build(frame, values):
            def more():
                instance = frame.converter.instance(("wider_rows", to), "wider_rows", [type_], build)
                row = frame.head(values[0])
                row = frame.recast(Value(Lst(row.type.element, True), row.ids), element)
                return frame.cons(Value(to.element, row.ids), frame.call_instance(instance, [frame.tail(values[0])]))
            return frame.either(frame.is_empty(values[0]), lambda: frame.default(to), more, to)
        return self._made_of_list(("wider_rows", to), [type_], build, to, [rows])

    def _row_of_cells(self, rows, row):
        return self.call_prelude("element", [self._cells(rows), row])

    def _cells(self, rows):
        return Value(Lst(rows.type.element), self.forward(rows).ids)

    def _table(self, name):
        """The list of lists that a name stands for, if it lies in tensors or nobody else refers to its rows; else None."""
        if getattr(getattr(self.env.get(name), "type", None), "owned", False):
            self.lay_out(name, "")
            return self.env[name]
        array = self.array_of(name)
        return array if array is not None and is_table(array.type) else None

    def _table_of(self, node):
        """The same of which an expression is a row."""
        return self._table(node.value.id) if is_element(node) and isinstance(node.value, ast.Name) else None

    # Places.

    def _ends_of_row(self, table, row):
        """Where a row begins, and where it ends. One that is outside fails."""
        row = self.integer(row)
        return [self.op("at", ends, row, attributes=(1,)) for ends in table.ids[-PLACES_OF_ROWS:]]

    def _place_in_table(self, table, row, column):
        begin, end = self._ends_of_row(table, row)
        column = self.integer(column)
        from_where = self.op("where", self.op("lt", column, self.constant(0, "i64")), end, begin)
        place = self.op("add", from_where, column)
        self.require(self.op("and", self.op("ge", place, begin), self.op("lt", place, end)), "list index out of range")
        return place

    # From cells to tensors, and back.

    def as_table(self, value):
        """A list of lists of numbers, laid out row after row."""
        rows = Value(Lst(value.type.element), self.forward(value).ids)
        to = dataclasses.replace(value.type, backward=False, array=True)
        types = [Lst(one, True, False, True) for one in (value.type.element.element, *[INT] * PLACES_OF_ROWS)]

        def build(frame, values):
            rest, numbers, *ends = values

            def more():
                row = frame.head(rest)
                longer = frame.extended(numbers, Value(Lst(row.type.element), row.ids))
                places = [frame.appended(one, frame.length_of_array(array)) for one, array in zip(ends, (numbers, longer))]
                instance = frame.converter.instance(("as_table",), "as_table", [rows.type, *types], build)
                return frame.call_instance(instance, [frame.tail(rest), longer, *places])
            return frame.either(frame.is_empty(rest), lambda: frame.tuple_of([numbers, *ends]), more, Tup(tuple(types)))
        given = [rows, *map(self.empty_array, types)]
        return Value(to, self._made_of_list(("as_table",), [rows.type, *types], build, Tup(tuple(types)), given).ids)

    def rows_of_table(self, value):
        numbers, places, to = self._numbers_of(value), Lst(INT, array=True), Lst(value.type.element, True)
        begins, ends = (Value(places, (one,)) for one in value.ids[-PLACES_OF_ROWS:])

        def build(frame, values):
            numbers, begins, ends, behind, made = values

            def more():
                at = frame.op("sub", behind.ids[0], frame.constant(1, "i64"))
                row = frame.cells_between(numbers, *(frame.element_at(one, at).ids[0] for one in (begins, ends)))
                instance = frame.converter.instance(("rows",), "rows", [numbers.type, places, places, INT, to], build)
                return frame.call_instance(instance, [numbers, begins, ends, Value(INT, (at,)), frame.cons(Value(to.element, row.ids), made)])
            return frame.either(frame.op("eq", behind.ids[0], frame.constant(0, "i64")), lambda: made, more, to)
        given = [numbers, begins, ends, self.length_of_array(begins), self.default(to)]
        return Value(to, self._made_of_list(("rows",), [numbers.type, places, places, INT, to], build, to, given).ids)

    @staticmethod
    def _numbers_of(table):
        """Those of all rows, as an array that others refer to."""
        return Value(Lst(table.type.element.element, array=True), table.ids[:-PLACES_OF_ROWS])
