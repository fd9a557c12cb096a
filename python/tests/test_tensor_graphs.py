"""Tensors in graphs: operators and parts are those of eager tensors, also their gradients."""

import linecache
import re

import numpy as np
import pytest

import hiaton as hia


def same(ours, theirs):
    return ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.numpy().tobytes() == theirs.numpy().tobytes()


def both(function, *args):
    """The result of the graph, after a look that it is that of plain Python to the bit."""
    made = hia.function(function, strict=True)(*args)
    assert same(made, function(*args)), (made, function(*args))
    return made


INTEGERS = ["a // b", "a % b", "a // -3", "7 % b", "a & b", "a | b", "a ^ b", "~a", "a & 5", "a << 2", "a >> 1", "1 << (b & 3)"]


def function_of(parameters, expression):
    """A function whose text can be read, as that of one in a file."""
    text = f"def made({parameters}):\n    return {expression}\n"
    name = f"<{parameters}: {expression}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"hia": hia}
    exec(compile(text, name, "exec"), names)
    return names["made"]


@pytest.mark.parametrize("expression", INTEGERS)
@pytest.mark.parametrize("dtype", ["i32", "i64"])
def test_operators_of_integers(expression, dtype):
    a, b = hia.tensor([[7, -7, 6], [-6, 1, 0]], dtype), hia.tensor([2, 3, -4], dtype)
    assert both(function_of("a, b", expression), a, b).dtype == a.dtype


def test_operators_of_floats_and_truth_values():
    a, b = hia.tensor([7.5, -7.5, 6.0]), hia.tensor([2.0, -2.0, -4.0])
    both(lambda a, b: a // b, a, b)
    both(lambda a, b: a % b, a, b)
    both(lambda a: a // 2, a)
    both(lambda a: 2.5 % a, a)
    both(lambda a, b: ~((a > 0) & (b > 0)) | ((a > 1) ^ True), a, b)


@pytest.mark.parametrize("flag", [True, False])
def test_a_truth_value_beside_a_tensor(flag):
    both(lambda a, flag: (a > 0) & flag, hia.tensor([1.0, -1.0]), flag)


def test_a_number_that_the_run_tells_beside_a_tensor():
    both(lambda a, n: a // n + a % n + (a & n), hia.tensor([7, -7, 100]), 3)


PARTS = ["[:, 0]", "[:, -1]", "[..., 1]", "[0, ..., 1]", "[..., None]", "[None]", "[:, None, 1:]", "[1:3, :]", "[-2:]", "[:, :2, -1]",
         "[::-1]", "[:, ::2]", "[:, 2:0:-1, :]", "[...]", "[1]", "[-1, 0, 1]", "[1:2, 0]", "[:]", "[::3, ::-2]", "[(0, 1)]",
         "[:, 2:2]", "[3:9, 1:]"]


@pytest.mark.parametrize("part", PARTS)
def test_parts(part):
    x = hia.asarray(np.arange(24.0).reshape(4, 3, 2))
    function = function_of("x", f"x{part}")
    assert np.array_equal(both(function, x).numpy(), function(np.arange(24.0).reshape(4, 3, 2)))


@pytest.mark.parametrize("part", [part for part in PARTS if part != "[:, 2:2]"])
def test_gradients_of_parts(part):
    loss = function_of("x", f"hia.sum(x{part} * x{part}[None] * x{part})")
    x = hia.asarray(np.random.default_rng(1).normal(size=(4, 3, 2)))
    with hia.GradientTape() as tape:
        tape.watch(x)
        eager = loss(x)
    np.testing.assert_allclose(hia.grad(loss)(x).numpy(), tape.gradient(eager, x).numpy(), rtol=1e-12)


def test_rows_that_the_run_tells():
    x = hia.asarray(np.arange(24.0).reshape(4, 3, 2))
    at = hia.function(lambda x, i: x[:, i], strict=True)
    for i in range(3):
        assert same(at(x, i), x[:, i])
    both(lambda x, rows: x[rows], x, hia.tensor([2, 0, 2]))
    both(lambda x, row: x[row, 1:], x, hia.tensor(3))


def test_bounds_from_variables_that_are_known():
    def halves(x):
        n = x.shape[1] // 2
        return x[:, :n] + x[:, n:]

    both(halves, hia.asarray(np.arange(12.0).reshape(3, 4)))


@pytest.mark.parametrize("part", ["[4]", "[0, 0, 0]", "[..., ...]", "[True]", "[:, 3]", "[::0]"])
def test_wrong_keys_raise_what_eager_raises(part):
    x, function = hia.ones((4, 3)), function_of("x", f"x{part}")
    with pytest.raises((IndexError, ValueError)) as eager:
        function(x)
    with pytest.warns(hia.FallbackWarning, match="no path through 'made' gives a result"):
        with pytest.raises(eager.type, match="^" + re.escape(str(eager.value)) + "$"):
            hia.function(function)(x)
