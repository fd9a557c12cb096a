"""The graphs of one function: what each takes as fixed, and when another one is made."""

import collections
import contextlib
import inspect
import re
import sys
import time

import numpy

from hiaton import _core, testing
from hiaton.function import log
from hiaton.function.arrays import tensor_of
from hiaton.function.convert import Converter
from hiaton.function.dict_arguments import CoreOfPairs
from hiaton.function.errors import ConversionError, told_defects
from hiaton.function.guards import Guards
from hiaton.function.observe import Observer
from hiaton.function.places import MISSING, Place, States
from hiaton.function.plans import graph_function
from hiaton.function.profile import is_small
from hiaton.function.types import INT, NEVER, Const, Lst, Mapping, Objs, Scalar, Symbol, Tens, Union, general, join

MOST_GRAPHS = 8
MOST_CONVERSIONS = 16
# A number that graphs took as fixed becomes an argument of the next one when it differed in so many calls.
MOST_CHANGES = 2
MOST_FAULTS = 3
# A graph is given up where Python gives the result of more than one call in so many.
CALLS_A_FAULT = 4
CALLS_TO_JUDGE = 12


class FallbackWarning(UserWarning):
    """A function runs in plain Python, since it cannot be converted."""


class TooMany(ConversionError):
    """A function was converted so often that it is not converted again."""


class Known(Exception):
    """There is a graph for these types already."""


class Graph:
    """One graph of a function: for arguments of some types, and with what it takes as fixed."""

    def __init__(self, converter, core):
        self.types = converter.types
        self.left = converter.left
        self.speculated = converter.speculated
        self.assumed_arguments = [str(converter.profile.arguments[number]) for number, type_ in enumerate(converter.types)
                                  if converter.profile is not None and isinstance(type_, Const) and is_small(type_.value)]
        self.sites = {number: message for message, number in converter.sites.items()}
        self.states = States(converter) if converter.places or converter.followed else None
        self.result = converter.result.items[0] if converter.places else converter.result
        self.source = converter.source
        self.core = CoreOfPairs(core, converter.places_of_pairs) if converter.places_of_pairs else core
        self.guards = Guards(converter.guards)
        self.cells = converter.cells
        self.followed = converter.followed
        self.parameters = converter.learned
        self.numbers = {id(parameter): number for number, (parameter, _) in enumerate(converter.learned)}
        self.constants = list(converter.constants.values())
        self.has_flat_result = _is_flat(converter.result)
        self.hits = self.misses = self.faults = 0
        self.faults_in_turn = 0
        self.answered = 0  # faults of calls of which Python gave the result
        self.last_miss = None
        self.reasons = {}  # of faults, by kind and assumption or place: the last message, and how often

    def __str__(self):
        return f"({', '.join(map(str, self.types))}) -> {self.result}"

    def call_on_tape(self, given):
        """The same as core.call, as one step that the tapes of this thread see; NotImplemented where they would not see all:
        what a graph sets, tensors in the objects that it takes or gives, and constants that a tape watches."""
        if self.states is not None or not self.has_flat_result or any(map(_core.has_mark, self.constants)):
            return NotImplemented
        return self.core.call_on_tape(given)

    def end(self, values, made, prints=None):
        """Sets what the run set, and prints what it printed; gives the result of the function."""
        prints = self.states.prints(made) if prints is None else prints
        _core.begin_writing()
        try:
            made = self.states.write(values, made)
            for texts, how in prints:
                print(*texts, **how)
        finally:
            _core.end_writing()
        return made

    def is_for(self, values):
        """Whether what the graph takes as fixed is as it was."""
        return self.guards.hold() and (self.states is None or self.states.has_attributes_of(values))

    def note_miss(self, miss):
        """A call whose arguments it is not for."""
        self.misses += 1
        found = type(miss.args[1])
        advice = "; int(x) and float(x) make numbers of Python" if issubclass(found, numpy.generic) else ""
        if str(miss.args[0]).startswith("an empty list to be given back"):
            advice = "; hand over, or give back, None or a tuple in place of an empty list"
        self.last_miss = f"{miss.args[0]}, {found.__name__}{advice}"

    def note_fault(self, error):
        """Gives why the call left the graph."""
        self.faults += 1
        message = str(error).split("\n")[0]
        kind = getattr(error, "fault", None), getattr(error, "assumption", 0) or message.split(": error: ")[0]
        why = self.sites.get(kind[1], message)
        if why is not message:  # an error that reaches somebody says what was assumed
            text = re.sub(r"assumption failed: [^\n]*", lambda _: re.sub(r"^.*?:\d+: ", "", why), str(error), count=1)
            error.args = (text, *error.args[1:])
        self.reasons[kind] = why, self.reasons.get(kind, ("", 0))[1] + 1
        return why

    def note_run(self):
        """A call that it gave the result of."""
        self.hits += 1
        self.faults_in_turn = 0

    def note_answer(self):
        """A call that left the graph, and that Python gave the result of. Whether there were too many to go on with the graph."""
        self.faults_in_turn += 1
        self.answered += 1
        calls = self.hits + self.answered
        return self.faults_in_turn >= MOST_FAULTS or calls >= CALLS_TO_JUDGE and self.answered * CALLS_A_FAULT > calls

    def report(self):
        """What became of its calls, line by line."""
        lines = [f"  {self}: {self.hits} calls, {self.misses} misses, {self.faults} faults, {len(self.guards)} guards"]
        if self.last_miss is not None:
            lines.append(f"    last miss: {self.last_miss}")
        lines += [f"    {times} of the faults: {why}" for why, times in self.reasons.values()]
        lines += [f"    assumed: {message}" for message in (*self.assumed_arguments, *self.speculated)]
        lines += [f"    calls that come here run in plain Python: {message}" for message in self.left]
        return lines


def _is_flat(type_):
    """Whether values of the type hold tensors in no objects and lists."""
    if isinstance(type_, (Objs, Lst, Mapping)):
        return False
    return all(map(_is_flat, getattr(type_, "items", getattr(type_, "sides", ()))))


def plain_count(signature):
    """How many arguments without names a call has that are the values of all parameters, in order; -1: that cannot be told by their
    number."""
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len(kinds) if all(kind in plain for kind in kinds) else -1


def _parameter_names(args):
    """Names for the parameters of the modules among the arguments."""
    names = {}
    for value in args:
        if getattr(type(value), "__hiaton_constant__", False) and hasattr(value, "parameters"):
            for name, parameter in value.parameters().items():
                names.setdefault(id(parameter), name)
    return names


class Conversions:
    """The graphs that were made of a function, and what is known for the next one."""

    exact_graphs = 0  # how many graphs there may be that differ in sizes of tensors only, before these are left to the run

    def __init__(self, function, settings):
        self._function = function
        self._settings = settings
        self._graphs = []
        self._conversions = 0
        self._plain = 0         # calls that plain Python ran
        self._unfit = 0         # those of them for which no graph could be made, though there are graphs for others
        self._why_unfit = None  # the last of them
        self._impossible = {}   # by what a graph is made for: why there was none, each time
        self._refused = None    # why no graph runs any more
        self._ended = None      # how many graphs there were then, and what the report says of them
        self._fields = {}       # by class and name: the types that fields had
        self._state_types = {}  # by key of a place: the types that it held
        self._tried = set()
        self._changes = collections.Counter()  # by cell: in how many calls it was not what graphs took as fixed
        self._cells = {}        # by cell: its name, and where it is read
        self._followed = {}     # by cell: its place, and the type for an argument that it is
        self._fixed = set()     # the cells that must be known before the run
        self._numbers = None    # the places of arguments that are integers which must be known then
        self._needs_numbers = False  # whether the last conversion found that some must be
        self._is_trial = False  # whether a conversion only asks whether others must be known, too
        self._profile = None
        self._relaxed = None    # the assumption that did not hold, where that is why there must be another graph

    def report(self):
        """What became of it: its graphs, with the types of their arguments and results, how often each ran, and why it did
        not."""
        count, of_graphs = self._ended or (len(self._graphs), self._lines_of_graphs())
        lines = [f"{self._function.__qualname__}: {count} graphs, {self._conversions} conversions, {self._plain} calls in plain Python"]
        if self._profile is not None:
            lines += self._profile.report()
        lines += of_graphs
        if self._unfit:
            lines.append(f"  {self._unfit} calls for which no graph can be made: {self._why_unfit}")
        if self._refused is not None:
            lines.append(f"  in plain Python: {self._refused}")
        return "\n".join(lines)

    def _lines_of_graphs(self):
        return [line for graph in self._graphs for line in graph.report()]

    def _give_up(self, why):
        """No graph runs any more."""
        self._refused = why
        self._ended = len(self._graphs), self._lines_of_graphs()
        self.release()

    def _next_graph(self, values, **how):
        """A graph for a call that none is for. Raises Known where there is one for such types, and ConversionError where there can
        be none; TooMany where there were too many."""
        fields = dict(self._fields)
        try:
            return self._made_graph(values, how)
        except ConversionError:
            self._fields = fields  # what the objects of this call hold says nothing of others
            raise
        except RecursionError:
            self._fields = fields
            raise ConversionError("expected lists and tuples that are nested less deeply, and tuples that do not grow from call to call; hold what "
                                  "grows in depth in objects of a class, and what grows in length in a list") from None

    def _made_graph(self, values, how):
        begin, why = time.perf_counter(), self._why_another() if log.is_on() else None
        self._note_changes(values)
        if self._conversions >= MOST_CONVERSIONS:
            raise TooMany(self._why_no_more())
        for graph in self._graphs:
            if graph.states is not None:
                graph.states.add_types(values, self._fields, self._state_types)
        observer = Observer(self._fields)
        found = tuple(self._assumed(number, value, (observer.type_of if "entry" in how else observer.argument_type)(value))
                      for number, value in enumerate(values))
        wider, replaced = self._wider(found)
        key = (wider, *(frozenset(known.items()) for known in (self._fields, self._state_types)),
               frozenset((cell, type_) for cell, (_, type_) in self._followed.items()))
        if key in self._tried and any(graph.types == wider and graph.is_for(values) for graph in self._graphs):
            raise Known
        self._tried.add(key)
        errors = self._impossible.get((key, found), [])
        if how.get("may_leave", False) and len(errors) >= MOST_FAULTS:
            error = errors[-1]
            raise ConversionError(str(error))
        try:
            with told_defects():
                graph, replaced = self._widest(values, found, wider, replaced, how)
        except ConversionError as error:
            self._impossible[key, found] = [*errors, str(error)]
            raise
        self._conversions += 1
        self._cells.update(graph.cells)
        kept = [g for g in self._graphs if g is not replaced and not g.cells.keys() & graph.followed.keys()]
        self._graphs = [graph, *kept][:MOST_GRAPHS]
        self._relaxed = None
        if why is not None:
            log.tell(f"'{self._function.__qualname__}' was converted in {1000 * (time.perf_counter() - begin):.0f} ms "
                     f"for {graph}: {why}")
        return graph

    def _widest(self, values, found, wider, replaced, how):
        """A graph for the wider types and the one that it replaces, or for the types that were found."""
        try:
            return self._converted(values, wider, how), replaced
        except ConversionError:
            if wider == found and not self._followed:
                raise
            # What is known before the run may be needed there.
            self._fixed |= self._followed.keys()
            self._followed = {}
            return self._converted(values, found, how), None

    def _why_another(self):
        """Why no graph that there is can run a call."""
        if self._relaxed is not None:
            return f"an assumption did not hold: {self._relaxed}"
        if not self._graphs:
            return "the first call"
        for graph in self._graphs:
            for cell in graph.guards.changed():
                if cell in self._cells:
                    return f"{self._cells[cell].where}: '{self._cells[cell].name}' is not what it was"
                return "a function, a class or a module that it uses is not what it was"
        return self._graphs[0].last_miss or "objects that are reached in another way"

    def _converted(self, values, types, how):
        """A graph for the types; where it must know integers that are arguments, it is for these very ones."""
        try:
            made, error = self._converted_for(values, types, how), None
        except ConversionError as refused:
            made, error = None, refused
        if self._needs_numbers and (made is None or made.left):
            made = self._with_numbers(values, types, how, made) or made
        if made is None:
            raise error
        return made

    def _with_numbers(self, values, types, how, made):
        """A graph for one of the integers of the call, or for all of them where it must know several; None where that is no better than the one
        that there is."""
        def graph_for(places, most):
            self._is_trial = len(places) < len(all_places)
            with contextlib.suppress(ConversionError):
                found = self._converted_for(values, tuple(Const(values[n]) if n in places else one for n, one in enumerate(types)), how)
                if len(found.left) <= most:
                    self._numbers = places
                    return found
            return None
        all_places = [n for n, type_ in enumerate(types) if type_ == INT and is_small(values[n])]
        known = [n for n in self._numbers or () if n in all_places]
        trials = [known] if known else [*([n] for n in all_places), *([all_places] if len(all_places) > 1 else [])]
        try:
            best = next(filter(None, (graph_for(places, sys.maxsize if made is None else len(made.left) - 1) for places in trials)), None)
            if best is not None and not known and 1 < len(all_places) == len(self._numbers):
                for place in all_places:
                    best = graph_for([n for n in self._numbers if n != place], len(best.left)) or best
            return best
        finally:
            self._is_trial = False

    def _converted_for(self, values, types, how):
        """A graph in which loops are whole where the engine sees what their turns have apart, and else taken apart."""
        whole, reason = self._converter(values, types, how), None
        try:
            whole.convert()
            if whole.may_leave and whole.is_slow_at and not whole.has_tensors and not testing.converts_all:
                raise ConversionError(f"plain Python {whole.is_slow_at} faster, where no tensors are computed; strict=True makes a graph all the same")
            # One worker computes numbers as fast in one loop: there are no kernels that batches would share.
            gains = whole.has_tensors or self._settings["workers"] > 1
            apart = whole.loops_to_take_apart() if gains else frozenset()
        except ConversionError as error:
            if not whole.whole:
                raise
            apart, reason = None, error
        finally:
            self._needs_numbers = whole.needs_numbers()
        converter = whole
        if apart is None or apart:
            try:
                split = self._taken_apart(values, types, {**how, "apart": apart}, whole if reason is None else None)
            except ConversionError:
                if reason is not None:
                    raise reason from None
            else:
                converter = split if reason is not None or len(split.left) <= len(whole.left) else whole
        return Graph(converter, graph_function(converter, self._settings))

    def _taken_apart(self, values, types, how, known):
        """The conversion in which loops are taken apart. It begins with what `known` has found out, another one or None, and without,
        where types that only that one needed are in its way."""
        split = self._converter(values, types, how)
        if known is not None:
            with contextlib.suppress(ConversionError):
                return split.begin_with(known).convert()
            split = self._converter(values, types, how)
        return split.convert()

    def _converter(self, values, types, how):
        made = Converter(self._function, types, self._fields, _parameter_names(values), args=values, state_types=self._state_types,
                         followed=dict(self._followed), profile=self._profile, **how)
        made.lays_out = "entry" not in how
        made.keeps_places = made.lays_out and self._settings["workers"] == 1
        made.is_trial = self._is_trial
        return made

    def _assumed(self, number, value, type_):
        """The type of an argument: its value, where the profile knows no other one."""
        if self._profile is None or not isinstance(type_, (Scalar, Symbol)) or self._profile.argument(number, value) is None:
            return type_
        return Const(value)

    def _relax(self, graph, why):
        """What the graph assumed of the profile did not hold: the next one does without."""
        self._relaxed = why
        for place in graph.speculated[why]:
            place.has_failed = True
        self._graphs = [one for one in self._graphs if one is not graph]

    def _wider(self, found):
        """The types for calls like this one and calls before, and the graph that is not needed then."""
        like = []
        for graph in self._graphs:
            both = tuple(join(a, b) for a, b in zip(graph.types, found))
            if not any(isinstance(t, Union) for t in both) and both != found and graph.guards.hold():
                like.append((graph, both))
        if len(like) <= self.exact_graphs:
            return found, None
        for _, both in like:
            found = tuple(join(a, b) for a, b in zip(both, found))
        return found, like[-1][0]

    def _note_changes(self, values):
        """Numbers and tensors that differ from call to call become arguments of the next graph."""
        changed = {cell for graph in self._graphs for cell in graph.guards.changed()}
        self._changes.update(changed)
        for cell in changed - self._followed.keys() - self._fixed:
            if self._changes[cell] >= MOST_CHANGES and cell in self._cells:
                kind, container, key, found = self._cells[cell].guard
                if kind == "item" and type(key) not in (str, int):
                    self._fixed.add(cell)
                    continue
                place = Place(key, type(container), holder=container, kind={"item": "global"}.get(kind, kind))
                found = tensor_of(found, key) if kind == "elements" else found
                self._followed[cell] = place, general(Observer(self._fields).type_of(found))
        for cell, (place, type_) in list(self._followed.items()):
            now = place.read(values)
            found = NEVER if now is MISSING else general(Observer(self._fields).type_of(now))
            both = join(type_, found)
            type_ = found if isinstance(both, Union) else both  # a graph for each of them
            self._followed[cell] = place, type_
            if isinstance(now, _core.Parameter) or not isinstance(type_, (Scalar, Tens)):
                del self._followed[cell]
                self._fixed.add(cell)

    def _why_no_more(self):
        for cell, times in self._changes.most_common():
            if cell in self._cells and cell not in self._followed and times > MOST_CHANGES:
                name, where = self._cells[cell].name, self._cells[cell].where
                return (f"it was converted {MOST_CONVERSIONS} times; "
                        f"{where}: '{name}' was not what the graphs took as fixed in {times} "
                        f"calls; hand it over as an argument, or keep it as it is")
        for name, types in zip(self._signature.parameters, zip(*(graph.types for graph in self._graphs))):
            if len(set(types)) == len(types) > 1 and all(isinstance(type_, Const) and type(type_.value) is int for type_ in types):
                return (f"it was converted {MOST_CONVERSIONS} times, since '{name}' was another number each time, which a graph must know; "
                        "hand over few of them")
            if len(set(types)) == len(types) > 1 == len(set(map(str, types))) and isinstance(types[0], Const):
                return (f"it was converted {MOST_CONVERSIONS} times, since '{name}' was another object of '{types[0]}' each time, which a "
                        "graph takes as a constant; hand over the same one, whose parameters may change")
        return f"it was converted {MOST_CONVERSIONS} times, for ever new types or objects; hand over arguments of fewer types"

    def release(self):
        """Lets go of the graphs, and with them of the objects that they take as constants."""
        # Other threads may go over what these were.
        self._graphs, self._tried, self._fixed = [], set(), set()
        self._fields, self._state_types, self._cells, self._followed, self._impossible = {}, {}, {}, {}, {}
