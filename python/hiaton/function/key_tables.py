"""Hash tables in the graph, which sets and dicts with items of numbers consist of: the operations of prelude_tables.py. A table is made of the
index, an array for each part of the keys, how many entries there are, how many of them were not removed, and an array for each part of the
items."""

from hiaton.function.key_orders import leaves_of_key
from hiaton.function.types import BOOL, FLOAT, INT, NONE, KeyIndex, Lst, Value

_INDEX, _KEYS = range(2)
_FACTOR = 0x4F1BBCDD  # the golden ratio in 31 bits, so that products with 32 bits fit
_LOW_BITS = 0xFFFFFFFF
_ELEMENTS = {"i64": INT, "f64": FLOAT, "bool": BOOL}


class KeyTables:
    def _keys_end(self, table):
        """The number of the part behind those of the keys: how many entries there are."""
        return _KEYS + len(self.converter.graph_types(table.type.key))

    def _keys_of(self, table):
        return table.ids[_KEYS:self._keys_end(table)]

    @staticmethod
    def _with_parts(table, parts):
        """The table with other values of the parts of these numbers."""
        return Value(table.type, tuple(parts.get(number, id_) for number, id_ in enumerate(table.ids)))

    def _set_at(self, array, place, element):
        return self.op("set_at", array, element, place, attributes=(0,))

    def table_lookup(self, table):
        return Value(KeyIndex(table.type.key, NONE), table.ids[:self._keys_end(table)])

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
        return Value(INT, (self.op("at", table.ids[_INDEX], slot.ids[0], attributes=(0,)),))

    def table_entry(self, table, slot):
        """The number of the entry in a slot where one is."""
        return Value(INT, (self.op("sub", self.table_in_slot(table, slot).ids[0], self.constant(1, "i64")),))

    # Entries.

    def table_has_key(self, table, entry, key):
        found = True
        for array, part in zip(self._keys_of(table), self.coerce(key, table.type.key).ids):
            found = self.all_of(found, self.op("eq", self.op("at", array, entry.ids[0], attributes=(0,)), part))
        return self.truth_value(found)

    def _of_entry(self, arrays, type_, entry):
        return Value(type_, tuple(self.op("at", array, entry.ids[0], attributes=(0,)) for array in arrays))

    def table_key(self, table, entry):
        return self._of_entry(self._keys_of(table), table.type.key, entry)

    def table_item(self, table, entry):
        return self._of_entry(table.ids[self._keys_end(table) + 2:], table.type.value, entry)

    def table_entries(self, table):
        return Value(INT, (table.ids[self._keys_end(table)],))

    def table_size(self, table):
        return Value(INT, (table.ids[self._keys_end(table) + 1],))

    def table_slots(self, table):
        return Value(INT, (self.op("size", table.ids[_INDEX], attributes=(0,)),))

    # Changes.

    def table_changed(self, table, entry, item):
        parts = enumerate(self.coerce(item, table.type.value).ids, self._keys_end(table) + 2)
        return self._with_parts(table, {number: self._set_at(table.ids[number], entry.ids[0], part) for number, part in parts})

    def table_appended(self, table, slot, key, item):
        entry, size, end = self.table_entries(table).ids[0], self.table_size(table).ids[0], self._keys_end(table)
        following, one = self.op("add", entry, self.constant(1, "i64")), self.constant(1, "i64")
        leaves = {**dict(enumerate(self.coerce(key, table.type.key).ids, _KEYS)), **dict(enumerate(self.coerce(item, table.type.value).ids, end + 2))}
        parts = {number: self._set_at(table.ids[number], entry, leaf) for number, leaf in leaves.items()}
        return self._with_parts(table, {**parts, _INDEX: self._set_at(table.ids[_INDEX], slot.ids[0], following), end: following,
                                        end + 1: self.op("add", size, one)})

    def table_with_slot(self, table, slot, number):
        return self._with_parts(table, {_INDEX: self._set_at(table.ids[_INDEX], slot.ids[0], self.held(number).ids[0])})

    def table_distance(self, table, slot, other):
        return self._in_index(table, self.op("sub", other.ids[0], slot.ids[0]))

    def table_counted(self, table, entries, size):
        end = self._keys_end(table)
        return self._with_parts(table, {end: entries.ids[0], end + 1: size.ids[0]})

    def table_empty(self, table, slots):
        zero, room = self.constant(0, "i64"), Value(INT, (self.op("div", self.held(slots).ids[0], self.constant(2, "i64")),))

        def arrays(type_):
            return [self.zeros_array(str(kind), room) for kind in self.converter.graph_types(type_)]
        return Value(table.type, (self.zeros_array("i64", self.held(slots)), *arrays(table.type.key), zero, zero, *arrays(table.type.value)))

    def zeros_array(self, dtype, length):
        return self.zeros(Lst(_ELEMENTS[dtype], True, False, True), length).ids[0]
