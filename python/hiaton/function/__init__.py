"""`hiaton.function`: functions of Python that run as one graph."""

import functools
import inspect
import pathlib
import shutil
import threading
import types as python_types
import warnings

from hiaton import _core
from hiaton.function.convert import Converter
from hiaton.function.errors import ConversionError
from hiaton.function.guards import Guards
from hiaton.function.observe import Observer
from hiaton.function.places import States
from hiaton.function.plans import graph_function
from hiaton.function.types import Union, join

MOST_GRAPHS = 8
MOST_CONVERSIONS = 16
MOST_FAULTS = 3
# A graph that leaves something to Python is given up where more than one call in so many comes there.
CALLS_A_FAULT = 4
CALLS_TO_JUDGE = 12


class FallbackWarning(UserWarning):
    """A function runs in plain Python, since it cannot be converted."""


class Graph:
    """One graph of a function: for arguments of some types, and with what it takes as fixed."""

    def __init__(self, converter, core):
        self.types = converter.types
        self.left = converter.left
        self.sites = {number: message for message, number in converter.sites.items()}
        self.states = States(converter) if converter.places else None
        self.result = converter.result.items[0] if self.states else converter.result
        self.source = converter.source
        self.core = core
        self.guards = Guards(converter.guards)
        self.parameters = converter.learned
        self.hits = self.misses = self.faults = 0
        self.faults_in_turn = 0
        self.last_miss = None
        self.reasons = {}  # of faults, by kind and assumption: the last message, and how often

    def __str__(self):
        return f"({', '.join(map(str, self.types))}) -> {self.result}"

    def end(self, values, made, prints=None):
        """Sets what the run set, and prints what it printed; gives the result of the function."""
        prints = self.states.prints(made) if prints is None else prints
        made = self.states.write(values, made)
        for texts, how in prints:
            print(*texts, **how)
        return made

    def is_for(self, values):
        """Whether what the graph takes as fixed is as it was."""
        return self.guards.hold() and (self.states is None or self.states.has_attributes_of(values))

    def note_fault(self, error):
        """Gives why the call left the graph."""
        self.faults += 1
        kind = getattr(error, "fault", None), getattr(error, "assumption", 0)
        why = self.sites.get(kind[1]) or str(error).split("\n")[0]
        self.reasons[kind] = why, self.reasons.get(kind, ("", 0))[1] + 1
        return why


def converted(function, args, settings, fields, types=None, entry=None, **how):
    """A graph of the function for arguments like these. Raises ConversionError where there can be none."""
    observer = Observer(fields)
    found = tuple(observer.type_of(value) for value in args)
    if types is not None:
        found = types(found)
    converter = Converter(function, found, fields, _parameter_names(args), entry, args=args, **how).convert()
    return Graph(converter, graph_function(converter, settings))


class Picture:
    """The static graph that runs. Notebooks draw it; `str` of it is a list of its nodes."""

    def __init__(self, core):
        self._core = core

    def __str__(self):
        return self._core.listing()

    def svg(self):
        """Drawn by Graphviz; ProgramError where its program `dot` is not installed."""
        return self._core.svg()

    def dot(self):
        """For Graphviz."""
        return self._core.dot()

    def save(self, path):
        """Writes a file: .svg, .dot or .txt."""
        path = pathlib.Path(path)
        forms = {".svg": self.svg, ".dot": self.dot, ".txt": self._core.listing}
        if path.suffix not in forms:
            raise ValueError(f"expected a name that ends in {', '.join(forms)}, found '{path.name}'")
        path.write_text(forms[path.suffix]())

    def _repr_svg_(self):
        return self.svg() if shutil.which("dot") else None


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
        parameters = self._signature.parameters.values()
        takes_any = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
        self._count = -1 if takes_any else len(parameters)  # of arguments that need no binding
        self._strict = strict
        self._settings = {"workers": workers, "max_frames": budget}
        self._graphs = []
        self._fields = {}
        self._state_types = {}
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
        if self._refused is not None or getattr(self._state, "plain", False) or _core.tapes_run():
            return function(*args, **named)
        values = args
        if named or len(args) != self._count:
            values = self._bound(args, named)
            if values is None:
                return function(*args, **named)
        for graph in self._graphs:
            if not graph.guards.hold():
                continue
            given = values
            if graph.states is not None:
                given = graph.states.read(values)
                if given is None:
                    continue
            try:
                made = graph.core.call(given)
            except _core.Miss as miss:
                graph.misses += 1
                graph.last_miss = f"{miss.args[0]}, {type(miss.args[1]).__name__}"
                continue
            except _core.Error as error:
                return self._after_fault(graph, error, args, named)
            graph.hits += 1
            graph.faults_in_turn = 0
            return made if graph.states is None else self._end(graph, values, made, args, named)
        graph = self._new_graph(values)
        given = values if graph is None or graph.states is None else graph.states.read(values)
        if graph is None or given is None:
            return self._run_plain(args, named)
        try:
            made = graph.core.call(given)
        except _core.Miss:
            return self._run_plain(args, named)
        except _core.Error as error:
            return self._after_fault(graph, error, args, named)
        graph.hits += 1
        return made if graph.states is None else self._end(graph, values, made, args, named)

    def _end(self, graph, values, made, args, named):
        try:
            prints = graph.states.prints(made)
        except Exception:  # of the format of what is printed: nothing has been set or printed yet, and Python raises the same
            return self._run_plain(args, named)
        return graph.end(values, made, prints)

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
        why = graph.note_fault(error)
        made = self._run_plain(args, named)
        graph.faults_in_turn += 1
        calls = graph.hits + graph.faults
        if graph.left and (graph.faults_in_turn >= MOST_FAULTS
                           or calls >= CALLS_TO_JUDGE and graph.faults * CALLS_A_FAULT > calls):
            self._refuse(graph.left[0])
        elif graph.faults_in_turn >= MOST_FAULTS and not self._strict:
            self._refuse(f"its graph fails where Python gives a result: {why}")
        return made

    def _new_graph(self, values):
        with self._lock:
            if self._conversions >= MOST_CONVERSIONS:
                self._refuse(f"it was converted {MOST_CONVERSIONS} times, for ever new types or objects")
                return None
            before = {}
            for graph in self._graphs:
                if graph.states is not None:
                    graph.states.add_types(values, self._fields, self._state_types)

            def generalized(found):
                for graph in self._graphs:
                    both = tuple(join(a, b) for a, b in zip(graph.types, found))
                    if not any(isinstance(t, Union) for t in both) and both != found and graph.guards.hold():
                        before["graph"] = graph
                        found = both
                key = (found, frozenset(self._fields.items()), frozenset(self._state_types.items()))
                if key in self._tried and any(g.types == found and g.is_for(values) for g in self._graphs):
                    raise _Known
                self._tried.add(key)
                return found
            try:
                graph = converted(self.__wrapped__, values, self._settings, self._fields, generalized,
                                  may_leave=not self._strict, may_write=True,
                                  state_types=self._state_types)
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
        """What became of it: its graphs, with the types of their arguments and results, how often each ran, and why it did
        not."""
        lines = [f"{self.__wrapped__.__qualname__}: {len(self._graphs)} graphs, {self._conversions} conversions, "
                 f"{self._plain} calls in plain Python"]
        for graph in self._graphs:
            lines.append(f"  {graph}: {graph.hits} calls, {graph.misses} misses, {graph.faults} faults, "
                         f"{len(graph.guards)} guards")
            if graph.last_miss is not None:
                lines.append(f"    last miss: {graph.last_miss}")
            lines += [f"    {times} of the faults: {why}" for why, times in graph.reasons.values()]
            lines += [f"    calls that come here run in plain Python: {message}" for message in graph.left]
        if self._refused is not None:
            lines.append(f"  in plain Python: {self._refused}")
        return "\n".join(lines)

    def _latest(self):
        if not self._graphs:
            raise ValueError(f"'{self.__wrapped__.__qualname__}' has no graph yet: call it first")
        return self._graphs[0]

    def text(self):
        """The graph of the last conversion as a program in .hia."""
        return self._latest().source.text()

    def graph(self, path=None):
        """The static graph of the last conversion as a picture, which notebooks show; `path` is a file to write it to, .svg,
        .dot for Graphviz, or .txt."""
        picture = Picture(self._latest().core)
        if path is not None:
            picture.save(path)
        return picture

    def __repr__(self):
        return f"<hiaton function {self.__wrapped__.__qualname__}>"


class _Known(Exception):
    """There is a graph for these types already."""


def function(target=None, *, strict=False, workers=1, budget=5_000_000):
    """Makes a function of Python run as one graph.

    Objects, lists and tuples among the arguments become values of the graph at the call; recursion, branches and loops
    stay what they are. Where a call comes to what cannot be converted, or does something that the graph does not know,
    plain Python runs it: `strict` raises ConversionError in the first case. `workers` is the number of threads, and
    `budget` the number of calls that may be under way at once.
    """
    if target is None:
        return functools.partial(function, strict=strict, workers=workers, budget=budget)
    return GraphCallable(target, strict=strict, workers=workers, budget=budget)
