"""Rows of parameters that are read while a tape runs.

The gradient of one row is a whole table on the tape of the engine, which a large table has no time for. So a tape of Python watches the
row in place of the table, and puts the gradients of all rows together in the end.
"""

import numpy

from hiaton import _core, tensors
from hiaton.programs import RowGrad

part_of = _core.Parameter.__getitem__


def _is_of_rows(key):
    """Whether the key is the number of a row, or an array of such numbers."""
    if isinstance(key, (_core.Tensor, numpy.ndarray, numpy.generic)):
        return numpy.asarray(key).dtype.kind in "iu"
    return isinstance(key, int) and not isinstance(key, bool)


class RowReads:
    """What one tape has read, and the gradients of it."""

    def __init__(self):
        self._reads = []  # the parameter, the numbers of rows, and the rows

    def read(self, parameter, key):
        """parameter[key], as a tensor that the tape is to watch; None where that is of no rows."""
        if not _is_of_rows(key):
            return None
        rows = part_of(parameter, key)
        self._reads.append((parameter, numpy.asarray(key, numpy.int64) % parameter.shape[0], rows))
        return rows

    def rows(self):
        """The tensors that were read."""
        return [rows for _, _, rows in self._reads]

    def clear(self):
        self._reads = []

    def gradient(self, parameter, whole, gradients):
        """The gradient by the parameter: `whole`, that of what was done with all of it, and those by rows(); None counts as zero."""
        found = [(numbers.reshape(-1), numpy.asarray(gradient)) for (one, numbers, _), gradient in zip(self._reads, gradients)
                 if one is parameter and gradient is not None]
        if not found:
            return whole
        found.reverse()  # as the tape of the engine adds
        numbers = numpy.concatenate([numbers for numbers, _ in found])
        values = numpy.concatenate([gradient.reshape(-1, *parameter.shape[1:]) for _, gradient in found])
        if whole is not None:
            sums = numpy.array(whole)
            numpy.add.at(sums, numbers, values)
            return tensors.from_numpy(sums)
        rows, places = numpy.unique(numbers, return_inverse=True)
        sums = numpy.zeros((len(rows), *values.shape[1:]), values.dtype)
        numpy.add.at(sums, places.reshape(-1), values)
        return RowGrad(tensors.from_numpy(rows), tensors.from_numpy(sums), parameter.shape[0])
