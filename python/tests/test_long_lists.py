"""Lists that change in loops: how many steps that takes, and that lists which the caller gets are lists of their own."""

import warnings

import pytest

import hiaton as hia


def assert_linear(function):
    """A graph of it gives what Python gives, in steps that grow with n, or n log n."""
    graph = hia.function(function, strict=True)
    steps = {}
    for n in (100, 400):
        assert graph(n) == function(n)
        steps[n] = sum(region.runs for region in graph.lower(n).stats())
    assert steps[400] < 6 * steps[100]


def emptied(n):
    s, xs = 0, [i for i in range(n)]
    while xs:
        s += xs.pop()
    return s


def joined_in_pairs(n):
    xs = [i for i in range(n)]
    while len(xs) > 1:
        xs.append((xs.pop() + xs.pop()) % 1000)
    return xs[0]


class Stack:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def is_empty(self):
        return not self.items


def stacked(n):
    s, stack = 0, Stack()
    for i in range(n):
        stack.push(i)
    while not stack.is_empty():
        s = (s * 3 + stack.items.pop()) % 1000003
    return s


def extended(n):
    xs, ys, zs = [], [], [1]
    for i in range(n):
        xs += [i, -i]
        ys = ys + [i]
        zs.extend([n])
    return sum(xs) + sum(ys) + len(zs)


def taken_off(n):
    s, xs = 0, [i for i in range(n)]
    while xs:
        s, xs = s * 3 % 1000003 + xs[0], xs[1:]
    return s


def total(xs):
    return 0 if not xs else xs[0] + total(xs[1:])


def recursive_total(n):
    return total([i for i in range(n)]) + total(list(range(n))[-n // 2:])


def run_lengths(n):
    runs = []
    for i in range(n):
        if runs and runs[-1][0] == i // 3:
            runs[-1] = (i // 3, runs[-1][1] + 1)
        else:
            runs.append((i // 3, 1))
    runs[-2] = (5, 7)
    return sum(a * b for a, b in runs)


def merged_from_the_ends(n):
    left, right, made = [2 * i for i in range(n)], [3 * i for i in range(n)], []
    while left and right:
        if left[-1] > right[-1]:
            made.append(left.pop())
        else:
            made.append(right.pop())
    return sum(x * i for i, x in enumerate(made)) + len(left)


@pytest.mark.parametrize("function", [emptied, joined_in_pairs, stacked, extended, taken_off, recursive_total, run_lengths, merged_from_the_ends])
def test_a_change_takes_as_many_steps_however_long_the_list_is(function):
    assert_linear(function)


def compared_with_few(xs):
    ys = [x for x in xs]
    ys.append(1)
    return [(len(zs) > 1, len(zs) >= 2, len(zs) < 3, len(zs) <= 3, len(zs) == 4, len(zs) != 2, len(zs) > -1, len(zs) == 10) for zs in (xs, ys)]


def extended_by_sums(xs):
    ys, seen = [], []
    for x in xs:
        before = ys
        ys = ys + [x]
        ys = ys + [len(before)] + ys[:1]
        if x > 1:
            seen = seen + [(x, 1.5)]
        else:
            seen.append((x, 2.5))
    wide = [1.0]
    wide = wide + [x / 2 for x in xs]
    return ys, seen, wide + [x for x in wide if x > 0]


def extended_by_itself(xs):
    ys, parts = [1, 2], []
    ys += ys
    ys.extend(xs)
    parts += [[x] for x in xs]
    parts += []
    parts += [[0]]
    return ys, parts


@pytest.mark.parametrize("function", [compared_with_few, extended_by_sums, extended_by_itself])
def test_lists_of_any_length_are_compared_and_extended(function):
    graph = hia.function(function)
    for n in range(1, 6):
        assert graph(list(range(n))) == function(list(range(n))), n
    assert sum(one.hits for one in graph._graphs) >= 4, graph.report()


def test_a_list_that_was_lent_and_gets_another_value_stays_the_callers():
    def add(ys, x):
        ys.append(x)
        ys = ys + [7]
        return len(ys)

    def added(xs):
        ys, n = [], 0
        for x in xs:
            n += add(ys, x)
        return ys, n

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        graph = hia.function(added)
        for xs in ([1, 2, 3], [4], []):
            assert graph(xs) == added(xs)


def test_copies_that_somebody_may_see_are_other_lists():
    def copies(xs):
        ys = [x for x in xs]
        return xs[:], list(xs), ys.copy(), ys[1:], ys[1:], ys

    class Holder:
        rest = None

    def kept(holder, xs):
        holder.rest = xs[1:]
        return len(xs[1:])

    graph = hia.function(copies, strict=True)
    for xs in ([1, 2], [5, 6, 7], []):
        made = graph(xs)
        assert made == copies(xs)
        assert len({id(one) for one in (xs, *made)}) == 7
    keeping, holder, xs = hia.function(kept, strict=True), Holder(), [1, 2, 3]
    for _ in range(3):
        before = holder.rest
        assert keeping(holder, xs) == 2 and holder.rest == [2, 3] and holder.rest is not before


def pushed(heap, x):
    heap.append(x)
    i = len(heap) - 1
    while i > 0 and heap[(i - 1) // 2][0] > x[0]:
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = x


def smallest(xs):
    heap = []
    for x in xs:
        pushed(heap, x)
    return heap[0]


def test_lists_of_others_than_numbers_that_grow_and_whose_elements_are_set_by_index_are_left_to_python():
    xs = [((i * 7919) % 101, [i]) for i in range(60)]
    with pytest.warns(hia.FallbackWarning, match="plain Python sets elements of lists that also grow or shrink, as 'heap', faster"):
        assert hia.function(smallest)(xs) == smallest(xs)
    assert hia.function(smallest, strict=True)(xs) == smallest(xs)


def test_lists_in_a_sum_stay_what_they_are():
    def sums(n):
        xs, ys, kept = [], [5, 6], []
        for i in range(n):
            xs.append(i)
            kept = xs + ys + [i]
        longer, same, twice = [] + ys, xs + [], xs + xs
        xs.append(7)
        kept[0] = 9
        return xs, ys, kept, longer, same, twice

    graph = hia.function(sums, strict=True)
    for n in (1, 2, 5):
        made = graph(n)
        assert made == sums(n)
        assert len({id(one) for one in made}) == 6


def sorted_by_halves(xs):
    if len(xs) <= 1:
        return xs
    left, right = sorted_by_halves(xs[:len(xs) // 2]), sorted_by_halves(xs[len(xs) // 2:])
    merged, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


def sorted_numbers(n):
    return sorted_by_halves([(i * 7919) % 1009 for i in range(n)])


def last_ones(n):
    xs, total = [1, 2, 3], 0
    for i in range(n):
        xs.append(xs[i] + i)
        total += sum(xs[-2:]) + sum(xs[i:i + 3]) + len(xs[i::2][:2])
    return total


@pytest.mark.parametrize("function", [sorted_numbers, last_ones], ids=lambda f: f.__name__)
def test_parts_of_lists_that_are_looked_up_take_steps_in_proportion(function):
    assert_linear(function)


def filled(n):
    width = int(n ** 0.5)
    grid = [[int((i * 7 + j * 13) % 5 > 0) for j in range(width)] for i in range(width)]

    def fill(i, j):
        if not 0 <= i < width or not 0 <= j < width or grid[i][j] != 1:
            return 0
        grid[i][j] = 2
        return 1 + fill(i + 1, j) + fill(i - 1, j) + fill(i, j + 1) + fill(i, j - 1)
    return [fill(i, j) for i in range(width) for j in range(width)]


def in_order_of_needs(n):
    needs, seen, order = [[j for j in (i // 2, i // 3) if j < i] for i in range(n)], [False] * n, []

    def visit(one):
        if not seen[one]:
            seen[one] = True
            for other in needs[one]:
                visit(other)
            order.append(one)
    for one in range(n):
        visit(n - 1 - one)
    return order


def far_apart(n):
    far, count = [-1] * n, 0

    def mark(place, steps):
        nonlocal count
        count += 1
        far[place] = steps
        if place + 1 < n and far[place + 1] < 0:
            mark(place + 1, steps + 1)

    def all_marked():
        for place in range(n):
            if far[place] < 0:
                mark(place, 0)
    all_marked()
    return far, count


@pytest.mark.parametrize("function", [filled, in_order_of_needs, far_apart], ids=lambda f: f.__name__)
def test_functions_inside_change_lists_where_they_lie(function):
    assert_linear(function)


def relaxed(n):
    """How far places are from the first one, along neighbors that each have a distance, which grows with each look at it."""
    near, far = [[((i * 7 + 1) % n, i % 5), ((i + 1) % n, i % 3)] for i in range(n)], [10 ** 9] * n
    far[0] = 0
    for _ in range(4):
        for place in range(n):
            for other, distance in near[place]:
                far[other] = min(far[other], far[place] + distance)
            other, distance = near[place][0]
            near[place][0] = (other, distance + 1)
            far[place] += near[place][1][0] == 3
    return far, near


def test_rows_of_tuples_are_gone_over_and_set_where_they_lie():
    assert_linear(relaxed)
