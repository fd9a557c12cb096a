"""Operations and element types of Hiaton as values, and what elements of tensors are asked for."""

import dataclasses
import math

import pytest

import hiaton as hia


def activated(x, act=hia.relu):
    return act(x)


def chosen(x, use_first, first, second):
    return (first if use_first else second)(x)


def all_of(x, acts):
    for act in acts:
        x = act(x)
    return x


def test_operations_are_arguments_and_defaults():
    x = hia.tensor([-1.0, 0.5])
    for function, args in ((activated, ()), (activated, (hia.tanh,)), (chosen, (True, hia.tanh, hia.relu)), (chosen, (False, hia.tanh, hia.relu)),
                           (all_of, ([hia.tanh, hia.tanh],)), (all_of, ((hia.tanh, hia.exp),))):
        assert repr(hia.function(function, strict=True)(x, *args)) == repr(function(x, *args))
    assert hia.grad(lambda x, act: hia.sum(act(x)))(x, hia.relu).tolist() == [0.0, 1.0]


def test_an_element_type_is_a_result():
    x = hia.ones(2)
    assert hia.function(lambda x: (x.dtype, x), strict=True)(x)[0] == hia.f32


def test_element_types_are_compared_and_handed_over():
    def zeros_of(x, dtype):
        return hia.zeros(2, dtype) if x.dtype == hia.f32 else hia.ones(2, dtype), x.dtype == dtype, x.dtype != dtype, x.dtype is hia.f32

    for x in (hia.ones(2), hia.ones(2, hia.i64)):
        for dtype in (hia.f32, hia.i64):
            assert repr(hia.function(zeros_of, strict=True)(x, dtype)) == repr(zeros_of(x, dtype))


def test_the_element_of_a_tensor_that_has_one():
    for shape in ((), (1,), (1, 1)):
        assert hia.function(lambda x: x.item(), strict=True)(hia.full(shape, 2.5)) == 2.5
    with pytest.raises(hia.ConversionError, match=r"item\(\): expected a tensor of one element, found f32\[2\]; "):
        hia.function(lambda x: x.item(), strict=True)(hia.ones(2))


def depth(x, n):
    return x if n == 0 else hia.sin(depth(x, n - 1))


def test_a_float_where_a_tensor_is_expected():
    with pytest.raises(hia.RunError, match=r"error: expected f32\[\], found float; hia.f32\(x\) makes a tensor of the number"):
        hia.grad(lambda x: depth(x, 2))(0.5)
    found = hia.grad(lambda x: depth(hia.f32(x), 2))(0.5)
    assert found == pytest.approx(math.cos(math.sin(0.5)) * math.cos(0.5), rel=1e-6)


@dataclasses.dataclass(order=True)
class Weighted:
    weight: int
    name: str = dataclasses.field(default="", compare=False)
    height: float = 0.0


class Heavier(Weighted):
    pass


def compared(a, b):
    return a < b, a <= b, a > b, a >= b, sorted([a, b])[0].name, min(a, b).height


def test_dataclasses_with_an_order():
    graph = hia.function(compared, strict=True)
    for a, b in ((1, 2.0), (2, 1.0), (1, 1.0)):
        pair = Weighted(a, "a", b), Weighted(1, "b", 1.0)
        assert graph(*pair) == compared(*pair)
    with pytest.raises(hia.ConversionError, match="compare objects of one class, or their fields"):
        hia.function(lambda a, b: a < b, strict=True)(Weighted(1), Heavier(2))


@pytest.mark.parametrize("function,args,message", [
    (lambda x: [10, 20, 30][x], (hia.tensor(1.0),), r"expected an integer as an index into a list or a tuple, found f32\[\]; "),
    (lambda items, x: items[x], ([1, 2], 1.0), "expected an integer as an index into a list or a tuple, found float; "),
    (lambda x: divmod(x, 2.0), (hia.ones(2),), r"divmod\(\): expected two numbers, found f32\[2\] and 2.0; "),
])
def test_what_python_refuses(function, args, message):
    with pytest.raises(TypeError):
        function(*args)
    with pytest.raises(hia.ConversionError, match=message):
        hia.function(function, strict=True)(*args)
    with pytest.warns(hia.FallbackWarning), pytest.raises(TypeError):
        hia.function(function)(*args)


def test_tensors_of_an_integer_are_indices():
    assert hia.function(lambda x: [10, 20, 30][x], strict=True)(hia.tensor(1)) == 20
