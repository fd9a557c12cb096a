"""`==` of objects: a method of their class, or, of dataclasses, of the fields one after the other."""

import dataclasses
import types

from hiaton.function.types import BOOL, NONE, Const, Objs, Union, Value


def is_generated(cls, name="__eq__"):
    """Whether `==` of its objects, or another comparison, is what dataclasses.dataclass has made: of these fields."""
    method = vars(cls).get(name)
    return "__dataclass_fields__" in vars(cls) and isinstance(method, types.FunctionType) and method.__code__.co_filename == "<string>"


def _compared_fields(cls):
    return [field.name for field in dataclasses.fields(cls) if field.compare]


class Equality:
    def equal_objects(self, left, right):
        """A condition, as Python's == of two values one of which is an object."""
        if NONE in (left.type, right.type):
            other = right if left.type == NONE else left
            if all(c.__eq__ is object.__eq__ or is_generated(c) for c in other.type.classes):
                return self.is_none(other)
        if isinstance(left.type, Objs) and isinstance(right.type, Objs) and all(map(is_generated, left.type.classes | right.type.classes)):
            return self._equal_fields(left, right)
        if isinstance(left.type, Objs) and not left.type.none and self._has_methods(left.type.classes, right.type):
            made = self.call_method(left, "__eq__", [right], {})
            sides = made.type.sides if isinstance(made.type, Union) else (made.type,)
            if not any(isinstance(side, Const) and side.value is NotImplemented for side in sides):
                return self.truth(made)
        self.refuse_equality(left, right)

    def ordered_fields(self, method, left, right):
        """The fields by which two objects of a dataclass with order=True are compared; None where they are something else."""
        if not (isinstance(left.type, Objs) and isinstance(right.type, Objs)):
            return None
        classes = left.type.classes | right.type.classes
        if not any(is_generated(cls, method) for cls in classes):
            return None
        if len(classes) > 1:
            self.refuse(f"an order of {left.type} and {right.type} cannot be converted; compare objects of one class, or their fields")
        cls, = classes
        self.converter.guard("static", cls, method, vars(cls)[method])
        return [[self.attribute(value, name) for name in _compared_fields(cls)] for value in (left, right)]

    def refuse_equality(self, left, right):
        self.refuse(f"'==' of {left.type} and {right.type} cannot be converted; compare their fields")

    @staticmethod
    def _has_methods(classes, other):
        """Whether each class has a method == written in Python, and no class of the other side one that comes first."""
        others = other.classes if isinstance(other, Objs) else frozenset()
        return all(isinstance(cls.__eq__, types.FunctionType) and not is_generated(cls) and cls.__ne__ is object.__ne__
                   for cls in classes) and not any(
            one is not cls and issubclass(one, cls) for one in others for cls in classes)

    def _equal_fields(self, left, right):
        """In a function of the graph: fields may hold objects of the same classes."""
        where, node = self.where, self.node

        def build(frame, values):
            frame.where, frame.node = where, node
            left, right = values
            if isinstance(left.type, Objs) and left.type.none:
                return frame.either(frame.truth_id(frame.is_none(left)), lambda: frame.truth_value(frame.is_none(right)),
                                    lambda: of_object(frame, left, right), BOOL)
            return of_object(frame, left, right)

        def of_object(frame, left, right):
            if not left.type.classes:
                return frame.truth_value(False)  # never reached: so far, it is None in all that is known
            left = Value(Objs(left.type.classes), left.ids)
            if not right.type.none:
                return of_classes(frame, left, right, sorted(left.type.classes, key=lambda cls: cls.__qualname__))
            return frame.either(frame.truth_id(frame.is_none(right)), lambda: frame.truth_value(False),
                                lambda: of_object(frame, left, Value(Objs(right.type.classes), right.ids)), BOOL)

        def of_classes(frame, left, right, classes):
            cls, *others = classes

            def same():
                if cls not in right.type.classes:
                    return frame.truth_value(False)
                if len(right.type.classes) == 1:
                    return fields(frame, left, right, cls)
                return frame.either(frame.truth_id(frame.is_instance_of(right, [cls])), lambda: fields(frame, left, right, cls),
                                    lambda: frame.truth_value(False), BOOL)
            if not others:
                return same()
            return frame.either(frame.truth_id(frame.is_instance_of(left, [cls])), same,
                                lambda: of_classes(frame, left, right, others), BOOL)

        def fields(frame, left, right, cls):
            frame.converter.guard("static", cls, "__eq__", vars(cls)["__eq__"])
            left, right = (Value(Objs(frozenset([cls])), value.ids) for value in (left, right))
            names = _compared_fields(cls)

            def from_field(number):
                if number == len(names):
                    return frame.truth_value(True)
                same = frame.equal_within(*(frame.attribute(value, names[number]) for value in (left, right)))
                if isinstance(same, bool):
                    return from_field(number + 1) if same else frame.truth_value(False)
                return frame.either(same, lambda: from_field(number + 1), lambda: frame.truth_value(False), BOOL)
            return from_field(0)

        names = tuple(sorted(cls.__qualname__ for cls in left.type.classes | right.type.classes))
        instance = self.converter.instance(("equal", names), "equal", [left.type, right.type], build)
        return self.truth(self.call_instance(instance, [left, right]))
