"""Numbers that a graph must know before the run: arguments, variables that loops and functions defined inside read."""

import warnings

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn

X = hia.tensor([3.0, 1.0, 2.0, 5.0])


def largest(x, k):
    return hia.sum(hia.top_k(x, k))


def from_to(x, begin, end, scale):
    return hia.sum(x[begin:end]) * scale


def in_a_loop(x, k, turns):
    for _ in range(turns):
        x = x + hia.sum(hia.top_k(x, k))
    return x


def in_a_while_loop(x, k, turns):
    size = x.shape[0] - k
    while turns > 0:
        x, turns = x + hia.sum(hia.top_k(x, size)), turns - 1
    return x


def in_a_comprehension(x, k, turns):
    return hia.stack([hia.top_k(x + i, k) for i in range(turns)])


def in_a_function_inside(x, k, turns):
    def of(n):
        return hia.sum(hia.top_k(x + n, k)) + (of(n - 1) if n > 0 else 0.0)
    return of(turns)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("function, calls, shown", [
    (largest, [(2,), (3,), (2,)], ["(f32[4], 3) -> f32[]: 1 calls", "(f32[4], 2) -> f32[]: 2 calls"]),
    (from_to, [(1, 3, 2), (1, 3, 5), (0, 3, 5)], ["(f32[4], 0, 3, int) -> f32[]: 1 calls", "(f32[4], 1, 3, int) -> f32[]: 2 calls"]),
    (in_a_loop, [(2, 3), (2, 5)], ["(f32[4], 2, int) -> f32[4]: 2 calls"]),
    (in_a_while_loop, [(2, 3), (2, 5)], ["(f32[4], 2, int) -> f32[4]: 2 calls"]),
    (in_a_comprehension, [(2, 3), (2, 5)], ["(f32[4], 2, int) -> f32[_, 2]: 2 calls"]),
    (in_a_function_inside, [(2, 3), (2, 0)], ["(f32[4], 2, int) -> f32[]: 2 calls"])])
def test_a_graph_for_each_number(function, calls, shown, strict):
    graph = hia.function(function, strict=strict)
    for call in calls:
        assert np.allclose(graph(X, *call), function(X, *call))
    assert [line.strip().partition(" calls")[0] + " calls" for line in graph.report().split("\n") if "misses" in line] == shown
    assert sum(one.hits for one in graph._graphs) == len(calls) and "0 calls in plain Python" in graph.report()


def test_gradients_for_each_number():
    class Cut(nn.Module):
        def __init__(self):
            self.w = nn.Parameter(X)

        def __call__(self, n):
            return hia.sum(self.w[:n] ** 2)
    model = Cut()
    step = nn.value_and_grad(model, Cut.__call__, strict=True)
    for n in (2, 3, 2):
        assert step(model, n)[1]["w"].tolist() == [2 * x if i < n else 0.0 for i, x in enumerate(X.tolist())]
    assert "2 graphs, 2 conversions" in step.report()


def test_variables_of_a_function():
    def local(x, turns):
        k, half = 2, 0
        for i in range(turns):
            half = 2                 # set in the loop: each turn knows it anew
            x = x + hia.sum(hia.top_k(x, k)) + hia.sum(x[:half])
        return x
    graph = hia.function(local, strict=True)
    for turns in (0, 1, 4):
        assert np.allclose(graph(X, turns), local(X, turns))
    assert "1 graphs, 1 conversions, 0 calls in plain Python" in graph.report()


def test_a_number_that_a_loop_changes():
    def growing(x, n):
        k = 1
        while k < n:
            x = x + hia.sum(hia.top_k(x, k))
            k += 1
        return x
    with pytest.raises(hia.ConversionError, match="expected an integer that is known before the run"):
        hia.function(growing, strict=True)(X, 3)


def test_too_many_numbers():
    graph = hia.function(lambda x, n: x[:n])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for n in range(20):
            assert graph(hia.arange(40.0), n).shape == (n,)
    assert [str(one.message).split(": ", 1)[1] for one in told] == [
        "it was converted 16 times, since 'n' was another number each time, which a graph must know; hand over few of them"]


def test_lists_of_the_elements_of_a_tensor():
    def lists(x):
        return x.tolist(), (x[:, None] * x).tolist(), hia.sum(x).tolist(), max(hia.argsort(x).tolist())
    graph = hia.function(lists, strict=True)
    for x in (X, hia.arange(4), hia.f64(X)):
        assert graph(x) == lists(x) and list(map(type, graph(x)[0])) == list(map(type, lists(x)[0]))
    assert sum(one.faults for one in graph._graphs) == 0
    gradient = hia.grad(lambda x: hia.sum(x) * sum((x * x).tolist()))
    assert gradient(hia.tensor([3.0, 1.0])).tolist() == [10.0, 10.0]
