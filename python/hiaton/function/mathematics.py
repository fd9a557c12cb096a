"""Functions of Python's module math, and built-in ones, on numbers: their results have the bits that Python gives, where that raises no
error."""

import math

from hiaton.function.types import FLOAT, INT, Const, Scalar, Tens, Value, is_number

_OPERATIONS = {  # by function: the operation on f64 that computes it
    getattr(math, name): name for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "erf", "exp", "expm1", "log10", "log1p",
        "log2", "pow", "sin", "sinh", "sqrt", "tan", "tanh")} | {math.fabs: "abs", math.fmod: "rem"}
_TESTS = {math.isnan: "is_nan", math.isinf: "is_inf", math.isfinite: "is_finite"}
_WHOLE = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc"}
_FACTORS = {math.degrees: 180.0 / math.pi, math.radians: math.pi / 180.0}
_OF_INTEGERS = {math.gcd: "gcd", math.isqrt: "isqrt", math.factorial: "factorial"}  # by function: the one of the prelude
_ON_TENSORS = {**_OPERATIONS, **_TESTS, **_WHOLE, math.log: "log"}
_TWO_OPERANDS = (math.atan2, math.fmod, math.pow)

FUNCTIONS = (*_OPERATIONS, *_TESTS, *_WHOLE, *_FACTORS, *_OF_INTEGERS, math.log)


class Mathematics:
    def call_math(self, function, values):
        values = [self.operand(value) for value in values]
        if all(is_number(value.type) for value in values):
            return self._constant_call(function, *values)
        for value in values:
            if not is_number(value.type) and not isinstance(value.type, Scalar):
                on_tensors = f", or a tensor to hia.{_ON_TENSORS[function]}" if function in _ON_TENSORS else ""
                self.refuse(f"math.{function.__name__} of {value.type} cannot be converted; give a number{on_tensors}")
        if function in _OF_INTEGERS:
            return self._of_integers(function, values)
        if function is math.log:
            return self._logarithm(values)
        count = 2 if function in _TWO_OPERANDS else 1
        if len(values) != count:
            self.fail(f"math.{function.__name__}: expected {count} arguments, found {len(values)}")
        if function in _WHOLE:
            return self._whole(_WHOLE[function], values[0])
        operands = [self.as_kind(value, float) for value in values]
        if function in _TESTS:
            return self.scalar(bool, self.op(_TESTS[function], *operands))
        operands = [self.finite(operand) for operand in operands]
        if function in _FACTORS:
            return self._finite_float("mul", *operands, self.constant(_FACTORS[function], "f64"))
        return self._finite_float(_OPERATIONS[function], *operands)

    def _finite_float(self, operation, *operands):
        return self.scalar(float, self.finite(self.op(operation, *operands)))

    def _logarithm(self, values):
        if len(values) not in (1, 2):
            self.fail(f"math.log: expected 1 or 2 arguments, found {len(values)}")
        logarithms = [self._finite_float("log", self.finite(self.as_kind(value, float))) for value in values]
        return logarithms[0] if len(values) == 1 else self.binary("Div", *logarithms)

    def _whole(self, operation, value):
        if value.type == FLOAT:
            return self.scalar(int, self.op("i64", self.op(operation, value.ids[0])))
        return self.scalar(int, self.as_kind(value, int))

    def _of_integers(self, function, values):
        if any(self.kind_of(value.type) is float for value in values):
            self.fail(f"math.{function.__name__}: expected integers, found a float")
        integers = [Value(INT, (self.as_kind(value, int),)) for value in values]
        if function is math.gcd:
            found = Value(Const(0))
            for integer in integers:
                found = self.call_prelude("gcd", [found, integer])
            return found
        if len(integers) != 1:
            self.fail(f"math.{function.__name__}: expected 1 argument, found {len(integers)}")
        return self.call_prelude(_OF_INTEGERS[function], integers)

    # Built-in functions of numbers.

    def builtin_abs(self, value):
        value = self.operand(value)
        if is_number(value.type):
            return self.known(abs(value.type.value))
        if isinstance(value.type, Tens):
            return self.tensor_op("abs", [value], {})
        if not isinstance(value.type, Scalar):
            self.refuse(f"the absolute value of {value.type} cannot be converted; give a number or a tensor")
        kind = float if value.type.kind is float else int
        return self.scalar(kind, self.op("abs", self.as_kind(value, kind)))

    def builtin_int(self, value):
        value = self.operand(value)
        if is_number(value.type):
            return self._constant_call(int, value)
        if isinstance(value.type, Scalar):
            if value.type.kind is float:
                self.finite(value.ids[0])
            return self.scalar(int, self.op("i64", value.ids[0]))
        if isinstance(value.type, Tens) and not value.type.dims:
            return self.scalar(int, self.op("i64", value.ids[0]))
        self.refuse(f"int of {value.type} cannot be converted; give a number, or convert it outside of the function")

    def builtin_float(self, value):
        value = self.operand(value)
        if is_number(value.type) or isinstance(value.type, Const) and type(value.type.value) is str:
            return self._constant_call(float, value)
        if isinstance(value.type, Tens) and not value.type.dims:
            return self.float_out_of(value)
        if isinstance(value.type, Scalar):
            return self.scalar(float, self.op("f64", value.ids[0]))
        self.refuse(f"float of {value.type} cannot be converted; give a number, or convert it outside of the function")

    def builtin_round(self, value, *digits):
        value = self.operand(value)
        if digits or not is_number(value.type) and not isinstance(value.type, Scalar):
            self.refuse("round() can be converted of a number, to a whole one; let Python round to digits, and tensors by hia.round")
        if is_number(value.type):
            return self._constant_call(round, value)
        return self.call_prelude("rounded", [value]) if value.type == FLOAT else self.scalar(int, self.as_kind(value, int))

    def builtin_bool(self, value):
        return self.truth_value(self.truth(value))

    def _constant_call(self, function, *values):
        try:
            found = function(*(v.type.value for v in values))
        except (ArithmeticError, ValueError, TypeError) as error:
            self.fail(str(error))
        return self.known(found)
