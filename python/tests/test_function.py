"""Functions of Python as graphs: each gives what plain Python gives."""

import copy
import dataclasses
import enum
import functools
import math
import typing
import warnings

import pytest

import hiaton as hia


@dataclasses.dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None


def build(depth, value=1):
    return None if depth == 0 else Tree(value, build(depth - 1, 2 * value), build(depth - 1, 2 * value + 1))


def total(t):
    if t is None:
        return 0
    return t.value + total(t.left) + total(t.right)


def mirror(t):
    return None if t is None else Tree(t.value, mirror(t.right), mirror(t.left))


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def first_square_above(n):
    for i in range(n):
        if i * i > n:
            return i
    return None


def pairs(n):
    found = []
    for i in range(n):
        for j in range(i):
            if (i + j) % 3 == 0:
                continue
            if i * j > 20:
                break
            found.append((i, j))
    return found


def squares(xs):
    return [x * x for x in xs if x % 2 == 1], sum(x for x in xs), any(x > 3 for x in xs), max(xs), len(xs)


def mixed(a, b):
    return a + b, a - b, a * b, a / b, a // b, a % b, -a, abs(b), a < b, a == b, min(a, b), max(a, b)


def nested(xs):
    return [[y * x for y in range(x)] for x in xs], [x + y for x in xs for y in xs if x != y]


class Shape:
    def area(self):
        return 0.0

    @property
    def twice(self):
        return 2 * self.area()


class Circle(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r * self.r


class Box(Shape):
    def __init__(self, w, h):
        self.w, self.h = w, h

    def area(self):
        return self.w * self.h


def areas(shapes):
    return sum(s.twice for s in shapes), [isinstance(s, Circle) for s in shapes]


@dataclasses.dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)


def moved(v, n):
    for i in range(n):
        v = v + Vector(1.0, 2.0) * i
    return v


class Point(typing.NamedTuple):
    x: int
    y: int


def swapped(p):
    x, y = p
    return Point(y, x), p.x + p[1]


class Op(enum.Enum):
    ADD = 1
    MUL = 2


@dataclasses.dataclass
class Number:
    value: int


@dataclasses.dataclass
class Binary:
    op: Op
    left: "Number | Binary"
    right: "Number | Binary"


def evaluate(e):
    if isinstance(e, Number):
        return e.value
    a, b = evaluate(e.left), evaluate(e.right)
    return a + b if e.op is Op.ADD else a * b


def word_kind(w):
    if w in ("a", "the"):
        return "article"
    return w if w == "dog" else "other"


def best(xs):
    found = None
    for i, x in enumerate(xs):
        if found is None or x > found[1]:
            found = (i, x)
    return found


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def power(x, n):
    if n == 0:
        return 1
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def linked(xs):
    return [a * b for a, b in zip(xs, reversed(xs))], [x for x in reversed(range(len(xs)))]


def checked(x):
    if not x > 0 or x > 100:
        raise ValueError(f"too large: {x}")
    return 100 // (x - 5)


EXPRESSION = Binary(Op.ADD, Number(2), Binary(Op.MUL, Number(3), Number(4)))
CASES = [
    (total, [(build(4),), (None,), (build(1),)]),
    (mirror, [(build(3),), (None,)]),
    (even, [(10,), (7,), (0,)]),
    (collatz, [(27,), (1,), (97,)]),
    (first_square_above, [(50,), (2,), (0,)]),
    (pairs, [(9,), (0,), (1,)]),
    (squares, [([1, 2, 3, 5],), ([7],), ([],)]),
    (mixed, [(7, 2), (-7, 2), (7, -2), (7.5, 2), (-7.5, 2.0), (True, 3), (5, 0), (2**62, 2**62), (2**70, 3)]),
    (nested, [([1, 2, 3],), ([],)]),
    (areas, [([Circle(1.0), Box(2.0, 3.0)],), ([],), ([Box(1, 2)],)]),
    (moved, [(Vector(0.0, 1.0), 4), (Vector(1.0, 1.0), 0)]),
    (swapped, [(Point(1, 2),)]),
    (evaluate, [(EXPRESSION,), (Number(3),)]),
    (word_kind, [("a",), ("dog",), ("cat",)]),
    (best, [([3, 1, 4, 1, 5],), ([],), ([2.5],)]),
    (gcd, [(12, 18), (0, 0), (17, 5)]),
    (power, [(3, 13), (3, 60), (2.0, 10), (2.5, 0)]),
    (linked, [([1, 2, 3],), ([],)]),
    (checked, [(7,), (5,), (-1,), (200,)]),
]


def outcome(function, args):
    try:
        return function(*copy.deepcopy(args))
    except Exception as error:
        return type(error), str(error)


def same(a, b):
    """Equal, of equal types all the way down, and NaN equal to itself."""
    return type(a) is type(b) and repr(a) == repr(b) and (a == b or a != a or not isinstance(a, (int, float, str)))


@pytest.mark.parametrize("function,calls", CASES, ids=[f.__name__ for f, _ in CASES])
def test_it_gives_what_python_gives(function, calls):
    graph = hia.function(function, strict=True)
    for _ in range(2):
        for args in calls:
            expected, found = outcome(function, args), outcome(graph, args)
            assert same(expected, found) or repr(expected) == repr(found), f"{function.__name__}{args}"
    assert sum(g.hits for g in graph._graphs) > 0, graph.report()


def test_what_comes_in_goes_out_as_the_same_object():
    @hia.function(strict=True)
    def deepest(t):
        return t if t.left is None else deepest(t.left)

    tree = build(4)
    expected = tree.left.left.left
    assert deepest(tree) is expected
    assert "1 calls" in deepest.report()


def test_a_class_that_was_not_seen_is_a_new_graph():
    class Empty(Shape):
        pass

    class Full(Shape):
        def area(self):
            return 7.0

    @hia.function(strict=True)
    def pair(first, shapes):
        return first.area(), sum(s.area() for s in shapes)

    assert pair(Empty(), [Full()]) == (0.0, 7.0)
    assert pair(Full(), [Empty(), Full()]) == (7.0, 7.0)
    assert pair(Empty(), [Empty()]) == (0.0, 0.0)
    assert "0 calls in plain Python" in pair.report()


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def test_enumerations_of_integers_and_nan_are_compared_as_python_does():
    def compared(level, n, x, xs):
        return level == Level.LOW, level == n, x in xs, xs == [x], (x, n) == (x, n)

    nan = math.nan
    graph = hia.function(compared)
    for args in [(Level.LOW, 1, 0.5, [0.5]), (Level.HIGH, 1, nan, [nan]), (Level.LOW, 2, 0.5, [nan])]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert graph(*args) == compared(*args)


def test_objects_that_are_made_alike_are_two():
    @hia.function(strict=True)
    def made(n):
        one = Number(n)
        return one, Number(n), one, [n], [n]

    a, b, again, xs, ys = made(3)
    assert a is again and a is not b and a == b and xs is not ys


def test_a_copy_of_a_list_is_another_list():
    @hia.function(strict=True)
    def copied(xs):
        return list(xs), [x for x in xs], xs

    given = [1, 2]
    for found in copied(given)[:2]:
        assert found == given and found is not given
    assert copied(given)[2] is given


def test_shared_objects_stay_shared_and_cycles_run_in_python():
    @hia.function(strict=True)
    def depth(t):
        return 0 if t is None else 1 + max(depth(t.left), depth(t.right))

    leaf = Tree(1)
    shared = leaf
    for _ in range(20):
        shared = Tree(1, shared, shared)
    small = Tree(1, leaf, leaf)
    assert depth(small) == 2
    cycle = Tree(1)
    cycle.left = cycle
    with pytest.raises(RecursionError):
        depth(cycle)


LIMIT = 3


def test_globals_and_closures_are_guarded():
    global LIMIT
    step = 2

    @hia.function(strict=True)
    def limited(n):
        return min(n, LIMIT) * step

    assert (limited(10), limited(1)) == (6, 2)
    LIMIT = 5
    try:
        assert limited(10) == 10
        step = 3
        assert limited(10) == 15
    finally:
        LIMIT = 3


def test_a_refusal_names_the_place_and_what_to_do():
    def hashed(n):
        return hash(n)

    with pytest.raises(hia.ConversionError, match=r"test_function.py:\d+: 'hash' is foreign"):
        hia.function(hashed, strict=True)(3)
    loose = hia.function(hashed)
    with pytest.warns(hia.FallbackWarning, match="'hash' is foreign"):
        assert loose(3) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert loose(4) == 4


def test_code_without_its_text_is_refused():
    names = {}
    exec("def hidden(n):\n    return n + 1", names)
    with pytest.raises(hia.ConversionError, match="defined by exec or changed on disk"):
        hia.function(names["hidden"], strict=True)(1)


def test_methods_and_defaults():
    class Counter:
        step = 3

        @hia.function(strict=True)
        def after(self, n, times=2):
            return n + self.step * times

        @hia.function(strict=True)
        def twice(self, n):
            return self.after(self.after(n))

    assert Counter().after(1) == 7 and Counter().after(1, times=4) == 13
    assert Counter().twice(1) == 13
    shared = Counter()
    assert hia.function(lambda c, n: c.twice(n), strict=True)(shared, 2) == 14


def test_integers_beyond_64_bits_are_pythons():
    @hia.function
    def factorial(n):
        return 1 if n == 0 else n * factorial(n - 1)

    assert factorial(20) == math.factorial(20)
    assert factorial(30) == math.factorial(30)
    assert factorial(5) == 120


def test_a_graph_that_always_fails_is_given_up():
    @hia.function
    def doubled(n):
        return n + n

    big = 2**62
    assert doubled(1) == 2
    assert [doubled(big) for _ in range(2)] == [2 * big] * 2
    assert doubled(1) == 2
    assert [doubled(big) for _ in range(2)] == [2 * big] * 2
    with pytest.warns(hia.FallbackWarning, match="its graph fails where Python gives a result: .*overflow"):
        assert doubled(big) == 2 * big
    assert doubled(1) == 2 and "in plain Python: its graph fails" in doubled.report()


def test_errors_are_those_of_python():
    @hia.function(strict=True)
    def divided(a, b):
        if b > 9:
            raise ValueError(f"too large: {b}")
        return a // b

    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            divided(1, 0)
        with pytest.raises(ValueError, match="too large: 10"):
            divided(1, 10)
    assert divided(7, 2) == 3


def test_graphs_recur_deeper_than_python():
    @hia.function(strict=True)
    def count(n):
        return 0 if n == 0 else 1 + count(n - 1)

    assert count(1_000_000) == 1_000_000


def test_text_is_a_program():
    graph = hia.function(collatz, strict=True)
    graph(27)
    assert hia.program(graph.text()).collatz(27) == 111


def weighted(x):
    return hia.sum(x * hia.tensor([[1.0, 2.0], [0.5, -1.0]]))


def test_tensors_are_written_out():
    x = hia.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert float(hia.function(weighted)(x)) == float(weighted(x)) == 2.5
    assert hia.grad(weighted)(x).numpy().tolist() == [[1.0, 2.0], [0.5, -1.0]]


def test_a_star_takes_a_single_argument_as_a_tuple():
    @hia.function(strict=True)
    def count(a, *others):
        return len(others)

    assert [count(1, hia.ones(3)), count(1, 2, 3), count(1)] == [1, 2, 0]


def test_a_parameter_that_wants_its_name():
    def scaled(x, *, by):
        return x * by

    graph = hia.function(scaled)
    assert graph(3, by=2) == 6
    for call in (graph, hia.grad(scaled)):
        with pytest.raises(TypeError, match="positional argument"):
            call(3.0, 2.0)
    assert hia.grad(scaled)(3.0, by=2.0) == 2.0


def test_what_is_not_written_in_python_stays_what_it_is():
    @functools.lru_cache(None)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    graph = hia.function(fib)
    with pytest.warns(hia.FallbackWarning, match="a function that is written in Python, found _lru_cache_wrapper"):
        assert graph(90) == 2880067194370816120
    assert graph(91) == 4660046610375530309
    with pytest.raises(hia.ConversionError, match="found _lru_cache_wrapper"):
        hia.function(fib, strict=True)(3)
