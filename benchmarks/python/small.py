"""What single operations, calls and conversions take."""

import ast
import dataclasses
import inspect
import itertools
import textwrap
import time

import hiaton as hia
from hiaton import nn

import tree_models
import trees
from measuring import middle, ratio, seconds_of, show_ratio, show_time, table

OPERATIONS = ["a + b", "a * 2.0", "tanh(a)", "m @ m"]


def _loop_of(operation, names):
    scope = dict(names)
    exec(f"def loop(count):\n    for _ in range(count):\n        {operation}", scope)
    return scope["loop"]


def _eager_contenders(operation, torch, count):
    a, m = hia.ones(8), hia.ones((4, 4))
    loop = _loop_of(operation, {"a": a, "b": a + 1, "m": m, "tanh": hia.tanh})

    def taped():
        with hia.GradientTape() as tape:
            tape.watch([a, m])
            return seconds_of(loop, count) / count

    found = {"hiaton": lambda: seconds_of(loop, count) / count, "hiaton, tape": taped}
    if torch is not None:
        x, y = torch.ones(8), torch.ones(4, 4)
        plain = _loop_of(operation, {"a": x, "b": x + 1, "m": y, "tanh": torch.tanh})
        x, y = torch.ones(8, requires_grad=True), torch.ones(4, 4, requires_grad=True)
        recorded = _loop_of(operation, {"a": x, "b": torch.ones(8), "m": y, "tanh": torch.tanh})
        found["PyTorch"] = lambda: seconds_of(plain, count) / count
        found["PyTorch, requires_grad"] = lambda: seconds_of(recorded, count) / count
    return found


def operations(bench):
    """An eager operation on tensors of 8 and 4 by 4 elements, without and with a tape."""
    rows, names = [], []
    for operation in OPERATIONS:
        found = bench.in_turns(f"operations: {operation}",
                               _eager_contenders(operation, bench.torch, bench.count(5000, 50)))
        names = list(found)
        rows.append([f"`{operation}`", *(show_time(middle(seconds)) for seconds in found.values())])
        for name, peer, bar in (("hiaton", "PyTorch", 1.5e-6), ("hiaton, tape", "PyTorch, requires_grad", 2.5e-6)):
            what = f"`{operation}`, {'without' if name == 'hiaton' else 'with'} a tape"
            bench.at_most(what, middle(found[name]), bar)
            if peer in found:
                bench.at_most(f"{what}, beside PyTorch", ratio(found[name], found[peer]), 1.1, show_ratio)
    table("An operation on small tensors", ["", *names], rows)


def calls(bench):
    """Guards and call of a tiny graph."""
    count = bench.count(5000, 50)
    model, x = nn.Linear(8, 8), hia.ones(8)

    @hia.function(strict=True)
    def one_more(n):
        return n + 1

    @hia.function(strict=True)
    def scaled(x):
        return x * 2.0

    @hia.function(strict=True)
    def layer(model, x):
        return hia.tanh(model(x))

    kinds = {"`n + 1`, an int": lambda: one_more(3), "`x * 2.0`, a tensor": lambda: scaled(x),
             "`tanh(model(x))`, a module": lambda: layer(model, x)}

    def timed(call):
        def run():
            begin = time.perf_counter()
            for _ in range(count):
                call()
            return (time.perf_counter() - begin) / count
        call()
        return run

    found = bench.in_turns("calls", {name: timed(call) for name, call in kinds.items()})
    table("Guards and call of a tiny graph", ["", "a call"],
          [[name, show_time(middle(seconds))] for name, seconds in found.items()])
    for name, seconds in found.items():
        bench.at_most(f"call of {name}", middle(seconds), 5e-6)


def _syntax_nodes(functions):
    return sum(1 for f in functions for _ in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(f)))))


def _functions_of(cls):
    """The methods of a model and what they call, without what makes it."""
    methods = {name: f for base in reversed(cls.__mro__) if base.__module__ == tree_models.__name__
               for name, f in vars(base).items() if name != "__init__" and inspect.isfunction(f)}
    return [tree_models.mean_loss, *methods.values()]


def conversions(bench):
    """The first call of a model's loss and gradients, beyond a later one."""
    rows = []
    kinds = list(tree_models.MODELS)
    for name in kinds[:1] if bench.smoke else kinds:
        kind = tree_models.MODELS[name]
        nodes = _syntax_nodes(_functions_of(kind.model))
        batch = trees.generated(kind.trees, 5)
        seconds = []
        for _ in range(bench.rounds):
            model = kind.model(kind.program().parameters)
            step = nn.value_and_grad(model, tree_models.mean_loss)
            first = seconds_of(step, model, batch)
            seconds.append(first - min(seconds_of(step, model, batch) for _ in range(3)))
        bar = 0.1 + 1e-5 * nodes
        rows.append([name, str(nodes), show_time(middle(seconds)), show_time(bar)])
        bench.at_most(f"conversion of {name}, {nodes} syntax nodes", middle(seconds), bar)
    table("Conversion of a model with its gradients", ["", "syntax nodes", "found", "bar"], rows)


@dataclasses.dataclass
class Summand:
    value: int
    left: "Summand | None" = None
    right: "Summand | None" = None


def total(t):
    if t is None:
        return 0
    return t.value + total(t.left) + total(t.right)


def _full(depth, value=1):
    return None if depth == 0 else Summand(value, _full(depth - 1, value), _full(depth - 1, value))


def labels_and_words(t):
    if t.left is None or t.right is None:
        return t.label + t.word
    return t.label + labels_and_words(t.left) + labels_and_words(t.right)


def sum_if_asked(batch, asked):
    return sum(labels_and_words(t) for t in batch) if asked > 0 else 0


def snapshots(bench):
    """Objects become data values: a graph gets the trees of a step of training, and then has no use for them."""
    count = bench.count(100)
    batches = [trees.generated(trees.Tree, trees.BATCH, seed) for seed in range(1, 5)]
    nodes = sum(trees.size_of(t) for batch in batches for t in batch)

    def graph_of():
        graph = hia.function(sum_if_asked, strict=True)
        assert graph(batches[0], 1) == sum_if_asked(batches[0], 1)
        return graph

    again, first, seeds = graph_of(), graph_of(), itertools.count(5)

    def known_trees():
        begin = time.perf_counter()
        for _ in range(count):
            for batch in batches:
                again(batch, 0)
        return (time.perf_counter() - begin) / count / nodes

    def new_trees():
        made = [trees.generated(trees.Tree, trees.BATCH, next(seeds)) for _ in range(max(4, count // 2))]
        begin = time.perf_counter()
        for batch in made:
            first(batch, 0)
        return (time.perf_counter() - begin) / sum(trees.size_of(t) for batch in made for t in batch)

    found = bench.in_turns("snapshots", {"that come for the first time": new_trees, "that come again": known_trees})
    table(f"Objects to data values, {trees.BATCH} trees a call, four fields a node", ["trees", "a node"],
          [[name, show_time(middle(seconds))] for name, seconds in found.items()])
    for name, seconds in found.items():
        bench.at_most(f"objects to data values, trees {name}, a node", middle(seconds), 150e-9)
    bench.seconds_a_node = middle(found["that come again"])


def faults(bench):
    """A call that leaves its graph, for integers beyond 64 bits, beside the same call in plain Python."""
    good, bad = _full(10), _full(10)
    bad.value = bad.left.value = 2 ** 62
    graph = hia.function(total)
    expected = total(bad)

    def failing():
        for _ in range(5):  # a function whose calls fail often is left to Python
            graph(good)
        begin = time.perf_counter()
        found = graph(bad)
        seconds = time.perf_counter() - begin
        assert found == expected
        return seconds

    found = bench.in_turns("faults", {"hia.function": failing, "plain Python": lambda: seconds_of(total, bad)})
    assert "1 graphs" in graph.report() and "in plain Python:" not in graph.report(), graph.report()
    beyond = middle([a - b for a, b in zip(found["hia.function"], found["plain Python"])])
    table("A failed assumption: an integer beyond 64 bits, met at the end of a tree of 1,023 nodes",
          ["", "a call"], [[name, show_time(middle(seconds))] for name, seconds in found.items()])
    bench.at_most("a failed assumption, beyond the call in Python", beyond, 2e-3)
