"""Errors of the engine name the places of Python, and the calls that led there."""

import importlib.util
import linecache

import pytest

import hiaton as hia
from hiaton import nn


class Model(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 1)
        self.calls = 0


def power(n):
    return 1 if n == 0 else 2**40 * power(n - 1)


def outer(model, x, n):
    model.calls += 1
    values = [power(k) for k in range(n)]
    return hia.sum(model.linear(x)) + float(values[-1])


def line_of(function, number):
    return f"{__file__}:{function.__code__.co_firstlineno + number}"


def test_the_line_and_the_calls_of_a_run_error():
    model = Model()
    with pytest.raises(hia.ConversionError) as error:
        nn.value_and_grad(model, outer, strict=True)(model, hia.ones(2), 4)
    assert isinstance(error.value.__cause__, hia.RunError)
    lines = str(error.value.__cause__).split("\n")
    assert lines[0].startswith(f"{line_of(power, 1)}:29: error: ") and "overflow" in lines[0], lines
    found = [lines.index(f"  in {line}") for line in (
        f"power(n = 2) called at {line_of(power, 1)}:37", f"power(n = 3) called at {line_of(outer, 2)}:15",
        "loss(x = [1.0, 1.0], n = 4, a3 = 0)")]
    assert found == sorted(found) and "      values = [power(k) for k in range(n)]" in lines, lines


OTHER = '''"""Ümlaut: columns count characters."""

def größe(n):
    return 1 // n  # "ä"
'''


def module_of(tmp_path, text, name="other"):
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, path


def test_functions_of_several_files(tmp_path):
    other, path = module_of(tmp_path, OTHER)

    def shares(values):
        first = [other.größe(value) for value in values]
        return [5 % value for value in first]

    graph = hia.function(shares)
    for values in ([1, 1], [1, 0], [1, 2], [1, 1]):
        try:
            assert graph(values) == shares(values)
        except ZeroDivisionError:
            pass
    report = graph.report()
    assert f"1 of the faults: {path}:4:12: error: division by zero: 1 % 0" in report, report
    assert f"1 of the faults: {line_of(shares, 2)}:17: error: division by zero: 5 % 0" in report, report


def test_a_text_that_no_file_has():
    name = "<input of a notebook>"
    text = "def quotient(n):\n    return 6 // n\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    graph = hia.function(names["quotient"])
    assert graph(2) == 3
    with pytest.raises(ZeroDivisionError):
        graph(0)
    assert f"{name}:2:12: error: division by zero: 6 % 0" in graph.report(), graph.report()


def test_a_file_with_lines_that_look_like_marks(tmp_path):
    other, path = module_of(tmp_path, '#file "x.py"\n' + 'A = """\n#file "y.py"\n"""\n' + "def f(n):\n    return 1 // n\n", "marked")
    graph = hia.function(other.f)
    assert graph(1) == 1
    with pytest.raises(ZeroDivisionError):
        graph(0)
    assert "division by zero: 1 % 0" in graph.report()
