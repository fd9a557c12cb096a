"""Functions that are given up, and texts that are not in files of their own."""

import gc
import importlib
import sys
import weakref
import zipfile

import pytest

import hiaton as hia
from hiaton import nn


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
