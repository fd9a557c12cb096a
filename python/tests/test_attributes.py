"""Attributes by name, classes as values, and what is of one of several types; see attributes.py."""

import dataclasses
import enum

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


class Node:
    kind = "node"

    def __init__(self, value, children=()):
        self.value = value
        self.children = list(children)

    def size(self):
        return 1 + sum(child.size() for child in self.children)


class Leaf(Node):
    def __init__(self, value):
        self.value = value

    def size(self):
        return 1


class Named(Node):
    kind = "named"

    def __init__(self, value, children, name):
        super().__init__(value, children)
        self.name = name


class Slim:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Visitor:
    def visit(self, node):
        method = "visit_" + type(node).__name__
        return getattr(self, method, self.generic_visit)(node)

    def generic_visit(self, node):
        return 0


class Sum(Visitor):
    def __init__(self, scale):
        self.scale = scale

    def visit_Leaf(self, node):
        return self.scale * node.value

    def visit_Node(self, node):
        return node.value + sum(self.visit(child) for child in node.children)


class Deep(Sum):
    def visit(self, node):
        visitor = getattr(self, f"visit_{node.__class__.__name__}", None)
        return -1 if visitor is None else visitor(node)


TREES = [Leaf(3), Node(4, [Leaf(1), Leaf(2)]), Node(1, [Node(2, [Leaf(5)]), Leaf(7), Named(3, [Leaf(4)], "x")]), Named(6, [], "y")]


def visited(t, scale=2):
    return Sum(scale).visit(t), Deep(scale).visit(t)


def described(t):
    known = t.size, type(t).__name__, t.kind
    own = type(t) is Leaf, type(t) == Node, type(t) in (Leaf, Named), isinstance(t, type(TREES[0]))
    children = [] if type(t) is Leaf else t.children
    return known[0](), known[1:], own, getattr(t, "kind", "none"), getattr(t, "value"), [described(child)[0] for child in children]


def test_visitors_and_classes():
    for function in (visited, described):
        graph = hia.function(function, strict=True)
        assert [graph(t) for t in TREES] == [function(t) for t in TREES]
        assert graph._plain == 0, graph.report()


def test_whether_there_is_an_attribute():
    graph = hia.function(lambda t: (hasattr(t, "value"), hasattr(t, "size"), hasattr(t, "kind")), strict=True)
    assert [graph(t) for t in TREES] == [(True, True, True)] * 4
    slim = hia.function(lambda t: (hasattr(t, "value"), hasattr(t, "other"), getattr(t, "other", 5)), strict=True)
    assert slim(Slim(1)) == (True, False, 5)
    with pytest.raises(hia.ConversionError, match="whether objects of 'Leaf' have 'name' may differ from call to call; ask isinstance"):
        hia.function(lambda t: hasattr(t, "name"), strict=True)(Leaf(2))
    plain = hia.function(lambda t: hasattr(t, "value"))
    assert plain(Node(1)) is True
    other = Node(1)
    del other.value
    assert plain(other) is False


def test_an_attribute_of_what_is_known_may_come_and_go():
    class Settings:
        pass

    settings = Settings()
    graph = hia.function(lambda n: n * getattr(settings, "scale", 1) + hasattr(settings, "bias"), strict=True)
    assert graph(3) == 3
    settings.scale = 2
    assert graph(3) == 6
    settings.bias = 0
    assert graph(3) == 7
    del settings.scale
    assert graph(3) == 4


class Word:
    def __init__(self, word=None, left=None, right=None, index=0):
        self.word, self.left, self.right, self.index = word, left, right, index


class Softmax(nn.Module):
    """A tree that is an attribute of the module: the search begins at an object that is known, and goes to others."""

    def __init__(self):
        self.table, self.nodes = nn.Embedding(4, 3, scale=1.0), nn.Embedding(3, 3, scale=1.0)
        self.root = Word(None, Word(None, Word(0), Word(1), 1), Word(None, Word(2), Word(3), 2), 0)

    def has(self, node, word):
        if node.word is not None:
            return node.word == word
        return self.has(node.left, word) or self.has(node.right, word)

    def loss(self, word, target):
        h, node, total = self.table(word), self.root, 0.0
        while node.word is None:
            score = hia.sum(self.nodes(node.index) * h)
            goes_left = self.has(node.left, target)
            total = total + hia.log(1 + hia.exp(-score if goes_left else score))
            node = node.left if goes_left else node.right
        return total


def test_an_object_that_is_known_or_another_one():
    model = Softmax()
    step = nn.value_and_grad(model, Softmax.loss, strict=True)
    for word, target in ((0, 1), (3, 2), (1, 3)):
        value, gradients = step(model, word, target)
        with hia.GradientTape() as tape:
            expected = model.loss(word, target)
        found = tape.gradient(expected, model)
        assert value.item() == pytest.approx(expected.item(), rel=1e-5)
        for path in ("table.weight", "nodes.weight"):
            assert np.allclose(np.asarray(gradients[path]), np.asarray(found[path]), atol=1e-5)


class Counter:
    def __init__(self, step):
        self.step = step

    def count(self, n, out):
        out.append(n * self.step)
        return len(out)


class Doubler(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 2)

    def count(self, n, out):
        out.append(-n)
        return 0

    def apply(self, x):
        return hia.tanh(self.linear(x))


class Keeper(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 2)

    def apply(self, x):
        return self.linear(x) * 2.0


DOUBLER, KEPT = Doubler(), Counter(3)


def test_methods_of_several_objects_that_change_a_list():
    def counted(ns):
        out, found, total = [], [], 0

        def add(n):
            nonlocal total
            total += n
            return total
        for n in ns:
            one = KEPT if n > 3 else Counter(2) if n > 1 else DOUBLER
            found.append(one.count(n, out) + one.count(add(n), out))
        return out, found, total

    graph = hia.function(counted, strict=True)
    for ns in ([1, 2, 5], [7], [2, 2, 1, 9]):
        assert graph(ns) == counted(ns)
    assert graph._plain == 0, graph.report()


def test_gradients_of_one_of_several_modules():
    class Both(nn.Module):
        def __init__(self):
            self.first, self.second = Doubler(), Keeper()

        def loss(self, x, depth):
            part = self.first if depth % 2 else self.second
            return hia.sum(part.apply(x) ** 2) if depth == 0 else self.loss(part.apply(x), depth - 1)

    model = Both()
    step = nn.value_and_grad(model, Both.loss, strict=True)
    for depth in (0, 1, 4):
        value, gradients = step(model, hia.tensor([0.5, -1.0]), depth)
        with hia.GradientTape() as tape:
            expected = model.loss(hia.tensor([0.5, -1.0]), depth)
        assert value.item() == pytest.approx(expected.item(), rel=1e-5)
        for path, gradient in tape.gradient(expected, model).items():
            if gradient is not None:
                assert np.allclose(np.asarray(gradients[path]), np.asarray(gradient), rtol=1e-4, atol=1e-5)


@dataclasses.dataclass
class Split:
    feature: int
    least: float
    left: "Split | Answer"
    right: "Split | Answer"

    def __call__(self, x):
        return self.left(x) if x[self.feature] <= self.least else self.right(x)


@dataclasses.dataclass
class Answer:
    value: float

    def __call__(self, x):
        return self.value


def test_what_a_field_holds_is_called():
    forest = [Split(0, 0.5, Answer(1.0), Split(1, 0.2, Answer(2.0), Answer(3.0))), Split(1, 0.7, Answer(10.0), Answer(20.0)), Answer(100.0)]

    def total(trees, x):
        return sum(tree(x) for tree in trees)
    graph = hia.function(total, strict=True)
    for x in ([0.1, 0.9], [0.6, 0.1], [0.6, 0.5]):
        assert graph(forest, x) == total(forest, x)


class Action(enum.Enum):
    SHIFT = "s"
    REDUCE = "r"


def actions(t):
    if isinstance(t, Leaf):
        yield Action.SHIFT
    else:
        for child in t.children:
            yield from actions(child)
        yield Action.REDUCE


def labels(t, depth=0):
    stack, found = [(t, "root")], []
    while stack:
        node, label = stack.pop()
        found.append(label)
        if not isinstance(node, Leaf):
            for child in node.children:
                stack.append((child, "leaf" if isinstance(child, Leaf) else "inner"))
    return found


@pytest.mark.parametrize("function", [lambda t: [(one.name, one.value, one is Action.SHIFT) for one in actions(t)], labels])
def test_lists_of_enums_and_texts(function):
    graph = hia.function(function, strict=True)
    assert [graph(t) for t in TREES] == [function(t) for t in TREES]
    assert graph._plain == 0, graph.report()


def test_sum_with_a_start_by_name():
    graph = hia.function(lambda xs: sum((x * x for x in xs), start=10), strict=True)
    assert [graph([1, 2]), graph([3])] == [15, 19]


class Settings:
    pass


def test_objects_of_a_table_that_are_known():
    settings = Settings()
    settings.parts, settings.other = {"x": Node(1), "y": Leaf(2), "z": None}, Node(3)

    def described(n, key):
        one = settings.parts[key]
        if one is None:
            one = settings.other if n > 0 else Leaf(n)
        return one.value, one.size(), one.kind, type(one).__name__, isinstance(one, Leaf), hasattr(one, "value")

    graph = hia.function(described, strict=True)
    calls = [(1, "x"), (2, "y"), (3, "z"), (-3, "z")]
    assert [graph(*call) for call in calls] == [described(*call) for call in calls]
    settings.parts["x"].value = 50
    assert graph(1, "x") == described(1, "x")
    settings.parts["x"] = Leaf(7)
    assert graph(1, "x") == described(1, "x") == (7, 1, "node", "Leaf", True, True)
    assert graph._plain == 0, graph.report()


def test_methods_that_are_kept():
    def kept(t, xs):
        size, add = t.size, (lambda x: x + t.size())
        return size(), list(map(add, xs)), sorted(xs, key=t.scaled), max(xs, key=lambda x: t.scaled(x)), (t.size if xs[0] > 1 else t.twice)()

    class Own(Node):
        def scaled(self, x):
            return -x * self.value

        def twice(self):
            return 2 * self.size()

    graph = hia.function(kept, strict=True)
    for t, xs in ((Own(2, [Leaf(1)]), [3, 1, 2]), (Own(-1), [1, 5])):
        assert graph(t, xs) == kept(t, xs)
    assert graph._plain == 0, graph.report()
