"""Learns what nested lists of digits mean: python examples/list_operations.py [STEPS]

The task is ListOps (Nangia and Bowman, 2018), on which a model does well only if it follows the structure of its
input: [MAX 2 9 [MIN 4 7] 0] is 9. A list may hold any number of digits and of lists. Nobody tells the model what MAX
means: it sees operators and digits by number, and the value of the whole.

The model is a recursion: an LSTM reads the parts of a list one after the other, each by what the same LSTM has made
of it. It is written for one list; hia.nn.value_and_grad runs the lists of a batch, and the parts of each, together.
"""

import dataclasses
import random
import sys

import hiaton as hia
from hiaton import nn, optim

OPERATORS = {
    "MIN": min,
    "MAX": max,
    "MED": lambda values: sorted(values)[len(values) // 2],
    "SUM": lambda values: sum(values) % 10,
}


@dataclasses.dataclass
class Digit:
    value: int

    def __str__(self):
        return str(self.value)


@dataclasses.dataclass
class Operation:
    operator: int                       # its place in OPERATORS
    parts: "list[Digit | Operation]"
    value: int

    def __str__(self):
        return f"[{list(OPERATORS)[self.operator]} {' '.join(map(str, self.parts))}]"


def random_list(rng, depth):
    """An operation on two to four parts, which are lists of less depth or digits."""
    parts = [Digit(rng.randrange(10)) if depth == 1 or rng.random() < 0.6 else random_list(rng, depth - 1)
             for _ in range(rng.randrange(2, 5))]
    name = rng.choice(list(OPERATORS))
    return Operation(list(OPERATORS).index(name), parts, OPERATORS[name]([part.value for part in parts]))


class Reader(nn.Module):
    def __init__(self, d):
        self.d = d
        self.operators = nn.Embedding(len(OPERATORS), d)
        self.digits = nn.Embedding(10, d)
        self.cell = nn.LSTMCell(d, d)
        self.hidden = nn.Linear(d, d)
        self.out = nn.Linear(d, 10)

    def read(self, part):
        """A vector that stands for a digit or a list."""
        if isinstance(part, Digit):
            return self.digits(part.value)
        state = self.cell(self.operators(part.operator), (hia.zeros(self.d), hia.zeros(self.d)))
        for inner in part.parts:
            state = self.cell(self.read(inner), state)
        return state[0]

    def scores(self, whole):
        """One for each digit that may be the value."""
        return self.out(hia.relu(self.hidden(self.read(whole))))

    def loss(self, whole):
        return hia.cross_entropy(self.scores(whole), whole.value)


def share_right(model, lists):
    scores = hia.vmap(model.scores)(lists)
    return sum(int(hia.argmax(s)) == whole.value for s, whole in zip(scores, lists)) / len(lists)


def main(steps):
    rng = random.Random(1)
    example = random_list(rng, 3)
    print(f"{example} is {example.value}")
    model = Reader(d=64)
    step = nn.value_and_grad(model, lambda model, lists: sum(model.loss(whole) for whole in lists) / len(lists))
    optimizer = optim.Adam(model, optim.linear(0.004, steps), clip=1.0)
    for number in range(1, steps + 1):
        depth = 1 if number < steps // 4 else rng.randrange(1, 4)   # short lists first
        loss, gradients = step(model, [random_list(rng, depth) for _ in range(64)])
        optimizer.update(gradients)
        if number % (steps // 5) == 0:
            print(f"step {number}: loss {loss.item():.3f}")
    for depth in (1, 2, 3, 4):
        right = share_right(model, [random_list(rng, depth) for _ in range(500)])
        print(f"lists of depth {depth}: {right:.0%} right")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
