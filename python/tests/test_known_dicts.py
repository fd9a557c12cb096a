"""Dicts that are no arguments: variables of the module, or attributes of its objects."""

import dataclasses
import enum
import operator

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
def test_a_key_from_the_run(function):
    graph = hia.function(function, strict=True)
    for word in ("a", "b", "c"):
        try:
            expected = function(word)
        except KeyError:
            with pytest.raises(KeyError, match="c"):
                graph(word)
            continue
        assert graph(word) == expected
    assert len(graph._graphs) == 1 and graph._graphs[0].hits >= 2, graph.report()


def test_a_key_from_the_run_and_a_dict_that_changes():
    words = dict(WORDS)
    graph = hia.function(lambda w: words.get(w, 0), strict=True)
    assert [graph("a"), graph("d")] == [1, 0]
    words["d"] = 7
    assert [graph("a"), graph("d")] == [1, 7]
    words["d"] = 8
    assert graph("d") == 8


@dataclasses.dataclass
class Term:
    sign: str
    left: "Term | float"
    right: "Term | float"
    color: Color = Color.RED


SIGNS = {"+": operator.add, "*": lambda a, b: a * b, "max": max}
WEIGHTS = {Color.RED: 1.0, Color.BLUE: 0.5}
MOVES = {(0, "+"): 1, (1, "*"): 2, (1, "+"): 0}


def value_of(t):
    if isinstance(t, float):
        return t
    return WEIGHTS[t.color] * SIGNS[t.sign](value_of(t.left), value_of(t.right))


def state_of(t, state):
    if isinstance(t, float):
        return state
    return state_of(t.right, state_of(t.left, MOVES.get((state, t.sign), state)))


def test_functions_by_sign():
    terms = [Term("+", 1.0, 2.0), Term("*", Term("+", 3.0, 4.0, Color.BLUE), 2.0),
             Term("+", Term("*", 2.0, 5.0), Term("max", 1.0, Term("+", 2.0, 7.0)), Color.BLUE)]
    for function in (value_of, lambda t: state_of(t, 0)):
        graph = hia.function(function, strict=True)
        assert [graph(t) for t in terms] == [function(t) for t in terms]
        assert graph._plain == 0, graph.report()


def test_a_key_from_the_run_of_many_is_refused_with_advice():
    many = {f"w{number}": number for number in range(100)}
    with pytest.raises(hia.ConversionError, match="the key of a dict of more than 64 keys must be known when the graph is made, found str; "
                                                  "make numbers of words before the call"):
        hia.function(lambda w: many[w], strict=True)("w3")
    with pytest.warns(hia.FallbackWarning):
        assert hia.function(lambda w: many[w])("w3") == 3


def test_other_methods_are_refused():
    with pytest.raises(hia.ConversionError, match="dict.pop of a dict that is no argument cannot be converted"):
        hia.function(lambda n: WORDS.pop("a"), strict=True)(1)
