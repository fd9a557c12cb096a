"""Models over trees whose nodes have any number of children: sums over what a recursion gives become graphs, whichever tree comes
first, with the loss and the gradients that a tape gives."""

import dataclasses

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


@dataclasses.dataclass
class Tree:
    word: int
    children: list


LEAF = Tree(1, [])
DEEP = Tree(1, [Tree(2, []), Tree(3, [Tree(4, []), Tree(0, [])])])


class Model(nn.Module):
    def __init__(self, d=4):
        nn.seed(1)
        self.d = d
        self.E, self.W, self.V = nn.Embedding(5, d), nn.Linear(2 * d, d), nn.Linear(d, 2)

    def loss(self, t, label):
        return hia.cross_entropy(self.V(self.encode(t)), label)


class SumOfAGenerator(Model):
    def encode(self, t):
        x = self.E(t.word)
        if not t.children:
            return hia.tanh(x)
        below = sum(self.encode(child) for child in t.children)
        return hia.tanh(self.W(hia.concat([x, below], axis=0)))


class SumOfAList(Model):
    def encode(self, t):
        x = self.E(t.word)
        if len(t.children) == 0:
            return x
        return hia.tanh(sum([self.encode(child) for child in t.children])) * x


class LoopFromANumber(Model):
    def encode(self, t):
        x = self.E(t.word)
        if not t.children:
            return hia.tanh(x)
        below = 0
        for child in t.children:
            below = below + self.encode(child)
        return hia.tanh(self.W(hia.concat([x, below], axis=0)))


class Attention(Model):
    def encode(self, t):
        x = self.E(t.word)
        if not t.children:
            return hia.tanh(x)
        states = [self.encode(child) for child in t.children]
        weights = [hia.exp(hia.sum(state * x)) for state in states]
        total = sum(weights)
        seen = sum(state * (weight / total) for state, weight in zip(states, weights))
        return hia.tanh(self.W(hia.concat([x, seen], axis=0)))


def dense(gradient, shape):
    return np.zeros(shape) if gradient is None else np.asarray(gradient)


def difference(gradients, others, model):
    """The largest between two gradients of the parameters."""
    return max(np.abs(dense(gradients[path], parameter.shape) - dense(others[path], parameter.shape)).max()
               for path, parameter in model.parameters().items())


@pytest.mark.parametrize("kind", [SumOfAGenerator, SumOfAList, LoopFromANumber, Attention], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("trees", [[DEEP, LEAF], [LEAF, DEEP]], ids=["deep first", "leaf first"])
@pytest.mark.filterwarnings("error")
def test_gradients_are_those_of_a_tape(kind, trees):
    model = kind()
    step = nn.value_and_grad(model, kind.loss)
    for tree in trees:
        loss, gradients = step(model, tree, 1)
        with hia.GradientTape() as tape:
            expected = model.loss(tree, 1)
        by_tape = tape.gradient(expected, model)
        assert loss.item() == pytest.approx(expected.item(), abs=1e-6)
        assert difference(gradients, by_tape, model) < 1e-5


def test_what_is_wrong_is_told_where_it_is_known():
    class Wrong(Model):
        def encode(self, t):
            if not t.children:
                return self.E(t.word)
            return hia.tanh(sum(self.encode(child) for child in t.children), t.word)

    with pytest.raises(hia.ConversionError, match=r"test_children.py:\d+: tanh\(\): expected fewer arguments"):
        nn.value_and_grad(Wrong(), Wrong.loss)(Wrong(), DEEP, 1)
