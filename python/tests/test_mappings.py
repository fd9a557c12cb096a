"""Dicts whose keys the run tells, and sets: made, looked up, changed, gone over, handed on and given back."""

import functools
import warnings

import pytest

import hiaton as hia


def kept_results(n):
    memo = {}

    def fib(k):
        if k in memo:
            return memo[k]
        memo[k] = k if k < 2 else fib(k - 1) + fib(k - 2)
        return memo[k]
    return fib(n)


def handed_down(n, memo):
    if n in memo:
        return memo[n]
    memo[n] = n if n < 2 else handed_down(n - 1, memo) + handed_down(n - 2, memo)
    return memo[n]


def by_parameter(n):
    return handed_down(n, {})


def with_default(n, memo=None):
    if memo is None:
        memo = {}
    if n in memo:
        return memo[n]
    if n < 2:
        return n
    memo[n] = with_default(n - 1, memo) + with_default(n - 2, memo)
    return memo[n]


def by_cache(n):
    @functools.cache
    def paths(i, j):
        return 1 if i == 0 or j == 0 else paths(i - 1, j) + paths(i, j - 1)
    return paths(n % 12, n % 9)


def by_lru_cache(n):
    @functools.lru_cache(maxsize=None)
    def ways(amount, coin=1):
        if amount < 0 or coin > 4:
            return 0
        return 1 if amount == 0 else ways(amount - coin, coin) + ways(amount, coin + 1)
    return ways(n)


def steps(n):
    seen, best = {}, 0
    for i in range(1, n):
        k, count = i, 0
        while k != 1 and k not in seen:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            count += 1
        seen[i] = count + (seen[k] if k in seen else 0)
        best = max(best, seen[i])
    return best


def many_keys(n):
    d = {}
    for turn in range(3):
        for i in range(n):
            d[i * 1024 - 7] = turn * i
            if i % 3 == turn:
                del d[i * 1024 - 7]
    return len(d), sum(d.values()), sum(k for k in d), list(d)[:3]


def in_order(n):
    d = {(i * 7) % n: i for i in range(n)}
    d.pop(3, None)
    d[3] = 2
    d[0] += 5
    return list(d.items()), list(d), list(d.values()), [(k, v) for k, v in d.items()], {v: k for k, v in d.items()}, sorted(d)


def pairs_as_keys(n):
    d = {}
    for i in range(n):
        for j in range(n):
            d[(i, j), i > j] = i * j
    return d[(2, 1), True], len(d), ((1, 2), False) in d, ((1, 2), True) in d, (1, 2) in d


def several_items(n):
    d = {}
    for i in range(n):
        d[i] = None if i % 2 else (i, i / 2)
    return d, d.get(3), d.get(4), d.get(-1), d.get(-1, 7)


def groups(n):
    found = {}
    for i in range(n):
        found[i % 3] = found.get(i % 3, []) + [i]
    return found, [len(items) for items in found.values()]


def methods(n):
    d = {}
    for i in range(n):
        d.setdefault(i % 5, i)
        d.update({i: 2})
    e = d.copy()
    e.clear()
    last = d.pop(n - 1)
    none = d.pop(77, -1)
    both = d | {-1: 3}
    return d, e, last, none, both == {**d, -1: 3}, d == both, dict([(1, n), (2, n)]), dict(d) == d, bool(e), bool(d)


def sets(n):
    a, b = {i % 7 for i in range(n)}, set([3, n, 8])
    a.add(n)
    b |= {1}
    return (a | b, a & b, a - b, a ^ b, a <= b, (a & b) < a, a == b, a.isdisjoint(b), a.union([77]), len(a), max(a), sorted(b), a >= {n},
            {x * 2 for x in a}, sum(sorted(a)))


def a_set_that_changes(n):
    s = set()
    for i in range(n):
        s.add((i % 4, i % 3))
    s.discard((9, 9))
    s.remove((0, 0))
    s.update([(5, 5)])
    return s, (5, 5) in s, set(), set() | {n}


def joined_sets(n):
    parent = {i: i for i in range(n)}

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x
    for i in range(0, n - 2, 3):
        parent[find(i)] = find(i + 2)
    return len({find(i) for i in range(n)})


def a_walk(n):
    seen, stack = set(), [(0, 0)]
    while stack:
        i, j = stack.pop()
        if (i, j) in seen or not (0 <= i < n % 9 and 0 <= j < 5):
            continue
        seen.add((i, j))
        stack.append((i + 1, j))
        stack.append((i, j + 1))
    return len(seen)


def moved(n):
    a, b = {}, {}
    for i in range(n):
        a[i] = 1
        a, b = b, a
    return a, b


def fill(d, n):
    for i in range(n):
        d[i] = d.get(i, 0) + i


def filled(n):
    d = {}
    fill(d, n)
    fill(d, n // 2)
    return d


def looked_at(n):
    d = {i: i * 2 for i in range(n)}
    match d:
        case {3: found}:
            pass
        case _:
            found = -1
    return (found, type(d) is dict, isinstance(d, dict), isinstance({n}, set), type({n}) == set, hasattr(d, "keys"), hasattr(d, "add"), 4 in d.values(),
            1 in d.keys(), len(d.items()), (1, 2) in d.items(), d == {}, [*d], max(d, key=lambda k: -k), max(d.values()), {*d, n + 7})


def put(d, k):
    d[k] = k * 10
    return k - 1


def changed_by_arguments(n):
    """Python looks at the very dict or set when all arguments and indices are computed."""
    d, s, xs = {}, set(), [n]
    d[n] = 1
    s.add(n)

    def more(k):
        s.add(k)
        xs.append(k)
        return {k, n}
    found = d[put(d, n + 1)], d.get(put(d, n + 2) + 1), d.get(-1, put(d, n + 4)), put(d, n + 6) + 1 in d, len(d) + put(d, n + 8) + len(d)
    d[put(d, n + 10)] = 5
    d[n + 19] = 3
    d[put(d, n + 20)] += put(d, n + 30)
    total = d[n] + put(d, n) + d[n]
    return found, total, s.union(more(-2)), s.isdisjoint(more(-3)), s.issuperset(more(-4)), xs.index(len(more(-5)) + n - 2), d


def thinned(n):
    d = {i: i for i in range(n)}
    for k in list(d):
        if k % 2:
            del d[k]
        else:
            d[k + n] = k
    for k, v in sorted(d.items()):
        d[k] = v + 1
    return d


def taken_out(n):
    """Keys that come and go: what stands behind a removed one is still found."""
    d, s, total = {}, set(), 0
    for i in range(n * 40):
        k = i * i % 61 * 1024
        if i % 3 == 0:
            d[k] = i
            s.add((k, i % 2))
        elif i % 3 == 1:
            total += d.pop(k, 1) % 1009
            s.discard((k, i % 2))
        else:
            if k in d:
                del d[k]
            total += (k, i % 2) in s
        if i % 97 == 0:
            total += sum(d.values()) + len(s)
    return total, d, s


def queens(n):
    columns, rising, falling = set(), set(), set()

    def place(row):
        if row == n % 6:
            return 1
        count = 0
        for column in range(n % 6):
            if column in columns or row + column in rising or row - column in falling:
                continue
            columns.add(column)
            rising.add(row + column)
            falling.add(row - column)
            count += place(row + 1)
            columns.remove(column)
            rising.remove(row + column)
            falling.remove(row - column)
        return count
    return place(0)


def made_on_sides(n):
    d = {} if n > 3 else {n: 1}
    if n > 5:
        d[n + 1] = 2
    else:
        d["a" if n < 0 else "b"] = 3 if n < 0 else 0
    return len(d)


CONVERTED = [kept_results, by_parameter, with_default, by_cache, by_lru_cache, steps, many_keys, in_order, pairs_as_keys, several_items, groups,
             methods, sets, a_set_that_changes, joined_sets, a_walk, moved, filled, looked_at, queens, taken_out, changed_by_arguments, thinned]


@pytest.mark.parametrize("function", CONVERTED, ids=lambda function: function.__name__)
def test_it_is_as_in_python(function):
    graph = hia.function(function, strict=True)
    for n in (5, 8, 30, 60):
        made, expected = graph(n), function(n)
        assert made == expected
        for mine, theirs in zip(made if isinstance(made, tuple) else (made,), expected if isinstance(expected, tuple) else (expected,)):
            assert type(mine) is type(theirs)
            assert not isinstance(mine, dict) or list(mine.items()) == list(theirs.items())
    assert sum(one.hits for one in graph._graphs) == 4 and sum(one.faults for one in graph._graphs) == 0


def test_a_dict_is_printed(capsys):
    def printed(n):
        d = {}
        for i in range(n):
            d[i] = i / 2
            print("now", d, sep=": ")
        return len(d)

    assert hia.function(printed, strict=True)(3) == 3
    mine = capsys.readouterr().out
    assert printed(3) == 3 and mine == capsys.readouterr().out


def test_texts_are_keys():
    def counted(words):
        ids, counts = {}, {}
        for word in words:
            if word not in ids:
                ids[word] = len(ids)
            counts[word] = counts.get(word, 0) + 1
        return [ids[word] for word in words], counts

    words = "to be or not to be".split()
    assert hia.function(counted, strict=True)(words) == counted(words) == ([0, 1, 2, 3, 0, 1], {"to": 2, "be": 2, "or": 1, "not": 1})


def an_alias(n):
    d = {}
    e = d
    for i in range(n):
        d[i] = 1
    return len(e)


def an_alias_that_changes(n):
    d = {i: i for i in range(n)}
    e = d
    e[77] = 2
    return len(d)


def kept_elsewhere(n):
    d, kept = {}, []
    for i in range(n):
        kept.append(d)
        d[i] = i
    return [len(one) for one in kept]


def changed_while_gone_over(n):
    d = {i: i for i in range(n)}
    for k in d:
        d[k] += 1
    return d


def given_twice(n):
    d = {i: i for i in range(n)}
    return d, d


def given_inside(n):
    d = {i: i for i in range(n)}
    return [d], d


def a_view_that_is_kept(n):
    d = {i: i for i in range(n)}
    keys = d.keys()
    d[-1] = 1
    return len(keys)


def a_set_in_its_order(n):
    return [x for x in {i * 37 % 101 for i in range(n)}]


def other_keys(n):
    return len({i / 2: 1 for i in range(n)}), len({None: n, n: 1})


def an_item_that_changes(n):
    d = {}
    for i in range(n):
        if i % 3 not in d:
            d[i % 3] = []
        d[i % 3].append(i)
    return d


@pytest.mark.parametrize("function", [an_alias, an_alias_that_changes, kept_elsewhere, changed_while_gone_over, given_twice, given_inside,
                                      a_view_that_is_kept, a_set_in_its_order, other_keys, an_item_that_changes, made_on_sides],
                         ids=lambda function: function.__name__)
def test_what_others_see_is_left_to_python(function):
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for n in (2, 4, 7):
            made, expected = graph(n), function(n)
            assert made == expected
            if function in (given_twice, given_inside):
                assert made[1] is (made[0][0] if function is given_inside else made[0])


@pytest.mark.parametrize("function", [lambda n: grown({}, n), lambda n: grown_inside({}, n)])
def test_a_dict_that_grows_while_it_is_gone_over_is_an_error(function):
    with warnings.catch_warnings(), pytest.raises(RuntimeError, match="changed size during iteration"):
        warnings.simplefilter("ignore", hia.FallbackWarning)
        hia.function(function)(3)


def grown(d, n):
    d[n] = 1
    return [put(d, k + 100) for k in d]


def grown_inside(d, n):
    d[n] = 1
    for k in d:
        d[k + 1] = 2
    return d


@pytest.mark.parametrize("key", [3, -1])
def test_a_key_that_is_not_there_raises_as_in_python(key):
    def looked_up(n, key):
        d = {i: i for i in range(n)}
        return d[key]

    def removed(n, key):
        d = {i: i for i in range(n)}
        del d[key]
        return len(d)

    def taken(n, key):
        return {i for i in range(n)}.copy().isdisjoint({key}), {i: i for i in range(n)}.get(key)

    for function in (looked_up, removed):
        with pytest.raises(KeyError, match=str(key)):
            hia.function(function)(3, key)
        assert hia.function(function, strict=True)(5, 3) == function(5, 3)
    assert hia.function(taken)(3, key) == (True, None)
