"""Operators, with Python's meaning: integers that do not fit, and whatever would raise, end the run."""

import enum
import functools
import operator as functions
import types

from hiaton import _core
from hiaton.function.equality import is_generated
from hiaton.function.sums import is_number_or_tensor
from hiaton.function.types import (BOOL, FLOAT, INT, NONE, NUMBERS, SYMBOL, Const, Dct, Lst, Mapping, NeverType, Objs, Opaque, Scalar,
                                   Tens, Tup, Union, Value, as_number, is_number, is_text)

_SPECIAL = {"Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod",
            "Pow": "pow", "MatMult": "matmul", "BitAnd": "and", "BitOr": "or", "BitXor": "xor", "LShift": "lshift",
            "RShift": "rshift"}
_COMPARE = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}
_SWAPPED = {"Eq": "Eq", "NotEq": "NotEq", "Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}
_SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@",
          "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>"}
_UNARY = {functions.neg: "USub", functions.pos: "UAdd", functions.invert: "Invert"}
_EXACT = 1 << 53
_TOO_LARGE = "an integer beyond 64 bits"


@functools.cache
def fold_table():
    return {name: getattr(functions, word + "_" if word in ("and", "or") else word) for name, word in _SPECIAL.items()}


@functools.cache
def function_table():
    """By function, of the module operator or `pow`: the operator that it stands for."""
    compared = {getattr(functions, word): name for name, word in _COMPARE.items()}
    return {pow: "Pow"} | compared | {function: name for name, function in fold_table().items()}


class Operators:
    """Each method takes Values and gives a Value."""

    def numeric(self, type_):
        return isinstance(type_, Scalar) or is_number(type_)

    def kind_of(self, type_):
        return type_.kind if isinstance(type_, Scalar) else type(type_.value)

    def as_kind(self, value, kind):
        """A number as an int or a float of the graph."""
        value = self.held(value)
        if value.type.kind is kind:
            return value.ids[0]
        return self.op("f64" if kind is float else "i64", value.ids[0])

    def call_operator(self, function, left, right):
        """One of function_table()."""
        operator = function_table()[function]
        return self.compare(operator, left, right) if operator in _COMPARE else self.binary(operator, left, right)

    def call_of_library(self, target, args):
        """A call of a function of operator, of divmod, pow or functools.reduce; None where it is of another one."""
        if len(args) == 1 and target in _UNARY:
            return self.unary(_UNARY[target], args[0])
        if len(args) == 2 and target in function_table():
            return self.call_operator(target, *args)
        if len(args) == 2 and target is divmod:
            args = [self.operand(value) for value in args]
            if not all(self.numeric(value.type) for value in args):
                self.fail(f"divmod(): expected two numbers, found {args[0].type} and {args[1].type}")
            return self.tuple_of([self.binary("FloorDiv", *args), self.binary("Mod", *args)])
        if len(args) in (2, 3) and target is functools.reduce:
            return self.call_prelude("reduced" if len(args) == 3 else "reduced_from_first", args)
        return None

    def binary(self, operator, left, right):
        if operator in ("Add", "Sub", "Mult", "Div") and (is_number_or_tensor(left.type) or is_number_or_tensor(right.type)):
            return self.binary_by_sides(operator, left, right)
        texts = self.joined_texts(left, right) if operator == "Add" and isinstance(left.type, (Const, Union)) else None
        if texts is not None:
            return texts
        left, right = self.operand(left), self.operand(right)
        if is_number(left.type) and is_number(right.type):
            return self._folded(operator, left, right)
        if isinstance(left.type, Tens) or isinstance(right.type, Tens):
            return self.tensor_binary(operator, left, right)
        if self.numeric(left.type) and self.numeric(right.type):
            return self._numbers(operator, left, right)
        if operator == "Add" and isinstance(left.type, Tup) and isinstance(right.type, Tup):
            return self.tuple_of(self.items(left) + self.items(right))
        if operator == "Add" and isinstance(left.type, Lst) and isinstance(right.type, Lst):
            return self.joined(left, right)
        if any(isinstance(value.type, Mapping) for value in (left, right)) and all(isinstance(value.type, (Mapping, Dct)) for value in (left, right)):
            return self.binary_of_mappings(operator, left, right)
        if operator == "Mult" and isinstance(right.type, Lst):
            left, right = right, left
        if operator == "Mult" and isinstance(left.type, Lst) and self.numeric(right.type) and self.kind_of(right.type) is not float:
            return self.as_new(self.call_prelude("repeated", [left, right]))
        special = self._by_method(_SPECIAL[operator], left, right)
        if special is not None:
            return special
        self.refuse(f"'{_SIGNS[operator]}' of {left.type} and {right.type} cannot be converted; convert one of them first")

    def operand(self, value):
        if isinstance(value.type, Objs) and value.type.none and value.type.classes:
            self.note_strict(value, Objs(value.type.classes))
            self.require_variant(value.ids[0], "expected an object, found None")
            return Value(Objs(value.type.classes), value.ids)
        return as_number(self.chosen(value, lambda side: side != NONE))

    def _folded(self, operator, left, right):
        try:
            found = fold_table()[operator](left.type.value, right.type.value)
        except (ArithmeticError, MemoryError, TypeError, ValueError) as error:
            self.fail(str(error) or type(error).__name__)
        if not isinstance(found, NUMBERS):
            self.refuse(f"'{_SIGNS[operator]}' gives {type(found).__name__}, which a graph cannot hold; "
                        "compute it outside of the function")
        return self.known(found)

    def known(self, number):
        """A number as a value. Where it does not fit 64 bits, Python runs the call."""
        if isinstance(number, int) and not -(1 << 63) <= number < 1 << 63:
            self.fail(_TOO_LARGE)
        return Value(Const(number))

    def _by_method(self, word, left, right):
        """The operator of a class; None where neither has one."""
        for value, other, name in ((left, right, f"__{word}__"), (right, left, f"__r{word}__")):
            if isinstance(value.type, Objs) and all(hasattr(c, name) for c in value.type.classes):
                return self.call_method(value, name, [other], {})
        return None

    def _numbers(self, operator, left, right):
        kinds = {self.kind_of(left.type), self.kind_of(right.type)}
        if kinds == {bool} and operator in ("BitAnd", "BitOr", "BitXor"):
            a, b = self.held(left).ids[0], self.held(right).ids[0]
            return self.scalar(bool, self.op({"BitAnd": "and", "BitOr": "or", "BitXor": "ne"}[operator], a, b))
        if float in kinds:
            return self._floats(operator, self.as_kind(left, float), self.as_kind(right, float))
        return self._integers(operator, self.as_kind(left, int), self.as_kind(right, int), right.type)

    def _integers(self, operator, a, b, right_type):
        if operator in ("Add", "Sub", "Mult"):
            return self.scalar(int, self.op(_SPECIAL[operator], a, b))
        zero = self.constant(0, "i64")
        if operator == "Div":
            self.require(self.op("ne", b, zero), "division by zero")
            self.exact(a)
            self.exact(b)
            return self.scalar(float, self.op("div", self.op("f64", a), self.op("f64", b)))
        if operator in ("FloorDiv", "Mod"):
            divisor = int(right_type.value) if is_number(right_type) else 0
            if divisor > 0 and divisor & (divisor - 1) == 0:  # bits have the rounding of Python
                if operator == "Mod":
                    return self.scalar(int, self.op("bitwise_and", a, self.constant(divisor - 1, "i64")))
                return self.scalar(int, self.op("bitwise_right_shift", a, self.constant(divisor.bit_length() - 1, "i64")))
            rest = self.op("rem", a, b)
            moves = self.op("lt", rest, zero)
            if divisor <= 0:
                moves = self.op("and", self.op("ne", rest, zero), self.op("ne", moves, self.op("lt", b, zero)))
            moves = self.op("i64", moves)
            if operator == "Mod":
                return self.scalar(int, self.op("add", rest, self.op("mul", moves, b)))
            return self.scalar(int, self.op("sub", self.op("div", a, b), moves))
        if operator == "Pow":
            if is_number(right_type) and right_type.value < 0:
                return self._floats("Pow", self.op("f64", a), self.op("f64", b))
            self.require(self.op("ge", b, zero), "a negative exponent")
            return self.call_prelude("power", [Value(INT, (a,)), Value(INT, (b,))])
        if operator in ("BitAnd", "BitOr", "BitXor"):
            return self.scalar(int, self.op({"BitAnd": "bitwise_and", "BitOr": "bitwise_or", "BitXor": "bitwise_xor"}[operator], a, b))
        # By more places than an integer of the graph has, plain Python shifts.
        self.require(self.op("and", self.op("ge", b, zero), self.op("lt", b, self.constant(63, "i64"))),
                     "a shift by less than 0 or more than 62 places")
        if operator == "RShift":
            return self.scalar(int, self.op("bitwise_right_shift", a, b))
        shifted = self.op("bitwise_left_shift", a, b)
        self.require(self.op("eq", self.op("bitwise_right_shift", shifted, b), a), _TOO_LARGE)
        return self.scalar(int, shifted)

    def exact(self, a):
        """That a float holds the integer exactly: else Python and the graph might round differently."""
        limit, less = self.constant(_EXACT, "i64"), self.constant(-_EXACT, "i64")
        self.require(self.op("and", self.op("le", a, limit), self.op("ge", a, less)),
                     "an integer that a float does not hold exactly")

    def finite(self, x):
        """Python raises where a float gets too large or is not a number: there it runs the call."""
        self.require(self.op("eq", self.op("sub", x, x), self.constant(0.0, "f64")), "a float that is not finite")
        return x

    def _floats(self, operator, a, b):
        if operator in ("Add", "Sub", "Mult"):
            return self.scalar(float, self.op(_SPECIAL[operator], a, b))
        zero = self.constant(0.0, "f64")
        if operator in ("Div", "FloorDiv", "Mod"):
            self.require(self.op("ne", b, zero), "division by zero")
        if operator == "Div":
            return self.scalar(float, self.op("div", a, b))
        if operator == "Pow":
            return self.scalar(float, self.finite(self.op("pow", self.finite(a), self.finite(b))))
        if operator in ("FloorDiv", "Mod"):
            self.finite(a)
            self.finite(b)
            return self.call_prelude("float_floor" if operator == "FloorDiv" else "float_mod",
                                     [Value(FLOAT, (a,)), Value(FLOAT, (b,)), Value(FLOAT, (self.op("rem", a, b),))])
        self.refuse(f"'{_SIGNS[operator]}' of floats cannot be converted; convert them by int(...)")

    def unary(self, operator, value):
        value = self.operand(value)
        if is_number(value.type):
            found = {"USub": lambda x: -x, "UAdd": lambda x: +x, "Invert": lambda x: ~x}[operator](value.type.value)
            return self.known(found)
        if self.numeric(value.type):
            kind = float if value.type.kind is float else int
            if operator == "Invert":
                if kind is float:
                    self.fail("'~' of a float")
                return self.scalar(int, self.op("sub", self.op("neg", self.as_kind(value, int)), self.constant(1, "i64")))
            a = self.as_kind(value, kind)
            return self.scalar(kind, a if operator == "UAdd" else self.op("neg", a))
        if isinstance(value.type, Tens):
            if operator == "UAdd":
                return value
            return self.tensor_op("negative", [value], {}) if operator == "USub" else self.tensor_bits(operator, value)
        if isinstance(value.type, Objs):
            name = {"USub": "__neg__", "UAdd": "__pos__", "Invert": "__invert__"}[operator]
            return self.call_method(value, name, [], {})
        self.refuse(f"a sign before {value.type} cannot be converted; give a number or a tensor")

    # Comparisons.

    def compare(self, operator, left, right):
        if operator in ("Is", "IsNot"):
            found = self._is(left, right)
            return self.truth_value(self.negated(found) if operator == "IsNot" else found)
        if operator in ("In", "NotIn"):
            found = self._contains(right, left)
            return self.truth_value(self.negated(found) if operator == "NotIn" else found)
        if operator in ("Eq", "NotEq"):
            found = self.equal(left, right)
            if isinstance(found, Value):
                return found if operator == "Eq" else self.tensor_op("logical_not", [found], {})
            return self.truth_value(self.negated(found) if operator == "NotEq" else found)
        left, right = self.operand(left), self.operand(right)
        if is_number(left.type) and is_number(right.type):
            return Value(Const(getattr(functions, _COMPARE[operator])(left.type.value, right.type.value)))
        if isinstance(left.type, Tens) or isinstance(right.type, Tens):
            return self.tensor_binary(operator, left, right)
        if self.numeric(left.type) and self.numeric(right.type):
            return self.scalar(bool, self._compare_numbers(_COMPARE[operator], left, right))
        if all(isinstance(value.type, Mapping) and value.type.cls is set for value in (left, right)):
            return self.truth_value(self.order_of_sets(operator, left, right))
        fields = self.ordered_fields(f"__{_COMPARE[operator]}__", left, right)
        if fields is not None:
            return self.truth_value(self._order_of_tuples(operator, *fields))
        if isinstance(left.type, Objs) and all(hasattr(c, f"__{_COMPARE[operator]}__") for c in left.type.classes):
            found = self.class_attributes(left.type.classes, f"__{_COMPARE[operator]}__")
            if not any(f is getattr(object, f"__{_COMPARE[operator]}__") for f in found):
                return self.call_method(left, f"__{_COMPARE[operator]}__", [right], {})
        if isinstance(left.type, Tup) and isinstance(right.type, Tup):
            return self.truth_value(self._order_of_tuples(operator, self.items(left), self.items(right)))
        self.refuse(f"an order of {left.type} and {right.type} cannot be converted; compare numbers, or tuples of them")

    def _compare_numbers(self, name, left, right):
        kinds = {self.kind_of(left.type), self.kind_of(right.type)}
        if float not in kinds:
            return self.op(name, self.as_kind(left, int), self.as_kind(right, int))
        for value in (left, right):
            if self.kind_of(value.type) is int and not is_number(value.type):
                self.exact(value.ids[0])
            elif self.kind_of(value.type) is int and abs(value.type.value) > _EXACT:
                self.fail("an integer that a float does not hold exactly")
        return self.op(name, self.as_kind(left, float), self.as_kind(right, float))

    def _order_of_tuples(self, operator, left, right):
        """The first items that differ tell; where there are none, the lengths."""
        found = getattr(functions, _COMPARE[operator])(len(left), len(right))
        for x, y in reversed(list(zip(left, right))):
            same = self.equal_within(x, y)
            here = self.truth(self.compare(operator, x, y))
            found = self.any_of(self.all_of(same, found), self.all_of(self.negated(same), here))
        return found

    def _is(self, left, right):
        for a, b in ((left, right), (right, left)):
            if a.type == NONE:
                return self.is_none(b)
        for a, b in ((left, right), (right, left)):
            if isinstance(a.type, Const) and not is_number(a.type) and not isinstance(a.type.value, str):
                return self._is_constant(b, a.type)
            if isinstance(a.type, Const) and isinstance(a.type.value, bool):
                return self._is_constant(b, a.type)
        self.refuse("'is' can only be converted for None, True, False and what is known before the run; compare with ==")

    def _is_constant(self, value, constant):
        if isinstance(value.type, Union):
            found = False
            for number in range(len(value.type.sides)):
                inner = self._is_constant(self.side(value, number), constant)
                if inner is not False:
                    here = self.op("eq", value.ids[0], self.constant(number, "i64"))
                    found = self.any_of(found, self.all_of(here, inner))
            return found
        if value.type == BOOL and isinstance(constant.value, bool):
            return value.ids[0] if constant.value else self.op("not", value.ids[0])
        return value.type == constant

    def equal(self, left, right):
        """==: a condition; of tensors, a Value."""
        a, b = left.type, right.type
        if isinstance(a, (Opaque, NeverType)) or isinstance(b, (Opaque, NeverType)):
            self.chosen(left)
            self.chosen(right)
        if not (isinstance(a, Const) and isinstance(b, Const)):
            left, right = as_number(left), as_number(right)
            a, b = left.type, right.type
        if isinstance(a, Union):
            return self._equal_union(left, right)
        if isinstance(b, Union):
            return self._equal_union(right, left)
        if isinstance(a, Tens) or isinstance(b, Tens):
            if a == NONE or b == NONE:
                self.refuse("a tensor is compared with None; use 'is'")
            return self.tensor_binary("Eq", left, right)
        if isinstance(a, Const) and isinstance(b, Const) and all(
                type(t.value) in (*NUMBERS, str, type(None), _core.DType) or isinstance(t.value, enum.Enum) for t in (a, b)):
            return bool(a.value == b.value)
        if self.numeric(a) and self.numeric(b):
            return self._compare_numbers("eq", left, right)
        if is_text(a) and is_text(b):
            return self.op("eq", self.coerce(left, SYMBOL).ids[0], self.coerce(right, SYMBOL).ids[0])
        if isinstance(a, Tup) and isinstance(b, Tup):
            if len(a.items) != len(b.items):
                return False
            found = True
            for x, y in zip(self.items(left), self.items(right)):
                same = self.equal_within(x, y)
                found = self.all_of(found, same)
            return found
        if all(isinstance(t, (Mapping, Dct)) for t in (a, b)) and any(isinstance(t, Mapping) for t in (a, b)):
            return self.equal_mappings(left, right)
        if isinstance(a, Lst) and isinstance(b, Lst):
            return self.truth(self.call_prelude("lists_equal", [left, right]))
        if isinstance(a, Objs) or isinstance(b, Objs):
            return self.equal_objects(left, right)
        constants = [t.value for t in (a, b) if isinstance(t, Const) and not is_number(t) and not is_text(t)]
        if all(c is None or type(c).__eq__ is object.__eq__ for c in constants) and (constants or type(a) is not type(b)):
            return len(constants) == 2 and constants[0] is constants[1]
        self.refuse(f"'==' of {a} and {b} cannot be converted; compare their parts")

    def equal_within(self, left, right):
        """== of elements of containers, which Python takes as equal where they are the same object, also NaN."""
        for value in (left, right):
            if value.type == FLOAT:
                self.require(self.op("eq", value.ids[0], value.ids[0]), "NaN in a container that is compared")
            if isinstance(value.type, Objs) and any(isinstance(c.__eq__, types.FunctionType) and not is_generated(c)
                                                    for c in value.type.classes):
                self.refuse_equality(left, right)  # which an object need not be to itself
        same = self.equal(left, right)
        if isinstance(same, Value):
            self.refuse("elements that are tensors cannot be compared; compare their numbers, as by hia.all(a == b)")
        return same

    def _equal_union(self, union, other):
        found = False
        for number in range(len(union.type.sides)):
            inner = self.equal(self.side(union, number), other)
            if isinstance(inner, Value):
                self.refuse(f"'==' of {union.type} and {other.type} cannot be converted; "
                            "ask for its type first, by 'is None' or isinstance")
            if inner is not False:
                here = self.op("eq", union.ids[0], self.constant(number, "i64"))
                found = self.any_of(found, self.all_of(here, inner))
        return found

    def _contains(self, container, value):
        container = self.chosen(container)
        if isinstance(container.type, Tup):
            found = False
            for item in self.items(container):
                found = self.any_of(found, self.equal_within(value, item))
            return found
        if isinstance(container.type, Dct):
            return self.dict_has(container, value)
        if isinstance(container.type, Mapping):
            return self.mapping_has(container, value)
        if isinstance(container.type, Const) and type(container.type.value) is dict:
            return self.known_dict_has(container.type.value, value)
        if isinstance(container.type, Lst):
            return self.truth(self.call_prelude("contains", [container, value]))
        if isinstance(container.type, Objs) and all(hasattr(cls, "__contains__") for cls in container.type.classes):
            return self.truth(self.call_method(self.operand(container), "__contains__", [value], {}))
        if isinstance(container.type, Const) and type(container.type.value) is str and is_text(value.type) and isinstance(value.type, Const):
            return value.type.value in container.type.value
        self.refuse(f"'in' {container.type} cannot be converted; look in a list, a tuple or a dict")
