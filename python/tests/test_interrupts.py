"""Runs that Ctrl-C or a budget ends, at any moment: what is set, appended and printed is all that Python would, or nothing."""

import contextlib
import copy
import dataclasses
import io
import os
import random
import signal
import threading
import time
import warnings

import pytest

import hiaton as hia

TRIALS = int(os.environ.get("HIATON_INTERRUPTS", 60))


@dataclasses.dataclass
class Item:
    value: int
    mark: int = 0
    label: "str | None" = None


@dataclasses.dataclass
class World:
    items: list
    total: int = 0
    log: list = dataclasses.field(default_factory=list)


def spin(n, x):
    while n > 0:
        x = (x * 31 + n) % 1000003
        n -= 1
    return x


def work(world, log, turns):
    print("begins")
    for number, item in enumerate(world.items):
        found = spin(turns, item.value)
        item.mark = found
        item.label = "odd" if found % 2 else "even"
        log.append(number)
        print("item", number, f"{item.value:>4}")
    world.total = world.total + spin(turns, len(world.items))
    print("ends", world.total)
    return world.total


def made(count=300):
    return World([Item(n) for n in range(count)]), []


@pytest.fixture
def default_handler():
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


def test_ctrl_c_at_random_moments(default_handler):
    graph = hia.function(work, strict=True)
    turns = 2000
    graph(*made(3), turns)
    begin = time.perf_counter()
    expected = made()
    with contextlib.redirect_stdout(io.StringIO()) as whole:
        result = graph(*expected, turns)
    seconds = time.perf_counter() - begin
    rng, ended, done = random.Random(7), 0, 0
    for _ in range(TRIALS):
        world, log = made()
        before = copy.deepcopy((world, log))
        with contextlib.redirect_stdout(io.StringIO()) as output:
            timer = threading.Timer(rng.uniform(0, 1.6 * seconds), lambda: os.kill(os.getpid(), signal.SIGINT))
            try:
                timer.start()
                assert graph(world, log, turns) == result
                timer.join()
                time.sleep(1)
            except KeyboardInterrupt:
                pass
            timer.join()
        if (world, log) == before:
            ended += 1
            assert output.getvalue() == ""
        else:
            done += 1
            assert (world, log) == expected and output.getvalue() == whole.getvalue()
    assert ended > 0 and done > 0 and graph._plain == 0


class Pressed(io.StringIO):
    """Somebody presses Ctrl-C while this is written for the n-th time."""

    def __init__(self, at):
        super().__init__()
        self.left = at

    def write(self, text):
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)
        return super().write(text)


@pytest.mark.parametrize("at", [1, 2, 30, 57])
def test_ctrl_c_while_what_was_printed_is_written(at, default_handler):
    graph = hia.function(work, strict=True)
    graph(*made(3), 10)
    expected, mine = made(9), made(9)
    with contextlib.redirect_stdout(io.StringIO()) as whole:
        work(*expected, 10)
    with contextlib.redirect_stdout(Pressed(at)) as output, pytest.raises(KeyboardInterrupt):
        graph(*mine, 10)
    assert mine == expected and output.getvalue() == whole.getvalue()
    with contextlib.redirect_stdout(io.StringIO()) as output:
        graph(*made(9), 10)
    assert output.getvalue() == whole.getvalue()


class PressedTwice(io.StringIO):
    def write(self, text):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return super().write(text)


def test_a_second_ctrl_c_does_not_wait(default_handler):
    graph = hia.function(work, strict=True)
    graph(*made(3), 10)
    with contextlib.redirect_stdout(PressedTwice()) as output, pytest.raises(KeyboardInterrupt):
        graph(*made(9), 10)
    assert output.getvalue() == ""


def test_a_handler_of_somebody_else_that_raises_nothing():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        graph = hia.function(work, strict=True)
        expected, mine = made(9), made(9)
        with contextlib.redirect_stdout(io.StringIO()):
            work(*expected, 10)
        with contextlib.redirect_stdout(Pressed(5)):
            graph(*mine, 10)
        assert mine == expected and seen == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def held(world, log, turns):
    """Calls that are under way together, each with a list of its own."""
    print("begins")
    log.append(turns)
    world.total += 1

    def below(n):
        values = [n + k for k in range(20)]
        if n == 0:
            return values
        found = below(n - 1)
        return [a + b for a, b in zip(values, found)]
    made = below(turns)
    for item in world.items:
        item.mark = made[item.value % 20]
        print("at", made[item.value % 7])
    world.total += sum(made)
    return made


@pytest.mark.parametrize("budget", [{"budget": n} for n in (1, 2, 3, 5, 10, 30)] +
                         [{"max_bytes": n} for n in (1, 100, 1000, 5000, 20_000, 50_000, 10**9)], ids=str)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_a_budget_ends(budget, workers):
    graph = hia.function(held, workers=workers, **budget)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for turns in (1, 30, 3, 60, 2):
            mine, expected = made(12), made(12)
            with contextlib.redirect_stdout(io.StringIO()) as output:
                found = graph(*mine, turns)
            with contextlib.redirect_stdout(io.StringIO()) as whole:
                assert found == held(*expected, turns)
            assert mine == expected and output.getvalue() == whole.getvalue()
    assert budget == {"max_bytes": 10**9} or graph._plain > 0, graph.report()
    assert graph._plain == 0 or "budget" in graph.report(), graph.report()
