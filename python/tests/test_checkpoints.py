"""Functions of whose calls gradients keep no more than the arguments."""

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


def step(h, w):
    return hia.tanh(h @ w)


def segment(h, w, steps):
    for _ in range(steps):
        h = step(h, w)
    return h


@hia.checkpoint
def halves(h, w, n):
    """What a chain of n steps gives."""
    return step(h, w) if n == 1 else halves(halves(h, w, n // 2), w, n - n // 2)


def by_segments(segment):
    def loss(w, n):
        h = hia.tensor([0.5, 1.0], hia.f64)
        for _ in range(n):
            h = segment(h, w, n)
        return hia.sum(h)
    return loss


def by_halves(w, n):
    return hia.sum(halves(hia.tensor([0.5, 1.0], hia.f64), w, n * n))


W = hia.tensor([[1.5, -0.5], [0.25, 1.0]], hia.f64)


def text_of(gradients):
    return gradients._graphs[0].source.text()


@pytest.mark.parametrize("loss", [by_segments(hia.checkpoint(segment)), by_halves])
def test_gradients_are_the_same(loss):
    expected = hia.grad(by_segments(segment))(W, 7)
    gradients = hia.grad(loss)
    assert np.allclose(gradients(W, 7), expected, rtol=1e-12)
    assert text_of(gradients).count(" recompute =") == 1, text_of(gradients)
    assert loss(W, 7).item() == by_segments(segment)(W, 7).item()


class Chain(nn.Module):
    def __init__(self):
        self.layers = [nn.Linear(3, 3) for _ in range(4)]

    @hia.checkpoint
    def apply(self, x, number):
        return hia.tanh(self.layers[number](x)) if number == 0 else self.apply(hia.tanh(self.layers[1](x)), number - 1)

    def loss(self, x, n):
        return hia.sum(self.apply(x, n))


def test_methods_with_learned_parameters():
    model, x = Chain(), hia.tensor([1.0, 0.5, -0.5])
    gradients = nn.value_and_grad(model, Chain.loss)
    loss, found = gradients(model, x, 3)
    assert " recompute =" in text_of(gradients)
    with hia.GradientTape() as tape:
        expected = model.loss(x, 3)
    assert loss.item() == expected.item()
    for path, gradient in tape.gradient(expected, model).items():
        assert np.allclose(np.asarray(found[path]), 0 if gradient is None else gradient, atol=1e-6), path


def test_it_is_a_function_like_the_other():
    assert halves.__name__ == "halves" and halves.__doc__ == "What a chain of n steps gives." and not hasattr(halves, "__wrapped__")
    assert hia.checkpoint(Chain().apply).__self__.layers
    with pytest.raises(TypeError, match="expected a function or a method of Python, found builtin_function_or_method"):
        hia.checkpoint(len)
