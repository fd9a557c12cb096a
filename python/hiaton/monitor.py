"""What training shows while it runs: files for TensorBoard, and progress bars."""

import os

from hiaton import _core

__all__ = ["EventWriter", "progress"]


class EventWriter:
    """Writes numbers over the steps of a training run to a new file in a directory, which is made where there is none;
    TensorBoard shows the directory. `first_step` is the number of the first step that is written: what earlier files in the
    directory say of this step and later ones is not shown any more.

        with hia.EventWriter("runs/first") as events:
            events.add_scalar("loss", loss, step)
    """

    def __init__(self, directory, first_step=0):
        os.makedirs(directory, exist_ok=True)
        self._file = _core.EventFile(os.fspath(directory), first_step)

    def add_scalar(self, name, value, step):
        """A number of a step: a float, or a tensor of one element."""
        self._open().add_scalar(name, step, float(value))

    def add_scalars(self, values, step):
        """Several numbers of a step, by name."""
        for name, value in values.items():
            self.add_scalar(name, value, step)

    def flush(self):
        """Writes what was added and is not yet in the file."""
        self._open().flush()

    def close(self):
        """Writes the rest; nothing is added any more."""
        if self._file is not None:
            self._file.flush()
            self._file = None

    def _open(self):
        if self._file is None:
            raise ValueError("expected an EventWriter that is not closed")
        return self._file

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class progress:
    """Goes over `items` and shows a bar of how many are done, and `show` shows numbers beside it. The bar is that of tqdm,
    which `pip install hiaton[progress]` brings; without tqdm nothing is shown. `total` is how many items there are, where
    they do not tell; other named arguments are those of tqdm.

        bar = hia.progress(batches)
        for batch in bar:
            ...
            bar.show(loss=loss)
    """

    def __init__(self, items, *, total=None, **options):
        self._items = items
        bar = _class_of_bars()
        self._bar = None if bar is None else bar(items, total=total, **options)

    def __iter__(self):
        return iter(self._items if self._bar is None else self._bar)

    def __len__(self):
        return len(self._items if self._bar is None else self._bar)

    def show(self, **numbers):
        """Shows these numbers, floats or tensors of one element, beside the bar."""
        if self._bar is not None:
            self._bar.set_postfix({name: _number(value) for name, value in numbers.items()})


def _class_of_bars():
    """That of tqdm, which is not imported before there is a bar; None where there is no tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def _number(value):
    return value.item() if isinstance(value, _core.Tensor) else value
