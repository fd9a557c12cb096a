"""Functions of Python as graphs that several threads call at once."""

import threading

import hiaton as hia


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
