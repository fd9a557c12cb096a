"""What a function tells of its graphs."""

import shutil

import pytest

import hiaton as hia


def test_the_graph_is_a_picture(tmp_path):
    @hia.function
    def double(n):
        return n + n

    with pytest.raises(ValueError, match="has no graph yet"):
        double.graph()
    double(2)
    picture = double.graph(tmp_path / "double.dot")
    assert "digraph" in (tmp_path / "double.dot").read_text() and "add" in str(picture)
    if shutil.which("dot"):
        assert "<svg" in picture._repr_svg_()
        double.graph(tmp_path / "double.svg")
        assert "<svg" in (tmp_path / "double.svg").read_text()
    with pytest.raises(ValueError, match="expected a name that ends in .svg, .dot, .txt"):
        double.graph(tmp_path / "double.png")


def test_the_report_counts_the_lines_where_calls_left_the_graph():
    @hia.function
    def checked(values):
        if values[0] < 0:
            raise ValueError(f"{values[0]}")
        return 1.0 / values[0]

    for values in ([1], [-1], [2], [0], [3], [-2], [4], []):
        try:
            checked(values)
        except (ValueError, ZeroDivisionError, IndexError):
            pass
    report = checked.report()
    first = checked.__wrapped__.__code__.co_firstlineno
    for times, line, why in ((2, 3, "'raise ValueError(f'{values[0]}')'"), (1, 4, "division by zero")):
        assert f"    {times} of the faults: {__file__}:{first + line}: {why}" in report, report
    assert "    1 of the faults: 'raise IndexError('list index out of range')'" in report, report


def test_the_report_says_why_calls_ran_in_python():
    @hia.function
    def quotient(n, m):
        return n // m

    assert quotient(7, 2) == 3
    with pytest.raises(ZeroDivisionError):
        quotient(7, 0)
    assert quotient(7.5, 2.0) == 3.0
    report, first = quotient.report(), quotient.__wrapped__.__code__.co_firstlineno
    assert f"1 of the faults: {__file__}:{first + 2}:16: error: division by zero: 7 % 0" in report and "last miss: a value of a type" in report, report


def test_conversions_are_printed_where_that_is_asked_for(monkeypatch, capsys):
    class Settings:
        rate = 1.0

    @hia.function
    def scaled(x):
        return x * Settings.rate

    scaled(1)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("HIATON_LOG", "function")
    scaled(1)
    scaled(2.0)
    scaled(hia.ones(2))
    monkeypatch.setattr(Settings, "rate", 2.0)
    scaled(1)
    name, line = scaled.__wrapped__.__qualname__, scaled.__wrapped__.__code__.co_firstlineno + 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and all(one.startswith(f"hiaton: '{name}' was converted in ") for one in lines), lines
    assert lines[0].endswith("for (float) -> float: a value of a type that was not seen before, float"), lines
    assert lines[1].endswith("for (f32[2]) -> f32[2]: a value of a type that was not seen before, Tensor"), lines
    assert lines[2].endswith(f"for (int) -> float: {__file__}:{line}: 'rate' is not what it was"), lines


def test_a_function_that_is_given_up_says_so_there(monkeypatch, capsys):
    monkeypatch.setenv("HIATON_LOG", "coexecute,function")

    @hia.function
    def asked(n):
        return n + int(input())

    with pytest.warns(hia.FallbackWarning), pytest.raises(OSError):
        asked(3)
    assert "runs in plain Python from now on" in capsys.readouterr().err


def test_gradients_and_profiles_tell_why_they_convert_again(monkeypatch, capsys):
    monkeypatch.setenv("HIATON_LOG", "function")
    gradients = hia.grad(lambda x: hia.sum(x * x))
    for size in (2, 3):
        gradients(hia.ones(size))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and lines[0].endswith(": the first call") and "not seen before" in lines[1], lines

    @hia.function(profile=3)
    def total(values):
        made = 0
        for value in values:
            made += value
        return made

    for count in (4, 4, 4, 4, 5, 5):
        total(list(range(count)))
    assert "an assumption did not hold: " in capsys.readouterr().err.splitlines()[-1]
