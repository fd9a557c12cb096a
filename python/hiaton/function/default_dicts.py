"""collections.defaultdict and collections.Counter: dicts of which a statement that changes d[key] finds a first item. What reads d[key] of a
defaultdict in another place finds a key that is there; where it is not, plain Python runs the call."""

import ast
import collections
import functools

from hiaton.function.key_orders import key_type
from hiaton.function.scopes import parameters_of
from hiaton.function.types import INT, NEVER, NONE, Const, Func, Lst, Mapping, Tup, Value

_GIVE_ELEMENTS = (enumerate, filter, list, map, range, reversed, sorted, zip)
_FACTORIES = (bool, dict, float, int, list, set, str)


@functools.cache
def default_dict_of(factory):
    """The class by which types of such dicts are told apart."""
    return type(f"defaultdict of {factory.__name__}", (collections.defaultdict,), {"factory": factory})


@functools.cache
def _constant_factory(text):
    """A function that gives the number or the text that is written so. Where a class of Python gives the same, that class."""
    value = ast.literal_eval(text)
    if type(value) in _FACTORIES and repr(value) == repr(type(value)()):
        return type(value)
    return lambda: value


def _factory_of(type_):
    """What makes first items, as given to defaultdict: a class, or a lambda of one number, text, or empty list or dict; None: it is something
    else."""
    if isinstance(type_, Const):
        return type_.value if type_.value in _FACTORIES else None
    if not isinstance(type_, Func) or not isinstance(type_.node, ast.Lambda) or parameters_of(type_.node):
        return None
    try:
        value = ast.literal_eval(type_.node.body)
        is_one = isinstance(value, (bool, int, float, str)) or value in ([], {})
        return _constant_factory(repr(value)) if is_one else None
    except ValueError:  # no literal, or an infinite one
        return None


class Counts(collections.Counter):
    """The same of Counter."""


def has_first_number(cls):
    """Whether d[key] begins with what never changes: a number or a text."""
    return cls is Counts or getattr(cls, "factory", list) not in (dict, list, set)


def python_class(cls):
    """The class that a dict or a set has in Python."""
    return collections.Counter if cls is Counts else collections.defaultdict if hasattr(cls, "factory") else cls


@functools.cache
def given_class(cls):
    """The class of a tuple in a graph that is such a dict in Python: of the list of its keys and items."""
    def made(items):
        return collections.Counter(dict(items[0])) if cls is Counts else collections.defaultdict(cls.factory, items[0])
    return type(f"Given {cls.__name__}", (), {"_make": staticmethod(made)})


class DefaultDicts:
    def default_dict(self, args, named):
        """collections.defaultdict(factory)."""
        factory = _factory_of(args[0].type) if len(args) == 1 and not named else None
        if factory is None:
            self.refuse("this call of 'defaultdict' cannot be converted; give it one of bool, dict, float, int, list, set and str, or a lambda of a "
                        "number or a text, or use a dict")
        return self.default(Mapping(NEVER, NEVER, default_dict_of(factory), True))

    def call_Counter(self, node):
        """collections.Counter(), or of what is gone over where it stands."""
        if node.keywords or len(node.args) > 1:
            self.refuse("this call of 'Counter' cannot be converted; give it one thing to go over", node)
        empty = self.default(Mapping(NEVER, NEVER, Counts, True))
        if not node.args:
            return empty
        if not self._gives_elements(node.args[0]):
            self.refuse("a Counter of this cannot be converted; give it a list, a comprehension or list(...) of it", node)
        items = self.forward(self.whole_list(self.as_list(node.args[0]), node))
        if not isinstance(items.type, Lst):
            self.refuse(f"a Counter of {items.type} cannot be converted; give it a list", node)
        if items.type.element is NEVER:
            return empty
        key = key_type(items.type.element)
        if key is None:
            self.refuse(f"expected ints, bools, strs or tuples of them to count, found {items.type.element}; count what tells them apart", node)
        to = Mapping(key, INT, Counts, True)
        return self.new_mapping_by("with_counts", [self.default(to), items], to)

    def _gives_elements(self, node):
        """Whether what a Counter is made of is known to be no dict, in which it would find the counts."""
        if isinstance(node, ast.Call):
            known = self.eval(node.func).type if isinstance(node.func, ast.Name) else None
            return known in map(Const, _GIVE_ELEMENTS)
        if isinstance(node, (ast.Attribute, ast.Name, ast.Subscript)):
            return isinstance(self.chosen(self.peek_to_go_over(node)).type, (Lst, Tup))
        return isinstance(node, (ast.GeneratorExp, ast.List, ast.ListComp, ast.Tuple))

    def first_item(self, cls):
        """What is found at a key that is not there; None: nothing."""
        if cls is Counts:
            return Value(Const(0))
        factory = getattr(cls, "factory", None)
        if factory in (dict, set):
            return self.default(Mapping(NEVER, NONE if factory is set else NEVER, factory, True))
        return None if factory is None else self.default(Lst(NEVER, True)) if factory is list else Value(Const(factory()))

    def set_first_item(self, name, key):
        """Before d[key] is changed, of a name: sets the first item where none is."""
        value = self.mapping_named(name)
        if value is not None and hasattr(value.type.cls, "factory"):
            self.set_where_missing(name, key, lambda: self.first_item(value.type.cls), ("first item", id(self.node)))

    def most_common(self, value, args):
        """What Counter.most_common() gives."""
        pairs = self.view_of_mapping(value, "items")
        return self.as_new(self.call_mappings("most_common", [pairs]) if not args else
                           self.call_mappings("first_most_common", [pairs, args[0]]))
