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
        assert np.allclose(one.tolist(), other.tolist(), rtol=1e-5, atol=1e-6)


def test_a_loop_that_makes_no_turn():
    graph = hia.function(by_loop, strict=True)
    graph(trees(2))
    assert graph([]) == 0.0


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
