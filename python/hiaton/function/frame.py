"""A function of the graph while its body is being built: values, branches, and what may fail."""

import functools

import numpy

from hiaton import _core
from hiaton.function import prelude
from hiaton.function.arrays import Arrays
from hiaton.function.attributes import Attributes
from hiaton.function.calls import Calls
from hiaton.function.closures import Closures
from hiaton.function.construction import Construction
from hiaton.function.default_dicts import DefaultDicts
from hiaton.function.dicts import Dicts
from hiaton.function.differentiation import Differentiation
from hiaton.function.equality import Equality
from hiaton.function.errors import Unreached
from hiaton.function.expressions import Expressions
from hiaton.function.folds import Folds
from hiaton.function.iterators import Iterators
from hiaton.function.given_mappings import GivenMappings
from hiaton.function.item_changes import ItemChanges
from hiaton.function.key_tables import KeyTables
from hiaton.function.known_items import KnownItems
from hiaton.function.lent_lists import LentLists
from hiaton.function.lists import Lists
from hiaton.function.lookups import Lookups
from hiaton.function.loops import Loops
from hiaton.function.managers import Managers
from hiaton.function.mapping_changes import MappingChanges
from hiaton.function.mappings import Mappings
from hiaton.function.mathematics import Mathematics
from hiaton.function.number_arrays import NumberArrays
from hiaton.function.objects import Objects
from hiaton.function.one_list import OneList
from hiaton.function.operators import Operators
from hiaton.function.own_calls import OwnCalls
from hiaton.function.own_objects import OwnObjects
from hiaton.function.owned_items import OwnedItems
from hiaton.function.paths import Paths
from hiaton.function.patterns import Patterns
from hiaton.function.ranges import Ranges
from hiaton.function.reasons import Ending, is_of_package
from hiaton.function.recasts import are_recast, stands_as
from hiaton.function.search_trees import SearchTrees
from hiaton.function.speculation import Speculation
from hiaton.function.starred import Starred
from hiaton.function.state import State
from hiaton.function.statements import Statements
from hiaton.function.sums import Sums
from hiaton.function.tables import Tables
from hiaton.function.tensors import Tensors
from hiaton.function.texts import Texts
from hiaton.function.types import (NEVER, Const, Dct, Func, GivenItems, Lst, Mapping, NewObj, Objs, Opaque, Scalar, Store, Symbol, Tens, Tup, Union,
                                   Value, general, join)

_ORDER = (Tens, float, int, Objs, Lst, Tup, Symbol, bool)


def side_for(union, type_):
    """Which side of the union holds values of the type; None: none does."""
    for index, side in enumerate(union.sides):
        if join(side, type_) == side:
            return index
    return None


@functools.cache
def scalar_type(dtype):
    return _core.graph_type(_core.DType(dtype), [])


class Frame(Expressions, Operators, Calls, Attributes, Construction, Differentiation, Mathematics, Closures, Dicts, Patterns, Tensors, Arrays,
            Objects, Statements, Loops, Lists, LentLists, Folds, Lookups, NumberArrays, OneList, Tables, Mappings, MappingChanges, KeyTables,
            SearchTrees, Managers, Equality, Speculation, State, Sums, Iterators, Ranges, KnownItems, Texts, OwnObjects, OwnCalls, Paths, Starred,
            OwnedItems, ItemChanges, GivenMappings, DefaultDicts):
    """Builds one body. `where` is the scope of the function of Python whose text is being read."""

    def __init__(self, converter, graph, key):
        self.converter = converter
        self.graph = graph
        self.key = key
        self.env = {}
        self.depth = 0           # of branches
        self.taken_out = set()   # floats that are those of tensors: gradients take them as constants
        self.wanted = None       # the gradients that the next call of a function is to give
        self.blocks_without_gradients = {}  # what the names were when each of them began
        self.strict_key = None   # the function of Python whose parameters `given` are
        self.given = []
        self.where = None
        self.node = None
        self.statement = None    # that is being read
        self.unused = None       # the expression of which nobody uses what it gives
        self.receiver = None     # the expression of which a method is called
        self.on_sides = 0        # in how many sides of expressions, as those of `a or b`, what is read stands
        self.left_state = None   # that a side of a branch left
        self.sums_by_sides = []  # the places of operators of which operands are numbers or tensors
        self.followed = {}       # by cell: the argument that every function of the graph has of it
        self.is_run = False      # whether somebody goes over what is called, to the end, if it is a generator
        self.boxes = {}          # by what was taken out of a box of a list, and its type: the box
        self.held_around = {}    # names of lists with which the code around this side or loop goes on, and what is outermost of these
        self.element_of = None   # the tree of that whose elements this function of the graph computes

    @property
    def node(self):
        """The syntax tree that is being read: where the nodes of the graph that are added come from."""
        return self._node

    @node.setter
    def node(self, node):
        self._node = node
        if self.where is not None:
            file = self.where.file
            if not prelude.is_text_of(file) and hasattr(node, "lineno"):
                self.converter.place = f"{file}:{node.lineno}"
                if not is_of_package(file):
                    self.converter.user_place = self.converter.place
            spans = self.converter.spans
            span = spans[node] if node in spans else self.converter.span_of(file, node)
            if span is not None:
                self.graph.set_span(*span)

    def refuse(self, message, node=None):
        """Ends the conversion with a message that names the place, or this path: then Python runs the calls that come here."""
        message = f"{self._place_for_message(node)}: {message}"
        if self.converter.leaves(message) or self.converter.is_first_look(self.key, message):
            self._assume(self.constant(False, "bool"), message)
            raise Unreached((Ending(self.key, message),))
        self.converter.refuse(message, self.key)

    def _place_for_message(self, node=None):
        """File and line of a syntax tree, which is else the one that is being read; where that is no text of the user, the place
        that led there."""
        node = node if node is not None and hasattr(node, "lineno") else self.node
        file = self.where.file if self.where else "?"
        if is_of_package(file):
            return self.converter.user_place
        return file if node is None else f"{file}:{node.lineno}"

    # Values.

    def constant(self, number, dtype):
        return self.graph.constant(number, scalar_type(dtype))

    def op(self, name, *operands, attributes=()):
        try:
            return self.graph.op(name, list(operands), list(attributes))
        except _core.ProgramError as error:
            self.refuse(str(error))

    def scalar(self, kind, id_):
        return Value(Scalar(kind), (id_,))

    def held(self, value):
        """The value with its numbers in the graph."""
        return self.coerce(value, general(value.type))

    def default(self, type_):
        """Some value of the type, for a path that gives none."""
        return Value(type_, tuple(self._default_of(kind) for kind in self.converter.graph_types(type_)))

    def empty_array(self, type_):
        """A list in an array, without elements."""
        return Value(type_, tuple(self._default_of(kind, 0) for kind in self.converter.graph_types(type_)))

    def _default_of(self, kind, unknown=1):
        if kind.is_data:
            return self.graph.constant(0, kind)
        if kind.dims:
            sizes = [max(size, unknown) for size in kind.dims]  # a constant has the type of what it holds, no open one
            zeros = _core.shared(numpy.zeros(sizes, _core.numpy_name(kind.dtype)))
            return self.graph.constant(zeros, _core.graph_type(kind.dtype, sizes))
        return self.graph.constant(False if not kind.is_data and kind.dtype == _core.bool else 0, kind)

    def coerce(self, value, to):
        """The value as one of a type that holds it."""
        if value.type == to:
            return value
        if value.type is NEVER:
            return self.default(to)
        made = self._coerced(value, to)
        if made is None:
            # Not the type that was assumed: another round will know.
            self.converter.changed = True
            return self.default(to)
        return made

    def _coerced(self, value, to):
        if isinstance(to, Union):
            if isinstance(value.type, Union):
                return self._between_unions(value, to)
            index = side_for(to, value.type)
            if index is None:
                return None
            ids = [self.constant(index, "i64")]
            for number, side in enumerate(to.sides):
                ids += (self.coerce(value, side) if number == index else self.default(side)).ids
            return Value(to, tuple(ids))
        if isinstance(to, GivenItems) and isinstance(value.type, Mapping):
            return self.mapping_as(value, to)
        if join(value.type, to) != to:
            return None
        if isinstance(value.type, NewObj):
            return self.new_object_as(value, to)
        if isinstance(value.type, Const):
            constant = value.type.value
            if isinstance(to, Scalar):
                return Value(to, (self.constant(constant, {bool: "bool", int: "i64", float: "f64"}[to.kind]),))
            if isinstance(to, Symbol):
                return Value(to, (self.constant(self.converter.symbol(constant), "i64"),))
            if isinstance(to, Objs):
                return self.default(to)
            return None
        if isinstance(to, (Tup, Dct)):
            ids = []
            for item, type_ in zip(self.items(value), to.items):
                ids += self.coerce(item, type_).ids
            return Value(to, tuple(ids))
        if isinstance(to, Lst):
            return self._list_as(value, to)
        if isinstance(to, Mapping):
            return self.mapping_as(value, to)
        if isinstance(to, Store):
            same = self.converter.graph_types(value.type) == self.converter.graph_types(to)
            return Value(to, value.ids) if same and stands_as(value.type, to) else None
        if isinstance(to, Func):
            parts = zip(self.captured_by(value), to.captured)
            return Value(to, tuple(id_ for (_, held), (_, type_) in parts for id_ in self.coerce(held, type_).ids))
        return Value(to, value.ids)

    def _list_as(self, value, to):
        if value.type.element is NEVER:
            return self.empty_array(to) if to.array else self.default(to)
        if to.array:
            return Value(to, (value if value.type.array else self.as_array(value)).ids)
        value = self.without_array(value)
        if value.type.backward != to.backward:
            value = self.turned(value)
        same = self.converter.graph_types(value.type.element) == self.converter.graph_types(to.element)
        if not same and to.owned and value.type.owned:
            return Value(to, self.widened_rows(value, to.element.element).ids)
        differs = not same or not stands_as(value.type.element, to.element)
        if differs and (value.type.fresh or to.fresh and are_recast(value.type.element, to.element)):
            return Value(to, self.recast(value, to.element).ids)
        if differs:
            self.refuse(f"expected lists of one type, found {value.type} and {to}; convert the elements")
        return Value(to, value.ids)

    def _between_unions(self, value, to):
        def from_side(number):
            if number + 1 == len(value.type.sides):
                return self.coerce(self.side(value, number), to)
            return self.either(self.op("eq", value.ids[0], self.constant(number, "i64")),
                               lambda: self.coerce(self.side(value, number), to), lambda: from_side(number + 1), to)
        if any(side_for(to, side) is None for side in value.type.sides):
            return None
        return from_side(0)

    def side(self, value, number):
        """What a value of a union is where it is of this side."""
        at = 1
        for side in value.type.sides[:number]:
            at += len(self.converter.graph_types(side))
        side = value.type.sides[number]
        return Value(side, value.ids[at:at + len(self.converter.graph_types(side))])

    def items(self, value):
        """Those of a tuple, and the values of a dict."""
        made, at = [], 0
        for item in value.type.items:
            count = len(self.converter.graph_types(item))
            made.append(Value(item, value.ids[at:at + count]))
            at += count
        return made

    def tuple_of(self, values, cls=tuple):
        return Value(Tup(tuple(v.type for v in values), cls), tuple(id_ for v in values for id_ in v.ids))

    def chosen(self, value, fits=None):
        """A value that is no union: of the side that an operation is for. Where it is of another one, CPython runs the
        call."""
        if isinstance(value.type, Opaque):
            advice = "hand it over as hia.tensor(x)" if str(value.type) == "ndarray" else "use it outside of the function"
            self.refuse(f"expected a value that a graph can hold, found {value.type}; {advice}")
        if not isinstance(value.type, Union):
            return value
        numbers = [i for i, side in enumerate(value.type.sides) if fits is None or fits(side)]
        if not numbers:
            self.refuse(f"expected a value of one type, found {value.type}; ask for its type first, by 'is None' or isinstance")

        def rank(number):
            side = value.type.sides[number]
            for place, kind in enumerate(_ORDER):
                if (isinstance(side, Scalar) and side.kind is kind) or isinstance(side, kind):
                    return place
            return len(_ORDER)
        number = min(numbers, key=rank)
        side, others = value.type.sides[number], [one for i, one in enumerate(value.type.sides) if i != number]
        self.note_strict(value, side)
        advice = ""
        if isinstance(side, Tens) and any(isinstance(one, Scalar) for one in others):
            advice = f"; hia.{side.dtype}(x) makes a tensor of the number where it is written"
        self.require(self.op("eq", value.ids[0], self.constant(number, "i64")),
                     f"expected {side}, found {' or '.join(map(str, others))}{advice}")
        return self.side(value, number)

    def note_strict(self, value, side):
        """A parameter that is asked to be of one side before anything else is decided: callers ask instead, so that one
        instance serves those that know."""
        if self.depth == 0 and self.strict_key is not None and value in self.given:
            key = (self.strict_key, self.given.index(value), value.type)
            if key not in self.converter.strict:
                self.converter.strict[key] = side
                self.converter.changed = True

    # What may fail.

    def require(self, condition, why):
        """Where it does not hold, the run ends and CPython runs the call; `why` is for the report."""
        is_of_the_user = self.where is not None and not prelude.is_text_of(self.where.file) and self.node is not None
        self._assume(condition, f"{self.where.file}:{self.node.lineno}: {why}" if is_of_the_user else why)

    def require_variant(self, id_, why):
        """That a value of a data type is not of its first variant: None, or the empty list."""
        self.require(self.op("ne", self.graph.variant(id_), self.constant(0, "i64")), why)

    def _assume(self, condition, message):
        site = self.converter.site(message)
        if site == self.converter.failing:
            condition = self.constant(False, "bool")
        self.op("assume", condition, attributes=(site,))
        self.converter.last_reasons[self.key] = message

    def fail(self, why="Python raises an error", is_raised=False):
        """This path ends, and Python runs the calls that come here. `is_raised`: as the function asks for it."""
        self.require(self.constant(False, "bool"), why)
        raise Unreached((Ending(self.key, f"{self._place_for_message()}: {why}", is_raised=is_raised),))

    def fail_as(self, instance):
        """Where a function of the graph is called that never gives a result."""
        message = self.converter.last_reasons.get(instance.key, "Python raises an error")
        self._assume(self.constant(False, "bool"), message)
        raise Unreached((Ending(self.key, callee=instance.key),))

    # Branches.

    def either(self, condition, then, otherwise, key):
        """A branch: what the functions give, as a value of the type that both have in common.

        `key` says which branch it is, so that the next round knows that type; or it is the type.
        """
        names = self.names_of_sides()
        if isinstance(key, tuple) and names:
            return self.with_changes_of_sides(names, condition, then, otherwise, key)
        return self.joined_sides(condition, then, otherwise, key)

    def joined_sides(self, condition, then, otherwise, key):
        """A branch whose sides set nothing."""
        is_known = not isinstance(key, tuple)
        if not is_known:
            key = ("branch", self.key, key)
        known = key if is_known else self.converter.known_type(key)
        blocks, found, endings = [], [], []
        for side in (then, otherwise):
            block = self.graph.begin_block()
            ids = []
            self.depth += 1
            try:
                try:
                    value = side()
                    if known is NEVER:
                        known = value.type
                    fits = join(known, value.type) == known
                    if not fits:
                        self.converter.changed = True
                    ids = (self.coerce(value, known) if fits else self.default(known)).ids
                except Unreached as reason:
                    endings += reason.endings
                    value = Value(NEVER)
                    ids = self.default(known).ids
            finally:
                self.depth -= 1
                self.graph.end_block(block, list(ids) or [self.constant(0, "i64")])
            blocks.append(block)
            found.append(value.type)
        type_ = join(known, join(*found))
        if not is_known:
            type_ = self.converter.assume(key, type_)
        if type_ is NEVER:
            # As both sides do, which are no part of the graph then.
            self.require(self.constant(False, "bool"), "Python raises an error")
            raise Unreached(tuple(endings))
        if type_ != known:
            self.converter.changed = True
            return self.default(type_)
        count = len(self.converter.graph_types(type_))
        try:
            return Value(type_, tuple(self.graph.finish_if(condition, *blocks))[:count])
        except _core.ProgramError:
            self.converter.changed = True
            return self.default(type_)
