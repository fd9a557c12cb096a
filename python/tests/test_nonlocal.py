"""Functions defined inside that set variables of the function around, `nonlocal`; see lent_lists.py."""

import dataclasses
import warnings

import pytest

import hiaton as hia


@dataclasses.dataclass
class Tree:
    value: float
    left: "Tree | None" = None
    right: "Tree | None" = None


TREES = [Tree(4.0), Tree(1.0, None, Tree(2.0)), Tree(7.0, Tree(3.0), None), Tree(1.5, Tree(2.5, Tree(4.0), Tree(5.0)), Tree(3.5, Tree(6.0), Tree(7.0)))]


def measured(t):
    """A number that is None at first, a count, and a list that gets another value."""
    count, deepest, path = 0, None, []

    def visit(t, depth, above):
        nonlocal count, deepest, path
        if t is None:
            return
        count += 1
        here = above + [t.value]
        if deepest is None or depth > deepest:
            deepest, path = depth, here
        visit(t.left, depth + 1, here)
        visit(t.right, depth + 1, here)

    visit(t, 0, [])
    return count, deepest, path


def numbered(t):
    """In comprehensions, loops, operands of `and` and `if` expressions, and by functions that others call."""
    last = 0

    def next_number():
        nonlocal last
        last += 1
        return last

    def two():
        return next_number() * 10 + next_number()

    def numbers(t):
        if t is None:
            return []
        own = next_number()
        return numbers(t.left) + [own] + numbers(t.right)

    found = [next_number() * i for i in range(3)]
    for _ in range(2):
        found.append(two())
    even = next_number() % 2 == 0 and next_number() > 0
    odd = next_number() if t.left is None else -next_number()
    return found, even, odd, numbers(t), last


def read_beside(t):
    """A function that only reads a variable sees what the other one has set."""
    total = 0.0

    def so_far():
        return total

    def add(t):
        nonlocal total
        if t is None:
            return 0.0
        total = total + t.value
        mine = so_far()
        return mine + add(t.left) + add(t.right) + so_far()

    found = add(t)
    total *= 2
    return found, so_far(), total


def nested(t):
    """The variable of a function two levels above."""
    steps = 0

    def outer(t):
        def inner(t):
            nonlocal steps
            steps += 1
            return t.value if t.left is None else outer(t.left)
        return inner(t) + (outer(t.right) if t.right is not None else 0.0)

    return outer(t), steps


def each_calls_the_other(t):
    """A function inside of another one calls it, and has parameters of other names."""
    steps = 1

    def outer(n):
        nonlocal steps

        def inner(m):
            nonlocal steps
            steps = steps * 2 % 1000
            if m > 0:
                outer(m - 1)
            return steps
        steps += n
        return inner(n) + steps

    return [outer(n) for n in range(3)], steps


def own_in_another(t):
    """A function has a variable of its own with the name that another function sets."""
    count = 1

    def grow():
        nonlocal count
        count *= 3

    def other(n):
        count = n
        count += 1
        return count

    grow()
    made = other(10)
    grow()
    return made, count


@pytest.mark.parametrize("function", [measured, numbered, read_beside, nested, each_calls_the_other, own_in_another])
def test_variables_that_functions_inside_set(function):
    graph = hia.function(function, strict=True)
    for tree in TREES:
        assert graph(tree) == function(tree), graph.report()
    assert graph._plain == 0, graph.report()


def test_gradients_through_a_variable_that_is_set():
    def loss(w, t):
        total = hia.zeros(2)

        def visit(t):
            nonlocal total
            if t is None:
                return hia.zeros(2)
            h = hia.tanh(w * t.value + visit(t.left) - visit(t.right))
            total = total + h * h
            return h
        visit(t)
        return hia.sum(total)

    step = hia.value_and_grad(loss, strict=True)
    w = hia.tensor([0.3, -0.2])
    for tree in TREES:
        with hia.GradientTape() as tape:
            tape.watch(w)
            expected = loss(w, tree)
        value, gradient = step(w, tree)
        assert value.item() == pytest.approx(expected.item(), rel=1e-6)
        assert gradient.tolist() == pytest.approx(tape.gradient(expected, w).tolist(), rel=1e-5)


def handed_to_another(values):
    count = 0

    def key(value):
        nonlocal count
        count += 1
        return -value
    return sorted(values, key=key), count


def set_before_it_has_a_value(n):
    def give():
        nonlocal late
        late = n
    give()
    late = late + 1
    return late


@pytest.mark.parametrize("function, argument, message", [
    (handed_to_another, [1, 3, 2], "'count' is changed by 'key', which is called by another function here; give the value back"),
    (set_before_it_has_a_value, 3, "'late' is set by 'give' and has no value yet; give it one before that function is called")])
def test_what_python_runs(function, argument, message):
    graph = hia.function(function)
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert graph(argument) == function(argument)
    assert graph._plain > 0 and message in graph.report()


def test_a_variable_outside_of_the_graph():
    steps = 0

    def counted(n):
        def once():
            nonlocal steps
            steps += 1
            return steps
        return once() + once() + n

    graph = hia.function(counted)
    with pytest.warns(hia.FallbackWarning, match="'steps' is a variable of a function around the one that is converted"):
        assert [graph(1), graph(1), steps] == [4, 8, 4]
