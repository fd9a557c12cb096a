"""Wrong arguments: what was expected, what was found, and what to do."""

import math

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn, optim


def scaled(a, x):
    return a * x


@pytest.mark.parametrize("argnums", ["k", 1.0, None, (0, "k")])
def test_argnums_are_numbers(argnums):
    for maker in (hia.grad, hia.value_and_grad):
        with pytest.raises(TypeError, match="argnums: expected the number of an argument, from 0 on, or a tuple of such numbers, found "):
            maker(scaled, argnums=argnums)
    with pytest.raises(hia.ConversionError, match="argnums: expected the number of an argument"):
        hia.function(lambda x: hia.grad(scaled, argnums)(x, x), strict=True)(2.0)
    with pytest.raises(hia.ConversionError, match="argnums: expected the number of an argument"):
        hia.function(lambda x: hia.grad(lambda a, b: a * b * x, argnums)(x, x), strict=True)(2.0)


@pytest.mark.parametrize("argnums", [2, -3, (0, 2)])
def test_argnums_are_those_of_arguments(argnums):
    with pytest.raises(ValueError, match="argnums: expected numbers of the arguments of 'scaled', of which there are 2, from 0 on, found -?[23]"):
        hia.grad(scaled, argnums=argnums)
    assert hia.grad(scaled, argnums=np.int64(1))(3.0, 2.0) == 3.0


def test_learning_rates_are_not_negative():
    model = nn.Linear(2, 1)
    for rate in (-1.0, math.inf, math.nan, np.float32(-1.0)):
        with pytest.raises(ValueError, match=f"learning_rate: expected a number that is not negative and not infinite, found {float(rate)}"):
            optim.SGD(model, rate)
        with pytest.raises(ValueError, match="learning_rate: expected"):
            optim.Adam(model).learning_rate = rate
        with pytest.raises(ValueError, match="learning_rate: expected"):
            optim.Adam(model, lambda step: rate)
    optimizer = optim.Adam(model, lambda step: 0.1 - step)
    optimizer.update({"bias": hia.ones(1)})
    with pytest.raises(ValueError, match="learning_rate: expected .*, found -0.9"):
        optimizer.update({"bias": hia.ones(1)})
    optimizer.learning_rate = 0.0
    assert optimizer.learning_rate == 0.0


def test_seeds_of_keys():
    for seed in (1.5, "a", None, hia.f32(3.0)):
        with pytest.raises(TypeError, match=r"key\(\): expected an integer as seed, found "):
            hia.random.key(seed)
    with pytest.raises(OverflowError, match=r"key\(\): expected a seed of 64 bits, at most 9223372036854775807, found 9223372036854775808"):
        hia.random.key(2**63)
    made = hia.function(lambda n: hia.random.key(n), strict=True)(7)
    assert made.item() == hia.random.key(7).item() == hia.random.key(np.int64(7)).item()


def test_element_types_say_what_they_found():
    for dtype, data, found in ((hia.u8, [1, 2], "list"), (hia.f64, [1.0], "list"), (hia.f32, None, "NoneType"), (hia.i64, "7", "str")):
        name = str(dtype).replace("hiaton", "hia")
        with pytest.raises(TypeError, match=rf"{name}: expected a tensor, an array or a number, found {found}; hia.tensor\(data, {name}\) makes"):
            dtype(data)
    with pytest.raises(TypeError, match="hia.f32: expected one tensor, array or number, found 2 arguments"):
        hia.f32(1.0, 2.0)
    assert hia.f32(np.ones(2)).dtype == hia.f32 and hia.i64(hia.f32(2.5)).item() == 2
