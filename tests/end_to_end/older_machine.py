#!/usr/bin/env python3
"""The command runs on machines with fewer vector instructions than this one may have: one with AVX2 but not AVX-512, and
one with neither. qemu runs it as they would, and ends it at the first instruction that is missing."""

import pathlib
import subprocess
import tempfile
import unittest

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIATON = "hiaton"


def run(machine, *arguments):
    return subprocess.run(["qemu-x86_64", "-cpu", machine, HIATON, *arguments], capture_output=True, text=True, check=False)


class OlderMachine(unittest.TestCase):
    def test_scalar_programs(self):
        for machine in ["Haswell", "Nehalem"]:
            done = run(machine, "run", str(ROOT / "examples/fib.hia"), "--n=15")
            self.assertEqual((done.returncode, done.stdout), (0, "987\n"), machine + done.stderr)

    def test_training_and_prediction(self):
        for machine in ["Haswell", "Nehalem"]:
            with tempfile.TemporaryDirectory() as directory:
                trained = run(machine, "train", str(ROOT / "models/treelstm.hia"), "--size", "d=20", "--size", "e=20",
                              "--train-trees", "60", "--dev-trees", "20", "--epochs", "1", "--out", directory)
                self.assertEqual(trained.returncode, 0, machine + trained.stderr)
                evaluated = run(machine, "eval", directory)
                self.assertEqual(evaluated.returncode, 0, machine + evaluated.stderr)


if __name__ == "__main__":
    harness.main(globals())
