"""What built-in functions and operators do with numbers, in the Python that is converted in their place."""

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


def rounded(x):
    whole = math.floor(x)
    rest = x - float(whole)
    return whole + 1 if rest > 0.5 or rest == 0.5 and whole % 2 == 1 else whole


def gcd(a, b):
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


def isqrt(n):
    if n < 0:
        raise ValueError("a negative number")
    root = int(math.sqrt(n))
    while root * root > n:
        root -= 1
    while (root + 1) * (root + 1) <= n:
        root += 1
    return root


def factorial(n):
    if n < 0:
        raise ValueError("a negative number")
    result = 1
    for factor in range(2, n + 1):
        result = result * factor
    return result


def total_of_floats(items, total):
    """As Python adds floats from version 3.12 on: what each addition loses to rounding comes last (Neumaier, 1974)."""
    lost = 0.0
    for item in items:
        total, lost = added(total, lost, item)
    return with_what_was_lost(total, lost)


def total_from_first(items, start):
    """The same from an int on."""
    if not items:
        return start
    return total_of_floats(items[1:], start + items[0])


def added(total, lost, item):
    new = total + item
    if abs(total) >= abs(item):
        return new, lost + ((total - new) + item)
    return new, lost + ((item - new) + total)


def with_what_was_lost(total, lost):
    return total + lost if lost - lost == 0 else total
