"""Twins: functions that do what the originals do, and count; and what graphs assume of the counts."""

import dataclasses
import linecache
import os
import warnings

import pytest
import random_programs
from test_random_programs import loaded, outcome, text_of

import hiaton as hia
from hiaton import nn
from hiaton.function.profile import Profile

COUNT = int(os.environ.get("HIATON_PROGRAMS", 2000)) // 20


def twin_outcome(function, args, profile):
    return outcome(lambda *given: profile.run(function, given, {}), args)


def test_twins_of_random_programs_do_what_these_do():
    counted = 0
    for seed in range(1, COUNT + 1):
        text, name = random_programs.Programs(seed).text(), f"<random program {seed}>"
        plain, names = loaded(text, name), loaded(text, name)
        profile = Profile(3)
        try:
            for call in range(3):
                found = twin_outcome(names["main"], random_programs.arguments(seed * 1000 + call), profile)
                expected = outcome(plain["main"], random_programs.arguments(seed * 1000 + call))
                assert text_of(found) == text_of(expected) and names["g0"] == plain["g0"] and names["log"] == plain["log"], text
        finally:
            linecache.cache.pop(name)
        counted += sum(sum(place.sides) + place.loops for place in profile.places.values())
    assert counted > COUNT


@dataclasses.dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None
    note: int = 0

    @property
    def is_leaf(self):
        return self.left is None

    def total(self, weight=2, *, more=3):
        if self.is_leaf:
            return self.value * weight + more
        return self.left.total(weight) + self.right.total(more=more)


class Base:
    def __init__(self, k):
        self.k = k

    def value(self, n):
        return self.k + n if n > 0 else self.k


class Derived(Base):
    def __init__(self, k):
        super().__init__(k + 1)
        self.scale = 2

    def value(self, n):
        return super().value(n) * self.scale


counter = 0


def methods(n):
    global counter
    counter += 1
    tree = Tree(n, Tree(1), Tree(2, Tree(3), Tree(4)))
    return tree.total(), tree.total(weight=n), Derived(n).value(n - 1), Tree.total(tree, 5, more=1)


def nested(n):
    state = 0

    def add(k, by=n * 2):
        nonlocal state
        if k > 1:
            state += by
        return state
    squares = [x * x if x % 2 else -x for x in range(n) if x != 2]
    made = [add(k) for k in range(4)], add(7, by=1), state, sorted(squares, key=lambda x: -x if x > 0 else x)
    for i, (a, *b) in enumerate([(1, 2, 3), (4, 5)]):
        made += (i, a, tuple(b))
    else:
        made += ("end",)
    return made, repr(add).split(" at ")[0], add.__name__


def generated(n):
    for k in range(n):
        if k % 2:
            yield k
    yield from range(n)


def runs_generators(n):
    return list(generated(n)), sum(generated(n + 1)), [x for x in generated(2)]


def matches(n):
    match n, [n, 2]:
        case (0, _):
            return "zero"
        case (k, [a, b]) if (lambda x: x > 2)(k):
            return k, a, b
        case (int(), list()):
            return "small"


def raises(n):
    values = [1, 2, 3]
    for i in range(n):
        if i > 2:
            return values[i]
    else:
        return {}["missing"] if n > 1 else 1 // n


def handles(n):
    found = []
    for i in range(3):
        try:
            found.append(6 // (i - n))
        except ZeroDivisionError as error:
            found.append(str(error))
        finally:
            found.append(i)
    with open(os.devnull) as file:
        found.append(file.read())
    return found


def shadowed(n, len=lambda x: 5, *rest, **named):
    probe = len([n])
    return probe + (len if n > 1 else max)((1, 2)), rest, named


@pytest.mark.parametrize("function", [methods, nested, runs_generators, matches, raises, handles, shadowed],
                         ids=lambda function: function.__name__)
def test_twins_do_what_functions_do(function):
    global counter
    for n in range(6):
        counter = 10
        profile = Profile(1)
        found = twin_outcome(function, (n,), profile)
        after, counter = counter, 10
        assert text_of(found) == text_of(outcome(function, (n,))) and after == counter
    assert function in (handles, matches) or profile.places


def test_a_twin_goes_as_deep_as_python():
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)
    profile = Profile(10)
    assert profile.run(depth, (900,), {}) == 900
    with pytest.raises(RecursionError):
        profile.run(depth, (100_000,), {})


def tree(depth, value=1):
    return None if depth == 0 else Tree(value, tree(depth - 1, 2 * value), tree(depth - 1, 2 * value + 1))


def visited(t, least):
    if t is None:
        return 0
    if t.value < least:
        t.note = -1
        print("small", t.value)
        return t.value
    t.note = t.value
    return visited(t.left, least) + t.value + visited(t.right, least)


def test_a_branch_is_assumed_and_relaxed(capsys):
    graph = hia.function(visited, profile=3)
    for call in range(5):
        mine, expected = tree(4), tree(4)
        assert graph(mine, 0) == visited(expected, 0) and mine == expected
        assert graph._plain == min(call + 1, 3)
    assert "small" not in graph.text() and "note" not in graph.text().split("fn")[0]
    report = graph.report()
    assert "a profile of 3 calls:" in report
    assert "'t.value < least' was true 0 times, false 45 times" in report
    assert "'t is None' was true 48 times, false 45 times" in report
    assert f"assumed: {__file__}:" in report and "'t.value < least' was false in all of 45 cases" in report
    capsys.readouterr()
    for least, plain in ((9, 4), (9, 4), (0, 4), (15, 4)):
        mine, expected = tree(4), tree(4)
        found = graph(mine, least), mine, capsys.readouterr().out
        assert found == (visited(expected, least), expected, capsys.readouterr().out)
        assert graph._plain == plain, graph.report()
    assert graph.report().count("assumed, and found otherwise since") == 2
    general, of_zero = graph._graphs
    assert not general.speculated and not general.assumed_arguments and of_zero.speculated, graph.report()


def rolled(rows):
    total = 0
    for row in rows:
        made = 1
        for x in row:
            made = made * 7 + x
        total = (total + made) % 1009
    return total


def test_the_turns_of_a_loop_are_assumed_and_relaxed():
    graph = hia.function(rolled, profile=3)
    rows = [[n, 2, 3] for n in range(40)]
    for _ in range(5):
        assert graph(rows) == rolled(rows)
    assert graph._plain == 3 and graph.text().count("* 7") == 2, graph.text()  # 1 * 7 is a constant
    assert "the loop over 'row' ran 120 times: 3 turns each time" in graph.report()
    assert "the loop over 'rows' ran 3 times: 40 turns each time" in graph.report()
    for wrong in ([[]], [[1]], [[1, 2, 3, 4]]):
        for at in (0, 20, 40):
            changed = rows[:at] + wrong + rows[at:]
            assert graph(changed) == rolled(changed)
    assert graph._plain == 4 and graph.text().count("* 7") == 1, graph.report()


def test_few_visits_tell_nothing():
    graph = hia.function(visited, profile=1)
    graph(tree(2), 0)
    graph(tree(2), 0)
    assert graph._graphs[0].speculated == {} and graph._plain == 1


def test_what_python_must_run_is_not_needed_on_the_side_that_never_ran():
    def checked(values):
        total = 0
        for value in values:
            if value < 0:
                total += len(frozenset(values))
            total += value
        return total

    graph = hia.function(checked, profile=3)
    values = list(range(20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            assert graph(values) == checked(values)
        assert graph._graphs[0].left == []
        for at in (0, 10, 20):
            changed = values[:at] + [-1] + values[at:]
            assert graph(changed) == checked(changed) and graph(values) == checked(values)
    assert len(graph._graphs[0].left) == 1


def test_no_more_is_assumed_where_much_was_wrong():
    def sides(n, k):
        total = 0
        for i in range(n):
            a = 1 if k != 1 else 2
            b = 1 if k != 2 else 2
            c = 1 if k != 3 else 2
            d = 1 if k != 4 else 2
            total += a + b * 10 + c * 100 + d * 1000 + i
        return total

    graph = hia.function(sides, profile=3)
    for k in (0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0):
        assert graph(30, k) == sides(30, k)
    assert graph._plain == 6 and graph._graphs[0].speculated == {}, graph.report()


def test_a_strict_function_assumes_too():
    graph = hia.function(rolled, profile=3, strict=True)
    for rows in ([[1, 2]] * 9, [[1, 2]] * 9, [[1, 2]] * 9, [[1, 2]] * 9, [[1, 2, 3]] * 9, [[1, 2, 3]] * 9):
        assert graph(rows) == rolled(rows)
    assert graph._plain == 4


class Cell(nn.Module):
    def __init__(self):
        self.W = nn.Linear(3, 3)

    def loss(self, xs):
        h = hia.zeros(3)
        for x in xs:
            h = hia.tanh(self.W(h) + x)
        return hia.sum(h * h)


def test_gradients_use_the_profile_of_a_function():
    model = Cell()
    function = hia.function(Cell.loss, profile=3)
    step, plain = nn.value_and_grad(model, function), nn.value_and_grad(model, Cell.loss)
    for length in (4, 4, 4, 4, 5, 4, 6):
        xs = [hia.tensor([0.1 * k, 0.2, 0.3]) for k in range(length)]
        function(model, xs)
        (loss, found), (expected, gradients) = step(model, xs), plain(model, xs)
        assert loss.item() == expected.item()
        for path in ("W.weight", "W.bias"):
            mine, other = (one[path].numpy() if hasattr(one[path], "numpy") else one[path] for one in (found, gradients))
            assert abs(mine - other).max() < 1e-6


def scaled(values, scale, mode, flag, by=2):
    kept = [value for value in values if value > 0]
    if mode == "sum" and flag:
        return sum(kept) * scale * by
    return mode, len(kept) + scale


def test_arguments_that_are_always_the_same_are_known_to_the_graph():
    graph = hia.function(scaled, profile=3)
    values = list(range(1, 12))
    for _ in range(4):
        assert graph(values, 3, "sum", True) == 396
    assert [str(one) for one in graph._graphs] == ["(list[int], 3, 'sum', True, 2) -> int"]
    assert "'mode' was 'sum' in all of 3 calls" in graph.report() and "List[i64]) -> i64" in graph.text()
    others = [(values, 4, "sum", True), (values, 3, "sum", True), (values, 4, "count", True), (values, 4, "count", False),
              (values, 2 ** 40, "count", False, 3), (values, 4, "sum", True, True)]
    for args in others * 2:
        assert graph(*args) == scaled(*args) and type(graph(*args)) is type(scaled(*args))
    for place in (4, 3, 2):
        assert "assumed, and found otherwise since" in graph.report(), place
    assert graph._plain == 3, graph.report()
    assert any("int, str, bool, int)" in str(one) for one in graph._graphs), graph.report()


def test_arguments_that_differ_are_those_of_the_run():
    graph = hia.function(scaled, profile=3)
    for number in range(6):
        args = [number + 1], number, "sum" if number % 2 else "count", number > 2
        assert graph(*args) == scaled(*args)
    assert len(graph._graphs) == 1 and "int, str, bool, 2)" in str(graph._graphs[0]), graph.report()
    graph = hia.function(scaled, profile=3)
    for _ in range(5):  # a number that is not one object
        assert graph([1], 1000, "".join(["su", "m"]), True) == 2000
    assert "int, str, True" in str(graph._graphs[0]) or "int, 'sum', True" in str(graph._graphs[0]), graph.report()


def test_conditions_of_comprehensions():
    class Truth:
        asked = 0

        def __init__(self, holds):
            self.holds = holds

        def __bool__(self):
            Truth.asked += 1
            return self.holds

    def chosen(values):
        return [value for value in values if (truths[value] if value < 0 else value > 0) if value % 2]

    truths = {-1: Truth(True), -2: Truth(False)}
    profile = Profile(5)
    assert profile.run(chosen, ([1, 2, 3, -1, -2],), {}) == [1, 3, -1] and Truth.asked == 2
    assert sorted(str(place.sides) for place in profile.places.values()) == ["[2, 3]", "[3, 1]", "[4, 1]"]

    def odd(values):
        return sum(value * 2 if value < 1000 else 5 for value in values if value % 2 == 1)

    graph = hia.function(odd, profile=3)
    for _ in range(5):
        assert graph([1, 3, 5, 7, 9, 11, 13, 15]) == 128
    assert "'value % 2 == 1' was true in all of 24 cases" in graph.report(), graph.report()
    assert "'value < 1000' was true in all of 24 cases" in graph.report(), graph.report()
    for values in ([1, 2, 3], [1, 2, 3], [1, 1001], [1, 1001, 2]):
        assert graph(values) == odd(values)
    assert "value % 2 == 1' was true 24 times, false 0 times; assumed, and found otherwise since" in graph.report()


def test_a_loss_with_an_argument_that_is_always_the_same():
    class Scaled(nn.Module):
        def __init__(self):
            self.w = nn.Parameter(hia.tensor([1.0, 2.0]))

        @hia.function(profile=3)
        def loss(self, x, is_squared):
            return hia.sum(self.w * self.w * x) if is_squared else hia.sum(self.w * x)

    model, x = Scaled(), hia.tensor([3.0, 4.0])
    for _ in range(3):
        model.loss(x, True)
    step = nn.value_and_grad(model, model.loss)
    for is_squared, expected in [(True, [6.0, 16.0]), (False, [3.0, 4.0]), (True, [6.0, 16.0])]:
        _, gradients = step(x, is_squared)
        assert gradients["w"].tolist() == expected
