"""Arrays of NumPy that a function reads and that were there before: what a graph makes of them is never that of a call before."""

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn

SHARED = np.zeros(2, np.float32)
OTHERS = {"mean": np.zeros(2, np.float32), "pair": (np.zeros(2), [np.zeros(2, np.float32)])}


def of_global(x):
    return x + hia.tensor(SHARED)


def of_another_type(x):
    return x + hia.tensor(OTHERS["pair"][0], hia.f32)


def of_dict(x):
    return x + hia.tensor(OTHERS["mean"])


def of_list(x):
    return x + hia.tensor(OTHERS["pair"][1][0])


def of_several(x):
    return x + hia.tensor([SHARED, SHARED])


def by_cast(x):
    return x + hia.f32(OTHERS["pair"][0])


def filled(x):
    return x + hia.full(2, SHARED)


def with_shared_memory(x):
    return x + hia.asarray(SHARED)


def with_a_copy_in_another_type(x):
    return x + hia.asarray(OTHERS["pair"][0], hia.f32)


def itself(x):
    return hia.tensor(SHARED)


def arrays():
    return SHARED, OTHERS["mean"], OTHERS["pair"][0], OTHERS["pair"][1][0]


@pytest.mark.parametrize("function", [of_global, of_another_type, of_dict, of_list, of_several, by_cast, filled, with_shared_memory,
                                      with_a_copy_in_another_type, itself])
def test_elements_that_change_in_place(function):
    graph, x = hia.function(function, strict=True), hia.ones(2)
    for number in range(6):
        for array in arrays():
            array[:] = number
        assert (graph(x).numpy() == function(x).numpy()).all(), number
    made = graph(x)
    SHARED[:] = 17.0
    assert function is with_shared_memory or (made.numpy() != 17.0).all()


def test_one_that_differs_from_call_to_call_is_an_argument():
    graph = hia.function(of_global, strict=True)
    for number in range(30):
        SHARED[:] = number
        assert graph(hia.ones(2)).numpy()[0] == number + 1
    assert "1 graphs, 3 conversions, 0 calls in plain Python" in graph.report()


def test_one_that_stays_is_a_constant_also_with_nan():
    SHARED[:] = float("nan")
    graph = hia.function(of_global, strict=True)
    for _ in range(3):
        assert np.isnan(graph(hia.ones(2)).numpy()).all()
    assert "1 graphs, 1 conversions" in graph.report()


class Shifted(nn.Module):
    def __init__(self):
        self.linear, self.mean = nn.Linear(2, 2), np.zeros(2, np.float32)

    def __call__(self, x):
        return hia.sum(self.linear(x - hia.tensor(self.mean)))


def test_an_attribute_of_a_module_under_gradients():
    net, x = Shifted(), hia.ones(2)
    step, graph = nn.value_and_grad(net, Shifted.__call__), hia.function(lambda x: net(x))
    for _ in range(20):
        net.mean += 1.0
        loss, gradients = step(net, x)
        assert loss.item() == net(x).item() == graph(x).item()
        assert gradients["linear.weight"].numpy()[0, 0] == 1.0 - net.mean[0]


def element_types(x):
    return hia.i32(OTHERS["mean"]), hia.bool(OTHERS["mean"]), hia.f64(SHARED)


def test_element_types_take_arrays():
    OTHERS["mean"][:], SHARED[:] = 3.0, 1.5
    expected, found = element_types(None), hia.function(element_types, strict=True)(None)
    assert [repr(one) for one in found] == [repr(one) for one in expected]


@pytest.mark.parametrize("given", [None, "a", (1, 2), [1.0], hia.relu])
def test_what_an_element_type_does_not_take(given):
    def made(x):
        return hia.f64(given) * x

    with pytest.raises(hia.ConversionError, match="hia.f64: expected a tensor, an array or a number, found "):
        hia.function(made, strict=True)(hia.ones(2))
    with pytest.warns(hia.FallbackWarning), pytest.raises(TypeError):
        hia.function(made)(hia.ones(2))


class Counts:
    """An object that NumPy makes an array of."""

    def __init__(self):
        self.numbers = [1.0, 2.0]

    def __array__(self, dtype=None, copy=None):
        return np.array(self.numbers, dtype)


def test_objects_that_numpy_makes_arrays_of():
    counts = Counts()
    graph = hia.function(lambda x: x + hia.tensor(counts), strict=True)
    for number in range(4):
        counts.numbers[0] = float(number)
        assert graph(hia.ones(2, hia.f64)).tolist() == [number + 1.0, 3.0]
