"""Interpreters that keep their variables in dicts, with numbers and with tensors, through which gradients go."""

import dataclasses
import random

import numpy

import hiaton as hia
from hiaton import nn


@dataclasses.dataclass
class Term:
    kind: str
    name: str = ""
    value: float = 0.0
    left: "Term | None" = None
    right: "Term | None" = None


def value_of(t, names):
    if t.kind == "number":
        return t.value
    if t.kind == "name":
        return names[t.name]
    if t.kind == "let":
        return value_of(t.right, {**names, t.name: value_of(t.left, names)})
    left, right = value_of(t.left, names), value_of(t.right, names)
    return left + right if t.kind == "+" else left * right


def free_names(t, bound):
    if t.kind == "number":
        return set()
    if t.kind == "name":
        return set() if t.name in bound else {t.name}
    if t.kind == "let":
        return free_names(t.left, bound) | free_names(t.right, bound | {t.name})
    return free_names(t.left, bound) | free_names(t.right, bound)


def term(rng, depth, names=("y",)):
    kind = rng.choice(("let", "+", "*", "let")) if depth else rng.choice(("number", "name"))
    if kind in ("number", "name"):
        return Term(kind, rng.choice(names), rng.random())
    name = rng.choice("xyz")
    left, inner = term(rng, depth - 1, names), (*names, name) if kind == "let" else names
    return Term(kind, name, 0.0, left, term(rng, depth - 1, inner))


def test_an_interpreter_has_its_variables():
    run = hia.function(lambda t: value_of(t, {"y": 2.0}), strict=True)
    names = hia.function(lambda t: free_names(t, set()), strict=True)
    rng = random.Random(3)
    for _ in range(20):
        t = term(rng, 5)
        assert run(t) == value_of(t, {"y": 2.0}) and names(t) == free_names(t, set())


class Interpreter(nn.Module):
    def __init__(self):
        self.W = nn.Linear(4, 4)
        self.start = nn.Embedding(3, 4)

    def run(self, t, names):
        if t.kind == "name":
            return names[t.name] if t.name in names else self.start(1)
        if t.kind == "number":
            return self.start(0)
        if t.kind == "let":
            return self.run(t.right, {**names, t.name: hia.tanh(self.W(self.run(t.left, names)))})
        left, right = self.run(t.left, names), self.run(t.right, names)
        return left + right if t.kind == "+" else left * right

    def loss(self, t):
        return hia.sum(self.run(t, {}))


def test_gradients_go_through_items():
    rng = random.Random(1)
    terms = [term(rng, 4) for _ in range(6)]
    model = Interpreter()
    loss = lambda model, terms: sum(model.loss(t) for t in terms)  # noqa: E731
    value, gradients = nn.value_and_grad(model, loss)(model, terms)
    with hia.GradientTape() as tape:
        plain = loss(model, terms)
    expected = tape.gradient(plain, model.parameters())
    assert numpy.isclose(value.item(), plain.item(), rtol=1e-5)
    for name, gradient in gradients.items():
        assert numpy.allclose(numpy.asarray(gradient), numpy.asarray(expected[name]), rtol=1e-4, atol=1e-6), name
