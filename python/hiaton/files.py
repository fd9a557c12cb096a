"""Files of parameters and programs: what they hold, and that they are not there."""

import contextlib
import errno
import json
import os
import struct

from hiaton._core import ProgramError


class MissingFileError(ProgramError, FileNotFoundError):
    """A file or a directory that is not there, as an error of the engine and as one of Python."""


MissingFileError.__module__ = "hiaton"


@contextlib.contextmanager
def told_if_missing():
    """An error of the engine about what is not there becomes a MissingFileError."""
    try:
        yield
    except ProgramError as error:
        if not str(error).endswith(os.strerror(errno.ENOENT)):
            raise
        raise MissingFileError(str(error)) from None


def refuse_unknown(path, known, what, advice):
    """An error where a safetensors file has tensors that are not known. The state of an optimizer in there, as `hiaton train` writes it, is
    left alone. What is no such file has no names here: the engine, which reads it, says what is wrong."""
    try:
        names = _names_in(path)
    except (OSError, struct.error, ValueError):
        return
    unknown = [name for name in sorted(names) if name not in known and not name.startswith("optimizer.")]
    if unknown:
        raise ProgramError(f"{os.fspath(path)}: expected the parameters of '{what}', found also {', '.join(map(repr, unknown))}; {advice}")


def _names_in(path):
    """The names of the tensors of a safetensors file, which begins with the length of a description in JSON."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        if length > os.path.getsize(path):
            raise ValueError("no safetensors file")
        return [name for name in json.loads(file.read(length)) if name != "__metadata__"]
