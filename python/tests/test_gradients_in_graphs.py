"""hia.grad and hia.value_and_grad called inside of functions that are graphs."""

import dataclasses
import math

import numpy as np
import pytest

import hiaton as hia


def same(found, expected):
    if isinstance(expected, tuple):
        assert type(found) is tuple and len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other)
    elif isinstance(expected, hia.Tensor):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6)
    else:
        assert type(found) is type(expected) and found == pytest.approx(expected, rel=1e-12)


def assert_one_graph(function, *args):
    graph = hia.function(function, strict=True)
    same(graph(*args), function(*args))
    return graph


def height(x):
    return math.sin(x) * x


slope = hia.grad(height)
both = hia.value_and_grad(height)


def energy(q, p):
    return hia.sum(p * p) / 2.0 + hia.sum(q ** 4) / 4.0


by_both = hia.grad(energy, argnums=(0, 1))


def test_of_a_function_that_stands_outside():
    assert_one_graph(lambda x: x - 0.1 * slope(x), 2.0)
    assert_one_graph(lambda x: both(x), 2.0)
    assert_one_graph(lambda x: hia.grad(height)(x) + hia.value_and_grad(height)(x)[0], 2.0)


def test_in_a_loop_it_descends():
    def least(x, steps):
        for _ in range(steps):
            x = x - 0.2 * slope(x)
        return x

    graph = assert_one_graph(least, 4.0, 100)
    assert graph(4.0, 100) == pytest.approx(4.913180439434884)


def test_of_a_function_that_is_defined_inside():
    def newton(c, x):
        def f(y):
            return y * y - c
        for _ in range(20):
            value, gradient = hia.value_and_grad(f)(x)
            x = x - value / gradient
        return x

    graph = assert_one_graph(newton, 2.0, 1.0)
    assert graph(2.0, 1.0) == pytest.approx(math.sqrt(2.0))


def test_of_a_lambda():
    def step(x):
        return x - 0.1 * hia.grad(lambda y: hia.sum(hia.tanh(y) * y * x))(x)

    assert_one_graph(step, hia.tensor([1.0, 2.0]))


def test_by_several_arguments_and_by_tuples():
    def leapfrog(q, p, steps):
        for _ in range(steps):
            p = p - 0.05 * hia.grad(energy)(q, p)
            q = q + 0.1 * by_both(q, p)[1]
            p = p - 0.05 * hia.grad(energy, 0)(q, p)
        return q, p

    assert_one_graph(leapfrog, hia.tensor([1.0, 0.5]), hia.tensor([0.0, -1.0]), 30)
    def product(pair, k): return pair[0] * hia.sum(pair[1]) * k  # noqa: E704
    assert_one_graph(lambda x, y: hia.grad(product)((x, y), 3), 2.0, hia.tensor([1.0, 2.0]))
    assert_one_graph(lambda x, y: hia.grad(product, argnums=-1)((x, y), 3.0), 2.0, hia.tensor([1.0, 2.0]))


def test_with_other_results():
    def scored(x):
        return x * x, (x > 1.0, x + 1.0)

    assert_one_graph(lambda x: hia.grad(scored, has_aux=True)(x), 3.0)
    assert_one_graph(lambda x: hia.value_and_grad(scored, has_aux=True)(x), 3.0)


@dataclasses.dataclass
class Tree:
    weight: float
    left: "Tree | None" = None
    right: "Tree | None" = None


def value(t, x):
    return x if t is None else math.tanh(t.weight * value(t.left, x) + value(t.right, x * x))


def test_of_a_recursion_over_objects_and_batched():
    tree = Tree(0.5, Tree(1.5), Tree(-0.5, None, Tree(2.0)))
    assert_one_graph(lambda t, xs: [hia.grad(value, argnums=1)(t, x) for x in xs], tree, [0.1, 0.2, 0.7])


class Line:
    def __init__(self, a):
        self.a = a

    def at(self, x):
        return self.a * x * x


def test_of_a_method():
    line = Line(3.0)
    assert_one_graph(lambda x: hia.grad(line.at)(x), 2.0)


def test_gradients_of_gradients():
    def adapted(w, x, y):
        def error(v):
            return (v * x - y) ** 2
        return error(w - 0.1 * hia.grad(error)(w))

    graph = hia.grad(adapted)
    step = 1e-6
    expected = (adapted(1.5 + step, 2.0, 1.0) - adapted(1.5 - step, 2.0, 1.0)) / (2 * step)
    assert graph(1.5, 2.0, 1.0) == pytest.approx(expected, rel=1e-6)

    def second(x):
        return hia.grad(lambda y: slope(y))(x)

    assert_one_graph(second, 0.75)


def of_an_integer(x):
    return hia.grad(lambda n: n * x)(3)


def handed_on(x):
    return later(hia.grad(lambda y: y * x), x)


def later(gradient, x):
    return gradient(x)


def by_an_argument_of_the_run(x):
    return hia.grad(height, argnums=int(x))(x)


def of_no_number(x):
    return hia.grad(lambda y: hia.ones(3) * y)(x)


def by_a_tape(x):
    with hia.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)


@pytest.mark.parametrize("function,message", [
    (by_a_tape, r"'hia.GradientTape\(\)' cannot be converted; write hia.grad"),
    (of_an_integer, "expected floats, tensors of floats, or tuples of them as arguments by which"),
    (handed_on, "is called at once, as hia.grad"),
    (by_an_argument_of_the_run, "expected what is known before the run"),
    (of_no_number, "the gradient of "),
])
def test_what_is_refused_says_what_to_do(function, message):
    with pytest.raises(hia.ConversionError, match=message):
        hia.function(function, strict=True)(2.0)


def test_wrong_calls_raise_what_python_raises():
    def wrong(x):
        return hia.grad(height)(x, 1.0)

    with pytest.raises(TypeError), pytest.warns(hia.FallbackWarning):
        hia.function(wrong)(2.0)
