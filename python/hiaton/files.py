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


def names_in(path):
    """The names of the tensors of a safetensors file, which begins with the length of a description in JSON."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return [name for name in json.loads(file.read(length)) if name != "__metadata__"]
