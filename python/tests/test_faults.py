"""Runs that end early: every assumption made to fail, budgets and Ctrl-C. What is returned, raised, printed and set is what Python
returns, raises, prints and sets."""

import copy
import dataclasses
import os
import signal
import threading
import warnings

import pytest

import hiaton as hia
from hiaton import testing


@dataclasses.dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None
    depth: int = -1


@dataclasses.dataclass
class Totals:
    nodes: int = 0
    sum: int = 0
    last: "int | None" = None


def full(depth, at=1):
    return None if depth == 0 else Tree(at, full(depth - 1, 2 * at), full(depth - 1, 2 * at + 1))


def visit(totals, tree, depth):
    if tree is None:
        return []
    totals.nodes += 1
    left = visit(totals, tree.left, depth + 1)
    totals.sum += tree.value
    tree.depth = depth
    if totals.last is not None and totals.last > tree.value:
        print("after", totals.last, f"comes {tree.value}")
    totals.last = tree.value
    if tree.value > 29:
        raise ValueError(f"{tree.value} is large")
    return left + [tree.value // (tree.value - 7 if depth > 3 else 1)] + visit(totals, tree.right, depth + 1)


def walk(totals, tree, depth):
    made = visit(totals, tree, depth)
    print(len(made), made[0], max(made))
    for number, value in enumerate(made):
        if number > 5:
            break
        totals.sum += value if value % 2 else -value
    return made, {"largest": sorted(made)[-1], "first": made[0]}


def outcome(function, depth):
    totals, tree = Totals(), full(depth)
    try:
        made = function(totals, tree, 0)
    except Exception as error:
        made = type(error), str(error)
    return made, totals, tree


def count_assumptions():
    graph = hia.function(walk)
    graph(Totals(), full(3), 0)
    return len(graph._graphs[0].sites)


COUNT = count_assumptions()


def test_there_are_assumptions():
    assert COUNT >= 5


@pytest.mark.parametrize("number", range(1, COUNT + 1))
def test_every_assumption_fails(number, capsys):
    with testing.fail_assumption(number), warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        graph = hia.function(walk)
        left = 0
        for depth in (3, 1, 4, 0, 5, 2):
            found = outcome(graph, depth), capsys.readouterr().out
            expected = outcome(walk, depth), capsys.readouterr().out
            assert found == expected
            left += graph._plain
    assert left > 0, graph.report()


class Ending:
    """A graph whose run ends when all is done, in the last of its assumptions."""

    def __init__(self, core):
        self.core = core

    def call(self, values):
        self.core.call(values)
        raise hia.RunError("assumption failed")


def test_the_last_check_fails(capsys):
    graph = hia.function(walk, strict=True)
    for depth in (3, 4, 2):
        outcome(graph, depth)
        for one in graph._graphs:
            one.core = one.core if isinstance(one.core, Ending) else Ending(one.core)
        capsys.readouterr()
        found = outcome(graph, depth), capsys.readouterr().out
        assert found == (outcome(walk, depth), capsys.readouterr().out)


@pytest.mark.parametrize("budget", [1, 2, 4, 5])
def test_runs_that_a_budget_ends(budget, capsys):
    graph = hia.function(walk, budget=budget)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for depth in (3, 4):
            found = outcome(graph, depth), capsys.readouterr().out
            assert found == (outcome(walk, depth), capsys.readouterr().out)
    assert sum(g.faults for g in graph._graphs) > 0


def steps(totals, n):
    totals.nodes += 1
    print("begins")
    while n > 0:
        totals.sum = (totals.sum * 31 + n) % 1000003
        n -= 1
    print("ends")
    return totals.sum


def test_ctrl_c_changes_and_prints_nothing(capsys):
    graph = hia.function(steps, strict=True)
    totals = Totals()
    graph(totals, 3)
    before, _ = copy.copy(totals), capsys.readouterr()
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            graph(totals, 10**12)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert totals == before and capsys.readouterr().out == ""
    expected = copy.copy(totals)
    assert graph(totals, 5) == steps(expected, 5) and totals == expected and graph._plain == 0


def test_a_number_that_no_memory_holds_is_left_to_python():
    def shifted(n):
        if n > 3:
            return 7 << 1099511627776
        return n

    graph = hia.function(shifted)
    assert graph(2) == 2 and graph(3) == 3
    with pytest.raises(MemoryError) as caught:
        graph(4)
    assert caught.traceback[-1].lineno == shifted.__code__.co_firstlineno + 1
