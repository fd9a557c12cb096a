"""`hiaton.function`: functions of Python that run as one graph."""

import functools
import inspect
import threading
import types as python_types
import warnings

from hiaton import _core
from hiaton.function.convert import Converter
from hiaton.function.errors import ConversionError
from hiaton.function.guards import Guards
from hiaton.function.observe import Observer
from hiaton.function.plans import graph_function
from hiaton.function.types import Union, join

MOST_GRAPHS = 8
MOST_CONVERSIONS = 16
MOST_FAULTS = 3


class FallbackWarning(UserWarning):
    """A function runs in plain Python, since it cannot be converted."""


class Graph:
    """One graph of a function: for arguments of some types, and with what it takes as fixed."""

    def __init__(self, converter, core):
        self.types = converter.types
        self.result = converter.result
        self.source = converter.source
        self.core = core
        self.guards = Guards(converter.guards)
        self.parameters = converter.learned
        self.hits = self.misses = self.faults = 0
        self.faults_in_turn = 0

    def __str__(self):
        return f"({', '.join(map(str, self.types))}) -> {self.result}"


def converted(function, args, settings, fields, types=None, entry=None, by_arguments=False):
    """A graph of the function for arguments like these. Raises ConversionError where there can be none."""
    observer = Observer(fields)
    found = tuple(observer.type_of(value) for value in args)
    if types is not None:
        found = types(found)
    converter = Converter(function, found, fields, _parameter_names(args), entry, by_arguments).convert()
    return Graph(converter, graph_function(converter, settings))


def _parameter_names(args):
    """Names for the parameters of the modules among the arguments."""
    names = {}
    for value in args:
        if getattr(type(value), "__hiaton_constant__", False) and hasattr(value, "parameters"):
            for name, parameter in value.parameters().items():
                names.setdefault(id(parameter), name)
    return names


class GraphCallable:
    """A function of Python that runs as a graph where it can, and else as it stands."""

    def __init__(self, function, *, strict=False, workers=1, budget=5_000_000):
        functools.update_wrapper(self, function)
        self._signature = inspect.signature(function)
        self._count = len(self._signature.parameters)
        self._strict = strict
        self._settings = {"workers": workers, "max_frames": budget}
        self._graphs = []
        self._fields = {}
        self._tried = set()
        self._refused = None
        self._conversions = 0
        self._plain = 0
        self._state = threading.local()
        self._lock = threading.RLock()

    def __get__(self, instance, owner=None):
        return self if instance is None else python_types.MethodType(self, instance)

    def __call__(self, *args, **named):
        function = self.__wrapped__
        if self._refused is not None or getattr(self._state, "plain", False):
            return function(*args, **named)
        values = args
        if named or len(args) != self._count:
            values = self._bound(args, named)
            if values is None:
                return function(*args, **named)
        for graph in self._graphs:
            if not graph.guards.hold():
                continue
            try:
                made = graph.core.call(values)
            except _core.Miss:
                graph.misses += 1
                continue
            except _core.Error as error:
                return self._after_fault(graph, error, args, named)
            graph.hits += 1
            graph.faults_in_turn = 0
            return made
        graph = self._new_graph(values)
        if graph is None:
            return self._run_plain(args, named)
        try:
            made = graph.core.call(values)
        except _core.Miss:
            return self._run_plain(args, named)
        except _core.Error as error:
            return self._after_fault(graph, error, args, named)
        graph.hits += 1
        return made

    def _bound(self, args, named):
        """The arguments by parameter; None where they are not, or where it has `*`."""
        try:
            bound = self._signature.bind(*args, **named)
        except TypeError:
            return None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _run_plain(self, args, named):
        self._plain += 1
        before = getattr(self._state, "plain", False)
        self._state.plain = True
        try:
            return self.__wrapped__(*args, **named)
        finally:
            self._state.plain = before

    def _after_fault(self, graph, error, args, named):
        """Nothing has changed: Python runs the call, and raises what there is to raise."""
        graph.faults += 1
        made = self._run_plain(args, named)
        graph.faults_in_turn += 1
        if graph.faults_in_turn >= MOST_FAULTS and not self._strict:
            self._refuse(f"its graph fails where Python gives a result: {error}")
        return made

    def _new_graph(self, values):
        with self._lock:
            if self._conversions >= MOST_CONVERSIONS:
                self._refuse(f"it was converted {MOST_CONVERSIONS} times, for ever new types or objects")
                return None
            before = {}

            def generalized(found):
                for graph in self._graphs:
                    both = tuple(join(a, b) for a, b in zip(graph.types, found))
                    if not any(isinstance(t, Union) for t in both) and both != found and graph.guards.hold():
                        before["graph"] = graph
                        found = both
                key = (found, frozenset(self._fields.items()))
                if key in self._tried and any(g.types == found and g.guards.hold() for g in self._graphs):
                    raise _Known
                self._tried.add(key)
                return found
            try:
                graph = converted(self.__wrapped__, values, self._settings, self._fields, generalized)
            except _Known:
                return None
            except ConversionError as error:
                if self._strict:
                    raise
                self._refuse(str(error))
                return None
            self._conversions += 1
            graphs = [g for g in self._graphs if g is not before.get("graph")]
            self._graphs = [graph, *graphs][:MOST_GRAPHS]
            return graph

    def _refuse(self, why):
        self._refused = why
        if self._strict:
            raise ConversionError(why)
        warnings.warn(f"'{self.__wrapped__.__qualname__}' runs in plain Python: {why}", FallbackWarning, stacklevel=4)

    def report(self):
        """What became of it: its graphs, with the types of their arguments and results, and how often each ran."""
        lines = [f"{self.__wrapped__.__qualname__}: {len(self._graphs)} graphs, {self._conversions} conversions, "
                 f"{self._plain} calls in plain Python"]
        lines += [f"  {graph}: {graph.hits} calls, {graph.misses} misses, {graph.faults} faults, {len(graph.guards)} guards"
                  for graph in self._graphs]
        if self._refused is not None:
            lines.append(f"  in plain Python: {self._refused}")
        return "\n".join(lines)

    def text(self):
        """The graph of the last conversion as a program in .hia."""
        if not self._graphs:
            raise ValueError(f"'{self.__wrapped__.__qualname__}' has no graph yet: call it first")
        return self._graphs[0].source.text()

    def __repr__(self):
        return f"<hiaton function {self.__wrapped__.__qualname__}>"


class _Known(Exception):
    """There is a graph for these types already."""


def function(target=None, *, strict=False, workers=1, budget=5_000_000):
    """Makes a function of Python run as one graph.

    Objects, lists and tuples among the arguments become values of the graph at the call; recursion, branches and loops
    stay what they are. Where the function cannot be converted, or a call does something that the graph does not know,
    plain Python runs it: `strict` raises ConversionError in the first case. `workers` is the number of threads, and
    `budget` the number of calls that may be under way at once.
    """
    if target is None:
        return functools.partial(function, strict=strict, workers=workers, budget=budget)
    return GraphCallable(target, strict=strict, workers=workers, budget=budget)
