"""Objects as arguments: what a graph reads of them is what Python reads, however they hold it."""

import copy
import dataclasses
import gc

import pytest

import hiaton as hia


@dataclasses.dataclass
class Tree:
    label: int
    word: int = 5
    left: "Tree | None" = None
    right: "Tree | None" = None


@dataclasses.dataclass(slots=True)
class Slots:
    label: int
    word: int = 5
    left: "Slots | None" = None
    right: "Slots | None" = None


class HalfSlots(Slots):
    """Its objects have a dict besides the slots."""


class Plain:
    def __init__(self, label, word=5, left=None, right=None):
        self.right, self.left, self.word, self.label = right, left, word, label


class Wide(Plain):
    def __init__(self, *args):
        for i in range(40):  # more names than objects share
            setattr(self, f"unused_{i}", i)
        super().__init__(*args)


def total(t):
    if t.left is None or t.right is None:
        return t.label * 3 + t.word
    return total(t.left) + 2 * total(t.right) + t.label * 3 + t.word


def full(cls, depth=3, label=1):
    if depth == 0:
        return cls(label, 7)
    return cls(label, label + 1, full(cls, depth - 1, 2 * label), full(cls, depth - 1, 2 * label + 1))


def untouched(t):
    pass


def its_dict_was_asked_for(t):
    assert vars(t)["label"] == 2


def its_dict_has_more(t):
    vars(t)["another"] = 1


def its_dict_was_replaced(t):
    t.__dict__ = dict(reversed(list(vars(t).items())))


def a_name_was_deleted_and_set(t):
    del t.label
    t.label = 8


def a_default_of_the_class_shows(t):
    del t.word


CHANGES = [untouched, its_dict_was_asked_for, its_dict_has_more, its_dict_was_replaced, a_name_was_deleted_and_set]


@pytest.mark.parametrize("change", CHANGES, ids=[c.__name__ for c in CHANGES])
@pytest.mark.parametrize("cls", [Tree, Plain, Wide, Slots, HalfSlots], ids=lambda cls: cls.__name__)
def test_attributes_are_read_wherever_they_are(cls, change):
    graph = hia.function(total, strict=True)
    assert graph(full(cls)) == total(full(cls))
    for _ in range(3):
        t = full(cls)
        if not (cls is Slots and "dict" in change.__name__) and not (
                cls is HalfSlots and "asked" in change.__name__):
            change(t.left)
        assert graph(t) == total(t)
    assert "0 calls in plain Python" in graph.report()


def test_a_default_of_the_class_is_read():
    graph = hia.function(total, strict=True)
    assert graph(full(Tree)) == total(full(Tree))
    t = full(Tree)
    a_default_of_the_class_shows(t.left)
    assert graph(t) == total(t)


def test_a_copy_is_read():
    graph = hia.function(total, strict=True)
    t = full(Plain)
    for one in (t, copy.copy(t), copy.deepcopy(t)):
        assert graph(one) == total(t)


def test_a_class_that_changes_is_looked_at_again():
    class Node:
        def __init__(self, value):
            self.value = value

    def twice(node):
        return 2 * node.value

    graph = hia.function(twice)
    assert graph(Node(4)) == 8
    Node.value = property(lambda self: 30, lambda self, value: None)
    node = Node(4)
    assert graph(node) == twice(node) == 60
    del Node.value
    assert graph(Node(5)) == 10
    Node.__getattribute__ = lambda self, name: 12
    assert graph(Node(5)) == twice(Node(5)) == 24


def test_a_field_that_is_not_there_raises_what_python_raises():
    graph = hia.function(total)
    assert graph(full(Plain)) == total(full(Plain))
    for cls in (Plain, Slots):
        t = full(cls)
        del t.left.label
        with pytest.raises(AttributeError, match="label"):
            graph(t)


def test_objects_that_are_given_back_live_as_long():
    def deepest(t):
        return t if t.left is None else deepest(t.left)

    graph = hia.function(deepest, strict=True)
    for cls in (Tree, Slots):
        t = full(cls)
        leaf = t.left.left.left
        assert graph(t) is leaf
        found = graph(full(cls))
        gc.collect()
        assert (found.label, found.word) == (8, 7)


def test_shared_parts_are_looked_at_once():
    @hia.function(strict=True)
    def depth(t):
        total = 0
        while t is not None:
            total += t.label if t.right is not None else 1
            t = t.left
        return total

    shared = None
    for _ in range(60):
        shared = Tree(1, 5, shared, shared)
    assert depth(shared) == 60
