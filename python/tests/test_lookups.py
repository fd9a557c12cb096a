"""Loops that look up elements of lists by their index find those of Python, in any order and at any end."""

import random

import pytest

import hiaton as hia

RNG = random.Random(3)


def numbers(count, below=10):
    return [RNG.randrange(below) for _ in range(count)]


def strides(xs, n, step, begin):
    s = 0
    for i in range(n):
        s = (3 * s + xs[i * step + begin]) % 10007
    return s


def on_sides(xs, ys, n):
    s = i = 0
    while i < n:
        if xs[i] > 5:
            s += ys[i]
        elif ys[i] > 3:
            i += 1
            continue
        else:
            s -= xs[n - 1 - i]
        i += 1
    return s


def left_early(xs, x):
    for i in range(len(xs) + 1):
        if xs[i] == x:
            return i
        if xs[i] > 90:
            break
    return -1


def in_expressions(xs):
    s = 0
    for i in range(len(xs)):
        a = xs[i] if i % 2 and xs[i] > 3 else 0
        b = i < len(xs) - 1 and xs[i + 1]
        s = (s * 7 + a + (b or 1)) % 10007
    return s


def of_a_list_that_grows(xs):
    best, total = [0], 0
    for i in range(len(xs)):
        if xs[i] % 3 == 0:
            best.append(best[i] + xs[i])
        else:
            best.append(max(best[i], best[i // 2] + 1))
        for j in range(i):
            total += best[j] * xs[j]
    return best, total


def of_one_that_grows_at_times(n, k):
    table = [1]
    for i in range(1, n):
        v = table[i - 1] + table[-1]
        if i > k:
            v -= table[i - k - 1]
        table.append(v % 10007)
        if table[i] > 50:
            table.append(0)
    return table


def of_one_that_shrinks(xs):
    stack, s = [], 0
    for i in range(len(xs)):
        stack.append(xs[i])
        if xs[i] % 2:
            stack.pop()
        if stack:
            s += stack[len(stack) - 1]
    return s, stack


def of_one_that_changes(xs, n):
    ys = [x for x in xs]
    for _ in range(n):
        for j in range(n - 1):
            if ys[j] > ys[j + 1]:
                a = ys[j]
                ys[j] = ys[j + 1]
                ys[j + 1] = a
    return ys


def of_another_list(xs, n):
    s = 0
    for i in range(n):
        s += xs[i]
        if s > 10:
            xs = [y + 1 for y in xs]
    return s


def of_rows(m, n):
    s = 0
    for i in range(n):
        for j in range(n):
            row = m[j]
            s = (s * 5 + row[i] + m[i][j]) % 10007
    return s


def of_pairs(pairs, n):
    s = 0.0
    for i in range(n):
        a, b = pairs[i]
        s += a * b
        for j in range(i):
            s -= pairs[j][0]
    return s


def distance(a, b):
    before = list(range(len(b) + 1))
    for i in range(len(a)):
        row = [i + 1]
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            row.append(min(before[j] + cost, before[j + 1] + 1, row[j] + 1))
        before = row
    return before[-1]


def by_truth_values(xs, n):
    s = 0
    for i in range(n):
        s += xs[i > 2] * 2 + xs[-(i > 1)]
    return s


def outcome(function, args):
    try:
        return function(*args)
    except IndexError as error:
        return str(error)


@pytest.mark.parametrize("function, calls", [
    (strides, [(numbers(12), n, step, begin) for n in (4, 0, 9) for step in (-2, -1, 0, 1, 3) for begin in (-3, 0, 5)]),
    (on_sides, [(numbers(8), numbers(8), n) for n in (8, 0, 3, 9) for _ in range(6)]),
    (left_early, [(numbers(8, 100), RNG.randrange(100)) for _ in range(30)]),
    (in_expressions, [(numbers(count),) for count in range(8, -1, -1)]),
    (of_a_list_that_grows, [(numbers(count),) for count in range(8, -1, -1)]),
    (of_one_that_grows_at_times, [(n, k) for n in range(1, 12) for k in range(1, 4)]),
    (of_one_that_shrinks, [(numbers(count),) for count in (6, 3, 1)]),
    (of_one_that_changes, [(numbers(n), n) for n in (6, 3, 1)]),
    (of_another_list, [(numbers(6), n) for n in (1, 5, 6)]),
    (of_rows, [([numbers(n) for _ in range(n)], n) for n in (3, 1, 4)]),
    (of_pairs, [([(x, x / 2) for x in numbers(6)], n) for n in (1, 5, 6)]),
    (by_truth_values, [(numbers(3), n) for n in (5, 0)]),
    (distance, [(numbers(n, 3), numbers(m, 3)) for n in (4, 1, 9) for m in (5, 2, 1)]),
], ids=lambda value: getattr(value, "__name__", ""))
def test_a_loop_finds_the_elements_of_python(function, calls):
    graph = hia.function(function, strict=True)
    for args in calls:
        assert outcome(graph, args) == outcome(function, args), args


def test_rows_that_a_loop_finds_are_the_same_objects():
    def found(rows):
        kept = []
        for i in range(len(rows)):
            kept.append(rows[i])
        return kept

    rows = [[1], [2, 3]]
    assert all(a is b for a, b in zip(hia.function(found, strict=True)(rows), rows))


def test_turns_do_not_begin_at_the_begin_of_the_list():
    def total(xs):
        s = 0
        for i in range(len(xs)):
            if xs[i] > 0:
                s += xs[i]
        return s

    graph = hia.function(total, strict=True)
    xs = numbers(2000)
    assert graph(xs) == sum(xs)
    steps = [region.runs for region in graph.lower(xs).stats()]
    assert max(steps) < 3 * len(xs)


def test_an_index_may_be_a_tensor():
    def picked(xs, indices):
        s = 0
        for i in range(len(xs)):
            s += xs[indices[i]] * (i + 1)
        return s

    xs = numbers(4)
    assert hia.function(picked, strict=True)(xs, hia.tensor([3, 0, 2, 2])) == xs[3] + 2 * xs[0] + 7 * xs[2]
