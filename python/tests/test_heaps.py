"""Heaps of heapq and searches of bisect: lists of numbers and of tuples of numbers, item by item as Python has them."""

import bisect
import heapq
import random
from heapq import heappop, heappush

import pytest

import hiaton as hia
from test_long_lists import assert_linear


def sorted_by_a_heap(n):
    heap, ordered = [], []
    for i in range(n):
        heapq.heappush(heap, ((i * 7919) % 101, i))
    while heap:
        ordered.append(heapq.heappop(heap))
    return ordered


def made_a_heap(n):
    heap = [(i * 7919) % 10007 / 2 for i in range(n)]
    heapq.heapify(heap)
    for i in range(n // 2):
        heappush(heap, heappop(heap) + i)
    return heap


def middle_values(n):
    """The median of each beginning of a sequence, by a heap of the smaller ones and one of the larger ones."""
    low, high, found = [], [], []
    for i in range(n):
        heappush(high, -heapq.heappushpop(low, -((i * 7919) % 1009)))
        if len(high) > len(low):
            heappush(low, -heappop(high))
        found.append(-low[0])
    return found


def largest_of_a_stream(n):
    heap = [-1] * 8
    for i in range(n):
        x = (i * 7919) % 1009
        if x > heap[0]:
            heapq.heapreplace(heap, x)
    return heap


def shortest_ways(n):
    neighbors = [[(i * 7 + 1) % n, (i * 3 + 2) % n, (i + 1) % n] for i in range(n)]
    far, heap = [10 ** 9] * n, [(0, 0)]
    far[0] = 0
    while heap:
        now, place = heapq.heappop(heap)
        if now > far[place]:
            continue
        for to in neighbors[place]:
            then = now + 1 + (place * 31 + to * 17) % 10
            if then < far[to]:
                far[to] = then
                heapq.heappush(heap, (then, to))
    return far


class Queue:
    def __init__(self):
        self.items = []

    def put(self, x):
        heapq.heappush(self.items, x)

    def get(self):
        return heapq.heappop(self.items)


def by_an_object(n):
    queue, total = Queue(), 0
    for i in range(n):
        queue.put((i * 7919) % 1009)
    for i in range(n):
        total = total * 3 % 1000003 + queue.get()
    return total


def rising(n):
    """How long the longest rising part of a sequence is, whose elements need not be neighbors."""
    ends, x = [], 1
    for _ in range(n):
        x = (x * 7919 + 1) % 10007
        place = bisect.bisect_left(ends, x)
        if place == len(ends):
            ends.append(x)
        else:
            ends[place] = x
    return len(ends)


CASES = [sorted_by_a_heap, made_a_heap, middle_values, largest_of_a_stream, shortest_ways, by_an_object, rising]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_graphs_of_them_take_steps_in_proportion(function):
    assert_linear(function)


def changed(heap, x, y):
    heapq.heapify(heap)
    least = heapq.heappop(heap)
    heapq.heappush(heap, x)
    return least, heapq.heapreplace(heap, y), heapq.heappushpop(heap, x), heapq.heappushpop(heap, y), heap


@pytest.mark.parametrize("make", [lambda rng: rng.randint(0, 9), lambda rng: rng.random(), lambda rng: (rng.randint(0, 2), rng.randint(0, 2)),
                                  lambda rng: (rng.randint(0, 2), (rng.random(), True))], ids=["ints", "floats", "tuples", "tuples in tuples"])
def test_each_item_lies_where_that_of_python_lies(make):
    def copied(xs, x, y):
        return changed(list(xs), x, y)
    graph, rng = hia.function(copied, strict=True), random.Random(7)
    for size in [*range(1, 30), 200]:
        xs, x, y = [make(rng) for _ in range(size)], make(rng), make(rng)
        assert graph(xs, x, y) == copied(xs, x, y)


def places(xs, x, y):
    return (bisect.bisect_left(xs, x), bisect.bisect_right(xs, x), bisect.bisect(xs, x), bisect.bisect(xs, x, 1), bisect.bisect_left(xs, x, 0, len(xs) - 1),
            bisect.bisect_left(xs, y, key=lambda one: one * 2), bisect.bisect_right(xs, y, lo=1, key=lambda one: one * 2),
            heapq.nsmallest(2, xs), heapq.nlargest(3, xs, key=lambda one: -one), heapq.nlargest(-1, xs))


def test_places_in_a_list_are_those_of_python():
    graph, rng = hia.function(places, strict=True), random.Random(7)
    for size in range(1, 20):
        xs = sorted(rng.randint(0, 9) for _ in range(size))
        for x in range(-1, 11):
            assert graph(xs, x, x * 2) == places(xs, x, x * 2)


def test_mistakes_raise_what_python_raises():
    def emptied(n):
        heap = [1] * n
        for _ in range(2):
            heapq.heappop(heap)
        return heap

    def before_the_beginning(n):
        return bisect.bisect_left([1, 2], 1, -n)
    for function, n, error in ((emptied, 1, IndexError("index out of range")), (before_the_beginning, 1, ValueError("lo must be non-negative"))):
        graph = hia.function(function, strict=True)
        assert graph(2) == function(2) if function is emptied else graph(0) == 0
        with pytest.raises(type(error), match=str(error)):
            graph(n)


def test_heaps_are_left_to_the_functions_in_c():
    with pytest.warns(hia.FallbackWarning, match="plain Python calls functions of heapq, which are written in C, faster"):
        assert hia.function(sorted_by_a_heap)(20) == sorted_by_a_heap(20)


def test_heaps_of_other_items_are_left_to_python():
    def ordered(xs):
        heap = []
        for x in xs:
            heapq.heappush(heap, [x, 1])
        return [heapq.heappop(heap)[0] for _ in xs]

    def of_parts(xs):
        heap, found = [], []
        for x in xs:
            heapq.heappush(heap, (x, (x, None)))
        for _ in xs:
            found.append(heapq.heappop(heap)[0])
        return found
    xs = [(i * 7919) % 101 for i in range(40)]
    for function in (ordered, of_parts):
        with pytest.warns(hia.FallbackWarning):
            assert hia.function(function)(xs) == function(xs)


def test_a_function_of_another_meaning_is_called(monkeypatch):
    def pushed(n):
        heap = []
        for i in range(n):
            heapq.heappush(heap, -i)
        return heap[0]
    graph = hia.function(pushed, strict=True)
    assert graph(5) == -4

    def appended(heap, x):
        heap.append(x)
    monkeypatch.setattr(heapq, "heappush", appended)
    assert graph(5) == 0
