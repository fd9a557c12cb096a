"""Lists and deques that are queues: how many steps they take, and that they give what Python gives."""

import collections
import warnings
from collections import deque

import pytest

import hiaton as hia


def in_levels(n):
    q, seen = [0], []
    while q:
        x = q.pop(0)
        seen.append(x)
        if 2 * x + 2 < n:
            q.append(2 * x + 1)
            q.append(2 * x + 2)
    return seen


def by_level(n):
    q, sums = deque([0]), []
    while len(q) > 0:
        level = 0
        for _ in range(len(q)):
            x = q.popleft()
            level += x
            if 2 * x + 1 < n:
                q.append(2 * x + 1)
            if 2 * x + 2 < n:
                q += [2 * x + 2]
        sums.append(level)
    return sums, len(q), not q


def rotated(n):
    q, s = collections.deque([i for i in range(n)]), 0
    for i in range(n):
        q.append(q.popleft())
        s = s * 3 + q.popleft() if len(q) >= 1 and i % 2 else s
    return s


def turned(n):
    q = list(range(n))
    for _ in range(n // 2):
        q.append(q.pop(0))
    first = q.pop(0) if n > 5 else -1
    return first, len(q)


def deepest(n):
    q: list[tuple[int, int]] = [(0, 1)]
    best = 0
    while not len(q) == 0:
        x, depth = q.pop(0)
        best = max(best, depth)
        for y in (2 * x + 1, 2 * x + 2):
            if y < n:
                q.append((y, depth + 1))
    return best


def emptied_too_early(n):
    q = deque()
    q.extend([i for i in range(n)])
    return q.popleft() + q.popleft()


def by_a_function_inside(n):
    q, s = [0], 0

    def add(x):
        q.append(x)
    while q:
        x = q.pop(0)
        s += x
        if x < n:
            add(x + 1)
    return s


def of_a_function_inside(n):
    def total(k):
        q, s = deque([k]), 0
        while q:
            x = q.popleft()
            s += x
            if x > 0:
                q.append(x - 1)
        return s
    return sum(total(k) for k in range(n))


def under_another_name(n):
    q = [n, 2]
    q.append(q.pop(0))
    other = q
    other.append(5)
    return q


def counted_down(n):
    q = deque([n])
    while q:
        x = q.popleft()
        yield x
        if x > 0:
            q.append(x - 1)


def of_a_generator(n):
    return [2 * x for x in counted_down(n)]


FUNCTIONS = [in_levels, by_level, rotated, turned, deepest, emptied_too_early, by_a_function_inside, of_a_function_inside, under_another_name,
             of_a_generator]


def outcome(function, *args):
    try:
        return function(*args)
    except IndexError as error:
        return repr(error)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_queues_give_what_python_gives(function):
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for n in (3, 1, 2, 7, 20, 0):
            assert outcome(graph, n) == outcome(function, n), n


@pytest.mark.parametrize("function", [in_levels, by_level, deepest])
def test_both_ends_of_a_queue_are_near(function):
    graph = hia.function(function, strict=True)
    steps = {}
    for n in (100, 400):
        assert graph(n) == function(n)
        steps[n] = sum(region.runs for region in graph.lower(n).stats())
    assert steps[400] < 5 * steps[100]


def test_the_name_of_a_deque_may_become_that_of_another_class(monkeypatch):
    class Odd(collections.deque):
        def append(self, x):
            super().append(x + 1)

    def total(n):
        q, s = deque(), 0
        q.append(n)
        while q:
            x = q.popleft()
            s += x
            if x > 0:
                q.append(x - 2)
        return s

    graph = hia.function(total)
    assert graph(6) == total(6) == 12
    monkeypatch.setitem(globals(), "deque", Odd)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        assert graph(6) == total(6) != 12
