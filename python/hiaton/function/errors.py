"""What ends a conversion, or a part of one."""

import contextlib
import pathlib
import traceback

_PACKAGE = pathlib.Path(__file__).parents[1]


class ConversionError(TypeError):
    """A function cannot become a graph; the message says where, why, and what to do."""


class Unreached(Exception):
    """This path gives no value: a call in it never returns, or its result is not known yet. `endings` say why."""

    def __init__(self, endings=()):
        super().__init__()
        self.endings = endings


class Incomplete(Exception):
    """A body was built with types that did not hold."""


def of_defect(error):
    """What an error of the conversion itself becomes: no function of the user is to fail by it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    path = pathlib.Path(place.filename).relative_to(_PACKAGE.parent)
    return ConversionError(f"its conversion failed by a defect of hiaton, {type(error).__name__} at {path}:{place.lineno}: {error}; "
                           "report it, with the function")


@contextlib.contextmanager
def told_defects():
    """What is converted inside: errors of this package become refusals, and those of functions of the user stay what they are."""
    try:
        yield
    except (ConversionError, RecursionError, MemoryError):
        raise
    except Exception as error:
        if _PACKAGE not in pathlib.Path(traceback.extract_tb(error.__traceback__)[-1].filename).parents:
            raise
        raise of_defect(error) from error
