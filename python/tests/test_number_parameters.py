"""Parameters that are numbers, as a learned temperature: eagerly, in graphs, in training and in files."""

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn

X = hia.tensor([[1.0, 2.0], [3.0, -1.0]])


class Scaled(nn.Module):
    def __init__(self, dtype=hia.f32):
        self.scale = nn.Parameter(hia.tensor(1.5, dtype))
        self.shift = nn.Parameter(hia.tensor(0.25, dtype))
        self.unused = nn.Parameter(hia.tensor(1.0, dtype))
        self.inner = nn.Linear(2, 2, dtype=dtype)

    def __call__(self, x):
        return self.inner(x * self.scale) * self.scale + self.shift


def loss(model, x):
    return hia.mean(model(x) ** 2) + model.scale * 0.1


def by_tape(model, function, *args):
    with hia.GradientTape() as tape:
        value = function(model, *args)
    return value, tape.gradient(value, model)


@pytest.mark.parametrize("dtype", [hia.f32, hia.f64])
def test_gradients_are_those_of_a_tape(dtype):
    model, x = Scaled(dtype), X.astype(dtype)
    expected, slopes = by_tape(model, loss, x)
    step = nn.value_and_grad(model, loss, strict=True)
    value, gradients = step(model, x)
    assert float(value) == pytest.approx(float(expected), rel=1e-6)
    for path in ("scale", "shift", "inner.weight", "inner.bias"):
        assert gradients[path].shape == model.parameters()[path].shape and gradients[path].dtype == dtype
        np.testing.assert_allclose(gradients[path].numpy(), slopes[path].numpy(), rtol=1e-5)
    assert gradients["unused"].shape == () and gradients["unused"].item() == 0


def test_calls_read_the_value_of_the_moment():
    model = Scaled()
    f = hia.function(lambda model, x: model(x), strict=True)
    for scale in (1.5, 2.0, -1.0):
        model.update({"scale": scale})
        np.testing.assert_allclose(f(model, X).numpy(), model(X).numpy(), rtol=1e-6)
    assert f(model, X).tolist() != hia.function(lambda x: x, strict=True)(X).tolist()


def walk(model, tree):
    """Recursive, with one of two numbers where a branch takes it."""
    if isinstance(tree, float):
        return model.leaf * tree
    left, right = tree
    return hia.tanh(walk(model, left) * model.node + walk(model, right))


class Walk(nn.Module):
    def __init__(self):
        self.leaf, self.node = (nn.Parameter(hia.tensor(number)) for number in (0.5, 0.75))


@pytest.mark.parametrize("tree", [0.5, (1.0, 2.0), ((1.0, 0.5), (0.25, (2.0, 1.0)))])
def test_in_recursion(tree):
    model = Walk()
    expected, slopes = by_tape(model, walk, tree)
    value, gradients = nn.value_and_grad(model, walk)(model, tree)
    assert float(value) == pytest.approx(float(expected), rel=1e-6)
    for path in ("leaf", "node"):
        slope = 0.0 if slopes[path] is None else float(slopes[path])
        assert float(gradients[path]) == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_a_graph_on_a_tape_and_gradients_of_gradients():
    model = Scaled()
    graph = hia.function(loss, strict=True)
    _, expected = by_tape(model, loss, X)
    _, found = by_tape(model, graph, X)
    assert float(found["scale"]) == pytest.approx(float(expected["scale"]), rel=1e-5)

    def second(function):
        with hia.GradientTape() as outer:
            with hia.GradientTape() as inner:
                value = function(model, X)
            slope = inner.gradient(value, model.scale)
        return float(outer.gradient(slope, model.scale))
    assert second(graph) == pytest.approx(second(loss), rel=1e-4)


@pytest.mark.parametrize("make", [hia.optim.SGD, hia.optim.Adam, hia.optim.Adagrad, hia.optim.RMSProp, hia.optim.AdamW])
def test_training_is_that_of_a_tensor_of_one_element(make):
    class Line(nn.Module):
        def __init__(self, start):
            self.slope = nn.Parameter(hia.tensor(start))

        def __call__(self, x):
            return hia.sum(self.slope) * x
    models = [Line(0.5), Line([0.5])]
    for model in models:
        optimizer = make(model, 0.05)
        step = nn.value_and_grad(model, lambda model, x: hia.mean((model(x) - 3 * x) ** 2), strict=True)
        losses = []
        for _ in range(40):
            value, gradients = step(model, hia.tensor([1.0, 2.0]))
            optimizer.update(gradients)
            losses.append(float(value))
        assert losses[-1] < losses[0]
    assert models[0].slope.shape == () and models[0].slope.item() == pytest.approx(models[1].slope[0].item(), rel=1e-6)


def test_files(tmp_path):
    model, other = Scaled(), Scaled()
    model.update({"scale": 7.5})
    optimizer = hia.optim.Adam(model)
    optimizer.update(nn.value_and_grad(model, loss, strict=True)(model, X)[1])
    model.save(tmp_path / "model.safetensors")
    optimizer.save(tmp_path / "optimizer.safetensors")
    other.load(tmp_path / "model.safetensors")
    hia.optim.Adam(other).load(tmp_path / "optimizer.safetensors")
    assert {path: one.tolist() for path, one in other.parameters().items()} == {path: one.tolist() for path, one in model.parameters().items()}
    assert other.scale.shape == ()


def test_programs(tmp_path):
    model = hia.program("param t: f32 = ones\nfn loss(x: f32) -> f32 = (t * x - 3 * x) * (t * x - 3 * x)\nfn predict(x: f32) -> f32 = t * x\n")
    optimizer = hia.optim.SGD(model, 0.2)
    for _ in range(60):
        value, gradients = model.value_and_grad([1.0, 0.5])
        assert gradients["t"].shape == ()
        optimizer.update(gradients)
    assert model.parameters["t"].item() == pytest.approx(3.0, abs=1e-4) and float(model(2.0)) == pytest.approx(6.0, abs=1e-3)
    model.save(tmp_path / "t.safetensors")
    model.update({"t": np.float32(1.0)})
    assert float(model(2.0)) == 2.0
    model.load(tmp_path / "t.safetensors")
    assert model.parameters["t"].item() == pytest.approx(3.0, abs=1e-4)


def test_of_numbers_and_lists():
    assert (nn.Parameter(2.0).shape, nn.Parameter(2.0).dtype, nn.Parameter([1.0, 2.0]).tolist()) == ((), hia.f32, [1.0, 2.0])
    assert nn.Parameter(np.ones(2)).dtype == hia.f64
    with pytest.raises(TypeError, match="a parameter: expected f32 or f64, found i64"):
        nn.Parameter(2)


def test_other_types_are_refused():
    with pytest.raises(hia.ProgramError, match="expected the type of a number or a tensor of f32 or f64 for a learned parameter, found i64"):
        hia.program("param t: i64\nfn main() -> i64 = t")
