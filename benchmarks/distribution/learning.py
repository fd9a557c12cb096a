"""Predictions and training in several processes, measured: what two processes gain, what of the exchange of gradients is not
hidden behind work, and how long it takes until a process that was killed is named and training goes on without it."""

import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import time

from contenders import ROOT, TIMEOUT_S, measure, wait_for, wall_seconds
from gains import HEADERS, cells, gain
from printing import missed, show_ratio, show_time
from two_hosts import HOSTS, run_on, two_hosts

PREDICT_BAR = 1.9 / 2   # of what two runs side by side get done: 1.9 where the second core is free
ONE_TREE_BAR = 1.7 / 2
TRAIN_BAR = 1.85 / 2
EXCHANGE_BAR = 0.05     # of a step
EXCHANGE_OVER_TCP_BAR = 0.1
KILLED_BAR_S = 2        # until a process that was killed is named, and all have ended
RESTART_BAR_S = 5       # until training goes on without it

MODEL = "models/treelstm.hia"
TABLE = "param E: f32[vocab, e]"
TABLE_BAR = 0.85        # of the speed with the table here


class Timed:
    """A command that has ended: a contender without results to compare."""

    results = ()

    def __init__(self, seconds):
        self.seconds = seconds


def run_quietly(words):
    """Shows what the command says only where it fails."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)} failed with status {done.returncode}:\n{done.stderr}")


class Learning:
    def __init__(self, processes, sizes, scratch):
        self.command = str(processes.command)
        self.two = processes.two
        self.variables = processes.variables
        self.over_mpi = processes.two[0].startswith("--hosts")
        self.sizes = sizes
        self.scratch = pathlib.Path(scratch)

    def train_words(self, out, trees, batch, *options, model=MODEL):
        """A command that trains into a new directory of this name: one that holds checkpoints is refused."""
        shutil.rmtree(self.scratch / out, ignore_errors=True)
        return [self.command, "train", str(model), f"--train-trees={trees}", "--dev-trees=2", f"--batch={batch}", "--epochs=1",
                f"--size=d={self.sizes.width}", "--out", str(self.scratch / out), *options]

    def trained_seconds(self, out):
        """Of the epoch, without the start of the command."""
        lines = (self.scratch / out / "log.jsonl").read_text(encoding="utf-8").splitlines()
        return sum(json.loads(line)["seconds"] for line in lines)

    def train(self, out, trees, batch, *options, model=MODEL):
        run_quietly(self.train_words(out, trees, batch, *options, model=model))
        return Timed(self.trained_seconds(out))

    def side_by_side(self, commands, seconds_of):
        running = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for words in commands]
        begin = time.monotonic()
        wait_for(running)
        return Timed(seconds_of(time.monotonic() - begin))

    def predict_row(self, rounds):
        run_quietly(self.train_words("model", 40, 20))
        words = [self.command, "predict", str(self.scratch / "model"), f"--generate={self.sizes.predictions}"]
        seconds = measure({"1": lambda: Timed(wall_seconds(words)), "2": lambda: Timed(wall_seconds([*words, *self.two])),
                           "pair": lambda: self.side_by_side([words, words], lambda wall: wall / 2)}, rounds, "predict")
        return row(f"predict, {self.sizes.predictions:,} trees", seconds, PREDICT_BAR)

    def one_tree_row(self, rounds):
        """A TreeLSTM on one tree, whose calls the processes give each other."""
        words = [self.command, "run", "benchmarks/programs/one_tree.hia", f"--leaves={self.sizes.leaves}"]
        printed = {subprocess.run([*words, *options], cwd=ROOT, check=True, capture_output=True, timeout=TIMEOUT_S).stdout
                   for options in ([], self.two)}
        if len(printed) > 1:
            raise SystemExit(f"{' '.join(words)}: expected the result of one process from two, found another")
        seconds = measure({"1": lambda: Timed(wall_seconds(words)), "2": lambda: Timed(wall_seconds([*words, *self.two])),
                           "pair": lambda: self.side_by_side([words, words], lambda wall: wall / 2)}, rounds, "one tree")
        return row(f"one tree of {2 * self.sizes.leaves - 1:,} nodes", seconds, ONE_TREE_BAR)

    def train_row(self, rounds):
        """The same trees for all, in batches twice as large for two processes as for one. Of more trees those that come last
        are larger, so twice as many would be more than twice the work."""
        trees = 2 * self.sizes.train_trees
        both = lambda wall: max(self.trained_seconds("left"), self.trained_seconds("right")) / 2
        pair = lambda: [self.train_words(out, trees, 25) for out in ("left", "right")]
        seconds = measure({"1": lambda: self.train("one", trees, 25), "2": lambda: self.train("two", trees, 50, *self.two),
                           "pair": lambda: self.side_by_side(pair(), both)}, rounds, "train")
        return row(f"train, TreeLSTM {self.sizes.width}, 25 trees a process", seconds, TRAIN_BAR)

    def table_row(self, rounds):
        """One process with the table of words, and one whose table another process holds, which computes nothing else."""
        text = (ROOT / MODEL).read_text(encoding="utf-8")
        if TABLE not in text:
            raise SystemExit(f"{MODEL} has no table '{TABLE}'")
        placed = self.scratch / "placed.hia"
        placed.write_text(text.replace(TABLE, TABLE + ' on "process:1"'), encoding="utf-8")
        trees = self.sizes.train_trees
        seconds = measure({"here": lambda: self.train("here", trees, 25),
                           "there": lambda: self.train("there", trees, 25, *self.two, model=placed)}, rounds, "table")
        same = (self.scratch / "here/best.safetensors").read_bytes() == (self.scratch / "there/best.safetensors").read_bytes()
        if not same:
            raise SystemExit("expected the same parameters with the table on the other process, found others")
        speed = statistics.median(here / there for here, there in zip(seconds["here"], seconds["there"]))
        return {"what": f"train, TreeLSTM {self.sizes.width}, 25 trees", "here": statistics.median(seconds["here"]),
                "there": statistics.median(seconds["there"]), "speed": speed, "bar": TABLE_BAR,
                "missed": missed(speed >= TABLE_BAR)}

    def exchange_rows(self, rounds):
        """What of the steps is the exchange of gradients: from when the last process begins it. What the others wait for that one
        stands by itself: it is because their shares of a batch do not take equally long. The rows, and why one is missing."""
        trace = self.scratch / "trace.json"
        options = [f"--trace={trace}"]
        here = lambda: self.train("traced", self.sizes.train_trees, 50, *options, *self.two)
        rows = [exchange_row("shared memory", EXCHANGE_BAR, here, trace, rounds)]
        if not self.over_mpi:
            return rows, None
        hosts, why = two_hosts(self.scratch)
        if hosts is None:
            return rows, why
        try:
            over_tcp = lambda: run_on(hosts, self.train_words("traced", self.sizes.train_trees, 50, *options, HOSTS), self.variables)
            rows.append(exchange_row("TCP", EXCHANGE_OVER_TCP_BAR, over_tcp, trace, rounds))
        finally:
            hosts.close()
        return rows, None

    def killed_rows(self):
        if not self.over_mpi:
            return []
        rows = [("a process killed: until it is named", self.seconds_until_named(), KILLED_BAR_S),
                ("--restart: until training goes on", self.seconds_until_restarted(), RESTART_BAR_S)]
        return [{"what": what, "seconds": seconds, "bar": bar, "missed": missed(seconds <= bar)}
                for what, seconds, bar in rows]

    def seconds_until_named(self):
        running = subprocess.Popen([self.command, "run", "examples/queens.hia", "--n=16", *self.two], cwd=ROOT, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        kill_process(running.pid, 1)
        begin = time.monotonic()
        said = running.communicate(timeout=TIMEOUT_S)[1]
        if "error: process 1 " not in said:
            raise SystemExit(f"expected an error that names process 1, found: {said}")
        return time.monotonic() - begin

    def seconds_until_restarted(self):
        out = self.scratch / "restarted"
        words = self.train_words("restarted", 40, 10, "--checkpoint-every=1", "--restart=1", *self.two)
        running = subprocess.Popen([word if word != "--epochs=1" else "--epochs=100000" for word in words], cwd=ROOT, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            log = out / "log.jsonl"
            wait_until(lambda: log.exists() and log.read_text(encoding="utf-8").count("\n") > 2)
            kill_process(running.pid, 1)
            begin = time.monotonic()
            time.sleep(0.2)  # lines that were under way
            size = log.stat().st_size
            wait_until(lambda: log.stat().st_size > size)
            return time.monotonic() - begin
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(timeout=TIMEOUT_S)


def row(label, seconds, bar):
    """By column, how long the same work took in one process, in two together, and in two side by side."""
    return {"what": label, **gain(seconds, bar, runs=1)}


def exchange_row(way, bar, train, trace, rounds):
    shares, waits = [], []
    for _ in range(rounds):
        train()
        exchanged, waited = exchanges_in(json.loads(trace.read_text(encoding="utf-8"))["traceEvents"])
        shares.append(exchanged)
        waits.append(waited)
    share = statistics.median(shares)
    return {"way": way, "share": share, "waiting": statistics.median(waits), "bar": bar, "missed": missed(share <= bar)}


def exchanges_in(events):
    """The shares of all steps, of all processes, that they exchange gradients, and that they wait for the last one to begin it."""
    steps = sum(event["dur"] for event in events if re.fullmatch(r"step.*", event["name"]) and "dur" in event)
    of_process = {}
    for event in events:
        if event["name"] in ("exchange", "exchange of updates") and "dur" in event:
            of_process.setdefault(event["pid"], []).append((event["ts"], event["ts"] + event["dur"]))
    exchanged = waited = 0
    for together in zip(*map(sorted, of_process.values())):
        last = max(begin for begin, _ in together)
        waited += sum(last - begin for begin, _ in together)
        exchanged += sum(end - last for _, end in together)
    return exchanged / steps, waited / steps


def wait_until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit("waited a minute for a process")
        time.sleep(0.01)


def descendants(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def kill_process(command, number):
    """The process of this number among those that the command has started, half a second after it has begun."""
    def find():
        for pid in descendants(command):
            try:
                variables = pathlib.Path(f"/proc/{pid}/environ").read_text().split("\0")
            except OSError:
                continue
            if f"OMPI_COMM_WORLD_RANK={number}" in variables or f"PMI_RANK={number}" in variables:
                return pid
        return None

    wait_until(lambda: find() is not None)
    time.sleep(0.5)
    os.kill(find(), signal.SIGKILL)


def table(name, rows):
    """The headers and the rows of a part of the report."""
    if name == "learning":
        return (["learning", *HEADERS, "bar", ""],
                [[row["what"], *cells(row), f"{row['bar']:.3f}", row["missed"]] for row in rows])
    if name == "exchange":
        return (["exchange of gradients", "share of a step", "bar", "waiting for the other process", ""],
                [[f"not hidden behind work, {row['way']}", f"{row['share']:.1%}", f"{row['bar']:.0%}", f"{row['waiting']:.1%}", row["missed"]]
                 for row in rows])
    if name == "table":
        return (["table of words", "here", "on the other process", "speed", "bar", ""],
                [[row["what"], show_time(row["here"]), show_time(row["there"]), show_ratio(row["speed"]), show_ratio(row["bar"]),
                  row["missed"]] for row in rows])
    return (["a process is lost", "seconds", "bar", ""],
            [[row["what"], show_time(row["seconds"]), show_time(row["bar"]), row["missed"]] for row in rows])
