"""What becomes one graph here: how large its batches are, and how long trees take that compilers unroll."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import hiaton as hia

import tree_models
import trees
import tree_steps
from measuring import middle, seconds_of, show_progress, show_ratio, show_time, table


def full_tree(depth, number):
    """Its labels and words differ from those of others."""
    if depth == 0:
        return trees.Tree(number % trees.CLASSES, 1 + number % (trees.VOCABULARY - 1))
    return trees.Tree(number % trees.CLASSES, None, full_tree(depth - 1, 2 * number), full_tree(depth - 1, 2 * number + 1))


IN_HIA = """
fn full(number: i64, depth: i64) -> (f32[d], f32[d]) =
  if depth == 0 then leaf(number % vocab)
  else
    let (hl, cl) = full(2 * number, depth - 1)
    let (hr, cr) = full(2 * number + 1, depth - 1)
    node(hl, cl, hr, cr)

fn tree_loss(number: i64, depth: i64) -> f32 =
  let (h, _) = full(number, depth)
  node_loss(h, number % classes)

fn main(trees: i64, depth: i64) -> f32 = with total: f32 = 0.0 for number in 1..trees + 1 do total + tree_loss(number, depth)
"""


class FullTrees(tree_models.TreeLSTM):
    """Trees of 2 ** depth words that are numbers."""

    def full(self, number, depth):
        if depth == 0:
            return self.leaf(number % trees.VOCABULARY)
        (hl, cl), (hr, cr) = self.full(2 * number, depth - 1), self.full(2 * number + 1, depth - 1)
        return self.node(hl, cl, hr, cr)

    def tree_loss(self, number, depth):
        h, _ = self.full(number, depth)
        return self.node_loss(h, number % trees.CLASSES)


def loss_by_loop(model, count, depth):
    total = 0.0
    for number in range(1, count + 1):
        total = total + model.tree_loss(number, depth)
    return total


def loss_by_sum(model, count, depth):
    return sum(model.tree_loss(number, depth) for number in range(1, count + 1))


TREES, DEPTH = 64, 5
CELLS = TREES * (2 ** DEPTH - 1)


def batches(bench):
    """The mean batch of the cell of a TreeLSTM in a loop over full trees."""
    if not bench.options.program.exists():
        print(f"\nbatches: left out, since {bench.options.program} is not built")
        return
    kind = tree_models.MODELS["TreeLSTM"]
    model = FullTrees(kind.program().parameters)
    rows = []
    for name, function in (("`for` in Python", loss_by_loop), ("`sum` in Python", loss_by_sum), ("`for` in .hia", None)):
        if function is None:
            text, names = kind.path().read_text() + IN_HIA, ("trees", "depth")
        else:
            graph = hia.function(function, strict=True)
            graph(model, 2, 1)
            text, names = graph.text().replace(f"fn {function.__name__}(", "fn main("), ("count", "depth")
        launches = _launches_of_cells(bench, text, names)
        rows.append([name, f"{CELLS:,}", str(launches), f"{CELLS / launches:.1f}"])
        bench.at_least(f"mean batch of the cell, {name}", CELLS / launches, 200, lambda found: f"{found:.0f}")
    table(f"Mean batch of the cell of a TreeLSTM, in a loop over {TREES} full trees of {2 ** DEPTH} words",
          ["", "cells", "launches", "mean batch"], rows)


def _launches_of_cells(bench, text, names):
    """How many launches of kernels run the cells of all trees. `names` are those of the parameters of the program."""
    with tempfile.NamedTemporaryFile("w", suffix=".hia") as file:
        file.write(text)
        file.flush()
        command = [bench.options.program, "run", file.name, f"--{names[0]}={TREES}", f"--{names[1]}={DEPTH}", "--stats", "--json"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed with status {done.returncode}:\n{done.stderr}")
    regions = json.loads(done.stdout)["stats"]["regions"]
    return max(region["launches"] for region in regions if region["firings"] == CELLS)


def unrolled(bench):
    """A TreeRNN on 200 distinct trees, one step for each, with the time that conversion or compilation takes."""
    count = bench.count(200, 3)
    examples = trees.generated(trees.Tree, count)
    kind = tree_models.MODELS["TreeRNN"]
    parameters = {name: value.numpy() for name, value in kind.program().parameters.items()}

    def ours():
        step = tree_steps.graph_step(kind, parameters)
        return seconds_of(lambda: [step([t]) for t in examples]) / count

    found = middle(bench.in_turns("unrolled: hia.function", {"": ours})[""])
    rows = [["hia.function, with its conversion", str(count), show_time(found), ""]]
    for package, label in (("torch", "torch.compile"), ("jax", "jax.jit")):
        if importlib.util.find_spec(package) is None or bench.smoke:
            continue
        done, seconds, error = _until(package, count, bench.options.seconds)
        if error:
            rows.append([f"{label}, which failed at tree {done + 1}: {error}", str(done), "", ""])
            continue
        least = "" if done else "more than "
        rows.append([label, str(done), least + show_time(seconds / max(1, done)), least + show_ratio(seconds / max(1, done) / found)])
        bench.at_least(f"distinct trees beside {label}, {done} of {count} trees done", seconds / max(1, done) / found, 100)
    table(f"A TreeRNN on {count} distinct trees, compile time included; a peer gets {bench.options.seconds} s",
          ["", "trees", "a tree", "x hia.function"], rows)


def _until(package, count, seconds):
    """How many trees the peer did in so many seconds, how long it took for them, and the error that ended it, if one did."""
    failure = ""
    show_progress(f"unrolled: {package}, at most {seconds} s")
    command = [sys.executable, "-B", str(pathlib.Path(__file__).parent / "unrolled.py"), package, "--trees", str(count)]
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache}  # nothing that it compiled before
        try:
            subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=seconds, check=True, env=environment)
        except subprocess.TimeoutExpired:
            pass
        except subprocess.CalledProcessError as error:
            told = [line for line in error.stderr.splitlines() if "Error" in line]
            failure = told[0] if told else f"exit status {error.returncode}"
        output.seek(0)
        lines = [json.loads(line) for line in output if line.endswith("\n")]
    show_progress("")
    return (lines[-1]["trees"], lines[-1]["seconds"], failure) if lines else (0, seconds, failure)
