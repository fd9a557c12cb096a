"""Lists of lists of numbers whose elements are looked up or set by two indices: all numbers lie in one tensor, row after row, and where each row
begins in another.

    rows[i][j] = x          numbers = set_at(numbers, x, at(begins, i) + j)

The rows may be of any lengths. They may be set where nobody else refers to any of them, as where a comprehension has made them; whoever takes
a whole row out makes cells of the list again. See number_arrays.py.
"""

import ast
import dataclasses

from hiaton.function.array_uses import is_element
from hiaton.function.types import INT, NEVER, Lst, Value, join


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
        """rows[i][j], of a list that lies in tensors; None where it is something else."""
        table = self._table_of(node.value) if is_element(node) else None
        if table is None:
            return None
        row = self._index_into_list(self.eval(node.value.slice))
        column = self._index_into_list(self.eval(node.slice))
        return self.element_at(table, self._place_in_table(table, row, column))

    def length_in_table(self, node):
        """len(rows) and len(rows[i]) of the same; None where it is something else."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        argument, = node.args
        if isinstance(argument, ast.Name) and self._is_in_table(argument.id):
            return Value(INT, (self._count_of_rows(self.array_of(argument.id)),))
        table = self._table_of(argument)
        if table is None:
            return None
        begin, end = self._ends_of_row(table, self._index_into_list(self.eval(argument.slice)))
        return Value(INT, (self.op("sub", end, begin),))

    def set_in_table(self, target, value):
        """rows[i][j] = value. Gives whether it is an element of a list of lists of numbers."""
        name = getattr(target.value.value, "id", None)
        held = self.env.get(name)
        if held is None or not is_element(target) or not is_element(target.value) or not self.may_be_table(held):
            return False
        if not held.type.fresh:
            self.own(name, held, target)
        element = held.type.element.element
        if not held.type.owned or join(element, value.type) != element:
            return False
        self.lay_out(name, "")
        row, column = (self._index_into_list(self.eval(part)) for part in (target.value.slice, target.slice))
        held = self.env[name]
        place = self._place_in_table(held, row, column)
        numbers = self.op("set_at", held.ids[0], self.coerce(value, element).ids[0], place)
        self.bind(name, Value(held.type, (numbers, held.ids[1])))
        return True

    def _is_in_table(self, name):
        """Whether a name stands for a list of lists that lies in tensors: one of which nobody else refers to a row does from now on."""
        if getattr(getattr(self.env.get(name), "type", None), "owned", False):
            self.lay_out(name, "")
        array = self.array_of(name)
        return array is not None and is_table(array.type)

    def _table_of(self, node):
        """The list of lists of which an expression is a row; None: it is none, or does not lie in tensors."""
        is_row = is_element(node) and isinstance(node.value, ast.Name)
        return self.array_of(node.value.id) if is_row and self._is_in_table(node.value.id) else None

    # Places.

    def _count_of_rows(self, table):
        return self.op("sub", self.op("size", table.ids[1], attributes=(0,)), self.constant(1, "i64"))

    def _ends_of_row(self, table, row):
        row = self.from_begin(row, lambda: self._count_of_rows(table))
        return self._begin_of(table, row), self._begin_of(table, self.op("add", row, self.constant(1, "i64")))

    def _begin_of(self, table, row):
        return self.op("at", table.ids[1], row)

    def _place_in_table(self, table, row, column):
        begin, end = self._ends_of_row(table, row)
        length = self.op("sub", end, begin)
        column = self.from_begin(column, lambda: length)
        zero = self.constant(0, "i64")
        is_inside = self.op("and", self.op("ge", column, zero), self.op("lt", column, length))
        self.require(is_inside, "list index out of range")
        return self.op("add", begin, column)

    # From cells to tensors, and back.

    def as_table(self, value):
        rows = Value(Lst(value.type.element), self.forward(value).ids)
        to = dataclasses.replace(value.type, backward=False, array=True)
        numbers, begins = (self.call_prelude(name, [rows]) for name in ("flattened", "begins_of_rows"))
        if numbers.type.element is NEVER or begins.type.element is NEVER:  # the next round knows what the functions give
            self.converter.changed = True
            return self.default(to)
        return Value(to, (self.as_array(numbers).ids[0], self.as_array(begins).ids[0]))

    def rows_of_table(self, value):
        element = value.type.element.element
        parts = [Value(Lst(one, array=True), (id_,)) for one, id_ in zip((element, INT), value.ids)]
        return self.as_new(self.call_prelude("rows_between", parts))
