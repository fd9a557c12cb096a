"""`sum` of floats: from Python 3.12 on it adds what additions lose to rounding."""

import math
import random
import sys

import pytest

import hiaton as hia
from hiaton.function import prelude


def whole(xs):
    return sum(xs)


def from_start(xs, start):
    return sum(xs, start)


def mean_of_tenths(xs):
    return sum(x * 0.1 for x in xs) / len(xs)


def of_few(a, b, c):
    return sum((a, b, c, 0.1)), sum([a, b, 2.0, c]), sum((a, 1, b, 2, c))


def random_floats(rng, most):
    return [rng.choice([1e16, -1e16, 1.0, 0.1, 3.3, rng.random()]) for _ in range(rng.randrange(most))]


def test_a_sum_is_that_of_python():
    graphs = {function: hia.function(function, strict=True) for function in (whole, from_start, mean_of_tenths, of_few)}
    rng = random.Random(1)
    for _ in range(200):
        xs = random_floats(rng, 12)
        assert repr(graphs[whole](xs)) == repr(whole(xs))
        for start in (1, 0.5, 1e16):
            assert graphs[from_start](xs, start) == from_start(xs, start)
        if xs:
            assert graphs[mean_of_tenths](xs) == mean_of_tenths(xs)
        if len(xs) >= 3:
            assert graphs[of_few](*xs[:3]) == of_few(*xs[:3])


@pytest.mark.parametrize("xs", [[math.inf, 1.0], [math.inf, -math.inf], [math.nan, 1.0], [1e308, 1e308, -1e308]])
def test_a_sum_that_is_not_finite(xs):
    assert repr(hia.function(whole, strict=True)(xs)) == repr(whole(xs))


def test_what_additions_lose_is_added_on_every_version():
    total = hia.function(prelude.total_of_floats, strict=True)
    assert total([1e16, 1.0, -1e16], 0.0) == 1.0
    assert total([], 0.5) == 0.5
    assert total([math.inf, 1.0], 0.0) == math.inf
    if sys.version_info >= (3, 12):
        rng = random.Random(2)
        for _ in range(100):
            xs = random_floats(rng, 30)
            assert total(xs, 0.0) == sum(xs, 0.0)


def test_gradients_go_through():
    def product(a, b, xs):
        return sum(a * x for x in xs) + sum((a, b, a * b))

    gradient = hia.value_and_grad(product, argnums=(0, 1))
    for _ in range(4):
        assert gradient(2.0, 3.0, [0.5, 1.5, -1.0]) == (13.0, (5.0, 3.0))
