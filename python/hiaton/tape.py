"""Gradients of what eager operations did, as by tf.GradientTape."""

import contextlib
import threading

from hiaton import _core, tensors
from hiaton.row_reads import RowReads, part_of

__all__ = ["GradientTape", "no_grad", "stop_gradient"]


def _flat(structure, found):
    """The tensors of nested lists, tuples, dicts and modules go into `found`; gives a function that puts others in their
    places."""
    if isinstance(structure, _core.Tensor):
        place = len(found)
        found.append(structure)
        return lambda made: made[place]
    if hasattr(structure, "parameters") and callable(structure.parameters):
        structure = structure.parameters()
    if isinstance(structure, dict):
        parts = {key: _flat(part, found) for key, part in structure.items()}
        return lambda made: {key: part(made) for key, part in parts.items()}
    if isinstance(structure, (list, tuple)):
        parts = [_flat(part, found) for part in structure]
        make = getattr(type(structure), "_make", type(structure))
        return lambda made: make([part(made) for part in parts])
    raise TypeError(f"expected tensors, or lists, tuples, dicts or modules of them, found {type(structure).__name__}")


def _tensors_in(structure):
    found = []
    _flat(structure, found)
    return found


class _Running(threading.local):
    """The tapes of a thread that run."""

    def __init__(self):
        self.tapes = []


_running = _Running()


def _read(parameter, key):
    """parameter[key]. One tape alone, which is asked once, takes rows apart from the table; of several the outer ones are to see what the
    inner ones do."""
    if _core.tapes_run() and len(_running.tapes) == 1:
        rows = _running.tapes[0]._rows_of(parameter, key)
        if rows is not None:
            return rows
    return part_of(parameter, key)


_core.Parameter.__getitem__ = _read


class GradientTape:
    """Keeps what operations do with watched tensors while it runs, as `with hia.GradientTape() as tape:`.

    Parameters of modules are watched unless `watch_accessed_variables` is False. A tape gives gradients once, a
    `persistent` one as often as asked. The gradients of a tape that runs inside another one are seen by the outer
    one.
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._tape = _core.Tape(watch_accessed_variables)
        self._persistent = persistent
        self._used = False
        self._runs = False
        self._reads = RowReads()
        self._watches_parameters = watch_accessed_variables
        self._watched = set()  # by identity: parameters that it was told to watch

    def __enter__(self):
        _core.start_tape(self._tape)
        _running.tapes.append(self)
        self._runs = True
        return self

    def __exit__(self, *error):
        self._stop()

    def _stop(self):
        if self._runs:
            _core.stop_tape(self._tape)
            if self in _running.tapes:  # of this thread
                _running.tapes.remove(self)
            self._runs = False

    def watch(self, tensor):
        """Takes gradients by the tensor, or by all tensors of a list, tuple, dict or module, into account."""
        for one in _tensors_in(tensor):
            self._tape.watch(one)
            self._watched.add(id(one))

    def _rows_of(self, parameter, key):
        """parameter[key], which the tape watches in place of the parameter; None where it does not."""
        if self._persistent or not self._watches_parameters and id(parameter) not in self._watched:
            return None
        with no_grad():
            rows = self._reads.read(parameter, key)
        if rows is not None:
            self._tape.watch(rows)
        return rows

    def gradient(self, target, sources, output_gradients=None):
        """The gradient of the target, or of the sum of several, by each of the sources, in the structure that these have.

        None where no way leads from a source to the target. A target with several elements counts as their sum;
        `output_gradients` says how much each of its elements counts. The gradient by a parameter of which only rows were read, by
        their numbers, is a RowGrad; not of a persistent tape, nor inside of another tape.
        """
        if self._used:
            raise RuntimeError("expected a tape that was not asked before; GradientTape(persistent=True) gives gradients again")
        if not self._persistent:
            self._stop()
        targets, found = _tensors_in(target), []
        put = _flat(sources, found)
        for one in [*targets, *found]:
            if one.dtype not in (_core.f32, _core.f64):
                raise TypeError(f"expected tensors of floats, found one of {one.dtype}")
        if output_gradients is None:
            weights = [tensors.ones(one.shape, one.dtype) for one in targets]
        else:
            weights = [_weight(given, one) for given, one in zip(_tensors_in(output_gradients), targets, strict=True)]
        made = self._tape.gradient(targets, [*found, *self._reads.rows()], weights)
        made = [self._reads.gradient(one, whole, made[len(found):]) for one, whole in zip(found, made)]
        if not self._persistent:
            self._forget()
            self._used = True
        return put(made)

    @contextlib.contextmanager
    def stop_recording(self):
        """What operations do inside is not kept."""
        if not self._runs:
            raise RuntimeError("expected a tape that runs")
        self._stop()
        try:
            yield
        finally:
            self.__enter__()

    def reset(self):
        """Forgets all that it kept, and what it watched."""
        self._forget()
        self._used = False

    def _forget(self):
        self._tape.clear()
        self._reads.clear()
        self._watched.clear()


def _weight(given, target):
    if given.shape != target.shape:
        raise ValueError(f"output_gradients: expected the shape {target.shape} of the target, found {given.shape}")
    return given if given.dtype == target.dtype else given.astype(target.dtype)


@contextlib.contextmanager
def no_grad():
    """No tape sees what operations do inside; around a function, `@hia.no_grad()`."""
    _core.pause_tapes(1)
    try:
        yield
    finally:
        _core.pause_tapes(-1)


def stop_gradient(x):
    """The tensor, or number, which gradients take as a constant from here on."""
    return _core.shared(x.numpy()) if isinstance(x, _core.Tensor) else x
