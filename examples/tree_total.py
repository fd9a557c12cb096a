"""The sum over a tree as a graph: python examples/tree_total.py [PICTURE.svg]"""

import dataclasses
import sys

import hiaton as hia


@dataclasses.dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None


@hia.function
def total(t):
    if t is None:
        return 0
    return t.value + total(t.left) + total(t.right)


print(total(None), total(Tree(1, Tree(2, Tree(3)), Tree(4))))
for picture in sys.argv[1:]:
    total.graph(picture)
