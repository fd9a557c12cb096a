"""Shapes and orders of axes that a call gives as integers one by one, as users of PyTorch and NumPy write them."""

import numpy as np
import pytest

import hiaton as hia

X = hia.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
PAIRS = {
    "reshape": (lambda x: x.reshape(3, 2), lambda x: x.reshape((3, 2))),
    "reshape of a list of sizes": (lambda x: x.reshape(*x.shape, 1), lambda x: x.reshape((2, 3, 1))),
    "a size that is left": (lambda x: x.reshape(x.shape[0], -1, 1), lambda x: x.reshape((2, 3, 1))),
    "function": (lambda x: hia.reshape(x, 1, 6), lambda x: hia.reshape(x, (1, 6))),
    "view": (lambda x: x.view(-1, 2), lambda x: x.reshape((-1, 2))),
    "view of a tuple": (lambda x: x.view((6,)), lambda x: x.reshape((6,))),
    "broadcast_to": (lambda x: x.broadcast_to(4, 2, 3), lambda x: x.broadcast_to((4, 2, 3))),
    "permute_dims": (lambda x: x.permute_dims(1, 0), lambda x: x.T),
    "permute": (lambda x: x.permute(1, 0), lambda x: x.T),
    "permute of a tuple": (lambda x: x[None].permute((2, 0, 1)), lambda x: x[None].permute_dims((2, 0, 1))),
    "zeros": (lambda x: x + hia.zeros(2, 3), lambda x: x + hia.zeros((2, 3))),
    "ones": (lambda x: x + hia.ones(2, 1, dtype=hia.f32), lambda x: x + hia.ones((2, 1))),
    "an element type at the end": (lambda x: hia.ones(2, 3, hia.f64), lambda x: hia.ones((2, 3), hia.f64)),
    "one size and an element type": (lambda x: hia.zeros(2, hia.i64), lambda x: hia.zeros((2,), hia.i64)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_are_those_of_a_tuple(name):
    one_by_one, by_tuple = PAIRS[name]
    expected = by_tuple(X)
    for found in (one_by_one(X), hia.function(one_by_one, strict=True)(X)):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        assert found.tolist() == expected.tolist()


def test_gradients():
    expected = hia.grad(lambda x: hia.sum(x.reshape((3, 2)) @ hia.ones((2, 1)) ** 2))(X)
    assert hia.grad(lambda x: hia.sum(x.reshape(3, 2) @ hia.ones(2, 1) ** 2))(X).tolist() == expected.tolist()


def test_sizes_of_the_run():
    f = hia.function(lambda x, n: (x.reshape(n, 3), hia.zeros(n, 2), hia.ones(3, n)), strict=True)
    for n in (1, 2, 4):
        reshaped, zeros, ones = f(hia.ones(3 * n), n)
        assert (reshaped.shape, zeros.shape, ones.shape) == ((n, 3), (n, 2), (3, n))


REFUSED = {
    "a truth value": lambda x: x.reshape(3, True),
    "a tuple and an integer": lambda x: x.reshape((3, 2), 1),
    "a float": lambda x: x.reshape(3, 2.0),
    "axes of a sum": lambda x: x.sum(0, 1),  # elsewhere the second one says whether axes are kept
    "transpose": lambda x: x.transpose(1, 0),  # means different things elsewhere
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_else_is_refused(name):
    with pytest.raises((TypeError, AttributeError)):
        REFUSED[name](X)
    with pytest.raises(hia.ConversionError):
        hia.function(REFUSED[name], strict=True)(X)


def test_arguments_behind_an_element_type():
    for wrong in (lambda: hia.zeros(2, hia.f32, 3), lambda: hia.ones((2, 3), 4)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(hia.ConversionError, match="at most one element type"):
        hia.function(lambda x: x + hia.zeros(2, hia.f32, 3), strict=True)(X)
