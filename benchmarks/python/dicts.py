"""Programs that change dicts, sets and objects which they make, as graphs and in plain Python."""

import collections
import functools

from measuring import beside_python


def longest_common(a, b):
    found = {}

    def of_rests(i, j):
        if i == len(a) or j == len(b):
            return 0
        if (i, j) not in found:
            if a[i] == b[j]:
                found[i, j] = 1 + of_rests(i + 1, j + 1)
            else:
                found[i, j] = max(of_rests(i + 1, j), of_rests(i, j + 1))
        return found[i, j]
    return of_rests(0, 0)


def best_load(weights, values, most):
    @functools.cache
    def best(k, left):
        if k == len(weights):
            return 0
        without = best(k + 1, left)
        return max(without, values[k] + best(k + 1, left - weights[k])) if weights[k] <= left else without
    return best(0, most)


def longest_chain(n):
    lengths, best = {1: 1}, 1
    for first in range(2, n):
        k, count = first, 0
        while k not in lengths:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            count += 1
        lengths[first] = count + lengths[k]
        best = max(best, lengths[first])
    return best


def queens(n):
    columns, rising, falling = set(), set(), set()

    def place(row):
        if row == n:
            return 1
        count = 0
        for column in range(n):
            if column not in columns and row + column not in rising and row - column not in falling:
                columns.add(column)
                rising.add(row + column)
                falling.add(row - column)
                count += place(row + 1)
                columns.remove(column)
                rising.remove(row + column)
                falling.remove(row - column)
        return count
    return place(0)


def reached(n):
    """How many places a knight comes to in at most n moves from the middle of a board that has no end."""
    seen, border = {(0, 0)}, [(0, 0)]
    for _ in range(n):
        following = []
        for i, j in border:
            for di, dj in ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)):
                if (i + di, j + dj) not in seen:
                    seen.add((i + di, j + dj))
                    following.append((i + di, j + dj))
        border = following
    return len(seen)


def grouped(numbers):
    """How many numbers the largest group has, of those that have the same rest."""
    groups, most = {}, 0
    for number in numbers:
        groups.setdefault(number % 1009, []).append(number)
    for rest in groups:
        most = max(most, len(groups[rest]))
    return most


def counted(numbers):
    """How often each last digit follows on a rest."""
    counts, numbers_of = {}, collections.defaultdict(int)
    for number in numbers:
        rest, digit = number % 101, number % 10
        counts.setdefault(rest, {}).setdefault(digit, 0)
        counts[rest][digit] += 1
        numbers_of[rest] += 1
    return sum(len(counts[rest]) * numbers_of[rest] for rest in counts)


class Parser:
    """Sums, products and brackets: 1 is +, 2 is *, 3 and 4 are brackets, the others numbers."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def sum(self):
        value = self.product()
        while self.at < len(self.tokens) and self.tokens[self.at] == 1:
            self.at += 1
            value = (value + self.product()) % 1000003
        return value

    def product(self):
        value = self.factor()
        while self.at < len(self.tokens) and self.tokens[self.at] == 2:
            self.at += 1
            value = value * self.factor() % 1000003
        return value

    def factor(self):
        token = self.take()
        if token != 3:
            return token
        value = self.sum()
        self.take()
        return value


def parsed(tokens):
    return Parser(tokens).sum()


def dicts(bench):
    """Dicts, sets and objects that a program makes and changes."""
    def numbers(count, below):
        return [(k * 7919 + count) % below for k in range(count)]
    size = 6 if bench.smoke else 120
    tokens = [token for k in range(size * 20) for token in (3, 5 + k % 7, 1 + k % 2, 6, 4, 1 + k % 3 % 2)] + [5]
    programs = [(longest_common, numbers(size, 5), numbers(size, 4)), (best_load, [1 + k for k in numbers(40, 23)], numbers(40, 17), size * 3),
                (longest_chain, size * 100), (queens, 5 if bench.smoke else 7),
                (reached, 2 if bench.smoke else 15), (parsed, tokens),
                (grouped, numbers(size * 100, 10**6)), (counted, numbers(size * 100, 10**6))]
    beside_python(bench, "dicts", "Programs that change dicts, sets and objects", programs)
