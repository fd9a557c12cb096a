"""Tensors: making them, operators, parts, printing, and memory that is shared."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import hiaton as hia

DTYPES = [(hia.bool, np.bool_), (hia.u8, np.uint8), (hia.i32, np.int32), (hia.i64, np.int64), (hia.f32, np.float32), (hia.f64, np.float64)]


def address(array):
    return array.__array_interface__["data"][0]


def test_numbers_and_lists_get_the_default_types():
    assert hia.tensor([[1.0, 2.0]]).dtype == hia.f32
    assert hia.tensor([1, 2]).dtype == hia.i64
    assert hia.tensor(True).dtype == hia.bool
    assert hia.tensor(np.ones(2)).dtype == hia.f64
    assert hia.tensor([1, 2], dtype="f64").dtype == hia.f64
    assert hia.tensor([[1, 2], [3, 4]]).shape == (2, 2)
    assert hia.tensor(3.5).shape == () and hia.tensor(3.5).item() == 3.5


@pytest.mark.parametrize("ours, theirs", DTYPES)
def test_numpy_shares_memory_both_ways(ours, theirs):
    array = np.arange(6).reshape(2, 3).astype(theirs)
    tensor = hia.from_numpy(array)
    assert tensor.dtype == ours and tensor.dtype == theirs and tensor.shape == (2, 3)
    back = tensor.numpy()
    assert address(back) == address(array) and not back.flags.writeable and back.dtype == theirs
    assert address(np.from_dlpack(tensor)) == address(array)
    assert np.array_equal(np.asarray(tensor), array)
    assert address(hia.tensor(array).numpy()) != address(array)


def test_the_array_lives_as_long_as_the_tensor_and_no_longer():
    class Array(np.ndarray):
        pass

    array = np.arange(4.0).view(Array)
    gone = weakref.ref(array)
    part = hia.from_numpy(array)[1:]
    del array
    gc.collect()
    assert gone() is not None and part.tolist() == [1.0, 2.0, 3.0]
    view = part.numpy()
    del part
    gc.collect()
    assert view.tolist() == [1.0, 2.0, 3.0]
    del view
    gc.collect()
    assert gone() is None


def test_arrays_that_cannot_be_shared_are_refused_with_the_reason():
    with pytest.raises(ValueError, match="contiguous"):
        hia.from_numpy(np.ones((4, 4))[:, 1])
    assert hia.asarray(np.ones((4, 4))[:, 1]).tolist() == [1.0] * 4
    with pytest.raises(TypeError, match="uint16.*astype"):
        hia.from_numpy(np.ones(2, np.uint16))
    for data in ([1j], 2 ** 70, None, "text", [object()], np.array(["2026-11-27"], "datetime64[D]")):
        with pytest.raises(TypeError, match="expected truth values, integers of 64 bits or floats, found elements of the type "):
            hia.tensor(data)
    assert hia.tensor(np.array([1.5, 2.5], ">f4")).tolist() == [1.5, 2.5]
    with pytest.raises(TypeError, match="array of NumPy"):
        hia.from_numpy([1, 2])
    with pytest.raises(ValueError):
        hia.tensor([1.0]).numpy()[0] = 2


def test_operators_follow_numpy():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 4)).astype(np.float32)
    y = rng.normal(size=(4,)).astype(np.float32)
    a, b = hia.from_numpy(x), hia.from_numpy(y)
    for ours, theirs in [(a + b, x + y), (a - b, x - y), (a * b, x * y), (a / b, x / y), (-a, -x), (abs(a), abs(x)),
                         (a < b, x < y), (a >= b, x >= y), (a == a, x == x), (a != b, x != y), (2 - a, 2 - x),
                         (a * 3, x * 3), (1 / a, 1 / x), (~(a > 0), ~(x > 0)), (a % b, x % y)]:
        assert np.allclose(ours.numpy(), theirs, rtol=1e-5), (ours, theirs)
        assert ours.numpy().dtype == theirs.dtype
    assert np.allclose((a @ b).numpy(), x @ y, atol=1e-5)
    assert np.allclose((x + b).numpy(), x + y) and isinstance(x + b, hia.Tensor)


def test_bits_of_integers_and_truth_values_follow_numpy():
    x, y = np.array([12, -7, 0, 5]), np.array([10, 3, 1, 62])
    for dtype in (np.int32, np.int64):
        x, y = x.astype(dtype), y.astype(dtype)
        a, b = hia.from_numpy(x), hia.from_numpy(y)
        for ours, theirs in [(a & b, x & y), (a | b, x | y), (a ^ b, x ^ y), (~a, ~x), (a << 2, x << 2), (a >> 1, x >> 1),
                             (a & 6, x & 6), (6 | a, 6 | x), (3 ^ a, 3 ^ x), (1 << (b % 5), 1 << (y % 5))]:
            assert ours.tolist() == theirs.tolist() and ours.numpy().dtype == theirs.dtype
    p, q = hia.from_numpy(x > 0), hia.from_numpy(y > 2)
    assert [(p & q).tolist(), (p | q).tolist(), (p ^ True).tolist(), (~p).tolist()] == [
        ((x > 0) & (y > 2)).tolist(), ((x > 0) | (y > 2)).tolist(), (~(x > 0)).tolist(), (~(x > 0)).tolist()]
    with pytest.raises(hia.ProgramError, match="bitwise_and: expected u8, i32 or i64"):
        hia.ones(2) & hia.ones(2)
    with pytest.raises(hia.ProgramError, match="and: expected"):
        hia.from_numpy(x) & p


def test_quotients_of_floats_follow_numpy():
    x, y = np.array([-7.5, 7.5, 0.0, 6.0, 1e300]), np.array([2.0, -2.0, 3.0, -3.0, 0.5])
    a, b = hia.from_numpy(x), hia.from_numpy(y)
    assert np.array_equal((a // b).numpy(), x // y) and np.array_equal((a % b).numpy(), x % y)
    assert (hia.tensor([7.0]) // 2).tolist() == [3.0] and (7.0 % hia.tensor([-2.0])).tolist() == [-1.0]


@pytest.mark.parametrize("divisor", [3, -3])
def test_quotients_of_integers_are_those_of_python(divisor):
    numbers = [-7, -6, -1, 0, 1, 6, 7]
    tensor = hia.tensor(numbers)
    assert (tensor // divisor).tolist() == [n // divisor for n in numbers]
    assert (tensor % divisor).tolist() == [n % divisor for n in numbers]
    assert (tensor / divisor).tolist() == [n / divisor for n in numbers]
    assert (tensor // hia.tensor(divisor)).tolist() == [n // divisor for n in numbers]
    assert (7 // hia.tensor([2, -2])).tolist() == [3, -4]


def test_the_wider_type_of_a_kind_wins_and_kinds_do_not_mix():
    assert (hia.ones(2, "i32") + hia.ones(2, "i64")).dtype == hia.i64
    assert (hia.ones(2, "f32") * hia.ones(2, "f64")).dtype == hia.f64
    assert (hia.ones(2, "f32") + 1).dtype == hia.f32
    assert (hia.ones(2, "i32") + 1).dtype == hia.i32
    assert hia.where(hia.tensor([True, False]), hia.ones(2), 0).tolist() == [1.0, 0.0]
    with pytest.raises(TypeError, match="add.*i64 and f32.*astype"):
        hia.ones(2, "i64") + hia.ones(2)
    with pytest.raises(TypeError, match="beside a tensor of i64"):
        hia.ones(2, "i64") + 1.5
    with pytest.raises(OverflowError, match="fits i32"):
        hia.ones(2, "i32") + 2**40
    with pytest.raises(TypeError):
        hia.ones(2) + "x"


KEYS = [0, -1, None, slice(None), slice(1, None), slice(None, None, -1), slice(3, 0, -2), (0, 1), (slice(None), 1), (..., 0),
        (None, 0), (slice(1, 3), slice(None, None, 2), -1), (0, ..., None), (), slice(5, 9)]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_parts_are_those_of_numpy(key):
    array = np.arange(4 * 3 * 2).reshape(4, 3, 2)
    part = hia.from_numpy(array)[key]
    assert part.shape == array[key].shape and np.array_equal(part.numpy(), array[key])


def test_parts_that_are_contiguous_share_the_memory():
    array = np.arange(12.0).reshape(4, 3)
    assert address(hia.from_numpy(array)[1:3].numpy()) == address(array[1:3])


def test_rows_by_a_tensor_of_numbers():
    table = hia.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert table[hia.tensor([2, 0])].tolist() == [[5.0, 6.0], [1.0, 2.0]]
    assert table[np.array([1])].tolist() == [[3.0, 4.0]]
    with pytest.raises(hia.RunError, match="index out of range") as raised:
        table[hia.tensor([3])]
    assert raised.value.fault == "index out of range"


def test_wrong_keys_are_refused():
    tensor = hia.ones((2, 3))
    for key in [2, -3, (0, 0, 0), (..., ...), "x", 1.5, [True]]:
        with pytest.raises((IndexError, TypeError)):
            tensor[key]


def test_tensors_are_sequences_and_numbers():
    tensor = hia.tensor([[1, 2], [3, 4]])
    assert len(tensor) == 2 and [row.tolist() for row in tensor] == [[1, 2], [3, 4]]
    assert float(hia.tensor(2.5)) == 2.5 and int(hia.tensor([7])) == 7 and [10, 20][hia.tensor(1)] == 20
    assert hia.tensor(True) and not hia.tensor(0.0)
    with pytest.raises(ValueError, match="one element"):
        bool(tensor)
    with pytest.raises(TypeError, match="no length"):
        len(hia.tensor(1))
    with pytest.raises(TypeError):
        hash(tensor)
    assert f"{hia.tensor(2.5):.3f}" == "2.500"


def test_printing():
    assert repr(hia.tensor([1.0, 2.5])) == "tensor([1. , 2.5], dtype=f32)"
    assert repr(hia.tensor(3)) == "tensor(3, dtype=i64)"
    assert "..." in repr(hia.zeros(10_000))
    assert repr(hia.f32) == "hiaton.f32"


def test_copies_and_pickles():
    tensor = hia.tensor([[1, 2], [3, 4]])
    for other in (copy.copy(tensor), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
        assert other.dtype == tensor.dtype and other.tolist() == tensor.tolist()
    assert pickle.loads(pickle.dumps(hia.f64)) == hia.f64


def test_types_convert():
    assert hia.i32([1.9, -1.9] @ np.eye(2)).tolist() == [1, -1]
    assert hia.tensor([0.0, 2.0]).astype("bool").tolist() == [False, True]
    with pytest.raises(hia.RunError, match="invalid cast"):
        hia.tensor(float("nan")).astype(hia.i64)
    with pytest.raises(TypeError, match="uint16"):
        hia.ones(1, np.uint16)


def test_no_tensor_leaks():
    gc.collect()
    array = np.ones(1000, np.float32)
    gone = weakref.ref(array)
    tensor = hia.from_numpy(array)
    for _ in range(1000):
        tensor = hia.tanh(tensor + array) * 0.5
    del array, tensor
    gc.collect()
    assert gone() is None


def test_what_other_packages_do_to_tensors_is_refused_with_what_to_do():
    x = hia.ones(2)
    with pytest.raises(TypeError, match=r"a tensor never changes; make another one, as by hia.where\(mask, value, x\)"):
        x[0] = 1
    with pytest.raises(TypeError, match="gradients are values here: use hia.value_and_grad, nn.value_and_grad or hia.GradientTape"):
        x.backward()
    with pytest.raises(AttributeError):
        x.backwards()
    y = x
    y += 1
    assert (x.tolist(), y.tolist()) == ([1.0, 1.0], [2.0, 2.0])


@pytest.mark.parametrize("shape", [0, (0, 3), (3, 0), (2, 0, 3)])
def test_tensors_without_elements(shape):
    for made in (hia.zeros(shape), hia.ones(shape), hia.tensor(np.zeros(shape, np.float32)), hia.asarray(np.zeros(shape, np.float32))):
        assert made.numpy().shape == np.zeros(shape).shape and made.dtype == hia.f32
