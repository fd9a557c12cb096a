"""Lists of numbers, and of tuples of numbers, that grow and shrink at their end, and whose elements are looked up and set by computed indices meanwhile."""

import time

import pytest

import hiaton as hia
from test_long_lists import assert_linear


def numbered(n):
    """A tree whose nodes are added while the list is gone over by index."""
    nodes, i = [1], 0
    while i < len(nodes):
        for child in (2 * nodes[i], 2 * nodes[i] + 1):
            if child <= n:
                nodes.append(child)
        i += 1
    return sum(nodes)


def remembered(n):
    values = [0, 1]
    for i in range(2, n):
        values.append((values[i - 1] + values[i // 2]) % 1000007)
    return values


def begun_empty(n):
    halves = []
    for i in range(n):
        halves.append(0.5 if i == 0 else halves[i // 2] + halves[i - 1] / 2)
    return halves[n - 1]


def of_truths(n):
    odd = [False]
    for i in range(1, n):
        odd.append(not odd[i - 1])
        odd[i // 2] = odd[i] and odd[0]
    return odd


def gone_over_while_growing(n):
    found, total = [], 0
    for i in range(n):
        for x in found:
            if x > 3:
                break
            total += x * i
        else:
            total += 1
        found.append(i)
    return total, found


def bounded_primes(n):
    found, x = [2], 3
    while len(found) < n:
        i = 0
        while found[i] * found[i] <= x and x % found[i]:
            i += 1
        if found[i] * found[i] > x:
            found.append(x)
        x += 2
    return found[-1]


def in_pairs(n):
    xs = []
    for i in range(n):
        xs += [i, -i]
        xs.extend((i, xs[i]))
        xs = xs + [xs[i // 2]]
    return sum(xs)


def by_lists(n):
    xs = [1]
    for i in range(n):
        xs.extend([x + i for x in (1, 2, 3)])
        xs[i] = xs[2 * i] % 7
    return xs


def longest_rise(n):
    ends, x = [], 1
    for _ in range(n):
        x = (x * 7919 + 1) % 10007
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if ends[middle] < x else (low, middle)
        if low == len(ends):
            ends.append(x)
        else:
            ends[low] = x
    return len(ends)


def cleared(n):
    xs, total = [], 0
    for i in range(n):
        xs.append(i)
        total += xs[len(xs) // 2]
        if len(xs) == 7:
            xs.clear()
    return total, xs


def anew(n):
    total = 0
    for i in range(n // 10):
        level = []
        for j in range(10):
            level.append(i + j)
            total += level[j // 2]
        total += len(level)
    return total


def push(heap, x):
    heap.append(x)
    i = len(heap) - 1
    while i > 0 and heap[(i - 1) // 2] > x:
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = x


def pop(heap):
    least, x, i = heap[0], heap.pop(), 0
    if heap:
        while 2 * i + 1 < len(heap):
            child = 2 * i + 1
            if child + 1 < len(heap) and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= x:
                break
            heap[i] = heap[child]
            i = child
        heap[i] = x
    return least


def in_order(n):
    heap, ordered = [], []
    for i in range(n):
        push(heap, (i * 7919) % 10007)
    while heap:
        ordered.append(pop(heap))
    return ordered


class Heap:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)
        i = len(self.items) - 1
        while i > 0 and self.items[(i - 1) // 2] > x:
            self.items[i] = self.items[(i - 1) // 2]
            i = (i - 1) // 2
        self.items[i] = x

    def pop(self):
        return pop(self.items)


def in_order_by_an_object(n):
    heap, ordered = Heap(), []
    for i in range(n):
        heap.push((i * 7919) % 10007)
    for i in range(n):
        ordered.append(heap.pop())
    return ordered


def shortest_ways(n):
    """From 0, by a heap of how far it is and where to: numbers, and whether by a long step."""
    far, heap, seen = [10 ** 9] * n, [], 0
    far[0] = 0
    push(heap, (0, 0, False))
    while heap:
        now, place, is_long = pop(heap)
        seen += is_long
        if now == far[place]:
            for step, is_long in ((1, False), (7, True), (place % 5, False)):
                to, then = (place + step) % n, now + 1 + (place * 31 + step * 17) % 10
                if then < far[to]:
                    far[to] = then
                    push(heap, (then, to, is_long))
    return sum(far), seen


def pairs(n):
    edges = [(0, 0.5)]
    for i in range(1, n):
        place, weight = edges[i // 2]
        edges.append((place + i, weight / 2))
        edges[i // 3] = (edges[i][0] % 5, edges[i - 1][1])
        if i % 4 == 3:
            edges[-1] = edges.pop()
            edges += [edges[0], (i, 1.0)]
    return edges


def over_itself(n):
    xs = [n]
    for x in xs:
        if x > 1:
            xs.append(x - 1)
    return xs


def shrinking_while_gone_over(n):
    xs, seen = [i for i in range(n)], []
    for i, x in enumerate(xs):
        seen.append(xs[i])
        if x % 3 == 0:
            xs.pop()
    return xs, seen


def seconds_of(function, n):
    begin = time.perf_counter()
    function(n)
    return time.perf_counter() - begin


CASES = [numbered, remembered, begun_empty, of_truths, gone_over_while_growing, in_pairs, by_lists, longest_rise, cleared, anew, in_order, in_order_by_an_object, shortest_ways, pairs,
         over_itself, shrinking_while_gone_over]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_graphs_of_them_take_steps_in_proportion(function):
    assert_linear(function)


@pytest.mark.parametrize("function", [numbered, begun_empty], ids=lambda f: f.__name__)
def test_elements_are_added_where_the_list_lies(function):
    """Steps do not tell whether each copies the list: copies of so long a one would take seconds, where Python takes a few hundredths."""
    n = 200_000
    graph = hia.function(function, strict=True)
    assert graph(100) == function(100)
    assert seconds_of(graph, n) < 5 * seconds_of(function, n)


def held_elsewhere(n):
    xs, kept = [1], []
    for i in range(n):
        xs.append(xs[i // 2] + 1)
        if i == 2:
            kept = xs
    return xs, kept, xs is kept


def emptied_too_often(n):
    xs, total = [1, 2], 0
    for i in range(n):
        xs.append(xs[i // 3])
        total += xs.pop() + xs.pop()
    return total


def on_one_side(n):
    xs = [1, 2, 3]
    for i in range(n):
        if xs[i % len(xs)] % 2:
            xs.append(i)
        elif len(xs) > 2:
            xs.pop()
    return xs


def of_several_kinds(n):
    xs = [1, 2]
    for i in range(n):
        xs.append(xs[i] + (0.5 if i == 3 else 1))
    return xs


def changed_in_the_middle(n):
    xs = [1, 2, 3]
    for i in range(n):
        xs.append(xs[i])
        xs.insert(1, i)
        del xs[0]
    return xs


def changed_by_a_function_inside(n):
    xs = [1]

    def longer(i):
        xs.append(xs[i // 2] + i)
    for i in range(n):
        longer(i)
    return xs


def rows(n):
    table = [[0] * 3]
    for i in range(n):
        table[i][i % 3] = i
        table.append([i] * 3)
    return [table[i][j] for i in range(n) for j in range(3)]


def of_texts(n):
    names = ["a"]
    for i in range(n):
        names.append("b" if names[i // 2] == "a" else "a")
    return names


@pytest.mark.parametrize("function", [bounded_primes, held_elsewhere, emptied_too_often, on_one_side, of_several_kinds, changed_in_the_middle, changed_by_a_function_inside,
                                      rows, of_texts], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::hiaton.FallbackWarning")
def test_all_else_is_as_in_python(function):
    graph = hia.function(function)
    for n in (0, 1, 2, 5, 9, 3):
        try:
            expected = repr(function(n))
        except IndexError as error:
            with pytest.raises(IndexError, match=str(error)):
                graph(n)
        else:
            assert repr(graph(n)) == expected, graph.report()


def test_gradients_pass_through_them():
    def grown(x):
        xs = [x]
        for i in range(6):
            xs.append(xs[i] * x + xs[i // 2])
        xs.pop()
        return xs[len(xs) - 1] * xs[2]

    def slope(x, h=1e-6):
        return (grown(x + h) - grown(x - h)) / (2 * h)
    assert hia.grad(grown)(0.7) == pytest.approx(slope(0.7), rel=1e-6)
