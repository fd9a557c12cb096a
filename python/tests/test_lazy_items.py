"""Items that are computed when somebody asks for them: what computing them sets and changes is seen in Python's order."""

import warnings

import pytest

import hiaton as hia


class Counter:
    def __init__(self):
        self.count = 0

    def add(self, x):
        self.count += x
        return self.count


def bump(counter, x):
    counter.count += 1
    return x > 2


def any_of(counter, n):
    return any(bump(counter, x) for x in [1, 2, n, 4, 5])


def all_of(counter, n):
    return all(map(counter.add, [4, -4, n]))


def a_loop(counter, n):
    total = 0
    for a in map(counter.add, [1, n, 5]):
        total += a * counter.count
    return total


def a_comprehension(counter, n):
    return [a * counter.count for a in map(counter.add, [1, n, 5])]


def a_sum_of_items(counter, n):
    return sum(a * counter.count for a in map(counter.add, [1, n, 5]))


def two_at_once(counter, n):
    total = 0
    for a, b in zip(map(counter.add, [1, n, 5]), map(counter.add, [7, 8, 9])):
        total += a * b
    return total


def extends(counter, n):
    xs = [0]

    def go(x):
        xs.append(x)
        return -x
    xs.extend(go(x) for x in [1, n])
    return xs


def goes_over_what_changes(counter, n):
    xs = [0]

    def go(x):
        xs.append(x)
        return x > 1
    for b in map(go, [1, n]):
        xs.append(b + 0)
    return xs


@pytest.mark.parametrize("function", [any_of, all_of, a_loop, a_comprehension, a_sum_of_items, two_at_once, extends, goes_over_what_changes],
                         ids=lambda f: f.__name__)
def test_what_is_seen_in_between_is_left_to_python(function):
    with pytest.raises(hia.ConversionError, match="make a list of it first"):
        hia.function(function, strict=True)(Counter(), 3)
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for n in (3, 0, 3):
            found, expected = Counter(), Counter()
            assert graph(found, n) == function(expected, n) and found.count == expected.count


def all_items(counter, n):
    xs = [0]

    def go(x):
        xs.append(x)
        return x > 1
    made = list(map(go, [1, n])), sorted(map(go, [4, n])), any([go(x) for x in [1, n, 6]])
    return made, sum(map(counter.add, [1, n])), any(x > 2 for x in [1, n]), all(map(lambda x: x > 0, [1, n])), counter.count, xs


def test_where_all_items_are_asked_for_at_once_they_stay_in_the_graph():
    graph = hia.function(all_items, strict=True)
    for n in (3, -1, 3):
        found, expected = Counter(), Counter()
        assert graph(found, n) == all_items(expected, n) and found.count == expected.count
    assert ", 0 calls in plain Python" in graph.report()
