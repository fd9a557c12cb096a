"""A number that is taken out of a tensor is a constant to gradients: of graphs as of tapes."""

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn

X = hia.tensor([2.0, 3.0])


def by_a_tape(function, x):
    with hia.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x).tolist()


def helper(x):
    return hia.sum(x).item()


def by_a_call(x):
    return hia.sum(x) * helper(x * x)


@pytest.mark.parametrize("function", [
    lambda x: x[0] * x[1].item(),
    lambda x: x[0] * float(x[1]),
    lambda x: x[0] * (x[1].item() * 2.0) + x[1],
    lambda x: x[0] if x[0].item() > 1.0 else x[1],
    lambda x: x[0] * hia.stop_gradient(x[1]) + hia.stop_gradient(2.0) * x[1],
    lambda x: hia.sum(x * hia.stop_gradient(x)),
    by_a_call,
])
def test_gradients_are_the_same_everywhere(function):
    expected = by_a_tape(function, X)
    assert hia.grad(function)(X).tolist() == expected
    assert by_a_tape(hia.function(function, strict=True), X) == expected
    assert hia.function(lambda x: hia.grad(function)(x), strict=True)(X).tolist() == expected
    parameter = nn.Parameter(X)
    holder = nn.Module()
    holder.x = parameter
    step = nn.value_and_grad(holder, lambda holder: function(holder.x))
    assert np.asarray(step(holder)[1]["x"]).tolist() == expected
    assert hia.function(function, strict=True)(X).tolist() == function(X).tolist()


def test_numbers_of_tensors_of_other_types():
    def scaled(x, k, n, t):
        return hia.sum(x * x) * k.item() * float(n) + (1.0 if t.item() else 0.0)

    assert hia.grad(scaled)(X, hia.f64(2.0), hia.i64(3), hia.i64(1) > 0).tolist() == [24.0, 36.0]


def test_a_loss_that_is_such_a_number_is_refused():
    model = nn.Linear(2, 1)
    message = r"expected a tensor to take .*, found a float: .item\(\) and float\(\) take a number out of a tensor, and gradients end " \
              "there; give the tensor itself"
    for loss in (lambda x: float(hia.sum(x * x)), helper, lambda x: -helper(x), lambda x: helper(x) + 1.0):
        with pytest.raises(hia.ConversionError, match=message):
            hia.grad(loss)(X)
        with pytest.raises(hia.ConversionError, match=message):
            hia.grad(lambda x, k: loss(x) * k, argnums=(1, 0))(X, 2.0)
        with pytest.raises(hia.ConversionError, match=message):
            hia.function(lambda x: hia.grad(loss)(x), strict=True)(X)
        with pytest.raises(TypeError, match="found float"):
            by_a_tape(loss, X)
        with pytest.raises(hia.ConversionError, match=message):
            nn.value_and_grad(model, lambda model, x: loss(model(x)))(model, X)
        with pytest.raises(hia.ConversionError, match=message):
            nn.value_and_grad(model, lambda model, x: (loss(model(x)), x), has_aux=True)(model, X)
    for loss in (lambda k: (k * hia.ones(2))[0].item(), lambda k: helper(k * hia.ones(2))):
        with pytest.raises(hia.ConversionError, match=message):
            hia.grad(loss)(2.0)
        with pytest.raises(hia.ConversionError, match=message):
            hia.function(lambda k: hia.grad(loss)(k), strict=True)(2.0)


def test_floats_beside_tensors_have_gradients_as_before():
    assert hia.grad(lambda x, k: helper(x) * k * k, argnums=1)(X, 3.0) == 30.0
    assert hia.grad(lambda x, k: hia.sum(x) * k, argnums=1)(X, 3.0) == 5.0
    assert hia.grad(lambda x: (hia.sum(x * x), helper(x)), has_aux=True)(X)[1] == 5.0


def test_what_stops_gradients_keeps_the_value():
    for value in (X, hia.f64(2.5), 2.5, nn.Parameter(X)):
        stopped = hia.stop_gradient(value)
        assert not isinstance(stopped, nn.Parameter)
        assert stopped == value if isinstance(value, float) else stopped.tolist() == value.tolist()
