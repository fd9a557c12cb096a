"""What the converter knows of a value: its type, and which values of the graph it consists of."""

import dataclasses
import enum
import types as python_types

NUMBERS = (bool, int, float)


class Type:
    """A type of values; compared by content."""

    __slots__ = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Const(Type):
    """A value that the graph does not hold: it is known when the function is converted."""

    value: object

    def _key(self):
        if type(self.value) in (*NUMBERS, str, bytes, type(None)):
            return (type(self.value), repr(self.value))
        if isinstance(self.value, python_types.MethodType):  # made anew each time that it is read
            return (python_types.MethodType, id(self.value.__func__), id(self.value.__self__))
        return (object, id(self.value))

    def __eq__(self, other):
        return isinstance(other, Const) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __str__(self):
        if isinstance(self.value, enum.Enum):
            return f"{type(self.value).__name__}.{self.value.name}"
        if isinstance(self.value, (*NUMBERS, str, bytes, type(None))):
            return repr(self.value)
        return getattr(self.value, "__qualname__", None) or type(self.value).__qualname__


@dataclasses.dataclass(frozen=True)
class Scalar(Type):
    """A bool, an int that fits 64 bits, or a float."""

    kind: type

    def __str__(self):
        return self.kind.__name__


@dataclasses.dataclass(frozen=True)
class Symbol(Type):
    """A str, as a number by which the function knows it."""

    def __str__(self):
        return "str"


@dataclasses.dataclass(frozen=True)
class Tens(Type):
    """A tensor; a size of -1 is only known when the graph runs."""

    dtype: str
    dims: tuple

    def __str__(self):
        return f"{self.dtype}[{', '.join('_' if d < 0 else str(d) for d in self.dims)}]"


@dataclasses.dataclass(frozen=True)
class Objs(Type):
    """An object of one of the classes, or None."""

    classes: frozenset
    none: bool = False

    def __str__(self):
        names = sorted(c.__name__ for c in self.classes)
        return " | ".join(names + ["None"] * self.none)


@dataclasses.dataclass(frozen=True)
class Tup(Type):
    """A tuple of this length, or a named one."""

    items: tuple
    cls: type = tuple

    def __str__(self):
        return f"{self.cls.__name__}[{', '.join(map(str, self.items))}]"


@dataclasses.dataclass(frozen=True)
class Lst(Type):
    """A list. `fresh`: the function made it, and nobody else refers to it. `backward`: its last element comes first, since
    it grows at its end. `array`: its elements lie in a tensor; see number_arrays.py. `owned`: they are lists, of which no two are the same, and
    nobody else refers to them."""

    element: Type
    fresh: bool = False
    backward: bool = False
    array: bool = False
    owned: bool = False

    def __str__(self):
        return f"list[{self.element}]"


@dataclasses.dataclass(frozen=True)
class Dct(Type):
    """A dict with these keys. `fresh`: as of a list. `made`: the graph made it."""

    keys: tuple
    items: tuple
    fresh: bool = False
    made: bool = False

    def __str__(self):
        return f"dict[{', '.join(f'{key!r}: {item}' for key, item in zip(self.keys, self.items))}]"


@dataclasses.dataclass(frozen=True)
class Store(Type):
    """What the dicts and sets of a graph consist of: keys and their items, which have no identity; see mappings.py."""

    key: Type
    value: Type

    @property
    def items(self):
        return (self.key, self.value)

    def __str__(self):
        return f"{type(self).__name__}[{self.key}, {self.value}]"


class KeyTable(Store):
    """A hash table."""


class KeyIndex(Store):
    """What of a hash table is needed to find a key."""


class SearchTree(Store):
    """A search tree."""


@dataclasses.dataclass(frozen=True)
class Mapping(Type):
    """A dict whose keys the run tells, or a set, as `cls` says. `fresh`: as of a list. `made`: the graph made it. `inner`: it is an item of
    another one that owns it."""

    key: Type
    value: Type
    cls: type
    fresh: bool = False
    made: bool = True
    inner: bool = False

    @property
    def owns(self):
        """Whether nobody else refers to the items; see owned_items.py."""
        return is_owned(self.value)

    @property
    def items(self):
        return (self.key, self.value)

    def __str__(self):
        return f"set[{self.key}]" if self.cls is set else f"dict[{self.key}, {self.value}]"


@dataclasses.dataclass(frozen=True)
class NewObj(Type):
    """An object that the graph made and that nobody else refers to: the values of its fields, which may change. See own_objects.py."""

    cls: type
    names: tuple
    items: tuple
    fresh = True

    def __str__(self):
        return self.cls.__name__


@dataclasses.dataclass(frozen=True)
class Own(Type):
    """What a name stands for whose fields are variables: an object of the class, to which nobody else refers."""

    cls: type

    def __str__(self):
        return self.cls.__name__


class GivenItems(Mapping):
    """A dict that an object of the caller holds: a list of its keys and items."""


@dataclasses.dataclass(frozen=True, eq=False)
class Func(Type):
    """A function that was defined inside of another one, and what it reads of that. `own`: by the function that is being
    read, which may still give these names other values."""

    scope: object
    node: object
    captured: tuple  # of names and types
    own: bool

    def _key(self):
        return (self.scope.key, id(self.node), self.captured, self.own)

    def __eq__(self, other):
        return isinstance(other, Func) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def is_like(self, other):
        """Whether it is the same function, which reads the same names."""
        return (isinstance(other, Func) and self._key()[:2] == other._key()[:2]
                and [name for name, _ in self.captured] == [name for name, _ in other.captured])

    def __str__(self):
        return getattr(self.node, "name", "lambda")


@dataclasses.dataclass(frozen=True)
class Sink(Type):
    """A list of the caller that is appended to and not read: the argument with a number, or a list that was there before."""

    number: "int | None" = None
    held: "Const | None" = None

    def __str__(self):
        return "a list of the caller that is appended to"


@dataclasses.dataclass(frozen=True)
class Union(Type):
    """A value of one of these types, and a number that says of which."""

    sides: tuple

    def __str__(self):
        return " | ".join(map(str, self.sides))


@dataclasses.dataclass(frozen=True)
class Opaque(Type):
    """What the converter knows nothing of; only reading it is an error."""

    what: str

    def __str__(self):
        return self.what


@dataclasses.dataclass(frozen=True)
class NeverType(Type):
    """Of what no path gives."""

    def __str__(self):
        return "nothing"


NEVER = NeverType()
NONE = Const(None)
BOOL, INT, FLOAT, SYMBOL = Scalar(bool), Scalar(int), Scalar(float), Symbol()


@dataclasses.dataclass(frozen=True)
class Value:
    """A type, and the values of the graph that hold one of it."""

    type: Type
    ids: tuple = ()


def is_number(type_):
    return isinstance(type_, Const) and type(type_.value) in NUMBERS


_OF_INTEGERS = [name for name in vars(int) if name.startswith("__") and name not in vars(object)] + ["__eq__", "__lt__", "__hash__"]


def as_number(value):
    """The number that a member of an IntEnum is; every other value as it is."""
    member = value.type.value if isinstance(value.type, Const) else None
    is_one = isinstance(member, enum.IntEnum) and all(getattr(type(member), name) is getattr(int, name) for name in _OF_INTEGERS)
    return Value(Const(int(member))) if is_one else value


def is_text(type_):
    return type_ == SYMBOL or isinstance(type_, Const) and type(type_.value) is str


def is_float(type_):
    """Whether it is a float or a tensor of floats."""
    return type_ == FLOAT or isinstance(type_, Tens) and type_.dtype in ("f32", "f64")


def floats_in(type_):
    """The floats and tensors of floats that a value of the type consists of, in order."""
    if isinstance(type_, (Tup, Dct)):
        return [one for item in type_.items for one in floats_in(item)]
    return [type_] if is_float(type_) else []


_GENERAL_ALREADY = frozenset({Scalar, Symbol, Tens, Objs, Lst, KeyTable, KeyIndex, SearchTree, Mapping, GivenItems, Union})


def is_owned(type_):
    """Whether items of the type are lists, dicts or sets to which nobody else refers."""
    return isinstance(type_, (Lst, Mapping)) and type_.fresh


def kept(type_):
    """The type of a value that is an item: others may refer to it."""
    if isinstance(type_, Lst):
        return Lst(type_.element)
    if isinstance(type_, Tup):
        return Tup(tuple(map(kept, type_.items)), type_.cls)
    if isinstance(type_, Mapping):
        return dataclasses.replace(type_, value=kept(type_.value), fresh=False, inner=False)
    return dataclasses.replace(type_, fresh=False) if isinstance(type_, Dct) else type_


def general(type_):
    """The type without the value of a number."""
    if type(type_) in _GENERAL_ALREADY:
        return type_
    if is_number(type_):
        return Scalar(type(type_.value))
    if isinstance(type_, Tup):
        return Tup(tuple(map(general, type_.items)), type_.cls)
    if isinstance(type_, Dct):
        return Dct(type_.keys, tuple(map(general, type_.items)), type_.fresh, type_.made)
    if isinstance(type_, NewObj):
        return dataclasses.replace(type_, items=tuple(map(general, type_.items)))
    if isinstance(type_, Func):
        return Func(type_.scope, type_.node, tuple((name, general(one)) for name, one in type_.captured), type_.own)
    return type_


def of_any_size(type_):
    """The type without the sizes of tensors."""
    if isinstance(type_, Tens):
        return Tens(type_.dtype, (-1,) * len(type_.dims))
    if isinstance(type_, Lst):
        return dataclasses.replace(type_, element=of_any_size(type_.element))
    if isinstance(type_, (Store, Mapping)):
        return dataclasses.replace(type_, value=of_any_size(type_.value))
    if isinstance(type_, (Tup, Dct, NewObj)):
        return dataclasses.replace(type_, items=tuple(map(of_any_size, type_.items)))
    if isinstance(type_, Union):
        return Union(tuple(map(of_any_size, type_.sides)))
    if isinstance(type_, Func):
        return dataclasses.replace(type_, captured=tuple((name, of_any_size(one)) for name, one in type_.captured))
    return type_


def _join_one(a, b):
    """What holds values of both without telling them apart; None where nothing does."""
    if a is b or b is NEVER or a == b:
        return a
    if a is NEVER:
        return b
    if not isinstance(a, (Tup, Dct)) and general(a) == general(b):
        return general(a)
    if {str, Symbol} >= {type(t.value) if isinstance(t, Const) else type(t) for t in (a, b)}:
        return SYMBOL
    if isinstance(a, Objs) and isinstance(b, Objs):
        return Objs(a.classes | b.classes, a.none or b.none)
    if isinstance(b, Objs) and a == NONE:
        a, b = b, a
    if isinstance(a, Objs) and b == NONE:
        return Objs(a.classes, True)
    if isinstance(a, Tup) and isinstance(b, Tup) and a.cls is b.cls and len(a.items) == len(b.items):
        return Tup(tuple(join(x, y) for x, y in zip(a.items, b.items)), a.cls)
    if isinstance(a, Lst) and isinstance(b, Lst):
        fresh = a.fresh and b.fresh
        ends = {x.backward for x in (a, b) if x.element is not NEVER}
        are_arrays = a.array and b.array and a.element == b.element or fresh and (a.array if b.element is NEVER else b.array and a.element is NEVER)
        return Lst(join(a.element, b.element), fresh, fresh and True in ends, are_arrays, a.owned and b.owned)
    if isinstance(a, (Store, Mapping)) or isinstance(b, (Store, Mapping)):
        return _join_mappings(a, b)
    if isinstance(a, Tens) and isinstance(b, Tens) and a.dtype == b.dtype and len(a.dims) == len(b.dims):
        return Tens(a.dtype, tuple(x if x == y else -1 for x, y in zip(a.dims, b.dims)))
    if isinstance(a, Dct) and isinstance(b, Dct) and repr(a.keys) == repr(b.keys):
        items = tuple(join(x, y) for x, y in zip(a.items, b.items))
        return Dct(a.keys, items, a.fresh and b.fresh, a.made and b.made)
    if isinstance(a, Func) and a.is_like(b):
        both = zip(a.captured, b.captured)
        return Func(a.scope, a.node, tuple((name, join(x, y)) for (name, x), (_, y) in both), a.own and b.own)
    if isinstance(a, NewObj) or isinstance(b, NewObj):
        return _join_new_objects(a, b)
    if isinstance(a, Opaque) and isinstance(b, Opaque):
        return a
    return None


def _join_mappings(a, b):
    """The same of two stores, two dicts whose keys the run tells or two sets; a dict of known keys becomes one of these."""
    if isinstance(a, Dct):
        a, b = b, a
    if isinstance(a, Mapping) and a.cls is dict and isinstance(b, Dct) and b.fresh:
        for key, item in zip(b.keys, b.items):
            a = None if a is None else _join_mappings(a, Mapping(_key_of_dict(key), general(item), dict, True))
        return a
    if isinstance(a, Mapping) is not isinstance(b, Mapping) or isinstance(a, Store) and type(a) is not type(b):
        return None
    if getattr(a, "cls", None) is not getattr(b, "cls", None) or not isinstance(b, (Store, Mapping)):
        return None
    if NEVER not in (a.key, b.key) and a.key != b.key:
        return None
    key, value = join(a.key, b.key), join(a.value, b.value)
    if isinstance(a, Store):
        return type(a)(key, value)
    cls = GivenItems if isinstance(a, GivenItems) and isinstance(b, GivenItems) else Mapping
    is_inner = {one.inner for one in (a, b) if one.key is not NEVER} == {True}
    value = value if a.fresh and b.fresh else kept(value)
    return cls(key, value, a.cls, a.fresh and b.fresh, a.made and b.made, is_inner)


def _key_of_dict(key):
    return SYMBOL if isinstance(key, str) else general(Const(key))


def _join_new_objects(a, b):
    """An object stays one that nobody else refers to where it is of the same class, and has the same fields, in both."""
    if isinstance(a, NewObj) and isinstance(b, NewObj) and a.cls is b.cls:
        if set(a.names) != set(b.names):
            return None
        others = dict(zip(b.names, b.items))
        return NewObj(a.cls, a.names, tuple(join(item, others[name]) for name, item in zip(a.names, a.items)))
    sides = [Objs(frozenset([side.cls])) if isinstance(side, NewObj) else side for side in (a, b)]
    return _join_one(*sides) if all(isinstance(side, Objs) or side == NONE for side in sides) else None


def join(a, b):
    """The type of what is of the one or of the other."""
    if isinstance(a, Union) or isinstance(b, Union):
        single = a if a == b else None
    else:
        single = _join_one(a, b)
    if single is not None:
        return single
    if a is NEVER or b is NEVER:
        return b if a is NEVER else a
    sides = []
    for side in [*sides_of(a), *sides_of(b)]:
        for index, other in enumerate(sides):
            single = _join_one(other, side)
            if single is not None:
                sides[index] = single
                break
        else:
            sides.append(general(side))
    return sides[0] if len(sides) == 1 else Union(tuple(sorted(sides, key=_order)))


def _order(side):
    return (type(side).__name__, str(side), id(side.value) if isinstance(side, Const) else 0)


def sides_of(type_):
    return type_.sides if isinstance(type_, Union) else (type_,)


class MadeList(list):
    """The class of a tuple in a graph that is a list in Python, of values of several types that the function made."""

    _make = list


class DictView:
    """The class of a tuple in a graph that is what dict.keys() and its like give."""


def family(type_):
    """The class of the type, without what only tells where its values come from."""
    return next((cls for cls in (Objs, Mapping) if isinstance(type_, cls)), type(type_))
