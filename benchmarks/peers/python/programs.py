"""The programs of the benchmarks in Python, as plain recursion: `programs.py NAME ARGUMENT...`."""

import json
import math
import sys
import time


def fib(n):
    return 1 if n <= 1 else fib(n - 1) + fib(n - 2)


def ack(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ack(m - 1, 1)
    return ack(m - 1, ack(m, n - 1))


def tak(x, y, z):
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) if y < x else z


def test(n, i):
    if (6 * i - 1) * (6 * i - 1) > n:
        return True
    if n % (6 * i - 1) == 0:
        return False
    return test(n, i + 1)


def prime_minus(n, i):
    if test(6 * i - 1, 1):
        return 6 * i - 1 if n == 0 else prime_plus(n - 1, i)
    return prime_plus(n, i)


def prime_plus(n, i):
    if test(6 * i - 1, 1):
        return 6 * i - 1 if n == 0 else prime_minus(n - 1, i + 1)
    return prime_minus(n, i + 1)


def primes(n):
    return 2 if n <= 0 else 3 if n == 1 else prime_minus(n - 2, 1)


def loop(n):
    i, x = 0, 1
    while i < n:
        i, x = i + 1, (x * 6364136223846793005 + i) & 0xFFFFFFFFFFFFFFFF
    return x - (1 << 64) if x >= 1 << 63 else x


def f(x):
    return math.sqrt(1 - x * x)


def rule(fa, fm, fb, width):
    return (fa + 4 * fm + fb) * width / 6


def integrate(a, fa, m, fm, b, fb, whole, epsilon):
    left_m = (a + m) / 2
    right_m = (m + b) / 2
    left_fm = f(left_m)
    right_fm = f(right_m)
    left = rule(fa, left_fm, fm, m - a)
    right = rule(fm, right_fm, fb, b - m)
    change = left + right - whole
    if abs(change) <= 15 * epsilon:
        return left + right + change / 15
    return integrate(a, fa, left_m, left_fm, m, fm, left, epsilon / 2) + integrate(
        m, fm, right_m, right_fm, b, fb, right, epsilon / 2
    )


def simpson(epsilon):
    fa, fm, fb = f(0.0), f(0.5), f(1.0)
    return 4 * integrate(0.0, fa, 0.5, fm, 1.0, fb, rule(fa, fm, fb, 1.0), epsilon)


def main():
    sys.setrecursionlimit(10**8)
    program = globals()[sys.argv[1]]
    arguments = [float(word) if "." in word or "e" in word else int(word) for word in sys.argv[2:]]
    begin = time.perf_counter()
    result = program(*arguments)
    print(json.dumps({"results": [result], "seconds": time.perf_counter() - begin}))


main()
