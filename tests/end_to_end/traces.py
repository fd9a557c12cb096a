#!/usr/bin/env python3
"""What `hiaton trace`, `hiaton train --trace` and `hiaton run --events` write: that it is what the formats ask for,
and that it says what the runs did."""

import collections
import json
import pathlib
import subprocess
import tempfile
import unittest

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIATON = "hiaton"
TIMEOUT_S = 300
# Times are printed in microseconds with three decimals: a float is off by less.
TINY = 0.0005

TREES = """data Tree = Leaf(v: i64) | Node(left: Tree, right: Tree)
param W: f32[8, 8]
param E: f32[4, 8]
fn encode(t: Tree) -> f32[8] = match t
  Leaf(v) -> E[v]
  Node(left, right) -> tanh((encode(left) + encode(right)) @ W)
fn main(t: Tree) -> f32 = sum(encode(t))
"""
TREE = "Node(Node(Leaf(0), Leaf(1)), Node(Leaf(2), Node(Leaf(3), Leaf(1))))"
DEEP = "fn depth(n: i64) -> i64 = if n == 0 then 0 else 1 + depth(n - 1)\nfn main(n: i64) -> i64 = depth(n)\n"


def hiaton(*words):
    return subprocess.run([HIATON, *words], cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S)


class Timeline:
    """A trace that was read."""

    def __init__(self, path):
        self.json = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        events = self.json["traceEvents"]
        self.events = {kind: [event for event in events if event["ph"] == kind] for kind in "MXsfC"}
        self.names = {event["tid"]: event["args"]["name"] for event in self.events["M"]
                      if event["name"] == "thread_name"}
        self.tracks = collections.defaultdict(list)
        for slice_ in self.events["X"]:
            self.tracks[self.names[slice_["tid"]]].append(slice_)

    def counter(self, name):
        return [(event["ts"], event["args"][name]) for event in self.events["C"] if event["name"] == name]


class TraceTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.directory.name) / name)

    def file(self, text, name="program.hia"):
        path = pathlib.Path(self.path(name))
        path.write_text(text, encoding="utf-8")
        return str(path)

    def trace(self, *words, status=0, command="trace"):
        done = hiaton(command, *words, "--out" if command == "trace" else "--trace", self.path("trace.json"))
        self.assertEqual(done.returncode, status, done.stderr)
        timeline = Timeline(self.path("trace.json"))
        self.check(timeline)
        timeline.done = done
        return timeline

    def check(self, timeline):
        """What holds for every trace."""
        for name, slices in timeline.tracks.items():
            ends = []
            before = 0
            for slice_ in slices:
                begin, end = slice_["ts"], slice_["ts"] + slice_["dur"]
                self.assertGreaterEqual(begin, before, f"slices of {name} in the order in which they begin")
                self.assertGreaterEqual(slice_["dur"], 0)
                while ends and ends[-1] <= begin + TINY:
                    ends.pop()
                if ends:
                    self.assertLessEqual(end, ends[-1] + TINY, f"a slice of {name} ends before the one around it")
                ends.append(end)
                before = begin
        starts = {event["id"]: event for event in timeline.events["s"]}
        self.assertEqual(sorted(starts), sorted(event["id"] for event in timeline.events["f"]))
        for finish in timeline.events["f"]:
            start = starts[finish["id"]]
            self.assertLessEqual(start["ts"], finish["ts"])
            self.assertNotEqual(start["tid"], finish["tid"])
            for event in (start, finish):
                around = [s for s in timeline.tracks[timeline.names[event["tid"]]]
                          if s["ts"] <= event["ts"] + TINY and event["ts"] <= s["ts"] + s["dur"] + TINY]
                self.assertTrue(around, "an arrow begins and ends in a slice")
        for name in ("frames", "bytes"):
            samples = timeline.counter(name)
            self.assertEqual(samples, sorted(samples, key=lambda sample: sample[0]))
            self.assertTrue(all(value >= 0 for _, value in samples))

    def stats(self, *words):
        done = hiaton("run", *words, "--stats", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["stats"]


class ScalarPrograms(TraceTest):
    def test_calls_are_slices_with_their_arguments_and_counts(self):
        words = ("examples/fib.hia", "--n=12")
        timeline = self.trace(*words, "--trace-depth=12")
        self.assertEqual(timeline.done.stdout, hiaton("run", *words).stdout)
        slices = timeline.tracks["worker 0"]
        self.assertEqual(slices[0]["name"], "main(12)")
        self.assertEqual(slices[0]["args"]["n"], 12)
        self.assertEqual(slices[0]["args"]["calls"] + 1, self.stats(*words)["calls"], "main calls fib in tail position")
        # fib(12) is main's own slice, the calls in it are drawn down to fib(0) and fib(1).
        self.assertEqual(len(slices) - 1, slices[0]["args"]["calls"])
        calls_in_fib = [1, 1]
        while len(calls_in_fib) < 13:
            calls_in_fib.append(calls_in_fib[-1] + calls_in_fib[-2] + 1)
        for slice_ in slices[1:]:
            self.assertEqual(slice_["args"]["calls"] + 1, calls_in_fib[slice_["args"]["n"]], slice_)

    def test_calls_too_deep_are_only_counted(self):
        timeline = self.trace("examples/fib.hia", "--n=20", "--trace-depth=3")
        names = [slice_["name"] for slice_ in timeline.tracks["worker 0"]]
        self.assertEqual(len(names), 1 + 2 + 4 + 8)
        self.assertEqual(timeline.tracks["worker 0"][0]["args"]["calls"], self.stats("examples/fib.hia", "--n=20")["calls"] - 1)

    def test_frames_and_bytes_are_those_of_the_run(self):
        file = self.file(DEEP)
        timeline = self.trace(file, "--n=100000")
        stats = self.stats(file, "--n=100000")
        frames, bytes_ = timeline.counter("frames"), timeline.counter("bytes")
        self.assertEqual(max(value for _, value in frames), stats["frames_allocated"])
        self.assertEqual(max(value for _, value in bytes_), stats["bytes"])
        self.assertEqual((frames[-1][1], bytes_[-1][1]), (0, 0))
        self.assertGreater(len(frames), 5, "it is seen growing")

    def test_steals_are_arrows(self):
        for _ in range(200):
            timeline = self.trace("examples/fib.hia", "--n=27", "--workers=4")
            if timeline.events["s"]:
                break
        stolen = [slice_ for slices in timeline.tracks.values() for slice_ in slices if slice_["cat"] == "stolen call"]
        self.assertEqual(len(stolen), len(timeline.events["s"]))
        self.assertGreater(len(stolen), 0)
        # Every call is counted once, by whoever ran it: main calls fib in tail position, stolen calls are given away.
        outermost = []
        for slices in timeline.tracks.values():
            end = -1
            for slice_ in slices:
                if slice_["ts"] + TINY >= end:
                    outermost.append(slice_)
                    end = slice_["ts"] + slice_["dur"]
        calls = sum(slice_["args"]["calls"] for slice_ in outermost) + len(stolen) + 1
        self.assertEqual(calls, self.stats("examples/fib.hia", "--n=27")["calls"])

    def test_bounded_memory_says_what_is_left_out(self):
        timeline = self.trace("examples/fib.hia", "--n=20", "--trace-events=100")
        kept = sum(len(timeline.events[kind]) for kind in "Xsf") + len(timeline.counter("frames"))
        self.assertLessEqual(kept, 101)  # that all is free at the end is one sample more
        self.assertGreater(timeline.json["otherData"]["dropped"], 1000)
        self.assertIn("later ones are left out", timeline.done.stderr)
        self.assertEqual(timeline.tracks["worker 0"][0]["args"]["calls"], self.stats("examples/fib.hia", "--n=20")["calls"] - 1)

    def test_a_failing_run_leaves_its_trace(self):
        file = self.file("fn f(n: i64) -> i64 = if n == 0 then 1 / n else 1 + f(n - 1)\nfn main(n: i64) -> i64 = f(n) + 1\n")
        timeline = self.trace(file, "--n=5", status=1)
        self.assertEqual(timeline.tracks["worker 0"][-1]["name"], "f(0)")


class BatchedPrograms(TraceTest):
    def test_batches_are_slices_with_their_firings(self):
        file = self.file(TREES)
        timeline = self.trace(file, f"--t={TREE}")
        batches = [slice_ for slice_ in timeline.tracks["worker 0"] if slice_["cat"] == "batch"]
        found = collections.Counter()
        launches = collections.Counter()
        for batch in batches:
            found[batch["name"]] += batch["args"]["firings"]
            launches[batch["name"]] += 1
        stats = self.stats(file, f"--t={TREE}")
        regions = {f"{region['function']}: {region['region']}": region for region in stats["regions"]
                   if region["launches"] > 0}
        self.assertEqual(dict(found), {name: region["firings"] for name, region in regions.items()})
        self.assertEqual(dict(launches), {name: region["launches"] for name, region in regions.items()})
        part = timeline.tracks["worker 0"][0]
        self.assertEqual((part["name"], part["args"]["calls"]), ("part", stats["calls"]))
        frames = timeline.counter("frames")
        self.assertEqual(max(value for _, value in frames), stats["frames_live_most"])
        self.assertEqual(frames[-1][1], 0)

    def test_items_between_batches_tell_calls(self):
        timeline = self.trace(self.file(TREES), f"--t={TREE}")
        items = [slice_["args"] for slice_ in timeline.tracks["worker 0"] if slice_["cat"] == "items"]
        self.assertEqual(sum(args["calls"] for args in items), 9, "a call for each node of the tree")
        self.assertGreater(sum(args["scalar firings"] for args in items), 0)

    def test_training_is_drawn_step_by_step(self):
        timeline = self.trace("models/treernn.hia", "--epochs=1", "--batch=10", "--train-trees=40", "--dev-trees=10",
                              "--workers=2", "--out", self.path("out"), command="train")
        steps = [slice_ for slice_ in timeline.tracks["training"] if slice_["name"].startswith("step(")]
        self.assertEqual([step["args"] for step in steps], [{"trees": 10, "step": number} for number in (1, 2, 3, 4)])
        inside = collections.Counter(slice_["name"] for slice_ in timeline.tracks["training"])
        self.assertEqual((inside["loss and gradients"], inside["update"], inside["evaluation"]), (4, 4, 1))
        # Either worker may have taken both halves of a step.
        batches = [slice_ for slice_ in timeline.tracks["worker 0"] + timeline.tracks["worker 1"]
                   if slice_["cat"] == "batch"]
        self.assertGreater(max(batch["args"]["firings"] for batch in batches), 5)


class Events(TraceTest):
    def events(self, *words):
        done = hiaton("run", *words, "--events", self.path("events.jsonl"))
        return done, [json.loads(line) for line in pathlib.Path(self.path("events.jsonl")).read_text().splitlines()]

    def test_every_token_is_a_line(self):
        done, events = self.events("examples/fact.hia", "--n=3")
        self.assertEqual(done.stdout, "11\n")
        self.assertEqual(len(events), 30)  # the table of docs/reference.md
        self.assertEqual(events[7], {"node": 12, "kind": "Call", "site": 1, "function": "fact", "tag": [1, 0],
                                     "dead": False, "value": 2})
        self.assertEqual(events[4], {"node": 9, "kind": "Switch", "side": "true", "function": "fact", "tag": [0],
                                     "dead": True})
        self.assertEqual(events[-1]["op"], "add")

    def test_tokens_of_a_failing_run_are_there(self):
        done, events = self.events(self.file("fn main(n: i64) -> i64 = 1 / n\n"), "--n=0")
        self.assertEqual(done.returncode, 1)
        self.assertEqual([event["kind"] for event in events], ["Input"])

    def test_only_the_reference_executor_has_tokens(self):
        done = hiaton("run", "examples/fact.hia", "--n=3", "--executor=production", "--events", self.path("x"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--events: expected --executor=reference", done.stderr)

    def test_files_that_cannot_be_written_are_errors(self):
        for words in (("run", "examples/fact.hia", "--n=3", "--events"), ("trace", "examples/fact.hia", "--n=3", "--out")):
            done = hiaton(*words, "/nowhere/file")
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot write '/nowhere/file'", done.stderr)


if __name__ == "__main__":
    harness.main(globals())
