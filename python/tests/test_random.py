"""hia.random: the same numbers for the same key, at once and in graphs."""

import numpy as np
import pytest

import hiaton as hia


def drawn(key):
    a, b = hia.random.split(key)
    return hia.random.uniform(a, (3, 2), -1.0, 2.0), hia.random.normal(b, 4), hia.random.uniform(hia.random.fold_in(key, 3))


def kinds(key, logits):
    return hia.random.bernoulli(key, 0.3, (5,)), hia.random.categorical(key, logits), hia.random.normal(key), \
        hia.random.bernoulli(key)


@pytest.mark.parametrize("seed", [0, 1, -7, 2**40])
def test_graphs_draw_the_same(seed):
    key, logits = hia.random.key(seed), hia.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    for function, args in ((drawn, (key,)), (kinds, (key, logits))):
        graph = hia.function(function, strict=True)
        for found, expected in zip(graph(*args), function(*args)):
            assert found.dtype == expected.dtype and np.array_equal(found.numpy(), expected.numpy())
        assert sum(g.hits for g in graph._graphs) == 1
    again = hia.function(lambda seed: hia.random.normal(hia.random.key(seed), (2,)), strict=True)
    assert again(seed).tolist() == hia.random.normal(key, (2,)).tolist()


def test_steps_have_keys_of_their_own():
    @hia.function(strict=True)
    def walk(key, steps):
        place = 0.0
        for step in range(steps):
            place = place + hia.random.normal(hia.random.fold_in(key, step))
        return place

    key = hia.random.key(5)
    expected = 0.0
    for step in range(20):
        expected = expected + hia.random.normal(hia.random.fold_in(key, step))
    assert walk(key, 20).item() == expected.item()


def test_keys_differ():
    keys = [hia.random.key(seed).item() for seed in range(100)]
    parent = hia.random.key(0)
    keys += hia.random.split(parent, 100).tolist() + [hia.random.fold_in(parent, n).item() for n in range(100)]
    assert len(set(keys)) == 300
    children = hia.random.split(parent, 3)
    assert children.dtype == hia.i64 and children.shape == (3,)


def test_the_distributions_are_what_they_say():
    keys = hia.random.split(hia.random.key(3), 4)
    u = hia.random.uniform(keys[0], (20000,), 2.0, 4.0).numpy()
    assert 2 <= u.min() and u.max() < 4 and abs(u.mean() - 3) < 0.02
    n = hia.random.normal(keys[1], (20000,)).numpy()
    assert abs(n.mean()) < 0.03 and abs(n.std() - 1) < 0.02
    assert abs(hia.random.bernoulli(keys[2], 0.25, (20000,)).numpy().mean() - 0.25) < 0.015
    logits = np.log(np.array([0.5, 0.2, 0.3], np.float32))
    classes = hia.random.categorical(keys[3], hia.tensor(np.tile(logits, (20000, 1)))).numpy()
    assert np.abs(np.bincount(classes) / 20000 - [0.5, 0.2, 0.3]).max() < 0.015
