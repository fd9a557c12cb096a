"""Objects as arguments: what a graph reads of them is what Python reads, however they hold it."""

import copy
import dataclasses
import gc
import random
import sys

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


def test_texts_are_kept_for_one_call_only():
    @hia.function(strict=True)
    def longer(a, b):
        return (a, b, "none") if a != b else (a, a, "none")

    class Text(str):
        pass

    kept = []
    for n in range(2000):
        a, b = f"text {n}", f"text {n % 7}"
        expected = (a, b, "none") if a != b else (a, a, "none")
        made = longer(a, b)
        assert made == expected and made[0] is a
        kept.append(a)
    assert all(sys.getrefcount(text) <= 4 for text in kept[:-1]), "the graph keeps texts of calls that are over"


def test_calls_that_no_graph_can_take_end_with_a_warning():
    graph = hia.function(depth_of)
    chain = Chain(0)
    assert graph(chain) == 1
    loop = Chain(1)
    loop.next = loop
    for _ in range(2):
        with pytest.raises(RecursionError):
            graph(loop)
    assert graph(chain) == 1  # now and then is no reason
    for _ in range(2):
        with pytest.raises(RecursionError):
            graph(loop)
    graph = hia.function(first_of)
    assert graph(chain) == 0
    with pytest.warns(hia.FallbackWarning, match="its arguments do not fit its graph: an integer that does not fit 64 bits"):
        for _ in range(3):
            assert graph(Chain(2**70)) == 2**70
    assert graph._conversions == 1 and graph._plain == 3


@dataclasses.dataclass
class Chain:
    value: int
    next: "Chain | None" = None


def depth_of(chain):
    return 0 if chain is None else 1 + depth_of(chain.next)


def first_of(chain):
    return chain.value


DEEP = 100_000


def test_objects_stand_as_deep_inside_each_other_as_they_like():
    chain = None
    for value in range(DEEP):
        chain = Chain(value, chain)
    length = hia.function(length_of, strict=True)
    assert length(chain) == DEEP and length._plain == 0
    longer = hia.function(one_more, strict=True)
    made = longer(chain)
    for value in reversed(range(DEEP)):
        assert made.value == value + 1 and made is not chain
        made, chain = made.next, chain.next
    assert made is None and longer._plain == 0
    nested = []
    for value in range(DEEP):
        nested = Nested([value], [nested] if value else [])
    assert hia.function(sum_of, strict=True)(nested) == DEEP * (DEEP - 1) // 2


@dataclasses.dataclass
class Nested:
    values: "list[int]"
    inside: "list[Nested]"


def sum_of(nested):
    return sum(nested.values) + sum(sum_of(one) for one in nested.inside)


def length_of(chain):
    n = 0
    while chain is not None:
        chain = chain.next
        n += 1
    return n


def one_more(chain):
    return None if chain is None else Chain(chain.value + 1, one_more(chain.next))


@dataclasses.dataclass
class Bag:
    items: "list[int]"
    next: "Bag | None" = None


def items_of(bag):
    return [] if bag is None else bag.items + items_of(bag.next)


def first_items(bag):
    return bag.items


def test_empty_lists():
    graph = hia.function(items_of, strict=True)
    assert graph(Bag([], Bag([1, 2], Bag([])))) == [1, 2]
    assert graph._plain == 0, graph.report()
    assert graph(Bag([])) == []  # nobody knows whether it is the one that came in
    assert graph._plain == 1, graph.report()
    graph = hia.function(first_items, strict=True)
    for bag in (Bag([1]), Bag([]), Bag([2, 3])):
        assert graph(bag) is bag.items


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


@dataclasses.dataclass
class Holder:
    number: int
    held: object = None
    last: int = 0


@pytest.mark.parametrize("helds", [[None, (1, (2, 3)), (0, (-5, 2 ** 40))], [None, [1, 2, 3], []]], ids=["tuples", "lists"])
def test_fields_of_several_types_with_parts(helds):
    """What stands behind a field whose value has parts is not its."""
    @hia.function(strict=True)
    def tuples(h):
        if h.held is None:
            return -h.number, h.last
        a, (b, c) = h.held
        return a + b + c + h.number, h.last

    @hia.function(strict=True)
    def lists(h):
        return -h.number if h.held is None else sum(h.held) + h.number, h.last

    read = tuples if isinstance(helds[1], tuple) else lists
    for held in helds * 3:
        holder = Holder(2, held, 11)
        assert read(holder) == read.__wrapped__(holder), held
    assert "0 calls in plain Python" in read.report(), read.report()


@pytest.mark.parametrize("n", [0, 1, -1, 2 ** 30 - 1, 2 ** 30, -2 ** 30, -(2 ** 30) + 1, 2 ** 62, 2 ** 63 - 1, -2 ** 63])
def test_integers_of_every_size(n):
    @hia.function(strict=True)
    def itself(t):
        return t.label

    assert itself(Tree(n)) == n and itself(Tree(True + n - 1 if n else 0)) == n


@dataclasses.dataclass
class Part:
    number: int
    weight: "float | None"
    name: str
    pair: "tuple[int, bool]"
    inside: "list[Part]"
    sizes: "list[int]"
    next: "Part | None" = None
    unread: object = None


def random_part(rng, depth, made, may_share):
    """A part with others below it, some of which stand in several places where `may_share`."""
    def another():
        if may_share and made and rng.random() < 0.3:
            return rng.choice(made)
        return random_part(rng, depth - 1, made, may_share)

    count = rng.randrange(4) if depth > 0 else 0
    part = Part(rng.randrange(-2 ** 40, 2 ** 40), rng.choice([None, rng.random()]), rng.choice(["left", "right", f"n{rng.random()}"]),
                (rng.randrange(9), rng.random() < 0.5), [another() for _ in range(count)],
                [rng.randrange(500) for _ in range(rng.randrange(3))],
                another() if depth > 0 and rng.random() < 0.6 else None)
    part.unread = part
    made.append(part)
    return part


def weight_of(part):
    """Reads every field, in an order that tells them apart."""
    found = part.number * 3 + part.pair[0] + len(part.inside) + (7 if part.pair[1] else 0) + (5 if part.name == "left" else 0)
    total = 0.5 * float(found) + (part.weight if part.weight is not None else 0.25)
    for size in part.sizes:
        total = total * 0.5 + size
    for one in part.inside:
        total = total * 0.5 + weight_of(one)
    return total if part.next is None else total - 0.125 * weight_of(part.next)


def last_of(part):
    """The last part of a chain, its name, and what stands first inside of it."""
    if part.next is not None:
        return last_of(part.next)
    return part, part.name, part.inside[0] if len(part.inside) > 0 else part


@pytest.mark.parametrize("may_share", [False, True])
def test_random_objects(may_share):
    weight, last = hia.function(weight_of), hia.function(last_of)
    rng = random.Random(7 + may_share)
    for number in range(150):
        part = random_part(rng, 4, [], may_share)
        if number % 10 == 3:
            part.inside.append(part.inside[0] if part.inside else random_part(rng, 1, [], False))
        if number % 25 == 4:
            part.sizes.append(2 ** 64)  # plain Python runs the call
        assert weight(part) == weight_of(part)
        expected, made = last_of(part), last(part)
        assert all(a is b for a, b in zip(made, expected)), (made, expected)
    for graph in (weight, last):
        assert "in plain Python:" not in graph.report() and graph._plain < 20, graph.report()
