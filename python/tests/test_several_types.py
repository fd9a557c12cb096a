"""Lists, dicts and prints of values that are of one type here and of another there: of more types on one path than on the other."""

import warnings

import pytest

import hiaton as hia


def number(n, x):
    return n if n > 2 else x


def number_or_none(n, x):
    return None if n > 5 else number(n, x)


def lists(n, x):
    some, others = [(number(n, x), 1)], [(number_or_none(n, x), 1)]
    return some if n != 7 else others


def lists_made_here(n, x):
    return [(number(n, x), 1)] if n != 7 else [(number_or_none(n, x), 1)]


def lists_of_lists(n, x):
    some, others = [[number(n, x)]], [[number_or_none(n, x)]]
    return some if n != 7 else others


def tuples(n, x):
    some, others = (number(n, x), 1), (number_or_none(n, x), 1)
    return some if n != 7 else others


def dicts(n, x):
    some, others = {n: (number(n, x), 1)}, {n: (number_or_none(n, x), 1)}
    return some if n != 7 else others


def closures(n, x):
    def with_captured(captured):
        return lambda k: (captured, k)
    chosen = with_captured(number(n, x)) if n != 7 else with_captured(number_or_none(n, x))
    return chosen(1)


def by_calls(n, x):
    return [] if n == 0 else [(number(n, x), n), *by_calls(n - 1, x)] if n % 2 else [(number_or_none(n, x), n), *by_calls(n - 1, x)]


@pytest.mark.parametrize("function", [lists, lists_made_here, lists_of_lists, tuples, dicts, closures, by_calls], ids=lambda f: f.__name__)
def test_each_value_keeps_its_type(function):
    graph = hia.function(function)
    for n in (1, 4, 6, 7, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hia.FallbackWarning)
            assert repr(graph(n, 0.5)) == repr(function(n, 0.5))


@pytest.mark.parametrize("function", [tuples, lists_made_here], ids=lambda f: f.__name__)
def test_graphs_have_both_types(function):
    graph = hia.function(function, strict=True)
    assert [repr(graph(n, 0.5)) for n in (1, 4, 6, 7)] == [repr(function(n, 0.5)) for n in (1, 4, 6, 7)]
    assert graph._graphs[0].hits == 4


class Note:
    def __init__(self, text):
        self.text = text


def prints(n, note):
    print(f"{1 / -2:.3f}", max(abs(n), (note.text or 5)))
    print(n, 3 / n)
    if n == 3:
        return 1
    return n


def test_statements_print_values_of_several_types(capsys):
    graph = hia.function(prints, strict=True)
    for note in (Note(7), Note(None)):
        prints(4, note)
        expected = capsys.readouterr().out
        graph(4, note)
        assert capsys.readouterr().out == expected
