"""Tensors that are known before the run: of numbers, and of arrays of NumPy and other packages, which may change between calls."""

import ast
import itertools

import numpy

from hiaton import _core, tensors
from hiaton.function.sums import is_number_or_tensor
from hiaton.function.types import FLOAT, INT, NONE, Const, Lst, Scalar, Tens, Tup, Union, Value, is_number

_FLOATS_AND_TENSORS = [Union(sides) for sides in itertools.permutations((FLOAT, Tens("f32", ())))]  # which become f32 whatever the run tells
_NEVER_CHANGE = (bool, int, float, complex, str, bytes, type(None), numpy.generic, _core.Tensor, _core.DType, type)


def is_array(value):
    """Whether it may hold numbers that change: an array of any package."""
    return isinstance(value, numpy.ndarray) or not isinstance(value, _NEVER_CHANGE)


def _elements_of(value):
    return numpy.from_dlpack(value) if hasattr(value, "__dlpack__") and not hasattr(value, "__array__") else numpy.asarray(value)


def tensor_of(array, key):
    """A tensor of the elements that the array has now. `key`: by which function, and the element type of the tensor."""
    how, dtype = key
    return _core.DType(dtype)(array) if how == "cast" else tensors.tensor(array, dtype)


def has_elements(array, found):
    """Whether the array has the elements of another one, numbers bit by bit."""
    now = _elements_of(array)
    if now.dtype != found.dtype or now.shape != found.shape:
        return False
    if now.dtype.kind in "biuf" and now.itemsize <= 8:
        bits = f"u{now.itemsize}"
        now, found = now.view(bits), found.view(bits)
    return numpy.array_equal(now, found)


def _is_integer(value):
    return value.type == INT or isinstance(value.type, Const) and type(value.type.value) is int


def _shares_memory(made, array):
    return numpy.may_share_memory(numpy.from_dlpack(made), _elements_of(array))


def _kinds_of_numbers(type_):
    """The kinds of numbers that a number, or a list of lists of them, consists of, where the run tells some; None where it is something
    else, or all are known."""
    if isinstance(type_, Lst):
        inner = type_.element
        depth = 1
        while isinstance(inner, Lst):
            inner, depth = inner.element, depth + 1
        return {inner.kind} if isinstance(inner, Scalar) and depth <= 2 else None
    if isinstance(type_, Scalar):
        return {type_.kind}
    if not isinstance(type_, Tup) or not type_.items:
        return None
    parts = [{type(item.value)} if is_number(item) else _kinds_of_numbers(item) for item in type_.items]
    return None if None in parts or all(map(is_number, type_.items)) else set().union(*parts)


def _types_in(type_):
    """The element types of the tensors that nested lists consist of, and the kinds of the numbers beside them; None where there are no
    tensors, or something else."""
    if isinstance(type_, Tens):
        return {type_.dtype}, set()
    if isinstance(type_, Lst):
        inner = type_.element.element if isinstance(type_.element, Lst) else type_.element
        if inner in _FLOATS_AND_TENSORS:
            return {"f32"}, {float}
        return _types_in(inner) if isinstance(inner, Tens) else None
    if not isinstance(type_, Tup):
        return None
    parts = [(set(), {item.kind if isinstance(item, Scalar) else type(item.value)}) if isinstance(item, Scalar) or is_number(item)
             else _types_in(item) or (set(), _kinds_in(item)) for item in type_.items]
    dtypes, kinds = (set().union(*found) for found in zip(*parts)) if parts else (set(), set())
    return None if not dtypes or None in kinds else (dtypes, kinds)


def _kinds_in(type_):
    """The kinds of the numbers that nested lists consist of; they hold None where it is something else."""
    if isinstance(type_, Scalar) or is_number(type_):
        return {type_.kind if isinstance(type_, Scalar) else type(type_.value)}
    if isinstance(type_, Lst):
        return _kinds_in(type_.element)
    return set().union(*map(_kinds_in, type_.items)) if isinstance(type_, Tup) else {None}


def _tensor_of_list(numbers, dtype):
    return _core.ops.stack([dtype(number) for number in numbers])


def _tensor_of_lists(rows, dtype):
    return _core.ops.stack([_tensor_of_list(row, dtype) for row in rows])


class Arrays:
    def constant_tensor(self, function, args, named):
        """hia.zeros(3), hia.tensor(array), and what else makes tensors of what is known before the run."""
        arrays = []
        if function in (tensors.zeros, tensors.ones) and len(args) > 1:
            args, named = self._with_one_shape(args, named)
        of_any_size = self._of_any_size(function, args, named)
        of_any_size = self._of_numbers_of_the_run(function, args, named) if of_any_size is None else of_any_size
        if of_any_size is not None:
            return of_any_size

        def known(value):
            if isinstance(value.type, Tup):
                return tuple(map(known, self.items(value)))
            if not isinstance(value.type, Const):
                self.ask_for_fixed()
                self.refuse(f"hia.{function.__name__}: expected numbers that are known before the run, found {value.type}; "
                            "make the tensor outside of the function, or write the number")
            if is_array(value.type.value):
                arrays.append(value.type.value)
            return value.type.value
        given, by_name = tuple(map(known, args)), {name: known(value) for name, value in named.items()}
        made = self._made_now(function, given, by_name)
        return self._tensor_of_arrays(made, arrays, function.__name__, ("tensor", str(made.dtype).split(".")[-1]),
                                      given[:1] if function in (tensors.tensor, tensors.asarray) else ())

    def _with_one_shape(self, args, named):
        """The arguments of hia.zeros(2, n, hia.f64) as those of hia.zeros((2, n), dtype=hia.f64)."""
        shape, last = tensors.one_shape(args, lambda size: _is_integer(self.chosen(size)))
        if len(last) > 1 or last and "dtype" in named:
            self.fail("expected a shape or sizes, then at most one element type, found more arguments")
        return [self.tuple_of(shape) if isinstance(shape, list) else shape], named | {"dtype": one for one in last}

    def _of_any_size(self, function, args, named):
        """hia.zeros(n), hia.arange(n) and their like, with whole numbers that only the run tells; None where it is something else."""
        values = self.bound(function, args, named)
        dtype = values[-1].type
        sizes = [part for value in values[:-1] for part in (self.items(value) if isinstance(value.type, Tup) else [value])]
        sizes = [self.chosen(size) for size in sizes if size.type != NONE]
        is_range = function is tensors.arange
        is_one = is_range or function in (tensors.zeros, tensors.ones)
        if not is_one or not isinstance(dtype, Const) or not all(map(_is_integer, sizes)) or all(isinstance(s.type, Const) for s in sizes):
            return None
        self.ask_for_fixed()
        if is_range:
            sizes = sizes if len(sizes) == 3 else [Value(Const(0)), *sizes]
            made, dtype = self.call_prelude("numbers_between", sizes), _core.i64 if dtype.value is None else dtype.value
        else:
            made, dtype = self._zeros_of_any_size(sizes), dtype.value
        made = self.converted(made, str(_core.DType(dtype)).split(".")[-1])
        return self.binary("Add", made, Value(Const(1))) if function is tensors.ones else made

    def _of_numbers_of_the_run(self, function, args, named):
        """hia.tensor([x, y]), also nested, and hia.tensor(numbers), with numbers that only the run tells; None where it is something
        else."""
        if function not in (tensors.tensor, tensors.asarray):
            return None
        data, dtype = self.bound(function, args, named)
        found = _types_in(data.type) if isinstance(data.type, (Tup, Lst)) else None
        kinds = _kinds_of_numbers(data.type) if found is None else found[1]
        if not kinds and found is None or not isinstance(dtype.type, Const) or dtype.type.value is not None and not isinstance(dtype.type.value, _core.DType):
            return None
        dtype = dtype.type.value
        if dtype is None and found is not None:
            dtype = getattr(_core, tensors.common_type(*found))
        elif dtype is None:
            dtype = _core.f32 if float in kinds else _core.i64 if int in kinds else _core.bool
        return self._stacked_numbers(data, dtype)

    def _stacked_numbers(self, data, dtype):
        if isinstance(data.type, Lst):
            function = _tensor_of_lists if isinstance(data.type.element, Lst) else _tensor_of_list
            return self.call_function(function, [data, Value(Const(dtype))], {})
        if isinstance(data.type, Tup):
            return self.tensor_op("stack", [self._stacked_numbers(item, dtype) for item in self.items(data)], {})
        return self.converted(data, str(dtype).split(".")[-1])

    def _zeros_of_any_size(self, sizes):
        made = None
        for axis, size in enumerate(sizes):
            if isinstance(size.type, Const):
                line = self.constant_value(self._made_now(tensors.zeros, (size.type.value, _core.i64), {}), "zeros")
            else:
                line = self._line_of_zeros(size)
            for _ in range(axis):
                line = self.with_new_axis(line, 0)
            for _ in sizes[axis + 1:]:
                line = self.with_new_axis(line, len(line.type.dims))
            made = line if made is None else self.binary("Add", made, line)
        return made

    def _line_of_zeros(self, size):
        self.require(self.op("ge", self.as_kind(size, int), self.constant(0, "i64")), "negative dimensions are not allowed")
        return self.binary("Mult", self.call_prelude("numbers_up_to", [size]), Value(Const(0)))

    def cast_to(self, dtype, args):
        """hia.f32(x) and its like."""
        if len(args) != 1:
            self.refuse(f"{dtype!r}(): expected one argument, found {len(args)}; join them by hia.stack before")
        if is_number_or_tensor(args[0].type):
            return self.by_sides(args, is_number_or_tensor, lambda given: self.cast_to(dtype, given), repr(dtype))
        value, name = self.chosen(args[0]), str(dtype).split(".")[-1]
        if isinstance(value.type, (Tens, Scalar)) or is_number(value.type):
            return self.converted(value, name)
        why = f"hia.{name}: expected a tensor, an array or a number, found {value.type}"
        if not isinstance(value.type, Const):
            self.fail(why)
        array = value.type.value
        made = self._made_now(dtype, (array,), {}, why)
        return self._tensor_of_arrays(made, [array] if is_array(array) else [], name, ("cast", name), (array,))

    def _made_now(self, function, given, named, why=None):
        try:
            return function(*given, **named)
        except (TypeError, ValueError, ArithmeticError, _core.Error) as error:
            self.fail(why or str(error).split("\n")[0])

    def _tensor_of_arrays(self, made, arrays, name, key, whole):
        """What was made of arrays, which is taken as fixed as long as their elements are the same. Where it is made of a whole one, it
        becomes an argument of the graph if these differ from call to call."""
        for array in arrays:
            if _shares_memory(made, array):
                continue
            if not any(array is one for one in whole):
                self.converter.guard("elements", array, None, numpy.array(_elements_of(array)))
                continue
            followed = self.followed.get(("elements", id(array), key))
            if followed is not None:
                return followed
            self.converter.guard_cell("elements", array, key, numpy.array(_elements_of(array)), self._text_of_call(name),
                                      self.converter.user_place)
        return self.constant_value(made, name)

    def _text_of_call(self, name):
        return ast.unparse(self.node) if isinstance(self.node, ast.Call) else f"hia.{name}"
