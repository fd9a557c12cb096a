"""Functions of the module math. They give the bits that CPython gives, and what it raises an error for runs there."""

import math

from hiaton.function.types import FLOAT, Scalar, is_number

_OF_FLOATS = {math.sqrt: "sqrt", math.exp: "exp", math.expm1: "expm1", math.log: "log", math.log1p: "log1p", math.sin: "sin",
              math.cos: "cos", math.tan: "tan", math.asin: "asin", math.acos: "acos", math.atan: "atan", math.sinh: "sinh",
              math.cosh: "cosh", math.tanh: "tanh", math.erf: "erf", math.fabs: "abs", math.pow: "pow", math.atan2: "atan2"}
_OF_TWO = {math.pow, math.atan2}
_ROUNDED = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc"}
_TESTS = {math.isnan: "is_nan", math.isinf: "is_inf", math.isfinite: "is_finite"}
FUNCTIONS = _OF_FLOATS.keys() | _ROUNDED.keys() | _TESTS.keys()


class Mathematics:
    def call_math(self, function, args):
        """One of FUNCTIONS."""
        wanted = 2 if function in _OF_TWO else 1
        if len(args) != wanted:
            self.refuse(f"math.{function.__name__} of {len(args)} numbers cannot be converted; "
                        f"hand over {'one number' if wanted == 1 else 'two numbers'}")
        values = [self.operand(value) for value in args]
        if all(is_number(value.type) for value in values):
            return self._constant_call(function, *values)
        for value in values:
            if not isinstance(value.type, Scalar) and not is_number(value.type):
                self.refuse(f"math.{function.__name__} of {value.type} cannot be converted; give a number, or use the function of "
                            "hiaton for tensors")
        if function in _ROUNDED:
            if values[0].type != FLOAT:
                return self.scalar(int, self.as_kind(values[0], int))
            return self.scalar(int, self.op("i64", self.op(_ROUNDED[function], self.finite(values[0].ids[0]))))
        numbers = [self.as_kind(value, float) for value in values]
        if function in _TESTS:
            return self.scalar(bool, self.op(_TESTS[function], *numbers))
        # What has no finite result of finite numbers is an error of Python.
        return self.scalar(float, self.finite(self.op(_OF_FLOATS[function], *map(self.finite, numbers))))
