"""Tensors between packages, and what stays behind of very many calls and conversions: nothing."""

import dataclasses
import gc
import os
import pathlib
import weakref

import numpy as np
import pytest

import hiaton as hia

CONVERSIONS = int(os.environ.get("HIATON_CONVERSIONS", 400))


def resident():
    """The memory that the process holds, in bytes."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def growth(act, rounds):
    """By how many bytes a round makes the process larger, once it is warm."""
    for _ in range(rounds // 4):
        act()
    gc.collect()
    before = resident()
    for _ in range(rounds):
        act()
    gc.collect()
    return (resident() - before) / rounds


def test_torch_shares_memory_both_ways():
    torch = pytest.importorskip("torch")
    theirs = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    ours = hia.from_dlpack(theirs)
    assert ours.tolist() == theirs.tolist() and ours.numpy().ctypes.data == theirs.data_ptr()
    assert (ours @ theirs.T).tolist() == (theirs @ theirs.T).tolist()
    back = torch.from_dlpack(ours)
    assert back.data_ptr() == theirs.data_ptr()
    gone = weakref.ref(theirs)
    del theirs, back
    gc.collect()
    assert gone() is None or ours.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert (ours + 1).tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_jax_shares_memory():
    jax = pytest.importorskip("jax")
    theirs = jax.numpy.arange(6, dtype="float32")
    assert hia.from_dlpack(theirs).tolist() == theirs.tolist()
    assert jax.dlpack.from_dlpack(hia.tensor([1.0, 2.0])).tolist() == [1.0, 2.0]


@dataclasses.dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None


def tree(depth):
    return Tree(depth) if depth == 0 else Tree(depth, tree(depth - 1), tree(depth - 1))


def test_ten_thousand_conversions_of_objects_leak_nothing():
    @hia.function(strict=True)
    def mirrored(t):
        return t if t.left is None else Tree(t.value + 1, mirrored(t.right), mirrored(t.left))

    given = tree(5)
    assert mirrored(given).right.value == 5
    gone = []

    def act():
        made = mirrored(given)
        gone.append(weakref.ref(made))
        if len(gone) > 100:
            assert gone.pop(0)() is None

    assert growth(act, 10_000) < 100  # a node has 63 objects, which are some 5,000 bytes


def test_tensors_that_are_exchanged_leak_nothing():
    array = np.ones((100, 100), np.float32)

    def act():
        shared = hia.from_numpy(array)
        np.from_dlpack(hia.from_dlpack(np.from_dlpack(shared * 2)))[0, 0]

    assert growth(act, 10_000) < 100  # a tensor is 40,000 bytes


def test_graphs_that_nobody_has_any_more_leak_nothing():
    def act():
        @hia.function(strict=True)
        def count(n):
            return 0 if n == 0 else 1 + count(n - 1)

        assert count(3) == 3

    assert growth(act, CONVERSIONS) < 4000  # a graph with its program is some 100,000 bytes


def test_conversions_of_one_function_leak_nothing():
    """Whatever a conversion leaves is left by a graph that takes the place of another one, too."""
    scale = 0
    graph = None

    def act():
        nonlocal scale, graph
        scale += 1
        if scale % 10 == 1:
            graph = hia.function(lambda n, k: sum([n + scale for _ in range(k)]), profile=1)
            assert graph(1, 2) == 2 + 2 * scale
        assert graph(1, 3) == 3 + 3 * scale

    assert growth(act, CONVERSIONS) < 4000
    assert graph._conversions > 0


def test_what_graphs_take_and_give_lives_as_long_as_somebody_has_it():
    @hia.function(strict=True)
    def doubled(t, x, log):
        log.append(t)
        t.value = t.value * 2
        return Tree(t.value, t, None), x * 2.0, [x, t]

    for _ in range(3):
        given, x, log = Tree(3), hia.ones(3), []
        watched = [weakref.ref(given)]
        made, y, both = doubled(given, x, log)
        watched.append(weakref.ref(made))
        assert made.left is given and both[1] is given and log == [given] and both[0].tolist() == [1.0] * 3
        del given, log, both
        gc.collect()
        assert watched[0]() is made.left and made.left.value == 6
        del made
        gc.collect()
        assert [one() for one in watched] == [None, None] and y.tolist() == [2.0] * 3


def test_arrays_that_are_shared_cannot_be_written():
    ours = hia.function(lambda x: x + 1.0)(hia.ones(3))
    for theirs in (np.asarray(ours), np.from_dlpack(ours), ours.numpy()):
        with pytest.raises(ValueError, match="read-only"):
            theirs[0] = 5.0
    assert ours.tolist() == [2.0] * 3
