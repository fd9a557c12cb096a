"""Gradients where the run of the graph fails: the answer is that of Python, and what is printed and set is what Python prints and
sets."""

import dataclasses

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


@dataclasses.dataclass
class Pair:
    x: object
    left: "Pair | None" = None
    right: "Pair | None" = None


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


def test_where_no_tape_may_give_gradients_nothing_changes(capsys):
    model = Counted()
    step = nn.value_and_grad(model, Counted.loss, strict=True)
    step(model, X, 1)
    before = model.calls, model.power
    capsys.readouterr()
    with pytest.raises(hia.ConversionError, match="overflow"):
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


def test_objects_and_lists_may_stand_beside_what_gradients_are_taken_by():
    def total(tree, w):
        return hia.sum(w * tree.x) if tree.left is None else total(tree.left, w) + total(tree.right, w)

    def along(xs, w):
        return sum(hia.sum(w * x) for x in xs)

    weights = hia.tensor([1.0, 3.0])
    trees = [Pair(x, Pair(x), Pair(2 * x)) for x in (3, 0.5, X)]
    for number, tree in enumerate(trees):
        expected = [3.0 * part for part in ((3.0, 3.0), (0.5, 0.5), X.tolist())[number]]
        assert hia.grad(total, argnums=1)(tree, weights).tolist() == expected
        assert hia.grad(lambda w, tree: total(tree, w))(weights, tree).tolist() == expected
        value, (by_weights, by_y) = hia.value_and_grad(lambda tree, w, y: total(tree, w) * y, argnums=(1, 2))(tree, weights, 2.0)
        assert by_weights.tolist() == [2 * part for part in expected] and by_y == value.item() / 2
    assert hia.grad(along, argnums=-1)([X, 2 * X], weights).tolist() == [3 * x for x in X.tolist()]
    assert hia.grad(along, argnums=1)([1.0, 2.0], weights).tolist() == [3.0, 3.0]


def test_gradients_by_objects_and_lists_are_refused_by_the_number_of_the_argument():
    def loss(w, tree):
        return hia.sum(w * tree.x)

    with pytest.raises(hia.ConversionError, match="as argument 1, by which the gradient is to be, found Pair; choose others by argnums"):
        hia.grad(loss, argnums=(0, 1))(X, Pair(1.0))
    with pytest.raises(hia.ConversionError, match=r"as argument 0, .*, found list\[float\]"):
        hia.grad(lambda xs, w: hia.sum(w) * sum(xs))([1.0, 2.0], X)


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
