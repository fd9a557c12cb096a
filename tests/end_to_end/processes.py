#!/usr/bin/env python3
"""Tests of commands that work in several processes, which are threads of one, from outside."""

import json
import pathlib
import re

import harness
from harness import hiaton
from several_processes import MODEL, TRAINING, ProcessesTest, placed_model

HIATON = "hiaton"


class Threads(ProcessesTest):
    def test_hosts_measures_each_process(self):
        found = json.loads(hiaton("hosts", "--processes=3", "--json").stdout)["processes"]
        self.assertEqual([row["process"] for row in found], [0, 1, 2])
        for row in found[1:]:
            self.assertEqual(row["version"], found[0]["version"])
            self.assertLess(0, row["round_trip_seconds"])
            self.assertLess(1e6, row["bytes_per_second"])
            self.assertLess(abs(row["clock_offset_seconds"]), 0.05)
        self.assertEqual(len(hiaton("hosts").stdout.splitlines()), 2)

    def test_predictions_are_those_of_one_process(self):
        model = self.model()
        for words in (["--generate=300", "--json"], ["--generate=1"]):
            alone = hiaton("predict", model, *words)
            self.assertEqual(alone.returncode, 0, alone.stderr)
            for processes in (2, 3):
                spread = hiaton("predict", model, *words, f"--processes={processes}")
                self.assertEqual((spread.returncode, spread.stdout), (0, alone.stdout), spread.stderr)

    def test_evaluations_are_those_of_one_process(self):
        model = self.model()
        alone = hiaton("eval", model, "--json")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        for processes in (2, 3):
            spread = hiaton("eval", model, "--json", f"--processes={processes}")
            self.assertEqual((spread.returncode, spread.stdout), (0, alone.stdout), spread.stderr)

    def test_what_runs_bodies_where_they_are_placed_is_that_of_one_process(self):
        text = (harness.ROOT / MODEL).read_text(encoding="utf-8")
        head = "hr: f32[d], cr: f32[d]) -> (f32[d], f32[d]) ="
        self.assertIn(head, text)
        placed = self.file(text.replace(head, head[:-1] + 'on "nodes" ='), "bodies.hia")
        out = f"{self.directory.name}/bodies"
        trained = hiaton("train", placed, "--train-trees=40", "--dev-trees=10", "--epochs=1", "--out", out)
        self.assertEqual(trained.returncode, 0, trained.stderr)
        for words in (["predict", out, "--generate=230", "--json"], ["predict", out, "--generate=1"], ["eval", out, "--json"]):
            alone = hiaton(*words)
            self.assertEqual(alone.returncode, 0, alone.stderr)
            for how in (["--processes=2", "--place=nodes=1"], ["--processes=6", "--replicas=3", "--place=nodes=1"]):
                spread = hiaton(*words, *how)
                self.assertEqual((spread.returncode, spread.stdout), (0, alone.stdout), spread.stderr)

    def test_training_in_replicas_with_placed_bodies_is_that_of_one_process_but_for_rounding(self):
        text = (harness.ROOT / MODEL).read_text(encoding="utf-8")
        placed = self.file(text.replace("hr: f32[d], cr: f32[d]) -> (f32[d], f32[d]) =", 'hr: f32[d], cr: f32[d]) -> (f32[d], f32[d]) on "nodes" ='),
                           "bodies.hia")
        losses = []
        for words in ([], ["--processes=4", "--replicas=2", "--place=nodes=1"]):
            out = f"{self.directory.name}/{len(losses)}"
            done = hiaton("train", placed, "--train-trees=60", "--dev-trees=10", "--epochs=2", "--out", out, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            losses.append(json.loads(hiaton("eval", out, "--json").stdout)["loss"])
        self.assertAlmostEqual(losses[1], losses[0], delta=1e-3 * losses[0])
        self.assert_one_error(hiaton("train", placed, "--train-trees=60", "--out", f"{self.directory.name}/x", "--processes=3", "--replicas=2"),
                              "expected a number of processes that is a multiple of the replicas, 2, found 3")

    def test_training_has_the_bits_of_one_process(self):
        whole = self.trained("whole", "--epochs=2")
        for processes in (2, 3, 4):
            self.assertEqual(self.trained(f"of_{processes}", "--epochs=2", f"--processes={processes}"), whole)
        self.trained("parts", "--epochs=1", "--processes=2")
        self.assertEqual(self.trained("parts", "--resume", "--epochs=2", "--processes=3"), whole)
        self.assert_one_error(hiaton("train", MODEL, *TRAINING, "--out", f"{self.directory.name}/x", "--processes=5"),
                              "expected at most 4 processes, as many as a batch has parts (--parts), found 5")

    def test_calls_with_trees_fit_into_any_budget_that_holds_a_few(self):
        """40 calls, each with a tree of 8,191 nodes."""
        program = pathlib.Path(self.directory.name) / "trees.hia"
        program.write_text("data Tree = Leaf(n: i64) | Node(left: Tree, right: Tree)\n"
                           "fn make(d: i64, n: i64) -> Tree =\n"
                           "  if d == 0 then Leaf(n) else Node(make(d - 1, 2 * n), make(d - 1, 2 * n + 1))\n"
                           "fn total(t: Tree) -> i64 =\n"
                           "  match t\n    Leaf(n) -> n\n    Node(l, r) -> total(l) + total(r)\n"
                           'fn weigh(t: Tree, n: i64) -> i64 on "process:1" =\n'
                           "  let (_, s) = with i = 0, s = 0 while i < 100000 do (i + 1, s + i % (n + 1))\n"
                           "  total(t) + s\n"
                           "fn search(low: i64, high: i64) -> i64 =\n"
                           "  if high - low == 1 then 0 + weigh(make(12, low), low)\n"
                           "  else search(low, (low + high) / 2) + search((low + high) / 2, high)\n"
                           "fn main(calls: i64) -> i64 = search(0, calls)\n", encoding="utf-8")
        alone = hiaton("run", str(program), "--calls=40")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        for budget in ("700K", "800K", "900K", "1200K", "1500K", "1700K", "2M", "3M", "5M"):
            spread = hiaton("run", str(program), "--calls=40", "--processes=2", f"--max-bytes={budget}")
            self.assertEqual((spread.returncode, spread.stdout), (0, alone.stdout), f"{budget}: {spread.stderr}")

    def test_training_with_a_table_of_another_process_has_the_bits_of_one(self):
        whole = self.trained("whole", "--epochs=2")
        model = placed_model(self.directory.name, "process:1")
        for words in (["--processes=2"], ["--processes=4", "--replicas=2"], ["--processes=4", "--replicas=4"]):
            self.assertEqual(self.trained("of" + "".join(words), "--epochs=2", *words, model=model), whole)
        self.trained("parts", "--epochs=1", "--processes=2", model=model)
        self.assertEqual(self.trained("parts", "--resume", "--epochs=2", "--processes=6", "--replicas=3"), whole)
        named = placed_model(self.directory.name)
        self.assertEqual(self.trained("named", "--epochs=2", "--processes=3", "--place=table=2", model=named), whole)
        out = f"{self.directory.name}/named"
        for command in (["predict", out, "--generate=300", "--json"], ["eval", out, "--json"]):
            alone = hiaton(*command)
            self.assertEqual(alone.returncode, 0, alone.stderr)
            for words in (["--processes=2"], ["--processes=3", "--place=table=2"], ["--processes=4", "--replicas=2"]):
                spread = hiaton(*command, *words)
                self.assertEqual((spread.returncode, spread.stdout), (0, alone.stdout), spread.stderr)

    def test_tables_that_a_process_cannot_hold_are_placed_in_training(self):
        size = ["--epochs=1", "--size=vocab=20000"]
        whole = self.trained("whole", *size)
        words = [*size, "--processes=2", "--place=auto"]
        self.assertEqual(self.trained("auto", *words, "--max-bytes=10M"), whole)
        out = f"{self.directory.name}/x"
        self.assert_one_error(hiaton("train", MODEL, *TRAINING, *words, "--max-bytes=300K", "--out", out),
                              "place 'auto': expected learned parameters that 2 processes of 307200 bytes each hold")
        self.assert_fails(hiaton("train", MODEL, *TRAINING, *words, "--out", out), 2, "--place=auto: expected --max-bytes=SIZE")

    def test_what_training_cannot_place_is_an_error(self):
        train = lambda *words: hiaton("train", *words, *TRAINING, "--out", f"{self.directory.name}/x")
        named = placed_model(self.directory.name)
        self.assert_one_error(train(MODEL, "--processes=4", "--replicas=2"), "where the program places nothing, found 2")
        self.assert_one_error(train(named, "--processes=3", "--replicas=2"), "a multiple of the replicas, 2, found 3")
        self.assert_one_error(train(named, "--processes=2", "--place=tabel=1"), "expected a place of the program ('table')")
        self.assert_fails(train(named, "--replicas=2"), 2, "--replicas: expected several processes")
        self.assert_fails(train(named, "--place=table=1"), 2, "--place: expected several processes")
        text = pathlib.Path(named).read_text(encoding="utf-8")
        pathlib.Path(named).write_text(text.replace("h @ V + v", 'on "scores" (h @ V + v)'), encoding="utf-8")
        self.assert_one_error(train(named, "--processes=5", "--replicas=2"), "a multiple of the replicas, 2, found 5")

    def test_bodies_are_trained_where_they_are_placed(self):
        program = pathlib.Path(self.directory.name) / "bodies.hia"
        text = pathlib.Path(placed_model(self.directory.name)).read_text(encoding="utf-8")
        program.write_text(text.replace("h @ V + v", 'on "scores" (h @ V + v)'), encoding="utf-8")
        losses = []
        for name, words in (("alone", []), ("spread", ["--processes=3", "--place=scores=2,table=1"])):
            out = f"{self.directory.name}/{name}"
            done = hiaton("train", program, *TRAINING, "--out", out, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            losses.append(json.loads(hiaton("eval", out, "--json").stdout)["loss"])
        self.assertAlmostEqual(losses[0], losses[1], delta=1e-4 * losses[0])

    def test_runs_are_those_of_one_process(self):
        for words in (["examples/queens.hia", "--n=9"], ["examples/fib.hia", "--n=27"], ["examples/ack.hia", "--m=2", "--n=9"],
                      ["examples/trees.hia", "--depth=8"], ["examples/mandelbrot.hia"],
                      ["benchmarks/programs/list_queens.hia", "--n=8"], ["benchmarks/programs/mergesort.hia", "--n=20000"],
                      ["benchmarks/programs/binary_trees.hia", "--depth=14"], ["benchmarks/programs/uts.hia", "--depth=6"]):
            alone = hiaton("run", *words)
            for processes in (2, 3):
                spread = hiaton("run", *words, f"--processes={processes}")
                self.assertEqual((spread.returncode, spread.stdout, spread.stderr),
                                 (alone.returncode, alone.stdout, alone.stderr))

    def test_a_run_says_what_crossed(self):
        done = json.loads(hiaton("run", "examples/queens.hia", "--n=11", "--processes=2", "--stats", "--json").stdout)
        alone = json.loads(hiaton("run", "examples/queens.hia", "--n=11", "--stats", "--json").stdout)
        self.assertEqual(done["results"], alone["results"])
        self.assertEqual(done["stats"]["calls"], alone["stats"]["calls"])
        self.assertEqual(done["stats"]["regions"], alone["stats"]["regions"])
        self.assertEqual(done["stats"]["frames_live_at_end"], 0)
        self.assertLess(0, done["stats"]["remote_calls"])
        self.assertLess(0, done["stats"]["remote_bytes"])
        self.assertEqual(alone["stats"]["remote_bytes"], 0)
        self.assert_fails(hiaton("run", "examples/queens.hia", "--n=5", "--processes=2", "--executor=expanding"), 2,
                          "expected production or reference with several processes")

    def test_the_reference_executor_runs_the_parts_of_a_graph(self):
        program = pathlib.Path(self.directory.name) / "fac.hia"
        program.write_text('fn fac(n: i64) -> i64 =\n'
                           '  if on "process:1" (n <= 1) then on "process:0" 1 else on "process:1" (n * fac(n - 1))\n'
                           'fn main(n: i64) -> i64 = fac(n)\n', encoding="utf-8")
        events = pathlib.Path(self.directory.name) / "events"
        split = ["run", program, "--executor=reference", "--processes=2"]
        done = json.loads(hiaton(*split, "--n=5", "--stats", "--json", f"--events={events}").stdout)
        self.assertEqual(done["results"], [120])
        self.assertEqual(done["stats"]["calls"], 5)
        self.assertEqual(done["stats"]["frames_live_at_end"], 0)
        crossed = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(done["stats"]["remote_tokens"], len(crossed))
        self.assertEqual({(event["from"], event["to"]) for event in crossed}, {(0, 1), (1, 0)})
        self.assertTrue(any(event["dead"] for event in crossed))
        self.assert_fails(hiaton(*split, "--n=9223372036854775807", "--max-frames=1000"), 1, "frame budget")
        self.assert_fails(hiaton("run", program, "--n=5", "--executor=reference", "--hosts=a:2"), 2,
                          "expected --processes, which it simulates")

    def test_the_parts_of_a_graph_are_shown(self):
        program = pathlib.Path(self.directory.name) / "sum.hia"
        program.write_text('fn main(n: i64) -> i64 = n + on "process:1" (n * n)\n', encoding="utf-8")
        text = hiaton("graph", program, "--processes=2").stdout
        self.assertIn("process 0\nfunction main", text)
        self.assertIn("process 1\nfunction main", text)
        dot = hiaton("graph", program, "--processes=2", "--format=dot").stdout
        self.assertIn("subgraph cluster_process1", dot)
        self.assertIn("id=channel1", dot)
        self.assert_fails(hiaton("graph", program, "--processes=2", "--format=json"), 2, "--processes: expected text")

    def test_places_are_what_the_command_says(self):
        program = pathlib.Path(self.directory.name) / "placed.hia"
        program.write_text('fn sum(n: i64) -> i64 on "sums" = if n < 2 then n else sum(n - 1) + sum(n - 2)\n'
                           'fn main(n: i64) -> i64 = sum(n) + on "table" (n * n)\n', encoding="utf-8")
        split = ["run", program, "--n=5", "--executor=reference", "--processes=3", "--stats", "--json"]
        crossed = {}
        for places in ("sums=0,table=0", "sums=0,table=2", "sums=1+2,table=0"):
            done = json.loads(hiaton(*split, f"--place={places}").stdout)
            self.assertEqual(done["results"], [30])
            crossed[places] = done["stats"]["remote_tokens"]
        self.assertEqual(crossed["sums=0,table=0"], 0)
        self.assertEqual(crossed["sums=0,table=2"], 2)
        self.assertLess(10, crossed["sums=1+2,table=0"])
        parts = hiaton("graph", program, "--processes=3", "--place=sums=1+2,table=0").stdout.split("\nprocess ")
        self.assertEqual(parts[0], "place 'sums': processes 1, 2\nplace 'table': process 0\n")
        self.assertEqual([part.count("sub(") for part in parts[1:]], [0, 2, 2])
        for place, message in (("sum=1", "place 'sum': expected a place of the program ('sums', 'table'), found none"),
                               ("sums=3", "place 'sums': expected a process from 0 to 2, found 3"),
                               ("table=0+1", "place 'table': expected one process for what is not a function, found 0+1")):
            self.assert_fails(hiaton(*split, f"--place={place}"), 1, message)
        for place, message in (("sums", "expected NAME=PROCESS or auto, found no '='"), ("sums=", "found ''"),
                               ("sums=1+x", "expected the number of a process, found 'x'"),
                               ("sums=1,sums=2", "expected each name once, found 'sums' twice")):
            self.assert_fails(hiaton(*split, f"--place={place}"), 2, message)
        calls = {"sums=0,table=0": 0, "sums=0,table=2": 1, "sums=1,table=2": 2}
        for places, expected in calls.items():
            done = json.loads(hiaton("run", program, "--n=5", "--processes=3", "--stats", "--json", f"--place={places}").stdout)
            self.assertEqual(done["results"], [30])
            self.assertEqual(done["stats"]["remote_calls"], expected)
        copies = ["run", program, "--n=16", "--processes=3", "--stats", "--place=sums=1+2,table=0"]
        done = json.loads(hiaton(*copies, "--json").stdout)
        self.assertEqual(done["results"], [987 + 256])
        by_process = done["stats"]["remote_calls_by_process"]
        self.assertEqual(len(by_process), 3)
        self.assertLess(0, min(by_process[1:]))
        shown = hiaton(*copies).stderr
        self.assertIn("place 'sums': processes 1, 2\n", shown)
        self.assertRegex(shown, r"  by process +1: \d+, 2: \d+\n")
        self.assert_one_error(hiaton("run", program, "--n=5", "--processes=3", "--place=sum=1"), "found none of this name")
        self.assert_fails(hiaton("run", program, "--n=5", "--place=table=1"), 2, "--place: expected several processes")
        program.write_text('fn cube(x: f64) -> f64 on "process:1" = x * x * x\n'
                           'fn main(x: f64) -> f64 = grad(cube)(x)\n', encoding="utf-8")
        done = hiaton("run", program, "--x=2", "--processes=2")
        self.assertEqual(done.stdout, "12.0\n")
        self.assertEqual(done.stderr, "")
        self.assertEqual(hiaton("run", program, "--x=2").stdout, "12.0\n")
        self.assert_fails(hiaton("graph", program, "--place=table=1"), 2, "--place: expected --processes=N")

    def test_parameters_that_no_process_holds_are_placed(self):
        program = pathlib.Path(self.directory.name) / "table.hia"
        program.write_text("param E: f32[1000, 8]\nparam F: f32[900, 8]\nparam W: f32[8]\n"
                           "fn main(n: i64) -> f32[8] = E[n] * W + F[n]\n", encoding="utf-8")
        alone = hiaton("run", program, "--n=3").stdout
        chosen = "param 'E' of 32000 bytes: process 0\nparam 'F' of 28800 bytes: process 1\n"
        graph = ["graph", program, "--processes=2", "--place=auto"]
        self.assertTrue(hiaton(*graph, "--max-bytes=40K").stdout.startswith(chosen + "\nprocess 0\n"))
        self.assertTrue(hiaton(*graph, "--max-bytes=80K").stdout.startswith("process 0\n"))
        self.assert_fails(hiaton(*graph), 2, "--place=auto: expected --max-bytes=SIZE")
        self.assert_fails(hiaton(*graph, "--max-bytes=20K"), 1, "place 'auto': expected learned parameters that 2 processes")
        run = ["run", program, "--n=3", "--processes=2", "--place=auto", "--max-bytes=40K", "--stats"]
        done = hiaton(*run)
        self.assertEqual(done.stdout, alone)
        self.assertIn(chosen, done.stderr)
        self.assertRegex(done.stderr, r"calls to processes +1\n")

    def trace_of(self, *words):
        """The events of a run, by process: its slices by name; and the arrows, as pairs of processes."""
        file = pathlib.Path(self.directory.name) / "trace.json"
        done = hiaton(*words, f"--trace={file}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.read_trace(file)

    def test_one_trace_holds_all_processes(self):
        names, slices, arrows = self.trace_of("run", "examples/fib.hia", "--n=32", "--processes=2", "--trace-depth=3")
        self.assertEqual([re.sub(r" \(.*", "", names[pid]) for pid in sorted(names)], ["process 0", "process 1"])
        self.assertIn("main", slices[1])
        self.assertNotIn("main", slices[2])
        self.assertLess(0, len(slices[2]["fib"]))
        self.assertIn((1, 2), arrows)
        names, slices, arrows = self.trace_of("run", "examples/spread.hia", "--n=9", "--processes=2")
        self.assertEqual(len(slices[2]["fact_on_1"]), 8)
        self.assertEqual(arrows, [(1, 2)] * 8)
        self.assertIn("fact", slices[1])
        begin = slices[1]["main"][0]["ts"]
        for event in slices[2]["fact_on_1"]:
            self.assertLess(begin, event["ts"] + 1000)
        names, slices, arrows = self.trace_of("train", MODEL, *TRAINING, "--epochs=1", "--processes=2",
                                              "--out", f"{self.directory.name}/traced")
        for pid in (1, 2):
            self.assertEqual(len(slices[pid]["exchange"]), len(slices[pid]["step"]))
        self.assert_fails(hiaton("run", "examples/fib.hia", "--n=3", "--executor=reference", "--trace=x"), 2,
                          "--trace: expected --executor=production or flow")

    def test_an_error_is_reported_once(self):
        self.assert_one_error(hiaton("predict", "/nowhere", "--processes=3"), "there is no such checkpoint")
        self.assert_one_error(hiaton("predict", self.model(), "--data=/nowhere", "--processes=3"), "cannot read '/nowhere'")

    def test_usage_errors(self):
        self.assert_fails(hiaton("hosts", "--processes=0"), 2, "--processes")
        self.assert_fails(hiaton("hosts", "a:1", "--processes=2"), 2, "either --processes or hosts")
        self.assert_fails(hiaton("hosts", "--heartbeat=1ms"), 2, "--heartbeat: expected at least 100ms")
        self.assert_fails(hiaton("hosts", "$(id)"), 1, "expected the name of a host", "found '$(id)'")
        self.assert_fails(hiaton("predict", "x", "--hosts=a:0"), 1, "expected a number of processes from 1 to 65535")


if __name__ == "__main__":
    harness.main(globals())
