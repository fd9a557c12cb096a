"""The programs with data values in Python, as plain recursion on tuples: `data.py NAME ARGUMENT...`.

A variant is a tuple; one of a type with several variants begins with its number. Leaf and Nil are None.
"""

import json
import math
import sys
import time


def following(x):
    return (x * 1103515245 + 12345) % 2147483648


RED, BLACK = 0, 1


def balance_left(left, key, right):
    if left is not None and left[0] == RED:
        _, a, x, b = left
        if a is not None and a[0] == RED:
            return (RED, (BLACK, a[1], a[2], a[3]), x, (BLACK, b, key, right))
        if b is not None and b[0] == RED:
            return (RED, (BLACK, a, x, b[1]), b[2], (BLACK, b[3], key, right))
    return (BLACK, left, key, right)


def balance_right(left, key, right):
    if right is not None and right[0] == RED:
        _, a, x, b = right
        if a is not None and a[0] == RED:
            return (RED, (BLACK, left, key, a[1]), a[2], (BLACK, a[3], x, b))
        if b is not None and b[0] == RED:
            return (RED, (BLACK, left, key, a), x, (BLACK, b[1], b[2], b[3]))
    return (BLACK, left, key, right)


def inserted(t, key):
    if t is None:
        return (RED, None, key, None)
    color, left, x, right = t
    if color == BLACK:
        if key < x:
            return balance_left(inserted(left, key), x, right)
        if key > x:
            return balance_right(left, x, inserted(right, key))
        return t
    if key < x:
        return (RED, inserted(left, key), x, right)
    if key > x:
        return (RED, left, x, inserted(right, key))
    return t


def count_keys(t):
    return 0 if t is None else count_keys(t[1]) + 1 + count_keys(t[3])


def height(t):
    return 0 if t is None else 1 + max(height(t[1]), height(t[3]))


def checksum_of_keys(t, total):
    if t is None:
        return total
    return checksum_of_keys(t[3], (checksum_of_keys(t[1], total) * 31 + t[2]) % 1000003)


def red_black(n):
    t, x = None, 65539
    for _ in range(n):
        _, left, key, right = inserted(t, x)
        t, x = (BLACK, left, key, right), following(x)
    return [count_keys(t), height(t), checksum_of_keys(t, 0)]


NUMBER, X, SUM, PRODUCT, POWER, VARIABLE = range(6)


def plus(a, b):
    if a[0] == NUMBER:
        if b[0] == NUMBER:
            return (NUMBER, a[1] + b[1])
        return b if a[1] == 0 else (SUM, a, b)
    return a if b[0] == NUMBER and b[1] == 0 else (SUM, a, b)


def times(a, b):
    if a[0] == NUMBER:
        if b[0] == NUMBER:
            return (NUMBER, a[1] * b[1])
        return a if a[1] == 0 else b if a[1] == 1 else (PRODUCT, a, b)
    if b[0] == NUMBER:
        return b if b[1] == 0 else a if b[1] == 1 else (PRODUCT, a, b)
    return (PRODUCT, a, b)


def power(base, exponent):
    return base if exponent == 1 else (POWER, base, exponent)


def differentiate(e):
    kind = e[0]
    if kind == NUMBER:
        return (NUMBER, 0)
    if kind == X:
        return (NUMBER, 1)
    if kind == SUM:
        return plus(differentiate(e[1]), differentiate(e[2]))
    if kind == PRODUCT:
        return plus(times(differentiate(e[1]), e[2]), times(e[1], differentiate(e[2])))
    return times(times((NUMBER, e[2]), power(e[1], e[2] - 1)), differentiate(e[1]))


def expression(depth):
    if depth == 0:
        return (X,)
    if depth > 3:
        return (SUM, expression(depth - 1), expression(depth - 1))
    return (SUM, (PRODUCT, (NUMBER, depth), expression(depth - 1)), (POWER, expression(depth - 1), depth % 2 + 2))


def nodes(e):
    kind = e[0]
    if kind == SUM or kind == PRODUCT:
        return 1 + nodes(e[1]) + nodes(e[2])
    return 1 + nodes(e[1]) if kind == POWER else 1


def derivative(depth, order):
    e = expression(depth)
    for _ in range(order):
        e = differentiate(e)
    return [nodes(e)]


PRIME = 1000003


def random_expression(depth, x):
    choice = x // 65536 % 8
    if depth == 0:
        return (VARIABLE, choice) if choice < 3 else (NUMBER, x // 65536 % 1000)
    left = random_expression(depth - 1, following(x))
    return (SUM if choice < 6 else PRODUCT, left, random_expression(depth - 1, following(x + depth)))


def plus_modulo(a, b):
    if a[0] == NUMBER:
        if b[0] == NUMBER:
            return (NUMBER, (a[1] + b[1]) % PRIME)
        if b[0] == SUM and b[1][0] == NUMBER:
            return (SUM, (NUMBER, (a[1] + b[1][1]) % PRIME), b[2])
        return b if a[1] == 0 else (SUM, a, b)
    if a[0] == SUM and a[1][0] == NUMBER:
        if b[0] == NUMBER:
            return (SUM, (NUMBER, (a[1][1] + b[1]) % PRIME), a[2])
        if b[0] == SUM and b[1][0] == NUMBER:
            return (SUM, (NUMBER, (a[1][1] + b[1][1]) % PRIME), (SUM, a[2], b[2]))
        return (SUM, a[1], (SUM, a[2], b))
    if b[0] == NUMBER:
        return a if b[1] == 0 else (SUM, b, a)
    if b[0] == SUM and b[1][0] == NUMBER:
        return (SUM, b[1], (SUM, a, b[2]))
    return (SUM, a, b)


def times_modulo(a, b):
    if a[0] == NUMBER and b[0] == NUMBER:
        return (NUMBER, a[1] * b[1] % PRIME)
    return times(a, b)


def folded(e):
    if e[0] == SUM:
        return plus_modulo(folded(e[1]), folded(e[2]))
    if e[0] == PRODUCT:
        return times_modulo(folded(e[1]), folded(e[2]))
    return e


def value(e):
    kind = e[0]
    if kind == NUMBER:
        return e[1]
    if kind == VARIABLE:
        return e[1] + 7
    if kind == SUM:
        return (value(e[1]) + value(e[2])) % PRIME
    return value(e[1]) * value(e[2]) % PRIME


def constant_folding(depth):
    e = random_expression(depth, 65539)
    f = folded(e)
    return [nodes(f), value(e), value(f)]


def safe(column, distance, placed):
    if placed is None:
        return True
    other, rest = placed
    return other != column and abs(other - column) != distance and safe(column, distance + 1, rest)


def solutions(n, left, placed):
    if left == 0:
        return 1
    return sum(solutions(n, left - 1, (column, placed)) for column in range(1, n + 1) if safe(column, 1, placed))


def list_queens(n):
    return [solutions(n, n, None)]


def random_numbers(n, x):
    return None if n == 0 else (x, random_numbers(n - 1, following(x)))


def merge(a, b):
    if a is None:
        return b
    if b is None:
        return a
    return (a[0], merge(a[1], b)) if a[0] <= b[0] else (b[0], merge(a, b[1]))


def sort(xs):
    if xs is None or xs[1] is None:
        return xs
    a, b = None, None
    while xs is not None:
        x, xs = xs
        a, b = (x, b), a
    return merge(sort(a), sort(b))


def mergesort(n):
    xs, total = sort(random_numbers(n, 65539)), 0
    while xs is not None:
        x, xs = xs
        total = (total * 31 + x) % 1000003
    return [total]


def build(depth):
    return None if depth == 0 else (build(depth - 1), build(depth - 1))


def count(t):
    return 1 if t is None else count(t[0]) + count(t[1]) + 1


def binary_trees(depth):
    return [count(build(depth))]


def transform(re, im, c, s):
    if len(re) == 1:
        return re, im
    even_re, even_im = transform(re[::2], im[::2], c[::2], s[::2])
    odd_re, odd_im = transform(re[1::2], im[1::2], c[::2], s[::2])
    turned_re = [a * x - b * y for a, b, x, y in zip(odd_re, odd_im, c, s)]
    turned_im = [a * y + b * x for a, b, x, y in zip(odd_re, odd_im, c, s)]
    return ([a + b for a, b in zip(even_re, turned_re)] + [a - b for a, b in zip(even_re, turned_re)],
            [a + b for a, b in zip(even_im, turned_im)] + [a - b for a, b in zip(even_im, turned_im)])


def fft(n):
    x = [float(i * 7919 % 1009) for i in range(n)]
    angles = [-2 * math.pi * i / n for i in range(n // 2)]
    re, im = transform(x, [0.0] * n, [math.cos(a) for a in angles], [math.sin(a) for a in angles])
    return [re[n // 3], sum(a * a + b * b for a, b in zip(re, im)) / n]


def main():
    sys.setrecursionlimit(10**8)
    program = globals()[sys.argv[1]]
    arguments = [int(word) for word in sys.argv[2:]]
    begin = time.perf_counter()
    results = program(*arguments)
    print(json.dumps({"results": results, "seconds": time.perf_counter() - begin}))


main()
