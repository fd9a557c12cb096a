"""Tensors between packages, and what stays behind of very many calls and conversions: nothing."""

import dataclasses
import gc
import pathlib
import weakref

import numpy as np
import pytest

import hiaton as hia


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

    assert growth(act, 400) < 4000  # a graph with its program is some 100,000 bytes
