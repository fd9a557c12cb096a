"""Dicts of the caller whose keys the run tells: the graph gets a list of their keys and items, and makes one of its own of it."""

from hiaton import _core


class CoreOfPairs:
    """The core of a graph of which the arguments with some numbers are such dicts."""

    def __init__(self, core, places):
        self._core = core
        self._places = places

    def __getattr__(self, name):
        return getattr(self._core, name)

    def _given(self, values):
        given = list(values)
        for place in self._places:
            if type(given[place]) is not dict:
                raise _core.Miss("expected a dict", given[place], True)
            given[place] = list(given[place].items())
        return tuple(given)

    def call(self, values):
        return self._core.call(self._given(values))

    def call_on_tape(self, values):
        return self._core.call_on_tape(self._given(values))

    def regions(self, values):
        return self._core.regions(self._given(values))

    def takes(self, values):
        return all(type(values[place]) is dict for place in self._places) and self._core.takes(self._given(values))
