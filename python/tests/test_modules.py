"""Modules as objects of Python: parameters that parts share, copies, pickles, and methods that are replaced."""

import copy
import pickle

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn, optim


class Tied(nn.Module):
    def __init__(self):
        self.first = nn.Linear(2, 2, bias=False)
        self.second = self.first.weight

    def __call__(self, x):
        return hia.sum(self.first(x) @ self.second)


class Once(Tied):
    def __init__(self):
        self.first = nn.Linear(2, 2, bias=False)

    def __call__(self, x):
        return hia.sum(self.first(x) @ self.first.weight)


MAKERS = [lambda m: optim.SGD(m, 0.01), lambda m: optim.SGD(m, 0.01, momentum=0.9, clip=0.01), lambda m: optim.Adam(m, 0.1),
          lambda m: optim.AdamW(m, 0.1), lambda m: optim.RMSProp(m, 0.1), lambda m: optim.Adagrad(m, 0.1)]


@pytest.mark.parametrize("make", MAKERS)
def test_a_parameter_of_two_paths_is_trained_as_one(make):
    trained = []
    for model in (Tied(), Once()):
        model.first.weight.assign(hia.tensor([[1.0, 2.0], [3.0, -1.0]]))
        optimizer, step = make(model), nn.value_and_grad(model, lambda m, x: m(x))
        assert list(model.parameters()) == ["first.weight"]
        for _ in range(5):
            optimizer.update(step(model, hia.tensor([1.0, 2.0]))[1])
        trained.append(model.first.weight.numpy().copy())
    assert np.array_equal(*trained)


def test_an_optimizer_takes_each_parameter_once():
    weight = nn.Linear(2, 2).weight
    with pytest.raises(ValueError, match="parameter 'b' is also 'a'; expected each once"):
        optim.SGD({"a": weight, "b": weight}, 0.1)


@pytest.mark.parametrize("come", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_have_parameters_of_their_own(come):
    model = Tied()
    before = model.first.weight.numpy().copy()
    other = come(model)
    assert list(other.parameters()) == ["first.weight"] and other.first.weight is other.second
    assert type(other.second) is nn.Parameter
    x = hia.tensor([1.0, 2.0])
    assert float(other(x)) == float(model(x))
    optim.SGD(other, 0.1).update(nn.value_and_grad(other, lambda m, x: m(x))(other, x)[1])
    assert np.array_equal(model.first.weight.numpy(), before) and not np.array_equal(other.first.weight.numpy(), before)


class Layer(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 2)

    def __call__(self, x):
        return hia.sum(x) * 2.0

    def encode(self, x):
        return hia.sum(x) * 2.0


def test_methods_that_are_replaced_run(monkeypatch):
    model, x = Layer(), hia.ones(2)
    call, encode = hia.function(lambda x: model(x)), hia.function(lambda m, x: m.encode(x))
    step = nn.value_and_grad(model, lambda m, x: m(x))
    assert float(call(x)) == float(encode(model, x)) == float(step(model, x)[0]) == 4
    monkeypatch.setattr(Layer, "__call__", lambda self, x: hia.sum(x) * 7.0)
    assert float(call(x)) == float(step(model, x)[0]) == 14
    monkeypatch.setattr(Layer, "encode", lambda self, x: hia.sum(x) * 7.0)
    assert float(encode(model, x)) == 14
    model.encode = lambda x: hia.sum(x) * 9.0
    assert float(encode(model, x)) == 18


def test_labels_that_are_numbers_of_numpy_are_tensors():
    labels = np.array([2, 1])
    table = nn.Embedding(3, 2)
    step = nn.value_and_grad(table, lambda m, label, scale: hia.sum(m(label)) * scale)
    loss, gradients = step(table, labels[0], np.float32(3.0))
    assert float(loss) == pytest.approx(3 * float(hia.sum(table(2))))
    assert np.asarray(gradients["weight"]).tolist() == [[0, 0], [0, 0], [3, 3]]


def test_what_a_batch_norm_has_found_is_saved(tmp_path):
    def model():
        return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm(4))

    trained, loaded = model(), model()
    x = hia.tensor(np.random.default_rng(1).normal(2, 3, (20, 3)).astype(np.float32))
    for _ in range(5):
        trained(x)
    trained.save(tmp_path / "model.safetensors")
    loaded.load(tmp_path / "model.safetensors")
    trained.layers[1].training = loaded.layers[1].training = False
    assert np.array_equal(trained(x).numpy(), loaded(x).numpy())
    assert list(loaded.parameters()) == ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]
    with pytest.raises(hia.ProgramError, match=r"'layers.1.mean': expected f32\[4\], found none"):
        nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4)).save(tmp_path / "other.safetensors")
        model().load(tmp_path / "other.safetensors")


def test_an_optimizer_refuses_gradients_by_other_parameters():
    model, other, x = Once(), Once(), hia.tensor([1.0, 2.0])
    optimizer, step = optim.SGD(model, 0.1), nn.value_and_grad(other, lambda m, x: m(x))
    with pytest.raises(ValueError, match="expected gradients by parameters of the optimizer, found those by others"):
        optimizer.update(step(other, x)[1])
    model.first = nn.Linear(2, 2, bias=False)
    step = nn.value_and_grad(model, lambda m, x: m(x))
    with pytest.raises(ValueError, match="it changes the parameters that the module had when it was made"):
        optimizer.update(step(model, x)[1])
    optim.SGD(model, 0.1).update(nn.value_and_grad(model, lambda m, x: hia.sum(x))(model, x)[1])  # by which nothing is to change


def test_a_file_with_parameters_that_the_module_does_not_have_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    whole, part = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm(2)), nn.Sequential(nn.Linear(2, 2))
    whole.save(path)
    before = part.layers[0].weight.tolist()
    with pytest.raises(hia.ProgramError, match="model.safetensors: expected the parameters of 'Sequential', found also 'layers.1.bias', "
                                               "'layers.1.mean', 'layers.1.variance', 'layers.1.weight'; load the file into a module"):
        part.load(path)
    assert part.layers[0].weight.tolist() == before
    other = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm(2))
    other.load(path)
    part.update({"layers.0.weight": other.layers[0].weight})
    assert part.layers[0].weight.tolist() == whole.layers[0].weight.tolist()


def test_a_file_of_which_a_bit_has_changed_is_refused(tmp_path):
    path, model = tmp_path / "model.safetensors", nn.Linear(2, 1)
    model.save(path)
    changed = bytearray(path.read_bytes())
    changed[-1] ^= 1
    path.write_bytes(changed)
    other = nn.Linear(2, 1)
    before = {name: value.tolist() for name, value in other.parameters().items()}
    with pytest.raises(hia.ProgramError, match=r"model.safetensors: 'bias': expected what was written, with the checksum"):
        other.load(path)
    assert {name: value.tolist() for name, value in other.parameters().items()} == before


def test_the_state_of_an_optimizer_may_stand_beside_the_parameters(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    path, model = tmp_path / "training.safetensors", nn.Linear(2, 1)
    stored = {name: np.asarray(value) for name, value in model.parameters().items()}
    safetensors.save_file(stored | {"optimizer.mean.weight": np.zeros((2, 1), np.float32)}, path)
    other = nn.Linear(2, 1)
    other.load(path)
    assert other.weight.tolist() == model.weight.tolist()


def test_files_that_are_not_there(tmp_path):
    model, program = nn.Linear(2, 1), hia.program("param W: f32[2]\nfn loss(x: f32) -> f32 = sum(W) * x\nfn predict(x: f32) -> f32 = x")
    for read in (model.load, optim.SGD(model).load, program.load, hia.load):
        for error in (FileNotFoundError, hia.ProgramError, hia.MissingFileError):
            with pytest.raises(error, match="none.hia': No such file or directory"):
                read(tmp_path / "none.hia")
    for write in (model.save, optim.SGD(model).save, program.save):
        with pytest.raises(FileNotFoundError, match="cannot write"):
            write(tmp_path / "none" / "m")
    with pytest.raises(FileNotFoundError, match="found no 'model.json'"):
        hia.load(tmp_path)
    (tmp_path / "damaged").write_text("none")
    with pytest.raises(hia.ProgramError) as error:
        model.load(tmp_path / "damaged")
    assert not isinstance(error.value, FileNotFoundError)
