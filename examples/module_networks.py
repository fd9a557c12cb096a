"""Answers questions about scenes by networks that each question puts together: python examples/module_networks.py [STEPS]

A scene is a board of 3 by 3 cells, with a thing of some colour and shape on some of them. A question is a tree, as "is there a red thing
above a circle?", (exists (both (find red) (above (find circle)))). Its nodes name the modules that run (neural module networks: Andreas,
Rohrbach, Darrell and Klein, 2016); each gives an attention over the cells. Nobody tells what a word means: the model sees scenes,
questions and answers. It is then asked deeper questions than it has seen.
"""

import dataclasses
import random
import sys

import hiaton as hia
from hiaton import nn, optim

WORDS = ["red", "green", "blue", "circle", "square", "star"]
CELLS = [(row, column) for row in range(3) for column in range(3)]
MOVES = {"above": (1, 0), "below": (-1, 0), "left": (0, 1), "right": (0, -1)}   # where a cell is seen from that one above it


@dataclasses.dataclass
class Question:
    module: str
    word: int = 0
    parts: list["Question"] = dataclasses.field(default_factory=list)


class Find(nn.Module):
    def __init__(self, d):
        self.words = nn.Embedding(len(WORDS), d)
        self.least = nn.Parameter(hia.zeros(len(WORDS)))

    def __call__(self, scene, word):
        return hia.sigmoid(scene @ self.words(word) + self.least[word])


class Move(nn.Module):
    def __init__(self, cells):
        self.cell = nn.Linear(cells, cells)

    def __call__(self, scene, word, a):
        return hia.sigmoid(self.cell(a))


class Both(nn.Module):
    def __call__(self, scene, word, a, b):
        return a * b


class Either(nn.Module):
    def __call__(self, scene, word, a, b):
        return a + b - a * b


class Answers(nn.Module):
    def __init__(self, d, cells):
        self.modules = {"find": Find(d), "both": Both(), "either": Either(), **{move: Move(cells) for move in MOVES}}
        self.exists = nn.Linear(1, 2)

    def attend(self, q, scene):
        return self.modules[q.module](scene, q.word, *[self.attend(part, scene) for part in q.parts])

    def scores(self, q, scene):
        return self.exists(hia.max(self.attend(q, scene))[None])

    def loss(self, q, scene, answer):
        return hia.cross_entropy(self.scores(q, scene), answer)


def cells_of(q, things):
    """The cells that a question is about."""
    found = [cells_of(part, things) for part in q.parts]
    if q.module == "find":
        return {cell for cell, words in things.items() if q.word in words}
    if q.module in MOVES:
        down, right = MOVES[q.module]
        return {(row, column) for row, column in CELLS if (row + down, column + right) in found[0]}
    return found[0] & found[1] if q.module == "both" else found[0] | found[1]


def random_question(rng, depth):
    kind = rng.choice(["find", "both", "either", "move"]) if depth else "find"
    if kind == "find":
        return Question("find", rng.randrange(len(WORDS)))
    if kind == "move":
        return Question(rng.choice(list(MOVES)), 0, [random_question(rng, depth - 1)])
    return Question(kind, 0, [random_question(rng, depth - 1), random_question(rng, depth - 1)])


def example(rng, depth, wanted):
    """A question with this answer, as there are more of which it is no, and a scene."""
    while True:
        things = {cell: (rng.randrange(3), rng.randrange(3, 6)) for cell in CELLS if rng.random() < 0.4}
        q = random_question(rng, depth)
        if bool(cells_of(q, things)) == wanted:
            rows = [[float(number in things.get(cell, ())) for number in range(len(WORDS))] for cell in CELLS]
            return q, hia.tensor(rows), int(wanted)


def main(steps):
    rng = random.Random(1)
    nn.seed(1)
    model = Answers(len(WORDS), len(CELLS))
    step = nn.value_and_grad(model, lambda model, batch: sum(model.loss(*one) for one in batch) / len(batch))
    optimizer = optim.Adam(model, optim.linear(0.05, steps))
    for number in range(1, steps + 1):
        loss, gradients = step(model, [example(rng, rng.randrange(3), rng.random() < 0.5) for _ in range(64)])
        optimizer.update(gradients)
        if number % (steps // 5) == 0:
            print(f"step {number}: loss {loss.item():.3f}")
    scores = hia.vmap(model.scores)
    for depth in (1, 2, 4):        # it has learned from depths of at most 2
        tests = [example(rng, depth, rng.random() < 0.5) for _ in range(400)]
        found = scores([q for q, _, _ in tests], [scene for _, scene, _ in tests])
        right = sum(int(hia.argmax(one)) == answer for one, (_, _, answer) in zip(found, tests)) / len(tests)
        print(f"depth {depth}: {right:.0%} right")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
