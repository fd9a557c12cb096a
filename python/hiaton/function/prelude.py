"""What built-in functions and operators do, in the Python that is converted in their place."""

import math


def power(base, exponent):
    result = 1
    for _ in range(exponent):
        result = result * base
    return result


def float_mod(a, b, rest):
    if rest == 0.0:
        return 0.0 if b > 0.0 else -0.0
    if (b < 0.0) != (rest < 0.0):
        return rest + b
    return rest


def float_floor(a, b, rest):
    quotient = (a - rest) / b
    if rest != 0.0 and (b < 0.0) != (rest < 0.0):
        quotient -= 1.0
    if quotient == 0.0:
        return a / b * 0.0
    whole = float(math.floor(quotient))
    return whole + 1.0 if quotient - whole > 0.5 else whole


def joined(a, b):
    made = []
    for x in a:
        made.append(x)
    for x in b:
        made.append(x)
    return made


def lists_equal(a, b):
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if x != x:
            raise ValueError  # NaN: Python looks whether it is the same object
        if not x == y:
            return False
    return True


def contains(items, value):
    if value != value:
        raise ValueError  # NaN: Python looks whether it is the same object
    for item in items:
        if item == value:
            return True
    return False


def total(items, start):
    for item in items:
        start = start + item
    return start


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
    found = None
    for item in items:
        if found is None or item < found:
            found = item
    if found is None:
        raise ValueError
    return found


def largest(items):
    found = None
    for item in items:
        if found is None or item > found:
            found = item
    if found is None:
        raise ValueError
    return found


def count(items):
    n = 0
    for _ in items:
        n += 1
    return n


def collected(items):
    return [item for item in items]


def element(items, index):
    if index < 0:
        index += count(items)
    if index >= 0:
        for item in items:
            if index == 0:
                return item
            index -= 1
    raise IndexError


def mapped(function, examples):
    return [function(example) for example in examples]
