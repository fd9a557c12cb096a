"""Lists and deques that are queues: how many steps they take, and that they give what Python gives."""

import collections
import warnings
from collections import deque

import pytest
from test_long_lists import assert_linear

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
    assert_linear(function)


def filled(count):
    return [count]


def of_odd_uses(n):
    """Each is none of a queue, or one that is not what it looks like."""
    found = []
    q = [n, 5, 6]
    q.append(7)
    q = [q.pop(0)]
    found.append(q.pop(0))
    r = deque([1, 2])
    r.append(3)
    r = deque([len(r)])
    found.append(r.popleft())

    def count():
        return len(s) if n > 3 else 0
    s = [4, 4]
    s, t = [], filled(count())
    s.append(2)
    return found, s.pop(0), t


def lists_have_no_popleft(n):
    q = [n]
    q.append(2)
    return q.popleft()


def deques_have_no_place_to_pop(n):
    q = deque([n])
    q.append(2)
    return q.pop(0)


def places_are_integers(n):
    q = [n]
    q.append(2)
    return q.pop(0.0)


@pytest.mark.parametrize("function", [of_odd_uses, lists_have_no_popleft, deques_have_no_place_to_pop, places_are_integers])
def test_what_is_no_queue_stays_what_it_is(function):
    def found(function, n):
        try:
            return function(n)
        except (AttributeError, TypeError) as error:
            return repr(error)

    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for n in (3, 5):
            assert found(graph, n) == found(function, n)


class Odd(collections.deque):
    def append(self, x):
        super().append(x + 1)


@pytest.mark.parametrize("name, other", [("deque", Odd), ("len", lambda q: 7 - bool(q)), ("list", lambda numbers: [5, *numbers])])
def test_names_may_become_those_of_something_else(monkeypatch, name, other):
    function = turned if name == "list" else by_level
    graph = hia.function(function)
    before = graph(6)
    assert before == function(6)
    monkeypatch.setitem(globals(), name, other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        assert outcome(graph, 6) == outcome(function, 6) != before
