"""How the arguments of a converted function become values of its graph, and its results objects again."""

from hiaton import _core
from hiaton.function.dicts import came_in, holds_function, holds_sink
from hiaton.function.errors import ConversionError
from hiaton.function.managers import is_manager
from hiaton.function.source import place
from hiaton.function.types import (NEVER, Const, Dct, DictView, Func, GivenItems, Lst, MadeList, Mapping, NeverType, Objs, Opaque, Scalar, Sink, Store, Symbol, Tens, Tup,
                                   Union)

_KINDS = {bool: "bool", int: "int", float: "float"}


class Planner:
    def __init__(self, converter):
        self.converter = converter
        self.table = _core.ObjectTable()
        self.made_lists = set()
        self.symbols = _core.Symbols(converter.symbols)

    def plan(self, type_):
        components = self.converter.graph_types(type_)
        nothing = _core.graph_type(_core.i64, [])
        kind, constant, main, parts, table = "constant", None, nothing, [], None
        if isinstance(type_, Const):
            constant = type_.value
        elif isinstance(type_, Scalar):
            kind = _KINDS[type_.kind]
        elif isinstance(type_, Symbol):
            kind, constant = "symbol", self.symbols
        elif isinstance(type_, Tens):
            kind, main = "tensor", components[0]
        elif isinstance(type_, Objs):
            kind, main, table = "object", components[0], self.table
            constant = (*type_.classes, *[None] * type_.none)
        elif isinstance(type_, Tup) and type_.cls is list:
            raise ConversionError(f"{place(self.converter.function)}: a list that is known before the run cannot be given back; "
                                  "give a copy, list(...)")
        elif isinstance(type_, Tup) and type_.cls is DictView:
            raise ConversionError(f"{place(self.converter.function)}: what dict.keys() and its like give cannot be given back; "
                                  "give a list, list(...)")
        elif is_manager(type_):
            raise ConversionError(f"{place(self.converter.function)}: a context manager cannot be given back; use it in 'with'")
        elif isinstance(type_, Tup):
            self._note_list(type_)
            kind, constant, parts = "tuple", type_.cls, [self.plan(item) for item in type_.items]
        elif isinstance(type_, Dct):
            kind, constant, parts = "dict", type_.keys, [self.plan(item) for item in type_.items]
        elif isinstance(type_, GivenItems):
            kind, main, parts = "items", components[0], [self.plan(Tup((type_.key, type_.value)))]
        elif isinstance(type_, (Store, Mapping)):
            raise ConversionError(f"{place(self.converter.function)}: a dict whose keys the run tells, or a set, cannot be given back inside of a "
                                  "list or an object; give it back alone or in a tuple")
        elif isinstance(type_, Union):
            kind, parts = "union", [self.plan(side) for side in type_.sides]
        elif isinstance(type_, Lst):
            kind, main, parts = "array" if type_.array else "list", components[0], [self.plan(type_.element)]
        elif isinstance(type_, Sink):
            kind = "sink"
        elif isinstance(type_, (NeverType, Opaque, Func)):
            constant = object()
        return _core.plan(kind, constant, main, parts, components, table)

    def _note_list(self, type_):
        """Two lists that a call gives may be one: that of a graph tells, and a tuple does not."""
        if type_.cls is MadeList and type_ in self.made_lists:
            raise ConversionError(f"{place(self.converter.function)}: two lists of values of several types, {type_}, cannot be given back; "
                                  "give tuples")
        self.made_lists.add(type_)

    def add_classes(self):
        converter = self.converter
        for cls, fields in converter.laid_out.items():
            plans = [(name, self.plan(converter.fields.get((cls, name), NEVER))) for name in fields]
            self.table.add_class(cls, converter.variants[cls], plans)


def graph_function(converter, settings):
    planner = Planner(converter)
    planner.add_classes()
    parameters = [planner.plan(type_) for type_ in converter.main_types]
    where = place(converter.function)
    if came_in(converter.result):
        raise ConversionError(f"{where}: a dict that came in cannot be given back; give a copy, dict.copy()")
    if holds_sink(converter.result) or any(map(holds_sink, converter.fields.values())):
        raise ConversionError(f"{where}: a list of the caller that is appended to can only be handed on to functions; "
                              "build a new list to give it back")
    if holds_function(converter.result):
        raise ConversionError(f"{where}: a function that is made inside cannot be given back; give what it computes")
    result = planner.plan(converter.result)
    learned = [parameter for parameter, _ in converter.learned]
    return _core.GraphFunction(converter.source, converter.entry, parameters, result, planner.table, learned,
                               settings["workers"], settings["max_frames"], settings["max_bytes"],
                               list(converter.appended.values()))
