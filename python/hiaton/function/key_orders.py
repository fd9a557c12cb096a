"""Keys of dicts and sets in the graph: ints, bools, strs, and tuples of them."""

from hiaton.function.types import BOOL, INT, SYMBOL, Scalar, Tup, general, is_number, is_text


def key_type(type_):
    """The type of the keys that a value of the type is one of; None: it cannot be one."""
    if is_text(type_):
        return SYMBOL
    if is_number(type_) or isinstance(type_, Scalar):
        return general(type_) if general(type_) in (INT, BOOL) else None
    if isinstance(type_, Tup) and type_.cls is tuple:
        parts = tuple(map(key_type, type_.items))
        return None if None in parts else Tup(parts)
    return None


def are_never_equal(a, b):
    """Whether no key of the one type is equal to one of the other: texts and others, tuples and others, tuples of other lengths."""
    if isinstance(a, Tup) and isinstance(b, Tup):
        return len(a.items) != len(b.items) or any(map(are_never_equal, a.items, b.items))
    return type(a) is not type(b)


def leaves_of_key(frame, key):
    """The integers that a key consists of."""
    key = frame.coerce(key, key_type(key.type))
    return [frame.op("i64", id_) if str(kind) == "bool" else id_
            for id_, kind in zip(key.ids, frame.converter.graph_types(key.type))]
