"""The five models of tree_models.py in PyTorch, eagerly: the same code with its operations."""

import types

import torch
from torch.nn import functional

from trees import Node

torch.sparse.check_sparse_tensor_invariants.disable()  # which it warns of where nothing is said


class Model(torch.nn.Module):
    def __init__(self, parameters):
        super().__init__()
        for name, value in parameters.items():
            setattr(self, name, torch.nn.Parameter(torch.tensor(value)))

    def row(self, number):
        """A row of the table of embeddings, whose gradient keeps to the rows that are used."""
        return functional.embedding(number, self.E, sparse=True)

    def node_loss(self, h, label):
        return functional.cross_entropy(h @ self.V + self.v, label)


class TreeRNN(Model):
    def compose(self, left, right):
        return torch.tanh(torch.cat([left, right]) @ self.W + self.b)

    def encode(self, t):
        if t.left is None:
            h = self.row(t.word)
            return h, self.node_loss(h, t.label)
        (hl, ll), (hr, lr) = self.encode(t.left), self.encode(t.right)
        h = self.compose(hl, hr)
        return h, ll + lr + self.node_loss(h, t.label)

    def loss(self, t):
        return self.encode(t)[1]


class RNTN(TreeRNN):
    def compose(self, left, right):
        x = torch.cat([left, right])
        return torch.tanh((x @ self.T).reshape(-1, x.shape[0]) @ x + x @ self.W + self.b)


class TreeLSTM(Model):
    def leaf(self, word):
        i, o, u = (self.row(word) @ self.W + self.w).chunk(3)
        c = torch.sigmoid(i) * torch.tanh(u)
        return torch.sigmoid(o) * torch.tanh(c), c

    def node(self, hl, cl, hr, cr):
        i, o, u, fl, fr = (torch.cat([hl, hr]) @ self.U + self.u).chunk(5)
        c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * cl + torch.sigmoid(fr) * cr
        return torch.sigmoid(o) * torch.tanh(c), c

    def encode(self, t):
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
        i, o, u = (self.row(word) @ self.W + self.w).chunk(3)
        c = torch.sigmoid(i) * torch.tanh(u)
        return torch.sigmoid(o) * torch.tanh(c), c

    def node(self, h_sum, c_sum):
        i, o, u = (h_sum @ self.U + self.u).chunk(3)
        c = torch.sigmoid(i) * torch.tanh(u) + c_sum
        return torch.sigmoid(o) * torch.tanh(c), c

    def encode(self, t):
        if len(t.children) == 0:
            h, c = self.leaf(t.word)
            return h, c, self.node_loss(h, t.label)
        zero = torch.zeros_like(self.f)
        h_sum, c_sum, total = zero, zero, 0.0
        for child in t.children:
            h, c, loss = self.encode(child)
            h_sum, c_sum = h_sum + h, c_sum + torch.sigmoid(h @ self.F + self.f) * c
            total = total + loss
        h, c = self.node(h_sum, c_sum)
        return h, c, total + self.node_loss(h, t.label)

    def loss(self, t):
        return self.encode(t)[2]


class TopDownTreeLSTM(Model):
    NO, YES = torch.tensor(0), torch.tensor(1)

    def cell(self, label, h, c, weight, bias):
        i, f, o, u = (torch.cat([self.row(label), h]) @ weight + bias).chunk(4)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(u)
        return torch.sigmoid(o) * torch.tanh(c), c

    def cost(self, t, h, c):
        own = functional.cross_entropy(h @ self.S + self.s, self.NO if t.left is None else self.YES)
        own = own + self.node_loss(h, t.label)
        if t.left is None:
            return own
        hl, cl = self.cell(t.label, h, c, self.L, self.l)
        hr, cr = self.cell(t.label, h, c, self.R, self.r)
        return own + self.cost(t.left, hl, cl) + self.cost(t.right, hr, cr)

    def loss(self, t):
        return self.cost(t, self.root, torch.zeros_like(self.root))


def with_tensors(t):
    """The tree with its labels and words as tensors, so that this costs a step nothing."""
    made = types.SimpleNamespace(label=torch.tensor(t.label), word=None if t.word is None else torch.tensor(t.word))
    if isinstance(t, Node):
        made.children = [with_tensors(child) for child in t.children]
    else:
        made.left, made.right = (None if child is None else with_tensors(child) for child in (t.left, t.right))
    return made


def step_of(model):
    """A function that trains the model on a batch and gives its loss before."""
    optimizer = torch.optim.Adagrad(model.parameters(), 0.01)

    def step(trees):
        optimizer.zero_grad()
        loss = sum(model.loss(t) for t in trees) / len(trees)
        loss.backward()
        optimizer.step()
        return loss.item()
    return step
