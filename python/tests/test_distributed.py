"""Data-parallel training: several processes of mpirun get the numbers of one."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import hiaton as hia
from hiaton import distributed, nn, optim

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "-n"], "mpich": ["mpiexec.mpich", "-launcher", "fork", "-n"]}
# Open MPI runs as root, with more processes than cores, and looks for no other hosts.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm": "isolated", "OMPI_MCA_pml": "ob1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
SCRIPT = """
import dataclasses, json, pathlib, sys
import numpy as np
import hiaton as hia
from hiaton import nn, optim

parts, out = json.loads(sys.argv[1]), pathlib.Path(sys.argv[2])

@dataclasses.dataclass
class Tree:
    word: int
    left: "Tree | None" = None
    right: "Tree | None" = None

class Model(nn.Module):
    def __init__(self):
        self.E, self.W, self.V, self.scale = nn.Embedding(6, 3), nn.Linear(6, 3), nn.Linear(3, 2), nn.Parameter(hia.tensor([1.0]))
    def encode(self, t):
        if t.left is None:
            return self.E(t.word)
        return hia.tanh(self.W(hia.concat([self.encode(t.left), self.encode(t.right)], axis=0)))
    def loss(self, t):
        return hia.cross_entropy(self.V(self.encode(t)) * self.scale, t.word % 2)

def mean_loss(model, trees):
    return sum(model.loss(t) for t in trees) / len(trees)

def tree(rng, depth):
    word = int(rng.integers(5))
    return Tree(word) if depth == 0 else Tree(word, tree(rng, depth - 1), tree(rng, int(rng.integers(depth))))

class Line(nn.Module):
    def __init__(self):
        self.inner, self.outer = nn.Linear(3, 4, dtype="f64"), nn.Linear(4, 1, dtype="f64")

def squares(model, x, y):
    return hia.mean((model.outer(hia.tanh(model.inner(x))) - y) ** 2)

nn.seed(2)
rng = np.random.default_rng(3)
losses = []
model = Model()
step, optimizer = hia.distributed.value_and_grad(model, mean_loss, parts=parts), optim.Adam(model, 0.05)
for number in range(6):
    loss, gradients = step(model, [tree(rng, 2) for _ in range(5 + number)])
    optimizer.update(model, gradients)
    losses.append(loss.item())
line = Line()
step, optimizer = hia.distributed.value_and_grad(line, squares, parts=parts), optim.SGD(line, 0.1)
for _ in range(4):
    x = rng.normal(size=(9, 3))
    loss, gradients = step(line, hia.asarray(x), hia.asarray(np.tanh(x.sum(axis=1, keepdims=True))))
    optimizer.update(gradients)
    losses.append(loss.item())
program = hia.load(sys.argv[3], d=4, vocab=6, classes=2)
Leaf, Node = program.types.Leaf, program.types.Node
step, optimizer = hia.distributed.value_and_grad(program, parts=parts), optim.Adagrad(program, 0.1)
for number in range(4):
    words = rng.integers(5, size=(7 + number, 3)).tolist()
    trees = [Node(a % 2, Leaf(b % 2, b), Node(0, Leaf(1, a), Leaf(c % 2, c))) for a, b, c in words]
    loss, gradients = step(trees)
    optimizer.update(gradients)
    losses.append(loss)
program.save(out / f"program{hia.distributed.rank()}")
model.save(out / f"model{hia.distributed.rank()}")
line.save(out / f"line{hia.distributed.rank()}")
(out / f"losses{hia.distributed.rank()}").write_text(json.dumps([hia.distributed.size(), losses]))
"""


def plugins():
    folder = pathlib.Path(hia.__file__).parent
    return [name for name, words in LAUNCHERS.items() if (folder / f"hiaton_{name}.so").exists() and shutil.which(words[0])]


def run(script, words, path, launcher=(), check=True):
    (path / "train.py").write_text(script)
    command = [*launcher, sys.executable, str(path / "train.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=check, timeout=300, env=os.environ | ENVIRONMENT)


@pytest.fixture(params=LAUNCHERS)
def launcher(request):
    if request.param not in plugins():
        pytest.skip(f"{LAUNCHERS[request.param][0]} or its plug-in is not there")
    return LAUNCHERS[request.param]


def results(path, rank=0):
    return json.loads((path / f"losses{rank}").read_text())


def trained(path, parts, launcher=()):
    path.mkdir()
    run(SCRIPT, [json.dumps(parts), str(path), str(ROOT / "models/treernn.hia")], path, launcher)
    return [(path / f"{name}0").read_bytes() for name in ("model", "line", "program")]


def test_processes_get_the_numbers_of_one(launcher, tmp_path):
    one = trained(tmp_path / "one", 4)
    assert results(tmp_path / "one")[0] == 1
    for count in (2, 3):
        path = tmp_path / str(count)
        assert trained(path, 4, [*launcher, str(count)]) == one, "expected the same bits"
        for rank in range(count):
            assert results(path, rank) == [count, results(tmp_path / "one")[1]]
            assert (path / f"model{rank}").read_bytes() == one[0]
    trained(tmp_path / "parts", None, [*launcher, "2"])
    assert results(tmp_path / "parts")[1] == pytest.approx(results(tmp_path / "one")[1], rel=1e-4)


def test_a_process_that_fails_ends_the_others(launcher, tmp_path):
    script = """
import hiaton as hia
if hia.distributed.rank() == 1:
    raise ValueError("this one fails")
model = hia.nn.Linear(2, 1)
hia.distributed.value_and_grad(model, lambda model, x: hia.sum(model(x)))(model, hia.ones((4, 2)))
"""
    done = run(script, [], tmp_path, [*launcher, "2"], check=False)
    assert done.returncode != 0 and "this one fails" in done.stderr


def test_a_process_that_leaves_early_ends_the_others(launcher, tmp_path):
    script = """
import sys
import hiaton as hia
model = hia.nn.Linear(2, 1)
step = hia.distributed.value_and_grad(model, lambda model, x: hia.sum(model(x)))
step(model, hia.ones((4, 2)))
if hia.distributed.rank() == 1:
    sys.exit(0)
for _ in range(100):
    step(model, hia.ones((4, 2)))
print("reached the end")
"""
    done = run(script, [], tmp_path, [*launcher, "2"], check=False)
    assert done.returncode != 0 and "reached the end" not in done.stdout
    assert "this process ends while others still train" in done.stderr or "message from process 1" in done.stderr, done.stderr


def test_models_that_differ_are_found(launcher, tmp_path):
    script = """
import hiaton as hia
hia.nn.seed(hia.distributed.rank())
model = hia.nn.Linear(2, 1)
hia.distributed.value_and_grad(model, lambda model, x: hia.sum(model(x)))(model, hia.ones((4, 2)))
"""
    done = run(script, [], tmp_path, [*launcher, "2"], check=False)
    assert done.returncode != 0
    assert "expected the same parameters in all processes, found others in process 1 than in process 0" in done.stderr


def test_one_process_gives_what_value_and_grad_gives():
    rng = np.random.default_rng(1)
    model = nn.Linear(3, 2)
    x = hia.asarray(rng.normal(size=(7, 3)).astype(np.float32))

    def loss(model, x):
        return hia.mean(hia.tanh(model(x)) ** 2)

    assert distributed.size() == 1 and distributed.rank() == 0
    alone, gradients = nn.value_and_grad(model, loss)(model, x)
    for parts in (None, 1, 3, 7, 100):
        mean, shared = distributed.value_and_grad(model, loss, parts=parts)(model, x)
        assert mean.item() == pytest.approx(alone.item(), rel=1e-6) and mean.dtype == hia.f32
        for path in gradients:
            np.testing.assert_allclose(shared[path].numpy(), gradients[path].numpy(), rtol=1e-5, atol=1e-7)
    optim.SGD(model, 0.1).update(shared)
    with pytest.raises(ValueError, match="one number of examples, found 2, 7"):
        distributed.value_and_grad(model, loss)(model, x, [1, 2])
    with pytest.raises(TypeError, match="behind the module"):
        distributed.value_and_grad(model, loss)(model)


def test_one_process_gives_what_a_program_gives():
    model = hia.program("param w: f32[3]\nfn loss(x: f32[3]) -> f32 = sum((w - x) * (w - x) * x)")
    examples = [hia.asarray(x.astype(np.float32)) for x in np.random.default_rng(1).normal(size=(7, 3))]
    alone, gradients = model.value_and_grad(examples)
    for parts in (None, 3, 7):
        mean, shared = distributed.value_and_grad(model, parts=parts)(examples)
        assert mean == pytest.approx(alone, rel=1e-6)
        np.testing.assert_allclose(shared["w"].numpy(), gradients["w"].numpy(), rtol=1e-5)
    with pytest.raises(TypeError, match="expected no function"):
        distributed.value_and_grad(model, lambda model: 0)
