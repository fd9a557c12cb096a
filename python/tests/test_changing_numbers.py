"""Numbers that graphs took as fixed and that differ from call to call: attributes, variables, and what a function around holds."""

import types
import warnings

import pytest

import hiaton as hia
from hiaton import nn

CALLS = 100

rate = 0.5
settings = {"rate": 0.5}
module = types.ModuleType("settings")


class Model(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 1)
        self.scale = 1.0
        self.epoch = 0
        self.is_trained = False
        self.mean = hia.zeros(2)

    def loss(self, x):
        y = self.linear(x - self.mean)
        total = hia.sum(y * y) * self.scale
        if self.epoch > 50 or self.is_trained:
            total = total * 2.0
        return total


def scaled(n):
    return n * rate


def scaled_by_an_item(n):
    return n * settings["rate"]


def scaled_by_a_module(n):
    return n * module.rate


def halvings(n):
    """Recursion: every call of it has the number."""
    return 0 if n < 1 else 1 + halvings(n * rate)


def elements(n):
    return sum([k * rate for k in range(n)]) + sorted([1.0, 2.0], key=lambda k: k * rate)[0]


@pytest.mark.parametrize("function", [scaled, scaled_by_an_item, scaled_by_a_module, halvings, elements])
def test_a_rate_that_changes_at_every_call(function):
    global rate
    graph = hia.function(function, strict=True)
    for call in range(CALLS):
        rate = settings["rate"] = module.rate = 0.25 + call / 1000
        assert graph(7) == function(7)
    assert graph._conversions <= 3 and graph._plain == 0, graph.report()


def test_a_variable_of_the_function_around():
    step = 0

    def counted(n):
        return n + step

    graph = hia.function(counted, strict=True)
    for step in range(CALLS):
        assert graph(3) == 3 + step
    step = 0.5
    assert graph(3) == 3.5
    step = True
    assert graph(3) == 4
    assert graph._conversions <= 5 and graph._plain == 0, graph.report()


def test_an_attribute_of_a_model_that_learns():
    model, other = Model(), Model()
    other.linear = model.linear
    step = nn.value_and_grad(model, Model.loss)
    x = hia.tensor([1.0, 2.0])
    for call in range(CALLS):
        for one in (model, other):
            one.scale, one.epoch = 1.0 + call, call
            one.mean = hia.tensor([call / 10, 1.0])
        loss, gradients = step(model, x)
        assert loss.item() == pytest.approx(other.loss(x).item(), rel=1e-6)
        with hia.GradientTape() as tape:
            expected = other.loss(x)
        expected = tape.gradient(expected, other.linear.weight)
        assert gradients["linear.weight"].tolist()[0] == pytest.approx(expected.tolist()[0], rel=1e-5)
    assert step._conversions <= 3


def test_gradients_by_arguments_with_a_rate_that_changes():
    global rate
    gradient = hia.grad(lambda x, y: hia.sum(x * x) * rate * y)
    for call in range(CALLS):
        rate = float(call)
        assert gradient(hia.tensor([1.0, 2.0]), 2.0).tolist() == [4.0 * call, 8.0 * call]
    assert gradient._conversions <= 3


def test_a_number_that_two_calls_share_is_no_argument():
    global rate
    graph = hia.function(scaled, strict=True)
    for call in range(20):
        rate = (0.5, 2.0)[call % 2]
        assert graph(3) == 3 * rate
    assert graph._conversions == 2 and "* 2.0" in graph.text() or "2.0" in graph.text()


width = 1


def eye_of_a_width(x):
    return hia.sum(hia.eye(width)) + x


def test_a_number_that_must_be_known_is_named_where_conversions_end():
    global width
    graph = hia.function(eye_of_a_width)
    with pytest.warns(hia.FallbackWarning, match=r"converted 16 times; .*test_changing_numbers.py:\d+: 'width' was not what the "
                                                 r"graphs took as fixed in \d+ calls; hand it over as an argument") as caught:
        for width in range(1, 30):
            assert graph(1.5).item() == 1.5 + width
    assert len(caught) == 1 and graph._conversions == 16
    model = Model()
    step = nn.value_and_grad(model, lambda model, x: model.loss(x) + hia.sum(hia.eye(width)))
    with pytest.warns(hia.FallbackWarning, match="'width' was not what the graphs took as fixed") as caught:
        for width in range(1, 30):
            x = hia.tensor([1.0, 2.0])
            loss, gradients = step(model, x)
            assert loss.item() == pytest.approx(model.loss(x).item() + width, rel=1e-6)
            assert gradients["linear.bias"].tolist() == pytest.approx([2 * model.linear(x).item()], rel=1e-5)
    assert len(caught) == 1 and step._conversions == 16


def test_a_size_that_the_run_may_tell_is_an_argument():
    global width
    graph = hia.function(lambda x: hia.sum(hia.ones((width, 2))) + x, strict=True)
    for width in range(1, 30):
        assert graph(1.5).item() == 1.5 + 2 * width
    assert graph._conversions == 3


def test_sizes_that_differ_at_every_step_are_left_to_the_run():
    model = nn.Linear(2, 1)
    step = nn.value_and_grad(model, lambda model, x: hia.sum(x) * hia.sum(model.weight) + hia.sum(model.bias))
    for rows in range(1, 40):
        loss, _ = step(model, hia.ones((rows, 2)))
        assert loss.item() == pytest.approx(2 * rows * hia.sum(model.weight).item() + model.bias.item(), rel=1e-4)
    assert step._conversions <= 4


def test_objects_that_replace_each_other_stay_constants():
    global settings
    graph = hia.function(scaled_by_an_item)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in range(10):
            settings = {"rate": call}
            assert graph(2) == 2 * call
