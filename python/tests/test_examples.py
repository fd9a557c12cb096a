"""The models of examples/ learn."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def shares(example, steps):
    """What the example says, and the percentages in it."""
    done = subprocess.run([sys.executable, "-W", "error", ROOT / "examples" / example, str(steps)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, [int(share) for share in re.findall(r"(\d+)%", done.stdout)]


def test_list_operations():
    said, right = shares("list_operations.py", 300)
    assert re.match(r"\[(MIN|MAX|MED|SUM) .* is \d\n", said)
    assert len(right) == 4 and right[0] > 50 and min(right) > 30, said


def test_grow_trees():
    said, right = shares("grow_trees.py", 100)
    assert len(right) == 3 and right[0] > 90 and right[1] > 80, said


def test_module_networks():
    said, right = shares("module_networks.py", 300)
    assert len(right) == 3 and right[0] > 90 and right[2] > 80, said


def test_reach():
    said, _ = shares("reach.py", 200)
    found = [float(one) for one in re.findall(r"step \d+: ([\d.]+)", said)]
    assert len(found) == 4 and found[1] < 0.1 * found[0] and found[3] < 0.3 * found[2], said
