"""Tensors in pieces."""

import itertools

from hiaton import tensors
from hiaton._core import Tensor, ops

__all__ = ["split"]


def lengths_of(lengths, size):
    """The lengths of the pieces of an axis of so many elements."""
    if isinstance(lengths, int):
        if lengths < 1:
            raise ValueError(f"split(): expected pieces of 1 or more elements, found {lengths}")
        return [min(lengths, size - start) for start in range(0, size, lengths)]
    if min(lengths, default=0) < 0 or sum(lengths) != size:
        raise ValueError(f"split(): expected lengths that add up to the {size} elements of the axis, found {list(lengths)}")
    return list(lengths)


def split(x, lengths, axis=0) -> "tuple[Tensor, ...]":
    """The pieces of these lengths along an axis, as a tuple. One length: all pieces have it, but for the last one, which has what
    is left."""
    x = tensors.asarray(x)
    if not -len(x.shape) <= axis < len(x.shape):
        raise ValueError(f"split(): expected an axis of a tensor of {len(x.shape)} dimensions, found {axis}")
    lengths = lengths_of(lengths, x.shape[axis])
    return tuple(ops.slice(x, axis, start, length) for start, length in zip(itertools.accumulate(lengths, initial=0), lengths))
