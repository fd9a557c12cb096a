"""Models written as plain Python: their graphs give what eager tensors give, and gradients are differences."""

import dataclasses
import random
import time

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn, optim


@dataclasses.dataclass
class Tree:
    label: int
    word: "int | None" = None
    left: "Tree | None" = None
    right: "Tree | None" = None


def tree(rng, words):
    label = int(words.count(1) > words.count(2))
    if len(words) == 1:
        return Tree(label, words[0])
    cut = rng.randrange(1, len(words))
    return Tree(label, None, tree(rng, words[:cut]), tree(rng, words[cut:]))


def trees(count, seed=1):
    rng = random.Random(seed)
    return [tree(rng, rng.choices([1, 2], k=rng.choice([1, 3, 5, 7]))) for _ in range(count)]


class TreeRNN(nn.Module):
    def __init__(self, vocab=3, d=4, classes=2):
        self.E = nn.Embedding(vocab, d)
        self.W = nn.Linear(2 * d, d)
        self.V = nn.Linear(d, classes)

    def encode(self, t):
        if t.left is None:
            return self.E(t.word)
        return hia.tanh(self.W(hia.concat([self.encode(t.left), self.encode(t.right)], axis=0)))

    def loss(self, t):
        return hia.cross_entropy(self.V(self.encode(t)), t.label)


class TreeLSTM(nn.Module):
    def __init__(self, vocab=3, d=4, classes=2):
        self.E = nn.Embedding(vocab, d)
        self.W = nn.Linear(d, 3 * d)
        self.U = nn.Linear(2 * d, 5 * d)
        self.V = nn.Linear(d, classes)
        self.d = d

    def gate(self, gates, number):
        return hia.slice(gates, axis=0, start=number * self.d, length=self.d)

    def encode(self, t):
        """(h, c) of a node."""
        if t.left is None or t.right is None:
            gates = self.W(self.E(t.word))
            c = hia.sigmoid(self.gate(gates, 0)) * hia.tanh(self.gate(gates, 2))
            return hia.sigmoid(self.gate(gates, 1)) * hia.tanh(c), c
        (hl, cl), (hr, cr) = self.encode(t.left), self.encode(t.right)
        gates = self.U(hia.concat([hl, hr], axis=0))
        c = hia.sigmoid(self.gate(gates, 0)) * hia.tanh(self.gate(gates, 2))
        c = c + hia.sigmoid(self.gate(gates, 3)) * cl + hia.sigmoid(self.gate(gates, 4)) * cr
        return hia.sigmoid(self.gate(gates, 1)) * hia.tanh(c), c

    def loss(self, t):
        h, _ = self.encode(t)
        return hia.cross_entropy(self.V(h), t.label)


@dataclasses.dataclass
class Node:
    label: int
    word: int
    children: "list[Node]"


class ChildSum(nn.Module):
    def __init__(self, vocab=5, d=4, classes=2):
        self.E = nn.Embedding(vocab, d, scale=1.0)
        self.W = nn.Linear(2 * d, d)
        self.V = nn.Linear(d, classes)
        self.norm = nn.LayerNorm(d)
        self.start = hia.zeros(d)

    def encode(self, node):
        total = self.start
        for child in node.children:
            total = total + self.encode(child)
        return self.norm(hia.tanh(self.W(hia.concat([self.E(node.word), total], axis=0))))

    def loss(self, node):
        return hia.cross_entropy(self.V(self.encode(node)), node.label)


def nodes(count):
    rng = random.Random(2)

    def node(depth):
        return Node(rng.randrange(2), rng.randrange(5), [node(depth - 1) for _ in range(rng.randrange(3) if depth else 0)])
    return [node(3) for _ in range(count)]


class Sequence(nn.Module):
    def __init__(self, vocab=3, d=4):
        self.E = nn.Embedding(vocab, d)
        self.cell = nn.LSTMCell(d, d)
        self.V = nn.Linear(d, 2)
        self.zero = hia.zeros(d)

    def loss(self, words):
        h, c = self.zero, self.zero
        for word in words:
            h, c = self.cell(self.E(word), (h, c))
        return hia.cross_entropy(self.V(h), len(words) % 2)


class Pictures(nn.Module):
    """A network of convolutions for pictures of 4 by 5 points."""

    def __init__(self):
        self.first = nn.Conv2d(1, 4, 3, padding=(1, 0))
        self.grow = nn.ConvTranspose2d(4, 2, 2, stride=(1, 2), groups=2)
        self.line = nn.Conv1d(2, 3, 3, stride=2, bias=False)
        self.V = nn.Linear(12, 2)

    def loss(self, picture):
        pixels, label = picture
        y = hia.tanh(self.grow(hia.tanh(self.first(pixels))))
        y = hia.max_pool2d(y, size=(5, 1), stride=1)
        y = self.line(hia.pad(hia.reshape(y, shape=(2, 6)), axis=1, before=1, after=2))
        return hia.cross_entropy(self.V(hia.reshape(y, shape=(-1,))), label)


def pictures(count):
    rng = np.random.default_rng(5)
    return [(hia.tensor(rng.normal(size=(1, 4, 5)).astype(np.float32)), i % 2) for i in range(count)]


class Normalized(nn.Module):
    def __init__(self):
        self.batch = nn.BatchNorm(3)
        self.instance = nn.InstanceNorm(3)
        self.V = nn.Linear(20, 2)

    def loss(self, x):
        y = self.V(hia.reshape(hia.tanh(self.instance(self.batch(x))), shape=(-1, 20)))
        return hia.mean(y * y)


def batches(count):
    rng = np.random.default_rng(6)
    return [hia.tensor(rng.normal(3, 2, (4, 3, 4, 5)).astype(np.float32)) for _ in range(count)]


def mean_loss(model, examples):
    return sum(model.loss(e) for e in examples) / len(examples)


MODELS = [(TreeRNN, trees(5)), (TreeLSTM, trees(5)), (ChildSum, nodes(4)), (Sequence, [[1, 2, 1], [2], [0, 1, 2, 1]]),
          (Pictures, pictures(3)), (Normalized, batches(2))]


@pytest.mark.parametrize("make,examples", MODELS, ids=[m.__name__ for m, _ in MODELS])
def test_graph_and_eager_agree_and_gradients_are_differences(make, examples):
    nn.seed(3)
    model = make()
    graph = hia.function(mean_loss, strict=True)
    eager = mean_loss(model, examples).item()
    assert graph(model, examples).item() == pytest.approx(eager, rel=1e-6)
    loss, gradients = nn.value_and_grad(model, mean_loss)(model, examples)
    assert loss.item() == pytest.approx(eager, rel=1e-6)
    assert list(gradients) == list(model.parameters())
    rng = np.random.default_rng(0)
    for path, parameter in model.parameters().items():
        dense = np.asarray(gradients[path], np.float64)
        assert dense.shape == gradients[path].shape == parameter.shape
        before = parameter.numpy().copy()
        step = rng.normal(size=before.shape).astype(np.float32)
        ends = []
        for way in (2e-3, -2e-3):
            model.update({path: before + way * step})
            ends.append(mean_loss(model, examples).item())
        model.update({path: before})
        assert (dense * step).sum() == pytest.approx((ends[0] - ends[1]) / 4e-3, rel=2e-2, abs=2e-3), path


@pytest.mark.parametrize("make", [optim.SGD, optim.Adagrad, optim.Adam, optim.RMSProp, optim.AdamW])
def test_a_tree_learns(make):
    nn.seed(1)
    model = TreeRNN(d=8)
    step = nn.value_and_grad(model, mean_loss)
    optimizer = make(model.parameters(), {optim.SGD: 0.3, optim.Adagrad: 0.1, optim.Adam: 0.02, optim.RMSProp: 0.01, optim.AdamW: 0.02}[make])
    examples = trees(25)
    first, _ = step(model, examples)
    for _ in range(150):
        loss, gradients = step(model, examples)
        optimizer.update(model, gradients)
    assert loss.item() < 0.3 * first.item() and optimizer.steps == 150


def test_a_step_leaves_results_of_before_as_they_were():
    model = TreeRNN()
    weight, view = model.W.weight, model.W.weight[0]
    before, row = weight.tolist(), view.tolist()
    optimizer = optim.SGD(model, 0.5)
    _, gradients = nn.value_and_grad(model, mean_loss)(model, trees(3))
    optimizer.update(gradients)
    assert view.tolist() == row == before[0]
    moved = np.array(before) - 0.5 * gradients["W.weight"].numpy()
    assert np.allclose(weight.numpy(), moved, atol=1e-6)


def test_kernels_take_a_part_of_a_step():
    model, examples = TreeRNN(d=8), trees(25)
    step = nn.value_and_grad(model, mean_loss)
    with pytest.raises(ValueError, match="arguments that a graph was made for"):
        step.kernel_seconds(model, examples)
    loss, gradients = step(model, examples)
    before = gradients["W.weight"].numpy().copy()
    begin = time.perf_counter()
    assert 0 < step.kernel_seconds(model, examples) < time.perf_counter() - begin
    assert (gradients["W.weight"].numpy() == before).all() and step(model, examples)[0].item() == loss.item()


def test_another_module_is_another_graph():
    graph = hia.function(mean_loss, strict=True)
    one, other = TreeRNN(), TreeRNN()
    examples = trees(3)
    assert graph(one, examples).item() == pytest.approx(mean_loss(one, examples).item(), rel=1e-6)
    assert graph(other, examples).item() == pytest.approx(mean_loss(other, examples).item(), rel=1e-6)
    one.V = nn.Linear(4, 2)
    assert graph(one, examples).item() == pytest.approx(mean_loss(one, examples).item(), rel=1e-6)


def test_files_of_parameters(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    model, other = TreeRNN(), TreeRNN()
    model.save(tmp_path / "m.safetensors")
    assert set(safetensors.load_file(tmp_path / "m.safetensors")) == set(model.parameters())
    other.load(tmp_path / "m.safetensors")
    assert other.loss(trees(1)[0]).item() == model.loss(trees(1)[0]).item()
    with pytest.raises(hia.ProgramError):
        TreeLSTM().load(tmp_path / "m.safetensors")


def test_parameters_are_found_by_attributes():
    class Deep(nn.Module):
        def __init__(self):
            self.layers = [nn.Linear(2, 2), nn.Linear(2, 2, bias=False)]
            self.again = self.layers[0]
            self.scale = nn.Parameter(hia.ones(2))

        def __call__(self, x):
            for layer in self.layers:
                x = hia.relu(layer(x)) * self.scale
            return x

    model = Deep()
    assert list(model.parameters()) == ["layers.0.weight", "layers.0.bias", "layers.1.weight", "scale"]
    x = hia.tensor([1.0, -2.0])
    graph = hia.function(lambda m, x: m(x), strict=True)
    assert graph(model, x).tolist() == pytest.approx(model(x).tolist(), rel=1e-6)
    with pytest.raises(KeyError, match="there is no parameter 'x'"):
        model.update({"x": hia.ones(2)})


def test_what_has_no_gradient_is_refused():
    model = TreeRNN()
    with pytest.raises(hia.ConversionError, match="expected a number of f32 or f64 to take gradients of, found int"):
        nn.value_and_grad(model, lambda m, t: t.label + 1)(model, trees(1)[0])
    with pytest.raises(AttributeError):
        nn.value_and_grad(model, mean_loss)(model, [Tree(0, None, Tree(0, 1), None)])


def test_gradients_by_arguments():
    def loss(x, y, n):
        total = hia.sum(x * x) * y
        for _ in range(n):
            total = total * 2.0
        return total

    x = hia.tensor([1.0, -2.0])
    value, gradient = hia.value_and_grad(loss)(x, 3.0, 2)
    assert value.item() == 60.0 and gradient.tolist() == [24.0, -48.0]
    by_x, by_y = hia.grad(loss, argnums=(0, 1))(x, 3.0, 1)
    assert by_x.tolist() == [12.0, -24.0] and by_y == 10.0
    with pytest.raises(TypeError, match="expected a tensor of floats or a float as argument 2, found int"):
        hia.grad(loss, argnums=2)(x, 3.0, 2)


def test_gradients_with_other_results():
    def loss(x, scale):
        y = x * scale
        return hia.sum(y * y), (y, "scaled")

    x = hia.tensor([1.0, -2.0])
    (value, (y, word)), gradient = hia.value_and_grad(loss, has_aux=True)(x, 2.0)
    assert value.item() == 20.0 and y.tolist() == [2.0, -4.0] and word == "scaled"
    assert gradient.tolist() == [8.0, -16.0]
    gradient, (y, _) = hia.grad(loss, argnums=-1, has_aux=True)(x, 2.0)
    assert gradient == 20.0 and y.tolist() == [2.0, -4.0]
    model, examples = TreeRNN(), trees(3)
    (mean, count), gradients = nn.value_and_grad(model, lambda m, ts: (mean_loss(m, ts), len(ts)), has_aux=True)(model, examples)
    expected, others = nn.value_and_grad(model, mean_loss)(model, examples)
    assert mean.item() == expected.item() and count == 3
    assert gradients["W.weight"].tolist() == others["W.weight"].tolist()
    with pytest.raises(hia.ConversionError, match="has_aux: expected a pair"):
        hia.grad(lambda x: hia.sum(x), has_aux=True)(x)
    with pytest.raises(ValueError, match="argnums: expected numbers of the arguments of .*, of which there are 2, from 0 on, found 2"):
        hia.grad(loss, argnums=2, has_aux=True)(x, 2.0)


def test_gradients_by_tuples_of_arguments():
    def loss(parameters, x):
        (w, b), scale = parameters
        return hia.sum((w * x + b) * scale)

    parameters = ((hia.tensor([1.0, 2.0]), hia.tensor([0.5, 0.5])), 2.0)
    (w, b), scale = hia.grad(loss)(parameters, hia.tensor([3.0, 4.0]))
    assert w.tolist() == [6.0, 8.0] and b.tolist() == [2.0, 2.0] and scale == 12.0
    by_parameters, by_x = hia.grad(loss, argnums=(0, 1))(parameters, hia.tensor([3.0, 4.0]))
    assert by_parameters[1] == 12.0 and by_x.tolist() == [2.0, 4.0]


def test_many_examples_at_once():
    model, examples = TreeRNN(), trees(6)
    mapped = hia.vmap(model.loss)
    expected = [model.loss(t).item() for t in examples]
    for _ in range(2):
        assert [loss.item() for loss in mapped(examples)] == pytest.approx(expected, rel=1e-6)
    assert mapped([]) == []


def test_batches_are_normalized_by_channel():
    rng = np.random.default_rng(7)
    for shape in [(5, 3), (4, 3, 6), (4, 3, 2, 5)]:
        others = tuple(axis for axis in range(len(shape)) if axis != 1)
        column = (-1,) + (1,) * (len(shape) - 2)
        batches = [rng.normal(2, 3, shape).astype(np.float32) for _ in range(2)]
        norm = nn.BatchNorm(3, momentum=0.25)
        norm.update({"weight": [1.0, 2.0, 0.5], "bias": [0.0, 1.0, -1.0]})
        gain, shift = norm.weight.numpy().reshape(column), norm.bias.numpy().reshape(column)
        mean, variance = np.zeros(3), np.ones(3)
        for batch in batches:
            own = (batch - batch.mean(others, keepdims=True)) / np.sqrt(batch.var(others, keepdims=True) + 1e-5)
            np.testing.assert_allclose(norm(hia.tensor(batch)).numpy(), own * gain + shift, rtol=1e-4, atol=1e-5)
            mean += 0.25 * (batch.mean(others) - mean)
            variance += 0.25 * (batch.var(others, ddof=1) - variance)
        np.testing.assert_allclose(norm.mean.numpy(), mean, rtol=1e-5)
        np.testing.assert_allclose(norm.variance.numpy(), variance, rtol=1e-5)
        norm.training = False
        kept = (batches[0] - mean.reshape(column)) / np.sqrt(variance.reshape(column) + 1e-5)
        np.testing.assert_allclose(norm(hia.tensor(batches[0])).numpy(), kept * gain + shift, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(norm.mean.numpy(), mean, rtol=1e-5)
        assert list(norm.parameters()) == ["weight", "bias"]


def test_instances_are_normalized_by_themselves():
    images = np.random.default_rng(8).normal(1, 2, (2, 3, 4, 5)).astype(np.float32)
    norm = nn.InstanceNorm(3)
    norm.update({"weight": [1.0, 2.0, 0.5], "bias": [0.0, 1.0, -1.0]})
    own = (images - images.mean((2, 3), keepdims=True)) / np.sqrt(images.var((2, 3), keepdims=True) + 1e-5)
    expected = own * norm.weight.numpy().reshape(3, 1, 1) + norm.bias.numpy().reshape(3, 1, 1)
    np.testing.assert_allclose(norm(hia.tensor(images)).numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(norm(hia.tensor(images[1])).numpy(), expected[1], rtol=1e-4, atol=1e-5)


def test_graphs_of_batches_keep_the_running_mean():
    nn.seed(4)
    model, plain = Normalized(), Normalized()
    plain.update({path: value.numpy() for path, value in model.parameters().items()})
    graph = nn.value_and_grad(model, lambda m, x: m.loss(x))
    for training in (True, True, False):
        model.batch.training = plain.batch.training = training
        [x] = batches(1)
        loss, gradients = graph(model, x)
        assert loss.item() == pytest.approx(plain.loss(x).item(), rel=1e-5)
        np.testing.assert_allclose(model.batch.mean.numpy(), plain.batch.mean.numpy(), rtol=1e-5)
        np.testing.assert_allclose(model.batch.variance.numpy(), plain.batch.variance.numpy(), rtol=1e-5)
        assert list(gradients) == list(model.parameters())
    assert abs(model.batch.mean.numpy()).min() > 0.1


def test_gradients_stay_as_they_are_while_others_are_made():
    model = TreeRNN()
    step, path = nn.value_and_grad(model, mean_loss), "W.weight"
    batches = [trees(3, seed) for seed in range(6)]
    expected = [step(model, batch)[1][path].numpy().copy() for batch in batches]
    held = [step(model, batch)[1] for batch in batches]
    for kept, values in zip(held, expected):
        assert np.array_equal(kept[path].numpy(), values) and values.any()
    del held[::2], kept
    for batch, values in zip(batches, expected):
        assert np.array_equal(step(model, batch)[1][path].numpy(), values)
    for kept, values in zip(held, expected[1::2]):
        assert np.array_equal(kept[path].numpy(), values)


def test_vmap_takes_a_list_for_each_parameter():
    power = hia.vmap(lambda x, n: x ** n)
    assert power([2.0, 3.0, 4.0], (1, 2, 3)) == [2.0, 9.0, 64.0] and power([], []) == []
    with pytest.raises(ValueError, match="expected lists of one length, found 2, 1"):
        power([1.0, 2.0], [1])


def test_optimizers_say_what_they_take():
    layer = nn.Linear(2, 2)
    with pytest.raises(TypeError, match="expected a module, or its parameters\\(\\), found list"):
        optim.Adam(list(layer.parameters().values()), 0.1)
    with pytest.raises(TypeError, match="learning_rate: expected a number, or a function of the step, found '0.1'"):
        optim.Adam(layer, "0.1")
    with pytest.raises(TypeError, match="expected the gradients that value_and_grad or a GradientTape gave, found NoneType"):
        optim.Adam(layer, 0.1).update(None)


def test_a_module_with_forward_says_what_it_is_called_here():
    class Other(nn.Module):
        def forward(self, x):
            return x

    with pytest.raises(NotImplementedError, match="'Other' has no __call__; what other packages call 'forward' is __call__ here"):
        Other()(1)
