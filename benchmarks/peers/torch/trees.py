#!/usr/bin/env python3
"""Trains models/treelstm.hia and models/treernn.hia in PyTorch and predicts with them, from the same first parameters
and on the same trees.

    trees.py DATA MODEL --style recursion|levels [--batch 25] [--threads 1] [--steps 20] [--rounds 1] [--check 5]

DATA is a directory that `learn_trees peers` wrote. Prints one JSON object: what the first parameters predict for the first
batch, node by node in preorder; the mean losses of the first --check steps of Adam; and trees a second, of training and of
inference (without gradients). Rows of the embedding that a batch does not use are left alone (SparseAdam), as in Hiaton.

Two styles. Recursion: the model as one writes it, a call for each node; words are looked up and nodes are classified tree by
tree. Levels: batched by hand over all trees of a batch, a level for all nodes of one height; states that wait for their
parent are carried from level to level.
"""

import argparse
import json
import pathlib
import re
import statistics
import time

import numpy
import safetensors.torch
import torch
from torch.nn import functional


class Tree:
    """Nodes in preorder, as arrays; children of leaves are -1, and so are words of inner nodes."""

    def __init__(self, text):
        tokens = re.findall(r"\(|\)|[^\s()]+", text)
        labels, words, left, right, open_nodes = [], [], [], [], []
        for number, token in enumerate(tokens):
            if token == "(":
                if open_nodes:
                    children = left if left[open_nodes[-1]] < 0 else right
                    children[open_nodes[-1]] = len(labels)
                open_nodes.append(len(labels))
                for array in (labels, words, left, right):
                    array.append(-1)
            elif token == ")":
                open_nodes.pop()
            elif tokens[number - 1] == "(":
                labels[open_nodes[-1]] = -1 if token == "_" else int(token)
            else:
                words[open_nodes[-1]] = int(token)
        heights = [0] * len(labels)
        for node in reversed(range(len(labels))):
            if left[node] >= 0:
                heights[node] = 1 + max(heights[left[node]], heights[right[node]])
        self.labels, self.words, self.left, self.right, self.heights = map(
            numpy.array, (labels, words, left, right, heights))
        self.left_of, self.right_of = left, right
        self.leaf_words = torch.tensor([word for word in words if word >= 0])
        self.label_tensor = torch.tensor(labels)


class Level:
    """The nodes of one height: where the states of their children stand among those carried, and which stay."""

    def __init__(self, children, kept):
        self.count = len(children) // 2
        self.order = torch.from_numpy(numpy.concatenate([children, kept]))


class Batch:
    """All nodes of some trees, sorted by height."""

    def __init__(self, trees):
        sizes = [len(tree.labels) for tree in trees]
        offsets = numpy.repeat(numpy.cumsum([0] + sizes[:-1]), sizes)
        join = lambda name: numpy.concatenate([getattr(tree, name) for tree in trees])
        heights = join("heights")
        order = numpy.argsort(heights, kind="stable")
        place = numpy.empty_like(order)
        place[order] = numpy.arange(len(order))
        pairs = place[numpy.stack([join("left") + offsets, join("right") + offsets], 1)[order]]
        heights = heights[order]
        self.place = torch.from_numpy(place)
        self.labels = torch.from_numpy(join("labels")[order])
        begins = numpy.searchsorted(heights, numpy.arange(heights[-1] + 2))
        self.words = torch.from_numpy(join("words")[order][: begins[1]])
        self.levels = self.schedule(pairs, begins)

    @staticmethod
    def schedule(pairs, begins):
        levels = []
        carried = numpy.arange(begins[1])  # nodes whose states are there, in the order of their rows
        row_of = numpy.full(len(pairs), -1)
        for begin, end in zip(begins[1:-1], begins[2:]):
            row_of[carried] = numpy.arange(len(carried))
            used = pairs[begin:end].reshape(-1)
            stays = numpy.ones(len(carried), bool)
            stays[row_of[used]] = False
            levels.append(Level(row_of[used], numpy.flatnonzero(stays)))
            carried = numpy.concatenate([carried[stays], numpy.arange(begin, end)])
        return levels


class TreeLstm:
    def __init__(self, parameters):
        self.p = parameters
        self.d = parameters["U"].shape[1] // 5

    def leaf(self, x):
        i, o, u = torch.addmm(self.p["w"], x, self.p["W"]).chunk(3, -1)
        c = i.sigmoid() * u.tanh()
        return torch.cat([o.sigmoid() * c.tanh(), c], -1)

    def node(self, children):
        """`children`: [n, 2, 2 d], the states of both, h and c."""
        h = children[:, :, : self.d].reshape(-1, 2 * self.d)
        i, o, u, f = torch.addmm(self.p["u"], h, self.p["U"]).split([self.d, self.d, self.d, 2 * self.d], -1)
        kept = f.sigmoid().view(-1, 2, self.d) * children[:, :, self.d:]
        c = i.sigmoid() * u.tanh() + kept.sum(1)
        return torch.cat([o.sigmoid() * c.tanh(), c], -1)

    def hidden(self, states):
        return states[:, : self.d]

    def recursive_leaf(self, x):
        i, o, u = (x @ self.p["W"] + self.p["w"]).chunk(3)
        c = i.sigmoid() * u.tanh()
        return o.sigmoid() * c.tanh(), c

    def recursive_node(self, left, right):
        (hl, cl), (hr, cr) = left, right
        i, o, u, fl, fr = (torch.cat([hl, hr]) @ self.p["U"] + self.p["u"]).chunk(5)
        c = i.sigmoid() * u.tanh() + fl.sigmoid() * cl + fr.sigmoid() * cr
        return o.sigmoid() * c.tanh(), c


class TreeRnn:
    def __init__(self, parameters):
        self.p = parameters

    def leaf(self, x):
        return x

    def node(self, children):
        return torch.addmm(self.p["b"], children.flatten(1), self.p["W"]).tanh()

    def hidden(self, states):
        return states

    def recursive_leaf(self, x):
        return (x,)

    def recursive_node(self, left, right):
        return ((torch.cat([left[0], right[0]]) @ self.p["W"] + self.p["b"]).tanh(),)


MODELS = {"treelstm": TreeLstm, "treernn": TreeRnn}


class Trainer:
    def __init__(self, data, model, style):
        loaded = safetensors.torch.load_file(data / "parameters.safetensors")
        self.parameters = {name: torch.nn.Parameter(value) for name, value in loaded.items()}
        self.model = MODELS[model](self.parameters)
        dense = [value for name, value in self.parameters.items() if name != "E"]
        self.optimizers = [torch.optim.Adam(dense, lr=1e-3, fused=True),
                           torch.optim.SparseAdam([self.parameters["E"]], lr=1e-3)]
        by_levels = style == "levels"
        self.loss_of = self.loss_by_levels if by_levels else self.loss_by_recursion
        self.probabilities_of = self.probabilities_by_levels if by_levels else self.probabilities_by_recursion

    def embed(self, words):
        return functional.embedding(words, self.parameters["E"], sparse=True)

    def scores(self, h):
        return torch.addmm(self.parameters["v"], h, self.parameters["V"])

    def loss(self, h, labels):
        return functional.cross_entropy(self.scores(h), labels, ignore_index=-1, reduction="sum")

    def loss_by_recursion(self, trees):
        return sum(self.loss(self.states_of(tree), tree.label_tensor) for tree in trees)

    def probabilities_by_recursion(self, trees):
        return torch.cat([self.scores(self.states_of(tree)).softmax(-1) for tree in trees])

    def states_of(self, tree):
        """The states h of all nodes, in preorder."""
        words = iter(self.embed(tree.leaf_words).unbind())
        states = []

        def encode(node):
            place = len(states)
            states.append(None)
            if tree.left_of[node] < 0:
                state = self.model.recursive_leaf(next(words))
            else:
                left = encode(tree.left_of[node])
                state = self.model.recursive_node(left, encode(tree.right_of[node]))
            states[place] = state[0]
            return state

        encode(0)
        return torch.stack(states)

    def loss_by_levels(self, trees):
        batch = Batch(trees)
        return self.loss(self.states_by_height(batch), batch.labels)

    def probabilities_by_levels(self, trees):
        batch = Batch(trees)
        return self.scores(self.states_by_height(batch)).softmax(-1)[batch.place]

    def states_by_height(self, batch):
        carried = self.model.leaf(self.embed(batch.words))
        hidden = [self.model.hidden(carried)]
        for level in batch.levels:
            sorted_states = carried.index_select(0, level.order)
            children = sorted_states[: 2 * level.count].view(level.count, 2, -1)
            made = self.model.node(children)
            hidden.append(self.model.hidden(made))
            carried = torch.cat([sorted_states[2 * level.count:], made])
        return torch.cat(hidden)

    def step(self, trees):
        loss = self.loss_of(trees) / len(trees)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.item()

    @torch.inference_mode()
    def predict(self, trees):
        """The probabilities of the classes of all nodes, in preorder, tree after tree."""
        return self.probabilities_of(trees)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--style", choices=["recursion", "levels"], required=True)
    parser.add_argument("--batch", type=int, default=25)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--check", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    trees = [Tree(line) for line in (options.data / "trees.txt").read_text().splitlines()]
    trainer = Trainer(options.data, options.model, options.style)
    begin = 0

    def next_batch():
        nonlocal begin
        begin += options.batch
        return [trees[i % len(trees)] for i in range(begin - options.batch, begin)]

    def rate(work):
        start = time.perf_counter()
        for _ in range(options.steps):
            work(next_batch())
        return options.steps * options.batch / (time.perf_counter() - start)

    probabilities = trainer.predict([trees[i % len(trees)] for i in range(options.batch)]).flatten().tolist()
    losses = [trainer.step(next_batch()) for _ in range(options.check)]
    training, inference = zip(*((rate(trainer.step), rate(trainer.predict)) for _ in range(options.rounds)))
    print(json.dumps({"version": torch.__version__, "probabilities": probabilities, "losses": losses,
                      "training_examples_per_second": statistics.median(training),
                      "inference_examples_per_second": statistics.median(inference)}))


if __name__ == "__main__":
    main()
