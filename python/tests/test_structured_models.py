"""Published models that build structure as they go: greedy merges, stacks in objects, charts in dicts, trees that are drawn until they
stop. Graphs give the gradients that a tape gives, and the structures that plain Python gives."""

import dataclasses
import random

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


class GreedyEncoder(nn.Module):
    """Socher and others, 2011: the two neighbours that one vector tells best become one."""

    def __init__(self, vocab=8, d=5):
        self.embed, self.encoder, self.decoder, self.out = nn.Embedding(vocab, d, scale=1.0), nn.Linear(2 * d, d), nn.Linear(d, 2 * d), nn.Linear(d, 2)

    def merge(self, a, b):
        pair = hia.concat([a, b], axis=0)
        h = hia.tanh(self.encoder(pair))
        h = h / hia.sqrt(hia.sum(h * h))
        return h, hia.sum((hia.tanh(self.decoder(h)) - pair) ** 2)

    def loss(self, words, label):
        nodes, total = [self.embed(word) for word in words], 0.0
        while len(nodes) > 1:
            best, least, merged = 0, float("inf"), nodes[0]
            for i in range(len(nodes) - 1):
                h, error = self.merge(nodes[i], nodes[i + 1])
                if error.item() < least:
                    best, least, merged = i, error.item(), h
            total += self.merge(nodes[best], nodes[best + 1])[1]
            nodes[best:best + 2] = [merged]
        return total + hia.cross_entropy(self.out(nodes[0]), label)


class GreedyByKey(GreedyEncoder):
    def loss(self, words, label):
        nodes, total = [self.embed(word) for word in words], 0.0
        while len(nodes) > 1:
            best = min(range(len(nodes) - 1), key=lambda i: self.merge(nodes[i], nodes[i + 1])[1].item())
            nodes[best], error = self.merge(nodes[best], nodes[best + 1])
            del nodes[best + 1]
            total += error
        return total + hia.cross_entropy(self.out(nodes[0]), label)


class StackLSTM:
    """Dyer and others, 2015: a state for each item, so that items can be taken away."""

    def __init__(self, cell, start):
        self.cell, self.states, self.items = cell, [start], []

    def push(self, x):
        self.states.append(self.cell(x, self.states[-1]))
        self.items.append(x)

    def pop(self):
        self.states.pop()
        return self.items.pop()

    def top(self):
        return self.states[-1][0]

    def __len__(self):
        return len(self.items)


class Grammar(nn.Module):
    """Recurrent neural network grammars: Dyer and others, 2016."""

    def __init__(self, vocab=8, names=3, d=4):
        self.d = d
        self.word, self.name, self.action_embed = nn.Embedding(vocab, d), nn.Embedding(names, d), nn.Embedding(3, d)
        self.cells = [nn.LSTMCell(d, d) for _ in range(4)]
        self.compose_out, self.mlp, self.action, self.name_out = nn.Linear(2 * d, d), nn.Linear(3 * d, d), nn.Linear(d, 3), nn.Linear(d, names)

    def start(self):
        return hia.zeros(self.d), hia.zeros(self.d)

    def compose(self, name, children):
        ahead, back = self.cells[2](name, self.start()), self.cells[2](name, self.start())
        for child in children:
            ahead = self.cells[2](child, ahead)
        for child in reversed(children):
            back = self.cells[2](child, back)
        return hia.tanh(self.compose_out(hia.concat([ahead[0], back[0]], axis=0)))

    def loss(self, words, actions):
        stack, buffer = StackLSTM(self.cells[0], self.start()), StackLSTM(self.cells[1], self.start())
        for word in reversed(words):
            buffer.push(self.word(word))
        history, opened, loss = self.start(), [], 0.0
        for kind, name in actions:
            h = hia.tanh(self.mlp(hia.concat([stack.top(), buffer.top(), history[0]], axis=0)))
            loss += hia.cross_entropy(self.action(h), kind)
            if kind == 1:
                loss += hia.cross_entropy(self.name_out(h), name)
                opened.append((len(stack), name))
                stack.push(self.name(name))
            elif kind == 0:
                stack.push(buffer.pop())
            else:
                place, name = opened.pop()
                children = []
                while len(stack) > place + 1:
                    children.append(stack.pop())
                children.reverse()
                stack.pop()
                stack.push(self.compose(self.name(name), children))
            history = self.cells[3](self.action_embed(kind), history)
        return loss


class Inside(nn.Module):
    """The probability that a grammar gives a sentence, by a chart of logarithms."""

    def __init__(self, vocab=8, names=2, words=3):
        self.names, self.size = names, names + words
        self.root, self.rules, self.emit = (nn.Parameter(hia.random.normal(hia.random.key(number), shape)) for number, shape in enumerate(
            [(names,), (names, self.size ** 2), (words, vocab)]))

    def loss(self, words, label):
        n, chart = len(words), {}
        rules, emit = hia.log_softmax(self.rules), hia.log_softmax(self.emit)
        for i, word in enumerate(words):
            chart[i, i + 1] = hia.concat([hia.full(self.names, -1e9), emit[:, word]], axis=0)
        for width in range(2, n + 1):
            for i in range(n + 1 - width):
                pairs = [hia.reshape(chart[i, j][:, None] + chart[j, i + width], (self.size ** 2,)) for j in range(i + 1, i + width)]
                inside = hia.logsumexp(rules[None] + hia.stack(pairs)[:, None], axis=(0, 2))
                chart[i, i + width] = hia.concat([inside, hia.full(self.size - self.names, -1e9)], axis=0)
        return -hia.logsumexp(hia.concat([hia.log_softmax(self.root), hia.zeros(self.size - self.names)], axis=0) + chart[0, n])


@dataclasses.dataclass
class Fragment:
    kind: int
    children: list = dataclasses.field(default_factory=list)


class TreeVAE(nn.Module):
    """An autoencoder of trees whose latent vector is drawn; the decoder goes on as long as it draws that it should."""

    def __init__(self, kinds=8, d=6, latent=3):
        self.d, self.latent, self.embed = d, latent, nn.Embedding(kinds, d)
        self.up, self.mean, self.variance = nn.Linear(2 * d, d), nn.Linear(d, latent), nn.Linear(d, latent)
        self.begin, self.kind, self.more, self.down = nn.Linear(latent, d), nn.Linear(d, kinds), nn.Linear(d, 1), nn.LSTMCell(d, d)

    def encode(self, t):
        below = sum([self.encode(child) for child in t.children], hia.zeros(self.d))
        return hia.tanh(self.up(hia.concat([self.embed(t.kind), below], axis=0)))

    def negative_log(self, t, state):
        loss = hia.cross_entropy(self.kind(state[0]), t.kind)
        state = self.down(self.embed(t.kind), state)
        for child in t.children:
            loss += hia.softplus(-self.more(state[0])[0])
            of_child, state = self.negative_log(child, state)
            loss += of_child
        return loss + hia.softplus(self.more(state[0])[0]), state

    def loss(self, t, key):
        h = self.encode(t)
        mean, variance = self.mean(h), self.variance(h)
        z = mean + hia.exp(0.5 * variance) * hia.random.normal(key, (self.latent,))
        divergence = 0.5 * hia.sum(mean * mean + hia.exp(variance) - 1.0 - variance)
        return self.negative_log(t, (hia.tanh(self.begin(z)), hia.zeros(self.d)))[0] + 0.1 * divergence

    def decode(self, z, key):
        def expand(state, key, depth):
            draws = hia.random.split(key, 3)
            kind = hia.random.categorical(draws[0], self.kind(state[0])).item()
            node, state, key = Fragment(kind, []), self.down(self.embed(kind), state), draws[1]
            while depth > 0:
                key, draw, below = hia.random.split(key, 3)
                if hia.random.uniform(draw).item() > hia.sigmoid(self.more(state[0])[0]).item():
                    break
                child, state = expand(state, below, depth - 1)
                node.children.append(child)
            return node, state
        return expand((hia.tanh(self.begin(z)), hia.zeros(self.d)), key, 4)[0]


def sentences(rng):
    return [(rng.choices(range(8), k=rng.randrange(1, 8)), rng.randrange(2)) for _ in range(5)]


def actions_of(count, rng):
    if count == 1:
        return [(0, 0)]
    made = [(1, rng.randrange(3))]
    while count > 0:
        part = rng.randrange(1, count) if count > 1 else 1
        made += actions_of(part, rng)
        count -= part
    return [*made, (2, 0)]


def derivations(rng):
    return [(words, actions_of(len(words), rng)) for words, _ in sentences(rng)]


def fragment(depth, rng):
    return Fragment(rng.randrange(8), [fragment(depth - 1, rng) for _ in range(rng.randrange(3))] if depth else [])


def fragments(rng):
    return [(fragment(3, rng), hia.random.key(number)) for number in range(5)]


@pytest.mark.parametrize("make, data", [(GreedyEncoder, sentences), (GreedyByKey, sentences), (Grammar, derivations), (Inside, sentences),
                                        (TreeVAE, fragments)], ids=lambda one: one.__name__)
def test_gradients(make, data):
    nn.seed(1)
    model = make()

    def loss(model, batch):
        return sum(model.loss(*one) for one in batch) / len(batch)
    step = nn.value_and_grad(model, loss, strict=True)
    for seed in range(2):
        batch = data(random.Random(seed))
        with hia.GradientTape() as tape:
            expected = loss(model, batch)
        of_tape = tape.gradient(expected, model)
        value, gradients = step(model, batch)
        assert np.allclose(value, expected, rtol=1e-4)
        for path in model.parameters():
            assert np.allclose(gradients[path], 0 if of_tape[path] is None else of_tape[path], atol=1e-4), path
    assert "1 graphs, 1 conversions, 0 calls in plain Python" in step.report()


def test_trees_that_are_drawn():
    nn.seed(1)
    model = TreeVAE()
    decode, sizes = hia.function(model.decode, strict=True), set()
    for number in range(12):
        z, key = hia.random.normal(hia.random.key(number), (3,)), hia.random.key(100 + number)
        made = decode(z, key)
        assert made == model.decode(z, key)
        sizes.add(len(made.children))
    assert len(sizes) > 1 and [(one.hits, one.faults) for one in decode._graphs] == [(12, 0)], decode.report()
