"""Gradients on a tape by parameters of which rows are read, and what optimizers do with them: as those of a graph."""

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn, optim


class Words(nn.Module):
    def __init__(self, dtype=hia.f32):
        self.table, self.linear, self.unused = nn.Embedding(6, 3, dtype=dtype), nn.Linear(3, 1, dtype=dtype), nn.Linear(1, 1, dtype=dtype)

    def loss(self, rows):
        total = 0.0
        for row in rows:
            total = total + hia.sum(self.linear(self.table(row)) ** 2)
        return total


def on_a_tape(model, rows, function=Words.loss):
    with hia.GradientTape() as tape:
        loss = function(model, rows)
    return tape.gradient(loss, model)


@pytest.mark.parametrize("dtype", [hia.f32, hia.f64], ids=str)
@pytest.mark.parametrize("rows", [[1, 4, 1], [hia.tensor([1, 4]), hia.tensor([4, 4])], [hia.i32(2), 5]], ids=["numbers", "tensors", "both"])
def test_the_gradients_are_those_of_a_graph(rows, dtype):
    model = Words(dtype)
    expected = nn.value_and_grad(model, Words.loss)(model, rows)[1]
    found = on_a_tape(model, rows)
    assert isinstance(found["table.weight"], hia.RowGrad) and found["unused.bias"] is None
    assert found["table.weight"].rows.tolist() == expected["table.weight"].rows.tolist()
    assert found["table.weight"].shape == (6, 3) and found["table.weight"].dtype == found["table.weight"].values.dtype == dtype
    for path in ("table.weight", "linear.weight", "linear.bias"):
        np.testing.assert_allclose(np.asarray(found[path]), np.asarray(expected[path]), rtol=1e-5)


@pytest.mark.parametrize("make", [optim.SGD, lambda m: optim.SGD(m, 0.1, momentum=0.9, clip=0.5), optim.Adam, optim.AdamW, optim.RMSProp, optim.Adagrad])
def test_optimizers_change_the_same_rows(make):
    trained = []
    for by_tape in (False, True):
        nn.seed(3)
        model = Words()
        optimizer, step = make(model), nn.value_and_grad(model, Words.loss)
        for rows in ([1, 2, 1], [3], [1, 5], [0, 2]):
            optimizer.update(model, on_a_tape(model, rows) if by_tape else step(model, rows)[1])
        trained.append(model.table.weight.numpy().copy())
    np.testing.assert_allclose(*trained, rtol=1e-5)


def test_rows_beside_the_whole_and_at_the_end():
    model = Words()

    def loss(model, rows):
        table = model.table.weight
        return hia.sum(table * table) + hia.sum(table[-1] * table[np.array([0, 4])]) + hia.sum(table[1, 1:])

    found = on_a_tape(model, (), loss)["table.weight"]
    assert isinstance(found, hia.Tensor)
    with hia.GradientTape(persistent=True) as tape:
        total = loss(model, ())
    np.testing.assert_allclose(found.numpy(), tape.gradient(total, model)["table.weight"].numpy(), rtol=1e-5)
    with pytest.raises(IndexError), hia.GradientTape():
        model.table(6)


def test_where_others_are_to_see_it_the_gradient_is_whole():
    model = Words()
    table = model.table.weight
    with hia.GradientTape() as outer:
        with hia.GradientTape() as inner:
            total = hia.sum(table[1] ** 3)
        first = inner.gradient(total, table)
        again = hia.sum(first)
    assert isinstance(first, hia.Tensor)
    second = np.zeros((6, 3), np.float32)
    second[1] = 6 * table.numpy()[1]
    np.testing.assert_allclose(np.asarray(outer.gradient(again, table)), second, rtol=1e-5)


def test_what_a_tape_does_not_watch():
    table = nn.Embedding(4, 2)
    with hia.GradientTape(watch_accessed_variables=False) as tape:
        total = hia.sum(table(1))
    assert tape.gradient(total, table) == {"weight": None}
    with hia.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(table)
        total = hia.sum(table(1))
    assert tape.gradient(total, table)["weight"].rows.tolist() == [1]
    with hia.GradientTape() as tape:
        with hia.no_grad():
            total = hia.sum(table(1))
        with tape.stop_recording():
            total = total + hia.sum(table(1))
    assert tape.gradient(total, table) == {"weight": None}


def test_gradients_of_rows_are_scaled_by_numbers():
    model = Words()
    gradients = on_a_tape(model, [1, 4, 1])
    rows = gradients["table.weight"]
    whole = np.asarray(rows)
    for made, factor in ((rows * 0.5, 0.5), (2 * rows, 2.0), (rows / 4, 0.25), (-rows, -1.0), (rows * hia.f32(0.5), 0.5)):
        assert isinstance(made, hia.RowGrad) and made.shape == (6, 3)
        np.testing.assert_allclose(np.asarray(made), factor * whole, rtol=1e-6)
    with pytest.raises(TypeError, match=r"a RowGrad: expected a number to scale it by, found ndarray; np.asarray\(gradient\) is the whole table"):
        rows * whole
    for wrong in (lambda: rows + rows, lambda: rows ** 2, lambda: 1.0 - rows):
        with pytest.raises(TypeError, match=r"a RowGrad has no sums with others, and no powers; np.asarray\(gradient\) is"):
            wrong()
    before = model.table.weight.numpy().copy()
    scaled = {path: None if one is None else one * 0.5 for path, one in gradients.items()}
    optim.SGD(model, 1.0).update(scaled)
    np.testing.assert_allclose(model.table.weight.numpy(), before - 0.5 * whole, rtol=1e-5)


def test_optimizers_take_arrays_and_tell_what_is_none():
    model = nn.Linear(2, 1)
    before = model.weight.numpy().copy()
    optimizer = optim.SGD(model, 1.0)
    optimizer.update({"weight": np.ones((2, 1))})
    assert np.array_equal(model.weight.numpy(), before - 1)
    with pytest.raises(TypeError, match="the gradient of 'weight': expected a tensor, a RowGrad, an array or None, found str"):
        optimizer.update({"weight": "none"})
    for wrong in (np.ones(2), hia.ones(2)):
        with pytest.raises(TypeError, match=r"the gradient of 'weight': expected f32\[2, 1\], found f32\[2\]"):
            optimizer.update({"weight": wrong})
    with pytest.raises(TypeError, match=r"the gradient of 'bias': expected f32\[1\], found f64\[1\]"):
        optimizer.update({"bias": hia.ones(1, hia.f64)})


def test_a_large_table_takes_no_time_for_what_is_not_read():
    table = nn.Embedding(50_000, 300)
    optimizer = optim.Adam(table)
    for _ in range(20):  # 200 whole tables would be 12 GB
        gradients = on_a_tape(table, range(10), lambda table, rows: sum(hia.sum(table(row)) for row in rows))
        optimizer.update(table, gradients)
    assert gradients["weight"].values.shape == (10, 300)
