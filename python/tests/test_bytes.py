"""Tensors of u8, as images are stored: shared with NumPy, with its arithmetic, eagerly and in graphs."""

import dataclasses

import numpy as np
import pytest

import hiaton as hia


def of(array):
    return hia.from_numpy(np.ascontiguousarray(array))


@pytest.fixture
def images():
    rng = np.random.default_rng(3)
    return rng.integers(0, 256, (4, 5, 3), np.uint8), rng.integers(0, 256, (5, 3), np.uint8)


def test_memory_is_shared_both_ways(images):
    x, _ = images
    tensor = hia.from_numpy(x)
    assert tensor.dtype == hia.u8 and tensor.dtype.itemsize == 1 and repr(hia.u8) == "hiaton.u8"
    assert np.shares_memory(tensor.numpy(), x) and not tensor.numpy().flags.writeable
    assert np.shares_memory(np.from_dlpack(tensor), x) and np.from_dlpack(tensor).dtype == np.uint8
    assert np.shares_memory(hia.from_dlpack(x).numpy(), x)
    assert np.shares_memory(hia.asarray(x)[1].numpy(), x)


OPERATORS = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: -a,
    lambda a, b: a + 7,
    lambda a, b: 255 - a,
    lambda a, b: a // (b | 1),
    lambda a, b: a % (b | 1),
    lambda a, b: a & b,
    lambda a, b: a ^ b,
    lambda a, b: ~a,
    lambda a, b: a << 3,
    lambda a, b: a >> 2,
    lambda a, b: a < b,
    lambda a, b: a == b,
    lambda a, b: a >= 100,
    lambda a, b: a[1:, ::2],
    lambda a, b: a[-1, 2],
    lambda a, b: abs(a),
]


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_follow_numpy_eagerly_and_in_graphs(images, operator):
    x, y = images
    expected = operator(x, y)
    for found in (operator(of(x), of(y)), hia.function(operator, strict=True)(of(x), of(y))):
        assert found.numpy().dtype == expected.dtype and np.array_equal(found.numpy(), expected)


def test_a_graph_whose_bytes_wrap_around_is_not_given_up(images):
    x, y = images
    function = hia.function(lambda a, b: (a + b) * a - b, strict=True)
    for _ in range(4):
        assert np.array_equal(function(of(x), of(y)).numpy(), (x + y) * x - y)
    assert " 0 faults" in function.report()


def test_conversions(images):
    x, _ = images
    t = of(x)
    for dtype, numpy_type in [(hia.i32, np.int32), (hia.i64, np.int64), (hia.f32, np.float32), (hia.f64, np.float64), (hia.bool, np.bool_)]:
        assert np.array_equal(t.astype(dtype).numpy(), x.astype(numpy_type))
        assert np.array_equal(hia.function(lambda a: a.astype(dtype), strict=True)(t).numpy(), x.astype(numpy_type))
    wide = np.array([-1, 255, 256, 70000, -300])
    low = wide.astype(np.uint8)
    assert np.array_equal(hia.tensor(wide).astype("u8").numpy(), low)
    assert np.array_equal(hia.function(lambda a: a.astype("u8"), strict=True)(hia.tensor(wide)).numpy(), low)
    assert hia.tensor([0.0, 254.9]).astype("u8").tolist() == [0, 254]
    with pytest.raises(hia.RunError, match="invalid cast"):
        hia.tensor(-1.0).astype(hia.u8)


def test_the_wider_type_wins_and_numbers_must_fit():
    t = hia.ones(2, "u8")
    assert (t + hia.ones(2, "i32")).dtype == hia.i32 and (t * hia.ones(2, "i64")).dtype == hia.i64
    assert (t + 1).dtype == hia.u8 and (t / 2).dtype == hia.f64
    both = hia.function(lambda a, b: a + b, strict=True)
    assert both(t, hia.ones(2, "i32")).dtype == hia.i32
    with pytest.raises(TypeError, match="u8 and f32.*astype"):
        t + hia.ones(2)
    for number in (-1, 256):
        with pytest.raises(OverflowError, match="fits u8"):
            t + number
        with pytest.raises(OverflowError, match="fits u8"):
            hia.function(lambda a, n=number: a + n)(t)


def test_functions_of_the_catalogue(images):
    x, y = images
    a, b = of(x), of(y)
    assert np.array_equal(hia.concat([a, a], axis=0).numpy(), np.concatenate([x, x]))
    assert np.array_equal(hia.stack([b, b], axis=1).numpy(), np.stack([y, y], 1))
    assert np.array_equal(hia.reshape(a, shape=[-1]).numpy(), x.reshape(-1))
    assert np.array_equal(hia.permute_dims(a, [2, 0, 1]).numpy(), x.transpose(2, 0, 1))
    assert np.array_equal(hia.where(a > 100, a, 0).numpy(), np.where(x > 100, x, 0))
    assert np.array_equal(hia.max(a, axis=0).numpy(), x.max(0)) and np.array_equal(hia.min(a).numpy(), x.min())
    assert np.array_equal(hia.sum(a, axis=1).numpy(), x.sum(1, dtype=np.uint8))
    assert hia.sum(a.astype("i64")).item() == x.sum()
    assert np.array_equal(hia.sort(b).numpy(), np.sort(y))
    assert np.array_equal(a[hia.tensor([3, 0])].numpy(), x[[3, 0]])
    table = hia.tensor(np.arange(512.0).reshape(256, 2))
    assert np.array_equal(table[b].numpy(), table.numpy()[y])
    assert np.array_equal(hia.function(lambda t, i: t[i], strict=True)(table, b).numpy(), table.numpy()[y])


def test_u8_numbers_are_compared_printed_and_kept_as_integers():
    t = hia.tensor([1, 200], dtype="u8")
    assert t[1].item() == 200 and type(t[1].item()) is int and int(t[0]) == 1 and [7, 8, 9][t[0]] == 8
    assert repr(t) == "tensor([  1, 200], dtype=u8)"


def test_programs_and_models_take_bytes(images):
    x, _ = images
    program = hia.program("data Pixel = Grey(level: u8) | Color(r: u8, g: u8, b: u8)\n"
                          "fn main(x: u8[n, m, 3], p: Pixel, q: u8) -> (f32[n, m, 3], Pixel, u8) = "
                          "(f32(x) / 255, match p Grey(l) -> Color(l, q, 3) Color(r, _, _) -> Grey(r), q + 1)")
    made = program(x, program.types.Grey(9), 200)
    assert np.allclose(made[0].numpy(), x / np.float32(255)) and made[2] == 201
    assert made[1] == program.types.Color(9, 200, 3) and made[1].g == 200
    with pytest.raises(OverflowError, match="fits u8"):
        program(x, program.types.Grey(9), 256)
    with pytest.raises(TypeError, match="expected u8"):
        program(x.astype(np.int32), program.types.Grey(9), 1)


def test_gradients_pass_by_bytes(images):
    _, y = images

    @hia.function
    def loss(image, w):
        return hia.sum(hia.tanh((image.astype("f32") / 255) @ w))

    image, w = of(y), hia.ones((3, 2)) * 0.1
    value, gradient = hia.value_and_grad(loss, argnums=1)(image, w)
    eager = hia.grad(lambda w: hia.sum(hia.tanh((image.astype("f32") / 255) @ w)))(w)
    assert np.allclose(gradient.numpy(), eager.numpy(), rtol=1e-5) and value.dtype == hia.f32


def test_objects_that_hold_images():
    @dataclasses.dataclass
    class Image:
        pixels: hia.Tensor
        label: int

    @hia.function(strict=True)
    def light(images):
        total = 0
        for image in images:
            if image.label > 0:
                total += int(hia.sum(image.pixels.astype("i64")))
        return total

    images = [Image(hia.tensor(np.full((2, 2), n, np.uint8)), n % 3) for n in (1, 3, 254)]
    assert light(images) == 4 * 1 + 4 * 254
