"""The built-in functions that calls are converted of, by what they do with their arguments."""

import builtins
import collections
import functools

from hiaton.function import mathematics


class _Functions:
    """By identity: some values have no hash. Built-in functions stay for as long as the process, and so do their identities."""

    def __init__(self, functions):
        self.functions = functions
        self._identities = frozenset(map(id, functions))

    def __contains__(self, target):
        return id(target) in self._identities


@functools.cache
def builtin_functions():
    """Those that look at their arguments, and keep none of them."""
    return _Functions([builtins.len, builtins.isinstance, builtins.abs, builtins.min, builtins.max, builtins.int,
                       builtins.float, builtins.bool, builtins.round, builtins.hasattr, builtins.getattr, builtins.type,
                       *mathematics.FUNCTIONS])


@functools.cache
def lazy():
    """What makes the elements that it gives when somebody asks for them."""
    return _Functions([builtins.range, builtins.enumerate, builtins.zip, builtins.map, builtins.filter])


@functools.cache
def iterating():
    """Built-in functions that go over their argument: they see its syntax tree, since it may be a generator."""
    return _Functions([builtins.sum, builtins.any, builtins.all, builtins.list, builtins.tuple, builtins.reversed,
                       builtins.min, builtins.max, builtins.sorted, builtins.dict, builtins.set, collections.Counter])
