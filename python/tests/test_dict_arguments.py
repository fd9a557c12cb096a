"""Dicts that come in: arguments with keys of numbers, and what objects hold."""

import dataclasses
import random
import warnings

import pytest

import hiaton as hia


def reached(graph, n, seen):
    seen.add(n)
    return 1 + sum([reached(graph, m, seen) for m in graph[n] if m not in seen])


def test_a_dict_with_keys_of_numbers_is_an_argument_of_any_size():
    graph = hia.function(lambda edges: reached(edges, 0, set()), strict=True)
    rng = random.Random(2)
    for size in (1, 5, 70, 300):
        edges = {n: [rng.randrange(size) for _ in range(2)] for n in range(size)}
        assert graph(edges) == reached(edges, 0, set())
    assert graph._conversions == 1


def test_a_dict_of_many_texts_is_an_argument():
    total = hia.function(lambda counts, words: sum([counts.get(word, 0) for word in words]), strict=True)
    assert total({str(n): n for n in range(500)}, ["7", "x", "499"]) == 506
    assert total({str(n): n for n in range(300)}, ["7"]) == 7


def changed(d, n):
    d[n] = 1
    return len(d)


def given_back(d, n):
    return d


def given_in_a_tuple(d, n):
    return n, d


def read(d, n):
    e = d.copy()
    e[n] = 0
    return e, d == e, list(d.items()), [v for k, v in d.items() if k > 1], {**d, 7: 2}, sorted(d), d.get(n)


@pytest.mark.parametrize("function", [changed, given_back, given_in_a_tuple, read])
def test_a_dict_of_the_caller_stays_the_callers(function):
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for given in ({1: 5, 3: 2}, {}, {2: 4}, {1: 5, 3: 2, 4: 4}, {(1, 2): 3}, {"a": 1}, {1: None}, {1: 2.5, 2: 3}):
            mine, theirs = dict(given), dict(given)
            made, expected = outcome(graph, mine, 3), outcome(function, theirs, 3)
            assert made == expected and mine == theirs
            if function is given_back:
                assert made is mine
            if function is given_in_a_tuple:
                assert made[1] is mine


def outcome(function, *args):
    try:
        return function(*args)
    except TypeError as error:
        return str(error)


@dataclasses.dataclass
class Trie:
    below: dict = dataclasses.field(default_factory=dict)
    count: int = 0


def trie_of(words):
    root = Trie()
    for word in words:
        t = root
        for letter in word:
            t = t.below.setdefault(letter, Trie())
        t.count += 1
    return root


def count_of(t, word, i=0):
    if i == len(word):
        return t.count
    return count_of(t.below[word[i]], word, i + 1) if word[i] in t.below else 0


def total_of(t):
    return t.count + sum(total_of(below) for below in t.below.values())


def doubled(t):
    return Trie({letter: doubled(below) for letter, below in t.below.items()}, 2 * t.count)


def with_itself(t):
    return Trie({**t.below, "!": t}, 0)


def parts_of(t):
    return (len(t.below), bool(t.below), t.below == {}, [letter for letter in t.below], sorted([b.count for b in t.below.values()]),
            t.below.get("?"), [letter for letter, below in t.below.items() if below.count > 0], "a" in t.below, list(t.below.items()))


def below_a(t):
    return t.below.get("a"), t


def changed_below(t):
    t.below["a"] = Trie()
    return len(t.below)


def its_dict(t):
    return t.below


@pytest.mark.parametrize("function", [total_of, doubled, with_itself, parts_of, below_a, changed_below, its_dict])
def test_objects_hold_dicts(function):
    rng = random.Random(5)
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for size in (0, 1, 3, 40, 200):
            words = ["".join(rng.choices("abcdefg", k=rng.randint(1, 4))) for _ in range(size)]
            mine, theirs = trie_of(words), trie_of(words)
            made, expected = graph(mine), function(theirs)
            assert made == expected and mine == theirs
            if function is below_a:
                assert made[1] is mine and made[0] is mine.below.get("a")
            if function is with_itself:
                assert made.below["!"] is mine and list(made.below) == [*mine.below, "!"]
            if function is its_dict:
                assert made is mine.below
    if function in (total_of, doubled, with_itself):
        assert sum(one.hits for one in graph._graphs) == 5 and len(graph._graphs) <= 2
    find = hia.function(count_of, strict=True)
    assert [find(mine, list(word)) for word in words[:20]] == [count_of(mine, word) for word in words[:20]]


def test_a_large_dict_of_an_object_is_left_to_python():
    graph = hia.function(total_of)
    small, large = Trie({n: Trie({}, n) for n in range(60)}), Trie({n: Trie({}, n) for n in range(70)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        assert (graph(small), graph(large), graph(small)) == (1770, 2415, 1770)
