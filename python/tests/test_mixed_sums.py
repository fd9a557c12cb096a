"""Sums of what is a number on one path and a tensor on another: Python's results, of Python's types, by one graph."""

import dataclasses

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


@dataclasses.dataclass
class Tree:
    word: int = 0
    left: "Tree | None" = None
    right: "Tree | None" = None


class Model(nn.Module):
    def __init__(self):
        self.table, self.linear, self.scores = nn.Embedding(5, 4), nn.Linear(8, 4), nn.Linear(4, 2)

    def encode(self, t):
        if t.left is None:
            return self.table(t.word), 0.0
        (h, before), (g, beside) = self.encode(t.left), self.encode(t.right)
        h = hia.tanh(self.linear(hia.concat([h, g], axis=0)))
        return h, before + beside + hia.cross_entropy(self.scores(h), t.word % 2)


LEAF = Tree(1)
TREES = [LEAF, Tree(2, Tree(3), LEAF), Tree(1, Tree(4, Tree(2), Tree(0)), Tree(3, LEAF, Tree(4)))]


def by_sum(model, trees):
    return sum(model.encode(t)[1] for t in trees)


def by_a_loop(model, trees):
    total = 0.5
    for t in trees:
        total += model.encode(t)[1]
    return total


def weighed(model, trees):
    losses = [model.encode(t)[1] for t in trees]
    return (losses[0] - 2) * losses[-1] / 4.0


@pytest.mark.parametrize("function", [by_sum, by_a_loop, weighed])
@pytest.mark.parametrize("trees", [TREES, TREES[1:], TREES[:1], [LEAF, LEAF], [LEAF, TREES[2], LEAF], TREES[::-1]])
def test_results_are_those_of_python(function, trees):
    model = Model()
    graph = hia.function(function, strict=True)
    for given in (trees, TREES, [LEAF], trees):
        made, expected = graph(model, given), function(model, given)
        assert type(made) is type(expected)
        assert made == expected if isinstance(expected, (int, float)) else made.tolist() == pytest.approx(expected.tolist(), rel=1e-6)
    assert "0 calls in plain Python" in graph.report()


@pytest.mark.parametrize("function", [by_sum, by_a_loop])
def test_gradients_do_not_fall_back(function):
    model = Model()
    step = nn.value_and_grad(model, function, strict=True)
    with hia.GradientTape() as tape:
        expected = function(model, TREES)
    found, gradients = step(model, TREES)
    assert found.item() == pytest.approx(expected.item(), rel=1e-6)
    for path, one in tape.gradient(expected, model).items():
        np.testing.assert_allclose(np.asarray(gradients[path]), np.asarray(one), rtol=1e-4, atol=1e-6)


def test_numbers_of_other_kinds():
    def score(x, n):
        return n if n > 2 else x * 2.0 if n > 0 else 0.5

    def of_two(x, n, m):
        return score(x, n) * score(x, m) - score(x, n) / (score(x, m) + 1)

    graph = hia.function(of_two, strict=True)
    for x in (hia.f32(1.5), hia.f64(0.25)):
        for n in (-1, 1, 3):
            for m in (-1, 1, 4):
                made, expected = graph(x, n, m), of_two(x, n, m)
                assert type(made) is type(expected) and getattr(made, "dtype", None) == getattr(expected, "dtype", None)
                assert float(made) == pytest.approx(float(expected), rel=1e-6)
    assert "0 calls in plain Python" in graph.report()
    by = hia.grad(lambda x, n, m: hia.f64(of_two(x, n, m)) if n < 0 else of_two(x, n, m) * x)
    assert by(hia.f64(0.25), 1, 1).item() == pytest.approx(12 * 0.25**2 - ((4 * 0.25 * 1.5) - 2 * 0.25**2 * 2) / 1.5**2)


def test_tensors_of_other_shapes():
    def added(x, is_number):
        return (0.0 if is_number else x) + 1.0

    graph = hia.function(added, strict=True)
    assert graph(hia.ones(2), False).tolist() == [2.0, 2.0] and graph(hia.ones(2), True) == 1.0


@dataclasses.dataclass
class Many:
    value: float
    children: "list[Many]"


def of_numbers(t):
    return t.value + 0.5 * sum(of_numbers(child) for child in t.children)


def of_vectors(t):
    return hia.tanh(hia.ones(3) * t.value + 0.5 * sum([of_vectors(child) for child in t.children]))


def by_turns(t):
    total = 0
    for child in t.children:
        total = total + by_turns(child)
    return hia.tanh(hia.ones(3) * t.value + total)


@pytest.mark.parametrize("function", [of_numbers, of_vectors, by_turns])
def test_the_sum_of_no_children_is_a_number(function):
    tree = Many(1.0, [Many(2.0, []), Many(-0.5, [Many(0.25, []), Many(0.5, [])])])
    graph = hia.function(function, strict=True)
    for t in (tree, tree.children[0], tree):
        assert np.asarray(graph(t)) == pytest.approx(np.asarray(function(t)), rel=1e-6)
    assert "0 calls in plain Python" in graph.report()


@dataclasses.dataclass
class Formula:
    kind: str
    parts: "list[Formula]" = dataclasses.field(default_factory=list)
    number: int = 0


def formula_value(t, constants, x):
    match t:
        case Formula("constant"): return constants[t.number]
        case Formula("x"): return x
        case Formula("+", [a, b]): return formula_value(a, constants, x) + formula_value(b, constants, x)
        case Formula("*", [a, b]): return formula_value(a, constants, x) * formula_value(b, constants, x)
        case Formula("sin", [a]): return hia.sin(formula_value(a, constants, x))


def distance(constants, t, x, y):
    return hia.mean((formula_value(t, constants, x) - y) ** 2)


def test_numbers_and_vectors_that_the_run_tells_apart():
    x, y, constants = hia.arange(5.0), hia.arange(5.0) * 0.5, hia.tensor([0.5, -1.0, 2.0])
    c, v = [Formula("constant", [], i) for i in range(3)], Formula("x")
    trees = [Formula("+", [Formula("*", [c[0], v]), Formula("sin", [c[1]])]), Formula("*", [c[2], Formula("sin", [Formula("*", [c[0], c[1]])])]),
             Formula("sin", [Formula("+", [v, Formula("*", [v, v])])]), Formula("+", [c[0], Formula("+", [c[1], v])])]
    gradient = hia.value_and_grad(distance)
    for tree in trees:
        with hia.GradientTape() as tape:
            tape.watch(constants)
            expected = distance(constants, tree, x, y)
        value, found = gradient(constants, tree, x, y)
        assert value.item() == pytest.approx(expected.item(), rel=1e-6)
        of_tape = tape.gradient(expected, constants)
        assert found.tolist() == pytest.approx([0.0] * 3 if of_tape is None else of_tape.tolist(), rel=1e-5, abs=1e-6)
    assert sum(one.faults for one in gradient._graphs) == 0, gradient.report()
