"""What built-in functions and operators do, in the Python that is converted in their place."""

import functools

from hiaton import _core
from hiaton.function import prelude_lists, prelude_mappings, prelude_numbers, prelude_tables, prelude_trees
from hiaton.function.prelude_lists import before, head, tail
from hiaton.function.prelude_numbers import (added, factorial, float_floor, float_mod, gcd, isqrt, power, rounded, total_from_first,
                                             total_of_floats, with_what_was_lost)

__all__ = ["added", "factorial", "float_floor", "float_mod", "gcd", "isqrt", "power", "rounded", "total_from_first", "total_of_floats",
           "with_what_was_lost"]  # besides those that are defined here
ops = _core.ops
_OTHERS = (prelude_lists, prelude_numbers, prelude_mappings, prelude_tables, prelude_trees)
_FILES = frozenset((__file__, *(others.__file__ for others in _OTHERS)))


def is_text_of(file):
    """Whether the file is one of those that are converted in the place of built-in functions."""
    return file in _FILES


def holds(names):
    """Whether it is the dict of the names of one of them, which nobody changes."""
    return names is globals() or any(names is vars(others) for others in _OTHERS)


def joined(a, b):
    made = []
    for x in a:
        made.append(x)
    for x in b:
        made.append(x)
    return made


def joined_onto(a, b):
    """Of lists of items of one type, where nobody can see whether the second is a part of what this gives."""
    return before(head(a), joined_onto(tail(a), b)) if a else b


def flattened(lists):
    return [item for items in lists for item in items]


def neighbors(items):
    return [(first, second) for first, second in zip(items, items[1:])]


def pairs(a, b):
    return [(x, y) for x in a for y in b]


def pairs_in_order(items):
    return [(x, y) for i, x in enumerate(items) for y in items[i + 1:]]


def repeated_item(item, times):
    return [item for _ in range(times)]


def accumulated(function, items):
    return accumulated_from(function, tail(items), head(items)) if items else []


def accumulated_from(function, items, value):
    made = [value]
    for item in items:
        value = function(value, item)
        made.append(value)
    return made


def repeated(items, times):
    return [item for _ in range(times) for item in items]


def lists_equal(a, b):
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if x != x:
            raise ValueError("NaN")  # Python looks whether it is the same object
        if not x == y:
            return False
    return True


def numbers_up_to(n):
    if n <= 0:
        return ops.slice(ops.stack([n]), 0, 0, 0)
    half = numbers_up_to(n // 2)
    both = ops.concat([half, half + n // 2], 0)
    return both if n % 2 == 0 else ops.concat([both, ops.stack([n - 1])], 0)


def numbers_between(start, stop, step):
    if step == 0:
        raise ZeroDivisionError
    return start + step * numbers_up_to(-((start - stop) // step))


@functools.cache
def joined_by_halves(join, axis):
    """What joins the tensors of a list along an axis, by hia.stack or hia.concat. The halves do not wait for each other."""
    def first(items, n):
        if n == 1:
            return join([items[0]], axis=axis)
        if n == 2:
            return join([items[0], items[1]], axis=axis)
        if n == 3:
            return join([items[0], items[1], items[2]], axis=axis)
        half = n // 2
        return ops.concat([first(items, half), first(dropped(items, half), n - half)], axis=axis)

    def along(items):
        if not items:
            raise ValueError("expected a list of tensors to join, found an empty one")
        return first(items, len(items))
    return along


def contains(items, value):
    if value != value:
        raise ValueError("NaN")  # Python looks whether it is the same object
    for item in items:
        if item == value:
            return True
    return False


def total(items, start):
    for item in items:
        start = start + item
    return start


def reduced(function, items, value):
    for item in items:
        value = function(value, item)
    return value


def reduced_from_first(function, items):
    return reduced(function, items[1:], items[0])


def all_true(items):
    for item in items:
        if not item:
            return False
    return True


def any_true(items):
    for item in items:
        if item:
            return True
    return False


def smaller(a, b):
    return b if b < a else a


def larger(a, b):
    return b if b > a else a


def smallest(items):
    if not items:
        raise ValueError("an empty list")
    return reduced(smaller, tail(items), head(items))


def largest(items):
    if not items:
        raise ValueError("an empty list")
    return reduced(larger, tail(items), head(items))


def extreme_by(items, key, otherwise, is_largest):
    if not items:
        return otherwise
    found = head(items)
    best = key(found)
    for item in tail(items):
        value = key(item)
        if (value > best) if is_largest else (value < best):
            found, best = item, value
    return found


def itself(item):
    return item


def dropped(items, n):
    while n > 0:
        items = tail(items)
        n -= 1
    return items


def dropped_if_there(items, n):
    while n > 0 and items:
        items = tail(items)
        n -= 1
    return items


def first_of(items, n):
    if n > 0 and items:
        return before(head(items), first_of(tail(items), n - 1))
    return []


def first(pair):
    return pair[0]


def in_order(items, key, is_reverse):
    pairs = [(key(item), item) for item in items]
    n = count_comparable(pairs, first, 0)
    return [item for _, item in first_in_order(pairs, n, first, is_reverse)] if n > 0 else [item for item in items]


def numbers_in_order(items, is_reverse):
    n = count_comparable(items, itself, 0)
    return first_in_order(items, n, itself, is_reverse) if n > 0 else [item for item in items]


def count_comparable(items, key, n):
    """n more than there are items."""
    if items:
        value = key(head(items))
        if value != value:
            raise ValueError("NaN")  # what comes out depends on the steps that are made
        return count_comparable(tail(items), key, n + 1)
    return n


def first_in_order(items, n, key, is_reverse):
    if n == 1:
        return [head(items)]
    half = n // 2
    rest = first_in_order(dropped(items, half), n - half, key, is_reverse)
    return merged(first_in_order(items, half, key, is_reverse), rest, key, is_reverse)


def merged(a, b, key, is_reverse):
    if not a:
        return b
    if not b:
        return a
    x, y = head(a), head(b)
    if (key(y) > key(x)) if is_reverse else (key(y) < key(x)):
        return before(y, merged(a, tail(b), key, is_reverse))
    return before(x, merged(tail(a), b, key, is_reverse))


def first_place(items, start):
    start = 0 if start is None else start
    return max(start + count(items), 0) if start < 0 else start


def rest_from(items, start):
    """items[start:], in the same cells."""
    return dropped_if_there(items, first_place(items, start))


def part(items, start, stop):
    start = first_place(items, start)
    items = dropped_if_there(items, start)
    if stop is None:
        return [item for item in items]
    return first_of(items, count(items) + stop if stop < 0 else stop - start)


def before_part(items, start):
    return part(items, 0, 0 if start is None else start)


def behind_part(items, start, stop):
    """The items that stay where items[start:stop] are deleted, but for those before."""
    return dropped(items, count(before_part(items, start)) + count(part(items, start, stop)))


def numbers_of(x):
    return [element.item() for element in x]


def numbers_of_rows(x):
    return [numbers_of(row) for row in x]


def at_steps(items, step):
    return [item for i, item in enumerate(items) if i % step == 0]


def backward(items):
    return [item for item in reversed(items)]


def place_of(items, value):
    for i, item in enumerate(items):
        if item == value:
            return i
    raise ValueError("not in the list")


def count_of(items, value):
    if value != value:
        raise ValueError("NaN")  # Python looks whether it is the same object
    n = 0
    for item in items:
        if item == value:
            n += 1
    return n


def count_to(items, most):
    """The number of items, and at most that one."""
    return counted_to(items, 0, most)


def counted_to(items, n, most):
    return counted_to(tail(items), n + 1, most) if items and n < most else n


def count(items):
    return counted(items, 0)


def counted(items, n):
    """n more than there are items."""
    if items:
        items = tail(items)
        if items:
            items = tail(items)
            if items:
                items = tail(items)
                if items:
                    return counted(tail(items), n + 4)
                return n + 3
            return n + 2
        return n + 1
    return n


def collected(items):
    return [item for item in items]


def element(items, index):
    return item_after(items, index + count(items) if index < 0 else index)


def element_of_backward(items, index, length):
    """An element of a list of which the last item comes first. A length of None is not known."""
    if index < 0:
        return item_after(items, -1 - index)
    return item_after(items, (count(items) if length is None else length) - 1 - index)


def item_after(items, n):
    """The item behind the first n ones. To look whether there is another item costs less than to count them one by one."""
    if n >= 4:
        if items:
            items = tail(items)
            if items:
                items = tail(items)
                if items:
                    items = tail(items)
                    if items:
                        return item_after(tail(items), n - 4)
    elif n >= 0 and items:
        return head(items) if n == 0 else item_after(tail(items), n - 1)
    raise IndexError("list index out of range")


def from_begin(items, index):
    return index + count(items) if index < 0 else index


def rest_at(items, rest, at, index):
    """What begins at an index of the items, of which `rest` begins at `at`."""
    if rest:
        if index == at:
            return rest
        following = tail(rest)
        if following and index - at == 1:
            return following
    return rest_anywhere(items, rest, at, index)


def rest_anywhere(items, rest, at, index):
    rest, steps = (rest, index - at) if index >= at else (items, index)
    while steps > 0 and rest:
        rest = tail(rest)
        steps -= 1
    if steps != 0 or not rest:
        raise IndexError("list index out of range")
    return rest


def mapped(function, examples):
    return [function(example) for example in examples]


def mapped_apart(function, examples):
    return [function(*example) for example in examples]


def place_in(items, index):
    n = count(items)
    if index < 0:
        index += n
    if index < 0 or index >= n:
        raise IndexError("list index out of range")
    return index


def replaced(items, index, value):
    return with_item(items, index + count(items) if index < 0 else index, value)


def replaced_by_other(items, index, value):
    """The same by a value that no item is of the type of."""
    place = place_in(items, index)
    return [value if i == place else item for i, item in enumerate(items)]


def with_item(items, n, value):
    if n >= 0 and items:
        if n == 0:
            return before(value, tail(items))
        return before(head(items), with_item(tail(items), n - 1, value))
    raise IndexError("list assignment index out of range")


def shortened(items, index):
    place = place_in(items, index)
    return [item for i, item in enumerate(items) if i != place]


def inserted(items, index, value):
    n = count(items)
    place = min(max(index + n, 0) if index < 0 else index, n)
    made = []
    for i, item in enumerate(items):
        if i == place:
            made.append(value)
        made.append(item)
    if place == n:
        made.append(value)
    return made


def without(items, value):
    place = place_of(items, value)
    return [item for i, item in enumerate(items) if i != place]


def length_of_range(start, stop, step):
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    if step > 0:
        return max(0, (stop - start + step - 1) // step)
    return max(0, (start - stop - step - 1) // -step)


def is_in_range(number, start, stop, step):
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    is_within = start <= number < stop if step > 0 else stop < number <= start
    return is_within and (number - start) % step == 0
