"""Random numbers from keys: the same key gives the same numbers, at once and in graphs, on every machine.

    key = hia.random.key(0)
    key, own = hia.random.split(key)
    hia.random.normal(own, (2, 3))

A key is used once: draw from keys that `split` or `fold_in` made of it.
"""

from hiaton import tensors
from hiaton._core import ops

__all__ = ["bernoulli", "categorical", "fold_in", "key", "normal", "split", "uniform"]


def key(seed):
    """The key of a seed, an integer."""
    try:
        return ops.fold_in(seed, -2)
    except OverflowError:
        raise OverflowError(f"key(): expected a seed of 64 bits, at most {2**63 - 1}, found {seed}") from None
    except (TypeError, ValueError):
        raise TypeError(f"key(): expected an integer as seed, found {seed!r}") from None


def split(key, num=2):
    """So many keys made of one: a tensor of them, to be taken apart."""
    return ops.fold_in(key, tensors.arange(num))


def fold_in(key, number):
    """A key made of a key and an integer, as the number of a step."""
    return ops.fold_in(ops.fold_in(key, -1), number)


def uniform(key, shape=(), low=0.0, high=1.0):
    """Numbers of f32, evenly distributed from `low` to below `high`."""
    if isinstance(shape, tuple) and len(shape) == 0:
        return low + (high - low) * ops.uniform(key, 1)[0]
    return low + (high - low) * ops.uniform(key, shape)


def normal(key, shape=()):
    """Numbers of f32, normally distributed with mean 0 and variance 1."""
    if isinstance(shape, tuple) and len(shape) == 0:
        return ops.normal(key, 1)[0]
    return ops.normal(key, shape)


def bernoulli(key, p=0.5, shape=()):
    """Truth values that hold with probability p."""
    return uniform(key, shape) < p


def categorical(key, logits):
    """The numbers of classes drawn by their logits, which stand along the last axis: with the probabilities that softmax gives."""
    return ops.categorical(logits, key)
