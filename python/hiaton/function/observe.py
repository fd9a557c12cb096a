"""What types the arguments of a call have, all the way down."""

import enum
import functools
import types as python_types

from hiaton import _core
from hiaton.function.data_classes import is_data_class
from hiaton.function.dicts import MOST_KEYS, is_key
from hiaton.function.key_orders import key_type
from hiaton.function.types import (BOOL, FLOAT, INT, NEVER, NONE, SYMBOL, Const, Dct, GivenItems, Lst, Mapping, NeverType, Objs, Opaque, Scalar, Symbol, Tens, Tup,
                                   join)

_SCALARS = {bool: BOOL, int: INT, float: FLOAT, str: SYMBOL}


class Observer:
    """Finds the types of objects; those of fields go into `fields`, by class and name."""

    def __init__(self, fields):
        self.fields = fields
        self.seen = set()
        self.pending = []

    def type_of(self, value):
        kind = self._type(value)
        while self.pending:
            self._fields_of(self.pending.pop())
        return kind

    def _type(self, value):
        cls = type(value)
        if cls in _SCALARS:
            return _SCALARS[cls]
        if value is None:
            return NONE
        if isinstance(value, _core.Parameter):
            return Opaque("a parameter that is no attribute of a module")
        if isinstance(value, _core.Tensor):
            return Tens(str(value.dtype).split(".")[-1], value.shape)
        if cls is list:
            element = NEVER
            for one in value:
                element = join(element, self._type(one))
            return Lst(element)
        if cls is tuple or issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return Tup(tuple(self._type(one) for one in value), cls)
        if cls is dict and len(value) <= MOST_KEYS and all(map(is_key, value)):
            return Dct(tuple(value), tuple(self._type(one) for one in value.values()))
        if isinstance(value, enum.Enum):
            return Const(value)
        constant = isinstance(value, (type, python_types.FunctionType, python_types.BuiltinFunctionType,
                                      python_types.MethodType, python_types.ModuleType, type(_core.ops.relu)))
        if constant or getattr(cls, "__hiaton_constant__", False) or isinstance(value, _core.DType):
            return Const(value)
        if is_data_class(cls):
            if id(value) not in self.seen:
                self.seen.add(id(value))
                self.pending.append(value)
            return Objs(frozenset([cls]))
        return Opaque(cls.__name__)

    def argument_type(self, value):
        """The type of a whole argument: a dict with keys of numbers, or of more texts than are known before the run, is one whose keys the
        run tells, where all of its items are alike and none are tensors."""
        if type(value) is not dict or not value:
            return self.type_of(value)
        key, item = (functools.reduce(join, map(self.type_of, parts)) for parts in (value, value.values()))
        is_of_texts = key == SYMBOL and len(value) <= MOST_KEYS
        return self.type_of(value) if is_of_texts or not _are_kept(key, item) else Mapping(key_type(key), item, dict, made=False)

    def _field_type(self, value):
        """The type of what an attribute holds: a dict with such keys or texts, and such items, is one of any keys."""
        if type(value) is not dict or len(value) > MOST_KEYS:
            return self._type(value)
        key, item = (functools.reduce(join, map(self._type, parts), NEVER) for parts in (value, value.values()))
        return GivenItems(key_type(key) or NEVER, item, dict, made=False) if not value or _are_kept(key, item) else self._type(value)

    def _fields_of(self, value):
        cls = type(value)
        names = dict.fromkeys(getattr(value, "__dict__", ()))
        for base in cls.__mro__:
            slots = vars(base).get("__slots__", ())
            names.update(dict.fromkeys([slots] if isinstance(slots, str) else slots))
        for name in names:
            if not hasattr(value, name) or name in ("__dict__", "__weakref__"):
                continue
            found = self._field_type(getattr(value, name))
            key = cls, name
            self.fields[key] = join(self.fields.get(key, NEVER), found)


def _are_kept(key, item):
    """Whether these are the types of keys and items of a dict whose keys the run tells: keys of one type, and no tensors among the items."""
    return key_type(key) not in (None, BOOL) and _is_kept(item)


def _is_kept(type_):
    parts = [*getattr(type_, "items", ()), *([type_.element] if isinstance(type_, Lst) else [])]
    return isinstance(type_, (Scalar, Symbol, Objs, Tup, Lst, NeverType)) and all(map(_is_kept, parts))
