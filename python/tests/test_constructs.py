"""Patterns, functions inside of functions, dicts, lists, `try` and `with`: graphs give what plain Python gives."""

import dataclasses

import pytest
from test_control_flow import check


@dataclasses.dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None


@dataclasses.dataclass
class Number:
    value: int


@dataclasses.dataclass
class Sum:
    left: object
    right: object


@dataclasses.dataclass
class Negative:
    of: object


class Scaled:
    def __init__(self, k):
        self.k = k

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def of_objects(e):
    match e:
        case Number(v):
            return v
        case Sum(Number(0), r):
            return of_objects(r)
        case Sum(left=a, right=b):
            return of_objects(a) + of_objects(b)
        case Negative(Negative(x)):
            return of_objects(x)
        case Negative(x):
            return -of_objects(x)


def of_numbers(n):
    match n:
        case 1 | 2:
            return 10
        case None:
            return 5
        case x if x > 100:
            return x
        case int(k) if k > 50:
            r = k
        case _:
            r = n + 1
    return r * 2


def names_that_stay(n):
    match (n, n + 1):
        case (x, y) if y > 5:
            return y
        case (3, _):
            return -1
        case _:
            pass
    return x


def of_tuples(a, b):
    match (a, b):
        case (0, y):
            return y
        case (x, 0):
            return x * 100
        case (x, y) if x == y:
            return -1
        case (x, *rest):
            return x + len(rest) + rest[0]


def of_lists(xs):
    match xs:
        case []:
            return 0
        case [a]:
            return a
        case [a, b, *_]:
            return a * 10 + b


def of_dicts(d):
    match d:
        case {"kind": "add", "by": by}:
            return by
        case {"kind": kind}:
            return kind
        case {}:
            return None


def of_texts(k):
    match k:
        case "add":
            return 1
        case "sub" | "minus":
            return 2
        case other:
            return other


def of_optionals(t):
    match t:
        case Tree(left=None, right=None):
            return 1
        case Tree(left=a, right=b):
            return of_optionals(a) + of_optionals(b)
        case None:
            return 0


def of_truth(b):
    match b:
        case True:
            return 1
        case False:
            return 0


def lambdas(n):
    g = lambda m, k=2: m * k + n  # noqa: E731
    return g(3) + g(4, 5) + g(m=1, k=n)


def applied(f, x):
    return f(x)


def lambdas_in_loops(n):
    s = 0
    for i in range(4):
        s += applied(lambda q: q * i + n, s)  # noqa: B023
    return s


def names_read_late(n):
    k = 1
    f = lambda q: q + k  # noqa: E731
    k = 10
    a = f(n)
    if n > 2:
        k = 100
    for i in range(n):
        k += i
    return a + f(n)


def local_recursion(t):
    def go(t):
        return 0 if t is None else t.value * 2 + go(t.left) + go(t.right)
    return go(t)


def mutual_recursion(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)
    return even(abs(n)), odd(abs(n))


def mapped(f, xs):
    return [f(x) for x in xs]


def functions_of_functions(n, xs):
    def add(k):
        return k + n

    def twice(k):
        return add(add(k))
    return [twice(x) for x in xs], sum(mapped(twice, xs))


def chosen(n):
    f = (lambda q: q + 1) if n > 2 else (lambda q: q * n)
    return f(10)


def composed(f, g):
    return lambda x: f(g(x))


def compositions(n):
    h = composed(lambda x: x + n, lambda x: x * 2)
    return h(5) + composed(h, h)(1)


def added(first, *rest):
    s = first
    for r in rest:
        s += r
    return s


def stars(n):
    t = (n, 2, 3)
    a, *b = t
    *c, d = t
    return max(*t), [*t, 4], (*t, *t), a, b, c, d, added(*t), added(1, *t)


def tries(n):
    s = 0
    try:
        if n > 5:
            return s + 1
        s = 10 // n
    except ZeroDivisionError:
        s = -1
    finally:
        s += 100
    return s


def tries_in_loops(n):
    s = 0
    for i in range(6):
        try:
            if i == n:
                continue
            if i > 4:
                break
            s += i
        finally:
            s += 1
    else:
        s += 1000
    return s


def managers(n):
    with Scaled(n) as a, Scaled(3):
        if n == 2:
            return a.k
        b = a.k + 1
    return b


def deleted(n):
    m = n
    del m
    m = 3
    return m + n


def imported(n):
    import math
    from math import pi as p
    return math.sqrt(abs(n)) + p


FIVE = 5


def globals_read(n):
    global FIVE
    return FIVE + n


def bits(n):
    return n << 3, n >> 1, n & 6, n | 1, n ^ 3, (n & 255) >> 2, n >> 62, n << 62


def sets(n):
    return n in {1, 2, 3}, n not in {5, n}


def dicts(n):
    d = {"a": n, "b": 2.5, 3: n + 1}
    d["c"] = n * 2
    d["a"] += 1
    s = 0
    for _ in d:
        s += 1
    for k, v in d.items():
        if k == "a":
            s += v
    return d["a"] + d[3], d, "b" in d, len(d), d.get("z"), d.get("a", 5), {**d, "n": 1}, s, dict(x=n)["x"], d.copy()


def keys_of_the_run(k):
    d = {"a": 1, "b": 2}
    return d[k], d.get(k, 7), k in d


def dicts_by_comprehension(d, n):
    doubled = {k: v * 2 for k, v in d.items()}
    both = {f: i + n for i, f in enumerate(("u", "v"))}
    n_times = {i: [n] * i for i in range(3) if i != 1}
    crossed = {a: b + n for a, b in zip(["x", "y"], (1, 2)) for c in reversed((n, 2))}
    return doubled, both, n_times, crossed, sum({k: v for k, v in doubled.items() if k == "b"}.values()), {k: k for k in d}, n


def dicts_given(d, k):
    return d["x"] * 2, d["inner"]["y"] + k, {**d["inner"], "z": k}


def lists_looked_at(n):
    xs = [n]
    xs.append(n + 1)
    m = len(xs) + xs[0]
    for x in xs:
        m += x
    if xs:
        xs.append(m)
    if n in xs:
        xs.append(0)
    return xs


def in_order(xs, n):
    a = sorted(xs)
    b = sorted(xs, key=lambda q: -q)
    c = sorted(xs, key=lambda q: (q % 3, q), reverse=n > 2)
    d = sorted([(x % 2, x) for x in xs], reverse=True)
    a.append(n)
    return a, b, c, d, sorted(xs, reverse=True)


def over_lists(xs, n):
    s = 0
    for x in map(lambda q: q * n, xs):
        s += x
    return (list(map(abs, xs)), list(filter(lambda q: q > n, xs)), sum(map(lambda q: q + n, filter(None, xs))), s,
            min(xs, key=lambda q: (q - n) ** 2), max(xs, default=3), min([], default=n), max(xs, key=lambda q: -q))


def parts_of_lists(xs, n):
    return xs[1:], xs[:n], xs[-2:], xs[n:-1], xs[::-1], xs.count(n), xs.copy(), [q for q in xs[:2]]


def stack(t):
    pending = [t]
    s = 0
    while pending:
        node = pending.pop()
        if node is None:
            continue
        s = s * 3 + node.value
        pending.append(node.left)
        pending.append(node.right)
    return s


def queue(t):
    pending = [t]
    found = []
    while pending:
        node = pending.pop(0)
        found.append(node.value)
        found += [0, 0]
        if node.left is not None:
            pending.append(node.left)
        if node.right is not None:
            pending.extend([node.right])
    return found


def order_of_tuples(a, b):
    return (a, b) < (b, a), (a, b) <= (a, b), (a, 1) > (b, 2), (a,) < (a, b), max((a, 1), (b, 2))


TREE = Tree(1, Tree(2), Tree(3, Tree(4)))
CASES = [
    (of_objects, [(Number(1),), (Sum(Number(0), Negative(Number(3))),), (Negative(Negative(Sum(Number(1), Number(2)))),),
                  (Negative(Number(2)),)]),
    (of_numbers, [(1,), (2,), (7,), (60,), (200,)]),
    (names_that_stay, [(9,), (3,), (1,)]),
    (of_tuples, [(0, 3), (3, 0), (4, 4), (4, 5)]),
    (of_lists, [([],), ([1],), ([1, 2],), ([3, 4, 5],)]),
    (of_dicts, [({"kind": "add", "by": 3},), ({"kind": "x"},), ({"other": 1},)]),
    (of_texts, [("add",), ("minus",), ("x",)]),
    (of_optionals, [(TREE,), (None,)]),
    (of_truth, [(True,), (False,)]),
    (lambdas, [(3,), (0,)]),
    (lambdas_in_loops, [(3,), (0,)]),
    (names_read_late, [(3,), (0,)]),
    (local_recursion, [(TREE,), (None,)]),
    (mutual_recursion, [(3,), (4,)]),
    (functions_of_functions, [(3, [1, 2]), (4, [])]),
    (chosen, [(3,), (1,)]),
    (compositions, [(3,), (1,)]),
    (stars, [(3,), (1,)]),
    (tries, [(3,), (1,), (0,), (7,)]),
    (tries_in_loops, [(3,), (1,), (9,)]),
    (managers, [(3,), (2,)]),
    (deleted, [(3,)]),
    (imported, [(3,)]),
    (globals_read, [(3,)]),
    (bits, [(0,), (1,), (-1,), (3,), (-5,), (2**40,)]),
    (sets, [(3,), (4,)]),
    (dicts, [(3,), (4,)]),
    (keys_of_the_run, [("a",), ("b",)]),
    (dicts_by_comprehension, [({"a": 1, "b": 2.5}, 3), ({"a": 0, "b": -1.5}, 4)]),
    (dicts_given, [({"x": 1, "inner": {"y": 2.5}}, 3), ({"x": 4, "inner": {"y": 0.5}}, -1)]),
    (lists_looked_at, [(3,), (0,)]),
    (in_order, [([3, 1, 2, 5, 4, -3, 0], 3), ([], 1), ([2, 2, 1], 1)]),
    (over_lists, [([3, 1, 2, 5], 3), ([0, 1], 1)]),
    (parts_of_lists, [([3, 1, 2, 5], 2), ([0], -1), ([], 0)]),
    (stack, [(TREE,), (None,)]),
    (queue, [(TREE,)]),
    (order_of_tuples, [(1, 2), (2, 1), (2, 2)]),
]


@pytest.mark.parametrize("function,calls", CASES, ids=[f.__name__ for f, _ in CASES])
def test_it_gives_what_python_gives(function, calls):
    check(function, calls)
