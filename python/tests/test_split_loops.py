"""Loops over examples run their examples in batches, and give the same bits as one after the other."""

import dataclasses
import random

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


@dataclasses.dataclass
class Tree:
    label: int
    word: "int | None" = None
    left: "Tree | None" = None
    right: "Tree | None" = None


def tree(rng, leaves):
    if leaves == 1:
        return Tree(rng.randrange(2), rng.randrange(9))
    cut = rng.randrange(1, leaves)
    return Tree(rng.randrange(2), None, tree(rng, cut), tree(rng, leaves - cut))


def trees(count):
    rng = random.Random(5)
    return [tree(rng, rng.randrange(15, 25)) for _ in range(count)]


class TreeRNN(nn.Module):
    def __init__(self, d=4):
        self.E, self.W, self.V = nn.Embedding(9, d), nn.Linear(2 * d, d), nn.Linear(d, 2)

    def encode(self, t):
        if t.left is None:
            return self.E(t.word)
        return hia.tanh(self.W(hia.concat([self.encode(t.left), self.encode(t.right)], axis=0)))

    def loss(self, t):
        return hia.cross_entropy(self.V(self.encode(t)), t.label)


MODEL = TreeRNN()


def by_sum(trees):
    return sum(MODEL.loss(t) for t in trees)


def by_loop(trees):
    total = 0.0
    for t in trees:
        total += MODEL.loss(t)
    return total


def by_numbers(trees):
    total = hia.f32(0.0)
    for number in range(len(trees)):
        total = total * 0.5 + MODEL.loss(trees[number])
    return total


def several(trees):
    total, count, largest = hia.f32(0.0), 0, hia.f32(0.0)
    for t in trees:
        h = MODEL.encode(t)
        loss = hia.cross_entropy(MODEL.V(h), t.label)
        total = total + 0.5 * loss
        largest = hia.maximum(largest, loss)
        count += 1
    return total / count, largest


def on_condition(trees):
    total, others = hia.f32(0.0), 0
    for number, t in enumerate(trees):
        if t.label == 1:
            total = total + MODEL.loss(t) * float(number)
        else:
            others += 1
    return total, others


def skipping(trees):
    total = hia.f32(0.0)
    for t in trees:
        if t.label == 0:
            continue
        total = total + MODEL.loss(t)
    return total


def appended(trees):
    losses, last, t = [], 0, trees[0]
    for t in trees:
        losses.append(MODEL.loss(t))
        last = t.label
    return losses, last, t.label


def in_pairs(trees):
    total = hia.f32(0.0)
    for t, weight in zip(trees, [1.0, 2.0] * (len(trees) // 2)):
        loss, half = MODEL.loss(t), weight / 2
        total = total * half + loss
    return total


def up_to_an_end(trees):
    points = 0
    for t in trees:
        if t.label > 1:
            break
        points += int(MODEL.loss(t).item() * 1000.0)
    return points


def up_to_several_ends(trees):
    points, found, least = 0, [], -1
    for number, t in enumerate(trees):
        if number >= 1000:
            break
        if t.label <= least:
            break
        if t.label == 5:
            continue
        loss = MODEL.loss(t)
        points += int(loss.item() * 1000.0)
        found.append(points)
    return points, found


def up_to_an_end_behind_the_work(trees):
    points, last, t = 0, None, trees[0]
    for number, t in enumerate(trees):
        points += int(MODEL.loss(t).item() * 1000.0)
        if t.label > 1:
            last = number
            break
        points += number
    return points, last, t.label


def up_to_a_result(trees):
    points = 0
    for t in trees:
        if t is None or t.label < 0:
            return -points
        points += int(MODEL.loss(t).item() * 1000.0)
    return points


def up_to_several_results(trees):
    points, found = 0, []
    for number, t in enumerate(trees):
        label = t.label
        loss = MODEL.loss(t)
        if label > 1:
            found.append(number)
            return points, found, t.label
        points += int(loss.item() * 1000.0)
        if number >= 1000:
            break
        if label == 0:
            found.append(points)
    else:
        return points, found, -1
    return points, found, -2


def with_a_loop_inside(trees):
    points = 0
    for t in trees:
        loss = MODEL.loss(t)
        for k in range(5):
            if k > t.label:
                break
            points += k
        points += int(loss.item() * 1000.0)
    return points


def bits(value):
    if isinstance(value, (list, tuple)):
        return [bits(part) for part in value]
    return (np.asarray(value).tobytes(), type(value))


@pytest.mark.parametrize("function", [by_sum, by_loop, by_numbers, several, on_condition, skipping, appended, in_pairs,
                                      up_to_an_end, up_to_several_ends, up_to_an_end_behind_the_work, up_to_a_result,
                                      up_to_several_results, with_a_loop_inside])
@pytest.mark.parametrize("workers", [1, 2])
def test_the_tree_cell_runs_in_batches(function, workers):
    examples = trees(64)
    graph = hia.function(function, strict=True, workers=workers)
    assert bits(graph(examples)) == bits(function(examples))
    assert bits(graph(examples[:1])) == bits(function(examples[:1]))
    if workers > 1:
        return
    regions = [r for r in graph.lower(examples).stats() if r.function.startswith("encode") and r.batches]
    cells = max(regions, key=lambda region: region.runs)
    share = sum(t.label for t in examples) / 64 if function in (on_condition, skipping) else 1
    assert cells.runs / cells.batches >= 200 * share, regions


def test_gradients_of_a_loop():
    examples = trees(8)
    loss, gradients = nn.value_and_grad(MODEL, lambda model, trees: by_loop(trees))(MODEL, examples)
    expected, others = nn.value_and_grad(MODEL, lambda model, trees: by_sum(trees))(MODEL, examples)
    assert loss.item() == expected.item()
    for path in MODEL.parameters():
        one, other = (getattr(of[path], "values", of[path]) for of in (gradients, others))
        # Which examples are added up first follows the batches.
        assert np.allclose(one.tolist(), other.tolist(), rtol=1e-5, atol=1e-7)


class Counter:
    def __init__(self):
        self.calls = 0


COUNTER = Counter()


def counted(n):
    COUNTER.calls += 1
    return n * COUNTER.calls


def in_order(values):
    total = 0
    for value in values:
        total = 2 * total + counted(value)
    return total


def printed(values):
    total = 0
    for value in values:
        total += twice(value)
        print(twice(value), total, f"{twice(value)}")
    return total


def twice(n):
    return n * 2


def carried(values):
    before, total = 0, 0
    for value in values:
        total += twice(before)
        before = twice(value)
    return total, before


def closure(values):
    total = 0

    def add(n):
        return total + n
    for value in values:
        total = add(value)
        total += (lambda k: k + total)(value)
    return total


def left_early(values):
    total = 0
    for value in values:
        if value == 3:
            break
        total += 6 // (value - 3)
    return total


def left_at_an_element(values):
    total = 0
    for value in values:
        if value == 3:
            break
        total += twice(6 // (value - 3))
    return total


def left_by_what_turns_do(values):
    total = 0
    for value in values:
        if total > 7:
            break
        total += twice(value)
    return total


def left_by_what_turns_change(values):
    total, ends = 0, [0]
    for value in values:
        if len(ends) > 2:
            break
        ends.append(twice(value))
        total += twice(value)
    return total, ends


def left_behind_the_element(values):
    total = value = 0
    for value in values:
        if value == 3 or value == 4:
            break
        total += twice(value)
    return total, value


def left_by_an_attribute(values):
    total = 0
    for value in values:
        if COUNTER.calls > 1:
            break
        total += counted(value)
    return total


def left_or_not(values):
    total = 0
    for value in values:
        if value == 3:
            break
        total += twice(value)
    else:
        total -= 1
    return total


def left_with_a_result(values):
    total = 0
    for value in values:
        if value == 3:
            return total * 100 + value
        total += twice(6 // (value - 3))
    return total


def left_with_a_result_behind_the_work(values):
    total, last, value = 0, values[0], 0
    for value in values:
        last = twice(value) + last
        if value == 7 or value == 4:
            total += 5
            return total, value, last
        total += last
    else:
        total -= 1
    return total, value, last


def left_by_what_a_name_says(values):
    total = first = number = kept = 0
    for first, second in zip(values, range(100)):
        number = first + second
        kept = twice(number)
        if number > 5:
            break
        if not number > 2:
            total += kept
        else:
            return total, number, kept
        number = 3
    return total, first, number


def left_in_each_branch(values):
    total = 0
    for value in values:
        total += twice(value)
        if value != 4:
            total *= 2
        else:
            break
        total += 1
    return total


def left_with_what_is_there_before(values):
    value, half = -5, 7
    for value in values[4:]:
        if value > 100:
            return twice(half)
        half = twice(value)
    return value, half


def left_in_loops_in_loops(values):
    total = 0
    for first in values:
        for second in values:
            total += twice(second)
            if second == first:
                break
        if total > 100:
            break
        for second in values:
            if second > first + 1:
                return total, second
            total += twice(first) * second
    return total, -1


def left_by_a_function_inside(values):
    total, value = 0, 0

    def is_over():
        return value == 3 or value == 4
    for value in values:
        total += twice(value)
        if is_over():
            break
    return total, value


def left_by_an_attribute_behind(values):
    total = 0
    for value in values:
        total += counted(value)
        if COUNTER.calls > 1:
            return total
    return -total


def left_inside(values):
    total = 0
    for first, second in zip(values, values):
        if first == 3:
            break
        for other in values:
            if other == first:
                break
            total += twice(other) * twice(second)
        total = total * 2 + twice(first)
    return total


def left_in_between(values):
    total = 0
    for value in values:
        half = twice(6 // (value + 1))
        if value == 4:
            break
        total += half
    return total


def guarded(values):
    total, found = 0, []
    for value in values:
        if value != 3:
            if total < 100:
                total += twice(6 // (value - 3))
            found.append(twice(value) if value > 4 else -1)
        elif twice(value) > 5:
            total -= 1
    else:
        total += 1
    return total, found


def guarded_without_else(values):
    total, found = 0, []
    for value in values:
        x = y = twice(value)
        if value != 3 and twice(6 // (value - 3)) < 50:
            total += twice(6 // (value - 3)) if value > 3 else twice(x)
            found.append([twice(value)])
        elif twice(value) > 5:
            total -= y
    return total, found


def changed_target(values):
    total = value = 0
    for value in values:
        value = twice(value)
        total += value
    return total, value


def nested(values):
    total = first = second = 0
    for value in values:
        for other in values:
            total += twice(value) * twice(other)
        first, second = twice(value), value
        total -= first * second
    return total, first, second


@pytest.mark.parametrize("function", [in_order, printed, carried, closure, left_early, guarded, guarded_without_else, changed_target,
                                      nested, left_at_an_element, left_by_what_turns_do, left_by_what_turns_change,
                                      left_behind_the_element, left_by_an_attribute, left_or_not, left_inside, left_in_between,
                                      left_with_a_result, left_with_a_result_behind_the_work, left_by_what_a_name_says,
                                      left_in_each_branch, left_with_what_is_there_before, left_in_loops_in_loops,
                                      left_by_a_function_inside, left_by_an_attribute_behind])
def test_the_order_of_what_turns_share_stays(function, capsys):
    for values in ([1, 2, 4, 5], [1, 3, 7], [9]):
        COUNTER.calls = 0
        expected = function(values), capsys.readouterr().out, COUNTER.calls
        graph = hia.function(function, strict=True)
        for _ in range(2):
            COUNTER.calls = 0
            assert (graph(values), capsys.readouterr().out, COUNTER.calls) == expected
        assert graph._plain == 0, graph.report()


def test_a_loop_that_makes_no_turn():
    graph = hia.function(by_loop, strict=True)
    graph(trees(2))
    assert graph([]) == 0.0
    assert hia.function(guarded_without_else, strict=True)([]) == (0, [])


def of_rows(x, w):
    total, rows = hia.zeros(2), 0
    for row in x:
        y = hia.tanh(w @ row)
        total = total * 0.5 + y
        rows += 1
    return total, rows


def in_a_function_inside(trees, k):
    def of(tree):
        return MODEL.loss(tree) * float(k)

    def all_of(trees):
        total = hia.f32(0.0)
        for t in trees:
            total = total + of(t)
        return total
    return all_of(trees) + all_of(trees[:1])


def until(trees):
    for t in trees:
        loss = MODEL.loss(t)
        if loss.item() > 0.0:
            return loss
    return hia.f32(0.0)


def test_loops_of_other_kinds():
    x, w = hia.tensor([[0.1 * i * j for i in range(3)] for j in range(50)]), hia.tensor([[0.3, 0.1, 0.2], [1.0, -1.0, 0.5]])
    graph = hia.function(of_rows, strict=True)
    assert bits(graph(x, w)) == bits(of_rows(x, w))
    assert bits(graph(x[:40], w)) == bits(of_rows(x[:40], w)) and bits(graph(x[:33], w)) == bits(of_rows(x[:33], w))
    examples = trees(5)
    graph = hia.function(in_a_function_inside, strict=True)
    assert bits(graph(examples, 3)) == bits(in_a_function_inside(examples, 3))
    graph = hia.function(until, strict=True)
    assert bits(graph(examples)) == bits(until(examples)) and bits(graph([])) == bits(until([]))
