"""Lists of the caller that grow: when the run is over, in the order of the run."""

import dataclasses
import re

import pytest

import hiaton as hia
from hiaton import nn


@dataclasses.dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None


def full(depth, at=1):
    return None if depth == 0 else Tree(at, full(depth - 1, 2 * at), full(depth - 1, 2 * at + 1))


LOG = []
history = {"unused": 0}


def collect(tree, out):
    """The list is handed on through the recursion."""
    if tree is None:
        return 0
    below = collect(tree.left, out)
    out.append(tree.value)
    return below + 1 + collect(tree.right, out)


def nodes_of(tree, out):
    if tree is None:
        return
    out.append(tree)
    nodes_of(tree.left, out)
    nodes_of(tree.right, out)


def logged(tree, out):
    LOG.append((tree.value, "begin"))
    for i in range(tree.value):
        if i % 2:
            LOG.append((i, "odd"))
            continue
        out.extend([i, i * 10])
    LOG.extend([(n, "end") for n in range(2)])
    print("logged", len([1, 2]))
    return tree.value


def raised(tree, out):
    out.append(1)
    if tree.left is None:
        raise ValueError("a leaf")
    out.append(2)


@pytest.mark.parametrize("function", [collect, nodes_of, logged, raised])
def test_lists_grow_as_in_python(function, capsys):
    graph = hia.function(function, strict=function is not logged)
    mine, expected = [], []
    for depth in (3, 1, 4, 2):
        tree = full(depth)
        found = []
        for run, out in ((function, expected), (graph, mine)):
            LOG.clear()
            try:
                made = run(tree, out)
            except ValueError as error:
                made = str(error)
            found.append((made, [*LOG], capsys.readouterr().out))
        assert found[0] == found[1] and len(mine) == len(expected)
        assert all(a is b or type(a) is not Tree and a == b for a, b in zip(mine, expected))
    assert graph._conversions <= 2 and graph._plain == (function is raised), graph.report()


class Counted(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 1)
        self.losses = []

    def loss(self, x, seen):
        y = self.linear(x)
        loss = hia.sum(y * y)
        self.losses.append(loss)
        seen.append(x)
        return loss


def test_losses_that_a_module_keeps():
    model, seen = Counted(), []
    step = nn.value_and_grad(model, lambda model, xs, seen: sum(model.loss(x, seen) for x in xs))
    xs = [hia.tensor([1.0, 2.0]), hia.tensor([0.5, -1.0])]
    for turn in range(3):
        total, _ = step(model, xs, seen)
        assert len(model.losses) == len(seen) == 2 * turn + 2 and seen[-1].tolist() == [0.5, -1.0]
        assert total.item() == pytest.approx(sum(loss.item() for loss in model.losses[-2:]), rel=1e-6)
    assert step._conversions == 1


def both(first, second):
    first.append(1)
    second.append(2)
    first.append(3)


def reads_another(out, values):
    out.append(7)
    return sum(values)


def test_lists_that_are_one():
    graph = hia.function(both)
    a, b = [], []
    graph(a, b)
    assert (a, b, graph._plain) == ([1, 3], [2], 0)
    graph(a, a)
    assert a == [1, 3, 1, 2, 3] and graph._plain == 1
    graph = hia.function(reads_another)
    out = [5]
    assert graph(out, [1, 2]) == 3 and out == [5, 7] and graph._plain == 0
    assert graph(out, out) == 19 and out == [5, 7, 7] and graph._plain == 1
    assert graph(out, [1]) == 1


def looked_at(out):
    out.append(1)
    return len(out)


def log_looked_at(n):
    LOG.append(n)
    return len(LOG)


def kept(out):
    out.append(1)
    return out


def changed_otherwise(out):
    out.append(1)
    out.sort()


def sorted_behind(out):
    out.append(1)
    return sorted(out)


def largest_behind(out):
    out.append(1)
    return max(out, key=lambda one: -one)


def turned_behind(out):
    out.append(1)
    return list(reversed(out))


@pytest.mark.parametrize("function,message", [
    (looked_at, "the length of a list of the caller that is appended to cannot be converted"),
    (log_looked_at, "the length of a list of the caller that is appended to cannot be converted"),
    (kept, "a list of the caller that is appended to can only be handed on to functions"),
    (changed_otherwise, "a list of the caller that is appended to"),
    (sorted_behind, "a loop over a list of the caller that is appended to cannot be converted"),
    (largest_behind, "a loop over a list of the caller that is appended to cannot be converted"),
    (turned_behind, "a loop over a list of the caller that is appended to cannot be converted"),
])
def test_lists_that_are_appended_to_are_not_read(function, message):
    LOG.clear()
    given = [] if function is not log_looked_at else 1
    with pytest.raises(hia.ConversionError, match=rf"test_effects.py:\d+: .*{re.escape(message)}"):
        hia.function(function, strict=True)(given)
    assert given in ([], 1) and LOG == []
    graph = hia.function(function)
    with pytest.warns(hia.FallbackWarning):
        graph(given)
    assert given == [1] or LOG == [1]
