"""What converted functions print: what plain Python prints, in its order, once."""

import contextlib
import copy
import io
import math
import sys

import pytest

import hiaton as hia


def printed(function, *args):
    """What a call gives, what it raises, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            found = repr(function(*args))
        except Exception as error:
            found = repr(error)
    return found, output.getvalue()


def some(n, x):
    print("begin", n, x)
    total = 0
    for i in range(n):
        if i % 3 == 0:
            print(f"{i}: {total * x:>{2 + 6}.3f}", end=";\n")
            continue
        total += i
        if total > 20:
            print("early")
            return total, [total]
    else:
        print()
    print("end", total, None, True, [1, total], (total, "a"), sep="|", flush=True)
    return total, [i for i in range(n)]


def of_several_types(n):
    shown = None if n == 0 else n
    print(shown, "none" if shown is None else "some", n / 2, math.inf, -0.0)


def without_a_result(xs):
    while xs and n_of(xs) > 1:
        print(f"{n_of(xs)!r} left", xs)
        xs = xs[1:]


def n_of(xs):
    return len(xs)


def tensors(x):
    for row in x:
        print("row", row)
    return hia.sum(x)


def in_what_it_calls(n):
    return in_a_function(n) + 1


def in_a_function(n):
    print(n)
    return n


def in_a_recursion(n):
    print(n)
    return 0 if n == 0 else in_a_recursion(n - 1)


def in_a_comprehension(n):
    return [[in_a_function(i + j) for j in range(i) if i * j != 2] for i in range(n)], sum(in_a_function(i) for i in range(n))


class Walker:
    def __init__(self):
        self.seen = 0

    def walk(self, n):
        self.seen += 1
        print(f"{n} is", "even" if n % 2 == 0 else "odd", self.seen)
        if n > 1:
            self.walk(n // 2)
            print("back at", n)


def what_is_set(walker, n):
    walker.walk(n)
    return walker.seen


CASES = [(some, [(0, 0.5), (2, 0.5), (5, 1.5), (30, -0.25)]), (of_several_types, [(0,), (3,), (0,)]),
         (in_what_it_calls, [(2,), (5,)]), (in_a_recursion, [(0,), (3,)]), (in_a_comprehension, [(0,), (4,)]), (what_is_set, [(Walker(), 1), (Walker(), 6)]),
         (without_a_result, [([3, 1, 2],), ([1],)]), (tensors, [(hia.tensor([[1.0, 2.0], [3.0, 4.0]]),)])]


@pytest.mark.parametrize("function,calls", CASES, ids=[f.__name__ for f, _ in CASES])
def test_it_prints_what_python_prints(function, calls):
    graph = hia.function(function, strict=True)
    for _ in range(2):
        for args in calls:
            assert printed(graph, *copy.deepcopy(args)) == printed(function, *copy.deepcopy(args))
    assert "0 calls in plain Python" in graph.report()


def test_a_run_that_fails_has_printed_nothing():
    def grow(n):
        print("grows from", n)
        for i in range(4):
            n *= 1000
            print(i, n)
        return n

    def failing(n):
        print("before")
        if n > 3:
            raise ValueError(f"no {n}")
        return n

    for function, arguments in ((grow, (1, 10 ** 15)), (failing, (3, 4))):
        graph = hia.function(function)
        for n in (*arguments, *arguments):
            assert printed(graph, n) == printed(function, n)
    assert graph._graphs[0].faults == 2


def test_printing_may_raise():
    def shown(n):
        print("first")
        print(f"{n:q}")
        print("never")

    found = printed(hia.function(shown, strict=True), 3)
    assert found == printed(shown, 3) and "ValueError" in found[0]

    def counted(walker, n):
        walker.seen += 1
        print(f"{n:{walker.seen}q}")
        walker.seen += 1

    mine, expected = Walker(), Walker()
    assert printed(hia.function(counted), mine, 3) == printed(counted, expected, 3)
    assert mine.seen == expected.seen == 1


def test_it_prints_where_it_is_told_to():
    def shown(n):
        print(n, file=sys.stderr)
        return n

    graph = hia.function(shown, strict=True)
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        assert printed(graph, 3) == ("3", "")
    assert errors.getvalue() == "3\n"


def test_another_print_is_called(monkeypatch):
    def shown(n):
        print(n)
        return n

    graph = hia.function(shown, strict=True)
    assert printed(graph, 3) == ("3", "3\n")
    monkeypatch.setitem(globals(), "print", lambda n: n + 1)
    assert printed(graph, 3) == printed(shown, 3) == ("3", "")


class Counted:
    def __init__(self, n):
        self.n = n


def in_a_try(n):
    try:
        print(f"{n:q}")
    except ValueError:
        return 1
    return 2


def of_an_object(n):
    print(Counted(n))
    return n


def of_a_list_that_changes(n):
    xs = [n]
    print(xs)
    xs.append(n)
    return xs


def in_a_lambda(n):
    shown = lambda m: in_a_function(m)  # noqa: E731
    return shown(n)


def as_a_value(n):
    return print(n)


ELSEWHERE = "'print' can be converted as a statement"
REFUSED = [(in_a_try, ELSEWHERE), (of_an_object, "behind 'print', found Counted"), (of_a_list_that_changes, "others may refer to"), (as_a_value, ELSEWHERE),
           (in_a_lambda, "cannot be used in a function that is defined inside")]


@pytest.mark.parametrize("function,message", REFUSED, ids=[f.__name__ for f, _ in REFUSED])
def test_what_is_refused(function, message):
    with pytest.raises(hia.ConversionError, match=message):
        hia.function(function, strict=True)(2)
    if function is of_an_object:
        return  # its place in memory is printed
    graph = hia.function(function)
    with pytest.warns(hia.FallbackWarning):
        for _ in range(4):
            assert printed(graph, 2) == printed(function, 2)


def test_gradients_print_nothing():
    def loss(x):
        print(x)
        return x * x

    with pytest.raises(hia.ConversionError, match=ELSEWHERE):
        hia.grad(loss)(2.0)
