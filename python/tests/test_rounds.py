"""How often a conversion builds the graph until nothing new is found."""

import pytest

import hiaton as hia
from hiaton.function import rounds


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
