"""What functools.partial gives in a graph, and functions as values."""

import functools

from hiaton.function.types import Const, Func, Tup


class Partial(tuple):
    """What functools.partial gives in a graph: a function, arguments, and arguments by the `names` of its class."""

    _fields = ()


@functools.cache
def partial_with(names):
    """The class of what functools.partial gives with arguments by these names."""
    return type("Partial", (Partial,), {"names": names})


def is_partial(type_):
    return isinstance(type_, Tup) and issubclass(type_.cls, Partial)


def is_function(type_):
    """Whether a value of the type is only there to be called."""
    return isinstance(type_, Func) or is_partial(type_) or isinstance(type_, Const) and callable(type_.value)
