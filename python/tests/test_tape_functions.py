"""Functions that run as graphs inside a tape: one step of it, with the gradients of plain Python."""

import dataclasses
import warnings

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


@dataclasses.dataclass
class Tree:
    word: int
    parts: "tuple[Tree, Tree] | None" = None


class Model(nn.Module):
    def __init__(self, d=3):
        self.W = nn.Linear(2 * d, d)
        self.E = nn.Embedding(5, d)

    def encode(self, t):
        if t.parts is None:
            return self.E(t.word)
        left, right = t.parts
        return hia.tanh(self.W(hia.concat([self.encode(left), self.encode(right)], axis=0)))


def encoded(model, t, x, scale):
    h = model.encode(t) * x
    return {"sum": hia.sum(h) * scale, "state": (h, t.word)}


TREE = Tree(0, (Tree(1), Tree(0, (Tree(2), Tree(4)))))


def gradients_by(function, model, x, again=False):
    with hia.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2.0
        made = function(model, TREE, y, 0.5)
        h, word = made["state"]
        total = made["sum"] * 3.0 + hia.sum(h * h)
        slopes = tape.gradient(total, x) if again else total
        of_slopes = hia.sum(slopes * slopes)
    found = tape.gradient(of_slopes, {"x": x, **model.parameters()})
    return total, word, {name: np.asarray(one) for name, one in found.items()}


@pytest.mark.parametrize("again", [False, True], ids=["first", "second"])
def test_gradients_through_a_graph_are_those_of_plain_python(again):
    model, x, graph = Model(), hia.tensor([0.3, -0.2, 0.5]), hia.function(encoded, strict=True)
    expected = gradients_by(encoded, model, x, again)
    for calls in (1, 2):
        total, word, found = gradients_by(graph, model, x, again)
        assert (total.item(), word) == (expected[0].item(), expected[1])
        assert found.keys() == expected[2].keys() and found["x"].any() and found["E.weight"].any()
        for name, one in found.items():
            np.testing.assert_allclose(one, expected[2][name], rtol=1e-4, atol=1e-6)
        assert graph._graphs[0].hits == calls


def test_the_tape_keeps_one_step_of_many():
    @hia.function(strict=True)
    def power(x, n):
        y = x
        for _ in range(n):
            y = y * x
        return y, n

    x = hia.f64(1.01)
    with hia.GradientTape() as tape:
        tape.watch(x)
        y, n = power(x, 9)
    assert n == 9 and tape.gradient(y, x).item() == pytest.approx(10 * 1.01 ** 9)
    with hia.GradientTape() as tape:
        y, _ = power(x, 9)  # which nobody watches
    assert tape.gradient(y, x) is None and power._graphs[0].hits == 2


def test_what_a_tape_would_not_see_runs_in_python():
    weight = hia.tensor([2.0, 3.0])

    @hia.function(strict=True)
    def of_a_constant(x):
        return hia.sum(weight * x)

    @hia.function(strict=True)
    def of_a_list(xs):
        return sum([hia.sum(x) for x in xs])

    @hia.function(strict=True)
    def to_a_list(x):
        return [x * number for number in (1.0, 2.0, 3.0)]

    x = hia.tensor([1.0, -1.0])
    of_a_constant(x), of_a_list([x, x]), to_a_list(x)
    with hia.GradientTape(persistent=True) as tape:
        tape.watch([x, weight])
        constant, from_list, parts = of_a_constant(x), of_a_list([x, x * 2.0]), to_a_list(x)
    assert tape.gradient(constant, weight).tolist() == [1.0, -1.0]
    assert tape.gradient(from_list, x).tolist() == [3.0, 3.0]
    assert tape.gradient(parts[2], x).tolist() == [3.0, 3.0]


def test_what_it_sets_is_set_in_python():
    class Counter:
        calls = 0

    counter = Counter()

    @hia.function(strict=True)
    def counted(counter, x):
        counter.calls += 1
        return x * x

    x = hia.f32(3.0)
    with hia.GradientTape() as tape:
        tape.watch(x)
        y = counted(counter, x) + counted(counter, x)
    assert tape.gradient(y, x).item() == 12.0 and counter.calls == 2


def test_a_call_that_leaves_its_graph_is_seen_too():
    @hia.function
    def scaled(x, n):
        return x * (2 ** 62 * n // 2 ** 62)

    x = hia.f32(3.0)
    for n in (1, 4):
        with hia.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x, n)
        assert tape.gradient(y, x).item() == n
    assert "1 calls in plain Python" in scaled.report()


def test_sizes_that_only_the_run_knows():
    graph = hia.function(lambda x, y: hia.sum(x * x) * y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (1, 2, 3, 5):
            x, y = hia.ones(size) * 2.0, hia.f32(size)
            with hia.GradientTape() as tape:
                tape.watch([x, y])
                z = graph(x, y)
            by_x, by_y = tape.gradient(z, [x, y])
            assert by_x.tolist() == [4.0 * size] * size and by_y.item() == 4.0 * size
    assert graph._graphs[0].hits >= 2 and "0 calls in plain Python" in graph.report()


def squared(model, t, x):
    return hia.sum(model.encode(t) * x)


def taped(function, model, x, **how):
    tape = hia.GradientTape(**how)
    with tape:
        tape.watch(x)
        loss = function(model, TREE, x)
    return tape, loss, {"x": x, **model.parameters()}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_call_stays_open_for_its_gradient(workers):
    model, x = Model(), hia.tensor([0.3, -0.2, 0.5])
    graph = hia.function(squared, strict=True, workers=workers)
    tape, loss, sources = taped(squared, model, x)
    expected = tape.gradient(loss, sources)
    tape, loss, sources = taped(graph, model, x, persistent=True)
    for _ in range(2):  # the second time the call is computed again
        found = tape.gradient(loss, sources)
        for name, one in found.items():
            np.testing.assert_allclose(np.asarray(one), np.asarray(expected[name]), rtol=1e-4, atol=1e-6)
    assert graph._plain == 0


def test_many_calls_are_open_at_once():
    model, graph = Model(), hia.function(squared, strict=True)
    xs = [hia.tensor([0.1 * i, -0.2, 0.5]) for i in range(20)]
    tapes = [taped(graph, model, x) for x in xs]
    for x, (tape, loss, sources) in reversed(list(zip(xs, tapes))):
        plain, expected, _ = taped(squared, model, x)
        np.testing.assert_allclose(np.asarray(tape.gradient(loss, x)), np.asarray(plain.gradient(expected, x)), rtol=1e-4, atol=1e-6)


def test_a_call_takes_its_gradient_by_the_parameters_that_it_read():
    model, x = Model(), hia.tensor([0.3, -0.2, 0.5])
    graph = hia.function(squared, strict=True)
    tape, loss, sources = taped(graph, model, x)
    plain, expected, _ = taped(squared, model, x)
    wanted = plain.gradient(expected, sources)
    for parameter in model.parameters().values():
        parameter.assign(parameter * 3.0)
    found = tape.gradient(loss, sources)
    for name, one in found.items():
        np.testing.assert_allclose(np.asarray(one), np.asarray(wanted[name]), rtol=1e-4, atol=1e-6)


def test_a_tape_that_is_forgotten_leaves_nothing():
    model, x = Model(), hia.tensor([0.3, -0.2, 0.5])
    graph = hia.function(squared, strict=True)
    for _ in range(300):
        taped(graph, model, x)
    tape, loss, sources = taped(graph, model, x)
    tape.reset()
    assert tape.gradient(loss, x) is None


def test_a_budget_for_the_call_alone_is_enough():
    @hia.function(strict=True, budget=60)
    def deep(x, n):
        return x if n == 0 else hia.tanh(deep(x, n - 1)) + deep(x, 0)

    x = hia.tensor([0.3, -0.2])
    for _ in range(2):
        with hia.GradientTape() as tape:
            tape.watch(x)
            y = hia.sum(deep(x, 40))
        assert np.asarray(tape.gradient(y, x)).any()
