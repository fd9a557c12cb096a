"""Training models over trees: plain Python as a graph, beside PyTorch, eager tensors, programs in .hia and `hiaton train`."""

import json
import statistics
import subprocess
import tempfile

import numpy as np

import hiaton as hia
from hiaton import nn, optim

import tree_models
import trees
from measuring import middle, ratio, seconds_of, show_ratio, show_share, show_time, table

RATE = 0.01  # of Adagrad, for all contenders


def graph_step(kind, parameters):
    model = kind.model(parameters)
    gradients_of, optimizer = nn.value_and_grad(model, tree_models.mean_loss), optim.Adagrad(model, RATE)

    def step(batch):
        loss, gradients = gradients_of(model, batch)
        optimizer.update(model, gradients)
        return loss.item()
    return step


def eager_step(kind, parameters):
    model = kind.model(parameters)
    optimizer = optim.Adagrad(model, RATE)

    def step(batch):
        with hia.GradientTape() as tape:
            loss = tree_models.mean_loss(model, batch)
        optimizer.update(model, tape.gradient(loss, model))
        return loss.item()
    return step


def program_step(kind):
    """A step of the program in .hia, and what makes its trees."""
    program = kind.program()
    optimizer = optim.Adagrad(program, RATE)
    types = program.types

    def value(t):
        children = [value(child) for child in trees.children_of(t)]
        if not children:
            return types.Leaf(t.label, t.word)
        return types.Node(t.label, children) if isinstance(t, trees.Node) else types.Node(t.label, *children)

    def step(batch):
        loss, gradients = program.value_and_grad(batch)
        optimizer.update(gradients)
        return loss
    return step, value


class CommandLine:
    """`hiaton train` on the same trees, from their file: seconds a tree, the median of the epochs of a run."""

    def __init__(self, program, kind, examples, epochs):
        self._directory = tempfile.TemporaryDirectory()
        data = f"{self._directory.name}/trees.txt"
        with open(data, "w") as file:
            file.writelines(trees.bracketed(t) + "\n" for t in examples)
        self._command = [program, "train", kind.path(), "--data", data, "--epochs", str(epochs), "--optimizer", "adagrad",
                         "--lr", str(RATE), "--batch", str(trees.BATCH)]

    def __call__(self):
        with tempfile.TemporaryDirectory() as out:
            command = [str(word) for word in [*self._command, "--out", out]]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(command)} failed with status {done.returncode}:\n{done.stderr}")
            with open(f"{out}/log.jsonl") as file:
                rates = [json.loads(line).get("examples_per_second") for line in file]
        return 1 / statistics.median(rate for rate in rates if rate)


def require_equal_losses(name, losses):
    expected = losses["hia.function"]
    for contender, found in losses.items():
        if not np.allclose(found, expected, rtol=1e-4):
            raise SystemExit(f"{name}: {contender} gets the losses {found}, hia.function {expected}")


def _contenders(bench, kind, many, few):
    """By name: seconds a tree of a round; and the losses of the first steps, which are to be equal."""
    parameters = {name: value.numpy() for name, value in kind.program().parameters.items()}
    program, value = program_step(kind)
    steps = {"hia.function": (graph_step(kind, parameters), many),
             ".hia in process": (program, [[value(t) for t in batch] for batch in many]),
             "eager hiaton": (eager_step(kind, parameters), few)}
    if bench.torch is not None:
        import torch_models
        model = getattr(torch_models, kind.model.__name__)(parameters)
        steps["PyTorch eager"] = (torch_models.step_of(model),
                                  [[torch_models.with_tensors(t) for t in batch] for batch in few])
    losses = {name: [step(batches[0]), step(batches[0])] for name, (step, batches) in steps.items()}

    def timed(step, batches):
        count = sum(map(len, batches))
        return lambda: seconds_of(lambda: [step(batch) for batch in batches]) / count

    return {name: timed(*made) for name, made in steps.items()}, losses


def tree_steps(bench):
    """A step of training by Adagrad on 25 trees: microseconds a tree."""
    kinds = dict(list(tree_models.MODELS.items())[:bench.count(9)])
    rows, names = [], []
    for label, kind in kinds.items():
        examples = trees.generated(kind.trees, trees.BATCH * bench.count(20, 2))
        many = trees.batches(examples)
        contenders, losses = _contenders(bench, kind, many, many[:1])
        require_equal_losses(label, losses)
        if bench.options.program.exists():
            contenders["hiaton train"] = CommandLine(bench.options.program, kind, examples, epochs=3)
        found = bench.in_turns(f"trees: {label}", contenders)
        names = list(found)
        nodes = sum(map(trees.size_of, examples)) / len(examples)
        rows.append([label, f"{nodes:.0f}", *(show_time(middle(seconds)) for seconds in found.values())])
        ours = found["hia.function"]
        for name, bar in (("PyTorch eager", kind.bar), (".hia in process", 0.96), ("hiaton train", 0.90)):
            if name in found:
                bench.at_least(f"{label}, speed beside {name}", ratio(found[name], ours), bar)
        if bench.seconds_a_node is not None and kind.trees is trees.Tree:
            share = bench.seconds_a_node * nodes / middle(ours)
            bench.at_most(f"{label}, share of a step in which objects become data values", share, 0.05, show_share)
        bench.bars.append([f"{label}, speed beside eager hiaton", show_ratio(ratio(found["eager hiaton"], ours)), "", ""])
    table("A step of training, batches of 25 trees: time a tree", ["", "nodes a tree", *names], rows)
