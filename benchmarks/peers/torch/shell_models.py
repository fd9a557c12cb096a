"""models/lenet.hia and models/characters.hia in PyTorch: their losses over some steps of Adam, and the time of a step.

    shell_models.py MODEL DATA PARAMETERS ORDER --lr 0.002 --threads 1

DATA is a folder of columns or a file of JSON lines, PARAMETERS a safetensors file with the first values, ORDER a JSON file with
the indices of the examples of each step. Writes one JSON object.
"""

import argparse
import json
import math
import pathlib
import time

import numpy
import torch
import torch.nn.functional as F
from safetensors.torch import load_file


class LeNet(torch.nn.Module):
    def __init__(self, given):
        super().__init__()
        for name, tensor in given.items():
            setattr(self, name, torch.nn.Parameter(tensor))

    @staticmethod
    def batches(folder, order):
        images, digits = (torch.from_numpy(numpy.load(pathlib.Path(folder) / f"{name}.npy")) for name in ("image", "digit"))
        return [(images[step].float(), digits[step].long()) for step in order]

    def loss(self, images, digits):
        x = (images / 255).unsqueeze(1)
        a = F.max_pool2d(F.relu(F.conv2d(x, self.filters1, self.bias1.flatten(), padding=2)), 2)
        b = F.max_pool2d(F.relu(F.conv2d(a, self.filters2, self.bias2.flatten())), 2)
        c = F.relu(b.flatten(1) @ self.W3 + self.b3)
        return F.cross_entropy(F.relu(c @ self.W4 + self.b4) @ self.W5 + self.b5, digits)

    def optimizers(self, rate):
        return [torch.optim.Adam(self.parameters(), lr=rate)]


class Characters(torch.nn.Module):
    """Over lines of one length, padded, by the LSTM that PyTorch has: its gates stand in another order, and 1 is added to the one
    that forgets by the bias that is not learned."""

    def __init__(self, given):
        super().__init__()
        size = given["V"].shape[0]
        gates = torch.cat([torch.arange(k * size, (k + 1) * size) for k in (0, 1, 3, 2)])
        self.E = torch.nn.Embedding.from_pretrained(given["E"], freeze=False, sparse=True)
        self.lstm = torch.nn.LSTM(size, size, batch_first=True)
        with torch.no_grad():
            self.lstm.weight_ih_l0.copy_(given["W"][:size, gates].T)
            self.lstm.weight_hh_l0.copy_(given["W"][size:, gates].T)
            self.lstm.bias_ih_l0.copy_(given["b"][gates])
            self.lstm.bias_hh_l0.zero_()[size : 2 * size] = 1
        self.lstm.bias_hh_l0.requires_grad_(False)
        self.V = torch.nn.Parameter(given["V"])

    @staticmethod
    def batches(file, order):
        lines = [json.loads(line) for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines()]
        made = []
        for step in order:
            symbols = [[ord(c) if ord(c) < 128 else 0 for c in lines[i]] for i in step]
            longest = max(2, max(map(len, symbols)))
            padded = torch.tensor([line + [0] * (longest - len(line)) for line in symbols])
            counts = torch.tensor([len(line) - 1 for line in symbols])
            made.append((padded, counts))
        return made

    def loss(self, padded, counts):
        states, _ = self.lstm(self.E(padded[:, :-1]))
        each = F.cross_entropy((states @ self.V).transpose(1, 2), padded[:, 1:], reduction="none")
        is_there = torch.arange(each.shape[1])[None] < counts[:, None]
        bits = (each * is_there).sum(1) / counts.clamp(min=1) / math.log(2)
        return bits.mean()

    def optimizers(self, rate):
        dense = [self.lstm.weight_ih_l0, self.lstm.weight_hh_l0, self.lstm.bias_ih_l0, self.V]
        return [torch.optim.SparseAdam([self.E.weight], lr=rate), torch.optim.Adam(dense, lr=rate)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=["lenet", "characters"])
    parser.add_argument("data")
    parser.add_argument("parameters")
    parser.add_argument("order")
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model = {"lenet": LeNet, "characters": Characters}[options.model](load_file(options.parameters))
    batches = model.batches(options.data, json.loads(pathlib.Path(options.order).read_text()))
    optimizers = model.optimizers(options.lr)
    losses = []
    begin = time.perf_counter()
    for batch in batches:
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = model.loss(*batch)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        losses.append(loss.item())
    seconds = time.perf_counter() - begin
    print(json.dumps({"losses": losses, "seconds_per_step": seconds / len(batches), "version": torch.__version__}))


if __name__ == "__main__":
    main()
