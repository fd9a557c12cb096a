"""What is no function of Python itself, but calls one: gradients, functools.partial and modules, where functions are expected."""

import functools
import inspect

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


def cube(x):
    return x * x * x


def scaled(a, x, *, by=1.0):
    return a * x * x * by


class Model:
    def __init__(self, factor):
        self.factor = factor

    def energy(self, x):
        return hia.sum(x ** 4) * self.factor

    def __call__(self, x):
        return self.energy(x)


X = hia.tensor([1.0, 2.0])


def test_gradients_of_gradients():
    assert hia.grad(hia.grad(cube))(2.0) == 12.0
    assert hia.grad(hia.grad(hia.grad(cube)))(2.0) == 6.0
    assert hia.value_and_grad(hia.grad(cube))(2.0) == (12.0, 12.0)
    assert hia.grad(hia.value_and_grad(cube), has_aux=True)(2.0) == (12.0, 12.0)
    assert hia.grad(hia.grad(scaled, argnums=1))(3.0, x=2.0) == 4.0
    assert hia.grad(hia.grad(cube))(hia.f32(2.0)).item() == 12.0
    energy = Model(0.5).energy
    assert hia.grad(lambda x: hia.sum(hia.grad(energy)(x)))(X).tolist() == [6.0, 24.0]
    with pytest.raises(hia.ConversionError, match=r"expected a number of f32 or f64 to take gradients of, found f32\[2\]"):
        hia.grad(hia.grad(energy))(X)


def test_a_gradient_is_a_function():
    assert hia.function(hia.grad(cube), strict=True)(2.0) == 12.0
    assert hia.function(hia.grad(Model(0.5).energy), strict=True)(X).tolist() == [2.0, 16.0]
    assert hia.vmap(hia.grad(hia.grad(cube)))([1.0, 2.0]) == [6.0, 12.0]
    assert hia.checkpoint(hia.grad(cube))(2.0) == 12.0
    assert list(inspect.signature(hia.grad(Model(0.5).energy)).parameters) == ["x"]
    assert hia.grad(cube).report().startswith("cube: 0 graphs")
    assert hia.function(lambda x: hia.grad(hia.grad(cube))(x), strict=True)(2.0) == 12.0


@pytest.mark.parametrize("function", [functools.partial(scaled, 3.0), functools.partial(scaled, 3.0, by=1.0), functools.partial(scaled, a=3.0),
                                      functools.partial(functools.partial(scaled, by=1.0), 3.0)])
def test_partial_functions(function):
    assert hia.grad(function, argnums=list(inspect.signature(function).parameters).index("x"))(x=2.0) == 12.0
    assert hia.function(function, strict=True)(x=2.0) == 12.0
    assert hia.function(lambda x: function(x=x), strict=True)(2.0) == 12.0


def test_partial_functions_and_modules_as_losses():
    model = nn.Linear(2, 1)
    loss = functools.partial(lambda m, x, power: hia.sum(m(x) ** power), power=2)
    expected = nn.value_and_grad(model, lambda m, x: hia.sum(m(x) ** 2))(model, X)
    value, gradients = nn.value_and_grad(model, loss)(model, X)
    assert value.item() == expected[0].item()
    assert np.array_equal(np.asarray(gradients["weight"]), np.asarray(expected[1]["weight"]))
    assert hia.grad(Model(0.5))(X).tolist() == [2.0, 16.0]
    assert hia.value_and_grad(functools.partial(Model.energy, Model(0.5)))(X)[1].tolist() == [2.0, 16.0]


def test_parameters_of_all_kinds():
    def of_all_kinds(a, b=2.0, /, c=3.0, *rest, d, e=5.0):
        return a * b * c * d * e + sum(rest)

    bound = functools.partial(of_all_kinds, 2.0, d=7.0)
    for arguments in ((), (3.0,), (3.0, 4.0), (3.0, 4.0, 5.0)):
        assert hia.function(bound, strict=True)(*arguments) == bound(*arguments)
    assert hia.function(bound, strict=True)(e=2.0) == bound(e=2.0)


def test_tapes_see_through_gradients():
    energy = Model(0.5).energy
    for gradient in (hia.grad(energy), lambda x: hia.value_and_grad(energy)(x)[1]):
        with hia.GradientTape() as tape:
            tape.watch(X)
            total = hia.sum(gradient(X))
        assert tape.gradient(total, X).tolist() == [6.0, 24.0]
