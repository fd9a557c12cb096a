"""The text of a random program while it is made."""

import random


class RandomText:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.fresh = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self, kind):
        self.fresh += 1
        return f"{kind}{self.fresh}"
