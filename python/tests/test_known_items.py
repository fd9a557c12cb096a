"""Loops and comprehensions over what is known before the run, as the layers and the parameters of a model, which are of several types."""

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


class Net(nn.Module):
    def __init__(self):
        self.layers = [nn.Linear(3, 4), nn.Linear(4, 5), nn.Linear(5, 2)]
        self.heads = [nn.Linear(3, 2), nn.Linear(3, 6)]
        self.named = {"first": nn.Linear(3, 2), "second": nn.Linear(2, 3)}

    def by_enumerate(self, x):
        for number, layer in enumerate(self.layers, start=1):
            x = layer(x)
            if number < len(self.layers):
                x = hia.tanh(x)
        return x

    def by_number(self, x):
        for number in range(len(self.layers)):
            x = self.layers[number](x)
        return x

    def backwards(self, x):
        total = 0.0
        for layer in reversed(self.layers):
            total = total * 0.5 + hia.sum(layer.weight)
        return total * hia.sum(x)

    def beside_functions(self, x):
        for layer, function in zip(self.layers, (hia.tanh, hia.relu, hia.sigmoid)):
            x = function(layer(x))
        return x

    def all_but_one(self, x):
        for layer in self.layers[:-1]:
            x = hia.tanh(layer(x))
        return self.layers[-1](x)

    def joined(self, x):
        return hia.concat([head(x) for head in self.heads], axis=0)

    def kept(self, x):
        made = [head(x) for head in self.heads]
        return hia.sum(made[0]) * hia.concat(made, axis=0)

    def written_out(self, x):
        return sum(hia.sum(p**2) for p in [self.layers[0].weight, self.layers[1].bias]) * hia.sum(x)

    def all_parameters(self, x):
        return sum(hia.sum(p * p) for p in self.parameters().values()) * hia.sum(x)

    def weights(self, x):
        return sum(hia.sum(p * p) for path, p in self.parameters().items() if path.endswith("weight")) * hia.sum(x)

    def no_biases(self, x):
        total = 0.0
        for path, p in self.parameters().items():
            if "bias" not in path:
                total = total + hia.sum(hia.abs(p))
        return total * hia.sum(x)

    def matrices(self, x):
        return sum([hia.sum(p * p) for p in self.parameters().values() if p.ndim > 1]) * hia.sum(x)

    def of_each_layer(self, x):
        return sum(hia.sum(p) for layer in self.layers for p in (layer.weight, layer.bias)) * hia.sum(x)

    def by_name(self, x):
        for name, layer in self.named.items():
            x = layer(x) if name == "first" else hia.tanh(layer(x))
        return x


WAYS = [name for name in vars(Net) if not name.startswith("_")]


@pytest.mark.parametrize("way", WAYS)
def test_layers_and_parameters(way):
    net, x = Net(), hia.tensor([1.0, -2.0, 0.5])
    method = getattr(Net, way)
    step = nn.value_and_grad(net, lambda net, x: hia.sum(method(net, x) * 1.5), strict=True)
    loss, gradients = step(net, x)
    with hia.GradientTape() as tape:
        expected = hia.sum(method(net, x) * 1.5)
    of_tape = tape.gradient(expected, net)
    assert np.allclose(loss, expected, atol=1e-5)
    for path in net.parameters():
        assert np.allclose(gradients[path], 0 if of_tape[path] is None else of_tape[path], atol=1e-4), path
    assert np.allclose(hia.function(method, strict=True)(net, x), method(net, x), atol=1e-5)


def test_what_is_given_back():
    net, x = Net(), hia.tensor([1.0, -2.0, 0.5])

    def heads(net, x, more):
        made = [hia.sum(head(x)) for head in net.heads]
        if more:
            made.append(hia.sum(x))
        return made, [head(x) for head in net.heads]
    for more in (False, True):
        sums, made = hia.function(heads, strict=True)(net, x, more)
        assert type(sums) is list and type(made) is list
        assert [tensor.shape for tensor in made] == [(2,), (6,)] and len(sums) == 2 + more


def test_lists_of_one_type_are_loops():
    function = hia.function(lambda xs: [x + len([y for y in (1, 2, 3)]) for x in xs], strict=True)
    assert function([1, 2]) == [4, 5]


def test_other_parameters_make_another_graph():
    net, x = Net(), hia.tensor([1.0, 2.0, 3.0])
    function = hia.function(lambda x: net.all_parameters(x), strict=True)
    before = function(x)
    net.more = nn.Linear(2, 2)
    assert np.allclose(function(x), net.all_parameters(x)) and function(x) != before


def test_a_dict_that_was_there_before_changes():
    known = {"a": 1}
    function = hia.function(lambda n: (sum(v * n for v in known.values()), len(known), [k for k in known], {**known, "n": n}), strict=True)
    for change in (lambda: None, lambda: known.update(z=5), lambda: known.update(z=7), lambda: known.pop("a")):
        change()
        assert function(2) == (2 * sum(known.values()), len(known), list(known), {**known, "n": 2})


def test_views_of_dicts_are_not_given_back():
    assert hia.function(lambda d: list(d.keys()), strict=True)({"a": 1}) == ["a"]
    with pytest.raises(hia.ConversionError, match="what dict.keys.* cannot be given back; give a list"):
        hia.function(lambda d: d.keys(), strict=True)({"a": 1})
    with pytest.warns(hia.FallbackWarning):
        assert type(hia.function(lambda d: d.keys())({"a": 1})) is type({}.keys())


def test_texts_that_are_known():
    function = hia.function(lambda n: [n for name in ("Wx", "b") if name.lower().startswith("w")], strict=True)
    assert function(3) == [3]
    with pytest.raises(hia.ConversionError, match="str.center can be converted where the text and the arguments are known before the run"):
        hia.function(lambda n: "a".center(n), strict=True)(3)


def test_what_a_loop_indexes_by_what_it_sets():
    def rows(n):
        made = [0] * n
        for i in range(n):
            row = [i * j for j in range(n)]
            made[i] = row[i] + made[i - 1]
        return made
    assert hia.function(rows, strict=True)(4) == rows(4)

    def nested(n):
        made = [[0] * n] * n
        for i in range(n):
            made[i][i] = i
        return made
    with pytest.raises(hia.ConversionError, match="cannot be set where something else may refer to an inner list; make these by"):
        hia.function(nested, strict=True)(3)


class Holder:
    def __init__(self, parts):
        self.parts = parts


def test_a_field_that_is_only_there_on_one_side_is_not_read_before():
    @hia.function(strict=True)
    def total(holder, n):
        found = 0
        for i in range(n):
            if holder is not None:
                found += holder.parts[i]
        return found
    assert total(Holder((1, 2.5)), 2) == 3.5 and total(None, 2) == 0


def test_elements_of_items_of_items():
    net, x = Net(), hia.tensor([1.0, -2.0, 0.5])

    def of_views(net, x):
        return sum(hia.sum(p) for layer in net.layers for p in layer.parameters().values()) * hia.sum(x)

    def of_lists(net, x):
        return [hia.sum(layer.weight) * y for layer in net.layers for y in [1.0, 2.0]], [
            hia.sum(head.weight) * y for head in net.heads for y in range(len(x))]

    def of_conditions(net, x):
        parts = (None, net.heads[0], None, net.heads[1])
        return [hia.sum(part.weight) for part in parts if part is not None if part.weight.shape[1] > 2]

    def of_generators(net, x):
        return [hia.sum(head.weight) * y for head in net.heads for y in upwards(2)]

    def of_what_the_run_tells(net, x):
        return [hia.sum(head(x)) for head in net.heads if hia.sum(head(x)) > -100.0]
    for function in (of_views, of_lists, of_conditions, of_generators, of_what_the_run_tells):
        found, expected = hia.function(function, strict=True)(net, x), function(net, x)
        assert type(found) is type(expected) and np.allclose(np.array(found, dtype=float), np.array(expected, dtype=float), atol=1e-5)


def upwards(n):
    yield from range(n)


class Counting(Net):
    count = 0

    def applied(self, head, x):
        self.count += 1
        return hia.sum(head(x))


@pytest.mark.parametrize("items", [lambda net, xs: [net.applied(head, x) for head in net.heads for x in xs],
                                   lambda net, xs: [net.applied(head, xs[0]) for head in net.heads if hia.sum(xs[0]) > 0.0],
                                   lambda net, xs: [net.applied(head, xs[0]) for head in net.heads]])
def test_what_elements_set_is_set_once(items):
    net = Counting()
    net.count = 0
    xs = [hia.tensor([1.0, 2.0, 0.5])] * 2
    found = hia.function(lambda xs: items(net, xs))(xs)
    by_graph, net.count = net.count, 0
    assert np.allclose([float(one) for one in found], [float(one) for one in items(net, xs)], atol=1e-5) and by_graph == net.count
