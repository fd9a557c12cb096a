"""Lists behind a star, f(*items): as many arguments as what is called has parameters."""

import dataclasses
import math
import operator
import typing

import pytest

import hiaton as hia


@dataclasses.dataclass
class Term:
    name: str
    args: list = dataclasses.field(default_factory=list)
    value: float = 0.0


FUNCTIONS = {"+": operator.add, "-": operator.neg, "sin": math.sin, "atan2": math.atan2, "fma": lambda a, b, c: a * b + c}


def value(t):
    if t.name == "number":
        return t.value
    return FUNCTIONS[t.name](*[value(arg) for arg in t.args])


def number(x):
    return Term("number", [], x)


TERMS = [Term("+", [number(1.0), Term("-", [Term("fma", [number(2.0), number(3.0), Term("sin", [number(1.0)])])])]),
         Term("atan2", [number(1.0), number(2.0)])]


def test_a_table_of_functions_with_several_numbers_of_parameters():
    graph = hia.function(value, strict=True)
    assert [graph(term) for term in TERMS] == [value(term) for term in TERMS]
    assert [(one.hits, one.faults) for one in graph._graphs] == [(2, 0)], graph.report()


@pytest.mark.parametrize("count", [1, 3])
def test_a_wrong_number_of_items_is_the_error_of_python(count):
    wrong = Term("+", [number(1.0)] * count)
    with pytest.raises(TypeError, match=f"add expected 2 arguments, got {count}"):
        hia.function(value, strict=True)(wrong)


@dataclasses.dataclass
class Pair:
    a: int
    b: int


class Named(typing.NamedTuple):
    a: int
    b: int


class Scaled:
    def __init__(self, by):
        self.by = by

    def of(self, a, b, *, more=0):
        return (a - b) * self.by + more


def two(a, b):
    return 10 * a + b


def with_default(a, b=3):
    return 10 * a + b


def calls(xs):
    def inside(a, b):
        return a + 100 * b + len(xs)
    return [two(*xs), two(xs[0], *xs[1:]), two(*xs[:1], b=4), inside(*xs), (lambda a, b: a - b)(*xs), two(*(x + 1 for x in xs)),
            two(*map(abs, xs)), Scaled(3).of(*xs, more=5), Pair(*xs).b, Named(*xs).a, hia.add(*xs).item()]


def test_what_takes_the_items():
    graph = hia.function(calls, strict=True)
    for xs in ([1, 2], [5, -3]):
        assert graph(xs) == calls(xs)
    assert [(one.hits, one.faults) for one in graph._graphs] == [(2, 0)], graph.report()


@pytest.mark.parametrize("function", [with_default, max, lambda *items: sum(items)])
def test_what_has_no_fixed_number_of_parameters(function):
    def given(xs):
        return function(*xs)
    with pytest.raises(hia.ConversionError, match=r"'\*' takes list\[int\] apart where what is called has a known number of parameters"):
        hia.function(given, strict=True)([1, 2])


def test_calls_that_fit_on_one_branch_alone():
    class One:
        def __call__(self, x):
            return x + 1

    class Two:
        def __call__(self, x, y):
            return x * y
    table = {"one": One(), "two": Two()}

    def chosen(name, x):
        function = table[name]
        if name == "one":
            return function(x)
        return function(x, 5)
    graph = hia.function(chosen, strict=True)
    assert graph("one", 3) == 4 and graph("two", 3) == 15
    assert sum(one.faults for one in graph._graphs) == 0
