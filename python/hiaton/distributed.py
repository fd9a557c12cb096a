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

from hiaton import _core, nn, programs, tensors
from hiaton.function import ConversionError
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
        return
    try:
        _world.gather([])  # nothing of a process that still trains is that
    except _core.Error as error:
        print(f"error: this process ends while others still train: {error}", file=sys.stderr)
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


class _Shared:
    """The parts of batches that fall to this process. `parameters` gives those of the model, by name."""

    def __init__(self, parts, parameters):
        self._parts = parts
        self._parameters = parameters
        self._checked = False

    def add_up(self, batch, act):
        """What act(lists, number of examples, of all) gives for each part, a number and gradients, added up: the sum of the
        numbers, and the gradients."""
        world = _joined()
        count = _examples_in(batch)
        if not self._checked:
            self._check(world)
        parts = min(world.size if self._parts is None else self._parts, count)
        if parts < world.size:
            raise ValueError(f"expected at least {world.size} parts of a batch, one for each process, found {parts}")
        begins = _core.cut_into_parts(count, parts)
        numbers, sums = [], []
        for part in range(*world.parts(parts)):
            begin, end = begins[part], begins[part + 1]
            number, core = act([_part(argument, begin, end) for argument in batch], end - begin, count)
            numbers.append(number)
            sums.append(core)
        core, numbers = world.add_up(parts, sums, numbers)
        return sum(numbers), core

    def _check(self, world):
        """That the models are the same, without which they learn different things."""
        bytes_ = [numpy.asarray(p).tobytes() for p in self._parameters().values()]
        found = world.gather([float(zlib.crc32(b"".join(bytes_)))])
        for other, number in enumerate(found):
            if number != found[0]:
                raise ValueError(f"expected the same parameters in all processes, found others in process {other} than in process 0")
        self._checked = True


def _step_of_module(module, function, parts, workers):
    shared, part_step = _Shared(parts, module.parameters), nn.value_and_grad(module, function, workers=workers)

    def step(model, *batch):
        learned, dtype = list(module.parameters().values()), None

        def act(lists, size, count):
            nonlocal dtype
            mean, gradients = part_step(model, *lists)
            dtype = mean.dtype
            if gradients._core is None:
                raise ConversionError("distributed.value_and_grad: expected gradients of a graph, found those of a tape; "
                                      "hia.nn.value_and_grad(model, function, strict=True) says why")
            numbers = gradients.numbers_of(learned)
            return size / count * float(mean), _core.weighted_gradients(gradients._core, numbers, learned, size / count)
        mean, core = shared.add_up(batch, act)
        return tensors.tensor(mean, dtype), _SharedGradients(module, core)
    return step


def _step_of_program(program, parts):
    shared = _Shared(parts, lambda: program.parameters)

    def step(*lists):
        like = None

        def act(lists, size, count):
            nonlocal like
            mean, gradients = program.value_and_grad(*lists)
            like = gradients._core
            return size * mean, like.sums()
        total, core = shared.add_up(lists, act)
        count = len(lists[0])
        return total / count, programs.Gradients(list(program.parameters), like.with_sums(core, 1 / count))
    return step


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


def value_and_grad(module, function=None, parts=None, workers=1):
    """As `nn.value_and_grad`, by all processes together: step(module, *batch). `function` gives a mean over the examples of a batch;
    the lists, tensors and arrays behind the module are cut along their first axis. For a program with parameters, as its own
    `value_and_grad`: step(*lists), without a function.

    A batch is cut into `parts`, one for each process where that is None. The same number of parts gives the same bits with any
    number of processes. `workers` threads share the run of a part; those of a program are its own.
    """
    if isinstance(module, programs.Module):
        if function is not None:
            raise TypeError("expected no function beside a program, which has its own 'loss'")
        return _step_of_program(module, parts)
    return _step_of_module(module, function, parts, workers)
