"""Attributes of what is of one of several types, and what asks for classes and attributes by name: hasattr, getattr, type."""

import inspect

from hiaton import _core
from hiaton.function.default_dicts import python_class
from hiaton.function.scopes import calls_change
from hiaton.function.types import NUMBERS, Const, Dct, Lst, MadeList, Mapping, Objs, Scalar, Symbol, Tens, Tup, Union, Value, family, is_number, is_text


def _has_attributes(type_):
    """Whether it is of objects: those of the graph, and those that are known before the run."""
    return isinstance(type_, Objs) or isinstance(type_, Const) and type(type_.value) not in (*NUMBERS, str, bytes, type(None))


def is_of_several(type_):
    """Whether it is of objects of several types which the run tells apart."""
    return type(type_) is Union and sum(map(_has_attributes, type_.sides)) > 1


def _are_known(type_):
    return isinstance(type_, Union) and all(isinstance(side, Const) for side in type_.sides)


class Attributes:
    def of_sides(self, value, give, key):
        """What `give` makes of an object of one of several types, where it is of each."""
        numbers = [number for number, side in enumerate(value.type.sides) if _has_attributes(side)]

        def of_side(place):
            number = numbers[place]
            here = self.op("eq", value.ids[0], self.constant(number, "i64"))
            if place + 1 < len(numbers):
                return self.either(here, lambda: give(self.side(value, number)), lambda: of_side(place + 1), (*key, place))
            if len(numbers) < len(value.type.sides):
                self.require(here, f"expected an object, found {' or '.join(map(str, value.type.sides))}")
            return give(self.side(value, number))
        return of_side(0)

    def attribute_of_sides(self, value, name):
        if _are_known(value.type) and all(hasattr(side.value, name) for side in value.type.sides):
            found = self._mapped(value, lambda side: self.attribute(Value(side), name).type)
            if found is not None:
                return found
        return self.of_sides(value, lambda side: self.attribute(side, name), ("attribute of sides", id(self.node), name))

    def method_of_sides(self, value, name, args, named):
        def call(side):
            if isinstance(side.type, Objs):
                return self.call_method(side, name, args, named)
            return self.call(self.attribute(side, name), args, named)
        return self.changing_on_sides(calls_change(self.node), lambda: self.of_sides(
            value, call, ("method of sides", id(self.node), name)))

    def _mapped(self, value, give):
        """What `give` makes of each of the constants that a value is one of, where it is a constant again; None elsewhere. The same
        number says which."""
        made = [give(side) for side in value.type.sides]
        if not all(isinstance(one, Const) and not is_number(one) for one in made):
            return None
        if all(one == made[0] for one in made):
            return Value(made[0])
        return Value(Union(tuple(made)), value.ids) if len(set(made)) == len(made) else None

    def joined_texts(self, left, right):
        """left + right, of texts that are known, or one of several that are known; None elsewhere."""
        if all(isinstance(value.type, Const) and type(value.type.value) is str for value in (left, right)):
            return Value(Const(left.type.value + right.type.value))
        for value, other, join in ((left, right, lambda a, b: a + b), (right, left, lambda a, b: b + a)):
            texts = value.type.sides if _are_known(value.type) else ()
            if texts and all(map(is_text, texts)) and is_text(other.type) and isinstance(other.type, Const):
                return self._mapped(value, lambda side: Const(join(side.value, other.type.value)))
        return None

    def truth_of_object(self, value):
        """What bool() of an object, or of None, gives."""
        methods = {cls: next((name for name in ("__bool__", "__len__") if hasattr(cls, name)), None) for cls in value.type.classes}
        is_there = self.negated(self.is_none(value))
        if not any(methods.values()):
            return is_there
        if len(set(methods.values())) > 1:
            self.refuse(f"some of {value.type} say themselves whether they are true, and others do not; compare with 'is not None'")
        name = next(iter(methods.values()))

        def ask():
            return self.truth_value(self.truth(self.call_method(Value(Objs(value.type.classes), value.ids), name, [], {})))
        if is_there is True:
            return self.truth(ask())
        return self.truth(self.either(self.truth_id(is_there), ask, lambda: Value(Const(False)), ("truth", id(self.node))))

    # Functions of Python.

    def builtin_type(self, value):
        found = self._classes_of(value)
        classes = list(dict.fromkeys(cls for _, cls in found))
        if len(classes) == 1:
            return Value(Const(classes[0]))
        number = self.constant(classes.index(found[-1][1]), "i64")
        for condition, cls in reversed(found[:-1]):
            number = self.op("where", self.truth_id(condition), self.constant(classes.index(cls), "i64"), number)
        return Value(Union(tuple(map(Const, classes))), (number,))

    def _classes_of(self, value):
        """The classes that a value may be of, each behind a condition; one of them holds."""
        type_ = value.type
        if isinstance(type_, Union):
            found = []
            for number in range(len(type_.sides)):
                here = self.op("eq", value.ids[0], self.constant(number, "i64"))
                found += [(self.all_of(here, condition), cls) for condition, cls in self._classes_of(self.side(value, number))]
            return found
        if isinstance(type_, Objs) and (len(type_.classes) > 1 or type_.none):
            found = [(self._is_none(value), type(None))] if type_.none else []
            return found + [(self.is_instance_of(value, [cls]), cls) for cls in sorted(type_.classes, key=lambda cls: cls.__qualname__)]
        known = {Const: lambda: type(type_.value), Scalar: lambda: type_.kind, Symbol: lambda: str, Tens: lambda: _core.Tensor,
                 Objs: lambda: next(iter(type_.classes)), Tup: lambda: list if type_.cls is MadeList else type_.cls, Lst: lambda: list,
                 Dct: lambda: dict, Mapping: lambda: python_class(type_.cls)}
        kind = family(type_)
        if kind not in known:
            self.refuse(f"the class of {type_} cannot be asked for in a graph; ask isinstance(x, Class)")
        return [(True, known[kind]())]

    def builtin_hasattr(self, value, name):
        return self.truth_value(self._has_attribute(value, self._known_name(name)))

    def builtin_getattr(self, value, name, *otherwise):
        if _are_known(name.type):
            return self._attribute_by_name(value, name, otherwise)
        name = self._known_name(name)
        has = self._has_attribute(value, name) if otherwise else True
        if isinstance(has, bool):
            return self.attribute(value, name) if has else otherwise[0]
        return self.either(has, lambda: self.attribute(value, name), lambda: otherwise[0], ("getattr", id(self.node)))

    def _attribute_by_name(self, value, name, otherwise):
        """The attribute of an object that is known, a method say, by one of several names."""
        if isinstance(value.type, Const):
            found = self._mapped(name, lambda side: self.builtin_getattr(value, Value(side), *otherwise).type)
            if found is not None:
                return found

        def of_side(number):
            side = self.side(name, number)
            if number + 1 == len(name.type.sides):
                return self.builtin_getattr(value, side, *otherwise)
            here = self.op("eq", name.ids[0], self.constant(number, "i64"))
            return self.either(here, lambda: self.builtin_getattr(value, side, *otherwise), lambda: of_side(number + 1),
                               ("getattr of names", id(self.node), number))
        return of_side(0)

    def _known_name(self, name):
        if not isinstance(name.type, Const) or type(name.type.value) is not str:
            self.refuse(f"expected the name of an attribute that is known before the run, found {name.type}; write the name")
        return name.type.value

    def _has_attribute(self, value, name):
        type_ = value.type
        if isinstance(type_, Union):
            found = False
            for number, side in enumerate(type_.sides):
                here = self.op("eq", value.ids[0], self.constant(number, "i64"))
                found = self.any_of(found, self.all_of(here, self._has_attribute(self.side(value, number), name)))
            return found
        if isinstance(type_, Const):
            return self._known_object_has(type_.value, name)
        if isinstance(type_, Objs):
            found = self.all_of(self._is_none(value), hasattr(None, name)) if type_.none else False
            for cls in sorted(type_.classes, key=lambda cls: cls.__qualname__):
                if self._object_has(cls, name):
                    found = self.any_of(found, self.is_instance_of(value, [cls]) if len(type_.classes) > 1 or type_.none else True)
            return found
        kinds = {Scalar: lambda: type_.kind, Symbol: lambda: str, Tens: lambda: _core.Tensor, Lst: lambda: list, Dct: lambda: dict,
                 Tup: lambda: type_.cls, Mapping: lambda: python_class(type_.cls)}
        return hasattr(kinds[family(type_)](), name) if family(type_) in kinds else False

    def _is_none(self, value):
        return self.op("eq", self.graph.variant(value.ids[0]), self.constant(0, "i64"))

    def _known_object_has(self, holder, name):
        if any(place.name == name for place in self._all_places()):
            self.refuse(f"'{name}' is set by this function, which asks whether it is there; set it before, to None say")
        has = hasattr(holder, name)
        if holder is not None and type(holder) not in (*NUMBERS, str, bytes):
            self.converter.guard("has attribute" if has else "no attribute", holder, name, None)
        return has

    def _comes_in(self, cls):
        """Whether objects of the class may be there before the run: else the graph makes all that there are."""
        return self.is_of_arguments(cls) or bool(self.converter.places)

    def is_of_arguments(self, cls):
        """Whether objects of the class may be among what the arguments hold."""
        fields, classes, pending = self.converter.fields, set(), list(self.converter.types)
        while pending:
            type_ = pending.pop()
            pending += getattr(type_, "items", getattr(type_, "sides", ()))
            pending += [type_.element] if isinstance(type_, Lst) else []
            new = getattr(type_, "classes", frozenset()) - classes
            classes |= new
            pending += [held for (owner, _), held in fields.items() if owner in new]
        return cls in classes

    def _object_has(self, cls, name):
        """Whether all objects of the class have it, or none can."""
        static = inspect.getattr_static(cls, name, None)
        if static is not None and (cls, name) not in self.converter.fields:
            self.converter.guard("static", cls, name, static)
            return True
        if (cls, name) in self.converter.fields:
            self.converter.field_numbers(cls, name)  # those that have none are for Python
            return True
        if cls.__dictoffset__ == 0 or not self._comes_in(cls) and all(place.name != name for place in self._all_places()):
            return False
        self.refuse(f"whether objects of '{cls.__name__}' have '{name}' may differ from call to call; ask isinstance(x, Class), or give "
                    f"the class a '{name}', None say")
        return None
