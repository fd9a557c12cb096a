"""The TreeRNN as plain Python: a step of training as a graph, eagerly in PyTorch, and as a program in .hia."""

import dataclasses
import importlib.util
import pathlib
import random

SIZE, VOCABULARY, CLASSES, BATCH = 35, 1000, 5, 25
MODEL = pathlib.Path(__file__).resolve().parents[2] / "models/treernn.hia"


@dataclasses.dataclass
class Tree:
    label: int
    word: "int | None" = None
    left: "Tree | None" = None
    right: "Tree | None" = None


def tree(rng, words):
    """A random binary tree over so many words; every node has a label."""
    if words == 1:
        return Tree(rng.randrange(CLASSES), rng.randrange(VOCABULARY))
    cut = rng.randrange(1, words)
    return Tree(rng.randrange(CLASSES), None, tree(rng, cut), tree(rng, words - cut))


def batches(count):
    rng = random.Random(1)
    return [[tree(rng, rng.randrange(5, 35)) for _ in range(BATCH)] for _ in range(count)]


def nodes(t):
    return 1 if t.left is None else 1 + nodes(t.left) + nodes(t.right)


def hiaton_step():
    import hiaton as hia
    from hiaton import nn, optim

    class TreeRNN(nn.Module):
        def __init__(self):
            self.E, self.W, self.V = (nn.Embedding(VOCABULARY, SIZE), nn.Linear(2 * SIZE, SIZE),
                                      nn.Linear(SIZE, CLASSES))

        def encode(self, t):
            if t.left is None:
                h = self.E(t.word)
                return h, hia.cross_entropy(self.V(h), t.label)
            (hl, ll), (hr, lr) = self.encode(t.left), self.encode(t.right)
            h = hia.tanh(self.W(hia.concat([hl, hr], axis=0)))
            return h, ll + lr + hia.cross_entropy(self.V(h), t.label)

    def mean_loss(model, trees):
        return sum(model.encode(t)[1] for t in trees) / len(trees)

    model = TreeRNN()
    gradients_of, optimizer = nn.value_and_grad(model, mean_loss), optim.Adagrad(model.parameters(), 0.01)

    def step(trees):
        _, gradients = gradients_of(model, trees)
        optimizer.update(model, gradients)
    return step, lambda trees: trees


def program_step():
    import hiaton as hia
    model = hia.load(MODEL, d=SIZE, vocab=VOCABULARY, classes=CLASSES)
    optimizer = hia.optim.Adagrad(model, 0.01)

    def value(t):
        if t.left is None:
            return model.types.Leaf(t.label, t.word)
        return model.types.Node(t.label, value(t.left), value(t.right))

    def step(trees):
        _, gradients = model.value_and_grad(trees)
        optimizer.update(gradients)
    return step, lambda trees: [value(t) for t in trees]


def torch_step():
    import torch
    torch.set_num_threads(1)
    table, inner = torch.nn.Embedding(VOCABULARY, SIZE), torch.nn.Linear(2 * SIZE, SIZE)
    outer = torch.nn.Linear(SIZE, CLASSES)
    optimizer = torch.optim.Adagrad([*table.parameters(), *inner.parameters(), *outer.parameters()], 0.01)

    def loss_of(h, label):
        return torch.nn.functional.cross_entropy(outer(h), torch.tensor(label))

    def encode(t):
        if t.left is None:
            h = table(torch.tensor(t.word))
            return h, loss_of(h, t.label)
        (hl, ll), (hr, lr) = encode(t.left), encode(t.right)
        h = torch.tanh(inner(torch.cat([hl, hr])))
        return h, ll + lr + loss_of(h, t.label)

    def step(trees):
        with torch.enable_grad():
            optimizer.zero_grad()
            (sum(encode(t)[1] for t in trees) / len(trees)).backward()
            optimizer.step()
    return step, lambda trees: trees


def steps():
    """By name: a function that makes a step, and what it takes for a list of trees."""
    made = {"plain Python, hia.function": hiaton_step(), "models/treernn.hia": program_step()}
    if importlib.util.find_spec("torch"):
        made["plain Python, PyTorch eager"] = torch_step()
    return made
