"""Lists of numbers whose elements are looked up and set by computed indices: in loops, recursions, and as lists of lists."""

import time
import warnings

import numpy
import pytest

import hiaton as hia
from hiaton import nn


def sieve(n):
    prime = [True] * n
    prime[0] = prime[1] = False
    i = 2
    while i * i < n:
        if prime[i]:
            for j in range(i * i, n, i):
                prime[j] = False
        i += 1
    return sum([1 for k in range(n) if prime[k]])


def longest_common(a, b):
    before = [0] * (len(b) + 1)
    for i in range(1, len(a) + 1):
        now = [0] * (len(b) + 1)
        for j in range(1, len(b) + 1):
            now[j] = before[j - 1] + 1 if a[i - 1] == b[j - 1] else max(before[j], now[j - 1])
        before = now
    return before[-1]


def search(xs, x, low, high):
    if low >= high:
        return low
    middle = (low + high) // 2
    return search(xs, x, middle + 1, high) if xs[middle] < x else search(xs, x, low, middle)


def searches(xs, wanted):
    return [search(xs, x, 0, len(xs)) for x in wanted]


def sort_part(xs, low, high):
    if low >= high:
        return
    border, last = low, xs[high]
    for i in range(low, high):
        if xs[i] < last:
            xs[border], xs[i] = xs[i], xs[border]
            border += 1
    xs[border], xs[high] = xs[high], xs[border]
    sort_part(xs, low, border - 1)
    sort_part(xs, border + 1, high)


def in_order(xs):
    ys = list(xs)
    sort_part(ys, 0, len(ys) - 1)
    return ys


def root(parents, x):
    while parents[x] != x:
        parents[x] = parents[parents[x]]
        x = parents[x]
    return x


def groups(n, begins, ends):
    parents = list(range(n))
    for u, v in zip(begins, ends):
        parents[root(parents, u)] = root(parents, v)
    return len([x for x in range(n) if parents[x] == x])


def knapsack(weights, values, most):
    best = [0.0] * (most + 1)
    for weight, value in zip(weights, values):
        for load in range(most, weight - 1, -1):
            best[load] = max(best[load], best[load - weight] + value)
    return best[most]


def queens(n, row, columns, rising, falling):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if not (columns[c] or rising[row + c] or falling[row - c]):
            columns[c] = rising[row + c] = falling[row - c] = True
            count += queens(n, row + 1, columns, rising, falling)
            columns[c] = rising[row + c] = falling[row - c] = False
    return count


def all_queens(n):
    return queens(n, 0, [False] * n, [False] * (2 * n), [False] * (2 * n))


def distances(weights, n):
    d = [[weights[i * n + j] for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return d


def triangle(n):
    rows = [[1] * (i + 1) for i in range(n)]
    for i in range(2, n):
        for j in range(1, len(rows[i]) - 1):
            rows[i][j] += rows[i - 1][j - 1] + rows[i - 1][j] - 1
    return rows


def area(grid, seen, r, c):
    if r < 0 or c < 0 or r >= len(grid) or c >= len(grid[r]) or seen[r][c] or not grid[r][c]:
        return 0
    seen[r][c] = True
    return 1 + area(grid, seen, r + 1, c) + area(grid, seen, r - 1, c) + area(grid, seen, r, c + 1) + area(grid, seen, r, c - 1)


def largest_area(grid):
    seen = [[False] * len(row) for row in grid]
    best = 0
    for r in range(len(grid)):
        for c in range(len(grid[r])):
            best = max(best, area(grid, seen, r, c))
    return best


def spans(words, n):
    """How many ways there are to read each span, as a parser for a grammar finds."""
    ways = [[0] * (n + 1) for _ in range(n)]
    for i in range(n):
        ways[i][i + 1] = words[i]
    for size in range(2, n + 1):
        for i in range(n - size + 1):
            for split in range(i + 1, i + size):
                ways[i][i + size] += ways[i][split] * ways[split][i + size]
    return ways[0][n]


def numbers(count, below, step=7919):
    return [i * step % below for i in range(1, count + 1)]


GRID = [[int(n > 2) for n in numbers(12, 7, i + 3)] for i in range(9)] + [[1, 1], []]
CASES = [(sieve, 300), (longest_common, numbers(30, 5), numbers(41, 4)), (searches, sorted(numbers(80, 997)), numbers(40, 1000)),
         (in_order, numbers(90, 101)), (groups, 60, numbers(40, 60), numbers(40, 60, 31)), (knapsack, [3, 5, 7, 11] * 3, [1.5, 2.5, 4.0, 7.0] * 3, 40),
         (all_queens, 5), (distances, numbers(49, 50), 7), (triangle, 12), (largest_area, GRID), (spans, [1] * 9, 9)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_graphs_give_what_python_gives(case):
    function, *args = case
    assert hia.function(function, strict=True)(*args) == function(*args)


def test_a_look_up_takes_the_same_time_anywhere():
    """A list of 200,000 is looked up 200,000 times, in an order that no cache of cells could follow: seconds, if each walked the list."""

    @hia.function(strict=True)
    def walk(following, steps):
        at = 0
        for _ in range(steps):
            at = following[at]
        return at
    n = 200_000
    following = [(i * 7919 + 13) % n for i in range(n)]
    began = time.process_time()
    found = walk(following, n)
    assert time.process_time() - began < 10
    at = 0
    for _ in range(n):
        at = following[at]
    assert found == at


def test_a_list_that_comes_in_is_given_back_itself():
    @hia.function(strict=True)
    def total(xs):
        s = 0.0
        for i in range(len(xs)):
            s += xs[i]
        return s, xs
    xs = [1.0, 2.5]
    found, given = total(xs)
    assert found == 3.5 and given is xs


def test_names_for_one_list_stay_names_for_one_list():
    def two_names(n):
        a = [0] * n
        b = [1] * n
        for i in range(n):
            a[i] = a[i - 1] + b[i]
        a, b = b, a
        for i in range(n):
            a[i] += 2 * b[i]
        c = a
        for i in range(n):
            b[i] += c[i]
        return a, b, c
    graph = hia.function(two_names, strict=True)
    found, expected = graph(4), two_names(4)
    assert found == expected
    assert found[0] is found[2] and found[0] is not found[1]


def test_another_name_for_a_list_that_is_given_back():
    def fill(xs, n):
        xs.append(n)
        ys = xs
        for i in range(len(ys)):
            ys[i] = i * n

    def filled(n):
        xs = [0] * n
        fill(xs, n)
        return xs

    def put(n):
        xs = [0] * n

        def inside(i):
            xs[i] = i
            ys = xs
            ys[0] = n
        for i in range(n):
            inside(i)
        return xs

    def set_inside(n):
        xs = [i for i in range(n)]

        def put(value):
            nonlocal xs
            xs = [value] * n
            return value > 1
        s = 0
        for i in range(n):
            for j in range(n):
                s += xs[j]
            if put(i) or put(i + 1):
                s += xs[0]
            for j in range(n):
                s += xs[j]
        return s, xs
    for function in (filled, put, set_inside):
        graph = hia.function(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hia.FallbackWarning)
            assert [graph(4), graph(3)] == [function(4), function(3)]


def test_a_row_that_others_refer_to_is_not_set_in_a_copy():
    def kept_row(n):
        rows = [[0] * n for _ in range(n)]
        row = rows[0]
        for i in range(n):
            rows[i][0] = i + 1
        return row, rows

    def same_rows(n):
        rows = [[0] * n] * n
        for i in range(n):
            rows[i][i] = i + 1
        return rows[0], rows

    def kept_by_a_loop(n):
        rows = [[i] * n for i in range(n)]
        for row in rows:
            last = row
        rows[n - 1][0] = n
        return last, rows
    for function in (kept_row, same_rows, kept_by_a_loop):
        graph = hia.function(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hia.FallbackWarning)
            assert graph(3) == function(3)
            found, expected = graph(3), function(3)
            found[0].append(1), expected[0].append(1)
            assert found == expected


def test_an_index_that_is_outside_raises_what_python_raises():
    @hia.function
    def look(xs, i, j):
        total = 0
        for k in range(i, j):
            total += xs[k]
        return total

    @hia.function
    def look_below(rows, i, j):
        total = 0
        for k in range(j):
            total += rows[i][k]
        return total
    assert look([1, 2, 3], -3, 3) == 12
    assert look_below([[1], [2, 3]], -1, 2) == 5
    for call in (lambda: look([1, 2, 3], 0, 4), lambda: look([1, 2, 3], -4, 0), lambda: look_below([[1], [2, 3]], 0, 2),
                 lambda: look_below([[1], [2, 3]], 2, 1), lambda: look_below([[1], [2, 3]], -3, 1), lambda: look_below([], 0, 1)):
        with pytest.raises(IndexError, match="list index out of range"):
            call()


def test_a_key_is_computed_once():
    calls = []

    def key():
        calls.append(1)
        return len(calls) % 3

    def count(n):
        rows = [[0] * 3 for _ in range(3)]
        for _ in range(n):
            rows[key()][key()] += 1
        return rows
    graph = hia.function(count)
    expected = count(5)
    calls.clear()
    assert graph(5) == expected and len(calls) == 10


def test_arguments_of_another_kind_are_arrays_of_that():
    @hia.function(strict=True)
    def turned(xs):
        ys = [xs[len(xs) - 1 - i] for i in range(len(xs))]
        return ys
    for xs in ([1, 2, 3], [0.5, 1.5], [True, False, False], [2**40, -1], []):
        assert turned(xs) == xs[::-1]
    assert turned([1, 2.5]) == [2.5, 1]


def test_functions_that_read_a_list_otherwise_get_it_as_it_is():
    def last_of(xs, i):
        return xs if xs[i] > 2 else last_of(xs, i + 1)

    def chosen(n):
        xs = [i for i in range(n)]
        xs[0] = n
        ys = last_of(xs, 1)
        return xs, ys
    found = hia.function(chosen, strict=True)(6)
    assert found == chosen(6) and found[0] is found[1]


class Parser(nn.Module):
    """Each span of a sentence has a vector: what its parts become, on average."""

    def __init__(self, d):
        self.E, self.W = nn.Embedding(9, d), nn.Linear(2 * d, d)

    def span(self, words):
        n = len(words)
        chart = [[None] * n for _ in range(n)]
        for i in range(n):
            chart[i][i] = self.E(words[i])
        for size in range(1, n):
            for i in range(n - size):
                parts = [self.join(chart[i][k], chart[k + 1][i + size]) for k in range(i, i + size)]
                chart[i][i + size] = sum(parts) / size
        return chart[0][n - 1]

    def join(self, left, right):
        return hia.tanh(self.W(hia.concat([left, right], axis=0)))

    def loss(self, words):
        return hia.sum(self.span(words) ** 2)


def test_a_chart_holds_tensors():
    model, words = Parser(4), [3, 1, 4, 1, 5]
    spans = hia.function(model.span, strict=True)
    for sentence in (words, words[:1], words[1:]):
        assert numpy.allclose(spans(sentence).numpy(), model.span(sentence).numpy(), rtol=1e-5)
    value, gradients = nn.value_and_grad(model, model.loss)(words)
    assert numpy.allclose(value.numpy(), model.loss(words).numpy(), rtol=1e-5)
    with hia.GradientTape() as tape:
        loss = model.loss(words)
    plain = tape.gradient(loss, [model.E.weight, model.W.weight, model.W.bias])
    for path, expected in zip(("W.weight", "W.bias"), plain[1:]):
        found = gradients[path]
        assert numpy.allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6), path


def test_a_table_of_objects_that_are_set_one_by_one():
    def paths(n):
        ways = [[None] * n for _ in range(n)]
        for i in range(n):
            for j in range(n):
                above = ways[i - 1][j] if i > 0 else None
                left = ways[i][j - 1] if j > 0 else None
                ways[i][j] = ("start", 1) if above is None and left is None else \
                    ("joined", (0 if above is None else above[1]) + (0 if left is None else left[1]))
        return ways[n - 1][n - 1], len(ways), len(ways[0])
    assert hia.function(paths, strict=True)(4) == paths(4)


def common(a, b):
    found = {}

    def of_rests(i, j):
        if i == len(a) or j == len(b):
            return 0
        if (i, j) not in found:
            found[i, j] = 1 + of_rests(i + 1, j + 1) if a[i] == b[j] else max(of_rests(i + 1, j), of_rests(i, j + 1))
        return found[i, j]
    return of_rests(0, 0)


def largest_sum(weights, values, room):
    halves = [w // 2 + 1 for w in weights]

    def best(i, left):
        if i == len(weights):
            return 0
        without = best(i + 1, left)
        return max(without, values[i] + best(i + 1, left - halves[i])) if halves[i] <= left else without
    return best(0, room)


def read_as_a_list(xs, n):
    def at(i):
        return xs[i] if i < n else at(i - 1) + sum(xs)
    return at(n), xs, [xs]


def changed_behind(xs, n):
    ys = [x for x in xs]

    def at(i):
        return ys[i] if i < 1 else at(i - 1) + ys[i]
    before = at(n)
    ys[0] = 100
    return before, at(n), ys


def kept_inside(xs, n):
    def at(i):
        return [xs] if i == 0 else at(i - 1)
    return at(n)[0], xs


@pytest.mark.parametrize("function,args", [
    (common, ([1, 3, 2, 4, 4], [3, 4, 1, 4])), (largest_sum, ([3, 4, 9, 2], [5, 6, 7, 1], 6)), (read_as_a_list, ([3, 1, 2], 2)),
    (changed_behind, ([3, 1, 2], 2)), (kept_inside, ([3, 1, 2], 2))], ids=lambda one: getattr(one, "__name__", ""))
def test_functions_inside_look_up_the_lists_of_the_function_around(function, args):
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        made, expected = graph(*args), function(*args)
    assert made == expected
    if function in (read_as_a_list, kept_inside):
        assert made[-1] is args[0] or made[-1][0] is args[0]
    if function is common:
        assert graph._graphs[0].hits == 1 and "List[i64]" not in graph.text()


def test_a_list_that_a_call_makes_longer_while_it_is_gone_over_is_left_to_python():
    def with_more(ys, k):
        if k == 2:
            ys.append(1)
        return k

    def differences(n):
        xs = list(range(n))
        for k in xs:
            xs[k] -= with_more(xs, k)
        return xs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        graph = hia.function(differences)
        assert [graph(n) for n in (2, 3, 4, 3)] == [differences(n) for n in (2, 3, 4, 3)]
