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
