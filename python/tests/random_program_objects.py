"""What random programs compute with: objects of several classes, and context managers."""

import contextlib
import dataclasses


@dataclasses.dataclass
class Node:
    value: int
    weight: float = 0.5
    left: "Node | None" = None
    right: "Node | None" = None
    tags: "list[int]" = dataclasses.field(default_factory=list)
    note: "int | None" = None
    mark: object = None


@dataclasses.dataclass
class Leaf:
    value: int
    weight: float = 1.5

    def scaled(self, k):
        return self.value * k

    @property
    def twice(self):
        return self.value + self.value


class Held:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


@contextlib.contextmanager
def scaled(value, by=3):
    made = Held(value * by)
    yield made
    if by == made.value:
        raise ValueError(f"{value} ends as {by}")
