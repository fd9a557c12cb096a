"""Functions of math and functools in graphs: the bits of Python, and its errors."""

import functools
import math
import operator
import random
import struct

import pytest

import hiaton as hia

EDGES = [-2.5, -1.0, -0.75, -1e-9, -0.0, 0.0, 1e-300, 0.1, 0.5, 1.0, 1.5, 3.0, 20.0, 709.0, 710.0, 1e300]
ONE = [math.acos, math.acosh, math.asin, math.asinh, math.atan, math.atanh, math.ceil, math.cos, math.cosh, math.degrees, math.erf,
       math.exp, math.expm1, math.fabs, math.floor, math.isfinite, math.isinf, math.isnan, math.log, math.log10, math.log1p, math.log2,
       math.radians, math.sin, math.sinh, math.sqrt, math.tan, math.tanh, math.trunc]
TWO = [math.atan2, math.fmod, math.log, math.pow]


def outcome(function, *args):
    try:
        found = function(*args)
    except (ArithmeticError, TypeError, ValueError) as error:
        return type(error), str(error)
    return type(found), struct.pack("d", found) if isinstance(found, float) else found


def below_calls(function):
    """A function of Python that calls it three levels deep in a recursion."""
    def main(n, *args):
        return main(n - 1, *args) if n else function(*args)
    return main


def assert_same_bits(function, calls, least_hits):
    main = below_calls(function)
    graph = hia.function(main)
    for args in calls:
        assert outcome(graph, 3, *args) == outcome(main, 3, *args), args
    assert sum(made.hits for made in graph._graphs) > least_hits, graph.report()


@pytest.mark.filterwarnings("ignore::hiaton.FallbackWarning")
@pytest.mark.parametrize("function", ONE, ids=lambda f: f.__name__)
def test_functions_of_one_number(function):
    some = random.Random(function.__name__)
    numbers = EDGES + [7, -3, True] + [some.uniform(-2, 2) for _ in range(100)] + [some.uniform(0, 60) for _ in range(100)]
    assert_same_bits(function, [(x,) for x in numbers], 30)


@pytest.mark.filterwarnings("ignore::hiaton.FallbackWarning")
@pytest.mark.parametrize("function", TWO, ids=lambda f: f.__name__)
def test_functions_of_two_numbers(function):
    some = random.Random(function.__name__)
    pairs = [(x, y) for x in EDGES for y in EDGES] + [(some.uniform(0, 9), some.uniform(0, 9)) for _ in range(100)]
    assert_same_bits(function, pairs, 100)
    main = below_calls(function)
    for pair in [(7, 2), (7, 2.5), (0.5, 3), (True, 2)]:
        assert outcome(hia.function(main), 3, *pair) == outcome(main, 3, *pair), pair


@pytest.mark.filterwarnings("ignore::hiaton.FallbackWarning")
def test_functions_of_integers():
    def integers(a, b):
        return math.gcd(a, b), math.gcd(a), math.gcd(a, b, 12), math.isqrt(a), math.factorial(b)

    graph = hia.function(integers)
    for pair in [(12, 18), (0, 0), (10**12 + 39, 7), (2**62 - 1, 20), (2**62, 3), (2**70, 1), (5, 25), (-4, 2), (4, -2), (9.0, 2), (16, True)]:
        assert outcome(graph, *pair) == outcome(integers, *pair), pair
    assert "int]: 5 calls, 3 misses" in graph.report(), graph.report()


def test_wrong_numbers_of_arguments_raise_what_python_raises():
    for function, args in [(math.sin, (1.0, 2.0)), (math.atan2, (1.0,)), (math.log, (1.0, 2.0, 3.0)), (math.isqrt, (1, 2))]:
        main = below_calls(function)
        with pytest.warns(hia.FallbackWarning):
            assert outcome(hia.function(main), 1, *args) == outcome(main, 1, *args)


def test_others_are_refused_with_what_to_do():
    for function, args, why in ((math.exp, (hia.ones(2),), "math.exp of f32[2] cannot be converted; give a number, or a tensor to hia.exp"),
                                (math.gcd, (hia.ones(2), 1), "math.gcd of f32[2] cannot be converted; give a number"),
                                (math.gamma, (2.0,), "'gamma' is foreign to the graph; ")):
        with pytest.raises(hia.ConversionError) as error:
            hia.function(lambda *args: function(*args), strict=True)(*args)
        assert why in str(error.value)


def test_many_at_once_give_the_same_bits():
    some = random.Random(3)
    xs = [some.uniform(-20, 20) for _ in range(2000)]

    @hia.function(strict=True)
    def all_of(xs):
        return [math.sin(x) + math.exp(x) * math.tanh(x) for x in xs]

    assert all_of(xs) == all_of.__wrapped__(xs)


def test_gradients():
    def slope(x):
        return math.exp(math.sin(x)) * math.log(x) + math.atan2(x, 2.0)

    x = 1.25
    expected = math.exp(math.sin(x)) * (math.cos(x) * math.log(x) + 1 / x) + 2 / (4 + x * x)
    assert hia.grad(slope)(x) == pytest.approx(expected, rel=1e-12)


def test_an_adaptive_integral_is_one_graph():
    def wave(x):
        return math.sin(x) * math.exp(-x)

    def simpson(a, b, fa, fb, eps):
        m = (a + b) / 2
        fm, left, right = wave(m), wave((a + m) / 2), wave((m + b) / 2)
        whole = (b - a) * (fa + 4 * fm + fb) / 6
        halves = (m - a) * (fa + 4 * left + fm) / 6 + (b - m) * (fm + 4 * right + fb) / 6
        if abs(halves - whole) < eps:
            return halves
        return simpson(a, m, fa, fm, eps / 2) + simpson(m, b, fm, fb, eps / 2)

    args = (0.0, 3.0, wave(0.0), wave(3.0), 1e-9)
    graph = hia.function(simpson, strict=True)
    assert graph(*args) == simpson(*args)
    assert "1 conversion" in graph.report()


def combined(xs, a, b):
    return (functools.reduce(operator.add, xs, 0), functools.reduce(lambda x, y: x * y + a, xs), divmod(a, b), pow(a, 2),
            operator.lt(a, b), operator.floordiv(a, b), min(functools.reduce(min, xs), float("inf")), [float("-inf"), a * 0.5])


@pytest.mark.filterwarnings("ignore::hiaton.FallbackWarning")
def test_functions_of_operator_and_functools():
    graph = hia.function(combined, strict=True)
    for args in [([1, 2, 3], 7, 2), ([5], -7, 2), ([4, -4], 7, -3)]:
        assert graph(*args) == combined(*args)
    assert "1 conversion" in graph.report()
    plain = hia.function(combined)
    for args in [([], 7, 2), ([1], 7, 0)]:
        assert outcome(plain, *args) == outcome(combined, *args)


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


def applied(function, xs):
    return [function(x) for x in xs]


def grown(function, depth):
    return function(depth) if depth == 0 else grown(functools.partial(scaled, function(0.5)), depth - 1)


def test_partial_functions_are_made_in_graphs():
    def made(x, xs):
        def shifted(y, by):
            return y * x + by
        first = functools.partial(scaled, x, plus=1.0)
        second = functools.partial(first, times=2.0)
        third = functools.partial(shifted, by=x) if x > 0.0 else functools.partial(shifted, by=2.0)
        return first(3.0), second(3.0, plus=0.5), applied(second, xs), list(map(functools.partial(pow, 2), [1, 2])), third(x)

    for args in (0.5, [1.0, 2.0]), (-1.5, []):
        assert hia.function(made, strict=True)(*args) == made(*args)
    summed = hia.function(lambda xs, k: functools.reduce(functools.partial(scaled, plus=k), xs), strict=True)
    assert summed([1.0, 2.0, 3.0], 0.25) == functools.reduce(functools.partial(scaled, plus=0.25), [1.0, 2.0, 3.0])

    def given_back(x):
        return functools.partial(scaled, x)

    with pytest.warns(hia.FallbackWarning):
        assert hia.function(given_back)(0.5)(2.0) == 1.0
    with pytest.warns(hia.FallbackWarning):
        assert hia.function(grown)(functools.partial(scaled, 0.5), 2) == grown(functools.partial(scaled, 0.5), 2)
