"""Hash tables in the graph, which sets and dicts with items of numbers consist of: the operations of prelude_tables.py. A table is made of the
index, whether each entry is there, how many entries there are, how many of them are there, and of an array for each part of the keys and of
the items."""

from hiaton.function.key_orders import leaves_of_key
from hiaton.function.types import BOOL, FLOAT, INT, Lst, Value

_INDEX, _THERE, _ENTRIES, _SIZE, _KEYS = range(5)
_FACTOR = 0x4F1BBCDD  # the golden ratio in 31 bits, so that products with 32 bits fit
_LOW_BITS = 0xFFFFFFFF
_ELEMENTS = {"i64": INT, "f64": FLOAT, "bool": BOOL}


class KeyTables:
    def _keys_and_items(self, table):
        """The arrays of the parts of the keys, and those of the items."""
        behind = _KEYS + len(self.converter.graph_types(table.type.key))
        return table.ids[_KEYS:behind], table.ids[behind:]

    def _number_at(self, table, part, place):
        return self.op("at", table.ids[part], place.ids[0], attributes=(0,))

    @staticmethod
    def _with_parts(table, parts):
        """The table with other values of the parts of these numbers."""
        return Value(table.type, tuple(parts.get(number, id_) for number, id_ in enumerate(table.ids)))

    def _set_at(self, array, place, element):
        return self.op("set_at", array, element, place, attributes=(0,))

    # Slots.

    def _in_index(self, table, number):
        """The slot that a number leads to: there are a power of two of them."""
        last = self.op("sub", self.table_slots(table).ids[0], self.constant(1, "i64"))
        return Value(INT, (self.op("bitwise_and", number, last),))

    def table_first_slot(self, table, key):
        mixed = None
        for leaf in leaves_of_key(self, key):
            mixed = self._mixed(leaf if mixed is None else self.op("bitwise_xor", leaf, mixed))
        return self._in_index(table, self.constant(0, "i64") if mixed is None else mixed)

    def _mixed(self, number):
        def shifted(number, places):
            return self.op("bitwise_logical_right_shift", number, self.constant(places, "i64"))
        folded = self.op("bitwise_and", self.op("bitwise_xor", number, shifted(number, 32)), self.constant(_LOW_BITS, "i64"))
        product = self.op("mul", folded, self.constant(_FACTOR, "i64"))
        return self.op("bitwise_xor", product, shifted(product, 31))

    def table_next_slot(self, table, slot):
        return self._in_index(table, self.op("add", slot.ids[0], self.constant(1, "i64")))

    def table_in_slot(self, table, slot):
        return Value(INT, (self._number_at(table, _INDEX, slot),))

    def table_entry(self, table, slot):
        """The number of the entry in a slot where one is."""
        return Value(INT, (self.op("sub", self.table_in_slot(table, slot).ids[0], self.constant(1, "i64")),))

    # Entries.

    def table_has_key(self, table, entry, key):
        found = True
        for array, part in zip(self._keys_and_items(table)[0], self.coerce(key, table.type.key).ids):
            found = self.all_of(found, self.op("eq", self.op("at", array, entry.ids[0], attributes=(0,)), part))
        return self.truth_value(found)

    def _of_entry(self, arrays, type_, entry):
        return Value(type_, tuple(self.op("at", array, entry.ids[0], attributes=(0,)) for array in arrays))

    def table_key(self, table, entry):
        return self._of_entry(self._keys_and_items(table)[0], table.type.key, entry)

    def table_item(self, table, entry):
        return self._of_entry(self._keys_and_items(table)[1], table.type.value, entry)

    def table_is_there(self, table, entry):
        return Value(BOOL, (self._number_at(table, _THERE, entry),))

    def table_entries(self, table):
        return Value(INT, (table.ids[_ENTRIES],))

    def table_size(self, table):
        return Value(INT, (table.ids[_SIZE],))

    def table_slots(self, table):
        return Value(INT, (self.op("size", table.ids[_INDEX], attributes=(0,)),))

    # Changes.

    def table_changed(self, table, entry, item):
        parts = self.coerce(item, table.type.value).ids
        behind = len(table.ids) - len(parts)
        return self._with_parts(table, {behind + number: self._set_at(table.ids[behind + number], entry.ids[0], part)
                                        for number, part in enumerate(parts)})

    def table_appended(self, table, slot, key, item):
        entry, one = table.ids[_ENTRIES], self.constant(1, "i64")
        following = self.op("add", entry, one)
        leaves = [*self.coerce(key, table.type.key).ids, *self.coerce(item, table.type.value).ids]
        parts = {_KEYS + number: self._set_at(table.ids[_KEYS + number], entry, leaf) for number, leaf in enumerate(leaves)}
        return self._with_parts(table, {
            **parts, _INDEX: self._set_at(table.ids[_INDEX], slot.ids[0], following), _ENTRIES: following,
            _THERE: self._set_at(table.ids[_THERE], entry, self.constant(True, "bool")), _SIZE: self.op("add", table.ids[_SIZE], one)})

    def table_removed(self, table, slot):
        one, entry = self.constant(1, "i64"), self.table_in_slot(table, slot).ids[0]
        return self._with_parts(table, {
            _THERE: self._set_at(table.ids[_THERE], self.op("sub", entry, one), self.constant(False, "bool")),
            _INDEX: self._set_at(table.ids[_INDEX], slot.ids[0], self.constant(-1, "i64")), _SIZE: self.op("sub", table.ids[_SIZE], one)})

    def table_empty(self, table, slots):
        zero = self.constant(0, "i64")
        room = Value(INT, (self.op("div", self.held(slots).ids[0], self.constant(2, "i64")),))
        ids = [self.zeros_array("i64", self.held(slots)), self.zeros_array("bool", room), zero, zero]
        ids += [self.zeros_array(str(kind), room) for part in (table.type.key, table.type.value) for kind in self.converter.graph_types(part)]
        return Value(table.type, tuple(ids))

    def zeros_array(self, dtype, length):
        return self.zeros(Lst(_ELEMENTS[dtype], True, False, True), length).ids[0]
