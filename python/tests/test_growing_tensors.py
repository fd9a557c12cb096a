"""Tensors whose sizes differ from call to call, and lists of any length that become one tensor."""

import dataclasses

import numpy as np
import pytest
from test_children import difference

import hiaton as hia
from hiaton import nn

ROWS = [hia.tensor([1.0, 2.0]), hia.tensor([3.0, 4.0]), hia.tensor([5.0, 6.0])]


def assert_same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert np.array_equal(np.asarray(found), np.asarray(expected))


@pytest.mark.parametrize("combine", [
    lambda xs: hia.stack([x * 2.0 for x in xs]),
    lambda xs: hia.stack(xs, axis=-1),
    lambda xs: hia.concat(xs, axis=0),
    lambda xs: hia.concat([hia.stack([x, x]) for x in xs], axis=1),
])
def test_lists_of_any_length_become_a_tensor(combine):
    graph = hia.function(combine, strict=True)
    for count in (3, 1, 2):
        assert_same(graph(ROWS[:count]), combine(ROWS[:count]))
    assert "1 conversion" in graph.report()


def test_no_rows_raise_what_eager_operations_raise():
    graph = hia.function(lambda xs: hia.stack(xs))
    assert graph(ROWS).shape == (3, 2)
    with pytest.raises(hia.ProgramError, match="stack: expected at least one"):
        graph([])


def test_wrong_arguments_raise_what_eager_operations_raise():
    for combine in (lambda xs: hia.concat(xs), lambda xs: hia.stack(xs, axis=0, along=1)):
        with pytest.raises(TypeError) as expected:
            combine(ROWS)
        with pytest.raises(TypeError) as found, pytest.warns(hia.FallbackWarning):
            hia.function(combine)(ROWS)
        assert str(found.value) == str(expected.value)


def test_a_tensor_grows_in_a_loop_and_in_a_recursion():
    def counted(n):
        made = hia.zeros(1)
        for i in range(n):
            made = hia.concat([made, hia.ones(1) * i], axis=0)
        return made

    def doubled(x, n):
        return x if n == 0 else doubled(hia.concat([x, x * 0.5], axis=0), n - 1)

    loop, recursion = hia.function(counted, strict=True), hia.function(doubled, strict=True)
    for n in (0, 3, 30, 100):
        assert_same(loop(n), counted(n))
    for n in (0, 3, 12):
        assert_same(recursion(hia.tensor([1.0]), n), doubled(hia.tensor([1.0]), n))
    assert "1 conversion" in loop.report() and "1 conversion" in recursion.report()


def test_a_function_that_does_not_call_itself_stays_one_for_each_size():
    """The sizes are known before the run, which reshape and others need."""
    def layer(x, w):
        return hia.reshape(x @ w, shape=[w.shape[1]])

    def network(x, layers):
        for w in layers:
            x = layer(x, w)
        return x

    layers = tuple(hia.ones([n, n + 1]) for n in range(2, 16))
    graph = hia.function(network, strict=True)
    assert_same(graph(hia.ones(2), layers), network(hia.ones(2), layers))


@dataclasses.dataclass
class Tree:
    word: int
    children: list


def tree(depth, width):
    return Tree(depth + width, [tree(depth - 1, 1 + (depth + n) % 3) for n in range(width)] if depth else [])


class Attention(nn.Module):
    """Children of any number, weighed by what they say."""

    def __init__(self, d):
        self.embedding, self.linear, self.score = nn.Embedding(10, d), nn.Linear(d, d), nn.Linear(d, 1)

    def encode(self, t):
        own = self.embedding(t.word)
        if not t.children:
            return hia.tanh(own)
        children = hia.stack([self.encode(child) for child in t.children])
        return hia.tanh(self.linear(own + hia.softmax(self.score(children)[:, 0]) @ children))

    def loss(self, trees):
        return sum(hia.sum(self.encode(t) ** 2) for t in trees) / len(trees)


def test_attention_over_children_learns_as_eagerly():
    model = Attention(4)
    trees = [tree(3, width) for width in (1, 2, 3)]
    loss, gradients = nn.value_and_grad(model, Attention.loss)(model, trees)
    with hia.GradientTape() as tape:
        eager = model.loss(trees)
    assert loss.item() == eager.item()
    assert difference(gradients, tape.gradient(eager, model), model) < 1e-6


@pytest.mark.parametrize("function", [
    lambda xs: hia.zeros(len(xs)), lambda xs: hia.zeros((2, len(xs), len(xs) + 1), dtype=hia.f64), lambda xs: hia.ones((len(xs), 3)),
    lambda xs: hia.ones(len(xs), hia.i64), lambda xs: hia.arange(len(xs)), lambda xs: hia.arange(1, len(xs) + 1), lambda xs: hia.arange(len(xs), -3, -2),
    lambda xs: hia.arange(len(xs), dtype=hia.f32), lambda xs: hia.random.split(hia.random.key(3), len(xs)),
    lambda xs: hia.zeros((len(xs), 2)) @ hia.ones((2, 3)) + hia.f32(hia.arange(len(xs)))[:, None]])
def test_sizes_that_the_run_tells(function):
    graph = hia.function(function, strict=True)
    for n in (3, 1, 0, 17, 2):
        found, expected = graph([0] * n), function([0] * n)
        assert found.dtype == expected.dtype and found.shape == expected.shape and found.tolist() == expected.tolist()
    assert graph.report().startswith("<lambda>: 1 graphs, 1 conversions")


def test_sizes_below_0_are_those_of_python():
    function = hia.function(lambda xs: hia.zeros(len(xs) - 2))
    assert function([1, 2, 3]).shape == (1,)
    with pytest.raises(ValueError, match="negative dimensions"):
        function([1])


def test_gradients_through_sizes_that_the_run_tells():
    gradient = hia.grad(lambda w, xs: hia.sum(w * hia.ones((len(xs), 2)) * hia.f32(hia.arange(len(xs)))[:, None]))
    assert gradient(hia.tensor([1.0, 2.0]), [1, 2, 3]).tolist() == [3.0, 3.0]


def test_lists_of_rows_of_several_sizes_are_stacked():
    def both(ws):
        return hia.stack([hia.ones(8) * w for w in ws]), hia.stack([hia.ones(6) * w for w in ws]), hia.concat([hia.ones(2) * w for w in ws], axis=0)
    assert [one.tolist() for one in hia.function(both, strict=True)([1, 2])] == [one.tolist() for one in both([1, 2])]


def test_an_element_of_tensors_of_several_sizes():
    xs = [hia.tensor([1.0, 2.0]), hia.tensor([3.0, 4.0, 5.0])]
    element = hia.function(lambda xs, i: xs[i] * 2, strict=True)
    assert [element(xs, i).tolist() for i in (0, 1, -1)] == [[2.0, 4.0], [6.0, 8.0, 10.0], [6.0, 8.0, 10.0]]
    gradient = hia.grad(lambda xs, w, i: hia.sum(xs[i] * w), argnums=1)
    assert gradient(xs, hia.tensor(2.0), 1).item() == 12.0


def doubled(x, n):
    states = [x]
    for _ in range(n):
        states.append(hia.concat([states[-1], states[-1]], axis=0))
    return states


def one_or_the_other(x, n):
    states = []
    if n > 1:
        states.append(x)
    else:
        states.append(hia.concat([x, x], axis=0))
    states += [x]
    return states + [hia.concat([x, x], axis=0)]


def skipped(x, n):
    before, total = [], 0.0
    for _ in range(n):
        before.append(x)
        x = hia.concat([x, hia.tanh(x)], axis=0)
    while before:
        total = total + hia.sum(x) * hia.sum(before.pop())
    return [hia.zeros(0) + total]


@pytest.mark.parametrize("function", [doubled, one_or_the_other, skipped])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_list_grows_by_tensors_of_several_sizes(function, n):
    x = hia.tensor([0.5, -1.0])
    found, expected = hia.function(function, strict=True)(x, n), function(x, n)
    assert type(found) is list and len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.shape == other.shape and np.allclose(one, other, atol=1e-5)
    gradient = hia.grad(lambda x: sum(hia.sum(state) for state in function(x, n)) + 0.0 * hia.sum(x))(x)
    with hia.GradientTape() as tape:
        tape.watch(x)
        total = sum(hia.sum(state) for state in function(x, n)) + 0.0 * hia.sum(x)
    assert np.allclose(gradient, tape.gradient(total, x), atol=1e-4)


def test_a_list_of_tensors_of_several_ranks():
    def mixed(x):
        made = [x]
        made.append(hia.sum(x))
        return made
    assert [one.tolist() for one in hia.function(mixed, strict=True)(hia.ones(2))] == [[1.0, 1.0], 2.0]
