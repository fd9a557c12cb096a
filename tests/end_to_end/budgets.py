#!/usr/bin/env python3
"""--max-bytes holds: whatever a run fills memory with, it ends with an error before it holds much more, and does what it
did before where there is room."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIATON = "hiaton"
MIB = 1 << 20
BESIDES = 20 * MIB  # the command itself, and the message

# What fills memory, by what it is made of. A tensor of 1000 or 30,000,000 elements has 4 or 120 million bytes.
PROGRAMS = {
    "list": """
fn build(n: i64) -> List[i64] = if n == 0 then Nil else Cons(n, build(n - 1))
fn main(n: i64) -> i64 = fold(add, 0, build(n))
""",
    "list_of_a_loop": """
fn build(n: i64) -> List[i64] = with xs: List[i64] = Nil for i in 0..n do Cons(i, xs)
fn main(n: i64) -> i64 = fold(add, 0, build(n))
""",
    "tree": """
data Tree = Leaf | Node(left: Tree, right: Tree)
fn build(depth: i64) -> Tree = if depth == 0 then Leaf else Node(build(depth - 1), build(depth - 1))
fn count(t: Tree) -> i64 =
  match t
    Leaf -> 1
    Node(l, r) -> count(l) + count(r)
fn main(n: i64) -> i64 = count(build(n))
""",
    "tensors": """
fn build(n: i64, x: f32[1000]) -> List[f32[1000]] = if n == 0 then Nil else Cons(x, build(n - 1, x + 1.0))
fn main(n: i64) -> i64 = length(build(n, broadcast_to(f32(n), shape=[1000])))
fn length(xs: List[f32[1000]]) -> i64 =
  match xs
    Nil -> 0
    Cons(_, rest) -> 1 + length(rest)
""",
    "one_tensor": """
fn main(n: i64) -> f32 = sum(broadcast_to(f32(n), shape=[30000000]), axes=[0])
""",
    "gradient": """
fn chain(n: i64, x: f32[1000]) -> f32[1000] = if n == 0 then x else tanh(chain(n - 1, x) * x)
fn loss(n: i64, x: f32[1000]) -> f32 = sum(chain(n, x), axes=[0])
fn main(n: i64) -> f32[1000] = grad(loss)(n, broadcast_to(f32(n), shape=[1000]))
""",
}

# Arguments with which they need more than 32 MiB, and with which less than 400.
SIZES = {"list": (2_000_000, 1000), "list_of_a_loop": (2_000_000, 1000), "tree": (21, 8), "tensors": (50_000, 100),
         "one_tensor": (1, 1), "gradient": (50_000, 100)}


def command(*words):
    """Status, message and the most memory that a command took."""
    process = subprocess.Popen([HIATON, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    message = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, message, usage.ru_maxrss * 1024


class BudgetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.directory.name)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def program(self, name):
        path = self.root / f"{name}.hia"
        path.write_text(PROGRAMS[name])
        return path

    def ends(self, budget, *words, besides=BESIDES):
        """The command runs out of its budget, near it."""
        status, message, peak = command(*words, f"--max-bytes={budget}")
        self.assertEqual(status, 1, message[:1000])
        self.assertLess(len(message), 10_000)
        self.assertIn(f"byte budget: the run holds more than {budget} bytes; what grew is ", message[:1000])
        self.assertLess(peak, 1.3 * budget + besides, words)


class Runs(BudgetTest):
    def test_budgets_hold_whatever_fills_memory(self):
        for name, (many, _) in SIZES.items():
            for executor in ("production", "reference", "expanding"):
                with self.subTest(program=name, executor=executor):
                    self.ends(32 * MIB, "run", self.program(name), f"--n={many}", f"--executor={executor}")

    def test_runs_within_their_budget_are_not_disturbed(self):
        for name, (_, few) in SIZES.items():
            for executor in ("production", "reference", "expanding"):
                with self.subTest(program=name, executor=executor):
                    status, message, _ = command("run", self.program(name), f"--n={few}", f"--executor={executor}",
                                                 f"--max-bytes={400 * MIB}")
                    self.assertEqual(status, 0, message[:1000])


    def test_a_learned_parameter_without_room_is_named(self):
        program = self.root / "large.hia"
        program.write_text("param W: f32[1000000, 1000000]\nfn main() -> f32 = W[0, 0]\n")
        limited = subprocess.run(["bash", "-c", f"ulimit -v 6000000; exec '{HIATON}' run '{program}'"],
                                 capture_output=True, text=True)
        self.assertEqual(limited.returncode, 1)
        self.assertIn("there is no room for the learned parameter 'W' of type f32[1000000, 1000000]", limited.stderr)


class Training(BudgetTest):
    """Of one node with 100,000 children, and of many small trees."""

    def train(self, name, text):
        data = self.root / f"{name}.txt"
        data.write_text(text)
        return ("train", ROOT / "models/childsum.hia", "--size=d=2", "--data", data, "--epochs=1", "--batch=1000",
                "--out", self.root / name)

    def test_a_step_ends_and_nothing_is_lost(self):
        wide = "(1 " + "(0 bad)" * 100_000 + ")\n"
        small = "(1 (0 bad) (1 good))\n" * 40_000
        for name, text in (("wide", wide), ("small", small)):
            for workers in (1, 2):
                with self.subTest(data=name, workers=workers):
                    words = self.train(name, text)
                    budget = 64 * MIB if name == "wide" else MIB
                    self.ends(budget, *words, f"--workers={workers}", besides=4 * BESIDES)
                    self.assertFalse((self.root / name / "last.safetensors").exists())

    def test_the_same_step_with_room_is_done(self):
        words = self.train("room", "(1 " + "(0 bad)" * 10_000 + ")\n")
        status, message, _ = command(*words, f"--max-bytes={64 * MIB}")
        self.assertEqual(status, 0, message[:1000])
        status, message, _ = command("eval", self.root / "room", "--data", self.root / "room.txt", f"--max-bytes={MIB}")
        self.assertEqual(status, 1, message[:1000])
        self.assertIn("byte budget", message[:1000])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hiaton", required=True, help="the command line to test")
    known, rest = parser.parse_known_args()
    HIATON = pathlib.Path(known.hiaton).resolve()
    unittest.main(argv=[sys.argv[0], *rest])
