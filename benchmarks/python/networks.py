"""Networks without trees: LeNet, an LSTM and a word language model, as plain Python on batches; the same code in PyTorch."""

import numpy as np

import hiaton as hia
from hiaton import nn, optim

from measuring import middle, ratio, seconds_of, show_ratio, show_time, table

RATE = 0.01


class LeNet(nn.Module):
    def __init__(self):
        self.first, self.second = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.third, self.fourth, self.fifth = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def loss(self, images, digits):
        x = hia.max_pool2d(hia.relu(self.first(images)), size=2, stride=2)
        x = hia.max_pool2d(hia.relu(self.second(x)), size=2, stride=2)
        x = hia.relu(self.third(hia.reshape(x, shape=(-1, 400))))
        return hia.mean(hia.cross_entropy(self.fifth(hia.relu(self.fourth(x))), digits))

    @staticmethod
    def batch(rng, smoke):
        count = 2 if smoke else 50
        return [rng.random((count, 1, 28, 28), np.float32), rng.integers(0, 10, count)]


class LSTM(nn.Module):
    """Predicts the next word of each of 20 texts, 35 times."""

    VOCABULARY, SIZE = 2000, 200

    def __init__(self):
        self.E, self.cell = nn.Embedding(self.VOCABULARY, self.SIZE), nn.LSTMCell(self.SIZE, self.SIZE)
        self.V = nn.Linear(self.SIZE, self.VOCABULARY)

    def loss(self, words):
        h, c = hia.zeros_like(self.E(words[0])), hia.zeros_like(self.E(words[0]))
        total = 0.0
        for i in range(words.shape[0] - 1):
            h, c = self.cell(self.E(words[i]), (h, c))
            total = total + hia.mean(hia.cross_entropy(self.V(h), words[i + 1]))
        return total

    @classmethod
    def batch(cls, rng, smoke):
        return [rng.integers(0, cls.VOCABULARY, (3, 2) if smoke else (36, 20))]


class LanguageModel(nn.Module):
    """Words of a large vocabulary: an LSTM with a projection, and a softmax over sampled words."""

    VOCABULARY, EMBEDDING, SIZE, SAMPLED = 10_000, 128, 512, 256

    def __init__(self):
        self.E, self.cell = nn.Embedding(self.VOCABULARY, self.EMBEDDING), nn.LSTMCell(self.EMBEDDING, self.SIZE)
        self.P = nn.Linear(self.SIZE, self.EMBEDDING, bias=False)
        self.V = nn.Embedding(self.VOCABULARY, self.EMBEDDING)

    def loss(self, words, sampled):
        """`sampled` are words that are wrong with all likelihood."""
        h, c = hia.zeros((words.shape[1], self.SIZE)), hia.zeros((words.shape[1], self.SIZE))
        wrong = self.V(sampled).T
        total = 0.0
        for i in range(words.shape[0] - 1):
            h, c = self.cell(self.E(words[i]), (h, c))
            p = self.P(h)
            right = hia.sum(p * self.V(words[i + 1]), axis=1)
            total = total + hia.mean(hia.log(1.0 + hia.sum(hia.exp(p @ wrong - hia.reshape(right, shape=(-1, 1))), axis=1)))
        return total

    @classmethod
    def batch(cls, rng, smoke):
        rows, steps = (2, 3) if smoke else (64, 20)
        return [rng.integers(0, cls.VOCABULARY, (steps + 1, rows)), rng.integers(0, cls.VOCABULARY, 8 if smoke else cls.SAMPLED)]


def loss_of(model, batch):
    return model.loss(*batch)


def graph_step(model):
    """A step, and what tells the seconds that its kernels take."""
    gradients_of, optimizer = nn.value_and_grad(model, loss_of), optim.Adagrad(model, RATE)

    def step(batch):
        loss, gradients = gradients_of(model, batch)
        optimizer.update(model, gradients)
        return loss.item()

    def kernel_seconds(batch):
        """Parameters are new for the run, as they are in each step: kernels make packed copies of them."""
        _, gradients = gradients_of(model, batch)
        return seconds_of(optimizer.update, model, gradients) + gradients_of.kernel_seconds(model, batch)
    return step, kernel_seconds


def eager_step(model):
    optimizer = optim.Adagrad(model, RATE)

    def step(batch):
        with hia.GradientTape() as tape:
            loss = model.loss(*batch)
        optimizer.update(model, tape.gradient(loss, model))
        return loss.item()
    return step


BEYOND_KERNELS = 1.10  # of the time of its kernels, which a step may take that is not as many times as fast as eager code as published
NETWORKS = {"LeNet, batch 50": (LeNet, 3.25), "LSTM, batch 20": (LSTM, 8.03), "language model, batch 64": (LanguageModel, 2.11)}


def networks(bench):
    """A step of training by Adagrad: as a graph, eagerly, and in PyTorch. Its kernels are tensor operations, additions to gradients,
    and the rule of the optimizer."""
    rows, names = [], []
    for label, (cls, bar) in NETWORKS.items():
        arrays = cls.batch(np.random.default_rng(1), bench.smoke)
        batch = tuple(map(hia.tensor, arrays))
        nn.seed(1)
        models = [cls(), cls()]
        models[1].update(models[0].parameters())
        first = {path: value.numpy().copy() for path, value in models[0].parameters().items()}
        graph, kernel_seconds = graph_step(models[0])
        steps = {"hia.function": (graph, batch), "eager hiaton": (eager_step(models[1]), batch)}
        if bench.torch is not None:
            import torch_networks
            steps["PyTorch eager"] = (torch_networks.step_of(cls.__name__, first), torch_networks.batch_of(arrays))
        losses = {name: [step(given), step(given)] for name, (step, given) in steps.items()}
        for name, found in losses.items():
            if not np.allclose(found, losses["hia.function"], rtol=1e-3):
                raise SystemExit(f"{label}: {name} gets the losses {found}, hia.function {losses['hia.function']}")
        count = bench.count(5)
        contenders = {"its kernels": lambda: middle([kernel_seconds(batch) for _ in range(count)])}
        for name, (step, given) in steps.items():
            contenders[name] = lambda s=step, g=given: seconds_of(lambda: [s(g) for _ in range(count)]) / count
        found = bench.in_turns(label, contenders)
        names = list(found)
        rows.append([label, *(show_time(middle(seconds)) for seconds in found.values())])
        ours = found["hia.function"]
        beside_eager, beside_kernels = ratio(found["eager hiaton"], ours), ratio(ours, found["its kernels"])
        bench.hold(f"{label}, speed beside eager hiaton; time beside its kernels",
                   f"{show_ratio(beside_eager)}; {show_ratio(beside_kernels)}",
                   f"at least {show_ratio(bar)}, or at most {show_ratio(BEYOND_KERNELS)}",
                   beside_eager >= bar or beside_kernels <= BEYOND_KERNELS)
        if "PyTorch eager" in found:
            bench.at_least(f"{label}, speed beside PyTorch eager", ratio(found["PyTorch eager"], ours), 1.0, show_ratio)
    table("A step of training of networks without trees", ["", *names], rows)
