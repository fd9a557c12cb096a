"""Every kind of assumption that a graph makes, failing at the first, a middle and the last check of a run: results, objects, lists of
the caller, output and errors are those of plain Python, before and behind the place where it fails."""

import copy
import dataclasses
import re
import typing
import warnings

import pytest
from test_random_programs import loaded, outcome, text_of

import hiaton as hia

COUNT = 9
PLACES = {"first": 0, "second": 1, "middle": COUNT // 2, "last": COUNT - 1}


@dataclasses.dataclass
class Square:
    side: int

    def area(self):
        return self.side * self.side


@dataclasses.dataclass
class Circle(Square):
    def area(self):
        return 3 * self.side * self.side


@dataclasses.dataclass
class Item:
    value: int
    row: list = dataclasses.field(default_factory=lambda: [1, 2, 3])
    note: typing.Any = 4
    vector: typing.Any = None
    shape: typing.Any = None
    next: "Item | None" = None
    mark: int = 0
    trail: typing.Any = None


@dataclasses.dataclass
class World:
    items: list
    count: int = 0
    total: float = 0.0
    last: "int | None" = None


def framed(step):
    """A program with effects before, at and behind each place where `step` may fail."""
    def run(world, items, log):
        print("begins with", len(items))
        world.count += 1
        log.append(-1)
        total = 0.0
        for number, item in enumerate(items):
            log.append(number)
            print("at", number, f"total {total:.2f}")
            item.trail = number
            world.last = number
            total += step(item, number)
            item.mark = number + world.count
            print("done", number, end=";")
        world.total += total
        log.extend([int(total), len(items)])
        print("ends with", total)
        return total, [number * 2 for number in range(world.count)]
    return run


def side_of_a_branch(item, number):
    if item.value > 0:
        return item.value * 2
    return item.value - 100


def side_in_a_recursion(item, number):
    return below(item, number)


def below(item, depth):
    if item.value > 0 or depth > 3:
        return 1.5 if depth <= 0 else below(item, depth - 1)
    print("below", depth)
    return 0.25


def side_of_an_expression(item, number):
    return item.value if item.value > 0 else float(-item.value) / 3


def turns_of_a_loop(item, number):
    total = 0
    for x in item.row:
        total = total * 3 + x
    return total


def turns_of_a_range(item, number):
    total = 1
    for x in range(item.note):
        print("x", x)
        total += x * item.value
    else:
        total *= 2
    return total


def type_of_a_field(item, number):
    return item.note + 1


def type_of_a_result(item, number):
    found = None if item.value < 0 else item.value
    return found + 1


def shape_of_a_tensor(item, number):
    return hia.sum(item.vector * 2.0).item()


def rank_of_a_tensor(item, number):
    return hia.sum(item.vector).item()


def integers_of_64_bits(item, number):
    return (item.value * 2) % 1000


def index_of_a_list(item, number):
    return item.row[item.note - 2]


def divisor(item, number):
    return 7 // item.value


def callee_by_class(item, number):
    return item.shape.area()


def pattern_of_none(item, number):
    return 0 if item.next is None else item.next.value


def symbol(item, number):
    return 1 if item.note == "a" else 2 if item.note == "b" else 3


def raising(item, number):
    if item.value < 0:
        raise LookupError(f"item {number} has {item.value}")
    return item.value


asserting = loaded("""
def asserting(item, number):
    assert item.value > 0, ("small", number)
    return item.value
""", "<asserting>")["asserting"]  # elsewhere pytest makes another function of it


def left_to_python(item, number):
    return len(frozenset((item.value, number))) if item.value < 0 else item.value


def vector(*values):
    return hia.tensor(list(values))


class Case(typing.NamedTuple):
    step: typing.Callable
    usual: dict
    other: dict
    profile: int = 0
    fails_always: bool = True  # whether each call with such an item leaves its graph or needs another one


CASES = [
    Case(side_of_a_branch, {"value": 3}, {"value": -3}, 3, False),
    Case(side_in_a_recursion, {"value": 3}, {"value": 0}, 3, False),
    Case(side_of_an_expression, {"value": 3}, {"value": -3}, 3, False),
    Case(turns_of_a_loop, {}, {"row": [1, 2, 3, 4]}, 3, False),
    Case(turns_of_a_loop, {}, {"row": []}, 3, False),
    Case(turns_of_a_range, {"note": 3}, {"note": 5}, 3, False),
    Case(turns_of_a_range, {"note": 3}, {"note": 0}, 3, False),
    Case(type_of_a_field, {"note": 4}, {"note": 4.5}, 0, False),
    Case(type_of_a_field, {"note": 4}, {"note": True}, 0, False),
    Case(type_of_a_field, {"note": 4}, {"note": None}, 0, False),
    Case(type_of_a_field, {"note": 4}, {"note": "text"}, 0, False),
    Case(type_of_a_result, {"value": 3}, {"value": -1}),
    Case(shape_of_a_tensor, {"vector": (1.0, 2.0)}, {"vector": (1.0, 2.0, 4.0)}, 0, False),
    Case(shape_of_a_tensor, {"vector": (1.0, 2.0)}, {"vector": ()}, 0, False),
    Case(rank_of_a_tensor, {"vector": (1.0, 2.0)}, {"vector": ((1.0, 2.0), (3.0, 4.0))}, 0, False),
    Case(integers_of_64_bits, {"value": 3}, {"value": 2**62 + 5}),
    Case(integers_of_64_bits, {"value": 3}, {"value": 2**80}),
    Case(index_of_a_list, {"note": 4}, {"note": 17}),
    Case(divisor, {"value": 2}, {"value": 0}),
    Case(callee_by_class, {"shape": Square(2)}, {"shape": Circle(2)}, 0, False),
    Case(callee_by_class, {"shape": Square(2)}, {"shape": None}, 0, False),
    Case(pattern_of_none, {}, {"next": Item(5)}, 0, False),
    Case(symbol, {"note": "a"}, {"note": "c"}, 0, False),
    Case(raising, {"value": 2}, {"value": -2}),
    Case(asserting, {"value": 2}, {"value": -2}),
    Case(left_to_python, {"value": 2}, {"value": -2}),
]


def made(case, at):
    """Arguments of a call, in which one item is of the other kind; None: none is."""
    def item(number):
        given = {"value": 1, **copy.deepcopy(case.other if number == at else case.usual)}
        if "vector" in given:
            given["vector"] = hia.tensor(given["vector"]) if given["vector"] != () else hia.zeros((0,))
        return Item(**given)
    items = [item(number) for number in range(COUNT)]
    return World(items), items, [0]


def names(case):
    return f"{case.step.__name__}-{next(iter(case.other.values()), 'none')}"


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("at", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("case", CASES, ids=names)
def test_a_kind_of_assumption_fails(case, at, workers):
    function = framed(case.step)
    graph = hia.function(function, profile=case.profile, workers=workers)
    usual = case.profile + 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for number, there in enumerate([*[None] * usual, at, None, at, COUNT - 1 - at, None]):
            before = graph._plain, graph._conversions, sum(g.misses for g in graph._graphs)
            found, expected = outcome(graph, made(case, there)), outcome(function, made(case, there))
            assert text_of(found) == text_of(expected), graph.report()
            after = graph._plain, graph._conversions, sum(g.misses for g in graph._graphs)
            if number == usual - 1:
                assert after[0] == case.profile and graph._graphs[0].hits == number + 1 - case.profile, graph.report()
            if there is not None and (case.fails_always or number == usual):
                assert after != before or case.step in (pattern_of_none, symbol), graph.report()


# What is looked at before a run: the first, a middle and the last of several guards.

first, middle, last = 1, 2, 3


def scale(x):
    return x * 2


def guarded(world, items, log):
    print("begins", first)
    log.append(first)
    world.count += scale(middle)
    world.total = world.total + last * 0.5
    print("ends", last, world.total)
    return first * 100 + middle * 10 + last


@pytest.mark.parametrize("name, values", [
    (name, values) for name in ("first", "middle", "last") for values in ((5, 6, 7, 8), (1.5, 2.5), (True,), ("text",), (None,), (2**70,))
] + [("scale", (lambda x: x * 3, lambda x: -x))], ids=str)
def test_a_guard_fails(name, values, monkeypatch):
    graph = hia.function(guarded)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for value in (None, *values, None, *values):
            with monkeypatch.context() as patch:
                if value is not None:
                    patch.setitem(globals(), name, value)
                found, expected = (outcome(function, (World([]), [], [])) for function in (graph, guarded))
                assert text_of(found) == text_of(expected), graph.report()
    # The graph of the first call is replaced where a number that no graph holds becomes an argument.
    assert re.search(r": \d+ calls, \d+ misses" if values == (2**70,) else r": [1-9]\d* calls, \d+ misses", graph.report()), graph.report()


def test_a_method_that_is_replaced(monkeypatch):
    function = framed(callee_by_class)
    graph = hia.function(function)
    case = Case(callee_by_class, {"shape": Square(2)}, {})
    def side(self):
        return self.side

    for area in (Square.area, Circle.area, Square.area, side):
        monkeypatch.setattr(Square, "area", area)
        found, expected = (outcome(one, made(case, None)) for one in (graph, function))
        assert text_of(found) == text_of(expected), graph.report()
    assert graph._plain == 0, graph.report()


# Objects that the graph follows are apart from each other.

def owning(a, b, c, log):
    print("begins", a.value, b.value, c.value)
    for number in range(3):
        a.value += b.value + number
        log.append(a.value)
        b.value += c.value
        c.value = c.value * 2 - a.value
        print("turn", number, a.value, b.value, c.value)
    a.note = b.value
    c.trail = a.note
    print("ends")
    return a.value + b.value + c.value, a.note


@pytest.mark.parametrize("same", [(0, 1), (1, 2), (0, 2), (0, 1, 2)], ids=str)
def test_ownership_fails(same):
    graph = hia.function(owning)

    def arguments(same):
        items = [Item(number + 1) for number in range(3)]
        for number in same:
            items[number] = items[same[0]]
        return *items, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for which in ((), (), same, (), same, ()):
            plain = graph._plain
            found, expected = outcome(graph, arguments(which)), outcome(owning, arguments(which))
            assert text_of(found) == text_of(expected), graph.report()
            assert (graph._plain > plain) == bool(which), graph.report()
    assert sum(g.hits for g in graph._graphs) == 4


def marking(items, log):
    """Fields that are only set: the last value that is set stays, of an object that stands in several places too."""
    print("begins")
    for number, item in enumerate(items):
        item.mark = number
        log.append(item.value)
        item.trail = number * 0.5
        print("at", item.value)
    return [item.value for item in items]


@pytest.mark.parametrize("at", PLACES.values(), ids=PLACES)
def test_an_object_on_several_paths(at):
    graph = hia.function(marking)

    def arguments(same):
        items = [Item(number) for number in range(COUNT)]
        if same is not None:
            items[(same + 3) % COUNT] = items[same]
        return items, []
    for same in (None, at, None, at):
        found, expected = outcome(graph, arguments(same)), outcome(marking, arguments(same))
        assert text_of(found) == text_of(expected), graph.report()
    assert graph._graphs[0].hits == 4 and graph._plain == 0
