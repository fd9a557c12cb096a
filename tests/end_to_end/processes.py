#!/usr/bin/env python3
"""Tests of commands that work in several processes, from outside: threads as processes, Open MPI and MPICH. Those of
an MPI that is not installed are skipped."""

import json
import os
import pathlib
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


def lacks(mpi):
    """Why an MPI cannot be tested; None: it can."""
    plugin = pathlib.Path(HIATON).parent / f"hiaton_{mpi}.so"
    if not plugin.exists():
        return f"hiaton is built without {plugin.name}"
    if shutil.which(LAUNCHERS[mpi][0]) is None:
        return f"there is no {LAUNCHERS[mpi][0]}"
    return None


def launched(mpi, processes, *words, **options):
    """A command under the launcher of the MPI itself."""
    return subprocess.run([*LAUNCHERS[mpi], "-n", str(processes), HIATON, *words], cwd=ROOT, env=ENVIRONMENT, text=True,
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

    def test_an_error_is_reported_once(self):
        self.assert_one_error(hiaton("predict", "/nowhere", "--processes=3"), "there is no such checkpoint")
        self.assert_one_error(hiaton("predict", self.model(), "/nowhere", "--processes=3"), "cannot read '/nowhere'")

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
        command = ["predict", model, "--generate=30000", *words]
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

    def test_a_process_that_says_nothing_is_named(self):
        model = None
        for mpi in self.each_mpi():
            model = model or self.model("--size", "d=256")
            _, said, seconds = self.disturb(model, mpi, 1, signal.SIGSTOP, "--heartbeat=1s")
            self.assertRegex(said, r"error: process 1 \(.*\) was killed or cannot be reached: nothing was heard of it")
            self.assertLess(seconds, 12)


if __name__ == "__main__":
    harness.main(globals())
