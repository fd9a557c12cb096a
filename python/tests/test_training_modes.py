"""Modules that are trained and asked, and how they are shown."""

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


class Net(nn.Module):
    def __init__(self):
        self.layers = [nn.Linear(2, 3), nn.Dropout(0.5)]
        self.norm, self.scale, self.width = nn.BatchNorm(3), nn.Parameter(hia.ones(1)), 3
        self.parts = {"last": nn.Sequential(nn.LayerNorm(3), nn.Dropout(0.25))}

    def __call__(self, x, key):
        first, drop = self.layers
        x = self.norm(drop(first(x), key)) * self.scale
        return hia.sum(self.parts["last"](x, key)) + (1.0 if self.training else 0.0)


X = hia.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])


def modes(model):
    return [part.training for part in (model, *model.layers, model.norm, *model.parts.values(), *model.parts["last"].layers)]


def test_modes_reach_all_parts():
    model = Net()
    assert modes(model) == [True] * 7
    assert model.eval() is model and modes(model) == [False] * 7
    assert model.train() is model and modes(model) == [True] * 7
    assert model.train(False) is model and not any(modes(model)) and list(model.parameters())[0] == "layers.0.weight"


def test_what_is_not_trained_drops_nothing_and_depends_on_no_other_example():
    model, key = Net(), hia.random.key(1)
    graph = hia.function(lambda x, key: model(x, key), strict=True)
    step = nn.value_and_grad(model, lambda model, x, key: model(x, key))
    for mode in (True, False, True, False, True):
        model.train(mode)
        found = [float(one) for one in (model(X, key), graph(X, key), step(model, X, key)[0])]
        assert found == pytest.approx([found[0]] * 3, rel=1e-5)
        if not mode:
            assert float(model(X, None)) == found[0]


@pytest.mark.filterwarnings("ignore::hiaton.FallbackWarning")
def test_dropout_asks_for_a_seed():
    model = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5), hia.tanh))
    x = hia.ones(100)
    for call in (lambda: model(x), lambda: hia.function(lambda x: model(x))(x)):
        with pytest.raises(TypeError, match="Dropout: expected a seed to draw what is dropped, .*, found none; give another one in each step, "
                                            "or call eval"):
            call()
    first, again, other = (model(x, seed).numpy() for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert 10 < np.count_nonzero(first) < 40  # each of the two has dropped others
    assert np.array_equal(hia.function(lambda x, seed: model(x, seed), strict=True)(x, 1).numpy(), first)
    assert model.eval()(x).tolist() == hia.tanh(x).tolist()
    for rate in (-0.5, 1.5, float("nan")):
        with pytest.raises(ValueError, match=f"Dropout: expected a rate from 0 to 1, found {rate}"):
            nn.Dropout(rate)


@pytest.mark.filterwarnings("ignore::hiaton.FallbackWarning")
def test_batch_norm_says_what_it_needs():
    norm = nn.BatchNorm(2)
    one = hia.ones((1, 2))
    for call in (lambda: norm(one), lambda: hia.function(lambda x: norm(x))(one)):
        with pytest.raises(ValueError, match="BatchNorm: expected several elements of each channel while it is trained, found one"):
            call()
    with pytest.raises(ValueError, match=r"BatchNorm: expected examples \[n, size\], .*; one example x is x\[None\]"):
        norm(hia.ones(2))
    assert norm.eval()(one).shape == (1, 2)


def test_modules_show_their_parts():
    assert repr(nn.Linear(2, 3)) == "Linear(weight: f32[2, 3], bias: f32[3])"
    assert repr(nn.Linear(2, 3, bias=False, dtype=hia.f64)) == "Linear(weight: f64[2, 3])"
    assert repr(Net()) == """Net(
  scale: f32[1]
  layers.0: Linear(weight: f32[2, 3], bias: f32[3])
  layers.1: Dropout(0.5)
  norm: BatchNorm(weight: f32[3], bias: f32[3])
  parts.last: Sequential(
    layers.0: LayerNorm(weight: f32[3], bias: f32[3])
    layers.1: Dropout(0.25)
  )
)"""
    ring = nn.Module()
    ring.next = nn.Module()
    ring.next.back = ring
    assert repr(ring) == "Module(\n  next: Module(\n    back: Module(...)\n  )\n)"
    shared = nn.Linear(1, 1, bias=False)
    assert repr(nn.Sequential(shared, nn.Sequential(shared))).count("Linear(weight: f32[1, 1])") == 2
