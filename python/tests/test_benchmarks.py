"""The benchmarks of the package run."""

import pathlib
import subprocess
import sys

RUN = pathlib.Path(__file__).resolve().parents[2] / "benchmarks/python/run"
TABLES = ["An operation on small tensors", "Guards and call of a tiny graph", "Conversion of a model", "Objects to data values",
          "A failed assumption", "Programs on lists of numbers", "Programs that change dicts", "Mean batch", "A step of training, batches of 25 trees",
          "A step of training of networks", "distinct trees", "figures clear their bars"]


def test_each_table_is_made():
    done = subprocess.run([sys.executable, "-B", RUN, "--smoke"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    titles = [line for line in done.stdout.splitlines() if line.startswith("**") and line != "**Held against bars**"]
    expected = [title for title in TABLES if title != "Mean batch" or "batches: left out" not in done.stdout]
    assert len(titles) == len(expected) and all(part in title for part, title in zip(expected, titles)), done.stdout
