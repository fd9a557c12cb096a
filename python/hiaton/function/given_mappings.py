"""Dicts and sets that a graph gives: what Python makes them of."""

import ast
import dataclasses

from hiaton.function.default_dicts import given_class
from hiaton.function.scopes import lent_names, set_names
from hiaton.function.types import Lst, Mapping, Tup, Union, Value, kept


def mappings_in(type_):
    """The types of the dicts and sets that a value of the type is, or is a tuple of."""
    if isinstance(type_, Mapping):
        return [type_]
    parts = getattr(type_, "items", getattr(type_, "sides", ())) if isinstance(type_, (Tup, Union)) else ()
    return [one for part in parts for one in mappings_in(part)]


def _given_type(type_):
    """The type of what is given for a dict or a set that is an item of one which owns it."""
    if type_.cls is set:
        return Tup((Lst(type_.key),), GivenSet)
    item = _given_type(type_.value) if isinstance(type_.value, Mapping) and type_.owns else kept(type_.value)
    return Tup((Lst(Tup((type_.key, item))),), GivenDict if type_.cls is dict else given_class(type_.cls))


class GivenMappings:
    def given_mappings(self, value):
        """What the graph gives: dicts and sets as what Python makes them of."""
        if not all(one.made for one in mappings_in(value.type)):
            self.refuse("a dict that came in cannot be given back; give a copy, dict.copy()")
        if any(sum(not one.fresh for one in mappings_in(value.type) if one.cls is cls) > 1 for cls in {one.cls for one in mappings_in(value.type)}):
            self.refuse("two dicts or two sets that may be one cannot be given back; give copies, x.copy()")
        return self.without_mappings(value)

    def printable(self, node):
        """What is printed: dicts as what Python makes them of."""
        held = self.mapping_named(getattr(node, "id", None))
        value = self.shared(self.eval(node)) if held is None else held
        return self.without_mappings(value) if all(one.cls is dict for one in mappings_in(value.type)) else value

    def own_mappings_of(self, node):
        """The value of what a function gives, of which dicts and sets that names stand for stay ones that nobody else refers to; None: it has
        none of these."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        own = {name for name in names if names.count(name) == 1 and self.mapping_named(name) is not None
               and name not in lent_names(self.where.tree) and name not in self.where.set_outside}
        own -= set_names([node])
        if not own or any(isinstance(part, ast.Starred) for part in parts):
            return None
        values = [None if getattr(part, "id", None) in own else self.eval(part) for part in parts]
        values = [self.env[part.id] if value is None else value for part, value in zip(parts, values)]  # as it is when all are computed
        return self.tuple_of(values) if isinstance(node, ast.Tuple) else values[0]

    def without_mappings(self, value):
        if isinstance(value.type, Mapping):
            is_set = value.type.cls is set
            if value.type.owns and isinstance(value.type.value, Mapping):
                type_ = value.type.value
                items = dataclasses.replace(value.type, value=_given_type(type_))
                value = self.with_items(value, items, lambda frame, item: frame.without_mappings(Value(type_, item.ids)))
            given = self.keys_of_mapping(value, True) if is_set else self.view_of_mapping(value, "items")
            return self.tuple_of([self.forward(given)], GivenSet if is_set else GivenDict if value.type.cls is dict else given_class(value.type.cls))
        if isinstance(value.type, Tup) and mappings_in(value.type):
            return self.tuple_of(list(map(self.without_mappings, self.items(value))), value.type.cls)
        if isinstance(value.type, Union) and mappings_in(value.type):
            def of_side(number):
                def side():
                    return self.without_mappings(self.side(value, number))
                if number + 1 == len(value.type.sides):
                    return side()
                here = self.op("eq", value.ids[0], self.constant(number, "i64"))
                return self.joined_sides(here, side, lambda: of_side(number + 1), ("given", number))
            return of_side(0)
        return value


class GivenDict:
    """The class of a tuple in a graph that is a dict in Python: of the list of its keys and items."""

    @staticmethod
    def _make(items):
        return dict(items[0])


class GivenSet:
    """The same of a set: of the list of its items."""

    @staticmethod
    def _make(items):
        return set(items[0])
