"""Trees for the benchmarks: generated, or read from the bracketed form that `hiaton train` reads."""

import dataclasses
import random

VOCABULARY, CLASSES, BATCH = 1000, 5, 25


@dataclasses.dataclass
class Tree:
    """A binary tree: a leaf has a word, every node a label."""

    label: int
    word: "int | None" = None
    left: "Tree | None" = None
    right: "Tree | None" = None


@dataclasses.dataclass
class Node:
    """A tree whose nodes have any number of children; a leaf has none."""

    label: int
    word: int
    children: "list[Node]"


def binary_tree(rng, words):
    if words == 1:
        return Tree(rng.randrange(CLASSES), rng.randrange(1, VOCABULARY))
    cut = rng.randrange(1, words)
    return Tree(rng.randrange(CLASSES), None, binary_tree(rng, cut), binary_tree(rng, words - cut))


def node_tree(rng, words):
    """Its nodes have two to four children."""
    if words == 1:
        return Node(rng.randrange(CLASSES), rng.randrange(1, VOCABULARY), [])
    cuts = sorted(rng.sample(range(1, words), min(words - 1, rng.randrange(1, 4))))
    sizes = [end - begin for begin, end in zip([0, *cuts], [*cuts, words])]
    return Node(rng.randrange(CLASSES), 0, [node_tree(rng, size) for size in sizes])


def generated(kind, count, seed=1):
    """So many trees over 5 to 34 words."""
    rng = random.Random(seed)
    make = binary_tree if kind is Tree else node_tree
    return [make(rng, rng.randrange(5, 35)) for _ in range(count)]


def children_of(t):
    if isinstance(t, Node):
        return t.children
    return [] if t.left is None else [t.left, t.right]


def size_of(t):
    return 1 + sum(map(size_of, children_of(t)))


def leaves_of(t):
    children = children_of(t)
    return sum(map(leaves_of, children)) if children else 1


def bracketed(t):
    """As (3 (2 It) (4 (2 's) (4 good)))."""
    children = children_of(t)
    return f"({t.label} {' '.join(map(bracketed, children)) if children else f'w{t.word}'})"


def batches(trees, size=BATCH):
    return [trees[i:i + size] for i in range(0, len(trees), size)]
