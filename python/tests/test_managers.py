"""Context managers: classes, and generators of `contextlib`, as plain Python runs them."""

import contextlib
import warnings

import pytest

import hiaton as hia


class Depth:
    def __init__(self):
        self.now = 0
        self.most = 0

    @contextlib.contextmanager
    def deeper(self, by=1):
        self.now += by
        try:
            yield self.now
        finally:
            self.now -= by


@contextlib.contextmanager
def scaled(x, *, by):
    y = x * by
    yield y
    print("end of", y, by)


@contextlib.contextmanager
def both(x):
    with scaled(x, by=2) as a, scaled(a, by=3) as b:
        yield a, b
    print("both")


entered = 0


@contextlib.contextmanager
def counted():
    global entered
    entered += 1
    yield
    entered += 10


def in_turns(n):
    with scaled(n, by=3) as m:
        n += m
        with scaled(m, by=2) as k:
            if n > 20:
                return n, k
    return n, 0


def of_two(n):
    total = 0
    for i in range(n):
        with both(i) as (a, b):
            if b > 20:
                break
            total += a + b
    return total


def of_globals(n):
    with counted():
        return n + entered


@pytest.mark.parametrize("function,calls", [(in_turns, (1, 10)), (of_two, (2, 8)), (of_globals, (1, 2))],
                         ids=lambda value: getattr(value, "__name__", None))
def test_generators_of_contextlib(function, calls, capsys):
    global entered
    graph = hia.function(function, strict=True)
    for n in calls:
        entered = 0
        expected = function(n), entered, capsys.readouterr().out
        entered = 0
        assert (graph(n), entered, capsys.readouterr().out) == expected
    assert "0 calls in plain Python" in graph.report()


def recursive(depth, n):
    with depth.deeper() as now:
        depth.most = max(depth.most, now)
        return depth.now if n == 0 else recursive(depth, n - 1) + depth.now


def test_what_they_set_is_set():
    graph, ours, plain = hia.function(recursive, strict=True), Depth(), Depth()
    for n in (3, 0, 6):
        assert graph(ours, n) == recursive(plain, n)
        assert vars(ours) == vars(plain) and ours.now == 0


def test_those_of_functions_around():
    factor = 3

    @contextlib.contextmanager
    def times(x):
        yield x * factor
        print(factor)

    @hia.function(strict=True)
    def f(x):
        with times(x) as y:
            return y + 1

    assert f(2) == 7
    factor = 5
    assert f(2) == 11


def failing(depth, n):
    with depth.deeper():
        return 6 // n


def test_what_is_raised_inside_is_plain_pythons():
    graph, depth = hia.function(failing), Depth()
    assert graph(depth, 2) == 3
    with pytest.raises(ZeroDivisionError):
        graph(depth, 0)
    assert depth.now == 0 and graph(depth, 3) == 2 and "1 calls in plain Python" in graph.report()


@contextlib.contextmanager
def on_two_paths(n):
    if n > 2:
        yield 1
    else:
        yield 2


@contextlib.contextmanager
def early(n):
    if n > 2:
        return
    yield n


@pytest.mark.parametrize("manager,message", [(on_two_paths, "expected one 'yield' that is a statement outside of branches"),
                                             (early, "may return before its 'yield'")], ids=["two", "early"])
def test_others_are_refused(manager, message):
    def f(n):
        with manager(n) as m:
            return m

    with pytest.raises(hia.ConversionError, match=message):
        hia.function(f, strict=True)(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        assert hia.function(f)(1) == f(1)


def test_a_manager_is_not_given_back():
    def f(n):
        return scaled(n, by=2)

    with pytest.raises(hia.ConversionError, match="a context manager cannot be given back"):
        hia.function(f, strict=True)(1)
