"""How often a conversion builds the graph until nothing new is found."""

import dataclasses
import gc
import weakref

import pytest

import hiaton as hia
from hiaton.function import earlier_types, rounds


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def counted(words, most):
    counts = {}
    for word in words:
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
        for _ in range(most):
            counts[word] += 1
    return counts


def of_depth(n):
    return () if n == 0 else (of_depth(n - 1),)


@pytest.fixture
def begun(monkeypatch):
    """The rounds that conversions have begun."""
    found, begin_round = [], rounds.Rounds._begin_round

    def noted(converter):
        found.append(converter)
        begin_round(converter)

    monkeypatch.setattr(rounds.Rounds, "_begin_round", noted)
    return found


@pytest.mark.parametrize("function, args", [(power, (2.0, 3)), (counted, ([1, 2, 1], 2))])
def test_drafts_find_the_types_of_what_calls_itself(begun, function, args):
    graph = hia.function(function, strict=True)
    assert graph(*args) == function(*args)
    assert len(begun) <= 3


def test_drafts_end_where_types_grow_without_end(begun):
    graph = hia.function(of_depth, strict=True)
    with pytest.raises(hia.ConversionError, match="types that do not grow"):
        graph(3)
    assert len(begun) < rounds.MOST_ROUNDS


def last_seen(words):
    seen = {}
    for number, word in enumerate(words):
        seen[word] = number
    return seen.get(3, -1)


@pytest.fixture
def defined(monkeypatch):
    """How many functions of the graph conversions have built, drafts too, where none has come before."""
    monkeypatch.setattr(earlier_types, "_remembered", {})
    found, define = [], rounds.Rounds._define

    def noted(converter, instance, build):
        found.append(instance.key)
        define(converter, instance, build)

    monkeypatch.setattr(rounds.Rounds, "_define", noted)
    return found


def test_what_dicts_consist_of_is_drafted_by_the_first_conversion_alone(defined):
    assert hia.function(counted, strict=True)([1, 2, 1], 2) == {1: 6, 2: 3}
    first = len(defined)
    defined.clear()
    assert hia.function(last_seen, strict=True)([3, 1, 3]) == 2
    assert 0 < len(defined) < first / 2


def test_what_a_conversion_remembers_keeps_no_class_alive(defined):
    @dataclasses.dataclass
    class Entry:
        count: int

    def counts(entries):
        found, places = {}, {}
        for number, entry in enumerate(entries):
            found[number] = entry
            places[entry.count] = number
        return found[places[2]].count

    assert hia.function(counts, strict=True)([Entry(1), Entry(2)]) == 2
    assert len(earlier_types._remembered) > 0
    assert not any("Entry" in str(key) for key in earlier_types._remembered)
    gone = weakref.ref(Entry)
    defined.clear()
    del Entry, counts
    gc.collect()
    assert gone() is None


def test_what_other_settings_have_found_is_not_taken_over(defined):
    """Loops keep the places in lists that they have found where one worker runs them alone."""

    def built_with(function, **settings):
        defined.clear()
        assert hia.function(function, strict=True, **settings)([3, 1, 3]) == 2
        return len(defined)

    first = built_with(last_seen)
    assert built_with(last_seen, workers=2) == first
    assert built_with(last_seen, workers=2) < first
