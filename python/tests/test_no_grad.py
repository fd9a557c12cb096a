"""hia.no_grad() in functions that become graphs: gradients are those of a tape."""

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


class Model(nn.Module):
    def __init__(self):
        self.w = nn.Parameter(hia.tensor([1.0, 2.0]))
        self.seen = hia.zeros(2)

    def product(self, x):
        return hia.sum(self.w * x)

    def in_a_block(self, x, n):
        y = self.product(x)
        with hia.no_grad():
            z = self.product(x) * 3.0
            before = y                      # it is y: its gradient passes
            for _ in range(n):
                z = z + self.w[0] * y
        return y * z + before

    def left_by_return(self, x, n):
        with hia.no_grad():
            if n > 1:
                return self.product(x)
            y = hia.sum(x)
        return y * self.product(x)

    def on_a_side(self, x, n):
        y = self.product(x)
        if n > 1:
            with hia.no_grad():
                y = y * self.w[1]
        return y + self.product(x)

    def of_tuples(self, x, n):
        with hia.no_grad():
            pair = self.w * x, (n, self.product(x))
        return hia.sum(pair[0] * self.w) + pair[1][1] * float(pair[1][0])

    def that_sets(self, x, n):
        y = self.w * x
        with hia.no_grad():
            self.seen = self.seen * 0.5 + y * 0.5
        return hia.sum(y)

    def within_another(self, x, n):
        with hia.no_grad():
            y = self.product(x)
            with hia.no_grad():
                z = y * self.w[0]
            z = z * self.product(x)
        return z * self.product(x)


METHODS = [Model.in_a_block, Model.left_by_return, Model.on_a_side, Model.of_tuples, Model.that_sets, Model.within_another]


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_gradients_are_those_of_a_tape(method, n):
    model, other, x = Model(), Model(), hia.tensor([1.0, -0.5])
    step = nn.value_and_grad(model, method)
    loss, gradients = step(model, x, n)
    assert len(step._graphs) == 1
    with hia.GradientTape() as tape:
        expected = method(other, x, n)
    gradient = tape.gradient(expected, other)["w"]
    assert np.asarray(loss) == np.asarray(expected)
    assert np.allclose(np.asarray(gradients["w"]), [0, 0] if gradient is None else gradient)
    assert model.seen.tolist() == other.seen.tolist()


def test_results_are_the_same_and_floats_pass_no_gradient():
    @hia.function(strict=True)
    def both(x, values):
        with hia.no_grad():
            y, count = x * 2.0, len([value for value in values if value > 1])
        return y, count

    assert both(3.0, [1, 2, 3]) == (6.0, 2)
    assert hia.grad(lambda x: both.__wrapped__(x, [1])[0] * x)(3.0) == 6.0


def test_what_may_hold_numbers_is_refused():
    def made(x):
        with hia.no_grad():
            values = [x * 2.0]
        return values

    def left(x):
        with hia.no_grad():
            for i in range(int(x)):
                if i > 3:
                    return x
        return x

    with pytest.raises(hia.ConversionError, match=r"made inside of 'hia.no_grad\(\)' cannot be converted; compute the numbers inside"):
        hia.function(made, strict=True)(1.0)
    assert hia.function(left)(7.0) == 7.0 and hia.function(left)(2.0) == 2.0


def test_gradient_functions_take_arrays():
    model = Model()
    step = nn.value_and_grad(model, lambda model, x, scale: model.product(x) * scale)
    x = np.arange(4, dtype=np.float32)
    assert step(model, x[:2], 2.0)[1]["w"].tolist() == [0.0, 2.0]
    assert step(model, x[::2], scale=0.5)[1]["w"].tolist() == [0.0, 1.0]
    assert hia.grad(lambda x: hia.sum(x * x))(x[1:3]).tolist() == [2.0, 4.0]
    assert hia.value_and_grad(lambda x, y: hia.sum(x * y), argnums=1)(x[:2], x[2:])[1].tolist() == [0.0, 1.0]
