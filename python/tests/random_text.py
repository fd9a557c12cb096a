"""The text of a random program while it is made."""

import random


class RandomText:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.fresh = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def one_of(self, *makers):
        """What one of them makes; the others are not asked."""
        return self.random.choice(makers)()

    def name(self, kind):
        self.fresh += 1
        return f"{kind}{self.fresh}"
