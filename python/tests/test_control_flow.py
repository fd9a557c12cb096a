"""Control flow and mixtures of types in functions that become graphs: each gives what plain Python gives."""

import dataclasses

import pytest

import hiaton as hia


@dataclasses.dataclass
class Link:
    value: int
    next: "Link | None" = None


def links(*values):
    made = None
    for value in reversed(values):
        made = Link(value, made)
    return made


def root(n):
    for i in range(n):
        if i * i == n:
            break
    else:
        return -1
    return i


def some(link):
    total = count = 0
    while link is not None:
        total += link.value
        link = link.next
        count += 1
        if total > 10:
            break
    else:
        count = -count
    return total, count


def machine(xs):
    state, found = "a", []
    for x in xs:
        if state == "a":
            state = "b" if x > 1 else "a"
        elif state == "b":
            state = "c"
        else:
            state = "a"
        found.append(state == "b")
    return state, found


def several_types(n):
    x = 1 if n > 2 else 2.5
    y = None if n > 3 else x
    return x, y, y is None, (x, (y, n))


def pair_of(xs):
    for i, x in enumerate(xs):
        for y in xs:
            if x + y == 7 and x < y:
                return i, x, y
    return None


class Base:
    step = 2

    def __init__(self, value):
        self.value = value

    def go(self, n):
        return self.value * n if n < 3 else self.go(n - 1) + self.step


class Derived(Base):
    def go(self, n):
        return super().go(n) + 100


def dispatched(objects, n):
    return [o.go(n) for o in objects], Base(n).go(2)


def told_apart(x):
    if isinstance(x, (int, float)):
        return x * 2
    return x if isinstance(x, str) else x[0]


def turned(link, made=None):
    return made if link is None else turned(link.next, Link(link.value, made))


def triangle(n):
    rows = []
    for i in range(n):
        row = []
        for j in range(i):
            row.append(j * i)
        rows.append(row)
    return rows, len(rows), rows[-1] if rows else None


def tuples(n, xs):
    t = (n, n + 1)
    for x in xs:
        t = (t[1], t[0] + x)
    a, b = t
    return a if a > b else b, t == (1, 2), t != t


def sums(n):
    return sum([i * 1.0 for i in range(n)]), sum(i for i in range(n)), sum([], 5), sum([1.5], 2)


def texts(s, d=3):
    return (s == "x") + d, s if s != "y" else None, s in ("x", "z")


def left_in_the_middle(n):
    while True:
        n -= 1
        if n % 7 == 0:
            return n
        if n < -50:
            return None


def applied(function, xs):
    return [function(x) for x in xs] if len(xs) < 3 else applied(
        function, [x + 1 for x in xs if x > 2])


class Scale:
    __hiaton_constant__ = True

    def __init__(self, by):
        self.by = by

    def scaled(self, x):
        return x * self.by

    def all(self, xs):
        return applied(self.scaled, xs)


def with_methods(scale, xs):
    return scale.all(xs), applied(scale.scaled, xs)


CASES = [
    (with_methods, [(Scale(3), [1, 2]), (Scale(2), [1, 5, 9])]),
    (root, [(9,), (7,), (0,), (16,)]),
    (some, [(links(1, 2, 3),), (None,), (links(5, 6, 7, 8),)]),
    (machine, [([1, 2, 3, 0, 2],), ([5],), ([],)]),
    (several_types, [(1,), (3,), (4,)]),
    (pair_of, [([1, 2, 5, 6],), ([],), ([9],)]),
    (dispatched, [([Base(1), Derived(2)], 2), ([Base(3)], 5), ([Derived(1)], 4), ([], 1)]),
    (told_apart, [(3,), (2.5,), ("q",), ((1, 2),), (True,)]),
    (turned, [(links(1, 2, 3),), (None,)]),
    (triangle, [(4,), (0,), (1,)]),
    (tuples, [(1, [1, 2]), (1, []), (5, [3])]),
    (sums, [(4,), (0,)]),
    (texts, [("x",), ("y", 5), ("z",)]),
    (left_in_the_middle, [(20,), (-45,), (-49,)]),
]


def check(function, calls):
    graph = hia.function(function, strict=True)
    for _ in range(2):
        for args in calls:
            assert repr(graph(*args)) == repr(function(*args)), args
    assert sum(g.hits for g in graph._graphs) > 0, graph.report()


@pytest.mark.parametrize("function,calls", CASES, ids=[f.__name__ for f, _ in CASES])
def test_it_gives_what_python_gives(function, calls):
    check(function, calls)


def raises_on_both_sides(a, b):
    if a:
        if b:
            raise ValueError("both")
        else:
            raise KeyError("one")
    return 1


def raises_in_an_expression(a, b):
    def wrong(n):
        raise ValueError(n)

    return (wrong(1) if b else wrong(2)) if a else 1


@pytest.mark.parametrize("function", [raises_on_both_sides, raises_in_an_expression], ids=lambda function: function.__name__)
def test_a_branch_both_sides_of_which_raise_raises(function):
    graph = hia.function(function, strict=True)
    for a, b in ((0, 0), (1, 1), (0, 1), (1, 0)):
        if not a:
            assert graph(a, b) == 1
            continue
        with pytest.raises((ValueError, KeyError)) as expected:
            function(a, b)
        with pytest.raises(type(expected.value), match=str(expected.value)):
            graph(a, b)


def only_the_total(xs):
    total = 0
    for x in xs:
        a = x * 2
        b = a + total
        total = b
    a = total + 1
    return a


def test_loops_hand_on_what_is_read_behind_them():
    graph = hia.function(only_the_total, strict=True)
    assert graph([1, 2, 3]) == only_the_total([1, 2, 3])
    assert "_loop(total: i64, a1: List[i64]) -> i64 =" in graph.text()


def read_by_a_closure(xs):
    last = 0

    def seen():
        return last
    for x in xs:
        last = x
    return seen()


def read_by_a_handler(xs):
    last = 0
    try:
        for x in xs:
            last = x
            x // (x - 3)
    except ZeroDivisionError:
        return -last
    return 0


def read_by_the_next_turn(xs):
    total = before = inner = 0
    for x in xs:
        for y in xs:
            if y > x:
                before, inner = inner if y > 2 else before, y
                break
            inner = x
        total += before * 10 + inner
    return total


def read_on_one_path(xs):
    found = None
    for x in xs:
        if x > 2:
            found = x
            break
        kept = x
    else:
        found = -kept
    if len(xs) > 3:
        found = 7
    return found


@pytest.mark.parametrize("function", [read_by_a_closure, read_by_a_handler, read_by_the_next_turn, read_on_one_path])
def test_names_keep_their_values_where_somebody_reads_them(function):
    graph = hia.function(function)
    for xs in ([1, 2, 4], [1], [3, 1], [5, 1, 2, 6], [2, 2, 1, 1], []):
        outcomes = []
        for one in (graph, function):
            try:
                outcomes.append(one(xs))
            except Exception as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1], xs
