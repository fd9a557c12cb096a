"""Functions of itertools, zip(strict=True), parts of lists with a step, and round() are those of Python."""

import itertools
import math

import pytest

import hiaton as hia


def assert_converted(function, *calls):
    graph = hia.function(function, strict=True)
    for args in calls:
        assert repr(graph(*args)) == repr(function(*args))


def chained(xs, ys):
    found = [x * 2 for x in itertools.chain(xs, ys, [7])]
    for x in itertools.chain.from_iterable([xs, [1], ys]):
        found.append(x)
    return found, sum(itertools.chain(xs, range(3)))


def summed_up(xs, k):
    return (list(itertools.accumulate(xs)), list(itertools.accumulate(xs, lambda a, b: a * b + k)), list(itertools.accumulate(xs, max)),
            [x + 1 for x in itertools.accumulate(xs, initial=k)])


def steps(xs):
    total = 0
    for a, b in itertools.pairwise(xs):
        total += (b - a) * (b - a)
    return total, max((abs(b - a) for a, b in itertools.pairwise(xs)), default=-1)


def all_pairs(xs, ys):
    return ([x * y for x, y in itertools.product(xs, ys)], sum(x < y for x, y in itertools.product(range(4), xs)),
            [x - y for x, y in itertools.combinations(xs, 2)], [x for x in itertools.repeat(len(xs), 3)])


def recursive(xs, depth):
    return len(xs) if depth == 0 else sum(recursive(list(itertools.chain(part, [depth])), depth - 1) for part in [xs, xs[1:]])


def test_itertools():
    lists = ([], [3], [4, -1, 9, 2], list(range(50)))
    assert_converted(chained, *itertools.product(lists, lists))
    assert_converted(summed_up, *((xs, k) for xs in lists[:3] for k in (0, 5)))
    assert_converted(steps, *((xs,) for xs in lists))
    assert_converted(all_pairs, *itertools.product(lists[:3], lists[:3]))
    assert_converted(recursive, ([1, 2, 3], 4))


def parts(xs):
    return xs[::2], xs[1::3], xs[-4:-1:2], xs[::-2], xs[:5:1], xs[::-1]


def test_parts_of_lists_with_a_step():
    assert_converted(parts, *((list(range(n)),) for n in (0, 1, 2, 7)))


def rounded(x, n):
    return round(x), round(x * 0.5), round(n), round(-x - 0.5), round(2.5)


def test_round_goes_to_the_even_number_from_the_middle():
    assert_converted(rounded, *((x, 3) for x in (0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 2.4999999999999996, 1e15 + 0.5, -7.51, 0.49999999999999994)))
    graph = hia.function(lambda x: round(x))
    assert graph(1e300) == round(1e300)
    with pytest.raises(ValueError, match="NaN"):
        graph(math.nan)


def strictly(xs, ys):
    total = 0
    for x, y in zip(xs, ys, strict=True):
        total += x * y
    return total, [x - y for x, y in zip(xs, ys, strict=True)], [x + y for x, y in zip(xs[1:], ys, strict=False)]


def test_a_strict_zip():
    assert_converted(strictly, ([], []), ([1, 2], [3, 4]))
    for xs, ys in (([1], []), ([], [1, 2]), ([1, 2, 3], [1, 2])):
        graph = hia.function(strictly)
        graph([1, 2], [3, 4])
        with pytest.raises(ValueError) as expected:
            strictly(xs, ys)
        with pytest.raises(ValueError) as found:
            graph(xs, ys)
        assert str(found.value) == str(expected.value)


def kept(xs):
    pairs = itertools.pairwise(xs)
    return list(pairs), list(pairs)


@pytest.mark.parametrize("function,message", [
    (kept, r"in a loop or as list\(...\); make a list to keep it"),
    (lambda xs: [x for x in itertools.product(xs, xs, xs)], "this call of itertools.product cannot be converted; write a comprehension"),
    (lambda xs: [x for x in itertools.combinations(xs, len(xs))], "this call of itertools.combinations"),
    (lambda xs: list(itertools.repeat(xs[0])), "this call of itertools.repeat"),
    (lambda xs: [x for x in itertools.chain(*xs)], "this call of itertools.chain"),
    (lambda xs: xs[3:0:-1], r"take the part, and then \[::-1\] of it"),
    (lambda xs: xs[::len(xs)], "a step that is known before the run"),
    (lambda xs: round(xs[0] / 3, 2), "let Python round to digits"),
])
def test_what_is_refused_says_what_to_do(function, message):
    with pytest.raises(hia.ConversionError, match=message):
        hia.function(function, strict=True)([1, 2, 3])
