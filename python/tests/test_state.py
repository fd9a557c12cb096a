"""Attributes that a function sets: written when the run is over, all or none."""

import copy
import dataclasses
import warnings

import pytest
from test_random_programs import loaded, outcome

import hiaton as hia
from hiaton import nn


@dataclasses.dataclass
class Counter:
    count: int = 0
    last: "int | None" = None

    def add(self, k):
        self.count += k
        return self.count

    def visit(self, t):
        if t is None:
            return 0
        return self.add(t.value) + self.visit(t.left) + self.visit(t.right)


@dataclasses.dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None
    total: int = 0


class Bare:
    pass


def full(depth, value=1):
    return None if depth == 0 else Tree(value, full(depth - 1, 2 * value), full(depth - 1, 2 * value + 1))


def agrees(function, *calls, plain_calls=0):
    """The graph does what plain Python does, and runs but so many of the calls in plain Python. Gives the graph."""
    graph = hia.function(function)
    mine, expected = copy.deepcopy(calls), copy.deepcopy(calls)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for own, other in zip(mine, expected):
            assert repr(outcome(graph, own)) == repr(outcome(function, other)), graph.report()
    assert graph._plain == plain_calls, graph.report()
    return graph


def in_a_loop(c, n):
    for i in range(n):
        if i % 2 == 0:
            c.count += i
        elif i == 7:
            break
    c.last = n
    return c.count


def in_a_branch(c, n):
    if n > 3:
        c.count = n
    return c.count + (c.add(n) if n % 2 else 0) + (0 if n < 2 else c.add(1))


def in_a_method(c, t):
    return c.visit(t)


def never_read(t):
    if t is None:
        return 0
    t.total = t.value + never_read(t.left) + never_read(t.right)
    return t.value


def of_new_objects(n):
    made = Tree(1)
    made.total = n
    other = Tree(2, made)
    other.total = 5
    return other, made


def behind_a_raise(c, n):
    c.count += 1
    print("counted", c.count)
    if n > 2:
        raise ValueError(n)
    c.count += 1
    return n


def linked(t, n):
    t.left, t.right = t.right, t.left
    return n


def in_a_comprehension(c, n):
    k = 7
    made = [[c.add(k * i) for i in range(k) if i != 1] for k in range(n)]
    return made, sum(c.add(i) + j for i, j in zip([1, 2], [n, 4])), k, c.count


def by_what_a_comprehension_goes_over(c, n):
    return [i * n for i in range(c.add(n))], c.count


def test_what_is_set_is_what_python_sets():
    agrees(by_what_a_comprehension_goes_over, *((Counter(), n) for n in (3, 0, 4)))
    agrees(in_a_comprehension, *((Counter(), n) for n in (3, 0, 4)))
    agrees(in_a_loop, *((Counter(), n) for n in (3, 5, 0, 9)))
    agrees(in_a_branch, *((Counter(3, 4), n) for n in (1, 2, 3, 4, 5)))
    agrees(in_a_method, *((Counter(), full(depth)) for depth in (3, 0, 1)))
    agrees(never_read, (full(3),), (full(4),))
    agrees(of_new_objects, (3,), (4,))
    agrees(linked, (full(3), 1), (full(2), 2))
    agrees(behind_a_raise, *((Counter(), n) for n in (1, 2, 3, 1)), plain_calls=1)


@pytest.mark.parametrize("statement", ["panel.a{0} = n * {0}", "panel.a{0} += n", "COUNTS.a{0} = n + panel.a{0}"])
def test_as_many_attributes_as_one_likes(statement):
    text = "def many(panel, n):\n" + "".join(f"    {statement.format(number)}\n" for number in range(80)) + "    return panel.a3\n"
    counts = Counter()
    many = loaded(text.replace("def", "COUNTS = None\ndef", 1), f"<sets {statement}>")["many"]
    many.__globals__["COUNTS"] = counts

    def panel():
        made = Bare()
        vars(made).update({f"a{number}": number for number in range(80)})
        return made
    vars(counts).update(vars(panel()))
    agrees(many, (panel(), 3), (panel(), 4))


def test_two_names_of_one_object():
    def both(a, b):
        a.count += 1
        b.count += 10
        return a.count, b.count

    graph = hia.function(both)
    c, d = Counter(), Counter()
    assert [graph(c, d), graph(c, c), graph(d, c)] == [(1, 10), (12, 12), (11, 22)]
    assert graph._plain == 1, graph.report()


def test_an_object_that_may_be_another_one_is_left_to_python():
    def chained(t):
        t.value += 1
        return t.value if t.left is None else t.left.value

    with pytest.raises(hia.ConversionError, match="'value' of a 'Tree' is set, and read of objects that may be the same one"):
        hia.function(chained, strict=True)(full(2))
    ring = Tree(1)
    ring.left = ring
    with pytest.warns(hia.FallbackWarning, match="is set, and read of objects"):
        assert hia.function(chained)(ring) == 2


def test_attributes_without_a_value():
    def first(d, n):
        if n > 2:
            d.x = n
        return d.x

    graph, d = hia.function(first), Bare()
    with pytest.raises(AttributeError, match="has no attribute 'x'"):
        graph(d, 1)
    assert not vars(d)
    assert (graph(d, 4), graph(d, 1), graph(d, 5), d.x) == (4, 4, 5, 5)
    assert graph._plain == 1, graph.report()


def test_an_attribute_that_changes_its_type():
    def kept(c, n):
        before, c.last = c.last, n
        return 0 if before is None else before

    graph, c = hia.function(kept), Counter()
    assert [graph(c, n) for n in (3, 4, 5)] + [graph(Counter(), 6), c.last] == [0, 3, 4, 0, 5]
    assert (graph._plain, graph._conversions) == (0, 2), graph.report()


def test_attributes_of_objects_that_are_known():
    known = Counter()

    def counted(n):
        known.count = known.count + n
        return known.count

    graph = hia.function(counted)
    assert [graph(n) for n in (3, 4, 5)] + [known.count] == [3, 7, 12, 12]
    known.count = 1
    assert graph(1) == 2
    assert (graph._plain, graph._conversions) == (0, 1), graph.report()


def test_a_module_that_keeps_its_state():
    class Cell(nn.Module):
        def __init__(self):
            self.linear = nn.Linear(2, 2)
            self.state = hia.zeros(2)
            self.calls = 0

        def step(self, x):
            self.calls += 1
            self.state = hia.tanh(self.linear(x) + self.state)
            return hia.sum(self.state)

    one, other = Cell(), Cell()
    other.linear = one.linear
    step = hia.function(Cell.step)
    for _ in range(3):
        x = hia.ones(2)
        assert step(one, x).item() == pytest.approx(other.step(x).item(), rel=1e-5, abs=1e-6)
    assert (one.calls, step._plain, step._conversions) == (3, 0, 1), step.report()
    assert one.state.tolist() == pytest.approx(other.state.tolist(), rel=1e-5, abs=1e-6)


def test_what_cannot_be_set():
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        value: int

    def frozen(x):
        x.value = 3

    def in_a_lambda(c, n):
        add = lambda k: c.add(k)  # noqa: E731
        return add(n) + c.count

    with pytest.raises(hia.ConversionError, match="'Frozen' does more than set a field where 'value' is set"):
        hia.function(frozen, strict=True)(Frozen(1))
    with pytest.warns(hia.FallbackWarning), pytest.raises(dataclasses.FrozenInstanceError):
        hia.function(frozen)(Frozen(1))
    with pytest.raises(hia.ConversionError, match="cannot be used in a function that is defined inside"):
        hia.function(in_a_lambda, strict=True)(Counter(), 3)
    with pytest.raises(hia.ConversionError, match="a change of an object cannot be converted"):
        hia.grad(lambda c, x: setattr_of(c, x))(Counter(), 1.0)


def setattr_of(c, x):
    c.count = 3
    return x * x


total = 0
never_set_before = []
del never_set_before


def add_to_total(n):
    global total
    total += n
    return total if n < 5 else add_to_total(n - 5)


def set_late(n):
    global never_set_before
    if n > 2:
        never_set_before = n
    return never_set_before


def test_variables_of_the_module():
    global total
    graph = hia.function(add_to_total, strict=True)
    total = 0
    assert [graph(3), graph(4), graph(7), total] == [3, 7, 16, 16]
    total = 1.5
    assert (graph(1), total) == (2.5, 2.5)
    assert (graph._plain, graph._conversions) == (0, 2), graph.report()

    graph = hia.function(set_late)
    with pytest.raises(NameError, match="name 'never_set_before' is not defined"):
        graph(1)
    assert "never_set_before" not in globals()
    assert [graph(4), graph(1), graph(5), never_set_before] == [4, 4, 5, 5]


def test_variables_of_a_function_around():
    count, last = 0, None

    def counted(n):
        nonlocal count, last
        for i in range(n):
            count += i
        last = n
        return count

    graph = hia.function(counted, strict=True)
    assert [graph(4), graph(3), count, last] == [6, 9, 9, 3]
    assert graph._plain == 0, graph.report()
    with pytest.raises(hia.ConversionError, match="'count' is a variable of the module or of the function around"):
        hia.grad(lambda x: counted(3) * x)(2.0)


def test_a_module_that_keeps_its_state_while_it_learns(capsys):
    class Normed(nn.Module):
        def __init__(self):
            self.linear = nn.Linear(2, 1)
            self.calls = 0
            self.last = None
            self.mean = hia.zeros(2)

        def loss(self, x, n):
            self.calls += 1
            self.last = n
            self.mean = 0.5 * self.mean + 0.5 * x
            print("loss", self.calls, end=";")
            y = self.linear(x - self.mean)
            return hia.sum(y * y) + self.walk(n)

        def walk(self, n):
            if n == 0:
                return hia.f32(0.0)
            self.calls += 1
            return self.walk(n - 1)

    mine, other = Normed(), Normed()
    other.linear = mine.linear
    step = nn.value_and_grad(mine, Normed.loss)
    for turn in range(3):
        x = hia.tensor([1.0, float(turn)])
        loss, gradients = step(mine, x, 2)
        printed = capsys.readouterr().out
        assert loss.item() == pytest.approx(other.loss(x, 2).item(), rel=1e-4, abs=1e-6)
        assert printed == capsys.readouterr().out
        factor = 2 * other.linear(x - other.mean).item()
        expected = [factor * part for part in (x - other.mean).tolist()]
        assert [row[0] for row in gradients["linear.weight"].tolist()] == pytest.approx(expected, rel=1e-4, abs=1e-5)
        assert (mine.calls, mine.last, mine.mean.tolist()) == (other.calls, other.last, other.mean.tolist())


def test_objects_of_which_nothing_is_read_stay_apart():
    def marked(items, found):
        for number, item in enumerate(items):
            item.count = number
            if number % 2:
                found.append(item)
        return items[1]

    def arguments():
        return [Counter() for _ in range(5)], []
    graph = agrees(marked, arguments(), arguments())
    items, found = arguments()
    assert graph(items, found) is items[1] and [one is other for one, other in zip(found, items[1::2])] == [True, True]
