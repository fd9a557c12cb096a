"""Gradients that a tape gives since their graph does not: the user is told, and gets the same kind of gradients."""

import warnings

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn, optim


class Scored(nn.Module):
    """Its graph fails where x is 2 or more, of which Python makes an integer beyond 64 bits."""

    def __init__(self):
        self.table = nn.Embedding(4, 2)
        self.unused = nn.Linear(2, 1)

    def ratio(self, row, x):
        return hia.sum(self.table(row)) * (float(2**62 * x) / 2.0**62)


def step_and_line(strict=False):
    model = Scored()
    return model, nn.value_and_grad(model, Scored.ratio, strict=strict), Scored.ratio.__code__.co_firstlineno + 1


def test_calls_that_fall_back_are_told_once_and_given_up():
    model, step, line = step_and_line()
    assert step(model, 1, 1)[0].item() != 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(model, 1, 4), step(model, 1, 4)
    with pytest.warns(hia.FallbackWarning) as caught:
        step(model, 1, 4)
    assert len(caught) == 1 and caught[0].filename == __file__
    message = str(caught[0].message)
    assert message.startswith("'Scored.ratio': gradients are taken on a tape, in plain Python: its graph fails where Python gives a result: ")
    assert f"{__file__}:{line}" in message and "overflow" in message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(model, 1, 4), step(model, 1, 1)
    lines = step.report().splitlines()
    assert lines[0] == "Scored.ratio: 1 graphs, 1 conversions, 5 calls in plain Python"
    assert lines[1].startswith("  (Scored, int, int) -> f32[]: 1 calls, 0 misses, 3 faults, ")
    assert lines[2].startswith("    3 of the faults: ") and lines[-1].startswith("  in plain Python: its graph fails where")


def test_a_graph_that_fails_now_and_then_stays():
    model, step, _ = step_and_line()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            for n in (1, 1, 1, 4):
                step(model, 1, n)
    assert ": 15 calls, 0 misses, 5 faults" in step.report()


def test_strict_calls_do_not_fall_back():
    model, step, line = step_and_line(strict=True)
    step(model, 1, 1)
    for _ in range(4):
        with pytest.raises(hia.ConversionError, match=f"'Scored.ratio': its graph gives no gradients here: {__file__}:{line}.*overflow"):
            step(model, 1, 4)
    assert step(model, 1, 1)[0].item() != 0.0 and "0 calls in plain Python" in step.report()
    with pytest.raises(hia.ConversionError, match="its graph gives no gradients here: .*overflow"):
        hia.grad(lambda x, n: hia.sum(x) * float(2**62 * n), strict=True)(hia.ones(2), 4)


def test_a_number_where_a_tensor_is_expected_says_what_to_write():
    def cost(x, is_leaf):
        if is_leaf:
            return 0.0
        return hia.sum(x * x)

    def total(x, is_leaf):
        return hia.exp(cost(x, is_leaf)) + cost(x, False)

    line = total.__code__.co_firstlineno + 1
    with pytest.raises(hia.ConversionError,
                       match=rf":{line}: expected f32\[\], found float; hia.f32\(x\) makes a tensor of the number where it is written"):
        hia.grad(total, strict=True)(hia.ones(2), True)


def test_the_gradients_are_as_those_of_a_graph():
    for update in (optim.SGD, optim.Adam):
        model, step, _ = step_and_line()
        of_graph = step(model, 1, 1)[1]
        of_tape = step(model, 1, 4)[1]
        assert isinstance(of_tape, nn.Gradients) and repr(of_tape) == repr(of_graph)
        assert list(of_tape) == list(of_graph) == ["table.weight", "unused.weight", "unused.bias"]
        np.testing.assert_allclose(np.asarray(of_tape["table.weight"]), 4 * np.asarray(of_graph["table.weight"]))
        assert of_tape["unused.bias"].tolist() == of_graph["unused.bias"].tolist() == [0.0]
        before = model.unused.weight.tolist(), model.table.weight.tolist()
        update(model, 0.1).update(of_tape)
        assert model.unused.weight.tolist() == before[0] and model.table.weight.tolist() != before[1]
        with pytest.raises(ValueError, match="expected gradients by parameters of the optimizer, found those by others"):
            optim.SGD(nn.Linear(1, 1)).update(of_tape)
