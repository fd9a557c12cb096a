"""Objects that come again in later calls: graphs know them, and see whatever changed meanwhile."""

import copy
import dataclasses
import gc
import pickle
import random
import sys
import typing
import weakref

import pytest

import hiaton as hia
from hiaton import nn

LARGE = 100_000  # such integers are objects of their own


class Pair(typing.NamedTuple):
    first: int
    second: float


@dataclasses.dataclass
class Tree:
    label: int
    word: "int | None" = None
    left: "Tree | None" = None
    right: "Tree | None" = None
    name: str = "tree"
    pair: Pair = Pair(1, 2.0)
    sizes: "list[int]" = dataclasses.field(default_factory=list)
    inside: "list[Tree]" = dataclasses.field(default_factory=list)
    unread: object = None


@dataclasses.dataclass(slots=True, weakref_slot=True)
class Slots:
    label: int
    word: "int | None" = None
    left: "Slots | None" = None
    right: "Slots | None" = None
    name: str = "tree"
    pair: Pair = Pair(1, 2.0)
    sizes: "list[int]" = dataclasses.field(default_factory=list)
    inside: "list[Slots]" = dataclasses.field(default_factory=list)
    unread: object = None


class Other(Tree):
    pass


def weight(t):
    """Reads all fields but one, in an order that tells them apart."""
    if t is None:
        return 0.25
    found = float(t.label) + (0.5 if t.word is None else 2.0 * t.word) + (3.0 if t.name == "leaf" else 0.0)
    found = found + 5.0 * t.pair.first + 7.0 * t.pair.second
    for size in t.sizes:
        found = found * 0.5 + size
    for one in t.inside:
        found = found * 0.5 + weight(one)
    return found + 0.5 * weight(t.left) - 0.25 * weight(t.right)


def weights(trees):
    return [weight(t) for t in trees]


def made(cls, rng, depth):
    return cls(rng.randrange(9), rng.choice([None, rng.randrange(LARGE, 2 * LARGE)]),
               made(cls, rng, depth - 1) if depth > 0 else None, made(cls, rng, depth - 1) if depth > 0 and rng.random() < 0.8 else None,
               rng.choice(["tree", "leaf"]), Pair(rng.randrange(LARGE, 2 * LARGE), rng.random()),
               [rng.randrange(2 * LARGE) for _ in range(rng.randrange(3))],
               [made(cls, rng, 0) for _ in range(rng.randrange(3))] if depth > 0 else [])


def nodes_of(t):
    return [] if t is None else [t, *nodes_of(t.left), *nodes_of(t.right), *(n for one in t.inside for n in nodes_of(one))]


def new_number(rng, t):
    t.label = rng.randrange(LARGE)


def new_number_at_the_same_address(rng, t):
    """The memory of a number that is gone often becomes the next one."""
    t.word = rng.randrange(LARGE, 2 * LARGE)
    t.word = None
    t.word = rng.randrange(2 * LARGE, 3 * LARGE)


def new_pair(rng, t):
    t.pair = None
    t.pair = Pair(rng.randrange(LARGE), rng.random())


def new_name(rng, t):
    t.name = rng.choice(["tree", "leaf", "".join(["le", "af"])])


def new_child(rng, t):
    t.left = None
    t.left = made(type(t), rng, rng.randrange(2))


def children_swapped(rng, t):
    t.left, t.right = t.right, t.left


def list_changed(rng, t):
    t.sizes.append(rng.randrange(2 * LARGE))
    if len(t.sizes) > 2:
        t.sizes[1] = rng.randrange(2 * LARGE)
        del t.sizes[0]


def new_list(rng, t):
    t.sizes = [rng.randrange(2 * LARGE)]


def one_more_inside(rng, t):
    t.inside.insert(0, made(type(t), rng, 0))


def one_inside_changed(rng, t):
    for one in t.inside:
        one.label += 1


def dict_asked_for(rng, t):
    if not isinstance(t, Slots):
        vars(t)["label"] = rng.randrange(LARGE)


def dict_replaced(rng, t):
    if not isinstance(t, Slots):
        t.__dict__ = {**dict(reversed(list(vars(t).items()))), "label": rng.randrange(LARGE)}


def deleted_and_set(rng, t):
    del t.label
    t.label = rng.randrange(LARGE)


def unread_changed(rng, t):
    t.unread = object()


CHANGES = [new_number, new_number_at_the_same_address, new_pair, new_name, new_child, children_swapped, list_changed, new_list,
           one_more_inside, one_inside_changed, dict_asked_for, dict_replaced, deleted_and_set, unread_changed]


@pytest.mark.parametrize("come", [lambda tree: tree, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))],
                         ids=["made", "copied", "loaded"])
@pytest.mark.parametrize("cls", [Tree, Slots], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_changes_are_seen(come, cls, change):
    rng = random.Random(3)
    graph = hia.function(weights, strict=True)
    trees = [come(made(cls, rng, 3)) for _ in range(12)]
    graph(trees)
    for _ in range(12):
        for _ in range(rng.randrange(1, 4)):
            assert graph(trees) == weights(trees)
        change(rng, rng.choice(nodes_of(rng.choice(trees))))
    assert graph(trees) == weights(trees)
    rng.shuffle(trees)
    assert graph(trees) == weights(trees) and "0 calls in plain Python" in graph.report(), graph.report()


def test_many_changes():
    rng = random.Random(4)
    graph = hia.function(weights, strict=True)
    trees = [copy.deepcopy(made(rng.choice([Tree, Slots]), rng, 3)) if k % 3 else made(Tree, rng, 3) for k in range(20)]
    for _ in range(200):
        assert graph(trees) == weights(trees)
        for t in rng.sample(trees, rng.randrange(3)):
            rng.choice(CHANGES)(rng, rng.choice(nodes_of(t)))
        if rng.random() < 0.1:
            trees[rng.randrange(len(trees))] = made(rng.choice([Tree, Slots]), rng, 3)
    assert "0 calls in plain Python" in graph.report(), graph.report()


def test_an_object_of_another_class():
    def kind(t):
        return "none" if t is None else ("other" if isinstance(t, Other) else "tree") if t.left is None else kind(t.left)

    graph = hia.function(kind, strict=True)
    assert graph(Other(1)) == "other" and graph(Tree(1)) == "tree"
    t = Tree(1, None, Tree(2))
    for _ in range(3):
        assert graph(t) == "tree"
    t.left.__class__ = Other
    assert graph(t) == "other"


def test_a_class_that_changes():
    class Node:
        def __init__(self, value):
            self.value = value

    def twice(node):
        return 2 * node.value

    graph, node = hia.function(twice), Node(LARGE)
    for _ in range(4):
        assert graph(node) == 2 * LARGE
    Node.value = property(lambda self: 30, lambda self, value: None)
    assert graph(node) == 60
    del Node.value
    assert graph(node) == 2 * LARGE


def marks(trees):
    """What is set shows which objects are one."""
    for number, t in enumerate(trees):
        t.unread = number
    return sum(t.label for t in trees)




def test_objects_in_several_places():
    rng = random.Random(5)
    graph = hia.function(weights, strict=True)
    a, b = made(Tree, rng, 3), made(Tree, rng, 2)
    for _ in range(3):
        assert graph([a, b, a]) == weights([a, b, a])
        assert graph([b, a]) == weights([b, a])
    a.left = b
    for trees in ([a, b], [b, a], [b.left, a], [a, b.left, b]) * 3:
        assert graph(trees) == weights(trees)
    for _ in range(3):
        trees = [copy.deepcopy(a), copy.deepcopy(b)]
        assert graph(trees) == weights(trees)
    setter = hia.function(marks)
    for trees in ([a, b], [b, a], [a, a], [a, b]):
        assert setter(trees) == sum(t.label for t in trees)
        assert [t.unread for t in trees] == [len(trees) - 1 - trees[::-1].index(t) for t in trees]


@dataclasses.dataclass
class Chain:
    word: int
    next: "Chain | None" = None


def total(chain):
    return 0 if chain is None else chain.word + total(chain.next)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="graphs remember objects on Python 3.11 alone")
def test_what_is_remembered_goes_with_the_objects():
    graph, chain = hia.function(total, strict=True), Chain(LARGE + 5, Chain(LARGE + 6))
    words = chain.word, chain.next.word

    def references():
        return tuple(map(sys.getrefcount, words))
    alone = references()
    for _ in range(4):
        graph(chain)
    gc.collect()  # what the conversion leaves
    remembered = references()
    chain.next.word = 3
    assert graph(chain) == LARGE + 8
    changed = references()
    for _ in range(4):
        graph(chain)
    again = references()
    watched = weakref.ref(chain.next)
    del chain
    assert watched() is None
    # The second word has left the chain.
    assert [tuple(n - m for n, m in zip(found, alone)) for found in (remembered, changed, again, references())] == [
        (1, 1), (1, -1), (1, -1), (-1, -1)]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="graphs remember objects on Python 3.11 alone")
def test_it_goes_with_the_graph_too():
    chain, graph = Chain(LARGE + 5), hia.function(total, strict=True)
    for _ in range(4):
        graph(chain)
    assert len(weakref.getweakrefs(chain)) == 1
    del graph
    gc.collect()
    assert not weakref.getweakrefs(chain)


def test_objects_that_do_not_come_again_are_not_remembered():
    graph = hia.function(weights, strict=True)
    rng = random.Random(6)
    graph([made(Tree, rng, 3) for _ in range(20)])
    for _ in range(2000):  # at addresses where others were
        graph([made(Tree, rng, 1)])
    t = made(Tree, rng, 1)
    for _ in range(4):
        graph([t])
    assert not weakref.getweakrefs(t)


def test_changes_inside_of_a_collection(monkeypatch):
    """A collector runs code when it finds something, in the midst of anything that makes objects."""
    rng = random.Random(7)
    graph = hia.function(weights, strict=True)
    trees = [made(Tree, rng, 2) for _ in range(8)]
    graph(trees)

    class Garbage:
        def __init__(self):
            self.itself = self

        def __del__(self):
            rng.choice(nodes_of(rng.choice(trees))).label = rng.randrange(LARGE)

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(50):
            Garbage()
            graph(trees)
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert graph(trees) == weights(trees)


def test_gradients_are_those_of_changed_trees():
    rng = random.Random(8)
    model = nn.Linear(1, 1, dtype=hia.f64)

    def loss(model, trees):
        return sum(hia.sum(model(hia.tensor([1.0], hia.f64))) * weight(t) for t in trees)

    step = nn.value_and_grad(model, loss)
    trees = [made(Tree, rng, 3) for _ in range(5)]
    for _ in range(6):
        found, _ = step(model, trees)
        assert found.item() == pytest.approx(loss(model, trees).item())
        trees[2].left.label += 1
