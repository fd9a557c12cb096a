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
