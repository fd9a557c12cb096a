"""Functions that are given up, and texts that are not in files of their own."""

import gc
import importlib
import sys
import weakref
import zipfile

import pytest

import hiaton as hia
from hiaton import nn
from hiaton.function import conversions


class Small(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 2)

    def __call__(self, x):
        return self.linear(x)


def test_models_that_are_new_in_each_call_are_named_and_let_go():
    @hia.function
    def applied(model, x):
        return hia.sum(model(x))

    held = []
    with pytest.warns(hia.FallbackWarning, match="it was converted 16 times, since 'model' was another object of 'Small' each time, which a "
                                                 "graph takes as a constant; hand over the same one, whose parameters may change"):
        for _ in range(20):
            model = Small()
            held.append(weakref.ref(model))
            assert applied(model, hia.ones(2)).item() == pytest.approx(hia.sum(model(hia.ones(2))).item(), rel=1e-6)
    del model
    gc.collect()
    assert not any(one() for one in held)
    assert applied.report().startswith("test_models_that_are_new_in_each_call_are_named_and_let_go.<locals>.applied: 8 graphs, 16 conversions")
    with pytest.raises(ValueError, match="has no graph any more: it was converted 16 times"):
        applied.text()


def test_functions_of_a_zip_file(tmp_path, monkeypatch):
    path = tmp_path / "application.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("module_in_a_zip.py", "def quotient(n):\n    return inner(n) + 1\n\n\ndef inner(n):\n    return 6 // n\n")
    monkeypatch.syspath_prepend(str(path))
    module = importlib.import_module("module_in_a_zip")
    monkeypatch.delitem(sys.modules, "module_in_a_zip")
    graph = hia.function(module.quotient, strict=True)
    assert graph(2) == 4
    with pytest.raises(ZeroDivisionError):
        graph(0)
    assert f"{path}/module_in_a_zip.py:6:12: error: division by zero: 6 % 0" in graph.report()


def test_a_single_call_that_no_graph_takes_leaves_the_graphs():
    @hia.function
    def counted(xs):
        total = 0
        for x in xs:
            total += x
        return total

    assert counted([1, 2]) == 3
    assert counted({4}) == 4
    assert counted([1, 2, 3]) == 6
    first, *_, last = counted.report().split("\n")
    assert first.endswith("counted: 1 graphs, 1 conversions, 1 calls in plain Python")
    assert last.startswith("  1 calls for which no graph can be made: ") and "found set" in last
    for _ in range(2):
        assert counted({4}) == 4
    with pytest.warns(hia.FallbackWarning, match="its arguments do not fit its graph: .*found set"):
        assert counted({4}) == 4
    assert "in plain Python: its arguments do not fit its graph" in counted.report()


def test_calls_that_no_graph_takes_are_not_converted_again_and_again(monkeypatch):
    from hiaton.function.conversions import Conversions
    tries = []
    made = Conversions._widest
    monkeypatch.setattr(Conversions, "_widest", lambda self, *args: (tries.append(1), made(self, *args))[1])
    counted = hia.function(lambda xs: sum(x for x in xs))
    for _ in range(6):
        assert counted([1, 2]) == 3 and counted({4}) == 4
    assert len(tries) == 1 + 3


def test_a_defect_of_the_conversion_ends_no_call(monkeypatch):
    monkeypatch.undo()  # what conftest.py does
    monkeypatch.setattr(conversions, "Converter", None)

    @hia.function
    def doubled(n):
        return 2 * n

    with pytest.warns(hia.FallbackWarning, match=r"'.*doubled' runs in plain Python: its conversion failed by a defect of hiaton, TypeError at "):
        assert doubled(4) == 8
    assert doubled(5) == 10
    with pytest.raises(hia.ConversionError, match="by a defect of hiaton, TypeError .*not callable; report it, with the function"):
        hia.function(lambda n: 3 * n, strict=True)(4)
