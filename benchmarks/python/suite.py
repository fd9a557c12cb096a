"""What benchmarks/python/run runs, with the interpreter of the environment that has the package and the peers."""

import argparse
import datetime
import importlib.util
import os
import pathlib
import platform
import re
import sys

import dicts
import graphs
import lists
import networks
import small
import tree_steps
from measuring import Bench

TABLES = {measure.__name__: measure for measure in (
    small.operations, small.calls, small.conversions, small.snapshots, small.faults, lists.lists, dicts.dicts, graphs.batches, tree_steps.tree_steps,
    networks.networks, graphs.unrolled)}


def machine():
    names = re.findall(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{len(os.sched_getaffinity(0))} cores of {names[0] if names else platform.machine()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--seconds", default=60, type=int)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # each table is there as soon as it was measured, also in a file
    options.program = options.build / "tools" / "hiaton"
    torch = None
    if importlib.util.find_spec("torch") is not None:
        import torch
        torch.set_num_threads(1)
    peer = f"PyTorch {torch.__version__}" if torch else "without PyTorch"
    print(f"{datetime.date.today()}, {machine()}, Python {platform.python_version()}, {peer}, medians of "
          f"{1 if options.smoke else options.rounds} rounds in turns")
    bench = Bench(options, torch)
    for name in options.only:
        TABLES[name](bench)
        bench.print_bars()
    bench.print_summary()


if __name__ == "__main__":
    main()
