"""What dicts and sets of numbers are made of, in the Python that is converted in their place: a hash table with open addressing. The keys and
their items lie in arrays, one entry behind the other as they were set; an index says for each slot which entry is there."""

_FEWEST_SLOTS = 8


def table_first_slot(table, key):
    """The converter has operations for this and for what follows up to table_empty. A slot is where the index is looked up."""
    return hash(key) % len(table.index)


def table_next_slot(table, slot):
    return (slot + 1) % len(table.index)


def table_in_slot(table, slot):
    """1 more than the number of the entry there; 0: there is none."""
    return table.index[slot]


def table_has_key(table, entry, key):
    return table.keys[entry] == key


def table_key(table, entry):
    return table.keys[entry]


def table_item(table, entry):
    return table.items[entry]


def table_lookup(table):
    """What of the table is needed to find a key."""
    return table.index, table.keys


def table_entries(table):
    """How many there are, with those that were removed."""
    return table.entries


def table_size(table):
    return table.size


def table_slots(table):
    return len(table.index)


def table_changed(table, entry, item):
    """The table with another item of an entry."""
    table.items[entry] = item
    return table


def table_appended(table, slot, key, item):
    """The table with one more entry, in a slot where none is."""
    table.index[slot] = table.entries + 1
    table.keys[table.entries], table.items[table.entries] = key, item
    table.entries, table.size = table.entries + 1, table.size + 1
    return table


def table_with_slot(table, slot, number):
    """The table with another number in a slot, as table_in_slot() gives it."""
    table.index[slot] = number
    return table


def table_distance(table, slot, other):
    """How many slots on from a slot another one is, round the end."""
    return (other - slot) % len(table.index)


def table_counted(table, entries, size):
    """The table with other numbers of entries, and of those that were not removed."""
    table.entries, table.size = entries, size
    return table


def table_empty(table, slots):
    """A table of such keys and items without any, with so many slots."""
    return type(table)(slots)


def slot_of_key(table, key):
    """The slot of the key; where it is not there, -1 less the free slot that it would be in."""
    return slot_from(table, key, table_first_slot(table, key))


def slot_from(table, key, slot):
    found = table_in_slot(table, slot)
    if found == 0:
        return -1 - slot
    if table_has_key(table, found - 1, key):
        return slot
    return slot_from(table, key, table_next_slot(table, slot))


def free_slot(table, slot):
    return slot if table_in_slot(table, slot) == 0 else free_slot(table, table_next_slot(table, slot))


def is_there(table, entry):
    """Whether the entry was not removed."""
    if table_entries(table) == table_size(table):
        return True
    slot = slot_of_key(table_lookup(table), table_key(table, entry))
    return slot >= 0 and table_in_slot(table, slot) == entry + 1


def table_with(table, key, item):
    slot = slot_of_key(table_lookup(table), key)
    if slot >= 0:
        return table_changed(table, table_in_slot(table, slot) - 1, item)
    if 2 * (table_entries(table) + 1) > table_slots(table):
        return with_new_key(with_room(table), key, item)
    return table_appended(table, -1 - slot, key, item)


def with_new_key(table, key, item):
    return table_appended(table, free_slot(table_lookup(table), table_first_slot(table, key)), key, item)


def with_room(table):
    return refilled(table_empty(table, slots_for(4 * (table_size(table) + 1), _FEWEST_SLOTS)), table, 0)


def slots_for(count, slots):
    return slots if slots >= count else slots_for(count, 2 * slots)


def refilled(made, table, entry):
    """A table with the entries of another one from a number on, which it has room for."""
    if entry == table_entries(table):
        return made
    if is_there(table, entry):
        key = table_key(table, entry)
        made = table_appended(made, free_slot(table_lookup(made), table_first_slot(made, key)), key, table_item(table, entry))
    return refilled(made, table, entry + 1)


def table_without(table, key):
    """The table without a key that is in it."""
    slot = slot_of_key(table_lookup(table), key)
    entries = table_entries(table)
    is_last = table_in_slot(table, slot) == entries
    table = without_slot(table, slot, table_next_slot(table, slot))
    return table_counted(table, entries - 1 if is_last else entries, table_size(table) - 1)


def without_slot(table, free, slot):
    """The table with nothing in a slot `free`: what stands behind it, and would not be found any more, moves there."""
    found = table_in_slot(table, slot)
    if found == 0:
        return table_with_slot(table, free, 0)
    first = table_first_slot(table, table_key(table, found - 1))
    if table_distance(table, first, slot) < table_distance(table, free, slot):
        return without_slot(table, free, table_next_slot(table, slot))
    return without_slot(table_with_slot(table, free, found), slot, table_next_slot(table, slot))


def keys_of_table(table):
    return [table_key(table, entry) for entry in range(table_entries(table)) if is_there(table, entry)]


def items_of_table(table):
    return [table_item(table, entry) for entry in range(table_entries(table)) if is_there(table, entry)]


def pairs_of_table(table):
    return [(table_key(table, entry), table_item(table, entry)) for entry in range(table_entries(table)) if is_there(table, entry)]
