"""Several processes that train one model, each on its part of every batch: `mpirun -n 4 python train.py`.

    step = hia.distributed.value_and_grad(model, loss)
    for examples in batches:
        mean, gradients = step(model, examples)
        optimizer.update(gradients)

Each process runs the same program on the same batches. It computes its part of each of them, and gets the gradients of all. Where no
launcher of MPI has started the program, one process does it all, and the numbers are the same.
"""

import atexit
import sys
import zlib

import numpy

from hiaton import _core, nn, tensors
from hiaton.function.gradients import Gradients

__all__ = ["rank", "size", "value_and_grad"]

_world = None


def _joined():
    """The processes; the first call joins them."""
    global _world
    if _world is None:
        _world = _core.World(" ".join(sys.argv))
        atexit.register(_leave)
    return _world


def _leave():
    if hasattr(sys, "last_value"):  # the interpreter ends with an exception: the others must not wait for this process
        _world.abandon()
    else:
        _world.end()


def rank():
    """The number of this process, from 0."""
    return _joined().rank


def size():
    """How many processes there are."""
    return _joined().size


class _SharedGradients(Gradients):
    """The sum of the gradients of all parts, in the order of the parameters."""

    def __init__(self, module, core):
        super().__init__(module, {id(p): number for number, p in enumerate(module.parameters().values())}, core)


class _Step:
    def __init__(self, module, function, parts, workers):
        self._module = module
        self._parts = parts
        self._part_step = nn.value_and_grad(module, function, workers=workers)
        self._checked = False

    def __call__(self, module, *batch):
        world = _joined()
        count = _examples_in(batch)
        if not self._checked:
            self._check(world)
        parts = min(world.size if self._parts is None else self._parts, count)
        if parts < world.size:
            raise ValueError(f"expected at least {world.size} parts of a batch, one for each process, found {parts}")
        begins = _core.cut_into_parts(count, parts)
        parameters = list(self._module.parameters().values())
        means, sums = [], []
        for part in range(*world.parts(parts)):
            begin, end = begins[part], begins[part + 1]
            mean, gradients = self._part_step(module, *(_part(argument, begin, end) for argument in batch))
            weight = (end - begin) / count
            means.append(weight * float(mean))
            sums.append(_core.weighted_gradients(gradients._core, gradients.numbers_of(parameters), parameters, weight))
        core, means = world.add_up(parts, sums, means)
        return tensors.tensor(sum(means), mean.dtype), _SharedGradients(self._module, core)

    def _check(self, world):
        """That the models are the same, without which they learn different things."""
        bytes_ = [numpy.asarray(p).tobytes() for p in self._module.parameters().values()]
        found = world.gather([float(zlib.crc32(b"".join(bytes_)))])
        for other, number in enumerate(found):
            if number != found[0]:
                raise ValueError(f"expected the same parameters in all processes, found others in process {other} than in process 0")
        self._checked = True


def _part(argument, begin, end):
    part = argument[begin:end]
    return tensors.asarray(part) if isinstance(part, numpy.ndarray) else part


def _examples_in(batch):
    if not batch:
        raise TypeError("expected a list or a tensor of examples behind the module")
    counts = {len(argument) for argument in batch}
    if len(counts) > 1 or 0 in counts:
        raise ValueError(f"expected lists or tensors of one number of examples, found {', '.join(map(str, sorted(counts)))}")
    return counts.pop()


def value_and_grad(module, function, parts=None, workers=1):
    """As `nn.value_and_grad`, by all processes together: step(module, *batch). `function` gives a mean over the examples of a batch;
    the lists, tensors and arrays behind the module are cut along their first axis.

    A batch is cut into `parts`, one for each process where that is None. The same number of parts gives the same bits with any
    number of processes. `workers` threads share the run of a part.
    """
    return _Step(module, function, parts, workers)
