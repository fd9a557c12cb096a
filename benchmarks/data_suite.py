"""The suite of data values, lists and tensors: what benchmarks/run --suite data measures, and the bars.

Ratios hold on any machine. Bars that are times hold where the native fib(33) takes 15 ms; elsewhere they are multiplied by what it
takes in the same run over that.
"""

import re
import statistics

from contenders import Program, Run, machine_scale, measure, measure_speedup, peak_bytes, wall_seconds
from printing import print_table, ratio, show_bytes, show_progress, show_ratio, show_time

CPYTHON_BAR = 8  # every program of the first table is to be so many times as fast as CPython
NODE_BYTES = 40  # of a node of the red-black tree: a header and four fields, each of 8 bytes
LIST_FRAMES = 10  # that a program which makes, maps and sums a list has at once

FUNCTIONAL = ("OCaml", "CPython")
ALL = ("OCaml", "native C++", "CPython")


def program(name, arguments, peers=(), **settings):
    return Program(name, arguments, f"benchmarks/programs/{name}.hia", peers=peers, data=True, **settings)


def red_black(n):
    return program("red_black", {"n": n}, FUNCTIONAL)


def derivative(depth, order):
    return program("derivative", {"depth": depth, "order": order}, FUNCTIONAL)


def constant_folding(depth):
    return program("constant_folding", {"depth": depth}, FUNCTIONAL)


def list_queens(n):
    return program("list_queens", {"n": n}, ALL)


def mergesort(n):
    return program("mergesort", {"n": n}, ALL)


def binary_trees(depth):
    return program("binary_trees", {"depth": depth}, ALL)


def ray_tracer(width):
    return program("ray_tracer", {"width": width})


def fft(n):
    return program("fft", {"n": n}, ("native C++", "CPython"))


def boxed_fib(n):
    return program("boxed_fib", {"n": n})


def abstract_fib(n):
    return program("abstract_fib", {"n": n})


def abstract_mergesort(n):
    return program("abstract_mergesort", {"n": n})


def fib_of_values(n):
    return program("fib_of_values", {"n": n})


def tensor_fib(n):
    return program("tensor_fib", {"n": n}, options=("--batching=off",))


def fib_beside_tensors(n):
    return program("fib_beside_tensors", {"n": n})


def long_list(n):
    return program("long_list", {"n": n})


def fib(n):
    return Program("fib", {"n": n}, "examples/fib.hia", peers=("native C++",))


def fib_on_demand(n):
    return Program("fib", {"n": n}, "examples/fib.hia", options=("--evaluation=demand",))


# Native programs that do the same on the same memory and can be given two threads: what the machine makes of it.
NATIVE_HALVES = {"mergesort": "mergesort_in_place", "binary_trees": "binary_trees"}


class Sizes:
    """How large everything is: as measured, or only to show that it works."""

    def __init__(self, smoke):
        self.fib = 15 if smoke else 33
        self.fib_in_call = 12 if smoke else 30
        self.tensor_fib = 8 if smoke else 24
        self.sorted = 100 if smoke else 10**5
        self.runs = 20 if smoke else 10_000
        self.fft = 16 if smoke else 2**16
        self.product = 32 if smoke else 2048
        self.images = 1 if smoke else 64
        self.tree_nodes = 31 if smoke else 100_001
        self.tree_width = 8 if smoke else 128
        self.keys = 1000 if smoke else 10**6
        self.elements = 1000 if smoke else 10**7
        self.starts = 1 if smoke else 5  # for each round
        # A program with its bar as times the time of OCaml.
        self.table = [
            (red_black(100 if smoke else 10**5), 2.5),
            (derivative(4 if smoke else 14, 3), 3),
            (constant_folding(4 if smoke else 18), 3),
            (list_queens(4 if smoke else 10), 4),
            (mergesort(100 if smoke else 10**5), 1.3),
            (binary_trees(6 if smoke else 18), 1),
        ]
        # A program with its bar as speedup by a second worker.
        self.speedups = [
            (mergesort(100 if smoke else 10**6), 1.7),
            (binary_trees(6 if smoke else 20), 1.7),
            (list_queens(4 if smoke else 11), 1.7),
            (derivative(4 if smoke else 15, 3), 1.7),
            (ray_tracer(8 if smoke else 300), 1.7),
            (fft(self.fft), 1.7),
            (tensor_fib(8 if smoke else 31), 1.7),  # one that takes longer than it takes to wake a worker
        ]


class Suite:
    def __init__(self, contenders, options):
        self.contenders = contenders
        self.rounds = options.rounds
        self.only = options.only
        self.sizes = Sizes(options.smoke)

    def wanted(self, label):
        return re.search(self.only, label)

    def table(self):
        """Programs of data values beside other languages."""
        return [self.table_row(row, bar) for row, bar in self.sizes.table if self.wanted(row.label())]

    def table_row(self, row, bar):
        seconds = measure(self.contenders.of(row), self.rounds, row.label())
        ours = seconds["hiaton, 1 worker"]
        times_ocaml, python = ratio(ours, seconds["OCaml"]), ratio(seconds["CPython"], ours)
        return {"program": row.label(), **{name: statistics.median(found) for name, found in seconds.items()},
                "x OCaml": times_ocaml, "bar": bar, "x C++": ratio(ours, seconds.get("native C++")),
                "CPython / ours": python, "CPython bar": CPYTHON_BAR,
                "missed": times_ocaml > bar or python < CPYTHON_BAR}

    def speedups(self):
        """One worker beside two."""
        rows = []
        for row, bar in self.sizes.speedups:
            if self.wanted(row.label()):
                rows.append(self.speedup_row(row.label(), lambda workers: self.contenders.hiaton(row, workers), bar,
                                             self.peers_of(row) | self.halves_of(row)))
        for name, size in (("product", self.sizes.product), ("conv2d", self.sizes.images)):
            if self.wanted(name):
                rows.append(self.speedup_row(f"{name}({size})",
                                             lambda workers: self.contenders.embedded(name, size, workers), 1.8))
        for phase in ("inference", "training"):
            label = f"TreeLSTM, {self.sizes.tree_nodes:,} nodes, {phase}"
            if self.wanted(label):
                rows.append(self.speedup_row(label, lambda workers: self.big_tree(phase, workers), 1.6))
        return rows

    def peers_of(self, row):
        """What else gives the results that ours must be; where the first table does not compare them."""
        return {name: run for name, run in self.contenders.of(row).items() if name == "native C++"}

    def halves_of(self, row):
        """The native program with one thread and with two."""
        if row.name not in NATIVE_HALVES:
            return {}
        native = Program(NATIVE_HALVES[row.name], row.arguments, row.file)
        return {f"halves, {workers}": lambda workers=workers: self.contenders.built("native_data", native, workers)
                for workers in (1, 2)}

    def speedup_row(self, label, run, bar, peers=None):
        seconds, row = measure_speedup(run, self.rounds, label, peers)
        native = seconds.get("native C++")
        return row | {"native C++": statistics.median(native) if native else None, "bar": bar,
                      "native speedup": ratio(seconds["halves, 1"], seconds["halves, 2"]) if "halves, 1" in seconds else None,
                      "missed": row["speedup"] < bar}

    def big_tree(self, phase, workers):
        width = self.sizes.tree_width
        report = self.contenders.learn("speed", "--model=treelstm", f"--nodes={self.sizes.tree_nodes}", "--batch=1",
                                       "--steps=1", "--rounds=1", f"--hidden={width}", f"--embedding={width}",
                                       f"--workers={workers}")
        return Run({"results": [], "seconds": 1 / report[f"{phase}_examples_per_second"]})

    def pairs(self):
        """What must not take much longer than something simpler."""
        plain, wrapped = fib(self.sizes.fib), boxed_fib(self.sizes.fib)
        inner, called = fib(self.sizes.fib_in_call), fib_beside_tensors(self.sizes.fib_in_call)
        runs = self.sizes.runs
        sorted_by, sorted_plainly = abstract_mergesort(self.sizes.sorted), mergesort(self.sizes.sorted)
        abstract, of_values = abstract_fib(self.sizes.fib), fib_of_values(self.sizes.fib)
        on_demand = fib_on_demand(self.sizes.fib)
        ours, embedded = self.contenders.hiaton, self.contenders.embedded
        pairs = [
            (f"{wrapped.label()} / {plain.label()}", lambda: ours(wrapped), lambda: ours(plain), 2.5),
            (f"{called.label()} / {inner.label()}", lambda: ours(called), lambda: ours(inner), 1.1),
            (f"{abstract.label()} / {plain.label()}", lambda: ours(abstract), lambda: ours(plain), 1.03),
            (f"{sorted_by.label()} / {sorted_plainly.label()}", lambda: ours(sorted_by), lambda: ours(sorted_plainly), 1.03),
            (f"{of_values.label()} / {plain.label()}", lambda: ours(of_values), lambda: ours(plain), 5),
            (f"{on_demand.label()} on demand / {plain.label()}", lambda: ours(on_demand), lambda: ours(plain), 1.2),
            (f"run_all of {runs:,} lists / {runs:,} runs", lambda: embedded("run_all", runs),
             lambda: embedded("run_each", runs), 1.1),
        ]
        rows = []
        for label, above, below, bar in pairs:
            if self.wanted(label):
                seconds = measure({"above": above, "below": below}, self.rounds, label)
                found = ratio(seconds["above"], seconds["below"])
                rows.append({"program": label, "above": statistics.median(seconds["above"]),
                             "below": statistics.median(seconds["below"]), "ratio": found, "bar": bar, "missed": found > bar})
        return rows

    def scale(self):
        return statistics.median(machine_scale(self.contenders.programs, self.sizes.fib) for _ in range(self.rounds))

    def times(self):
        """Single times, in the scale of the native fib."""
        calls = tensor_fib(self.sizes.tensor_fib)
        starts = {"hiaton run examples/fact.hia": "--n=3",
                  "hiaton run benchmarks/programs/with_library.hia": "--text=to be or not to be"}
        rows = []
        if self.wanted(calls.label()):
            show_progress(calls.label())
            scale, found = self.scale(), [self.contenders.hiaton(calls) for _ in range(self.rounds)]
            count = 2 * round(found[0].results[0] / 3) - 1  # the result is fib of [1, 2], summed up
            rows.append(self.time_row(f"a call of {calls.label()}", statistics.median(run.seconds for run in found) / count,
                                      200e-9, scale))
        again = f"one of {self.sizes.runs:,} runs of a small program"
        if self.wanted(again):
            show_progress(again)
            scale, found = self.scale(), [self.contenders.embedded("run_each", self.sizes.runs) for _ in range(self.rounds)]
            rows.append(self.time_row(again, statistics.median(run.seconds for run in found) / self.sizes.runs, 3e-6, scale))
        for start, argument in starts.items():
            if not self.wanted(start):
                continue
            show_progress(start)
            command = [self.contenders.hiaton_command, *start.split()[1:], argument]
            scale, found = self.scale(), [wall_seconds(command) for _ in range(self.sizes.starts * self.rounds)]
            rows.append(self.time_row(start, statistics.median(found), 8e-3, scale))
        show_progress("")
        return rows

    def time_row(self, label, seconds, bar, scale):
        return {"what": label, "seconds": seconds, "scale": scale, "bar": bar * scale, "missed": seconds > bar * scale}

    def memory(self):
        """What the largest trees and lists take. The bars judge the growth of the process, not what the run counts: that
        holds room for more values as well, and not all of it is ever touched."""
        rows = []
        tree, elements = red_black(self.sizes.keys), long_list(self.sizes.elements)
        if self.wanted(tree.label()):
            row = self.memory_row(tree, tree.arguments["n"])
            row |= {"x live": row["growth a unit"] / NODE_BYTES, "bar": 64, "x live bar": 1.2}
            rows.append(row | {"missed": row["growth a unit"] > row["bar"] or row["x live"] > row["x live bar"]})
        if self.wanted(elements.label()):
            row = self.memory_row(elements, elements.arguments["n"]) | {"x live": None, "bar": 40, "x live bar": None}
            rows.append(row | {"missed": row["growth a unit"] > row["bar"] or row["frames"] > LIST_FRAMES})
        show_progress("")
        return rows

    def memory_row(self, row, units):
        """Of a run that was measured, and of how much more memory its process takes than one for the smallest size."""
        show_progress(row.label())
        run = self.contenders.hiaton(row, stats=True)
        smallest = Program(row.name, {"n": 1}, row.file, data=True)
        growth = peak_bytes(self.contenders.hiaton_words(row)) - peak_bytes(self.contenders.hiaton_words(smallest))
        return {"program": row.label(), "seconds": run.seconds, "bytes a unit": run.stats["bytes"] / units,
                "growth a unit": growth / units, "frames": run.stats["frames_live_most"]}


def measure_all(contenders, options):
    suite = Suite(contenders, options)
    return {"data": suite.table(), "two workers": suite.speedups(), "pairs": suite.pairs(), "times": suite.times(),
            "memory": suite.memory()}


def missed(row):
    return "missed" if row["missed"] else ""


def print_report(report, options):
    tables = [
        (["data", "Hiaton, 1 worker", "2 workers", "OCaml", "native C++", "CPython", "x OCaml", "bar", "x C++",
          "CPython / ours", "bar", ""],
         [[row["program"], *(show_time(row.get(name)) for name in
                             ("hiaton, 1 worker", "hiaton, 2 workers", "OCaml", "native C++", "CPython")),
           show_ratio(row["x OCaml"]), show_ratio(row["bar"]), show_ratio(row["x C++"]),
           show_ratio(row["CPython / ours"]), show_ratio(row["CPython bar"]), missed(row)] for row in report["data"]]),
        (["two workers", "1 worker", "2 workers", "native C++", "speedup", "bar", "native speedup", "two copies", ""],
         [[row["program"], show_time(row["1 worker"]), show_time(row["2 workers"]), show_time(row["native C++"]),
           show_ratio(row["speedup"]), show_ratio(row["bar"]), show_ratio(row["native speedup"]),
           show_ratio(row["two copies"]), missed(row)]
          for row in report["two workers"]]),
        (["pairs", "the first", "the second", "ratio", "bar", ""],
         [[row["program"], show_time(row["above"]), show_time(row["below"]), show_ratio(row["ratio"]),
           show_ratio(row["bar"]), missed(row)] for row in report["pairs"]]),
        (["times", "time", "bar, scaled", "native fib / 15 ms", ""],
         [[row["what"], show_time(row["seconds"]), show_time(row["bar"]), show_ratio(row["scale"]), missed(row)]
          for row in report["times"]]),
        (["memory of a node or element", "time", "counted", "growth of the process (judged)", "bar", "x live tree", "bar",
          "frames at once", ""],
         [[row["program"], show_time(row["seconds"]), show_bytes(row["bytes a unit"]), show_bytes(row["growth a unit"]),
           show_bytes(row["bar"]), show_ratio(row["x live"]), show_ratio(row["x live bar"]),
           f"{row['frames']:,}", missed(row)] for row in report["memory"]]),
    ]
    first = True
    for headers, rows in tables:
        if rows:
            if not first:
                print()
            print_table(headers, rows, options.markdown)
            first = False
