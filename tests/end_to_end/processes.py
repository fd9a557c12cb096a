#!/usr/bin/env python3
"""Tests of commands that work in several processes, from outside: threads as processes, Open MPI and MPICH. Those of
an MPI that is not installed are skipped."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

import harness
from harness import ROOT, TIMEOUT_S, CommandLineTest, hiaton

HIATON = "hiaton"

MODEL = "models/treelstm.hia"
LAUNCHERS = {"openmpi": ["mpirun.openmpi"], "mpich": ["mpiexec.mpich", "-launcher", "fork"]}
RANKS = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_plm": "isolated", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


TRAINING = ["--train-trees=120", "--dev-trees=20", "--batching=deterministic", "--parts=4", "--checkpoint-every=1"]


def parameters_in(directory):
    """Of the best epoch, without the rest of the file: the bytes do not depend on how they were computed."""
    return (pathlib.Path(directory) / "best.safetensors").read_bytes()


def lacks(mpi):
    """Why an MPI cannot be tested; None: it can."""
    plugin = pathlib.Path(HIATON).parent / f"hiaton_{mpi}.so"
    if not plugin.exists():
        return f"hiaton is built without {plugin.name}"
    if shutil.which(LAUNCHERS[mpi][0]) is None:
        return f"there is no {LAUNCHERS[mpi][0]}"
    return None


def launched(mpi, processes, *words, program=None, **options):
    """A command under the launcher of the MPI itself."""
    return subprocess.run([*LAUNCHERS[mpi], "-n", str(processes), program or HIATON, *words], cwd=ROOT, env=ENVIRONMENT, text=True,
                          capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, **options)


def pids_with(text):
    """Of commands whose words hold the text."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and text in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def pid_of_process(text, variable, number):
    for pid in pids_with(text):
        try:
            if f"{variable}={number}" in (pathlib.Path("/proc") / str(pid) / "environ").read_text().split("\0"):
                return pid
        except OSError:
            pass
    return None


class ProcessesTest(CommandLineTest):
    def model(self, *sizes):
        out = str(pathlib.Path(self.directory.name) / "model")
        done = hiaton("train", MODEL, "--train-trees=40", "--dev-trees=10", "--epochs=1", "--out", out, *sizes)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def trained(self, name, *words):
        """The parameters of a training run, as bytes."""
        out = pathlib.Path(self.directory.name) / name
        new = [] if "--resume" in words else [MODEL, *TRAINING]
        done = hiaton("train", *new, *words, "--out", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("epoch 1/"), 0 if "--resume" in words else 1, done.stderr)
        return parameters_in(out)

    def assert_one_error(self, done, *parts):
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)


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

    def test_training_has_the_bits_of_one_process(self):
        whole = self.trained("whole", "--epochs=2")
        for processes in (2, 3, 4):
            self.assertEqual(self.trained(f"of_{processes}", "--epochs=2", f"--processes={processes}"), whole)
        self.trained("parts", "--epochs=1", "--processes=2")
        self.assertEqual(self.trained("parts", "--resume", "--epochs=2", "--processes=3"), whole)
        self.assert_one_error(hiaton("train", MODEL, *TRAINING, "--out", f"{self.directory.name}/x", "--processes=5"),
                              "expected at most 4 processes, as many as a batch has parts (--parts), found 5")

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
        self.assertEqual([part.count("sub(") for part in parts], [0, 2, 2])
        for place, message in (("sum=1", "place 'sum': expected a place of the program ('sums', 'table'), found none"),
                               ("sums=3", "place 'sums': expected a process from 0 to 2, found 3"),
                               ("table=0+1", "place 'table': expected one process for what is not a function, found 0+1")):
            self.assert_fails(hiaton(*split, f"--place={place}"), 1, message)
        for place, message in (("sums", "expected NAME=PROCESS, found no '='"), ("sums=", "found ''"),
                               ("sums=1+x", "expected the number of a process, found 'x'"),
                               ("sums=1,sums=2", "expected each name once, found 'sums' twice")):
            self.assert_fails(hiaton(*split, f"--place={place}"), 2, message)
        calls = {"sums=0,table=0": 0, "sums=0,table=2": 1, "sums=1,table=2": 2}
        for places, expected in calls.items():
            done = json.loads(hiaton("run", program, "--n=5", "--processes=3", "--stats", "--json", f"--place={places}").stdout)
            self.assertEqual(done["results"], [30])
            self.assertEqual(done["stats"]["remote_calls"], expected)
        self.assert_one_error(hiaton("run", program, "--n=5", "--processes=3", "--place=sum=1"), "found none of this name")
        self.assert_fails(hiaton("run", program, "--n=5", "--place=table=1"), 2, "--place: expected several processes")
        program.write_text('fn cube(x: f64) -> f64 on "process:1" = x * x * x\n'
                           'fn main(x: f64) -> f64 = grad(cube)(x)\n', encoding="utf-8")
        self.assert_one_error(hiaton("run", program, "--x=2", "--processes=2"), "expected a program without gradients")
        self.assertEqual(hiaton("run", program, "--x=2").stdout, "12.0\n")
        self.assert_fails(hiaton("graph", program, "--place=table=1"), 2, "--place: expected --processes=N")

    def test_an_error_is_reported_once(self):
        self.assert_one_error(hiaton("predict", "/nowhere", "--processes=3"), "there is no such checkpoint")
        self.assert_one_error(hiaton("predict", self.model(), "--data=/nowhere", "--processes=3"), "cannot read '/nowhere'")

    def test_usage_errors(self):
        self.assert_fails(hiaton("hosts", "--processes=0"), 2, "--processes")
        self.assert_fails(hiaton("hosts", "a:1", "--processes=2"), 2, "either --processes or hosts")
        self.assert_fails(hiaton("hosts", "--heartbeat=1ms"), 2, "--heartbeat: expected at least 100ms")
        self.assert_fails(hiaton("hosts", "$(id)"), 1, "expected the name of a host", "found '$(id)'")
        self.assert_fails(hiaton("predict", "x", "--hosts=a:0"), 1, "expected a number of processes from 1 to 65535")


class Launched(ProcessesTest):
    """Each test with each MPI."""

    def each_mpi(self):
        tested = 0
        for mpi in LAUNCHERS:
            reason = lacks(mpi)
            if reason is None:
                tested += 1
                with self.subTest(mpi):
                    yield mpi
            else:
                print(f"skipped for {mpi}: {reason}")
        if tested == 0:
            self.skipTest("neither Open MPI nor MPICH")

    def test_hosts_measures_each_process(self):
        for mpi in self.each_mpi():
            done = launched(mpi, 3, "hosts", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([row["process"] for row in json.loads(done.stdout)["processes"]], [0, 1, 2])

    def test_predictions_are_those_of_one_process(self):
        model = self.model()
        words = ["predict", model, "--generate=200", "--json"]
        alone = hiaton(*words)
        for mpi in self.each_mpi():
            for processes in (1, 2, 4):
                spread = launched(mpi, processes, *words)
                self.assertEqual((spread.returncode, spread.stdout), (0, alone.stdout), spread.stderr)

    def test_training_has_the_bits_of_one_process(self):
        whole = self.trained("whole", "--epochs=1")
        for mpi in self.each_mpi():
            for processes in (2, 4):
                out = f"{self.directory.name}/{mpi}_{processes}"
                done = launched(mpi, processes, "train", MODEL, *TRAINING, "--epochs=1", "--out", out)
                self.assertEqual((done.returncode, done.stderr.count("epoch 1/1")), (0, 1), done.stderr)
                self.assertEqual(parameters_in(out), whole)

    def test_training_goes_on_without_a_process_that_is_killed(self):
        if lacks("openmpi"):
            self.skipTest(lacks("openmpi"))
        words = ["--epochs=25"]
        whole = self.trained("whole", *words)
        restarted = 0
        for number, delay in ((2, 0.4), (0, 0.6), (1, 0.9)):
            out = f"{self.directory.name}/without_{number}"
            process = subprocess.Popen([HIATON, "train", MODEL, *TRAINING, *words, "--hosts=localhost:3", "--restart=2",
                                        "--out", out], cwd=ROOT, env=ENVIRONMENT, text=True, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            pid = None
            deadline = time.monotonic() + 30
            while pid is None and time.monotonic() < deadline:
                time.sleep(0.02)
                pid = pid_of_process(out, RANKS["openmpi"], number)
            time.sleep(delay)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it was done before
            said = process.communicate(timeout=TIMEOUT_S)[1]
            self.assertEqual((process.returncode, said.count("error: ")), (0, 0), said)
            restarted += len(re.findall(rf"note: process {number} \(.*\) was killed by signal 9; training goes on", said))
            self.assertEqual(parameters_in(out), whole)
            self.assertEqual(pids_with(out), [], "processes are left")
        self.assertGreater(restarted, 0)
        self.assert_fails(hiaton("train", MODEL, "--restart=1"), 2, "--restart: expected --hosts")

    def test_runs_are_those_of_one_process(self):
        alone = hiaton("run", "examples/queens.hia", "--n=10")
        sorted_alone = hiaton("run", "benchmarks/programs/mergesort.hia", "--n=100000")
        for mpi in self.each_mpi():
            for processes in (2, 3, 4):
                spread = launched(mpi, processes, "run", "examples/queens.hia", "--n=10")
                self.assertEqual((spread.returncode, spread.stdout), (0, alone.stdout), spread.stderr)
                lists = launched(mpi, processes, "run", "benchmarks/programs/mergesort.hia", "--n=100000")
                self.assertEqual((lists.returncode, lists.stdout), (0, sorted_alone.stdout), lists.stderr)
            done = launched(mpi, 2, "run", "examples/queens.hia", "--n=11", "--max-frames=3")
            self.assert_one_error(done, "frame budget: more than 3 frames are live")
        done = hiaton("run", "examples/queens.hia", "--n=10", "--hosts=localhost:2")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, alone.stdout, ""))

    def test_strings_and_functions_cross_and_are_printed_at_process_0(self):
        program = pathlib.Path(self.directory.name) / "spell.hia"
        program.write_text('fn spell(n: i64, join: fn(str, str) -> str) -> str =\n'
                           '  if n < 2 then str(n) else join(spell(n - 1, join), spell(n - 2, join))\n'
                           'fn there(text: str, f: fn(str) -> str) -> str on "process:1" = print(f(text))\n'
                           'fn main(n: i64, mark: str) -> (str, i64) =\n'
                           '  let text = spell(n, fn(a, b) -> if length(a) % 2 == 0 then a + b else b + a)\n'
                           '  (there(text[:5], fn(s) -> print(s + mark)), length(text))\n')
        words = ["run", str(program), "--n=18", "--mark=é!"]
        alone = hiaton(*words)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertEqual(len(alone.stdout.splitlines()), 4, alone.stdout)
        spread = [hiaton(*words, "--processes=2"), hiaton(*words, "--processes=2", "--executor=reference")]
        for done in [*spread, *(launched(mpi, 2, *words) for mpi in self.each_mpi())]:
            self.assertEqual((done.returncode, done.stdout), (0, alone.stdout), done.stderr)

    def test_a_program_in_cpp_joins_the_others(self):
        program = pathlib.Path(HIATON).parent / "example_processes"
        for mpi in self.each_mpi():
            for processes in (2, 3):
                done = launched(mpi, processes, "24", program=program)
                self.assertEqual((done.returncode, done.stdout), (0, f"46368 in {processes} processes\n"), done.stderr)
            done = launched(mpi, 2, "0", program=program)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("division by zero: 100 / 0"), 1, done.stdout)

    def test_the_command_finds_the_launcher(self):
        for _ in self.each_mpi():
            pass
        model = self.model()
        done = hiaton("hosts", "localhost:2", "--json")
        self.assertEqual(len(json.loads(done.stdout)["processes"]), 2, done.stderr)
        trees = "(_ (_ 3) (_ 4))\n"
        alone = hiaton("predict", model, input=trees)
        for words in (["--hosts=localhost:2"], ["--hosts", "localhost:1,localhost:1"]):
            spread = hiaton("predict", model, *words, input=trees)
            self.assertEqual((spread.returncode, spread.stdout, spread.stderr), (0, alone.stdout, ""))
        self.assert_one_error(hiaton("predict", "/nowhere", "--hosts=localhost:3"), "there is no such checkpoint")

    def test_another_model_is_refused_by_name(self):
        model = self.model()
        other = f"{self.directory.name}/other"
        shutil.copytree(model, other)
        with open(f"{other}/model.hia", "a", encoding="utf-8") as program:
            program.write("# changed\n")
        for mpi in self.each_mpi():
            command = [*LAUNCHERS[mpi], "-n", "1", HIATON, "predict", model, "--generate=5",
                       ":", "-n", "1", HIATON, "predict", other, "--generate=5"]
            done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, text=True, capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=TIMEOUT_S)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"error: process 1 \(.*\) has the model \w+, process 0 the model \w+")

    def disturb(self, model, mpi, number, with_signal, *words):
        """A long prediction in three processes, one of which gets a signal. What was said, and how long it took."""
        return self.disturb_command(["predict", model, "--generate=30000", *words], model, mpi, number, with_signal)

    def disturb_command(self, command, model, mpi, number, with_signal):
        """The same for a command, whose processes are found by one of its words."""
        start = [HIATON, *command, "--hosts=localhost:3"] if mpi is None else \
            [*LAUNCHERS[mpi], "-n", "3", HIATON, *command]
        process = subprocess.Popen(start, cwd=ROOT, env=ENVIRONMENT, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        variable = RANKS[mpi or "openmpi"]
        deadline = time.monotonic() + 30
        pid = None
        while pid is None and time.monotonic() < deadline:
            time.sleep(0.05)
            pid = pid_of_process(model, variable, number)
        self.assertIsNotNone(pid)
        time.sleep(1.5)
        begin = time.monotonic()
        os.kill(pid, with_signal)
        said = process.communicate(timeout=TIMEOUT_S)[1]
        seconds = time.monotonic() - begin
        for _ in range(40):
            if not pids_with(model):
                break
            time.sleep(0.1)
        self.assertEqual(pids_with(model), [], "processes are left")
        self.assertNotEqual(process.returncode, 0, "it ended before it was disturbed")
        return process.returncode, said, seconds

    def test_a_process_that_is_killed_is_named(self):
        if lacks("openmpi"):
            self.skipTest(lacks("openmpi"))
        model = self.model("--size", "d=256")
        for number in (0, 2):
            status, said, seconds = self.disturb(model, None, number, signal.SIGKILL)
            self.assertEqual(status, 1, said)
            self.assertEqual(said.count("error: "), 1, said)
            self.assertRegex(said, rf"error: process {number} \(.*\) was killed")
            self.assertLess(seconds, 5)

    def test_a_process_that_is_killed_in_a_run_is_named(self):
        if lacks("openmpi"):
            self.skipTest(lacks("openmpi"))
        program = f"{self.directory.name}/queens.hia"
        shutil.copy(ROOT / "examples/queens.hia", program)
        for number in (0, 1):
            status, said, seconds = self.disturb_command(["run", program, "--n=15"], program, None, number,
                                                         signal.SIGKILL)
            self.assertEqual((status, said.count("error: ")), (1, 1), said)
            self.assertRegex(said, rf"error: process {number} \(.*\) was killed")
            self.assertLess(seconds, 5)

    def test_a_process_that_says_nothing_is_named(self):
        model = None
        for mpi in self.each_mpi():
            model = model or self.model("--size", "d=256")
            _, said, seconds = self.disturb(model, mpi, 1, signal.SIGSTOP, "--heartbeat=1s")
            self.assertRegex(said, r"error: process 1 \(.*\) was killed or cannot be reached: nothing was heard of it")
            self.assertLess(seconds, 12)


if __name__ == "__main__":
    harness.main(globals())
