"""Optimizers against the formulas of the literature, schedules, and state that goes through files."""

import math

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn, optim


def rmsprop(w, gradients, rate, rho, momentum, epsilon):
    square, velocity = np.zeros_like(w), np.zeros_like(w)
    for g in gradients:
        square = rho * square + (1 - rho) * g * g
        velocity = momentum * velocity + g / (np.sqrt(square) + epsilon)
        w = w - rate * velocity
    return w


def adamw(w, gradients, rate, beta1, beta2, epsilon, weight_decay):
    mean, square = np.zeros_like(w), np.zeros_like(w)
    for t, g in enumerate(gradients, 1):
        w = w * (1 - rate * weight_decay)
        mean, square = beta1 * mean + (1 - beta1) * g, beta2 * square + (1 - beta2) * g * g
        w = w - rate * (mean / (1 - beta1**t)) / (np.sqrt(square / (1 - beta2**t)) + epsilon)
    return w


class Line(nn.Module):
    def __init__(self, dtype=hia.f32):
        self.inner = nn.Linear(3, 4, dtype=dtype)
        self.outer = nn.Linear(4, 1, dtype=dtype)

    def __call__(self, x):
        return self.outer(hia.tanh(self.inner(x)))


def squares(model, x, y):
    return hia.mean((model(x) - y) ** 2)


def data(dtype=np.float32):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(20, 3)).astype(dtype)
    return hia.asarray(x), hia.asarray(np.tanh(x.sum(axis=1, keepdims=True)).astype(dtype))


OPTIMIZERS = {
    "sgd": lambda m, rate=0.1: optim.SGD(m, rate),
    "momentum": lambda m, rate=0.1: optim.SGD(m, rate, momentum=0.9),
    "adagrad": lambda m, rate=0.1: optim.Adagrad(m, rate),
    "rmsprop": lambda m, rate=0.01: optim.RMSProp(m, rate),
    "rmsprop with momentum": lambda m, rate=0.01: optim.RMSProp(m, rate, momentum=0.5),
    "adam": lambda m, rate=0.02: optim.Adam(m, rate),
    "adamw": lambda m, rate=0.02: optim.AdamW(m, rate, weight_decay=0.1),
}


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize("make, formula", [
    (lambda p: optim.RMSProp(p, 0.05), lambda w, g: rmsprop(w, g, 0.05, 0.9, 0, 1e-8)),
    (lambda p: optim.RMSProp(p, 0.05, rho=0.99, momentum=0.9, epsilon=1e-5), lambda w, g: rmsprop(w, g, 0.05, 0.99, 0.9, 1e-5)),
    (lambda p: optim.AdamW(p, 0.05), lambda w, g: adamw(w, g, 0.05, 0.9, 0.999, 1e-8, 0.01)),
    (lambda p: optim.AdamW(p, 0.05, 0.8, 0.95, 1e-6, 0.3), lambda w, g: adamw(w, g, 0.05, 0.8, 0.95, 1e-6, 0.3)),
], ids=["rmsprop", "rmsprop with settings", "adamw", "adamw with settings"])
def test_steps_follow_the_formula(make, formula, dtype, tolerance):
    rng = np.random.default_rng(2)
    first, gradients = rng.normal(size=(3, 4)), [rng.normal(size=(3, 4)) for _ in range(10)]
    parameter = nn.Parameter(hia.asarray(first.astype(dtype)))
    optimizer = make({"w": parameter})
    for gradient in gradients:
        optimizer.update({"w": hia.asarray(gradient.astype(dtype))})
    assert parameter.numpy().dtype == dtype
    np.testing.assert_allclose(parameter.numpy(), formula(first, gradients), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_training_goes_on_from_files_to_the_same_bits(name, dtype, tmp_path):
    x, y = data(np.float32 if dtype == "f32" else np.float64)

    def begin(seed):
        nn.seed(seed)
        model = Line(dtype)
        return model, OPTIMIZERS[name](model), nn.value_and_grad(model, squares)

    def train(model, optimizer, step, count):
        for _ in range(count):
            loss, gradients = step(model, x, y)
            optimizer.update(gradients)
        return loss

    whole = begin(1)
    first_loss = whole[2](whole[0], x, y)[0].item()
    train(*whole, 5)
    whole[0].save(tmp_path / "model.safetensors")
    whole[1].save(tmp_path / "state.safetensors")
    last_loss = train(*whole, 20).item()
    other = begin(2)
    other[0].load(tmp_path / "model.safetensors")
    other[1].load(tmp_path / "state.safetensors")
    assert other[1].steps == 5
    assert train(*other, 20).item() == last_loss < first_loss
    for path, parameter in whole[0].parameters().items():
        assert repr(parameter.dtype) == f"hiaton.{dtype}"
        assert parameter.numpy().tobytes() == other[0].parameters()[path].numpy().tobytes(), path


def test_state_of_a_program(tmp_path):
    source = "param w: f32[2]\nfn loss(x: f32[2]) -> f32 = sum((w - x) * (w - x))"
    examples = [hia.tensor([1.0, -2.0])]

    def train(model, optimizer, count):
        for _ in range(count):
            optimizer.update(model.value_and_grad(examples)[1])
        return model.parameters["w"].tolist()

    model = hia.program(source)
    optimizer = optim.Adam(model, optim.linear(0.1, 20))
    train(model, optimizer, 5)
    model.save(tmp_path / "model.safetensors")
    optimizer.save(tmp_path / "state.safetensors")
    expected = train(model, optimizer, 5)
    other = hia.program(source)
    other.load(tmp_path / "model.safetensors")
    resumed = optim.Adam(other, optim.linear(0.1, 20))
    resumed.load(tmp_path / "state.safetensors")
    assert resumed.learning_rate == 0.1 * (1 - 5 / 20)
    assert train(other, resumed, 5) == expected


def test_files_of_other_optimizers_are_refused(tmp_path):
    model = Line()
    optim.Adam(model).save(tmp_path / "adam")
    model.save(tmp_path / "model")
    with pytest.raises(hia.ProgramError, match="expected the state of the optimizer sgd, found that of adam"):
        optim.SGD(model).load(tmp_path / "adam")
    with pytest.raises(hia.ProgramError, match="expected the state of an optimizer, found other tensors"):
        optim.Adam(model).load(tmp_path / "model")
    with pytest.raises(hia.ProgramError, match=r"found no 'optimizer.mean.weight' of type f32\[3, 4\]"):
        optim.Adam(nn.Linear(3, 4)).load(tmp_path / "adam")


def test_schedules_are_functions_of_a_step():
    assert [optim.linear(1.0, 4)(n) for n in range(6)] == [1, 0.75, 0.5, 0.25, 0, 0]
    assert [optim.cosine(2.0, 4)(n) for n in range(5)] == pytest.approx([1 + math.cos(math.pi * n / 4) for n in range(5)])
    assert [optim.step(1.0, 0.5, 2)(n) for n in range(5)] == [1, 1, 0.5, 0.5, 0.25]
    assert [optim.exponential(1.0, 0.25, 2)(n) for n in range(4)] == pytest.approx([1, 0.5, 0.25, 0.125])
    assert repr(optim.cosine(0.1, 100)) == "cosine(0.1, steps=100)" and repr(optim.step(1, 0.5, 2)) == "step(1, decay=0.5, every=2)"
    with pytest.raises(ValueError, match="1 step or more"):
        optim.linear(0.1, 0)
    with pytest.raises(ValueError, match="at most 1"):
        optim.exponential(0.1, 2, 10)


def test_schedules_warm_up():
    assert [optim.constant(1.0, warmup=4)(n) for n in range(6)] == [0.25, 0.5, 0.75, 1, 1, 1]
    assert [optim.linear(1.0, 6, warmup=2)(n) for n in range(8)] == [0.5, 1, 1, 0.75, 0.5, 0.25, 0, 0]
    assert [optim.cosine(2.0, 6, warmup=2)(n) for n in range(2, 7)] == pytest.approx([1 + math.cos(math.pi * n / 4) for n in range(5)])
    assert [optim.step(1.0, 0.5, 3, warmup=2)(n) for n in range(4)] == [0.5, 1, 1, 0.5]
    assert [optim.exponential(1.0, 0.25, 2, warmup=2)(n) for n in range(3)] == pytest.approx([0.5, 0.5, 0.25])
    assert repr(optim.linear(0.1, 100, warmup=5)) == "linear(0.1, steps=100, warmup=5)" and repr(optim.constant(1)) == "constant(1)"
    with pytest.raises(ValueError, match="expected as warmup 0 steps or more, found -1"):
        optim.constant(0.1, warmup=-1)


@pytest.mark.parametrize("schedule", [optim.linear(0.5, 4), lambda n: 0.5 / (n + 1)], ids=["linear", "own"])
def test_an_optimizer_follows_a_schedule(schedule):
    parameter = nn.Parameter(hia.zeros(1))
    optimizer = optim.SGD({"w": parameter}, schedule)
    expected = 0.0
    for step in range(4):
        assert optimizer.learning_rate == schedule(step)
        optimizer.update({"w": hia.ones(1)})
        expected -= schedule(step)
        assert parameter.numpy()[0] == pytest.approx(expected, rel=1e-6)
    optimizer.learning_rate = 2.0
    optimizer.update({"w": hia.ones(1)})
    assert parameter.numpy()[0] == pytest.approx(expected - 2, rel=1e-6)


def test_parameters_of_f64_learn_and_keep_their_type(tmp_path):
    x, y = data(np.float64)
    nn.seed(1)
    model = Line("f64")
    step, optimizer = nn.value_and_grad(model, squares), optim.Adam(model, 0.02)
    first = step(model, x, y)[0]
    for _ in range(200):
        loss, gradients = step(model, x, y)
        optimizer.update(gradients)
    assert loss.dtype == hia.f64 and gradients["inner.weight"].dtype == hia.f64 and loss.item() < 0.1 * first.item()
    with hia.GradientTape() as tape:
        eager = squares(model, x, y)
    taped = tape.gradient(eager, model)
    for path, gradient in nn.value_and_grad(model, squares)(model, x, y)[1].items():
        np.testing.assert_allclose(taped[path].numpy(), gradient.numpy(), rtol=1e-12, atol=1e-15)
    model.save(tmp_path / "m")
    other = Line("f64")
    other.load(tmp_path / "m")
    assert squares(other, x, y).item() == squares(model, x, y).item()
    with pytest.raises(hia.ProgramError, match="expected .*f32"):
        Line().load(tmp_path / "m")
    with pytest.raises(TypeError, match="a parameter: expected f64, found f32"):
        model.inner.bias.assign(hia.zeros(4))
    with pytest.raises(TypeError, match="expected f32 or f64, found i64"):
        nn.Parameter(hia.tensor([1]))


@pytest.mark.parametrize("make", [lambda t: nn.Embedding(3, 2, dtype=t), lambda t: nn.LSTMCell(2, 3, dtype=t),
                                  lambda t: nn.LayerNorm(3, dtype=t), lambda t: nn.BatchNorm(3, dtype=t),
                                  lambda t: nn.InstanceNorm(3, dtype=t), lambda t: nn.Conv1d(1, 2, 3, dtype=t),
                                  lambda t: nn.Conv2d(1, 2, 3, dtype=t), lambda t: nn.ConvTranspose2d(1, 2, 3, dtype=t)],
                         ids=["Embedding", "LSTMCell", "LayerNorm", "BatchNorm", "InstanceNorm", "Conv1d", "Conv2d", "ConvTranspose2d"])
def test_every_layer_has_parameters_of_both_types(make):
    nn.seed(7)
    double = make(hia.f64).parameters()
    nn.seed(7)
    single = make(hia.f32).parameters()
    for path, parameter in double.items():
        assert parameter.dtype == hia.f64 and single[path].dtype == hia.f32
        assert np.array_equal(parameter.numpy().astype(np.float32), single[path].numpy())


def test_several_workers_share_a_gradient():
    nn.seed(5)
    model = Line()
    pairs = [(x, y) for x, y in zip(*data())]

    def mean(model, pairs):
        return sum(squares(model, x, y) for x, y in pairs) / len(pairs)

    alone = nn.value_and_grad(model, mean)(model, pairs)
    shared = nn.value_and_grad(model, mean, workers=2)(model, pairs)
    assert shared[0].item() == pytest.approx(alone[0].item(), rel=1e-6)
    for path in model.parameters():
        np.testing.assert_allclose(shared[1][path].numpy(), alone[1][path].numpy(), rtol=1e-5, atol=1e-7)
    with pytest.raises((TypeError, hia.Error)):
        nn.value_and_grad(model, mean, workers=0)(model, pairs)
