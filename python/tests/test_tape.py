"""GradientTape: what it gives is the gradient of graphs, and differences."""

import threading

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn, optim

GENERATOR = np.random.default_rng(3)


def differences(f, arrays, step=1e-6):
    """The gradients of the sum of what f gives, by differences in f64."""
    def total(values):
        return float(np.sum(f(*[hia.tensor(v) for v in values]).numpy()))
    found = []
    for number, array in enumerate(arrays):
        slopes = np.zeros_like(array)
        for place in np.ndindex(*array.shape):
            ends = []
            for way in (step, -step):
                moved = [a.copy() for a in arrays]
                moved[number][place] += way
                ends.append(total(moved))
            slopes[place] = (ends[0] - ends[1]) / (2 * step)
        found.append(slopes)
    return found


FUNCTIONS = [
    (lambda x: x * x + 3 * x, [(3,)]),
    (lambda x, y: x @ y, [(2, 3), (3, 4)]),
    (lambda x, y: x / y - y, [(2, 3), (3,)]),
    (lambda x: hia.tanh(x)[1:, 0], [(3, 2)]),
    (lambda x: x[::2] * x[0], [(4, 2)]),
    (lambda x: x[-1, 1], [(2, 3)]),
    (lambda x: x[:, None, 1] ** 2, [(2, 3)]),
    (lambda x: x[hia.tensor([1, 1, 0])], [(2, 3)]),
    (lambda x: x.T @ x, [(3, 2)]),
    (lambda x: hia.softmax(x, axis=-1) * hia.sin(x), [(2, 3)]),
    (lambda x: -x + abs(x) + hia.exp(x.permute_dims((1, 0))).T, [(2, 3)]),
    (lambda x, y: hia.concat([x, y], axis=0), [(2, 3), (1, 3)]),
    (lambda x: hia.sum(x, axis=0) % 1.5, [(2, 3)]),
    (lambda x: x.astype(hia.f64).astype("f64") / 7, [(2,)]),
]


@pytest.mark.parametrize("f,shapes", FUNCTIONS)
def test_gradients_are_differences(f, shapes):
    arrays = [GENERATOR.uniform(0.5, 2.0, shape) for shape in shapes]
    tensors = [hia.tensor(array) for array in arrays]
    with hia.GradientTape() as tape:
        tape.watch(tensors)
        y = f(*tensors)
    gradients = tape.gradient(y, tensors)
    assert np.array_equal(y.numpy(), f(*tensors).numpy())
    for found, expected in zip(gradients, differences(f, arrays)):
        assert np.allclose(found.numpy(), expected, atol=1e-6), (found, expected)


def derivative(f, x, times):
    """The gradient of the sum of what f gives, taken so many times in a row, each on a tape around the one before."""
    with hia.GradientTape() as tape:
        tape.watch(x)
        total = hia.sum(f(x) if times == 1 else derivative(f, x, times - 1))
    return tape.gradient(total, x)


def test_gradients_of_gradients():
    x = hia.tensor([1.5], hia.f64)
    found = [derivative(lambda x: x * x * x * x, x, times).numpy()[0] for times in (1, 2, 3)]
    assert found == pytest.approx([4 * 1.5**3, 12 * 1.5**2, 24 * 1.5])


def test_third_gradients_of_functions_that_are_not_polynomials():
    x = hia.tensor([0.3, 1.1], hia.f64)
    found = derivative(lambda x: hia.sin(x) * hia.exp(x), x, 3).numpy()
    at = x.numpy()
    assert np.allclose(found, 2 * np.exp(at) * (np.cos(at) - np.sin(at)), atol=1e-9)


def test_gradients_of_gradients_of_matrices():
    arrays = [GENERATOR.uniform(0.5, 2.0, shape) for shape in ((2, 3), (3, 2))]

    def slope(x, w):
        with hia.GradientTape() as tape:
            tape.watch(x)
            y = hia.tanh(x @ w)
        return tape.gradient(y, x)
    tensors = [hia.tensor(array) for array in arrays]
    with hia.GradientTape() as outer:
        outer.watch(tensors)
        found = slope(*tensors)
    gradients = outer.gradient(found, tensors)
    for one, expected in zip(gradients, differences(slope, arrays)):
        assert np.allclose(one.numpy(), expected, atol=1e-5)


def test_a_persistent_tape_may_be_asked_again():
    x = hia.tensor(3.0)
    with hia.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert tape.gradient(z, x).item() == 108.0 and tape.gradient(y, x).item() == 6.0
    assert tape.gradient([y, z], {"x": x, "y": y})["y"].item() == 19.0
    with hia.GradientTape() as once:
        once.watch(x)
        y = x * x
    once.gradient(y, x)
    with pytest.raises(RuntimeError, match="expected a tape that was not asked before"):
        once.gradient(y, x)


def test_what_is_not_watched_has_none():
    x, w = hia.tensor([1.0, 2.0]), hia.tensor([3.0, 4.0])
    with hia.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = hia.sum(x * w)
        with tape.stop_recording():
            z = x * 2
        with hia.no_grad():
            u = x * 2
        v = hia.round(x)
    assert tape.gradient(y, [x, w])[1] is None
    assert tape.gradient(z, x) is None and tape.gradient(u, x) is None
    assert tape.gradient(v, x).tolist() == [0.0, 0.0]
    with pytest.raises(TypeError, match="expected a tensor of floats to watch"):
        tape.watch(hia.tensor([1, 2]))
    with pytest.raises(TypeError, match="expected tensors of floats, found one of"):
        tape.gradient(y, hia.tensor([1, 2]))
    assert not hia._core.tapes_run()


def test_weights_of_the_target():
    x = hia.tensor([1.0, 2.0])
    with hia.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x, output_gradients=hia.tensor([1.0, 10.0])).tolist() == [2.0, 40.0]
    with pytest.raises(ValueError, match="expected the shape"):
        tape.gradient(y, x, output_gradients=hia.tensor([1.0]))


def test_a_module_learns():
    nn.seed(2)

    class Net(nn.Module):
        def __init__(self):
            self.first = nn.Linear(2, 8)
            self.last = nn.Linear(8, 1)
            self.unused = nn.Linear(2, 2)

        def __call__(self, x):
            return self.last(hia.tanh(self.first(x)))

    model = Net()
    x = hia.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = hia.tensor([[0.0], [1.0], [1.0], [0.0]])
    optimizer = optim.Adam(model, 0.05)

    def loss_of(model):
        return hia.mean((model(x) - y) ** 2)
    _, expected = nn.value_and_grad(model, loss_of)(model)
    for step in range(200):
        with hia.GradientTape() as tape:
            loss = loss_of(model)
        gradients = tape.gradient(loss, model)
        if step == 0:
            assert gradients["unused.weight"] is None
            for path in ("first.weight", "first.bias", "last.weight", "last.bias"):
                assert np.allclose(gradients[path].numpy(), expected[path].numpy(), atol=1e-6)
        optimizer.update(model, gradients)
    assert loss.item() < 0.01 and optimizer.steps == 200
    with pytest.raises(KeyError, match="there is no parameter 'x'"):
        optimizer.update(model, {"x": x})
    with pytest.raises(TypeError, match="the gradient of 'last.bias': expected f32"):
        optimizer.update(model, {"last.bias": x})


def test_parameters_only_where_they_are_asked_for():
    parameter = nn.Parameter(hia.ones(2))
    with hia.GradientTape(watch_accessed_variables=False) as tape:
        y = parameter * 3
    assert tape.gradient(y, parameter) is None


def test_a_function_inside_a_tape_is_seen():
    @hia.function
    def power(x, n):
        return hia.ones(()) if n == 0 else x * power(x, n - 1)

    x = hia.tensor(2.0)
    assert power(x, 3).item() == 8.0
    with hia.GradientTape() as tape:
        tape.watch(x)
        y = power(x, 3)
    assert tape.gradient(y, x).item() == 12.0


def test_each_thread_has_its_own():
    x, seen = hia.tensor(2.0), []

    def work():
        seen.append(hia._core.tapes_run())
        with hia.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        seen.append(tape.gradient(y, x).item())
    with hia.GradientTape():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [False, 4.0]
