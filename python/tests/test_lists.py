"""Lists that a function made and changes, in each way that there is."""

import warnings

import pytest

import hiaton as hia


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return repr(error)


def every_change(n):
    xs = [i * 2 for i in range(n)]
    xs[0] = 9
    xs[-1] += 5
    xs.insert(1, 77)
    xs.insert(-100, 3)
    xs.insert(100, 4)
    ys = list(xs)
    ys.sort()
    ys.reverse()
    xs.remove(77)
    del xs[1]
    for i in range(len(xs)):
        if i % 2:
            xs[i] += i
        else:
            xs[i] = xs[i] * 2
    zs = [1, n]
    zs.clear()
    zs.append(n)
    xs.sort(key=lambda q: -q, reverse=n % 2 == 0)
    return xs, ys, zs


def sieve(n):
    flags = [True] * n
    for i in range(2, n):
        if flags[i]:
            j = i * i
            while j < n:
                flags[j] = False
                j += i
    return [i for i in range(2, n) if flags[i]]


def repeated(n):
    counts = n * [0, 1]
    counts[n] += n
    del counts[n - 1]
    return counts, [None] * n, [1.5] * True


def found_and_removed(n):
    xs = [3, 1, 2]
    xs.remove(n)
    return xs


class Turns:
    def __init__(self):
        self.turn = 0

    def following(self):
        self.turn += 1
        return self.turn


@pytest.mark.parametrize("function", [every_change, sieve, repeated, found_and_removed], ids=lambda f: f.__name__)
def test_it_gives_what_python_gives(function):
    graph = hia.function(function, strict=True)
    raised = 0
    for n in (3, 4, 1, 0, 6, 2):
        expected = outcome(function, n)
        assert repr(outcome(graph, n)) == repr(expected)
        raised += isinstance(expected, str)
    assert graph._plain == raised, graph.report()


def test_an_index_is_computed_once():
    def added(turns):
        xs = [1, 2, 3, 4]
        xs[turns.following()] += 10
        xs[turns.following()] += 20
        return xs

    turns = Turns()
    assert (hia.function(added, strict=True)(turns), turns.turn) == ([1, 12, 23, 4], 2)


def is_set(n):
    xs, ys = [n, 2, 3, 4], [0, 0, 0, 0]
    for i, (x, y) in enumerate(zip(ys, xs)):
        xs[-1] = 7
        ys[-1] += y + x + i
    return xs, ys


def shrinks(n):
    xs, removed = [n, 2, 3, 4], []
    for x in xs:
        removed.append(x)
        xs.remove(x)
    return xs, removed


def turned(n):
    xs, seen = [n, 2, 3, 4], []
    for x in reversed(xs):
        seen.append(x)
        xs[0] = 100
    return xs, seen


def values_of_a_dict(n):
    d, total = {"a": 1, "b": n}, 0
    for _, value in d.items():
        d["b"] = 50
        total += value
    return total, d


def in_a_comprehension(n):
    xs = [n]
    return [xs.append(i) for i in range(3)], xs


def in_one_side(n):
    xs = [n, 1, 0]
    y = xs.append(3) if n else xs.sort()
    return xs, y


@pytest.mark.parametrize("function", [is_set, shrinks, turned, values_of_a_dict, in_a_comprehension, in_one_side],
                         ids=lambda f: f.__name__)
def test_what_is_seen_elsewhere_is_left_to_python(function):
    with pytest.raises(hia.ConversionError):
        hia.function(function, strict=True)(1)
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for n in (1, 5, 1, 0):
            assert repr(outcome(graph, n)) == repr(outcome(function, n)), graph.report()


def sum_with_another_list(n):
    xs = [n, 2]
    return xs + (xs := [7]), xs


def sum_with_what_a_call_sets(n):
    xs = [n, 2]

    def other():
        nonlocal xs
        xs = [7]
        return xs
    return xs + other(), xs


def sum_with_what_a_call_adds(n):
    xs = [n, 2]

    def longer():
        xs.append(5)
        return [6]
    return xs + longer(), xs


def total_without_the_last(n):
    xs = [n, 2, 3]
    return sum(xs, xs.pop()), xs


def last_moved(xs, x):
    xs.append(x)
    xs[0] = len(xs)


def last_moved_twice(n):
    xs = [n, 2, 3]
    last_moved(xs, xs.pop())
    last_moved(xs, xs.pop() + xs[-1])
    return xs


def all_of(*parts):
    return [list(part) if isinstance(part, list) else part for part in parts]


def parts_and_last(n):
    xs = [n, 2, 3]
    return all_of(xs, xs.pop(), xs)


@pytest.mark.parametrize("function", [sum_with_another_list, sum_with_what_a_call_sets, sum_with_what_a_call_adds, total_without_the_last,
                                      last_moved_twice, parts_and_last], ids=lambda f: f.__name__)
def test_lists_are_taken_as_the_other_parts_of_an_expression_leave_them(function):
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for n in (1, 5):
            assert repr(graph(n)) == repr(function(n)), graph.report()


class Held:
    pass


def one_list_on_several_paths(held, n):
    xs = [n, 1]
    ys = [n, 1]
    held.items = xs
    held.pair = (xs, ys)
    held.nested = [xs, ys, list(xs)]
    return xs, ys, xs


def test_lists_that_are_given_back_are_as_many_as_in_python():
    graph = hia.function(one_list_on_several_paths, strict=True)
    for n in (1, 2):
        held = Held()
        xs, ys, same = graph(held, n)
        assert xs == ys == [n, 1] and xs is not ys
        assert all(one is xs for one in (same, held.items, held.pair[0], held.nested[0]))
        assert held.pair[1] is ys and held.nested[1] is ys and held.nested[2] == xs
        assert held.nested[2] is not xs and held.nested[2] is not ys
    assert graph._plain == 0, graph.report()


def taken_apart(xs, scale):
    a, b = [x * scale for x in xs]
    (c, d), *others = [(x, a) for x in xs]
    [first, *_] = xs
    return a, b, c, d, others, first


def with_a_tail(xs):
    first, *rest = xs
    rest.append(first)
    return first, rest, xs


@pytest.mark.parametrize("function", [taken_apart, lambda xs, _: with_a_tail(xs)], ids=["apart", "tail"])
def test_lists_are_taken_apart_into_names(function):
    graph = hia.function(function)
    for xs in ([1, 2], [5, -3], [1], [], [1, 2, 3]):
        assert outcome(graph, list(xs), 3) == outcome(function, list(xs), 3), xs
    assert sum(one.hits for one in graph._graphs) >= 2, graph.report()


def emptiness(xs):
    few = [x for x in xs if x > 2]
    return (len(xs) == 0, len(xs) != 0, len(xs) > 0, len(xs) <= 0, len(xs) < 1, len(xs) >= 1, len(xs) == 1, len(few) == 0,
            len((1, 2)) > 0, len("") == 0, len(xs) > 0 and xs[0])


def test_lists_are_not_counted_where_only_emptiness_is_asked_for():
    graph = hia.function(emptiness, strict=True)
    for xs in ([], [1], [1, 5]):
        assert graph(xs) == emptiness(xs)

    @hia.function(strict=True)
    def sum_or_nothing(xs):
        return None if len(xs) == 0 else sum(xs)

    assert [sum_or_nothing(xs) for xs in ([1, 2], [], [3])] == [3, None, 3]
    assert "count" not in sum_or_nothing.text()


def reduced(ops):
    stack = []
    for op in ops:
        if op > 0:
            stack.append(op)
        else:
            stack.append(stack.pop() + 10 * stack.pop())
    return stack.pop()


def turned_by_pops(xs):
    left, made = [x for x in xs], []
    while left:
        made.append(left.pop())
    return made


def several_pops(xs):
    ys = [x for x in xs]
    last, first = ys.pop(), ys.pop(0)
    number, taken = ys[-1] * 100 + ys.pop() * 10 + ys[-1] + len(ys), [ys.pop(), ys.pop()]
    return last, first, number, taken, ys


def popped_in_a_condition(xs):
    ys = [x for x in xs]
    if ys.pop() > 1:
        return ys
    return [ys.pop()]


def into_the_same_list(xs):
    ys = [x for x in xs]
    ys[0] = ys.pop()
    ys[0] += ys.pop()
    return ys


@pytest.mark.parametrize("function, args", [
    (reduced, [1, 2, 0, 3, -1]), (reduced, [7]), (turned_by_pops, [1, 2, 3]), (turned_by_pops, []), (several_pops, [1, 2, 3, 4, 5, 6, 7]),
    (popped_in_a_condition, [1, 2, 1]), (popped_in_a_condition, [1, 2, 3]), (into_the_same_list, [1, 2, 3])])
def test_pop_inside_of_expressions(function, args):
    assert hia.function(function, strict=True)(args) == function(args)


def popped_on_a_side(xs):
    ys = [x for x in xs]
    first = ys.pop() if len(ys) > 1 else 0
    return first, ys


def popped_by_a_dict(xs):
    ys = [x for x in xs]
    return {key: ys.pop() for key in ("a", "b")}, ys


def popped_by_items_of_several_types(xs):
    ys = [x for x in xs]
    return [ys.pop() for _ in (1, "b")], ys


def index_into_what_is_popped(xs):
    ys = [x for x in xs]
    return ys[ys.pop()]


def sum_before_and_after(xs):
    ys = [x for x in xs]
    return sum(ys) + ys.pop() + sum(ys)


def another_name(xs):
    ys = [x for x in xs]
    zs = ys
    return ys.pop() + len(zs)


@pytest.mark.parametrize("function", [popped_on_a_side, popped_by_a_dict, popped_by_items_of_several_types, index_into_what_is_popped,
                                      sum_before_and_after, another_name])
def test_python_pops_where_a_graph_might_miss_it(function):
    xs = [1, 2, 0, 3, 1]
    with pytest.raises(hia.ConversionError):
        hia.function(function, strict=True)(xs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert hia.function(function)(xs) == function(xs)


def chart_of(words):
    """The best way to join neighbors, as the algorithm of Cocke, Younger and Kasami finds it: rows of cells, of which later ones read earlier ones."""
    n = len(words)
    chart = [[word * 1.0 for word in words]]
    for width in range(2, n + 1):
        row = []
        for i in range(n - width + 1):
            row.append(max([chart[k - 1][i] + chart[width - k - 1][i + k] * 0.5 for k in range(1, width)]))
        chart.append(row)
    return chart[n - 1][0], min(chart[0]), chart


@pytest.mark.parametrize("words", [[3, 1, 2, 4], [7], [2, 5, 1]])
def test_rows_that_read_rows_before(words):
    function = hia.function(chart_of, strict=True)
    assert function(words) == chart_of(words)
    assert "-> tuple[float, float, list[list[float]]]" in function.report()


def rows_in_another_list(n):
    rows, kept = [[0]], []
    for _ in range(n):
        kept = [rows]
    rows.append([9])
    return rows, kept


def row_in_a_pair(n):
    row, kept = [1], (0, [5])
    for i in range(n):
        kept = (i, row)
    row.append(3)
    return row, kept


def another_name_in_a_loop(n):
    rows, kept = [[0]], []
    for _ in range(n):
        kept = rows
    rows.append([9])
    return rows, kept


@pytest.mark.parametrize("function", [rows_in_another_list, row_in_a_pair, another_name_in_a_loop])
@pytest.mark.parametrize("n", [0, 2])
def test_lists_that_a_loop_gives_other_names(function, n):
    with pytest.raises(hia.ConversionError, match="is a list that others may refer to"):
        hia.function(function, strict=True)(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert hia.function(function)(n) == function(n)


def test_a_row_that_a_loop_gives_a_name():
    def last_of(n):
        rows, last = [[0]], []
        for _ in range(n):
            last = rows[-1]
        rows.append([1])
        return rows, last
    rows, last = hia.function(last_of, strict=True)(2)
    assert (rows, last) == last_of(2) and last is rows[0]
