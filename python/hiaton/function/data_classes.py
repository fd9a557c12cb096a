"""Which classes have objects that become values of a graph."""

import dataclasses
import enum
import types


def is_data_class(cls):
    """Whether objects of the class become values of the graph, field by field."""
    if not cls.__flags__ & (1 << 9) or issubclass(cls, (BaseException, type, enum.Enum, types.ModuleType)):
        return False
    if issubclass(cls, (int, float, str, bytes, tuple, list, dict, set, frozenset)):
        return False
    if getattr(cls, "__hiaton_constant__", False):
        return False
    own = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__")
    frozen = dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen
    return not any(getattr(cls, name, None) is not getattr(object, name, None)
                   for name in own if not (frozen and name in ("__setattr__", "__delattr__")))
