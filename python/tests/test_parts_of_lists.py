"""Parts of lists that are set and deleted, xs[a:b] = ys and del xs[a:b]."""

import itertools
import random

import pytest

import hiaton as hia

ENDS = (-6, -2, 0, 1, 2, 5)


def exchanged(xs, a, b, ys):
    xs = xs[:]
    xs[a:b] = ys
    return xs


def cut(xs, a, b):
    xs = xs[:]
    del xs[a:b]
    return xs


def at_ends(xs, a, b):
    xs = xs[:]
    xs[:a] = (7, 8)
    del xs[b:]
    xs[len(xs):] = [9]
    xs[:0] = [x + 1 for x in xs]
    return xs


def whole(xs, a, b):
    ys = xs[:]
    ys[:] = [a, b]
    return ys, xs


def in_a_loop(xs, a, b):
    """The two neighbours of least sum become one, as long as there are several."""
    xs, found = xs[:], []
    while len(xs) > 1:
        best = min(range(len(xs) - 1), key=lambda i: (xs[i] + xs[i + 1], i))
        found.append(best)
        xs[best:best + 2] = [xs[best] + xs[best + 1] + a * b]
    return xs, found


def halve(xs, i):
    xs[i:i + 2] = [xs[i] // 2]


def by_a_call(xs, a, b):
    xs = [*xs, a, b]
    while len(xs) > 1:
        halve(xs, (a + len(xs)) % (len(xs) - 1))
    return xs


class Machine:
    def __init__(self, stack):
        self.stack = stack

    def apply(self, count):
        arguments = self.stack[-count:]
        del self.stack[-count:]
        self.stack[len(self.stack):] = [sum(arguments), count]


def of_an_object(xs, a, b):
    machine = Machine([x * 2 for x in xs])
    machine.apply(1)
    machine.apply(2)
    return machine.stack


@pytest.mark.parametrize("function", [cut, at_ends, whole, in_a_loop, by_a_call, of_an_object], ids=lambda f: f.__name__)
def test_parts_are_set_and_deleted(function):
    graph, calls = hia.function(function, strict=True), 0
    for xs, a, b in itertools.product(([4], [1, 2, 3, 4], [5, -1, 0, 2, 2, 8]), ENDS, ENDS):
        assert graph(xs, a, b) == function(xs, a, b), (xs, a, b)
        calls += 1
    assert [(one.hits, one.faults) for one in graph._graphs] == [(calls, 0)], graph.report()


def test_parts_of_other_lengths():
    graph, rng = hia.function(exchanged, strict=True), random.Random(1)
    for xs, ys in itertools.product(([4], [1, 2, 3, 4]), ([9], [9, 8, 7])):
        for _ in range(12):
            a, b = rng.choice(ENDS), rng.choice(ENDS)
            assert graph(xs, a, b, ys) == exchanged(xs, a, b, ys), (xs, a, b, ys)
    assert graph._plain == 0 and graph._graphs[0].faults == 0, graph.report()


def of_floats(n):
    xs = [1, 2, 3]
    xs[1:2] = [n * 0.5]
    return xs


def of_lists(n):
    rows = [[i] for i in range(n)]
    rows[1:3] = [[7, 8], []]
    return rows


def of_tensors(n):
    xs = [hia.ones(2) * i for i in range(n)]
    xs[1:] = [hia.ones(2)]
    return [x[0].item() for x in xs]


@pytest.mark.parametrize("function", [of_floats, of_lists, of_tensors], ids=lambda f: f.__name__)
def test_elements_of_other_types(function):
    graph = hia.function(function, strict=True)
    assert graph(4) == function(4) and list(map(type, graph(4))) == list(map(type, function(4)))


def with_a_step(xs):
    xs = xs[:]
    xs[::2] = [0 for _ in xs[::2]]
    return xs


def of_two_names(xs):
    ys = xs[:]
    zs = ys
    ys[0:1] = [4, 5]
    return zs


def of_itself(xs):
    ys = xs[:]
    ys[1:1] = ys
    return ys


@pytest.mark.parametrize("function, message", [(with_a_step, "with a step cannot be converted; set the elements in a loop"),
                                               (of_two_names, "'ys' is a list that others may refer to"),
                                               (of_itself, "'ys' is a list that others may refer to")])
def test_what_is_left_to_python(function, message):
    with pytest.raises(hia.ConversionError, match=message):
        hia.function(function, strict=True)([1, 2, 3])
