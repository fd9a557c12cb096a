"""The networks of networks.py in PyTorch, eagerly. Parameters come by the paths that they have there."""

import torch
from torch.nn import functional


class Network:
    def __init__(self, parameters):
        self.p = {path: torch.tensor(value, requires_grad=True) for path, value in parameters.items()}

    def linear(self, name, x):
        return x @ self.p[f"{name}.weight"] + self.p[f"{name}.bias"]

    def rows(self, name, numbers):
        return functional.embedding(numbers, self.p[f"{name}.weight"], sparse=True)

    def cell(self, x, h, c):
        i, f, u, o = (self.linear("cell.input", x) + h @ self.p["cell.state.weight"]).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(u)
        return torch.sigmoid(o) * torch.tanh(c), c


class LeNet(Network):
    def convolution(self, name, x, padding):
        return functional.conv2d(x, self.p[f"{name}.weight"], self.p[f"{name}.bias"].flatten(), padding=padding)

    def loss(self, images, digits):
        x = functional.max_pool2d(torch.relu(self.convolution("first", images, 2)), 2)
        x = functional.max_pool2d(torch.relu(self.convolution("second", x, 0)), 2)
        x = torch.relu(self.linear("third", x.reshape(-1, 400)))
        return functional.cross_entropy(self.linear("fifth", torch.relu(self.linear("fourth", x))), digits)


class LSTM(Network):
    def loss(self, words):
        h = c = torch.zeros_like(self.rows("E", words[0]))
        total = 0.0
        for i in range(words.shape[0] - 1):
            h, c = self.cell(self.rows("E", words[i]), h, c)
            total = total + functional.cross_entropy(self.linear("V", h), words[i + 1])
        return total


class LanguageModel(Network):
    def loss(self, words, sampled):
        h = c = torch.zeros((words.shape[1], self.p["cell.state.weight"].shape[0]))
        wrong = self.rows("V", sampled).T
        total = 0.0
        for i in range(words.shape[0] - 1):
            h, c = self.cell(self.rows("E", words[i]), h, c)
            p = h @ self.p["P.weight"]
            right = (p * self.rows("V", words[i + 1])).sum(1)
            total = total + torch.log(1.0 + torch.exp(p @ wrong - right[:, None]).sum(1)).mean()
        return total


def step_of(name, parameters):
    model = globals()[name](parameters)
    optimizer = torch.optim.Adagrad(model.p.values(), 0.01)

    def step(batch):
        optimizer.zero_grad()
        loss = model.loss(*batch)
        loss.backward()
        optimizer.step()
        return loss.item()
    return step


def batch_of(arrays):
    return [torch.from_numpy(array) for array in arrays]
