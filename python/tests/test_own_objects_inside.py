"""Objects that functions defined inside of others make and change, and what attributes of own objects are when they are called."""

import dataclasses
import functools
import warnings

import pytest

import hiaton as hia


@dataclasses.dataclass
class Node:
    value: int
    children: list = dataclasses.field(default_factory=list)

    def add(self, child):
        self.children.append(child)
        return self


class Numbers:
    def __init__(self, function):
        self.function = function
        self.made = []

    def next(self, n):
        self.made.append(self.function(len(self.made) + n))
        return self.function(self.made[-1])


def grown(n):
    total = 0

    def grow(depth):
        nonlocal total
        node = Node(depth)
        total += 1
        for i in range(depth):
            node.children.append(grow(depth - 1))
            node.value += i
        return node
    return grow(n), total


def with_two_results(n):
    def parse(place):
        node = Node(0)
        while place < 4 * n:
            if place % 3 == 0:
                child, place = parse(place + 1)
                node.children.append(child)
            elif place % 3 == 1:
                node.value += place
                place += 1
            else:
                return node, place + 1
        return node, place
    return parse(0)


def with_a_break(n):
    def expand(depth):
        node = Node(depth, [])
        for i in range(3):
            if depth == 0 or i > n:
                break
            node.children.append(expand(depth - 1))
        return node
    return expand(n)


def two_levels(n):
    def outer(d):
        def inner(e):
            node = Node(e)
            if e > 0:
                node.add(inner(e - 1)).add(Node(e))
            node.value = len(node.children)
            return node
        x = Node(d)
        x.children.append(inner(d))
        x.value += 100
        return x
    return outer(n), outer(n + 1)


def the_same_name_inside(n):
    node = Node(n)

    def wrapped(depth):
        other = Node(depth)
        other.children.append(node)
        return other
    return wrapped(1), node


def best_of(n):
    def search(count):
        best = Node(0)
        for i in range(count):
            found = Node(i * 3 % 5)
            found.children.append(Node(i))
            if found.value > best.value:
                best = found
                best.value += 1
        return best
    return search(n)


def swapped(n):
    def made(place):
        a, b = Node(0), Node(1)
        a, b = b, a
        a.value += place
        b.children.append(a)
        a = Node(3)
        a.children.append(b)
        return a
    return made(n)


def with_kept_results(n):
    @functools.cache
    def tree(depth):
        node = Node(depth)
        for i in range(depth):
            node.children.append(tree(i))
        return node
    return tree(n)


def twice(x):
    return 2 * x


def called_attribute(n):
    numbers = Numbers(twice)
    found = [numbers.next(i) for i in range(n)]
    numbers.function = abs if n > 2 else twice
    found.append(numbers.next(-9))
    return found, numbers.made


FUNCTIONS = [grown, with_two_results, with_a_break, two_levels, the_same_name_inside, best_of, swapped, with_kept_results, called_attribute]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_objects_that_change(function):
    graph = hia.function(function, strict=True)
    for n in (3, 2, 4):
        assert graph(n) == function(n)
    assert [(one.hits, one.faults) for one in graph._graphs] == [(3, 0)], graph.report()


def put_in_a_list(n):
    def made(depth):
        node = Node(depth)
        kept = [node]
        node.value = 7
        return kept[0].value
    return made(n)


def read_by_a_lambda(n):
    def made(depth):
        node = Node(depth)
        read = lambda: node.value
        node.value = 9
        return read()
    return made(n)


def changed_by_another(n):
    def made(depth):
        node = Node(depth)

        def fill(number):
            node.children.append(number)
        fill(1)
        fill(2)
        return node
    return made(n)


def handed_to_another(n):
    def fill(node, depth):
        node.children.append(Node(depth))
        if depth > 0:
            fill(node, depth - 1)
    root = Node(n)
    fill(root, n)
    return root


@pytest.mark.parametrize("function", [put_in_a_list, read_by_a_lambda, changed_by_another, handed_to_another], ids=lambda f: f.__name__)
def test_what_is_left_to_python(function):
    with pytest.raises(hia.ConversionError, match="something else may refer to"):
        hia.function(function, strict=True)(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert hia.function(function)(3) == function(3)
