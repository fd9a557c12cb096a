"""What methods and operators of dicts and sets do, in the Python that is converted in their place."""

from hiaton.function.prelude_lists import head, tail


def with_pairs(made, pairs):
    made = made.copy()
    for key, item in pairs:
        made[key] = item
    return made


def with_keys(made, keys):
    made = made.copy()
    for key in keys:
        made.add(key)
    return made


def keys_in_both(keys, other):
    made = set()
    for key in keys:
        if key in other:
            made.add(key)
    return made


def keys_in_one(keys, other, made):
    """`made` with those of the keys that the other set does not have."""
    made = made.copy()
    for key in keys:
        if key not in other:
            made.add(key)
    return made


def are_all_in(keys, other):
    for key in keys:
        if key not in other:
            return False
    return True


def are_equal_in(pairs, other):
    for key, item in pairs:
        if key not in other or not other[key] == item:
            return False
    return True


def pairs_from_key(pairs, key):
    """Those behind the first ones of a list, from that with the key on."""
    while pairs:
        if head(pairs)[0] == key:
            return pairs
        pairs = tail(pairs)
    return pairs


def keys_of_pairs(pairs):
    return [key for key, _ in pairs]


def values_of_pairs(pairs):
    return [item for _, item in pairs]


def items_of_pairs(pairs):
    return [(key, item) for key, item in pairs]


def with_counts(made, keys):
    made = made.copy()
    for key in keys:
        made[key] = made.get(key, 0) + 1
    return made


def most_common(pairs):
    return sorted(pairs, key=lambda pair: pair[1], reverse=True)


def first_most_common(pairs, n):
    return sorted(pairs, key=lambda pair: pair[1], reverse=True)[:max(n, 0)]
