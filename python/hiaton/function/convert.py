"""Conversion: from the syntax trees of functions to one module of the graph.

Every function of Python becomes one function of the module for each combination of types that it is called with; so do
loops and what follows a branch that may leave early. What a function gives, what branches have in common and what
fields hold is not known at first: conversion is done again, with what it found, until nothing new is found.
"""

import collections
import dataclasses
import inspect
import itertools
import typing

from hiaton import testing
from hiaton.function import prelude
from hiaton.function.array_uses import looked_up, read_as_lists, resized
from hiaton.function.earlier_types import EarlierTypes
from hiaton.function.errors import ConversionError
from hiaton.function.graph_types import GraphTypes, graph_type, items_as_list
from hiaton.function.instances import Instances, parameters_of
from hiaton.function.names import plain_name
from hiaton.function.own_trees import with_own_objects
from hiaton.function.reasons import Reasons
from hiaton.function.rounds import Rounds
from hiaton.function.scopes import functions_inside, lent_names, own_names
from hiaton.function.source import Text, place, tree_of
from hiaton.function.state import Root
from hiaton.function.statements import Scope, build_function
from hiaton.function.types import BOOL, FLOAT, INT, NEVER, Const, Lst, Mapping, NeverType, Objs, Scalar, Sink, Symbol, Tens, Tup, Union


class Cell(typing.NamedTuple):
    """A variable or an attribute that a graph took as fixed."""

    guard: tuple
    name: str
    where: str


class Converter(Rounds, Instances, EarlierTypes, GraphTypes, Reasons):
    """Converts a function for arguments of some types."""

    def __init__(self, function, types, fields, names, entry=None, by_arguments=False, has_aux=False,
                 may_leave=False, args=(), may_write=False, state_types=None, followed=None,
                 apart=frozenset(), profile=None):
        self.function = function
        self.types = types
        self.fields = fields        # by class and name: the type of a field
        self.names = names          # of the parameters that modules have, by identity
        self.read = {}              # by class: the fields that the graph needs
        self.symbols = {}           # by text: its number
        self.assumed = {}           # by what: the type that it was found to have so far
        self.asked = set()          # of what this round has asked for that type
        self.strict = {}            # by function, parameter and type: the side that it must be of
        self.makes_objects = False  # whether the graph makes objects, of which no two are the same
        self.fixed = set()          # functions that need numbers which are known before the run
        self.fixed_before = set()   # those of them that were known when the round began
        self.is_trial = False       # whether the conversion ends where the function itself is handed such a number
        self.scopes = {}            # by function
        self.signatures = {}        # by function
        self.any_size = {}          # by function and the types without sizes: types for tensors of many sizes
        self.drafted = set()        # instances of which a first draft was made
        self.of_prelude = {}        # by key of an instance that this round has built: its function of the prelude, or None; see earlier_types.py
        self.giving_nothing = set()  # the keys of those of which earlier conversions have found that they give no value
        self.callers = collections.defaultdict(set)  # by function: those that call it
        self.guards = {}            # what the conversion took as fixed
        self.learned = []           # the parameters, in the order of the module
        self.giving_taken_out = set()  # the keys of instances that give a float which is that of a tensor
        self.gradient_functions = {}  # what hia.grad gave inside of the function
        self.constants = {}         # tensors that are constants of the graph, by identity
        self.source = None
        self.refusal = None         # why the last round could not be finished
        self.entry = entry          # the name of the function in the graph; None: its own
        self.by_arguments = by_arguments  # whether the graph gives gradients by its arguments too
        self.may_leave = may_leave  # whether Python runs calls that come to what cannot be converted
        self.left = []              # messages: what is left to it
        self.last_reasons = {}      # by function of the graph: why it was left last
        self.sites = {}             # by message: the number of the assumption that fails there
        self.args = args            # of the call
        self.may_write = may_write  # whether somebody writes what the function sets, and prints what it prints
        self.printings = {}         # the statements `print(...)`, by identity of their trees: the number and the Printing
        self.places = {}            # what is set, by key
        self.state_types = state_types or {}  # by key of a place: the type that it had in calls before
        self.followed = followed or {}  # by cell: its place and its type, of numbers that are arguments
        self.gives_mappings = False  # whether its result has dicts whose keys the run tells, or sets
        self.lets_lists_out = False  # whether somebody may see which of the lists that it makes are the same
        self.places_of_pairs = {number for number, one in enumerate(types) if isinstance(one, Mapping)}  # of arguments that are dicts
        self.sinks = set()          # the numbers of arguments that are lists which are appended to
        self.appended = {}          # by identity: lists that were there before and are appended to
        self.failing = testing.failing  # the number of an assumption that fails, for tests
        self.text = Text()          # of the files that were read
        self.spans = {}             # by syntax tree: where it stands in the text
        self.has_tensors = False    # whether the graph computes with some
        self.turned_before = set()  # branches and loops, and the names of lists to which something refers in them, which lie turned before them
        self.to_turn = set()        # the same, which a round has found
        self.read_whole = []        # the names of lists in arrays that a round has found to be read as lists, with the trees of functions
        self.is_slow_at = ""        # what Python does faster where no tensors are computed, as far as this round knows
        self.keeps_places = False   # whether loops keep the places in lists that they have found
        self.lays_out = False       # whether lists of numbers that are looked up lie in tensors
        self.apart = apart          # loops that are taken apart, by identity of their trees; None: all that can be
        self.whole = {}             # by identity of the trees of others: the names of the functions that they are
        self.profile = profile      # of calls before; None: nothing is assumed of branches and loops
        self.speculated = {}        # by message: the places of the profile of which something is assumed
        self.cells = {}             # by cell: what was taken as fixed, and where it is read
        self.observed = {}          # by key of a place: the type of what it held before
        self.missing = set()        # the keys of places that held nothing
        self.roots = set()          # the numbers of arguments whose attributes may be set
        self.stateful = set()       # the code of functions that read or set a place
        self.place = ""             # of what is read: file and line
        self.user_place = ""        # the same of the text of the user, as Hiaton itself may be read
        self.defining = None        # the key of the instance that is built
        self.called_from = {}       # by key of an instance: the first call
        self.endings = {}           # by key of an instance that gives no value: why
        self.in_order = set()       # comprehensions whose elements set something, by identity of their trees
        self.handing_on = set()     # the same of those whose elements hand on lists that they change
        self.writing = set()        # branches with a side that sets a place
        self.read_anywhere = set()  # fields that are read of objects of which only the class is known
        self.read_of_roots = set()  # fields that are read of arguments
        self.read_before = set()    # `read_anywhere` of the round before
        self.roots_before = set()   # `read_of_roots` of the round before
        self.reads_are_stale = True  # whether that round knew less of what is set
        self.new_places = {}        # for the next round
        self.has_new_places = True  # whether it knows more of what is set
        self.no_logs = set()        # fields that are set and read
        self.not_set = set()        # fields of which Python runs the calls that set them
        self.notes = 0              # how much was noted of lists that are changed
        self.sums = {}              # by loop and name: the tensors that numbers are before the first turn; see sums.py
        self.mixed_sums = set()     # loops that add what may be a number or a tensor
        self.constructed = set()    # classes of which the graph makes objects
        self.changing = set()       # the same, of which some are changed
        self.order_of_fields = {}   # by class: the place of each attribute of these
        self.elements_of_fields = {}  # by class and name: the type of the elements of lists, None where they are of several; whether they grow
        self.own_names_grew = False  # whether this round has found more such classes or names
        self.own_names = {}         # by function and the parameters that are lent objects: the names by which it changes objects that it makes
        self.with_own = {}          # by function and names: the function whose tree has names for their attributes
        self.has_aux = has_aux      # whether the function gives a pair, of which gradients are taken of the first

    def begin_with(self, other):
        """Takes over what another conversion for the same arguments has found out, so that less rounds are needed. Types that only it
        needed are forgotten in the end, as those of early rounds are. Gives this one."""
        if other.places or other.roots or other.sinks:
            return self
        self.assumed = dict(other.assumed)
        self.strict = dict(other.strict)
        self.symbols = dict(other.symbols)
        self.read = {cls: dict(fields) for cls, fields in other.read.items()}
        self.has_tensors = other.has_tensors
        self.constructed, self.changing = set(other.constructed), set(other.changing)
        self.own_names, self.with_own = dict(other.own_names), dict(other.with_own)
        return self

    def _refuse_never(self, main):
        """No path gives a result: a mistake that all of them come to is the reason, or what was left to Python."""
        reason = self.why_never(main.key)
        name = self.function.__qualname__
        if reason is None:
            raise ConversionError(f"{place(self.function)}: no path through '{name}' gives a result, since each calls itself again; give "
                                  "one an end, or let Python run it")
        message = reason.message
        if reason.is_raised:
            message += f" is where every path through '{name}' ends; let Python run it"
        elif message not in self.left:
            message += f"; correct this, since no path through '{name}' gives a result, or let Python run it"
        message = self.with_calls(message, reason.key)
        raise ConversionError(message)

    def with_own_names(self, function, lent=frozenset()):
        """The function in whose tree attributes of objects are names: of parameters that are lent some, and of those that it makes."""
        names = lent | self.own_names.get((id(function), lent), frozenset())
        if not names:
            return function
        self.guard_code(function)
        key = (id(function), lent, names)
        if key not in self.with_own:
            self.with_own[key] = function, with_own_objects(function, names)
        return self.with_own[key][1]

    def note_own_name(self, function, name):
        """Objects that a function makes are changed by this name, from the next round on."""
        known = {id(made): (id(origin), lent) for (_, lent, _), (origin, made) in self.with_own.items()}
        key = known.get(id(function), (id(function), frozenset()))
        self.own_names[key] = self.own_names.get(key, frozenset()) | {name}
        self.own_names_grew = self.changed = True

    def needs_numbers(self, before=False):
        """Whether something in it needs a number before the run that the function itself is handed; `before`: this round began so."""
        fixed = self.fixed_before if before else self.fixed
        return bool(fixed) and id(self.with_own_names(self.function).__code__) in fixed

    def loops_to_take_apart(self):
        """Those that the engine does not run in phases, the work of all turns first and in batches; see src/passes/split_loops."""
        if not self.whole:
            return frozenset()
        in_phases = set(self.source.loops_in_phases(self.entry))
        return frozenset(loop for loop, names in self.whole.items() if not names & in_phases)

    def _lists_in(self, type_, classes):
        """How many lists a value of the type may give, of which none are the same; 2: or more."""
        if isinstance(type_, Lst):
            return 2 if self._lists_in(type_.element, classes) else 1
        if isinstance(type_, Objs):
            new = type_.classes - classes
            classes |= new
            held = [kind for (cls, name), kind in self.fields.items() if cls in new and name in self.read.get(cls, ())]
            return 2 if any(self._lists_in(kind, classes) for kind in held) else 0
        parts = getattr(type_, "items", getattr(type_, "sides", ()))
        return min(2, sum(self._lists_in(part, classes) for part in parts))

    def may_let_lists_out(self, main):
        """Whether what it gives or sets, as far as this round knows, has lists in it."""
        return bool(self.places or self.sinks or self.appended) or not _is_of_numbers(self.assumed.get(("result", main.key), NEVER))

    def is_read(self, cls, name):
        """Whether an object's field is read, as far as this round and the one before know."""
        reads = (self.read_before, self.roots_before, self.read_anywhere, self.read_of_roots, self.no_logs)
        return any((cls, name) in known for known in reads)

    def _main(self):
        """The instance that runs: what is set by it comes behind the arguments."""
        function = self.with_own_names(self.function)
        lent = lent_names(tree_of(function))
        if not self.places and not self.roots and not self.sinks and not lent and not self.gives_mappings \
                and not self.places_of_pairs:
            return self.instance_of(function, self._argument_types(), is_entry=True)
        types = [Root(one.classes, False, number) if number in self.roots else one
                 for number, one in enumerate(self._argument_types())]
        types = [Sink(number) if number in self.sinks and isinstance(one, Lst) else one
                 for number, one in enumerate(types)]
        types = [items_as_list(one) if number in self.places_of_pairs else one for number, one in enumerate(types)]
        for key, place in self.places.items():
            if not place.is_log and key not in self.missing:
                types.append(self.known_type(("state", key), self.observed[key]))
        self.guard_code(self.function)

        def build(frame, values):
            frame.where = self.scope_of(function, Scope)
            values = [frame.mapping_given(value) if number in self.places_of_pairs else value for number, value in enumerate(values)]
            return frame.given_mappings(frame.without_lists(build_function(frame, function, values, True)))
        return self.instance(("main", id(function.__code__), id(function)), function.__name__, types, build, True, parameters_of(function))

    def _argument_types(self):
        """Lists of numbers that are only looked up become arrays at once."""
        tree = tree_of(self.with_own_names(self.function))
        inside = functions_inside(tree)
        may_be = looked_up(tree).union(*(looked_up(one) - own_names(one) for one in inside)) - read_as_lists(tree)
        may_be = may_be.difference(*map(resized, [tree, *inside])) if self.lays_out and not self.has_tensors else ()
        return [dataclasses.replace(one, array=True) if name in may_be and isinstance(one, Lst) and one.element in (INT, FLOAT, BOOL) else one
                for name, one in itertools.zip_longest(parameters_of(self.function), self.types)]

    def note_tensors(self):
        """The graph computes with tensors: loops that were built without knowing this are built again."""
        self.changed = self.changed or self.lays_out and not self.has_tensors
        self.has_tensors = True

    def site(self, message):
        """The number of a place where a run can leave the graph, by which the engine names it."""
        return self.sites.setdefault(message, len(self.sites) + 1)

    # What is taken as fixed.

    def guard(self, kind, container, key, found):
        if prelude.holds(container) or prelude.holds(getattr(container, "__globals__", None)):
            return
        self.guards[kind, id(container), key] = (kind, container, key, found)

    def guard_cell(self, kind, container, key, found, name, where):
        """The same of a variable or an attribute, which is read at some place of the text."""
        self.guard(kind, container, key, found)
        self.cells.setdefault((kind, id(container), key), Cell((kind, container, key, found), name, where))

    def followed_types(self):
        """The types of the arguments that every function of the graph has besides its own."""
        return [type_ for _, type_ in self.followed.values()]

    def span_of(self, file, node):
        """Where a syntax tree stands in the text that the graph refers to; None: in none."""
        found = None
        if not prelude.is_text_of(file) and hasattr(node, "lineno"):
            if self.text.add(file):
                self.builder.set_source(self.text.name, self.text.whole)
            found = self.text.span_of(file, node)
        self.spans[node] = found
        return found

    def scope_of(self, function, make):
        if id(function) not in self.scopes:
            try:
                self.scopes[id(function)] = make(function)
            except ConversionError as error:  # its text is not known: the calls tell what it is needed for
                message = self.with_calls(str(error), self.defining)
                raise ConversionError(message) from None
        return self.scopes[id(function)]

    def signature_of(self, function):
        if id(function) not in self.signatures:
            self.signatures[id(function)] = inspect.signature(function, follow_wrapped=False)
        return self.signatures[id(function)]

    def guard_code(self, function):
        self.guard("code", function, None, function.__code__)

    def learned_number(self, parameter):
        if id(parameter) not in self.learned_numbers:
            number = len(self.learned)
            name = plain_name(self.names.get(id(parameter), f"p{number}"))
            taken = {other for _, other in self.learned}
            while name in taken:
                name += "_"
            dtype, dims = str(parameter.dtype).split(".")[-1], parameter.shape
            self.builder.add_parameter(name, graph_type(dtype, dims))
            self.learned.append((parameter, name))
            self.learned_numbers[id(parameter)] = number
        return self.learned_numbers[id(parameter)]

    def symbol(self, text):
        return self.symbols.setdefault(text, len(self.symbols))


def _is_of_numbers(type_):
    """Whether a value of the type is a number, a text, a tensor or a tuple of them, of which nobody asks which are the same."""
    if isinstance(type_, (Tup, Union)):
        return all(map(_is_of_numbers, getattr(type_, "items", getattr(type_, "sides", ()))))
    return isinstance(type_, (Const, NeverType, Scalar, Symbol, Tens))
