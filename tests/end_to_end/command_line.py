#!/usr/bin/env python3
"""Tests of the command line from outside: exit statuses, messages, help, outputs, budgets, interrupts."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import harness
from harness import ROOT, TIMEOUT_S, CommandLineTest, hiaton

HIATON = "hiaton"

ENDLESS = "fn endless(n: i64) -> i64 = 1 + endless(n + 1)\nfn main() -> i64 = endless(0)\n"
FOREVER = "fn main() -> i64 = with i = 0 while i >= 0 do (i + 1) % 1000\n"


class Run(CommandLineTest):
    def test_prints_the_result_alone(self):
        done = hiaton("run", "examples/fact.hia", "--n=3")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "11\n", ""))

    def test_prints_one_line_a_result(self):
        done = hiaton("run", "examples/extended_gcd.hia", "--a=240", "--b=46")
        self.assertEqual(done.stdout, "2\n-9\n47\n")

    def test_takes_arguments_in_any_order_and_as_two_words(self):
        for words in (["--n=3", "--m=2"], ["--m", "2", "--n", "3"], ["--stats", "--n=3", "--workers=2", "--m=2"]):
            self.assertEqual(hiaton("run", "examples/ack.hia", *words).stdout, "9\n", words)

    def test_takes_negative_numbers(self):
        file = self.file("fn main(n: i64, x: f64) -> (i64, f64) = (n, x)\n")
        self.assertEqual(hiaton("run", file, "--n=-3", "--x", "-2.5").stdout, "-3\n-2.5\n")

    def test_takes_every_type(self):
        file = self.file("fn main(a: bool, b: i32, c: i64, d: f32, e: f64) -> (bool, i32, i64, f32, f64)"
                         " = (a, b, c, d, e)\n")
        done = hiaton("run", file, "--a=true", "--b=-7", "--c=9223372036854775807", "--d=0.1", "--e=1e-9")
        self.assertEqual(done.stdout, "true\n-7\n9223372036854775807\n0.1\n1e-09\n")

    def test_names_every_wrong_argument_at_once(self):
        self.assert_fails(hiaton("run", "examples/ack.hia", "--m=x", "--k=1"), 2, "--m: expected a value of type i64",
                          "found 'x'", "'--k=1'", "the value of 'n' is missing; it is written --n=VALUE, of type i64", "main(m: i64, n: i64)")

    def test_nothing_behind_an_equals_sign_is_no_value(self):
        file = self.file("fn main(n: i64, x: f64) -> i64 = n\n")
        done = hiaton("run", file, "--n=", "--x=1")
        self.assert_fails(done, 2, "--n: expected a value of type i64, found ''")
        self.assertNotIn("is missing", done.stderr)
        text = self.file("fn main(s: str, x: i64) -> str = s + \"!\"\n", "text.hia")
        self.assertEqual(hiaton("run", text, "--s=", "--x=1").stdout, '"!"\n')
        self.assert_fails(hiaton("run", file, "--workers=", "--n=1"), 2, "--workers: expected a value behind '=', found none")

    def test_takes_and_prints_tensors_and_data(self):
        file = self.file("size d = 3\ndata Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n"
                         "fn main(t: Tree, xs: List[i64], x: f32[d], m: bool[2, n])"
                         " -> (Tree, List[i64], f32[d], bool[2, n]) = (Node(t, t), Cons(7, xs), x * 2, m)\n")
        words = ["--t=Node(Leaf(1), Leaf(-2))", "--xs=[4, 5]", "--x=[1, 2.5, nan]", "--m=[[true], [false]]"]
        printed = ["Node(Node(Leaf(1), Leaf(-2)), Node(Leaf(1), Leaf(-2)))", "[7, 4, 5]", "[2.0, 5.0, nan]",
                   "[[true], [false]]"]
        for executor in ("production", "reference", "expanding"):
            done = hiaton("run", file, *words, f"--executor={executor}")
            self.assertEqual(done.stdout.splitlines(), printed, done.stderr)
        done = hiaton("run", file, *words, "--json")
        tree = ["Node", ["Leaf", 1], ["Leaf", -2]]
        self.assertEqual(json.loads(done.stdout)["results"], [["Node", tree, tree], [7, 4, 5], [2.0, 5.0, "nan"], [[True], [False]]])

    def test_json_has_data_values_as_arguments_take_them(self):
        file = self.file("data P = P(name: str, to: List[P]) | Q\n"
                         "fn main(p: P, s: str) -> (P, List[P], (i64, bool), str) = (p, [p, Q], (3, true), s + \"\\n\")\n")
        p = ["P", 'a"b', [["P", "", []], "Q"]]
        done = hiaton("run", file, f"--p={json.dumps(p)}", "--s=hé", "--json")
        self.assertEqual(json.loads(done.stdout)["results"], [p, [p, "Q"], [3, True], "hé\n"])
        # What is deeper than readers of JSON like stands as text.
        deep = self.file("data N = Z | S(of: N)\nfn made(n: i64, m: N) -> N = if n == 0 then m else made(n - 1, S(m))\n"
                         "fn main(n: i64) -> N = made(n, Z)\n", "deep.hia")
        found = json.loads(hiaton("run", deep, "--n=100000", "--json").stdout)["results"][0]
        self.assertEqual(found, "S(" * 100000 + "Z" + ")" * 100000)
        found = json.loads(hiaton("run", deep, "--n=2", "--json").stdout)["results"][0]
        self.assertEqual(found, ["S", ["S", "Z"]])

    def test_names_what_is_wrong_with_tensors_and_data(self):
        file = self.file("data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n"
                         "fn main(t: Tree, x: f32[3], y: f32[n], z: f32[n]) -> Tree = t\n")
        self.assert_fails(hiaton("run", file, "--t=Leef(1)", "--x=[1, 2]", "--y=[1]", "--z=1"), 2,
                          "--t: expected a value of type Tree (Leaf, Node), found 'Leef'",
                          "--x: expected a value of type f32[3], found 2 elements along dimension 0, at column 1",
                          "--z: expected a value of type f32[n], found '1' instead of '[', at column 1",
                          "main(t: Tree, x: f32[3], y: f32[n], z: f32[n])")
        self.assert_fails(hiaton("run", file, "--t=Leaf(1)", "--x=[1, 2, 3]", "--y=[1]", "--z=[1, 2]"), 1,
                          "expected argument 'z' of main to be of type f32[1] (f32[n], sizes as in the arguments before), found f32[2]")

    def test_says_where_a_value_is_wrong(self):
        file = self.file("data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\n"
                         "fn main(x: f64[2, 2], t: Tree) -> Tree = t\n")
        self.assert_fails(hiaton("run", file, "--x=[1,2]", "--t=Node(Leaf(1), Leef(2))"), 2,
                          "--x: expected a value of type f64[2, 2], found '1,2]' instead of '[', at column 2\n",
                          "--t: expected a value of type Tree (Leaf, Node), found 'Leef', at column 15\n")

    def test_values_may_stand_in_files(self):
        file = self.file("fn main(x: f64[n], k: i64) -> f64 = sum(x) + f64(k)\n")
        elements = 200_000
        x = self.file("[" + ", ".join(["0.5"] * elements) + "]\n", "x.json")
        k = self.file("7\r\n", "k")
        self.assertGreater(os.path.getsize(x), 1 << 19)
        self.assertEqual(hiaton("run", file, f"--x=@{x}", "--k", f"@{k}").stdout, f"{elements // 2 + 7}.0\n")
        self.assertEqual(hiaton("run", file, "--k=1", "--", "--x=@-", input="[1,\n2]\n").stdout, "4.0\n")

    def test_a_string_that_begins_with_an_at_is_given_with_two(self):
        file = self.file("fn main(s: str) -> (str, i64) = (s, length(s))\n")
        for given, length in (("@@x", 2), ("@@", 1), ("@@@", 2)):
            self.assertEqual(hiaton("run", file, f"--s={given}").stdout, f'"{given[1:]}"\n{length}\n')

    def test_names_the_file_of_a_wrong_value(self):
        program = self.file("fn main(x: f64[n], k: i64) -> f64 = sum(x)\n")
        x = self.file("[1,\n 2, y]\n", "x.json")
        self.assert_fails(hiaton("run", program, f"--x=@{x}", "--k=@/nonexistent"), 2,
                          f"--x: {x}: expected a value of type f64, found 'y', at line 2, column 5",
                          "--k: cannot read '/nonexistent': No such file")
        self.assert_fails(hiaton("run", program, "--x=@-", "--k=@-", input="[1]"), 2,
                          "--k: expected a file, found standard input, which --x reads")
        self.assert_fails(hiaton("run", program, "--x=@-", "--k=1", input=""), 2,
                          "--x: /dev/stdin: expected a value of type f64[n], found nothing instead of '[', at column 1")

    def test_takes_an_empty_string(self):
        path = self.file("fn main(s: str, n: i64) -> (str, i64) = (s, length(s) + n)\n")
        for words in (("--s=", "--n=3"), ("--n=3", "--s="), ("--s", "", "--n=3")):
            self.assertEqual(hiaton("run", path, *words).stdout, '""\n3\n', words)
        self.assertEqual(hiaton("run", path, '--s=""', "--n=1").stdout, '"\\"\\""\n3\n')
        self.assert_fails(hiaton("run", path, "--n=3", "--s"), 2, "--s: expected a value")

    def test_sizes_may_be_given(self):
        file = self.file("size d = 2\nsize e = d + 1\nfn main(x: f32[e]) -> i64 = d * 10 + e\n")
        self.assertEqual(hiaton("run", file, "--x=[1, 2, 3]").stdout, "23\n")
        self.assertEqual(hiaton("run", file, "--x=[1]", "--size", "d=5", "--size=e=1").stdout, "51\n")
        self.assertEqual(hiaton("check", file, "--size", "d=5").returncode, 0)
        self.assertIn("x: f32[9]", hiaton("graph", file, "--after=parse", "--size", "d=8").stdout)
        self.assert_fails(hiaton("check", file, "--size", "k=5"), 1, "the program has no size 'k'; it has d, e")
        self.assert_fails(hiaton("run", file, "--size", "d"), 2, "--size: expected NAME=VALUE, found 'd'")
        self.assert_fails(hiaton("run", file, "--size", "d=x"), 2, "--size: expected a value of type i64, found 'x'")

    def test_learned_parameters_begin_by_the_seed(self):
        file = self.file("param W: f32[2, 2]\nparam b: f32[2] = ones\nfn main() -> (f32[2, 2], f32[2]) = (W, b)\n")
        first, again, other = (hiaton("run", file, f"--seed={seed}").stdout.splitlines() for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first[0], other[0])
        self.assertEqual(first[1], "[1.0, 1.0]")

    def test_saved_graphs_take_tensors_and_data_too(self):
        file = self.file("data T = A | B(x: f32[2])\nparam W: f32[2] = ones\n"
                         "fn main(t: T) -> (T, f32[2]) = match t\n  A -> (B(W), W)\n  B(x) -> (A, x + W)\n")
        saved = str(pathlib.Path(self.directory.name) / "saved.json")
        self.assertEqual(hiaton("graph", file, "--format=json", f"--out={saved}").returncode, 0)
        self.assertEqual(hiaton("run", saved, "--t=A").stdout, "B([1.0, 1.0])\n[1.0, 1.0]\n")
        self.assertEqual(hiaton("run", saved, "--t=B([1, 2])").stdout, "A\n[2.0, 3.0]\n")

    def test_refuses_numbers_out_of_range(self):
        file = self.file("fn main(n: i32) -> i32 = n\n")
        self.assert_fails(hiaton("run", file, "--n=2147483648"), 2, "--n", "i32", "out of its range")
        self.assert_fails(hiaton("run", file, "--n=1.5"), 2, "--n", "i32", "1.5")

    def test_refuses_an_argument_given_twice(self):
        self.assert_fails(hiaton("run", "examples/fact.hia", "--n=3", "--n=4"), 2,
                          "error: --n: expected one value, found 2\n  the program is main(n: i64) in examples/fact.hia\n")

    def test_refuses_an_option_without_its_value(self):
        self.assert_fails(hiaton("run", "examples/fact.hia", "--n"), 2,
                          "error: --n: expected a value\n  the program is main(n: i64) in examples/fact.hia\n")
        self.assert_fails(hiaton("run", "examples/fact.hia", "--n=3", "--workers"), 2, "--workers")

    def test_parameters_named_like_options_come_after_dashes(self):
        file = self.file("fn main(workers: i64, n: i64, help: bool) -> i64 = if help then workers * n else 0\n")
        done = hiaton("run", file, "--n=3", "--workers=2", "--", "--workers=5", "--help=true")
        self.assertEqual(done.stdout, "15\n", done.stderr)
        self.assert_fails(hiaton("run", file, "--n=3", "--workers=5"), 2, "after --", "-- --workers=VALUE, of type i64")
        self.assertIn("--workers=i64  (write it after --)", hiaton("run", file, "--help").stdout)

    def test_runs_in_every_executor(self):
        for executor in ("production", "reference", "expanding"):
            self.assertEqual(hiaton("run", "examples/fib.hia", "--n=15", f"--executor={executor}").stdout, "987\n")

    def test_refuses_unknown_executors_and_impossible_counts(self):
        for word in ("--executor=magic", "--evaluation=lazy", "--workers=0", "--workers=x", "--parallel-iterations=0",
                     "--max-frames=-1", "--max-bytes=1X", "--timeout=soon", "--overflow=maybe"):
            self.assert_fails(hiaton("run", "examples/fact.hia", "--n=3", word), 2, word.split("=")[0])

    def test_computes_on_demand(self):
        words = ["run", "examples/unused.hia", "--x=2", "--y=2", "--evaluation=demand"]
        self.assertEqual(hiaton(*words, "--workers=4").stdout, "2\n")
        self.assert_fails(hiaton(*words, "--processes=2"), 2, "--evaluation=demand: expected one process")
        self.assert_fails(hiaton(*words, "--executor=expanding"), 1, "expected the executor production or reference")
        tensors = self.file("fn main(n: i64) -> f64[2] = [1.0, 2] * f64(n)\n")
        done = hiaton("run", tensors, "--n=2", "--evaluation=demand")
        self.assertEqual(done.stdout, "[2.0, 4.0]\n")
        self.assertIn("by the reference rules, slowly: it is demand-driven and has tensors", done.stderr)
        graph = str(pathlib.Path(self.directory.name) / "graph.json")
        self.assertEqual(hiaton("graph", "examples/unused.hia", "--format=json", "--out", graph).returncode, 0)
        saved = hiaton("run", graph, "--x=2", "--y=2", "--evaluation=demand")
        self.assertEqual(saved.stdout, "2\n")
        self.assertEqual(saved.stderr.count("note:"), 1)

    def test_overflow_wraps_or_traps(self):
        file = self.file("fn main(n: i32) -> i32 = n + 1\n")
        self.assertEqual(hiaton("run", file, "--n=2147483647").stdout, "-2147483648\n")
        done = hiaton("run", file, "--n=2147483647", "--overflow=trap")
        self.assert_fails(done, 1, "overflow", "program.hia:1:")

    def test_a_failing_run_shows_the_chain_of_calls(self):
        file = self.file("fn f(n: i64) -> i64 = if n == 0 then 1 / n else f(n - 1)\nfn main(n: i64) -> i64 = f(n) + 1\n")
        self.assert_fails(hiaton("run", file, "--n=2"), 1, "division by zero", "in f(n = 0)", "in main(n = 2)",
                          "program.hia:2:26")

    def test_json_results(self):
        file = self.file("fn main(x: f64) -> (f64, f64, bool, i32) = (x, 0.0 / x, x > 1, 7)\n")
        report = json.loads(hiaton("run", file, "--x=0.0", "--json").stdout)
        self.assertEqual(report["results"], [0.0, "nan", False, 7])
        self.assertGreaterEqual(report["seconds"], 0)
        self.assertNotIn("stats", report)

    def test_json_stats(self):
        done = hiaton("run", "examples/fib.hia", "--n=10", "--json", "--stats")
        stats = json.loads(done.stdout)["stats"]
        self.assertEqual(stats["calls"], 177)
        self.assertEqual(stats["frames_live_at_end"], 0)
        firings = {region["region"]: region["firings"] for region in stats["regions"] if region["function"] == "fib"}
        self.assertEqual(firings["body"], 177)

    def test_json_faults(self):
        done = hiaton("run", self.file("fn main(n: i64) -> i64 = 1 / n\n"), "--n=0", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["error"]["fault"], "division by zero")
        self.assertIn("division by zero", done.stderr)

    def test_stats_for_people_go_to_stderr(self):
        done = hiaton("run", "examples/fib.hia", "--n=10", "--stats")
        self.assertEqual(done.stdout, "89\n")
        for word in ("seconds", "calls", "frames live at most", "bytes", "steals", "atomic operations", "firings"):
            self.assertIn(word, done.stderr)

    def test_needs_a_file(self):
        self.assert_fails(hiaton("run"), 2, "expected a FILE to run, or a --checkpoint; see 'hiaton run --help'")

    def test_runs_a_saved_graph(self):
        graph = self.file(hiaton("graph", "examples/fact.hia", "--format=json").stdout, "fact.json")
        self.assertEqual(hiaton("run", graph, "--n=3").stdout, "11\n")

    def test_a_saved_graph_with_loops_runs_in_both_machines(self):
        file = self.file("fn main(n: i64, x: f32[3]) -> f32[3] =\n"
                         "  with y = x for i in 0..n do with z = y for j in 0..i do z * 0.5 + x\n")
        graph = self.file(hiaton("graph", file, "--format=json").stdout, "loops.json")
        words = ["--n=5", "--x=[1, 2, 4]"]
        expected = hiaton("run", file, *words, "--executor=reference").stdout
        for saved in (file, graph):
            for executor in ("production", "flow"):
                done = hiaton("run", saved, *words, f"--executor={executor}")
                self.assertEqual((done.stdout, done.stderr), (expected, ""))

    def test_says_once_that_and_why_a_graph_runs_by_the_reference_rules(self):
        graph = self.file("""{"format": "hiaton graph", "version": 1, "source": null, "functions": [
            {"name": "main", "params": [{"name": "n", "from": 0}, {"name": "p", "from": 1}], "results": [4]}],
            "sites": [], "loops": [], "nodes": [
            {"kind": "Input", "type": "i64", "function": 0, "name": "n"},
            {"kind": "Input", "type": "bool", "function": 0, "name": "p"},
            {"kind": "Switch", "inputs": [0, 1], "type": "i64", "function": 0},
            {"kind": "Const", "value": "1", "type": "i64", "function": 0},
            {"kind": "Op", "op": "add", "inputs": [2, 3], "type": "i64", "function": 0},
            {"kind": "Output", "inputs": [4], "type": "i64", "function": 0}]}""", "crossing.json")
        note = "note: this graph runs by the reference rules, slowly: a result stands inside a branch\n"
        for words in ([], ["--executor=flow"], ["--json"]):
            done = hiaton("run", graph, "--n=3", "--p=true", *words)
            self.assertEqual(done.stderr, note)
            self.assertEqual(done.returncode, 0)
        stats = hiaton("run", graph, "--n=3", "--p=true", "--stats")
        self.assertEqual(stats.stderr.count("reference rules"), 1, stats.stderr)
        self.assert_fails(hiaton("run", graph, "--n=3", "--p=false"), 1, note, "no result")
        self.assertEqual(hiaton("run", graph, "--n=3", "--p=true", "--executor=reference").stderr, "")

    def test_needs_a_main(self):
        self.assert_fails(hiaton("run", self.file("fn f(n: i64) -> i64 = n\n")), 1, "main")


class Budgets(CommandLineTest):
    def test_endless_recursion_is_an_error_that_names_the_function(self):
        for budget in ("--max-frames=10000", "--max-bytes=1M"):
            for executor in ("production", "reference", "expanding"):
                done = hiaton("run", self.file(ENDLESS), budget, f"--executor={executor}")
                self.assert_fails(done, 1, "endless", "more calls", "in main()")

    def test_the_clock_ends_a_run(self):
        for text in (ENDLESS, FOREVER):
            for executor in ("production", "reference", "expanding"):
                begin = time.monotonic()
                done = hiaton("run", self.file(text), "--timeout=100ms", "--max-bytes=2G", f"--executor={executor}")
                self.assert_fails(done, 1, "error: ")
                self.assertLess(time.monotonic() - begin, 60)

    def test_sizes_and_times_have_units(self):
        for words in (["--max-bytes=1.5G"], ["--max-bytes=64K"], ["--timeout=2m"], ["--timeout=0.5"], ["--timeout=500ms"]):
            self.assertEqual(hiaton("run", "examples/fact.hia", "--n=3", *words).stdout, "11\n", words)


class Interrupts(CommandLineTest):
    def interrupted(self, executor, *words):
        process = subprocess.Popen([HIATON, "run", self.file(FOREVER), f"--executor={executor}", *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.wait_for_handler(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, out, err

    def wait_for_handler(self, pid):
        """Until the process has asked to be told of SIGINT."""
        while True:
            status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
            if int(caught.split()[1], 16) & (1 << (signal.SIGINT - 1)):
                return
            time.sleep(0.01)

    def test_ctrl_c_ends_a_run_with_130(self):
        for words in (["production"], ["production", "--workers=4"], ["reference"], ["expanding"]):
            status, out, err = self.interrupted(*words)
            self.assertEqual((status, out), (130, ""), err)
            self.assertIn("interrupted", err)


class Check(CommandLineTest):
    def test_a_legal_program(self):
        done = hiaton("check", "examples/fact.hia", "examples/fib.hia")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "examples/fact.hia: 2 functions, no errors\n"
                                      "examples/fib.hia: 2 functions, no errors\n")

    def test_shows_place_line_and_caret_of_every_error(self):
        file = self.file("fn f(n: i64) -> i64 = m\nfn main() -> bool = f(1, 2)\n")
        self.assert_fails(hiaton("check", file), 1, "program.hia:1:23: error:", "fn f(n: i64) -> i64 = m", "^",
                          "program.hia:2:21: error:")

    def test_deep_nesting_is_an_error(self):
        file = self.file("fn main() -> i64 = " + "(" * 100000 + "1" + ")" * 100000 + "\n")
        self.assert_fails(hiaton("check", file), 1, "program.hia:1:")

    def test_checks_the_files_after_a_wrong_one(self):
        done = hiaton("check", self.file("fn"), "examples/fact.hia")
        self.assertEqual(done.returncode, 1)
        self.assertIn("examples/fact.hia: 2 functions", done.stdout)


class Graph(CommandLineTest):
    def test_text_is_the_default(self):
        done = hiaton("graph", "examples/fact.hia")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("Call", "Return", "Merge", "Switch", "fact"):
            self.assertIn(word, done.stdout)

    def test_formats(self):
        self.assertIn("digraph", hiaton("graph", "examples/fact.hia", "--format=dot").stdout)
        self.assertIsInstance(json.loads(hiaton("graph", "examples/fact.hia", "--format=json").stdout), dict)
        self.assertIn("</svg>", hiaton("graph", "examples/fact.hia", "--format=svg").stdout)

    def test_svg_without_graphviz_says_what_is_missing(self):
        done = hiaton("graph", "examples/fact.hia", "--format=svg", env={"PATH": "/nonexistent"})
        self.assert_fails(done, 1, "Graphviz")

    def test_every_pass_shows_text_that_is_a_program_again(self):
        for name in ("parse", "fold", "flatten-logic", "cse", "dce", "inline", "simplify"):
            done = hiaton("graph", "examples/queens.hia", f"--after={name}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(hiaton("run", self.file(done.stdout), "--n=6").stdout, "4\n", name)

    def test_a_pass_has_no_drawing(self):
        self.assert_fails(hiaton("graph", "examples/fact.hia", "--after=cse", "--format=dot"), 2, "--after=cse")

    def test_writes_to_a_file(self):
        out = str(pathlib.Path(self.directory.name) / "fact.dot")
        done = hiaton("graph", "examples/fact.hia", "--format=dot", "--out", out)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("digraph", pathlib.Path(out).read_text(encoding="utf-8"))
        self.assert_fails(hiaton("graph", "examples/fact.hia", "--out=/nonexistent/x"), 1, "cannot write '/nonexistent/x'")

    def test_the_name_of_the_file_tells_the_format(self):
        for name, part in (("a.svg", "</svg>"), ("a.dot", "digraph"), ("a.gv", "digraph"), ("a.json", '"nodes"'), ("a.txt", "function fact")):
            out = pathlib.Path(self.directory.name) / name
            self.assertEqual(hiaton("graph", "examples/fact.hia", "--out", str(out)).returncode, 0)
            self.assertIn(part, out.read_text(encoding="utf-8"), name)
            self.assertEqual(hiaton("graph", "examples/fact.hia", "--format=text", "--out", str(out)).returncode, 0)
            self.assertIn("function fact", out.read_text(encoding="utf-8"), name)
        self.assert_fails(hiaton("graph", "examples/fact.hia", "--out=a.png"), 2,
                          "--out: pictures are written as .svg or .dot, found 'a.png'")

    def test_a_broken_saved_graph_is_an_error(self):
        self.assert_fails(hiaton("graph", self.file("{", "broken.json")), 1, "broken.json")


class Files(CommandLineTest):
    def test_files_that_cannot_be_read(self):
        for command in ("run", "check", "graph"):
            self.assert_fails(hiaton(command, "/nonexistent.hia"), 1, "cannot read '/nonexistent.hia'", "No such file")
            self.assert_fails(hiaton(command, "/tmp"), 1, "cannot read '/tmp'", "directory")

    def test_file_names_that_are_not_utf_8(self):
        path = os.fsencode(self.directory.name) + b"/\xff\xfe.hia"
        with open(path, "wb") as file:
            file.write(b"fn main(n: i64) -> i64 = 1 / n\n")
        done = subprocess.run([HIATON, "run", path, "--n=1"], capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual(done.stdout, b"1\n")
        done = subprocess.run([HIATON, "run", path, "--n=0", "--json"], capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["error"]["fault"], "division by zero")

    def test_texts_that_are_not_programs(self):
        for content in (b"", b"\x00\x01\x02", b"\xff\xfe\xfd", b"fn main(n: i64) -> i64 = \xff"):
            path = pathlib.Path(self.directory.name) / "bytes.hia"
            path.write_bytes(content)
            done = subprocess.run([HIATON, "run", str(path), "--n=1"], capture_output=True, timeout=TIMEOUT_S)
            self.assertEqual(done.returncode, 1, content)
            self.assertIn(b"error: ", done.stderr)

    def test_outputs_that_cannot_be_written(self):
        for command in ("run examples/fact.hia --n=3", "graph examples/fact.hia", "check examples/fact.hia", "ops",
                        "--help", "--version", "run --help"):
            for closed in (">&-", ">/dev/full"):
                done = subprocess.run(["bash", "-c", f"'{HIATON}' {command} {closed}"], cwd=ROOT, capture_output=True,
                                      text=True, timeout=TIMEOUT_S)
                self.assertEqual(done.returncode, 1, f"{command} {closed}: {done.stderr}")
                self.assertIn("cannot write to standard output", done.stderr)


class Help(CommandLineTest):
    def test_every_command_has_help(self):
        for words in ([], ["run"], ["check"], ["graph"], ["ops"]):
            done = hiaton(*words, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertIn(" ".join(["Usage: hiaton", *words]), done.stdout)

    def test_help_of_a_program_lists_its_parameters(self):
        done = hiaton("run", "examples/ack.hia", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--m=i64", done.stdout)
        self.assertIn("--n=i64", done.stdout)

    def test_version(self):
        done = hiaton("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^hiaton \d+\.\d+\.\d+\n$")

    def test_usage_errors(self):
        self.assert_fails(hiaton(), 2, "command")
        self.assert_fails(hiaton("launch"), 2, "launch")
        self.assert_fails(hiaton("check"), 2, "FILE")
        self.assert_fails(hiaton("graph", "examples/fact.hia", "--after=magic"), 2, "--after")
        self.assert_fails(hiaton("check", "--magic", "examples/fact.hia"), 2, "--magic")

    def test_options_say_what_they_expect_and_what_they_found(self):
        fact = ("run", "examples/fact.hia", "--n=3")
        for words, expected in (
                (("launch", "it"), "expected a command, found 'launch'"),
                (("check", "examples/fact.hia", "--magic"), "expected an option of 'hiaton check', found '--magic'"),
                (("check",), "expected a FILE"),
                (("train", "model.hia", "trees.txt"), "expected nothing more, found 'trees.txt'"),
                ((*fact, "--workers=0"), "--workers: expected a number from 1 to 1024, found '0'"),
                ((*fact, "--workers=two"), "--workers: expected a number from 1 to 1024, found 'two'"),
                ((*fact, "--workers"), "--workers: expected a value"),
                ((*fact, "--workers=2", "--workers=3"), "--workers: expected one value, found 2"),
                ((*fact, "--max-frames=-1"), "--max-frames: expected a number above 0, found '-1'"),
                ((*fact, "--batching=maybe"), "--batching: expected on or off, found 'maybe'"),
                ((*fact, "--overflow=stop"), "--overflow: expected one of wrap, trap, found 'stop'"),
                (("train", "--epochs=x"), "--epochs: expected a whole number, found 'x'"),
        ):
            self.assert_fails(hiaton(*words), 2, f"error: {expected}; see 'hiaton")

    def test_near_names_are_offered(self):
        for words, expected in (
                (("train", "--dat=x"), "expected an option of 'hiaton train', found '--dat=x'; did you mean '--data'?\n"),
                (("chekc",), "expected a command, found 'chekc'; did you mean 'check'?\n"),
                (("--verion",), "expected a command, found '--verion'; did you mean '--version'?\n"),
                (("run", "examples/fact.hia", "--n=3", "--worker=2"),
                 "'--worker=2' is neither an option of 'hiaton run' nor a parameter of the program; "
                 "did you mean '--workers'?\n"),
                (("run", "examples/ack.hia", "--nn=3", "--m=1"), "; did you mean '--n'?\n"),
        ):
            self.assert_fails(hiaton(*words), 2, expected)
        self.assertNotIn("did you mean", hiaton("run", "examples/fact.hia", "--k=3").stderr)

    def test_ops_describes_the_catalogue(self):
        done = hiaton("ops")
        for word in ("add", "a + b", "min(a, b)", "sqrt", "not a"):
            self.assertIn(word, done.stdout)
        self.assertEqual(hiaton("ops", "add").returncode, 0)
        self.assert_fails(hiaton("ops", "magic"), 2, "magic")


if __name__ == "__main__":
    harness.main(globals())
