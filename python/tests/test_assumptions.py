"""What a graph leaves to Python: it assumes that no call comes there. Where one does, nothing is lost."""

import contextlib
import io
import warnings

import pytest
from random_programs import Node

import hiaton as hia


def full(depth, value=1):
    return None if depth == 0 else Node(value, 0.5, full(depth - 1, 2 * value), full(depth - 1, 2 * value + 1))


def outcome(function, *args):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            found = repr(function(*args))
        except Exception as error:
            found = type(error), str(error)
    return found, output.getvalue()


def in_a_loop(n, at):
    total = 0
    for i in range(n):
        print("turn", i)
        if i == at:
            total += len(frozenset((i, total)))
        total += i
    return total


def in_a_recursion(n, at):
    if n == at:
        return hash(n)
    return 0 if n == 0 else n + in_a_recursion(n - 1, at)


def in_what_it_calls(n, at):
    return [foreign(i) if i == at else i for i in range(n)]


def foreign(n):
    yielded = {i / 2: n for i in range(n)}
    return len(yielded)


def a_change(n, at):
    made = [Node(i) for i in range(n)]
    for one in made:
        if one.value == at:
            one.value = 100
    return sum(one.value for one in made)


def behind_and(n, at):
    return n > 1 and (n != at or frozenset((n,)) == {n})


def before_an_error(n, at):
    values = [i * 3 for i in range(n)]
    if at < n:
        values[hash(at) + 1] = 5
    return 10 // (n - 9), values


LEFT = [in_a_loop, in_a_recursion, in_what_it_calls, a_change, behind_and, before_an_error]


@pytest.mark.parametrize("at", [0, 1, 4, 8], ids=["first", "second", "middle", "last"])
@pytest.mark.parametrize("function", LEFT, ids=lambda function: function.__name__)
def test_a_call_that_comes_there_is_pythons(function, at):
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for there in (100, 101, at, 102, at, 103, 104):
            assert outcome(graph, 9, there) == outcome(function, 9, there)
    only, = graph._graphs
    expected = 1 if function is behind_and else 2
    if function is not before_an_error and not (function is behind_and):
        assert (only.hits, only.faults) == (5, expected)
    assert f"test_assumptions.py:{only.left[0].split(':')[1]}: " in graph.report()
    with pytest.raises(hia.ConversionError):
        hia.function(function, strict=True)(9, 100)


def test_objects_are_as_python_leaves_them():
    def marked(t, at):
        if t is None:
            return 0
        if t.value == at:
            t.value = -t.value
        return t.value + marked(t.left, at) + marked(t.right, at)

    graph = hia.function(marked)
    for at in (100, 1, 200, 5, 300, 15, 400):
        mine, expected = full(4), full(4)
        assert graph(mine, at) == marked(expected, at)
        assert mine == expected
    assert graph._graphs[0].hits == 4 and graph._graphs[0].faults == 3


def test_a_function_whose_calls_come_there_often_is_given_up():
    graph = hia.function(in_a_recursion)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for at in (100, 3, 3, 100, 3):
            assert graph(9, at) == in_a_recursion(9, at)
    with pytest.warns(hia.FallbackWarning, match=r"test_assumptions.py:\d+: 'hash' is foreign"):
        for _ in range(2):
            assert graph(9, 3) == in_a_recursion(9, 3)
    assert "in plain Python: " in graph.report()

    graph = hia.function(in_a_recursion)
    with pytest.warns(hia.FallbackWarning, match="'hash' is foreign"):
        for call in range(13):
            at = 3 if call % 3 == 0 else 100
            assert graph(9, at) == in_a_recursion(9, at)


def test_a_function_of_which_no_path_is_converted_is_refused_at_once():
    def hashed(n):
        if n > 3:
            return hash(n)
        return hash(-n)

    graph = hia.function(hashed)
    with pytest.warns(hia.FallbackWarning, match="'hash' is foreign"):
        assert graph(1) == hashed(1)
    assert graph._graphs == []


def test_gradients_leave_nothing_to_python():
    def loss(x):
        return x * x if x > 0.0 else float(hash(x))

    with pytest.raises(hia.ConversionError, match="'hash' is foreign"):
        hia.grad(loss)(2.0)
