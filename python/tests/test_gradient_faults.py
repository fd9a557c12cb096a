"""Gradients where the run of the graph fails: the answer is that of Python, and what is printed and set is what Python prints and
sets."""

import pytest

import hiaton as hia
from hiaton import nn, optim


class Counted(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 1)
        self.calls = 0
        self.power = 0

    def loss(self, x, n):
        self.calls += 1
        print("call", self.calls)
        y = self.linear(x)
        if n < 0:
            raise ValueError(f"expected a count, found {n}")
        self.power = 2**62 * n  # beyond 64 bits from 2 on
        print("power", self.power)
        return hia.sum(y * y) + (1.0 if self.power > 0 else 0.0)

    def number(self, x, n):
        return self.loss(x, n).item()


X = hia.tensor([1.0, -2.0])


def test_where_python_gives_a_result_a_tape_gives_the_gradients(capsys):
    model = Counted()
    step = nn.value_and_grad(model, Counted.loss)
    expected, gradients = step(model, X, 1)
    capsys.readouterr()
    loss, others = step(model, X, 4)
    assert capsys.readouterr().out == f"call 2\npower {2**64}\n"
    assert (model.calls, model.power) == (2, 2**64)
    assert loss.item() == expected.item()
    for path in model.parameters():
        assert others[path].tolist() == gradients[path].tolist()
    before = model.linear.weight.tolist()
    optim.SGD(model, 0.1).update(model, others)
    assert model.linear.weight.tolist() != before


def test_where_python_raises_an_error_it_is_that(capsys):
    model = Counted()
    step = nn.value_and_grad(model, Counted.loss)
    for call in range(3):
        with pytest.raises(ValueError, match="expected a count, found -1"):
            step(model, X, -1)
        assert capsys.readouterr().out == f"call {call + 1}\n"
        assert (model.calls, model.power) == (call + 1, 0)


def test_where_no_gradient_can_be_given_nothing_changes(capsys):
    model = Counted()
    step = nn.value_and_grad(model, lambda model, x, n: float(model.power) + model.number(x, n))
    step(model, X, 1)
    before = model.calls, model.power
    capsys.readouterr()
    with pytest.raises(hia.RunError, match="overflow"):
        step(model, X, 4)
    assert (model.calls, model.power) == before and capsys.readouterr().out == ""


def test_gradients_by_arguments():
    def loss(x, n):
        large = 2**62 * n
        return hia.sum(x * x) * (2.0 if large > 0 else 1.0), large

    gradient = hia.value_and_grad(loss, has_aux=True)
    for n in (1, 4, 1):
        (value, large), found = gradient(X, n)
        assert (value.item(), large, found.tolist()) == (10.0, 2**62 * n, [4.0, -8.0])
    both = hia.grad(lambda x, y, n: hia.sum(x["a"] * y[0]) + (1.0 if 2**62 * n > 0 else 0.0), argnums=(0, 1))
    for n in (1, 4):
        by_x, by_y = both({"a": X, "b": X + 1}, (X * 3,), n)
        assert (by_x["a"].tolist(), by_x["b"].tolist(), by_y[0].tolist()) == ([3.0, -6.0], [0.0, 0.0], [1.0, -2.0])
    by_float = hia.grad(lambda x, n: x * x * (1.0 if 2**62 * n > 0 else 0.0))
    assert by_float(3.0, 1) == 6.0
    with pytest.raises(hia.RunError, match="overflow"):
        by_float(3.0, 4)  # a tape does not see floats


def test_what_cannot_be_converted_is_refused_at_any_call():
    def loss(x, what):
        return hia.sum(x * x) * (2.0 if isinstance(what, int) else float(hash(what)))

    step = hia.grad(loss)
    assert step(X, 1).tolist() == [4.0, -8.0]
    for _ in range(2):
        with pytest.raises(hia.ConversionError, match="'hash' is foreign to the graph; "):
            step(X, "a b")
    assert step(X, 1).tolist() == [4.0, -8.0]


def test_the_format_of_what_is_printed_raises(capsys):
    model = Counted()

    def loss(model, x, n):
        model.calls += 1
        print(f"{n:{'d' if n < 5 else 'd'}}", end="")
        return hia.sum(model.linear(x))

    def wrong(model, x, n):
        model.calls += 1
        print(f"{x.item():d}")
        return hia.sum(model.linear(X))

    nn.value_and_grad(model, loss)(model, X, 3)
    assert (model.calls, capsys.readouterr().out) == (1, "3")
    with pytest.raises(ValueError, match="Unknown format code 'd'"):
        nn.value_and_grad(model, wrong)(model, hia.f32(1.0), 3)
    assert (model.calls, capsys.readouterr().out) == (2, "")
