"""Dicts that are no arguments: variables of the module, or attributes of its objects."""

import enum

import pytest

import hiaton as hia


class Color(enum.Enum):
    RED = 1
    BLUE = 2


WORDS = {"a": 1, "b": 2}
COLORS = {Color.RED: 1.0, None: 4.0}


def test_keys_that_are_known():
    words = dict(WORDS)
    graph = hia.function(lambda n: n + words.get("c", 10) + words["a"] + words.get("b") + ("c" in words), strict=True)
    assert graph(0) == 13
    words["c"] = 5
    assert graph(0) == 9
    words["a"] = 2
    assert graph(0) == 10
    del words["c"]
    assert graph(0) == 14


def test_keys_that_are_members_of_an_enum():
    colors = dict(COLORS)
    graph = hia.function(lambda n: n * colors[Color.RED] + colors[None] + colors.get(Color.BLUE, 0.0), strict=True)
    assert graph(2.0) == 6.0
    colors[Color.RED] = 3.0
    assert graph(2.0) == 10.0


@pytest.mark.parametrize("function", [lambda w: WORDS[w], lambda w: WORDS.get(w, 0), lambda w: w in WORDS])
def test_a_key_from_the_run_is_refused_with_advice(function):
    with pytest.raises(hia.ConversionError, match="the key of a dict that is no argument must be known when the graph is made, found str; "
                                                  "make numbers of words before the call"):
        hia.function(function, strict=True)("a")
    with pytest.warns(hia.FallbackWarning):
        assert hia.function(function)("a") == function("a")


def test_other_methods_are_refused():
    with pytest.raises(hia.ConversionError, match="dict.pop of a dict that is no argument cannot be converted"):
        hia.function(lambda n: WORDS.pop("a"), strict=True)(1)
