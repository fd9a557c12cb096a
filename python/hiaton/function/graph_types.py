"""Of which values of the graph a value of Python consists: their types, and the data types of objects, lists and boxes."""

import functools

from hiaton import _core
from hiaton.function.number_arrays import dtypes_of_array
from hiaton.function.types import (NEVER, Const, Dct, Func, GivenItems, KeyIndex, KeyTable, Lst, Mapping, NeverType, NewObj, Objs, Opaque, Own,
                                   Scalar, Sink, Symbol, Tens, Tup, Union, general, join)


@functools.cache
def graph_type(dtype, dims=()):
    return _core.graph_type(_core.DType(dtype), list(dims))


_INDEX = graph_type("i64", (-1,))
_OF_NO_VALUES = frozenset((Const, NeverType, Opaque, Own, Sink))
_SCALARS = {bool: graph_type("bool"), int: graph_type("i64"), float: graph_type("f64")}


def items_as_list(type_):
    """The type of the keys and items of a dict as a list."""
    return Lst(Tup((type_.key, type_.value)))


def _array_of(kind):
    return graph_type(str(kind), (-1,))


class GraphTypes:
    def graph_types(self, type_):
        """The types of the values that a value of the type consists of."""
        exact = type(type_)  # what conversions ask for most comes first
        if exact is Scalar:
            return [_SCALARS[type_.kind]]
        if exact is Lst:
            return [graph_type(dtype, (-1,)) for dtype in dtypes_of_array(type_)] if type_.array else [self.list_type(type_.element)]
        if exact in _OF_NO_VALUES:
            return []
        if isinstance(type_, Symbol):
            return [_SCALARS[int]]
        if isinstance(type_, Tens):
            return [graph_type(type_.dtype, type_.dims)]
        if isinstance(type_, Objs):
            for cls in type_.classes - self.read.keys():
                self.read[cls] = {}
                self.changed = True
            return [self.object_type]
        if isinstance(type_, (Tup, Dct, NewObj)):
            return [kind for item in type_.items for kind in self.graph_types(item)]
        if isinstance(type_, Func):
            return [kind for _, held in type_.captured for kind in self.graph_types(held)]
        if isinstance(type_, Union):
            return [_SCALARS[int], *(kind for side in type_.sides for kind in self.graph_types(side))]
        if isinstance(type_, GivenItems):
            return self.graph_types(items_as_list(type_))
        if isinstance(type_, KeyIndex):
            return [_INDEX, *map(_array_of, self.graph_types(type_.key))]
        if isinstance(type_, KeyTable) or isinstance(type_, Mapping) and self.lies_in_table(type_):
            keys, items = (list(map(_array_of, self.graph_types(part))) for part in type_.items)
            return [_INDEX, *keys, _SCALARS[int], _SCALARS[int], *items]
        return [self._tree_type(type_), *([_SCALARS[int]] if isinstance(type_, Mapping) else [])]

    def list_type(self, element):
        return self.builder.list_of(self.element_type(element))

    def element_type(self, element):
        """Of one value: what consists of several is put into a box."""
        kinds = self.graph_types(element)
        if len(kinds) == 1:
            return kinds[0]
        key = tuple(map(str, kinds))
        if key not in self.boxes:
            number = len(self.boxes) + 1
            self.boxes[key] = box = self.builder.declare_data(f"Item{number}")
            self.builder.define_data(box, [(f"NoItem{number}", []),
                                           (f"SomeItem{number}", [(f"p{i}", kind) for i, kind in enumerate(kinds)])])
        return self.boxes[key]

    def lies_in_table(self, type_):
        """Whether a dict or a set is a hash table: where the items are numbers, and no tensors are computed, for which what is changed in
        place would wait."""
        are_numbers = all(not kind.is_data and not kind.dims for kind in self.graph_types(type_.value))
        is_inner = isinstance(type_, Mapping) and type_.inner
        return are_numbers and not is_inner and self.lays_out and not self.has_tensors

    def _tree_type(self, type_):
        """Of a search tree: its sides, how many keys it has, and the number of the uppermost one, the key and its item."""
        parts = [*self.graph_types(type_.key), *self.graph_types(type_.value)]
        key = ("tree", *map(str, parts))
        if key not in self.boxes:
            number = len(self.boxes) + 1
            self.boxes[key] = tree = self.builder.declare_data(f"Tree{number}")
            fields = [("left", tree), ("right", tree), ("size", _SCALARS[int]), ("number", _SCALARS[int])]
            fields += [(f"p{i}", kind) for i, kind in enumerate(parts)]
            self.builder.define_data(tree, [(f"NoTree{number}", []), (f"SomeTree{number}", fields)])
        return self.boxes[key]

    # Fields.

    def field_numbers(self, cls, name):
        """Where a field begins among those of the variant, and the types it consists of; None: not in this round."""
        if cls not in self.read or name not in self.read[cls]:
            self.read.setdefault(cls, {})[name] = True
            self.changed = True
        if name not in self.laid_out.get(cls, ()):
            return None
        at = 0
        for field in self.laid_out[cls]:
            count = len(self.graph_types(self.fields.get((cls, field), NEVER)))
            if field == name:
                return at, count
            at += count
        return None

    def found_field(self, cls, name, type_):
        before = self.fields.get((cls, name), NEVER)
        if isinstance(before, GivenItems) and isinstance(type_, Mapping):
            type_ = GivenItems(type_.key, type_.value, type_.cls, made=False)
        known = join(before, general(type_))
        if known != before:
            self.fields[cls, name] = known
            self.changed = True
        if cls not in self.read or name not in self.read[cls]:
            self.read.setdefault(cls, {})[name] = True
            self.changed = True
        return known
