"""Five models over trees as plain Python. Their parameters have the names that they have in models/*.hia."""

import pathlib
import typing

import hiaton as hia
from hiaton import nn

from trees import CLASSES, VOCABULARY, Node, Tree


class Model(nn.Module):
    """The parameters are given by name. `d` is the size of a state."""

    def __init__(self, parameters):
        for name, value in parameters.items():
            setattr(self, name, nn.Parameter(hia.tensor(value)))
        self.d = self.V.shape[0]

    def node_loss(self, h, label):
        return hia.cross_entropy(h @ self.V + self.v, label)


class TreeRNN(Model):
    def compose(self, left, right):
        return hia.tanh(hia.concat([left, right], axis=0) @ self.W + self.b)

    def encode(self, t):
        """The state of a node, and the loss of all nodes below and of itself."""
        if t.left is None:
            h = self.E[t.word]
            return h, self.node_loss(h, t.label)
        (hl, ll), (hr, lr) = self.encode(t.left), self.encode(t.right)
        h = self.compose(hl, hr)
        return h, ll + lr + self.node_loss(h, t.label)

    def loss(self, t):
        return self.encode(t)[1]


class RNTN(TreeRNN):
    def compose(self, left, right):
        x = hia.concat([left, right], axis=0)
        return hia.tanh(hia.reshape(x @ self.T, shape=(-1, x.shape[0])) @ x + x @ self.W + self.b)


class TreeLSTM(Model):
    def leaf(self, word):
        d, gates = self.d, self.E[word] @ self.W + self.w
        i, o, u = gates[:d], gates[d:2 * d], gates[2 * d:]
        c = hia.sigmoid(i) * hia.tanh(u)
        return hia.sigmoid(o) * hia.tanh(c), c

    def node(self, hl, cl, hr, cr):
        d, gates = self.d, hia.concat([hl, hr], axis=0) @ self.U + self.u
        i, o, u, fl, fr = gates[:d], gates[d:2 * d], gates[2 * d:3 * d], gates[3 * d:4 * d], gates[4 * d:]
        c = hia.sigmoid(i) * hia.tanh(u) + hia.sigmoid(fl) * cl + hia.sigmoid(fr) * cr
        return hia.sigmoid(o) * hia.tanh(c), c

    def encode(self, t):
        """(h, c, loss) of a node."""
        if t.left is None:
            h, c = self.leaf(t.word)
            return h, c, self.node_loss(h, t.label)
        (hl, cl, ll), (hr, cr, lr) = self.encode(t.left), self.encode(t.right)
        h, c = self.node(hl, cl, hr, cr)
        return h, c, ll + lr + self.node_loss(h, t.label)

    def loss(self, t):
        return self.encode(t)[2]


class ChildSumTreeLSTM(Model):
    def leaf(self, word):
        d, gates = self.d, self.E[word] @ self.W + self.w
        c = hia.sigmoid(gates[:d]) * hia.tanh(gates[2 * d:])
        return hia.sigmoid(gates[d:2 * d]) * hia.tanh(c), c

    def node(self, h_sum, c_sum):
        """(h, c) of a node, of whose children so much memory is kept."""
        d, gates = self.d, h_sum @ self.U + self.u
        c = hia.sigmoid(gates[:d]) * hia.tanh(gates[2 * d:]) + c_sum
        return hia.sigmoid(gates[d:2 * d]) * hia.tanh(c), c

    def encode(self, t):
        """(h, c, loss) of a node."""
        if len(t.children) == 0:
            h, c = self.leaf(t.word)
            return h, c, self.node_loss(h, t.label)
        zero = hia.zeros_like(self.f)
        h_sum, c_sum, total = zero, zero, 0.0
        for child in t.children:
            h, c, loss = self.encode(child)
            h_sum, c_sum = h_sum + h, c_sum + hia.sigmoid(h @ self.F + self.f) * c
            total = total + loss
        h, c = self.node(h_sum, c_sum)
        return h, c, total + self.node_loss(h, t.label)

    def loss(self, t):
        return self.encode(t)[2]


class TopDownTreeLSTM(Model):
    def cell(self, label, h, c, weight, bias):
        d, gates = self.d, hia.concat([self.E[label], h], axis=0) @ weight + bias
        i, f, o, u = gates[:d], gates[d:2 * d], gates[2 * d:3 * d], gates[3 * d:]
        c = hia.sigmoid(f) * c + hia.sigmoid(i) * hia.tanh(u)
        return hia.sigmoid(o) * hia.tanh(c), c

    def cost(self, t, h, c):
        """The loss of a node with this state and of all below: of their labels, and of whether they have children."""
        own = hia.cross_entropy(h @ self.S + self.s, 0 if t.left is None else 1) + self.node_loss(h, t.label)
        if t.left is None:
            return own
        hl, cl = self.cell(t.label, h, c, self.L, self.l)
        hr, cr = self.cell(t.label, h, c, self.R, self.r)
        return own + self.cost(t.left, hl, cl) + self.cost(t.right, hr, cr)

    def loss(self, t):
        return self.cost(t, self.root, hia.zeros_like(self.root))


def mean_loss(model, trees):
    return sum(model.loss(t) for t in trees) / len(trees)


class Kind(typing.NamedTuple):
    """A model: as plain Python, and the file that has it in .hia, with the sizes that this has by itself."""

    model: type
    trees: type
    file: str
    bar: float  # how often as fast as PyTorch it is to be

    def program(self):
        return hia.load(self.path(), vocab=VOCABULARY, classes=CLASSES)

    def path(self):
        return pathlib.Path(__file__).resolve().parents[2] / "models" / f"{self.file}.hia"


MODELS = {
    "TreeRNN": Kind(TreeRNN, Tree, "treernn", 47.6),
    "TreeLSTM": Kind(TreeLSTM, Tree, "treelstm", 18.4),
    "RNTN": Kind(RNTN, Tree, "rntn", 10),
    "ChildSumTreeLSTM": Kind(ChildSumTreeLSTM, Node, "childsum", 10),
    "TopDownTreeLSTM": Kind(TopDownTreeLSTM, Tree, "td_treelstm", 10),
}
