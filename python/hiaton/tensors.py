"""Making tensors."""

import numpy

from hiaton import _core


def _of_type(array, dtype):
    """The array in an element type that there is; numbers of Python become f32 and i64."""
    if dtype is not None:
        return array.astype(_core.numpy_name(_core.DType(dtype)), copy=False)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"expected truth values, integers of 64 bits or floats, found elements of the type {array.dtype}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


_convert = _core.DType.__call__


def _converted(dtype, *data):
    """dtype(x): a tensor, an array or a number in this element type."""
    name = str(dtype).replace("hiaton", "hia")
    if len(data) != 1:
        raise TypeError(f"{name}: expected one tensor, array or number, found {len(data)} arguments")
    try:
        return _convert(dtype, data[0])
    except TypeError:
        raise TypeError(f"{name}: expected a tensor, an array or a number, found {type(data[0]).__name__}; hia.tensor(data, {name}) makes "
                        "a tensor of a list") from None


_core.DType.__call__ = _converted


def common_type(dtypes, kinds):
    """The name of the element type of what is made of tensors with these types and of numbers of these kinds."""
    for name in ("f64", "f32"):
        if name in dtypes:
            return name
    if float in kinds:
        return "f32"
    whole = dtypes | {"i64"} if int in kinds else dtypes
    return next((name for name in ("i64", "i32", "u8") if name in whole), "bool")


def _holds_tensors(data):
    kinds = set(map(type, data))
    return any(issubclass(kind, _core.Tensor) for kind in kinds) or not kinds.isdisjoint((list, tuple)) and any(
        _holds_tensors(part) for part in data if isinstance(part, (list, tuple)))


def _types_in(data):
    """The element types of tensors and arrays in nested lists, and the kinds of numbers."""
    if isinstance(data, (list, tuple)):
        dtypes, kinds = zip(*map(_types_in, data)) if data else ((), ())
        return set().union(*dtypes), set().union(*kinds)
    if isinstance(data, (bool, int, float)):
        return set(), {type(data)}
    return {str(asarray(data).dtype).split(".")[-1]}, set()


def _stacked(data, dtype):
    if isinstance(data, (list, tuple)):
        return _core.ops.stack([_stacked(part, dtype) for part in data])
    return asarray(data, dtype)


def tensor(data, dtype=None) -> _core.Tensor:
    """A tensor with the elements of numbers, nested lists, an array or another tensor, which are copied.

    Floats of Python become f32, its integers i64; arrays keep their element type. `dtype` asks for another one. Where a list holds
    tensors, gradients go to these, and numbers take their element type.
    """
    if isinstance(data, (list, tuple)) and _holds_tensors(data):
        return _stacked(data, _core.DType(common_type(*_types_in(data)) if dtype is None else dtype))
    is_array = isinstance(data, (_core.Tensor, numpy.ndarray, numpy.generic)) or hasattr(data, "__dlpack__")
    array = numpy.from_dlpack(data) if is_array and not hasattr(data, "__array__") else numpy.asarray(data)
    if dtype is None and not is_array and array.dtype == numpy.float64:
        dtype = _core.f32
    return _core.shared(numpy.array(_of_type(array, dtype), order="C"))


def asarray(data, dtype=None) -> _core.Tensor:
    """The same, without a copy where that is possible: the tensor shares the memory of an array, which must not be
    written any more."""
    if isinstance(data, _core.Tensor):
        return data if dtype is None else data.astype(dtype)
    if dtype is None and (isinstance(data, numpy.ndarray) or hasattr(data, "__dlpack__")):
        try:
            return _core.shared(data)
        except ValueError:
            return tensor(data)
    return tensor(data, dtype)


def from_numpy(array) -> _core.Tensor:
    """A tensor that shares the memory of an array of NumPy, which must not be written any more.

    Raises ValueError where the elements of the array are not contiguous.
    """
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"expected an array of NumPy, found {type(array).__name__}")
    return _core.shared(array)


def from_dlpack(array) -> _core.Tensor:
    """A tensor that shares the memory of an array of any package that knows DLPack, as PyTorch or JAX. It must not be
    written any more.

    Raises ValueError where the elements of the array are not contiguous.
    """
    if not hasattr(array, "__dlpack__"):
        raise TypeError(f"expected an object with __dlpack__, found {type(array).__name__}")
    return _core.shared(array)


def full(shape, value, dtype=None) -> _core.Tensor:
    """A tensor in which all elements are `value`."""
    if dtype is None:
        dtype = tensor(value).dtype
    return _core.shared(numpy.full(shape, value, _core.numpy_name(_core.DType(dtype))))


def one_shape(sizes, is_size):
    """Sizes that were given one by one, behind which an element type may stand: the shape, and a list of that type."""
    count = next((place for place, size in enumerate(sizes) if not is_size(size)), len(sizes))
    return (sizes[:count], sizes[count:]) if count > 1 else (sizes[0], sizes[1:])


def _filled(value, sizes, dtype):
    shape, last = one_shape(sizes, lambda size: hasattr(type(size), "__index__"))
    if len(last) > 1:
        raise TypeError(f"expected a shape or sizes, then at most one element type, found {len(last)} more arguments")
    return full(shape, value, *(last or (dtype,)))


def zeros(shape, *more, dtype=_core.f32) -> _core.Tensor:
    """A tensor of zeros: zeros((2, 3)), zeros(2, 3), zeros((2, 3), hiaton.f64)."""
    return _filled(0, (shape, *more), dtype)


def ones(shape, *more, dtype=_core.f32) -> _core.Tensor:
    """A tensor of ones: ones((2, 3)), ones(2, 3), ones((2, 3), hiaton.f64)."""
    return _filled(1, (shape, *more), dtype)


def eye(rows, columns=None, dtype=_core.f32) -> _core.Tensor:
    """A matrix with ones on its diagonal and zeros elsewhere."""
    return _core.shared(numpy.eye(rows, columns, dtype=_core.numpy_name(_core.DType(dtype))))


def arange(start, stop=None, step=1, dtype=None) -> _core.Tensor:
    """The numbers from `start` on, `step` apart, below `stop`; with one argument, from 0 to below that."""
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        is_whole = all(isinstance(number, int) for number in (start, stop, step))
        dtype = _core.i64 if is_whole else _core.f32
    return _core.shared(numpy.arange(start, stop, step, _core.numpy_name(_core.DType(dtype))))
