"""Functions of math and functools in graphs: the bits and the errors of CPython."""

import functools
import math
import random

import pytest

import hiaton as hia
from hiaton.function import mathematics

ONE = sorted((one for one in mathematics.FUNCTIONS if one not in (math.pow, math.atan2)), key=lambda one: one.__name__)
TWO = [math.pow, math.atan2]


def outcome(function, *args):
    try:
        return repr(function(*args))
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)


def numbers(count, seed):
    rng = random.Random(seed)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, math.inf, -math.inf, math.nan, 1e308, 5e-324, 3, -7, 0, 2 ** 62, True]
    return special + [rng.choice([rng.uniform(-1, 1), rng.uniform(-20, 20), rng.gauss(0, 1000), rng.randrange(-9, 10)])
                      for _ in range(count)]


@pytest.mark.filterwarnings("ignore::hiaton.FallbackWarning")
@pytest.mark.parametrize("function", ONE, ids=lambda one: one.__name__)
def test_functions_of_one_number(function):
    graph = hia.function(lambda x: function(x))
    for x in numbers(300, 1):
        one = graph if math.isfinite(x) else hia.function(lambda x: function(x))  # which is given up after errors in a row
        assert outcome(one, x) == outcome(function, x), x
    strict = hia.function(lambda x: function(x), strict=True)
    assert repr(strict(0.5)) == repr(function(0.5)) and strict._plain == 0


@pytest.mark.filterwarnings("ignore::hiaton.FallbackWarning")
@pytest.mark.parametrize("function", TWO, ids=lambda one: one.__name__)
def test_functions_of_two_numbers(function):
    graph = hia.function(lambda x, y: function(x, y))
    for x, y in zip(numbers(300, 1)[8:], numbers(300, 2)[8:]):
        assert outcome(graph, x, y) == outcome(function, x, y), (x, y)
    assert sum(one.hits for one in graph._graphs) > 50


def test_many_at_once_give_the_same_bits():
    xs = [x for x in numbers(2000, 3) if isinstance(x, float) and -20 < x < 20]

    @hia.function(strict=True)
    def all_of(xs):
        return [math.sin(x) + math.exp(x) * math.tanh(x) for x in xs]

    assert all_of(xs) == all_of.__wrapped__(xs)


def test_gradients_pass_by_them():
    assert hia.grad(lambda x: math.sin(x) * math.log(x))(2.0) == pytest.approx(math.cos(2.0) * math.log(2.0) + math.sin(2.0) / 2.0)


def test_others_are_refused_with_what_to_do():
    for function, args, why in ((math.log, (2.0, 10.0), "math.log of 2 numbers cannot be converted; hand over one number"),
                                (math.exp, (hia.ones(2),), "use the function of hiaton for tensors"),
                                (math.gamma, (2.0,), "'gamma' is foreign to the graph; ")):
        with pytest.raises(hia.ConversionError) as error:
            hia.function(lambda *args: function(*args), strict=True)(*args)
        assert why in str(error.value)


def scaled(by, x, plus=0.0, times=1.0):
    return (by * x + plus) * times


half = functools.partial(scaled, 0.5, plus=1.0)
half_twice = functools.partial(half, times=2.0)


def test_partial_functions_are_called(monkeypatch):
    def both(x):
        return half(x), half_twice(x), half(x, plus=3.0)

    graph = hia.function(both, strict=True)
    assert graph(3.0) == both(3.0) == (2.5, 5.0, 4.5)
    monkeypatch.setitem(globals(), "half", functools.partial(scaled, 0.25))
    assert graph(3.0) == both(3.0)
