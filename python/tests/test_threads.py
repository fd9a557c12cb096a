"""Functions of Python as graphs that several threads call at once."""

import dataclasses
import os
import signal
import threading
import warnings

import pytest

import hiaton as hia
from hiaton import nn


def doubled_sums(values):
    return sum([2 * sum([other for other in values if other < value]) for value in values])


def test_several_threads_call_one_function():
    graph, found = hia.function(doubled_sums, strict=True), []
    values = list(range(40))

    def call():
        for _ in range(20):
            found.append(graph(values))
    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {doubled_sums(values)} and len(found) == 80


def test_a_thousand_threads_call_at_once():
    @hia.function
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    assert fibonacci(10) == 55
    start = threading.Event()
    wrong = []

    def call(n):
        start.wait()
        for i in range(20):
            found = fibonacci((n + i) % 16)
            if found != (0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610)[(n + i) % 16]:
                wrong.append((n, i, found))

    threads = [threading.Thread(target=call, args=(n,)) for n in range(1000)]
    for thread in threads:
        thread.start()
    start.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert "0 calls in plain Python" in fibonacci.report()


def in_a_child(function, seconds=60):
    """The exit status of a child that calls a function; 1 where it raises, -14 where it takes too long."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        try:
            function()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("workers", [1, 2])
def test_a_child_goes_on_with_the_graphs_and_makes_new_ones(workers):
    model = nn.Linear(3, 3)

    @dataclasses.dataclass
    class Pair:
        left: "Pair | None"
        right: "Pair | None"

    def below(model, t):
        return hia.ones(3) if t is None else hia.tanh(model(below(model, t.left)) + below(model, t.right))

    def made(depth):
        return None if depth == 0 else Pair(made(depth - 1), made(depth - 1))
    graph = hia.function(below, workers=workers)
    expected = graph(model, made(6)).tolist()

    def again():
        assert graph(model, made(6)).tolist() == expected
        assert hia.function(below, workers=workers)(model, made(6)).tolist() == expected
        threads = [threading.Thread(target=lambda: graph(model, made(5))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert in_a_child(again) == 0
    assert graph(model, made(6)).tolist() == expected


def test_a_child_is_made_while_threads_run_graphs():
    graph = hia.function(doubled_sums, strict=True, workers=2)
    values, over = list(range(30)), threading.Event()
    expected = graph(values)

    def call():
        while not over.is_set():
            assert graph(values) == expected
    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()

    def in_child():
        for _ in range(5):
            assert graph(values) == expected
        assert hia.function(doubled_sums, strict=True)(values) == expected
    try:
        assert [in_a_child(in_child) for _ in range(10)] == [0] * 10
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_threads_convert_one_function_for_many_types():
    @hia.function
    def first(values, n):
        return values[0] if n == 0 else first(values, n - 1)

    found = []
    kinds = [[1], [1.5], ["a"], [(1, 2)], [hia.ones(2)], [None], [True], [[1]]]

    def call(kind):
        for n in range(5):
            made = first(kind, n)
            found.append(made is kind[0] or repr(made) == repr(kind[0]))
    threads = [threading.Thread(target=call, args=(kind,)) for kind in kinds * 4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)  # some have no graph: the list stands in the result
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 160 and all(found)


def test_threads_that_convert_at_the_same_time_share_a_graph():
    for _ in range(20):
        @hia.function
        def total(values):
            return sum([2 * value for value in values])

        start, found = threading.Event(), []

        def call():
            start.wait()
            found.extend(total([1, 2, n]) for n in range(5))
        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        start.set()
        for thread in threads:
            thread.join()
        assert sorted(found) == sorted([6, 8, 10, 12, 14] * 8)
        assert total.report().split("\n")[0].endswith("1 graphs, 1 conversions, 0 calls in plain Python"), total.report()
