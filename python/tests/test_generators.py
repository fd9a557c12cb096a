"""Generators that are run to their end."""

import dataclasses
import re

import pytest

import hiaton as hia


@dataclasses.dataclass
class Tree:
    value: int
    children: "list[Tree]" = dataclasses.field(default_factory=list)

    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child

    def leaves(self, least=0):
        if not self.children:
            if self.value >= least:
                yield self.value
            return
        for child in self.children:
            yield from child.leaves(least)


TREE = Tree(1, [Tree(2), Tree(3, [Tree(4), Tree(5, [Tree(6)])]), Tree(7)])


def walk(tree, depth=0):
    for child in tree.children:
        yield from walk(child, depth + 1)
    yield tree.value, depth


def countdown(n):
    while n > 0:
        yield n
        n -= 1


def quotients(values):
    for value in values:
        yield 6 // value


def in_loops(tree):
    total, order = 0, []
    for value, depth in walk(tree):
        total += value * depth
        order.append(value)
    for number, value in enumerate(tree):
        total += number * value
    return total, order


def in_functions(tree):
    return (list(tree.leaves(3)), sum(tree.leaves()), sorted(tree.leaves(), reverse=True), max(tree.leaves()),
            [v + 1 for v in tree], sum(v * d for v, d in walk(tree)), list(walk(tree)))


def of_nothing(tree):
    return list(Tree(0).leaves(1)), sum(tree.leaves(100))


@pytest.mark.parametrize("function", [in_loops, in_functions, of_nothing])
def test_what_generators_yield(function):
    graph = hia.function(function, strict=True)
    for tree in (TREE, Tree(9), Tree(1, [Tree(2)])):
        assert graph(tree) == function(tree)
    assert graph._plain == 0, graph.report()


def test_errors_in_generators():
    graph = hia.function(lambda n: [v for v in countdown(n)], strict=True)
    assert graph(3) == [3, 2, 1]
    graph = hia.function(lambda values: sum(quotients(values)))
    assert graph([1, 2]) == 9
    with pytest.raises(ZeroDivisionError):
        graph([1, 0])
    assert graph([1, 2, 3]) == 11 and graph._graphs[0].hits == 2


def kept(n):
    items = countdown(n)
    return next(items)


def left_early(n):
    for value in countdown(n):
        if value < 3:
            break
    return value


def printing(n):
    print("n", n)
    yield n


def loud(n):
    return list(printing(n))


def sent_to(n):
    got = yield n
    yield got


def asks(n):
    return list(sent_to(n))


@pytest.mark.parametrize("function,message", [
    (kept, "'countdown' is a generator; it can be converted where it is run to its end, in a loop without 'break' and 'return'"),
    (left_early, "'countdown' is a generator"),
    (loud, "'printing' is a generator that prints, sets, or reads what is set; give a list"),
    (asks, "(Yield) cannot be converted"),
    (countdown, "'countdown' is a generator or a coroutine, which a graph cannot give; give a list"),
])
def test_what_generators_cannot_do(function, message):
    with pytest.raises(hia.ConversionError, match=rf"test_generators.py:\d+: .*{re.escape(message)}"):
        hia.function(function, strict=True)(4)
    graph = hia.function(function)
    with pytest.warns(hia.FallbackWarning):
        made, expected = graph(4), function(4)
    assert list(made) == list(expected) if function is countdown else made == expected


def test_generator_expressions_that_are_gone_over():
    def gone_over(v):
        total = 0
        for x in (y * 2 for y in v if y > 0):
            if x > 8:
                break
            total += x
        return (total, sum(x for x in (y + 1 for y in v)), [a - b for a, b in ((y, y * y) for y in v)], max(z for z in (x for x in v)),
                [i for i, x in enumerate(y + 1 for y in v) if x > 2])

    graph = hia.function(gone_over, strict=True)
    for v in ([3, 1, 2], [5, 9], [-1]):
        assert graph(v) == gone_over(v)
    assert graph._plain == 0, graph.report()


def test_generator_expressions_that_set_something_in_between_are_left_to_python():
    def counted(v):
        n, found = 0, []

        def tick(x):
            nonlocal n
            n += 1
            return x
        for x in (tick(y) for y in v):
            found.append((x, n))
        return found

    with pytest.warns(hia.FallbackWarning, match="sets or changes something whenever it is asked for an item; make a list of it first"):
        assert hia.function(counted)([3, 1]) == [(3, 1), (1, 2)]

    def first_large(v):
        for x in (10 // y for y in v):
            if x > 3:
                return x
        return -1

    graph = hia.function(first_large)
    assert [graph([1, 0]), graph([5, 2])] == [10, 5]
