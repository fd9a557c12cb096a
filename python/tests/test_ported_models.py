"""Published models as their code in PyTorch is written: configurations, enums, stacks that are changed, layers of several sizes. Graphs give
the gradients that a tape gives, and no call leaves them."""

import dataclasses
import enum
import random
import typing

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn, optim


class Pool(enum.Enum):
    ROOT = "root"
    MEAN = "mean"
    ATTENTION = "attention"


class Op(enum.IntEnum):
    SHIFT = 0
    REDUCE = 1


@dataclasses.dataclass
class Node:
    word: int
    children: typing.List["Node"] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Example:
    words: typing.List[int]
    ops: typing.List[int]
    tree: Node
    label: int


class State(typing.NamedTuple):
    h: hia.Tensor
    c: hia.Tensor


class ChildSumTreeLSTM(nn.Module):
    def __init__(self, pool, vocab=8, d=5):
        self.pool, self.d = pool, d
        self.embed = nn.Embedding(vocab, d, scale=1.0)
        self.iou_x, self.iou_h = nn.Linear(d, 3 * d), nn.Linear(d, 3 * d, bias=False)
        self.f_x, self.f_h = nn.Linear(d, d), nn.Linear(d, d, bias=False)
        self.query = nn.Parameter(hia.ones(d))
        self.out = nn.Linear(d, 2)

    def encode(self, node):
        children = [self.encode(child) for child in node.children]
        x = self.embed(node.word)
        h_sum = sum([state.h for state, _ in children], hia.zeros(self.d))
        i, o, u = hia.split(self.iou_x(x) + self.iou_h(h_sum), self.d, axis=0)
        gates = [hia.sigmoid(self.f_x(x) + self.f_h(state.h)) for state, _ in children]
        kept = sum([gate * state.c for gate, (state, _) in zip(gates, children)], hia.zeros(self.d))
        c = hia.sigmoid(i) * hia.tanh(u) + kept
        h = hia.sigmoid(o) * hia.tanh(c)
        below = [one for _, states in children for one in states]
        return State(h, c), below + [h]

    def scores(self, example):
        root, states = self.encode(example.tree)
        if self.pool is Pool.ROOT:
            return self.out(root.h)
        together = hia.stack(states)
        if self.pool == Pool.MEAN:
            return self.out(hia.mean(together, axis=0))
        return self.out(hia.softmax(together @ self.query) @ together)


class Spinn(nn.Module):
    def __init__(self, vocab=8, d=4):
        self.d = d
        self.embed = nn.Embedding(vocab, 2 * d, scale=1.0)
        self.tracker = nn.LSTMCell(3 * d, d)
        self.left, self.right = nn.Linear(d, 5 * d), nn.Linear(d, 5 * d, bias=False)
        self.track = nn.Linear(d, 5 * d, bias=False)
        self.out = nn.Linear(d, 2)

    def reduce(self, right, left, *, tracking=None):
        gates = self.left(left.h) + self.right(right.h)
        if tracking is not None:
            gates = gates + self.track(tracking)
        a, i, fl, fr, o = hia.split(gates, self.d, axis=0)
        c = hia.tanh(a) * hia.sigmoid(i) + hia.sigmoid(fl) * left.c + hia.sigmoid(fr) * right.c
        return State(hia.sigmoid(o) * hia.tanh(c), c)

    def scores(self, example):
        empty = State(hia.zeros(self.d), hia.zeros(self.d))
        buffer = [State(*hia.split(self.embed(word), self.d, axis=0)) for word in reversed(example.words)]
        buffer.insert(0, empty)
        stack, state = [empty, empty], (hia.zeros(self.d), hia.zeros(self.d))
        for op in example.ops:
            state = self.tracker(hia.concat([buffer[-1].h, stack[-1].h, stack[-2].h], axis=0), state)
            if op == Op.SHIFT:
                stack.append(buffer.pop())
            elif op == Op.REDUCE:
                stack.append(self.reduce(stack.pop(), stack.pop(), tracking=state[0]))
        return self.out(stack[-1].h)


class BiLSTM(nn.Module):
    def __init__(self, inputs, d):
        self.d, self.cells = d, [nn.LSTMCell(inputs, d), nn.LSTMCell(inputs, d)]

    def run(self, cell, xs):
        state, states = (hia.zeros(self.d), hia.zeros(self.d)), []
        for x in xs:
            state = cell(x, state)
            states.append(state[0])
        return states

    def __call__(self, xs):
        forward, backward = self.run(self.cells[0], xs), self.run(self.cells[1], xs[::-1])
        return [hia.concat([a, b], axis=0) for a, b in zip(forward, backward[::-1])]


class Tagger(nn.Module):
    def __init__(self, vocab=8, d=3, layers=3):
        self.embed = nn.Embedding(vocab, 4, scale=1.0)
        self.layers = [BiLSTM(4 if number == 0 else 2 * d, d) for number in range(layers)]
        self.norms = [nn.LayerNorm(2 * d) for _ in range(layers)]
        self.out = nn.Linear(2 * d, 2)

    def scores(self, example):
        xs = [self.embed(word) for word in example.words]
        for number, (layer, norm) in enumerate(zip(self.layers, self.norms)):
            ys = [norm(y) for y in layer(xs)]
            xs = [x + y for x, y in zip(xs, ys)] if number > 0 else ys
        return self.out(sum(xs) / len(xs))


class Copier(nn.Module):
    """Scores the words of the tree, each of the vocabulary or copied from the sentence, which attention points into."""

    def __init__(self, vocab=8, d=4):
        self.vocab, self.d = vocab, d
        self.embed, self.att = nn.Embedding(vocab, d, scale=1.0), nn.Linear(d, d, bias=False)
        self.cell, self.word, self.out = nn.LSTMCell(d, d), nn.Linear(d, vocab), nn.Linear(1, 2)

    def distribution(self, h, sentence, words):
        copied = hia.softmax(sentence @ self.att(h)) @ hia.stack([hia.f32(hia.arange(self.vocab) == word) for word in words])
        return 0.5 * hia.softmax(self.word(h)) + 0.5 * copied

    def log_of(self, node, state, sentence, words):
        state = self.cell(self.embed(node.word), state)
        total = 0.0
        for child in node.children:
            total += hia.log(self.distribution(state[0], sentence, words)[child.word] + 1e-6)
            total += self.log_of(child, state, sentence, words)
        return total

    def scores(self, example):
        sentence = hia.stack([self.embed(word) for word in example.words])
        picked = hia.zeros(len(example.words))
        picked = picked + hia.f32(hia.arange(len(example.words)) == 0)
        start = (picked @ sentence, hia.zeros(self.d))
        return self.out(hia.zeros(1) + self.log_of(example.tree, start, sentence, example.words))


def tree_of(words, rng):
    node, rest = Node(words[0]), words[1:]
    while rest:
        count = rng.randrange(1, len(rest) + 1)
        node.children.append(tree_of(rest[:count], rng))
        rest = rest[count:]
    return node


def ops_of(count, rng):
    if count == 1:
        return [0]
    left = rng.randrange(1, count)
    return ops_of(left, rng) + ops_of(count - left, rng) + [1]


def examples(count, rng):
    made = []
    for _ in range(count):
        words = rng.choices(range(8), k=rng.randrange(1, 8))
        made.append(Example(words, ops_of(len(words), rng), tree_of(words, rng), int(sum(words) % 2)))
    return made


MODELS = [*(lambda pool=pool: ChildSumTreeLSTM(pool) for pool in Pool), Spinn, Tagger, Copier]


@pytest.mark.parametrize("make", MODELS, ids=["root", "mean", "attention", "spinn", "tagger", "copier"])
def test_gradients_learning_and_predictions(make, tmp_path):
    nn.seed(1)
    model, batch = make(), examples(6, random.Random(1))

    def loss(model, batch, l2=1e-3):
        data = sum(hia.cross_entropy(model.scores(example), example.label) for example in batch) / len(batch)
        return data + l2 * sum(hia.sum(p**2) for path, p in model.parameters().items() if not path.endswith("bias"))
    step = nn.value_and_grad(model, loss, strict=True)
    value, gradients = step(model, batch)
    with hia.GradientTape() as tape:
        expected = loss(model, batch)
    of_tape = tape.gradient(expected, model)
    assert np.allclose(value, expected, atol=1e-5)
    for path in model.parameters():
        assert np.allclose(gradients[path], 0 if of_tape[path] is None else of_tape[path], atol=1e-4), path
    optimizer = optim.Adam(model, 0.01)
    for _ in range(5):
        last, gradients = step(model, batch)
        optimizer.update(gradients)
    assert last < value and "0 calls in plain Python" in step.report()
    model.save(tmp_path / "model.safetensors")
    other = make()
    other.load(tmp_path / "model.safetensors")
    for example, scores in zip(batch, hia.vmap(other.scores)(batch)):
        assert np.allclose(scores, model.scores(example), atol=1e-5)
