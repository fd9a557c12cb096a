"""Models with parameters: gradients, optimizers and files."""

import json
import pathlib
import pickle

import numpy as np
import pytest

import hiaton as hia

ROOT = pathlib.Path(__file__).resolve().parents[2]

LINEAR = """
param W: f32[3, 2] = normal(0.5)
param E: f32[10, 3] = normal(0.5)

fn loss(word: i64, label: i64) -> f32 = cross_entropy(tanh(E[word]) @ W, label)
fn predict(word: i64) -> f32[2] = softmax(tanh(E[word]) @ W)
fn weights(n: i64) -> f32[3, 2] = W
"""


@pytest.fixture
def model():
    return hia.program(LINEAR)


def test_parameters_are_tensors(model):
    assert {name: p.shape for name, p in model.parameters.items()} == {"W": (3, 2), "E": (10, 3)}
    same, other = hia.program(LINEAR), hia.program(LINEAR, seed=2)
    assert same.parameters["W"].tolist() == model.parameters["W"].tolist() != other.parameters["W"].tolist()
    model.update({"W": np.zeros((3, 2))})
    assert model(1).tolist() == [0.5, 0.5]
    with pytest.raises(TypeError, match=r"parameter 'W': expected f32\[3, 2\], found f32\[2\]"):
        model.update({"W": np.zeros(2)})
    with pytest.raises(KeyError, match="X"):
        model.update({"X": np.zeros(2)})


def test_gradients_are_differences(model):
    words, labels = [1, 4, 1], [0, 1, 1]
    loss, gradients = model.value_and_grad(words, labels)
    assert loss == pytest.approx(np.mean(model.loss.map(words, labels)), rel=1e-6)
    assert list(gradients) == ["W", "E"] and isinstance(gradients["E"], hia.RowGrad)
    assert gradients["E"].rows.tolist() == [1, 4]
    dense = np.asarray(gradients["E"])
    assert dense.shape == gradients["E"].shape == (10, 3) and dense.dtype == np.float32
    assert dense[[1, 4]].tolist() == gradients["E"].values.tolist() and not dense[[0, 2, 3, 5, 6, 7, 8, 9]].any()
    again = pickle.loads(pickle.dumps(gradients["E"]))
    assert np.asarray(again).tolist() == dense.tolist() and [part.shape for part in again] == [(2,), (2, 3)]
    for name, gradient in [("W", gradients["W"].numpy()), ("E", dense)]:
        before = model.parameters[name].numpy()
        for index in np.ndindex(before.shape):
            ends = []
            for step in (1e-2, -1e-2):
                moved = before.copy()
                moved[index] += step
                model.update({name: moved})
                ends.append(np.mean(model.loss.map(words, labels)))
            assert gradient[index] == pytest.approx((ends[0] - ends[1]) / 2e-2, abs=2e-4)
        model.update({name: before})


@pytest.mark.parametrize("make", [
    lambda m: hia.optim.SGD(m, 0.5), lambda m: hia.optim.SGD(m, 0.1, momentum=0.9), lambda m: hia.optim.Adagrad(m, 0.3),
    lambda m: hia.optim.Adam(m, 0.05, clip=1.0)])
def test_optimizers_learn(model, make):
    words, labels = [1, 2, 3, 4], [0, 1, 0, 1]
    optimizer = make(model)
    for _ in range(150):
        loss, gradients = model.value_and_grad(words, labels)
        optimizer.update(gradients)
    assert loss < 0.2 and optimizer.steps == 150
    assert [int(hia.argmax(p)) for p in model.map(words)] == labels


def test_one_step_of_sgd_is_the_textbook_one(model):
    before = model.parameters["W"].numpy()
    _, gradients = model.value_and_grad([1, 2], [0, 1])
    hia.optim.SGD(model, 0.25).update(gradients)
    assert np.allclose(model.parameters["W"].numpy(), before - 0.25 * gradients["W"].numpy(), atol=1e-6)


def test_results_do_not_change_with_the_parameters(model):
    given = model.weights(0)
    before = given.tolist()
    _, gradients = model.value_and_grad([1, 2], [0, 1])
    optimizer = hia.optim.SGD(model, 0.25)
    optimizer.update(gradients)
    optimizer.update(gradients)
    assert given.tolist() == before != model.weights(0).tolist()


def test_wrong_steps_are_refused(model):
    with pytest.raises(ValueError, match="found none"):
        model.value_and_grad([], [])
    _, gradients = model.value_and_grad([1], [0])
    with pytest.raises(ValueError, match="of the module of the optimizer"):
        hia.optim.SGD(hia.program(LINEAR), 0.1).update(gradients)
    with pytest.raises(hia.ProgramError, match="momentum"):
        hia.optim.SGD(model, 0.1, momentum=-1)


def test_files_of_parameters(model, tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    model.save(tmp_path / "m.safetensors")
    stored = safetensors.load_file(tmp_path / "m.safetensors")
    assert stored["W"].tolist() == model.parameters["W"].tolist()
    other = hia.program(LINEAR, seed=5)
    other.load(tmp_path / "m.safetensors")
    assert other.predict(3).tolist() == model.predict(3).tolist()
    with pytest.raises(hia.ProgramError, match="E"):
        hia.load(ROOT / "models/treernn.hia").load(tmp_path / "m.safetensors")


@pytest.mark.parametrize("name", ["treernn", "treelstm", "rntn", "lstm", "childsum", "td_treelstm"])
def test_the_models_of_the_repository_load(name):
    model = hia.load(ROOT / f"models/{name}.hia")
    assert model.parameters and "loss" in model.functions and "predict" in model.functions


SYNTAX = """size vocab = 100
size classes = 7
size d = 4
data Syntax = Node(kind: i64, children: List[Syntax])
param E: f32[vocab, d]
param V: f32[d, classes]
fn encode(tree: Syntax) -> f32[d] = E[tree.kind] + fold(fn(sum, child) -> sum + encode(child), f32(zeros(d)), tree.children)
fn loss(tree: Syntax, label: i64) -> f32 = cross_entropy(encode(tree) @ V, label)
fn predict(tree: Syntax) -> f32[classes] = softmax(encode(tree) @ V)
"""


def training_in(directory, words, values):
    """What `hiaton train` leaves there, and the model."""
    model = hia.program(SYNTAX, d=3, classes=2, **({"vocab": len(words) + 1} if words or not values else {}))
    directory.mkdir()
    (directory / "model.hia").write_text(SYNTAX)
    (directory / "vocabulary.txt").write_text("".join(word + "\n" for word in ["<unk>", *words]))
    data = {"train": "/data", "dev": "", "values": values, "stream": False}
    (directory / "model.json").write_text(json.dumps({
        "classes": 2, "sizes": {"d": 3}, "seed": 1, "min_count": 1, "data": data,
        "execution": {"workers": 1, "batching": "on", "parts": 2}}))
    model.update({"E": np.random.default_rng(1).normal(size=model.parameters["E"].shape).astype("f")})
    model.save(directory / "best.safetensors")
    return model


def test_the_directory_of_a_training_is_loaded_as_it_is(tmp_path):
    for name, words, values in (("a", ["If", '"two words"', "For"], True), ("b", [], True), ("c", [], False)):
        made = training_in(tmp_path / name, words, values)
        model = hia.load(tmp_path / name)
        assert model.vocabulary == {word: number for number, word in enumerate(["<unk>", *(w.strip('"') for w in words)])}
        assert {k: v.tolist() for k, v in model.parameters.items()} == {k: v.tolist() for k, v in made.parameters.items()}
        tree = model.types.Node(model.vocabulary.get("For", 0), [model.types.Node(model.vocabulary.get("Try", 0), [])])
        assert model(tree).tolist() == made(made.types.Node(tree.kind, [made.types.Node(0, [])])).tolist()
    assert hia.program(SYNTAX).vocabulary is None


def test_directories_that_are_no_trainings_are_errors(tmp_path):
    with pytest.raises(hia.ProgramError, match="found no 'model.json' in there, which 'hiaton train' writes"):
        hia.load(tmp_path)
    training_in(tmp_path / "a", [], True)
    with pytest.raises(TypeError, match="which has those of the training, found d"):
        hia.load(tmp_path / "a", d=3)
