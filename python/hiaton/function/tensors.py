"""Operations on tensors, with the element types that eager operations have."""

import ast
import functools
import itertools

from hiaton import _core, elsewhere, pieces, tensors
from hiaton.function import prelude
from hiaton.function.errors import ConversionError
from hiaton.function.sums import is_of_several_tensors
from hiaton.function.types import INT, NONE, Const, Lst, Scalar, Tens, Tup, Value, as_number, is_number

_ORDER = {"bool": 0, "u8": 1, "i32": 2, "i64": 3, "f32": 4, "f64": 5}
_BINARY = {"Add": "add", "Sub": "subtract", "Mult": "multiply", "FloorDiv": "floor_divide", "Mod": "remainder", "Pow": "pow",
           "MatMult": "matmul", "LShift": "bitwise_left_shift", "RShift": "bitwise_right_shift", "Eq": "equal",
           "NotEq": "not_equal", "Lt": "less", "LtE": "less_equal", "Gt": "greater", "GtE": "greater_equal"}
_OF_TRUTH_VALUES = {"BitAnd": "logical_and", "BitOr": "logical_or", "BitXor": "not_equal", "Invert": "logical_not"}
# Graphs fail where integers overflow, for those of Python have no bounds; those of tensors wrap around.
_WRAPPING = {"add": "wrapping_add", "sub": "wrapping_sub", "mul": "wrapping_mul", "neg": "wrapping_neg"}
_LEAST_AND_MOST = {"u8": (0, 2**8 - 1), "i32": (-2**31, 2**31 - 1)}
_OF_BITS = {"BitAnd": "bitwise_and", "BitOr": "bitwise_or", "BitXor": "bitwise_xor", "Invert": "bitwise_invert"}
_ALONG_LISTS = ("stack", "concat")  # what takes lists of any length, along an axis


def _is_float(dtype):
    return dtype in ("f32", "f64")


def _is_integer(dtype):
    return dtype in ("u8", "i32", "i64")


_FIXED_SIZE = "call the function with tensors of one size along it, or make the part before the call"
_GRADIENTS = "gradients are values here: use hia.value_and_grad, nn.value_and_grad or hia.GradientTape"
# What to do in place of methods and attributes that people know from elsewhere.
_INSTEAD = {"backward": _GRADIENTS, "grad": _GRADIENTS, "requires_grad": _GRADIENTS,
            "detach": "use hia.stop_gradient", "numpy": "do it with what the function gives back"}


class Tensors:
    def tensor_value(self, id_):
        kind = self.graph.type(id_)
        self.converter.note_tensors()
        return Value(Tens(str(kind.dtype).split(".")[-1], tuple(kind.dims)), (id_,))

    def tensor_binary(self, operator, left, right):
        if operator in _BINARY:
            return self.tensor_op(_BINARY[operator], [left, right], {})
        if operator in _OF_BITS:
            return self.tensor_bits(operator, left, right)
        if operator == "Div":
            kinds = [v.type.dtype if isinstance(v.type, Tens) else "f64" if self.kind_of(v.type) is float else "i64"
                     for v in (left, right)]
            if not any(map(_is_float, kinds)):
                left, right = (self.converted(v, "f64") for v in (left, right))
            elif isinstance(left.type, Tens) and not _is_float(left.type.dtype):
                left = self.converted(left, "f64")
            elif isinstance(right.type, Tens) and not _is_float(right.type.dtype):
                right = self.converted(right, "f64")
            return self.tensor_op("div", [left, right], {})
        self.refuse(f"this operator of {left.type} and {right.type} cannot be converted; call a function of hiaton")

    def tensor_bits(self, operator, *operands):
        """`&`, `|`, `^` and `~`: of truth values and of the bits of integers."""
        are_truth_values = any(v.type.dtype == "bool" if isinstance(v.type, Tens) else
                               (isinstance(v.type, Scalar) or is_number(v.type)) and self.kind_of(v.type) is bool
                               for v in operands)
        return self.tensor_op((_OF_TRUTH_VALUES if are_truth_values else _OF_BITS)[operator], list(operands), {})

    def converted(self, value, dtype):
        """A number or a tensor in another element type."""
        if isinstance(value.type, Tens) and value.type.dtype == dtype:
            return value
        if is_number(value.type):
            return Value(Tens(dtype, ()), (self.number_constant(value.type.value, dtype),))
        keeps_low_bits = isinstance(value.type, Tens) and _is_integer(value.type.dtype) and dtype in _LEAST_AND_MOST
        return self.tensor_value(self.op(f"wrapping_{dtype}" if keeps_low_bits else dtype, value.ids[0]))

    def number_constant(self, number, dtype):
        """A number of Python in an element type, which it must fit as where tensors are computed eagerly."""
        if dtype in _LEAST_AND_MOST and not _LEAST_AND_MOST[dtype][0] <= number <= _LEAST_AND_MOST[dtype][1]:
            self.fail(f"{number} does not fit {dtype}")
        return self.constant(number, dtype)

    def tensor_op(self, name, args, named):
        engine_name, operands, variadic, attributes, one_type, reduced, takes_integers = _table()[name]
        args, named = list(args), dict(named)
        if any(is_of_several_tensors(value.type) for value in args):
            return self.by_sides(args, is_of_several_tensors, lambda given: self.tensor_op(name, given, named), name)
        text = self.attributes_in_front(engine_name, args)
        given = []
        for number, operand in enumerate(operands):
            if variadic and number + 1 == len(operands):
                if args and isinstance(args[0].type, Tup):
                    given += self.items(args.pop(0))
                elif args and isinstance(args[0].type, Lst):
                    if engine_name in _ALONG_LISTS:
                        return self._along_list(name, getattr(_core.ops, engine_name), attributes[0][2], *args, **named)
                    self.refuse(f"{name}(): expected tensors whose number is known before the run, found {args[0].type}; loops and "
                                "sum() go along lists of any length")
                else:
                    given += args
                    args = []
            elif args:
                given.append(args.pop(0))
            elif operand in named:
                given.append(named.pop(operand))
            else:
                self.refuse(f"{name}(): expected an argument '{operand}', found none; give it")
        if text is not None:
            if args or named:
                self._refuse_more(name, named)
            return self.tensor_value(self.op(engine_name, *self.promoted(given, one_type), attributes=text))
        values = []
        if takes_integers and len(args) > len(attributes) and all(map(_is_whole_number, args[len(attributes) - 1:])):
            args[len(attributes) - 1:] = [self.tuple_of(args[len(attributes) - 1:])]
        for attribute, is_list, otherwise, count in attributes:
            value = args.pop(0) if args else named.pop(attribute, None)
            if value is None or value.type == NONE and otherwise is not None:
                if otherwise is None:
                    self.refuse(f"{name}(): expected an argument '{attribute}', found none; give it")
                values += [] if is_list else [otherwise] * count
            else:
                sizes = self.sizes_of_the_run(name, value)
                if sizes is not None:
                    return self._reshaped(given[0], *sizes)
                integers = self.fixed_integers(value, f"{name}(): '{attribute}'")
                values += integers * count if len(integers) == 1 and not is_list else integers
        if args or named:
            self._refuse_more(name, named)
        ids = self.promoted(given, one_type)
        if reduced and not values:
            alone = self.tensor_value(ids[0])
            if not alone.type.dims and alone.type.dtype in reduced:
                return alone  # as in NumPy
        if engine_name in _WRAPPING and _is_integer(self.tensor_value(ids[0]).type.dtype):
            engine_name = _WRAPPING[engine_name]
        return self.tensor_value(self.op(engine_name, *ids, attributes=values))

    def sizes_of_the_run(self, name, value):
        """What reshape() is told where one size is only known to the run: the shape, with -1 in its place, and that size; None else."""
        if name != "reshape" or not isinstance(value.type, Tup):
            return None
        sizes = self.items(value)
        unknown = [axis for axis, size in enumerate(sizes) if size.type == INT]
        if len(unknown) != 1 or not all(isinstance(size.type, Const) for axis, size in enumerate(sizes) if axis != unknown[0]):
            return None
        size = sizes[unknown[0]]
        sizes[unknown[0]] = Value(Const(-1))
        return self.tuple_of(sizes), unknown[0], size

    def _reshaped(self, tensor, shape, axis, size):
        made = self.tensor_op("reshape", [tensor, shape], {})
        found = self.op("size", made.ids[0], attributes=(axis,)) if made.type.dims[axis] < 0 else self.constant(made.type.dims[axis], "i64")
        self.require(self.op("eq", found, size.ids[0]), "reshape(): the shape has another number of elements")
        return made

    def _refuse_more(self, name, named):
        _, operands, _, attributes, *_ = _table()[name]
        if named:
            there = ", ".join([*operands, *(attribute[0] for attribute in attributes)])
            self.fail(f"{name}(): there is no argument '{min(named)}'; its arguments are {there}")
        self.refuse(f"{name}(): expected fewer arguments; help(hia.{name}) tells which")

    def _along_list(self, name, join, default, items, axis=None, **others):
        if others or axis is None and default is None:
            self.fail(f"{name}(): expected a list of tensors and 'axis'")
        number = default if axis is None else self.fixed_integers(axis, f"{name}(): 'axis'")[0]
        return self.call_function(prelude.joined_by_halves(join, number), [items], {})

    def attributes_in_front(self, engine_name, args):
        """The attributes that stand as a string before the operands, which is taken from them; None where there is no string."""
        if not (args and isinstance(args[0].type, Const) and isinstance(args[0].type.value, str)):
            return None
        try:
            return _core.attributes_from_text(engine_name, args.pop(0).type.value)
        except (TypeError, _core.ProgramError) as error:
            self.refuse(str(error))

    def fixed_integers(self, value, what):
        if is_number(value.type) and isinstance(value.type.value, int):
            return [int(value.type.value)]
        if isinstance(value.type, Tup):
            return [n for item in self.items(value) for n in self.fixed_integers(item, what)]
        self.ask_for_fixed()
        self.refuse(f"{what}: expected an integer that is known before the run, found {value.type}; "
                    "hand over a constant, or what depends on sizes of tensors alone")

    def ask_for_fixed(self):
        """Another round has an instance of the function for each number among its arguments, and where that is not enough of
        those that call it; nothing where this is that round."""
        fixed, callers = self.converter.fixed, self.converter.callers
        seen = asked = {id(self.where.function.__code__)}
        while asked and asked <= fixed:
            asked = {caller for code in asked for caller in callers[code]} - seen
            seen = seen | asked
        if asked:
            fixed |= asked
            self.converter.changed = True
            self.fail()
        if self.converter.is_trial and self.converter.needs_numbers(before=True):
            raise ConversionError("a number that is an argument must be known before the run; the graph is one for this number then")

    def promoted(self, values, one_type):
        """The operands in the element types that eager operations give them."""
        values = [as_number(self.chosen(v, lambda side: isinstance(side, (Tens, Scalar)))) for v in values]
        for value in values:
            if not isinstance(value.type, (Tens, Scalar)) and not is_number(value.type):
                self.refuse(f"expected a tensor or a number, found {value.type}; make a tensor of it, or hand over its numbers")
        strong = [v.type.dtype for v in values if isinstance(v.type, Tens)]
        weak = [self.kind_of(v.type) for v in values if not isinstance(v.type, Tens)]
        if not weak and len(set(strong)) == 1:
            return [v.ids[0] for v in values]
        if not one_type:
            floats = [d for d in strong if _is_float(d)]
            return [self.number_as(v, floats[0] if floats else "f32") for v in values]
        numbers = [d for d in strong if d != "bool"]
        if len({_is_float(d) for d in numbers}) > 1 or numbers and not _is_float(numbers[0]) and float in weak:
            self.refuse("expected tensors of integers or tensors of floats, found both; convert one of them with .astype")
        common = max(numbers, key=_ORDER.get) if numbers else "f32" if float in weak else "i64" if int in weak else None
        return [self.number_as(v, common, common) for v in values]

    def number_as(self, value, float_type, common=None):
        if isinstance(value.type, Tens):
            same = common is None or value.type.dtype in (common, "bool")
            return value.ids[0] if same else self.op(common, value.ids[0])
        kind = self.kind_of(value.type)
        dtype = "bool" if kind is bool else common or (float_type if kind is float else "i64")
        if is_number(value.type):
            return self.number_constant(value.type.value, dtype)
        id_ = value.ids[0]
        return id_ if dtype == {bool: "bool", int: "i64", float: "f64"}[kind] else self.op(dtype, id_)

    def tensor_method(self, value, name, args, named):
        name = elsewhere.SAME.get(name, name)
        if name == "astype" and len(args) == 1 and isinstance(args[0].type, Const):
            return self.converted(value, str(_core.DType(args[0].type.value)).split(".")[-1])
        if name in _table() and hasattr(_core.Tensor, name):
            return self.tensor_op(name, [value, *args], named)
        if name == "tolist" and not args and not named and len(value.type.dims) <= 2:
            rank = len(value.type.dims)
            return self.as_new(self.call_prelude("numbers_of_rows" if rank == 2 else "numbers_of", [value])) if rank else self.tensor_method(value, "item", [], {})
        if name == "item" and not args:
            value = self._only_element(value)
        if name == "item" and not args and not named and value.type.dtype not in ("u8", "i32"):
            if _is_float(value.type.dtype):
                return self.float_out_of(value)
            return self.scalar({"bool": bool, "i64": int}[value.type.dtype], value.ids[0])
        self._refuse_attribute(name)

    def _refuse_attribute(self, name):
        if not hasattr(_core.Tensor, name):
            self.fail(f"'Tensor' object has no attribute '{name}'{elsewhere.hint(name)}")
        self.refuse(f"Tensor.{name} cannot be converted; {_INSTEAD.get(name, 'call a function of hiaton')}")

    def float_out_of(self, value):
        """The float of a tensor of rank 0, a constant to gradients: tapes see tensors, and no numbers of Python."""
        id_ = value.ids[0] if value.type.dtype == "f64" else self.op("f64", value.ids[0])
        if _is_float(value.type.dtype):
            id_ = self.op("stop_gradient", id_)
            self.taken_out.add(id_)
        return self.scalar(float, id_)

    def _only_element(self, value):
        """A tensor of no axes with the element of one that has no other."""
        if all(size == 1 for size in value.type.dims):
            return self.tensor_value(self.op("reshape", value.ids[0])) if value.type.dims else value
        if any(size < 0 for size in value.type.dims):
            self.refuse(f"item() of {value.type} cannot be converted: a size is not known before the run; {_FIXED_SIZE}")
        self.fail(f"item(): expected a tensor of one element, found {value.type}")

    def tensor_attribute(self, value, name):
        if name == "shape":
            return self.tuple_of([Value(Const(d)) if d >= 0 else Value(INT, (self.op("size", value.ids[0], attributes=(axis,)),))
                                  for axis, d in enumerate(value.type.dims)])
        if name == "ndim":
            return Value(Const(len(value.type.dims)))
        if name == "dtype":
            return Value(Const(_dtype_of_tensors(value.type.dtype)))
        if name == "T":
            return self.tensor_op("permute_dims", [value], {})
        self._refuse_attribute(name)

    def tensor_split(self, given):
        """hia.split(x, lengths, axis) of a tensor and numbers that are known before the run."""
        value = self.chosen(given[0], lambda side: isinstance(side, Tens))
        if not isinstance(value.type, Tens):
            self.refuse(f"split(): expected a tensor, found {value.type}; lists are taken apart by slices")
        lengths, (axis,) = self.fixed_integers(given[1], "split(): 'lengths'"), self.fixed_integers(given[2], "split(): 'axis'")
        rank = len(value.type.dims)
        if not -rank <= axis < rank:
            self.fail(f"split(): expected an axis from {-rank} to {rank - 1}, found {axis}")
        axis %= rank
        if value.type.dims[axis] < 0:
            self.refuse(f"split() of {value.type} cannot be converted: the size of axis {axis} is not known before the run; {_FIXED_SIZE}")
        try:
            lengths = pieces.lengths_of(lengths if isinstance(given[1].type, Tup) else lengths[0], value.type.dims[axis])
        except ValueError as error:
            self.fail(str(error))
        starts = itertools.accumulate(lengths, initial=0)
        return self.tuple_of([self.part_along(value, axis, slice(start, start + length)) for start, length in zip(starts, lengths)])

    def tensor_subscript(self, value, node):
        """x[key], where the key is written as `node`: rows by numbers that the run tells, and parts that are known before."""
        keys = []
        for part in node.elts if isinstance(node, ast.Tuple) else [node]:
            key = self.fixed_part(part) if isinstance(part, ast.Slice) else self.eval(part)
            keys += self.items(key) if isinstance(key.type, Tup) else [key]
        return self.tensor_item(value, keys)

    def fixed_part(self, node):
        """A slice whose bounds are known before the run, as a constant."""
        bounds = [Value(NONE) if bound is None else self.eval(bound) for bound in (node.lower, node.upper, node.step)]
        for bound in bounds:
            if bound.type != NONE and not (is_number(bound.type) and type(bound.type.value) is int):
                self.ask_for_fixed()
                self.refuse(f"expected a part with integer bounds that are known before the run, found {bound.type}; "
                            "take rows by a tensor of numbers, or all of them by a loop")
        if bounds[2].type == Const(0):
            self.fail("slice step cannot be zero")
        return Value(Const(slice(*(bound.type.value for bound in bounds))))

    def tensor_item(self, value, keys):
        """x[keys] by the keys for one axis after the other."""
        keys = [as_number(self.chosen(key)) for key in keys]
        constants = [key.type.value if isinstance(key.type, Const) else key for key in keys]
        used = sum(constant is not None and constant is not Ellipsis for constant in constants)
        if used > len(value.type.dims):
            self.fail(f"expected at most {len(value.type.dims)} indices, found {used}")
        if constants.count(Ellipsis) > 1:
            self.fail("expected one '...' among the indices, found more")
        axis, left = 0, len(value.type.dims) - used
        for key, constant in zip(keys, constants):
            if constant is Ellipsis:
                axis += left
            elif constant is None:
                value, axis = self.with_new_axis(value, axis), axis + 1
            elif isinstance(constant, slice):
                value, axis = self.part_along(value, axis, constant), axis + 1
            elif type(constant) is int or key.type == Scalar(int):
                value = self.row_along(value, axis, key)
            elif isinstance(key.type, Tens) and key.type.dtype in ("u8", "i32", "i64") and (not key.type.dims or len(keys) == 1):
                rows = self.converted(key, "i64").ids[0]
                value = self.with_axis_first(value, axis, lambda x, rows=rows: self.op("gather", x, rows), lost=True)
            elif isinstance(key.type, (Tens, Scalar)) or constant is True or constant is False:
                self.fail(_why_no_index(key.type))
            else:
                self.refuse(f"an index of {key.type} cannot be converted; use integers, slices, '...', None, or one tensor of integers")
        return value

    def with_new_axis(self, value, axis):
        dims = [*value.type.dims[:axis], 1, *value.type.dims[axis:]]
        if sum(d < 0 for d in dims) > 1:
            self.refuse(f"None as an index into {value.type} cannot be converted: more than one size is not known before the run; {_FIXED_SIZE}")
        return self.tensor_value(self.op("reshape", value.ids[0], attributes=dims))

    def part_along(self, value, axis, part):
        if part == slice(None) or part == slice(None, None, 1):
            return value
        if part == slice(None, None, -1):
            return self.tensor_value(self.op("flip", value.ids[0], attributes=(axis,)))
        size = value.type.dims[axis]
        if size < 0:
            self.refuse(f"a part of {value.type} cannot be converted: the size of axis {axis} is not known before the run; {_FIXED_SIZE}")
        places = range(*part.indices(size))
        if places.step == 1 or len(places) <= 1:
            return self.tensor_value(self.op("slice", value.ids[0], attributes=(axis, places.start if places else 0, len(places))))
        rows = tensors.tensor(list(places))
        rows = self.graph.constant(rows, _core.graph_type(rows.dtype, list(rows.shape)))
        return self.with_axis_first(value, axis, lambda x: self.op("gather", x, rows))

    def row_along(self, value, axis, key):
        size = value.type.dims[axis]
        is_known = is_number(key.type)
        if is_known and size >= 0:
            if not -size <= key.type.value < size:
                self.fail(f"expected an index from {-size} to {size - 1}, found {key.type.value}")
            if axis > 0:
                return self.tensor_value(self.op("take", value.ids[0], attributes=(axis, key.type.value % size)))
        row = self.as_kind(key, int)
        if is_known and key.type.value < 0:
            length = self.op("size", value.ids[0], attributes=(axis,)) if size < 0 else self.constant(size, "i64")
            row = self.op("add", row, length)
        # Others that are negative are rare: there the run fails, and Python takes the row.
        return self.with_axis_first(value, axis, lambda x: self.op("gather", x, row), lost=True)

    def with_axis_first(self, value, axis, change, lost=False):
        """What `change` makes of the tensor, whose axis it finds as the first one, and loses where it says so."""
        if axis == 0:
            return self.tensor_value(change(value.ids[0]))
        others = [n for n in range(len(value.type.dims)) if n != axis]
        made = change(self.op("transpose", value.ids[0], attributes=(axis, *others)))
        if not lost:
            back = [*range(1, axis + 1), 0, *range(axis + 1, len(others) + 1)]
            made = self.op("transpose", made, attributes=back)
        return self.tensor_value(made)


def _is_whole_number(value):
    """Whether it is an integer, and no truth value."""
    return value.type == INT or isinstance(value.type, Const) and hasattr(type(value.type.value), "__index__") and type(value.type.value) is not bool


def _why_no_index(type_):
    """Why a tensor, a number or a truth value cannot be an index of a tensor."""
    if isinstance(type_, Tens) and type_.dtype == "bool" or type_ == Scalar(bool) or is_number(type_) and type(type_.value) is bool:
        return f"truth values are no indices of tensors, found {type_}, and hia.where(mask, x, 0) keeps the size"
    if isinstance(type_, Tens) and type_.dtype in ("u8", "i32", "i64"):
        return f"expected a tensor of integers as the only index, or several tensors of one integer each, found {type_}"
    return f"expected integers as an index, found {type_}"


@functools.cache
def _dtype_of_tensors(name):
    """One object for each: types of the same constant are equal. Python gives none of those that `hia` names."""
    return _core.DType(name)


@functools.cache
def _table():
    return _core.operation_table()
