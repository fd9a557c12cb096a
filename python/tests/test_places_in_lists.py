"""Elements, parts and orders of lists are those of Python, of each length and from both ends, and whole numbers are divided as there."""

import random

import pytest

import hiaton as hia

LENGTHS = range(10, -1, -1)  # an empty list at first would be one of nothing
INDICES = range(-13, 13)


def element(xs, i):
    return xs[i]


def element_of_grown(xs, i):
    ys = []
    for x in xs:
        ys.append(x + 1)
    return ys[i], ys[-1], len(ys)


def changed(xs, i, x):
    ys = [2 * y for y in xs]
    ys[i] = x
    return ys, xs


def part(xs, start, stop):
    return xs[start:stop], xs[start:], xs[:stop]


def outcome(function, args):
    try:
        return function(*args)
    except IndexError as error:
        return type(error), str(error)


@pytest.mark.parametrize("function, more", [(element, ()), (element_of_grown, ()), (changed, (7,))], ids=["element", "grown", "changed"])
def test_an_element_is_that_of_python(function, more):
    graph = hia.function(function, strict=True)
    for length in LENGTHS:
        for index in INDICES:
            args = (list(range(100, 100 + length)), index, *more)
            assert outcome(graph, args) == outcome(function, args), args
    assert " 0 misses" in graph.report()


@pytest.mark.parametrize("first", [lambda x: x, lambda _: None], ids=["integers", "None"])
def test_a_list_takes_a_value_of_another_type(first):
    def mixed(xs, x):
        ys = [first(y) for y in xs]
        ys[1] = x
        return ys

    graph = hia.function(mixed, strict=True)
    assert repr(graph([1, 2, 3], 4.5)) == repr(mixed([1, 2, 3], 4.5))


def test_a_part_is_that_of_python():
    graph = hia.function(part, strict=True)
    for length in range(6):
        for start in range(-8, 8):
            for stop in range(-8, 8):
                args = list(range(length)), start, stop
                assert graph(*args) == part(*args), args


def test_lists_are_joined_in_order_and_are_new_ones():
    def joined(xs, ys):
        both = xs + ys
        both.append(0)
        return both, xs + [1], [] + ys, ys

    graph = hia.function(joined, strict=True)
    for xs, ys in (([], [1]), ([1], []), ([1, 2], [3, 4]), ([], [])):
        found = graph(xs, ys)
        assert found == joined(xs, ys)
        assert found[2] is not ys and found[3] is ys


@pytest.mark.parametrize("function", [
    lambda xs: (sorted(xs), sorted(xs, reverse=True), xs),
    lambda xs: sorted([(x % 3, i) for i, x in enumerate(xs)], key=lambda pair: pair[0]),
    lambda xs: sorted([(x % 3, i) for i, x in enumerate(xs)], key=lambda pair: pair[0], reverse=True),
    lambda xs: sorted([(x % 3, [x], i) for i, x in enumerate(xs)], key=lambda item: -item[0])[:3],
    lambda xs: [x for x, _ in sorted([(x / 2, x) for x in xs])][::-1],
], ids=["numbers", "stable", "stable in reverse", "the first of boxes", "pairs"])
def test_sorted_lists_are_those_of_python(function):
    rng = random.Random(4)
    graph = hia.function(function, strict=True)
    for length in (0, 1, 2, 3, 7, 40):
        xs = [rng.randrange(20) for _ in range(length)]
        assert graph(xs) == function(xs)


def test_no_order_has_nan():
    graph = hia.function(lambda xs: sorted(xs))
    assert repr(graph([2.0, float("nan"), 1.0])) == repr(sorted([2.0, float("nan"), 1.0]))
    assert "1 faults" in graph.report()


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 8, 2 ** 40, 2 ** 62, -1, -2, -3, True])
def test_whole_numbers_are_divided_as_in_python(divisor):
    def divided(n):
        return n // divisor, n % divisor

    graph = hia.function(divided, strict=True)
    for n in (*range(-17, 18), 2 ** 62, 2 ** 63 - 1, -2 ** 63 + 1, -2 ** 62):
        assert graph(n) == divided(n)


def test_a_loop_over_numbers_keeps_no_list_of_what_its_turns_compute():
    def ways(n, row, taken):
        if row == n:
            return 1
        count = 0
        for column in range(n):
            if not taken >> column & 1:
                count += ways(n, row + 1, taken | 1 << column)
        return count

    graph = hia.function(ways, strict=True)
    assert graph(5, 0, 0) == 120
    assert "List" not in graph.text()
    shared = hia.function(ways, strict=True, workers=2)
    assert shared(5, 0, 0) == 120
    assert "List" in shared.text()  # its calls run beside each other
