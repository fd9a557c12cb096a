"""What runs a program once and tells its results and how long it took, and how several of these take turns."""

import concurrent.futures
import json
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from printing import ratio, show_progress

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT_S = 900
FIB_33_SECONDS = 0.015


class Program:
    """A row of a table: a program with its arguments, and what beside Hiaton runs it."""

    def __init__(self, name, arguments, file, peers=(), data=False, published=None, repeats=1, options=()):
        self.name = name
        self.arguments = arguments  # by the name of the parameter
        self.file = file
        self.peers = peers
        self.data = data  # whether it is one of data values: the peers keep these apart
        self.published = published
        self.repeats = repeats  # of each round, where single runs are far apart
        self.options = options  # of hiaton run

    def label(self):
        return f"{self.name}({', '.join(str(argument) for argument in self.arguments.values())})"

    def words(self):
        return [self.name, *(str(argument) for argument in self.arguments.values())]


class Run:
    """One finished run: its results, the seconds it measured, and Hiaton's statistics."""

    def __init__(self, report):
        self.results = report["results"]
        self.seconds = report["seconds"]
        self.stats = report.get("stats")


def deepen_stack():
    """For what recurses on the processor's stack."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))


def run_json(command, workers=None, deep=False, variables=None):
    environment = variables if workers is None else dict(os.environ, WORKERS=str(workers))
    done = subprocess.run([str(word) for word in command], cwd=ROOT, env=environment, capture_output=True, text=True,
                          timeout=TIMEOUT_S, preexec_fn=deepen_stack if deep else None)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed with status {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def machine_scale(programs, n=33):
    """By how much times of this machine are longer, at the moment, than on the one that bars in seconds are for. The native programs
    are in `programs`. It has a meaning for the full size of `n`."""
    return statistics.median(run_json([programs / "native_programs", "fib", n])["seconds"] for _ in range(3)) / FIB_33_SECONDS


class Contenders:
    """The programs of a build, and CPython."""

    def __init__(self, build):
        self.hiaton_command = build / "tools" / "hiaton"
        self.programs = build / "benchmarks"
        needed = ["native_programs", "native_data", "tbb_programs", "ocaml_programs", "embedded_programs"]
        for command in (self.hiaton_command, *(self.programs / name for name in needed)):
            if not command.exists():
                raise SystemExit(f"{command} is missing; build it: cmake --preset release && cmake --build --preset release")

    def hiaton_words(self, program, workers=1, executor="production"):
        arguments = [f"--{name}={value}" for name, value in program.arguments.items()]
        return [self.hiaton_command, "run", program.file, *arguments, "--json", f"--workers={workers}",
                f"--executor={executor}", *program.options]

    def hiaton(self, program, workers=1, executor="production", stats=False):
        return Run(run_json(self.hiaton_words(program, workers, executor) + (["--stats"] if stats else [])))

    def built(self, executable, program, workers=None, deep=False):
        return Run(run_json([self.programs / executable, *program.words()], workers, deep))

    def python(self, script, program):
        return Run(run_json([sys.executable, "-B", ROOT / "benchmarks/peers/python" / script, *program.words()]))

    def embedded(self, name, argument, workers=1):
        return Run(run_json([self.programs / "embedded_programs", name, argument], workers))

    def learn(self, *words):
        return run_json([self.programs / "learn_trees", *words, f"--root={ROOT}"])

    def of(self, program):
        """By column: what runs the program once."""
        columns = {
            "hiaton, 1 worker": lambda: self.hiaton(program, 1),
            "hiaton, 2 workers": lambda: self.hiaton(program, 2),
        }
        native, script = ("native_data", "data.py") if program.data else ("native_programs", "programs.py")
        peers = {
            "OCaml": lambda: self.built("ocaml_programs", program, deep=True),
            "native C++": lambda: self.built(native, program),
            "oneTBB, 1 thread": lambda: self.built("tbb_programs", program, 1),
            "oneTBB, 2 threads": lambda: self.built("tbb_programs", program, 2),
            "CPython": lambda: self.python(script, program),
        }
        return columns | {peer: peers[peer] for peer in program.peers}


def same(found, expected, tolerance):
    return len(found) == len(expected) and all(
        a == b or (isinstance(a, float) or isinstance(b, float)) and math.isclose(a, b, rel_tol=tolerance)
        for a, b in zip(found, expected))


def measure(columns, rounds, label, tolerance=0.0):
    """By column: the seconds of each round. The columns take turns, every other round in reverse. Floats of the results may
    differ by so much, relatively; 0: not at all."""
    seconds = {name: [] for name in columns}
    results = {}
    for number in range(rounds):
        show_progress(f"{label}: round {number + 1} of {rounds}")
        for name, run in list(columns.items())[::1 if number % 2 == 0 else -1]:
            done = run()
            seconds[name].append(done.seconds)
            results[name] = done.results
    show_progress("")
    expected = next(iter(results.values()))
    for name, found in results.items():
        if not same(found, expected, tolerance):
            raise SystemExit(f"{label}: {name} gives {found}, expected {expected}")
    return seconds


def wait_for(processes):
    """Waits until all have ended. (A wait with a timeout of its own would look for the end at times that are further and further apart, and so
    tell times that are too long; a timer ends what takes too long.)"""
    timer = threading.Timer(TIMEOUT_S, lambda: [process.kill() for process in processes])
    timer.start()
    statuses = [process.wait() for process in processes]
    timer.cancel()
    for process, status in zip(processes, statuses):
        if status != 0:
            raise SystemExit(f"{' '.join(map(str, process.args))} failed with status {status}")


def wall_seconds(command):
    """What a process takes from its start to its end."""
    begin = time.perf_counter()
    wait_for([subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)])
    return time.perf_counter() - begin


def peak_bytes(command):
    """The most memory that a process of its own held, as Linux counts it. What wait4 tells begins with the memory of the process
    that started it, so this looks at it while it runs."""
    process = subprocess.Popen([str(word) for word in command], cwd=ROOT, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())  # a zombie has none
        peak = max(peak, int(found.group(1)) * 1024) if found else peak
        time.sleep(0.001)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed with status {process.returncode}")
    return peak


def measure_speedup(run, rounds, label, peers=None):
    """Of `run`, which takes the number of workers: the seconds by column, how many times as fast two workers are as one, and
    how much two copies with one worker each get done at once in the time of one: what the second core is worth to it."""
    def two_copies():
        with concurrent.futures.ThreadPoolExecutor() as pool:
            copies = list(pool.map(run, (1, 1)))
        return Run({"results": copies[0].results, "seconds": 1 / sum(1 / copy.seconds for copy in copies)})

    columns = {"1": lambda: run(1), "2": lambda: run(2), "two copies": two_copies} | (peers or {})
    seconds = measure(columns, rounds, label, tolerance=1e-9)
    return seconds, {"program": label, "1 worker": statistics.median(seconds["1"]), "2 workers": statistics.median(seconds["2"]),
                     "speedup": ratio(seconds["1"], seconds["2"]), "two copies": ratio(seconds["1"], seconds["two copies"])}
