"""Why a conversion ended: what every path of the function comes to, and the calls that led there."""

import os
import pathlib
import typing

from hiaton.function import heaps, prelude
from hiaton.function.types import Const

_PACKAGE = str(pathlib.Path(__file__).parent.parent) + os.sep


def is_of_package(file):
    """Whether the text is one of Hiaton itself: messages name the place of the user that led there."""
    return file.startswith(_PACKAGE)


def may_change_lists(file):
    """Whether functions in the text may be lent lists: those of the user, and of the library that work on heaps."""
    return not is_of_package(file) or heaps.is_text_of(file)


class Ending(typing.NamedTuple):
    """Why a path gives no value: a message with its place, or a call of a function of the graph that never gives one."""

    key: tuple          # of the function of the graph that the path is in
    message: str = ""
    callee: "tuple | None" = None
    is_raised: bool = False  # whether the function itself asks for the error, by `raise` or `assert`


class Call(typing.NamedTuple):
    """The first call of a function of the graph."""

    caller: "tuple | None"
    name: "str | None"  # for messages; None: a loop, or what else people do not see as a call
    place: str
    user_place: str


class Reasons:
    """The part of a converter that concerns messages."""

    def shown_name(self, function, types):
        """What messages call a function of Python, and the module that it is a method of; None where they leave it out."""
        if prelude.is_text_of(function.__code__.co_filename):
            return None
        name = function.__qualname__.rpartition("<locals>.")[2]
        holder = types[0].value if types and isinstance(types[0], Const) else None
        held = getattr(holder, "__dict__", {}) if getattr(type(holder), "__hiaton_constant__", False) else {}
        paths = {self.names[id(one)].rpartition(".")[0] for one in held.values() if id(one) in self.names}
        return f"{name} of '{paths.pop()}'" if len(paths) == 1 and "" not in paths else name

    def with_calls(self, message, key):
        """The message, and the calls that led to a function of the graph, the innermost first."""
        lines = [message]
        while key in self.called_from:
            call = self.called_from[key]
            if call.name is not None and call.caller is not None:
                lines.append(f"  in {call.name} called at {call.place}")
            key = call.caller
        return "\n".join(lines)

    def why_never(self, key):
        """What every path through a function of the graph comes to, with the calls that led there; None where all of them call
        functions that never end. What is no `raise` of the function comes first."""
        found = list(self._endings_of(key, set()))
        found.sort(key=lambda ending: ending.is_raised)
        return found[0] if found else None

    def _endings_of(self, key, seen):
        seen.add(key)
        for ending in self.endings.get(key, ()):
            if ending.callee is None:
                yield ending
            elif ending.callee not in seen:
                yield from self._endings_of(ending.callee, seen)
