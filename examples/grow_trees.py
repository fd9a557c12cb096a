"""Learns to read formulas as trees: python examples/grow_trees.py [STEPS]

The model sees the words of a formula, as "3 + 5 * 2 - 1", and makes its tree, ((3 + (5 * 2)) - 1), from the root down: it
points at the word that is the root (a pointer network: Vinyals, Fortunato and Jaitly, 2015), and where that is an
operator, makes the trees on both of its sides. So the model itself decides, by what it computes, how the recursion goes
on and where it ends. Nobody tells it that * binds more than +.

loss follows the tree that is right, and grow the tree that the model makes. Both are written for one formula.
"""

import dataclasses
import random
import sys

import hiaton as hia
from hiaton import nn, optim

SYMBOLS = "0123456789+-*/"
DEEPEST = 12


@dataclasses.dataclass
class Tree:
    place: int                          # of its word in the formula
    left: "Tree | None" = None
    right: "Tree | None" = None


@dataclasses.dataclass
class Formula:
    words: list[int]                    # places in SYMBOLS
    tree: Tree


def tree_of(words, begin, end):
    """The tree of the words from begin up to, but not including, end: its root is the last operator that binds least."""
    places = range(begin + 1, end, 2)
    if not places:
        return Tree(begin)
    root = max((p for p in places if SYMBOLS[words[p]] in "+-"), default=places[-1])
    return Tree(root, tree_of(words, begin, root), tree_of(words, root + 1, end))


def random_formula(rng, operators):
    words = [rng.randrange(10, len(SYMBOLS)) if i % 2 else rng.randrange(10) for i in range(2 * operators + 1)]
    return Formula(words, tree_of(words, 0, len(words)))


def text_of(words, tree):
    word = SYMBOLS[words[tree.place]]
    return word if tree.left is None else f"({text_of(words, tree.left)} {word} {text_of(words, tree.right)})"


class Parser(nn.Module):
    def __init__(self, d):
        self.d = d
        self.embed = nn.Embedding(len(SYMBOLS), d)
        self.forward, self.backward = nn.LSTMCell(d, d), nn.LSTMCell(d, d)
        self.root = nn.Linear(2 * d, 2 * d)
        self.left, self.right = nn.Linear(4 * d, 2 * d), nn.Linear(4 * d, 2 * d)
        self.query = nn.Linear(2 * d, 2 * d)

    def states(self, cell, xs):
        """What the cell has read after each of them."""
        state, found = (hia.zeros(self.d), hia.zeros(self.d)), []
        for x in xs:
            state = cell(x, state)
            found.append(state[0])
        return found

    def read(self, words):
        """A row for each word, by what stands before and after it; and what the root is looked for with."""
        xs = [self.embed(word) for word in words]
        ahead = self.states(self.forward, xs)
        back = self.states(self.backward, xs[::-1])[::-1]
        rows = hia.stack([hia.concat(both, axis=0) for both in zip(ahead, back)])
        return rows, hia.tanh(self.root(hia.concat([ahead[-1], back[0]], axis=0)))

    def sides(self, rows, place, wanted):
        """What the roots of the two sides of a word are looked for with."""
        x = hia.concat([rows[place], wanted], axis=0)
        return hia.tanh(self.left(x)), hia.tanh(self.right(x))

    def loss_of(self, tree, rows, wanted):
        loss = hia.cross_entropy(rows @ self.query(wanted), tree.place)
        if tree.left is None:
            return loss
        left, right = self.sides(rows, tree.place, wanted)
        return loss + self.loss_of(tree.left, rows, left) + self.loss_of(tree.right, rows, right)

    def loss(self, formula):
        rows, wanted = self.read(formula.words)
        return self.loss_of(formula.tree, rows, wanted) / len(formula.words)

    def grow(self, words, rows, wanted, depth):
        place = hia.argmax(rows @ self.query(wanted)).item()
        if words[place] < 10 or depth == 0:
            return Tree(place)
        left, right = self.sides(rows, place, wanted)
        return Tree(place, self.grow(words, rows, left, depth - 1), self.grow(words, rows, right, depth - 1))

    def parse(self, words):
        rows, wanted = self.read(words)
        return self.grow(words, rows, wanted, DEEPEST)


def main(steps):
    rng = random.Random(1)
    model = Parser(d=32)
    step = nn.value_and_grad(model, lambda model, formulas: sum(model.loss(f) for f in formulas) / len(formulas))
    optimizer = optim.Adam(model, optim.linear(0.005, steps), clip=1.0)
    for number in range(1, steps + 1):
        loss, gradients = step(model, [random_formula(rng, rng.randrange(6)) for _ in range(64)])
        optimizer.update(gradients)
        if number % (steps // 5) == 0:
            print(f"step {number}: loss {loss.item():.3f}")
    parse = hia.vmap(model.parse)
    for operators in (2, 4, 6):        # it has learned from at most 5
        tests = [random_formula(rng, operators) for _ in range(300)]
        trees = parse([formula.words for formula in tests])
        right = sum(tree == formula.tree for tree, formula in zip(trees, tests)) / len(tests)
        print(f"{operators} operators: {right:.0%} of the trees right, such as {text_of(tests[0].words, trees[0])}")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
