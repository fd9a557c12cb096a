"""Functions that lists and other values keep read the last values of their names: so they do in plain Python."""

import functools
import warnings

import pytest

import hiaton as hia


def hooks(n):
    total = 0
    kept = [lambda: total]
    for i in range(n):
        total += i
    return [f() for f in kept]


def of_comprehension(n):
    return [f() for f in [lambda: i for i in range(n)]]


def of_for(n):
    kept = []
    for i in range(n):
        def f(x):
            return x + i
        kept.append(f)
    return [f(10) for f in kept]


def of_while(n):
    i, kept = 0, []
    while i < n:
        kept.append(lambda: i)
        i += 1
    return [f() for f in kept]


def of_either(n):
    total = 0
    f = (lambda: total) if n > 0 else (lambda: -1)
    total = 5
    return f()


def of_dict(n):
    k = 1
    kept = {"f": lambda x: x * k}
    k = n
    return kept["f"](2)


def of_partial(n):
    k = 1
    f = functools.partial(lambda x: x * k, 2)
    k = n
    return f()


def added(kept, f):
    return [*kept, f]


def of_other(n):
    k = 1
    kept = added([], lambda: k)
    k = n
    return kept[0]()


KEPT = [hooks, of_comprehension, of_for, of_while, of_either, of_dict, of_partial, of_other]


@pytest.mark.parametrize("function", KEPT, ids=lambda function: function.__name__)
@pytest.mark.parametrize("n", [0, 3])
def test_they_read_the_last_value(function, n):
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for _ in range(3):
            assert graph(n) == function(n)


def test_the_message_tells_how_to_keep_a_value():
    graph = hia.function(of_while, strict=True)
    with pytest.raises(hia.ConversionError, match="'i' gets another value while 'kept' keeps a function that reads it; .* i=i"):
        graph(3)
    with pytest.raises(hia.ConversionError, match="'i' gets another value in the next turn, and a function that reads it is kept"):
        hia.function(of_comprehension, strict=True)(3)


def with_defaults(n):
    kept = []
    for i in range(n):
        kept.append(lambda x, i=i: x + i)
    return [f(1) for f in kept]


def before_it_changes(n):
    k = n + 1
    kept = [lambda x: x + k, lambda x: x * k]
    return [f(2) for f in kept]


@pytest.mark.parametrize("function", [with_defaults, before_it_changes], ids=lambda function: function.__name__)
def test_functions_whose_names_stay_are_kept_in_graphs(function):
    graph = hia.function(function, strict=True)
    assert graph(3) == function(3)
    assert graph(5) == function(5)
