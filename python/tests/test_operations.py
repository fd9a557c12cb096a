"""Every operation of the catalogue is a function with a text."""

import inspect
import pathlib
import re
import warnings

import numpy as np
import pytest

import hiaton as hia

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_operation_has_a_function_and_a_text():
    page = (ROOT / "docs/operations.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "| any values |" not in line]
    documented = [re.split(r" \| ", line[2:]) for line in rows[2:]]
    texts = {getattr(hia.ops, name).__doc__.split("\n\n")[-1].strip() for name in hia.ops.__all__}
    assert len(documented) > 80
    for row in documented:
        if row[0] not in ("bool", "u8", "i32", "i64", "f32", "f64", "identity"):
            assert any(row[2].strip() == text for text in texts), row[0]


def test_functions_of_the_standard_have_its_names():
    for name in ["add", "subtract", "multiply", "equal", "less_equal", "logical_and", "minimum", "tanh", "matmul",
                 "concat", "stack", "permute_dims", "reshape", "where", "sum", "mean", "max", "argmax", "broadcast_to",
                 "min", "floor_divide", "remainder", "isnan", "isinf", "isfinite", "cumulative_sum", "bitwise_and",
                 "bitwise_or", "bitwise_xor", "bitwise_invert", "bitwise_left_shift", "bitwise_right_shift"]:
        assert callable(getattr(hia, name)) and inspect.getdoc(getattr(hia, name)), name


@pytest.mark.parametrize("name", ["min", "max", "isnan", "isinf", "isfinite"])
def test_functions_of_one_array_are_those_of_numpy(name):
    x = np.array([[1.0, -2.0, np.inf], [np.nan, 0.0, -np.inf]])
    for given in (x[:1], x):
        assert np.array_equal(getattr(hia, name)(given).numpy(), getattr(np, name)(given), equal_nan=name in ("min", "max"))
    if name in ("min", "max"):
        assert np.array_equal(getattr(hia, name)(x, axis=0).numpy(), getattr(np, name)(x, axis=0), equal_nan=True)


def test_quotients_and_sums_are_those_of_numpy():
    x, y = np.array([[7, -7, 6], [-6, 1, 0]]), np.array([2, 3, -4])
    assert hia.floor_divide(x, y).tolist() == np.floor_divide(x, y).tolist()
    assert hia.remainder(x, y).tolist() == np.remainder(x, y).tolist()
    assert hia.cumulative_sum(x, axis=0).tolist() == np.cumsum(x, axis=0).tolist()
    assert hia.minimum(x, y).tolist() == np.minimum(x, y).tolist()


def test_operands_and_attributes_go_by_place_and_by_name():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert hia.sum(x).item() == 15
    assert hia.sum(x, 0).tolist() == hia.sum(x, axis=0).tolist() == hia.sum(x=x, axis=(0,)).tolist() == [3, 5, 7]
    assert hia.sum(x, axis=None).item() == 15
    assert hia.reshape(x, (3, 2)).shape == hia.reshape(x, shape=[3, -1]).shape == (3, 2)
    assert hia.concat([x, x], 0).tolist() == hia.concat(x, x, axis=0).tolist() == np.concatenate([x, x]).tolist()
    assert hia.permute_dims(x, (1, 0)).tolist() == x.T.tolist()
    assert np.allclose(hia.softmax(x).numpy().sum(axis=-1), 1)
    assert hia.cross_entropy([0.0, 0.0] + np.zeros(2, np.float32), 1).item() == pytest.approx(np.log(2))


def test_functions_of_a_tensor_are_its_methods():
    x = np.arange(1, 7, dtype=np.float32).reshape(2, 3) / 8

    def by_methods(x):
        return (x.tanh(), x.sum(), x.sum(axis=0), x.mean(-1), x.reshape((3, 2)).matmul(x), x.add(1.0), x.maximum(0.5).log(), x.greater(0.25).any(),
                x.softmax(axis=0), x.permute_dims((1, 0)), x.clip(0.2, high=0.5), x.argmax())

    def by_functions(x):
        return (hia.tanh(x), hia.sum(x), hia.sum(x, axis=0), hia.mean(x, -1), hia.matmul(hia.reshape(x, (3, 2)), x), hia.add(x, 1.0),
                hia.log(hia.maximum(x, 0.5)), hia.any(hia.greater(x, 0.25)), hia.softmax(x, axis=0), hia.permute_dims(x, (1, 0)),
                hia.clip(x, 0.2, high=0.5), hia.argmax(x))

    x = hia.asarray(x)
    assert repr(by_methods(x)) == repr(by_functions(x)) == repr(hia.function(by_methods, strict=True)(x))
    assert hia.grad(lambda x: (x * x).sum())(x).tolist() == (x * 2.0).tolist()
    assert "along the axes" in inspect.getdoc(hia.Tensor.sum) and not hasattr(hia.Tensor, "concat") and x.size == 6
    with pytest.raises(TypeError, match="there is no argument 'dim'"):
        x.sum(dim=0)
    with pytest.raises(hia.ConversionError, match="'Tensor' object has no attribute 'flatten'; what other packages call 'flatten' is"):
        hia.function(lambda x: x.flatten(), strict=True)(x)


@pytest.mark.parametrize("call, message", [
    (lambda x: hia.sum(), "sum.*expected an argument 'x'"),
    (lambda x: hia.concat([x, x], dim=0), r"concat\(\): there is no argument 'dim'; its arguments are parts, axis"),
    (lambda x: hia.sum(x, 0, 1), "sum.*at most 2"),
    (lambda x: hia.sum(x, dim=0), "sum.*no argument 'dim'"),
    (lambda x: hia.sum(x, x=x), "sum.*"),
    (lambda x: hia.sum(x, axis="a"), "sum.*axis"),
    (lambda x: hia.tanh([1.0]), "tanh.*'a'.*found list"),
    (lambda x: hia.concat([x]), "concat.*'axis'"),
])
def test_wrong_calls_are_type_errors(call, message):
    with pytest.raises(TypeError, match=message):
        call(hia.ones((2, 3)))


def test_the_engine_says_what_it_expected():
    with pytest.raises(hia.ProgramError, match=r"matmul: expected .*found f32\[2, 3\] and f32\[2\]"):
        hia.ones((2, 3)) @ hia.ones(2)
    with pytest.raises(hia.ProgramError, match="softmax: expected an axis from -2 to 1, found 5"):
        hia.softmax(hia.ones((2, 3)), axis=5)
    with pytest.raises(hia.RunError, match="division by zero: 7 / 0") as raised:
        hia.div(7, 0)
    assert raised.value.fault == "division by zero"
    assert issubclass(hia.ProgramError, ValueError) and issubclass(hia.RunError, hia.Error)


def test_eager_and_program_give_the_same_bits():
    rng = np.random.default_rng(2)
    x, w, b = (rng.normal(size=shape).astype(np.float32) for shape in [(5, 7), (7, 3), (3,)])
    model = hia.program("fn main(x: f32[5, 7], w: f32[7, 3], b: f32[3]) -> f32[5, 3] = softmax(tanh(x @ w + b))")
    eager = hia.softmax(hia.tanh(hia.asarray(x) @ w + b))
    assert eager.numpy().tobytes() == model(x, w, b).numpy().tobytes()


def test_einsum_is_that_of_numpy_eager_and_converted():
    rng = np.random.default_rng(3)
    x, y, z = (rng.normal(size=shape) for shape in [(4, 2, 3), (4, 3, 5), (5,)])
    for subscripts, operands in [("bij,bjk->bik", (x, y)), ("bij,bjk,k", (x, y, z)), ("bii->b", (x[:, :, :2],)), ("k,k->", (z, z))]:
        expected = np.einsum(subscripts, *operands)
        np.testing.assert_allclose(np.asarray(hia.einsum(subscripts, *operands)), expected, rtol=1e-12)

    @hia.function
    def attention(queries, keys):
        return hia.softmax(hia.einsum("bij,bkj->bik", queries, keys))

    keys = hia.asarray(rng.normal(size=(4, 6, 3)))
    plain = hia.softmax(hia.asarray(np.einsum("bij,bkj->bik", x, np.asarray(keys))))
    np.testing.assert_allclose(np.asarray(attention(hia.asarray(x), keys)), np.asarray(plain), rtol=1e-12)
    with pytest.raises(hia.ProgramError, match="expected as subscripts a letter for each axis"):
        hia.einsum("i...->i", z)
    with pytest.raises(TypeError, match="'a': expected a tensor"):
        hia.exp("i->i", z)


def test_reductions_of_a_tensor_of_rank_0_are_those_of_numpy():
    def reduced(x, is_large):
        return hia.sum(x), hia.mean(x), hia.max(x), hia.min(x), hia.logsumexp(x), hia.any(is_large), hia.all(is_large), hia.sum(2)

    graph = hia.function(reduced, strict=True)
    for number in (2.5, -0.0, float("inf")):
        x = hia.tensor(number)
        found = reduced(x, x > 1.0)
        assert repr(graph(x, x > 1.0)) == repr(found)
        expected = [np.sum(number), np.mean(number), np.max(number), np.min(number), number, np.any(number > 1), np.all(number > 1), 2]
        assert [one.item() for one in found] == expected and {one.shape for one in found} == {()}
    assert hia.grad(lambda x: hia.sum(x * x) * 2.0)(hia.f32(3.0)).item() == 12.0
    x = hia.f32(3.0)
    with hia.GradientTape() as tape:
        tape.watch(x)
        y = hia.sum(x) * x
    assert tape.gradient(y, x).item() == 6.0
    for refused in (lambda: hia.sum(hia.tensor(True)), lambda: hia.mean(hia.tensor(2)), lambda: hia.any(x), lambda: hia.sum(x, axis=0)):
        with pytest.raises(hia.ProgramError, match="expected a tensor of"):
            refused()
    with pytest.raises(hia.ConversionError, match="expected a tensor of f32 or f64, found i64"):
        hia.function(lambda n: hia.mean(hia.i64(n)), strict=True)(2)


def in_pieces(x, k):
    a, b, c = hia.split(x, 2, axis=1)
    return a * k, b, c, hia.split(x, [1, 1]), hia.split(x, lengths=(0, 5), axis=-1)


def pieces_of(lengths):
    return lambda x: hia.split(x, lengths)


def test_tensors_are_split_into_pieces():
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    found = in_pieces(hia.asarray(x), 2.0)
    for one, expected in zip((*found[:3], *found[3], *found[4]), (x[:, :2] * 2, x[:, 2:4], x[:, 4:], x[:1], x[1:], x[:, :0], x)):
        np.testing.assert_array_equal(np.asarray(one), expected)
    assert repr(hia.function(in_pieces, strict=True)(hia.asarray(x), 2.0)) == repr(found)
    weights = hia.grad(lambda x: hia.sum(hia.split(x, [1, 4], axis=1)[1] * x[:, 1:]))(hia.asarray(x))
    np.testing.assert_array_equal(np.asarray(weights), np.where(np.arange(5) > 0, 2 * x, 0))

    for lengths, expected in (((1, 2), "add up to the 2 elements of the axis, found"), (0, "pieces of 1 or more elements, found 0"),
                              ((3, -1), "add up")):
        asked = pieces_of(lengths)
        for one in (asked, hia.function(asked)):
            with warnings.catch_warnings(), pytest.raises(ValueError, match=expected):
                warnings.simplefilter("ignore", hia.FallbackWarning)
                one(hia.asarray(x))
    with pytest.raises(ValueError, match="an axis of a tensor of 2 dimensions, found 2"):
        hia.split(hia.asarray(x), 1, axis=2)
