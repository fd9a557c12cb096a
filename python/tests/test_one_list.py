"""A list whose elements are looked up is one list, by whatever name and on whatever path somebody reads it."""

import warnings

import pytest
from test_random_programs import shape

import hiaton as hia


def made(n):
    xs = [0] * n
    for i in range(n):
        xs[i] = i
    return xs


def by_a_function_inside(n):
    xs = [0] * n

    def get(k):
        return xs if k == 0 else get(k - 1)
    for i in range(n):
        xs[i] = i
    found = get(2)
    return found, xs, (lambda: xs)()


def by_a_conditional_expression(n):
    xs = [0] * n
    for i in range(n):
        xs[i] = i
    ys = xs if n > 2 else [1]
    return ys, xs


def on_a_side(n):
    xs = [0] * n
    for i in range(n):
        xs[i] = i
    if n > 2:
        ys = xs
    else:
        ys = [1]
    return ys, xs


def in_a_comprehension(n):
    xs = [0] * n
    for i in range(n):
        xs[i] = i
    return [xs for _ in range(2)], xs


def in_a_loop(n):
    xs, kept, best = [0] * n, [], [1]
    for i in range(n):
        xs[i] = i
    for i in range(n):
        if i == 2:
            best = xs
        kept.append(xs)
    return best, kept, xs


def left_early(n):
    xs, s = [0] * n, 0
    for i in range(n):
        xs[i] = i
    for k in range(n):
        if k == 1:
            s += max(xs)
        if k == 2:
            return xs, s
    return [s], s


def in_an_object_and_a_tuple(n):
    xs = made(n)
    held = {"a": xs, "b": (xs, 1)}
    return held["a"], held["b"][0], xs


def another_name_for_what_is_gone_over(n):
    xs, seen = [i for i in range(n)], []
    for x in xs:
        seen.append(x)
        ys = xs
        xs = [0]
        ys[len(ys) - 1] = 9
    return seen, xs


def a_row_on_a_side(n):
    rows = [[0] * n for _ in range(n)]
    if n > 2:
        row = rows[0]
    else:
        row = [5]
    rows[0][0] = 9
    return row, rows


def a_row_of_a_loop_in_a_loop(n):
    rows = [[0] * n for _ in range(n)]
    for i in range(n):
        rows[i][i] = i
    for _ in range(2):
        for row in rows:
            last = row
    rows[n - 1][0] = 7
    return last, rows


def rows_in_a_comprehension(n):
    rows = [[0] * n for _ in range(n)]
    same, again = [row for row in rows], [rows[i] for i in range(n)]
    rows[0][0] = 1
    return same, again, rows


def grown_and_handed_on_a_side(n):
    xs, zs = [], []
    for i in range(n):
        xs.append(i)
        zs.append((i, "a"))
    ys = xs if n > 2 else [1]
    if n > 3:
        kept = zs
    else:
        kept = [(0, "b")]
    return ys, xs, kept, zs


def grown_and_handed_on_in_a_loop(n):
    xs, kept, best, last = [], [], [1], [2]
    for i in range(n):
        xs.append(i)
    for i in range(n):
        if i == 2:
            best = xs
        kept.append(xs)
    for i in range(n):
        last = xs
        if i > 1:
            break
    return best, kept, last, xs


def grown_and_handed_on_in_a_comprehension(n):
    xs = []
    for i in range(n):
        xs.append(i)
    return [xs for _ in range(2)], xs


def grown_looked_up_and_handed_on(n):
    xs, kept = [0], []
    for i in range(n):
        xs.append(xs[i // 2] + 1)
    for i in range(n):
        if xs[i] == 2:
            kept.append(xs)
    xs[n // 2] = 9
    return kept, xs


def grown_anew_in_each_turn(n):
    border, seen = [0], []
    for i in range(n):
        following = []
        for x in border:
            following.append(x + i)
        seen.append(border)
        border = following
    return seen, border


def rows_in_sums_and_parts(n):
    rows = [[i] for i in range(n)]
    more = [[9]] + rows
    again = rows + more
    return rows, more, again, rows[1:], more[:2]


def rows_in_sums_alone(n):
    rows = [[i] for i in range(n)]
    return [[9]] + rows, [[8], [7]] + rows


FUNCTIONS = [by_a_function_inside, by_a_conditional_expression, on_a_side, in_a_comprehension, in_a_loop, left_early, in_an_object_and_a_tuple,
             another_name_for_what_is_gone_over, grown_and_handed_on_a_side, grown_and_handed_on_in_a_loop, grown_and_handed_on_in_a_comprehension,
             grown_looked_up_and_handed_on, grown_anew_in_each_turn, rows_in_sums_and_parts, rows_in_sums_alone, a_row_on_a_side, a_row_of_a_loop_in_a_loop, rows_in_a_comprehension]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_lists_are_the_same_objects_as_in_python(function):
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for n in (4, 2, 4):
            assert shape(graph(n)) == shape(function(n))
