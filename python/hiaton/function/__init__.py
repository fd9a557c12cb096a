"""`hiaton.function`: functions of Python that run as one graph."""

import functools
import inspect
import pathlib
import shutil
import threading
import types as python_types
import typing
import warnings

from hiaton import _core
from hiaton.function import log
from hiaton.function.callers import as_function
from hiaton.function.conversions import MOST_FAULTS, Conversions, FallbackWarning, Known, plain_count, TooMany
from hiaton.function.errors import ConversionError
from hiaton.function.profile import Profile


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


class Region(typing.NamedTuple):
    """A part of a graph that runs as a whole: how often it ran, and in how many batches; 0 where it does not run in batches."""

    function: str
    place: str
    runs: int
    batches: int


class Lowered:
    """The graph of a function, and arguments for it."""

    def __init__(self, graph, given):
        self._graph = graph
        self._given = given

    def stats(self):
        """What a run with these arguments counts, by region. The run sets and prints nothing."""
        return [Region(*counts) for counts in self._graph.core.regions(self._given)]

    def text(self):
        """The graph as a program in .hia."""
        return self._graph.source.text()

    def graph(self):
        """The static graph as a picture."""
        return Picture(self._graph.core)


class GraphCallable(Conversions):
    """A function of Python that runs as a graph where it can, and else as it stands."""

    __hiaton_plain__ = True  # `__wrapped__` is what plain Python runs

    def __init__(self, function, *, strict=False, workers=1, budget=5_000_000, max_bytes=0, profile=0):
        super().__init__(function, {"workers": workers, "max_frames": budget, "max_bytes": max_bytes})
        self._profile = Profile(profile) if profile > 0 else None
        functools.update_wrapper(self, function)
        self._signature = inspect.signature(function)
        self._count = plain_count(self._signature)
        self._strict = strict
        self._unfit_in_turn = 0
        self._state = threading.local()
        self._lock = threading.RLock()

    def __reduce__(self):
        """By its name, as a function of Python."""
        return self.__qualname__

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
        if self._profile is not None and self._profile.calls_left > 0:
            return self._run_plain(args, named, values)
        unfit, missed, on_tape, known = None, None, _core.tapes_run(), self._graphs
        for graph in known:
            if not graph.guards.hold():
                continue
            given = values
            if graph.states is not None:
                given = graph.states.read(values)
                if given is None:
                    continue
            try:
                made = graph.call_on_tape(given) if on_tape else graph.core.call(given)
            except _core.Miss as miss:
                graph.note_miss(miss)
                missed = graph.last_miss
                if not miss.args[2]:
                    unfit = miss.args[0]
                continue
            except _core.Error as error:
                return self._after_fault(graph, error, args, named)
            if made is NotImplemented:
                return function(*args, **named)
            graph.note_run()
            self._unfit_in_turn = 0
            return made if graph.states is None else self._end(graph, values, made, args, named)
        graph = None
        if not unfit:
            graph, unfit = self._new_graph(values, known)
        given = values if graph is None or graph.states is None else graph.states.read(values)
        if graph is None or given is None:
            return self._run_unfit(unfit or missed or "objects that the graph must know apart are one, or it knows them otherwise",
                                   args, named)
        try:
            made = graph.call_on_tape(given) if on_tape else graph.core.call(given)
        except _core.Miss as miss:
            graph.note_miss(miss)
            return self._run_unfit(graph.last_miss, args, named)
        except _core.Error as error:
            return self._after_fault(graph, error, args, named)
        if made is NotImplemented:
            return function(*args, **named)
        graph.hits += 1
        self._unfit_in_turn = 0
        return made if graph.states is None else self._end(graph, values, made, args, named)

    def _run_unfit(self, why, args, named):
        """Plain Python runs a call with arguments that no graph can take, though there is one for their types or for others."""
        self._unfit_in_turn += 1
        made = self._run_plain(args, named)
        if self._unfit_in_turn >= MOST_FAULTS and self._refused is None and not self._strict:
            self._refuse(f"its arguments do not fit its graph: {why}")
        return made

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

    def _run_plain(self, args, named, profiled=None):
        """`profiled`: the arguments by parameter, of a call that goes into the profile."""
        self._plain += 1
        before = getattr(self._state, "plain", False)
        self._state.plain = True
        try:
            if profiled is not None:
                return self._profile.run(self.__wrapped__, args, named, list(zip(self._signature.parameters, profiled)))
            return self.__wrapped__(*args, **named)
        finally:
            self._state.plain = before

    def _after_fault(self, graph, error, args, named):
        """Nothing has changed: Python runs the call, and raises what there is to raise."""
        why = graph.note_fault(error)
        if why in graph.speculated:
            with self._lock:
                self._relax(graph, why)
            return self._run_plain(args, named)
        made = self._run_plain(args, named)
        if graph.note_answer():
            if graph.left:
                self._refuse(graph.left[0])
            elif not self._strict:
                self._refuse(f"its graph fails where Python gives a result: {why}")
        return made

    def _new_graph(self, values, known):
        """A graph for a call that no known one is for, None where there is none, and why. The function is given up where no call had a
        graph yet, or after too many conversions."""
        with self._lock:
            for graph in self._graphs:  # that other threads have made meanwhile
                if all(graph is not one for one in known) and self._is_for(graph, values):
                    return graph, None
            try:
                return self._next_graph(values, may_leave=not self._strict, may_write=True), None
            except Known:
                return None, None
            except ConversionError as error:
                if self._strict:
                    raise ConversionError(str(error)) from None
                if isinstance(error, TooMany) or not any(graph.hits for graph in self._graphs):
                    self._refuse(str(error))
                else:
                    self._unfit, self._why_unfit = self._unfit + 1, str(error)
                return None, str(error)

    @staticmethod
    def _is_for(graph, values):
        given = values if graph.states is None else graph.states.read(values)
        return given is not None and graph.guards.hold() and graph.core.takes(given)

    def _refuse(self, why):
        self._give_up(why)
        log.tell(f"'{self.__wrapped__.__qualname__}' runs in plain Python from now on: {why}")
        warnings.warn(f"'{self.__wrapped__.__qualname__}' runs in plain Python: {why}", FallbackWarning, stacklevel=4)

    def lower(self, *args, **named):
        """The graph for these arguments, which is made where there is none; it does not run."""
        values = self._bound(args, named)
        if values is None:
            raise TypeError(f"'{self.__wrapped__.__qualname__}': expected the arguments of a call")
        for graph in [*self._graphs, None]:
            if graph is None:
                graph = self._next_graph(values, may_leave=not self._strict, may_write=True)
            if self._is_for(graph, values):
                return Lowered(graph, values if graph.states is None else graph.states.read(values))
        raise ConversionError(f"'{self.__wrapped__.__qualname__}': its arguments do not fit its graph; call it, which says why")

    def _latest(self):
        if not self._graphs and self._refused is not None:
            raise ValueError(f"'{self.__wrapped__.__qualname__}' has no graph any more: {self._refused}")
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


def function(target=None, *, strict=False, workers=1, budget=5_000_000, max_bytes=0, profile=0):
    """Makes a function of Python run as one graph.

    Objects, lists and tuples among the arguments become values of the graph at the call; recursion, branches and loops
    stay what they are. Where a call comes to what cannot be converted, or does something that the graph does not know,
    plain Python runs it: `strict` raises ConversionError in the first case. `workers` is the number of threads, and
    `budget` the number of calls that may be under way at once, `max_bytes` the memory that a run may hold, 0 for any: plain
    Python runs a call that needs more. With `profile=3`, plain Python runs the first three calls and
    counts which sides branches take, how many turns loops make and which arguments are always the same: the graph assumes that
    this stays so. Without, the first call makes the graph, so that it shows and says at once what it is.

    A method of an object, and an object that can be called, as a model, may stand in place of a function.
    """
    how = {"strict": strict, "workers": workers, "budget": budget, "max_bytes": max_bytes, "profile": profile}
    if target is None:
        return functools.partial(function, **how)
    target = as_function(target)
    if isinstance(target, python_types.MethodType):
        return python_types.MethodType(GraphCallable(target.__func__, **how), target.__self__)
    return GraphCallable(target, **how)
