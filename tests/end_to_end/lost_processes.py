#!/usr/bin/env python3
"""What happens when processes that a launcher of MPI has started, or the command that has started it, are killed, stopped or
interrupted. An MPI that is not installed is skipped."""

import concurrent.futures
import itertools
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import harness
from harness import ROOT, TIMEOUT_S, hiaton
from several_processes import (ENVIRONMENT, LAUNCHERS, MODEL, RANKS, TRAINING, LaunchedTest, lacks, launched, parameters_in,
                               pid_of_process, pids_with)

HIATON = "hiaton"

MOMENTS = 1
KILLED_BAR_S = 2  # until the error about a process that was killed is there, and all have ended


class Lost(LaunchedTest):
    def disturb(self, model, mpi, number, with_signal, *words):
        """A long prediction in three processes, one of which gets a signal. What was said, and how long it took."""
        return self.disturb_command(["predict", model, "--generate=30000", *words], model, mpi, number, with_signal)

    def disturb_command(self, command, model, mpi, number, with_signal, writes=None):
        """The same for a command, whose processes are found by one of its words. `writes`: a file that it makes once interrupts
        are heeded."""
        start = [HIATON, *command, "--hosts=localhost:3"] if mpi is None else \
            [*LAUNCHERS[mpi], "-n", "3", HIATON, *command]
        process = subprocess.Popen(start, cwd=ROOT, env=ENVIRONMENT, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        pid = self.wait_for_process(model, RANKS[mpi or "openmpi"], number, joined=3)
        if writes is not None:
            self.wait_for_file(writes)
        time.sleep(0.3)
        begin = time.monotonic()
        os.kill(pid, with_signal)
        said = process.communicate(timeout=TIMEOUT_S)[1]
        seconds = time.monotonic() - begin
        self.assert_nothing_is_left(model)
        self.assertNotEqual(process.returncode, 0, "it ended before it was disturbed")
        return process.returncode, said, seconds

    def wait_for_file(self, path):
        deadline = time.monotonic() + 60
        while not path.exists():
            self.assertLess(time.monotonic(), deadline, f"{path} was not written")
            time.sleep(0.05)

    def long_runs(self):
        """With each MPI, a run that takes minutes: the command, its program, and the first of its processes."""
        program = f"{self.directory.name}/queens.hia"
        shutil.copy(ROOT / "examples/queens.hia", program)
        for mpi, environment in self.each_launcher_of_the_command():
            process = subprocess.Popen([HIATON, "run", program, "--n=15", "--hosts=localhost:2"], cwd=ROOT, env=environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            yield process, program, self.wait_for_process(program, RANKS[mpi], 0)

    def test_nothing_is_left_of_a_command_that_is_killed(self):
        for process, program, _ in self.long_runs():
            time.sleep(0.5)
            process.kill()
            process.wait(timeout=TIMEOUT_S)
            self.assert_nothing_is_left(program)

    def test_training_that_is_interrupted_writes_its_checkpoint(self):
        # Ctrl-C in a terminal reaches the launcher and, where it does not prevent that, all that it has started.
        by_terminal = ("SIGINT", lambda process: os.killpg(process.pid, signal.SIGINT))
        by_pid = ("SIGTERM", lambda process: process.send_signal(signal.SIGTERM))
        for mpi, environment in self.each_launcher_of_the_command():
            for processes, (name, send) in ((2, by_terminal), (2, by_pid), (1, by_terminal), (1, by_pid)):
                out = f"{self.directory.name}/{mpi}_{name}_{processes}"
                process = subprocess.Popen(
                    [HIATON, "train", MODEL, "--train-trees=8000", "--dev-trees=10", "--batch=8000", "--epochs=1000", "--size=d=200",
                     f"--hosts=localhost:{processes}", "--out", out], cwd=ROOT, env=environment, text=True, stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
                self.wait_for_file(pathlib.Path(out) / "settings.json")
                time.sleep(0.5)  # in the middle of a step, which takes seconds
                self.assertEqual(list(pathlib.Path(out).glob("*.safetensors")), [])
                send(process)
                said = process.communicate(timeout=TIMEOUT_S)[1]
                self.assertEqual((process.returncode, said.count("error: ")), (130, 1), said)
                self.assertIn("error: interrupted; 'hiaton train --resume", said)
                self.assertTrue((pathlib.Path(out) / "last.safetensors").exists(), said)
                self.assert_nothing_is_left(out)

    def test_an_interrupt_of_any_process_ends_all_in_good_order(self):
        program = f"{self.directory.name}/queens.hia"
        shutil.copy(ROOT / "examples/queens.hia", program)
        for mpi in self.each_mpi():
            for number in (0, 2):
                status, said, _ = self.disturb_command(["run", program, "--n=15"], program, mpi, number, signal.SIGTERM)
                self.assertEqual((status, said.count("error: interrupted")), (130, 1), said)
            out = f"{self.directory.name}/{mpi}"
            training = ["train", MODEL, *TRAINING, "--epochs=100000", "--out", out]
            status, said, _ = self.disturb_command(training, out, mpi, 1, signal.SIGTERM, pathlib.Path(out) / "settings.json")
            self.assertEqual((status, said.count("error: ")), (130, 1), said)
            self.assertTrue((pathlib.Path(out) / "last.safetensors").exists(), said)

    def test_a_second_interrupt_ends_all_at_once(self):
        for process, program, first in self.long_runs():
            os.kill(first, signal.SIGSTOP)  # it would never come to an end by itself
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=5), 130)
            self.assert_nothing_is_left(program)

    def test_a_process_that_is_killed_is_named(self):
        if lacks("openmpi"):
            self.skipTest(lacks("openmpi"))
        model = self.model("--size", "d=256")
        for number in (0, 2):
            status, said, seconds = self.disturb(model, None, number, signal.SIGKILL)
            self.assertEqual(status, 1, said)
            self.assertEqual(said.count("error: "), 1, said)
            self.assertRegex(said, rf"error: process {number} \(.*\) was killed")
            self.assertEqual(said.count("\n"), 1, said)
            self.assertLess(seconds, KILLED_BAR_S)

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
            self.assertLess(seconds, KILLED_BAR_S)

    def test_a_process_that_says_nothing_is_named(self):
        model = None
        for mpi in self.each_mpi():
            model = model or self.model("--size", "d=256")
            _, said, seconds = self.disturb(model, mpi, 1, signal.SIGSTOP, "--heartbeat=1s")
            self.assertRegex(said, r"error: process 1 \(.*\) was killed or cannot be reached: nothing was heard of it")
            self.assertLess(seconds, 12)
        for number in (0, 1):
            _, said, _ = self.disturb(model, None, number, signal.SIGSTOP, "--heartbeat=1s")
            self.assertRegex(said, rf"^error: process {number} \(.*\) was killed or cannot be reached: nothing was heard of it .*\n$")

    def test_a_process_that_stops_before_it_has_joined_does_not_hold_up_the_others(self):
        # MPI has begun then, and what is called next waits for all.
        stops = self.preloaded("stops", "#include <signal.h>\n"
                                        "int MPI_Get_processor_name(char *name, int *size) { return raise(SIGSTOP); }\n")
        program = f"{self.directory.name}/fact.hia"
        shutil.copy(ROOT / "examples/fact.hia", program)
        words = [HIATON, "run", program, "--n=5"]

        def launched_on_one_processor(mpi):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            return launched(mpi, 1, *words[1:], ":", "-n", "1", "env", f"LD_PRELOAD={stops}", *words)

        # The others wait for ten seconds: all of them at the same time.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            ended = {mpi: pool.submit(launched_on_one_processor, mpi) for mpi in self.each_mpi()}
        for mpi, done in ended.items():
            with self.subTest(mpi):
                self.assertNotEqual(done.result().returncode, 0)
                self.assertIn("error: one of the processes has stopped, or cannot be reached: it has not joined", done.result().stderr)
        self.assert_nothing_is_left(program)

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

    def test_a_process_is_lost_at_any_moment(self):
        if lacks("openmpi"):
            self.skipTest(lacks("openmpi"))
        files = {name: f"{self.directory.name}/{name}.hia" for name in ("queens", "placed_leaves", "treelstm")}
        for name, folder in zip(files, ("examples", "benchmarks/programs", "models")):
            shutil.copy(ROOT / folder / f"{name}.hia", files[name])
        out = f"{self.directory.name}/trained"
        commands = {"queens": ["run", files["queens"], "--n=16"], "placed_leaves": ["run", files["placed_leaves"], "--n=1000000000"],
                    "treelstm": ["train", files["treelstm"], *TRAINING, "--epochs=1000000", "--out", out]}
        moments = random.Random(17)
        for (name, words), sent, _ in itertools.product(commands.items(), (signal.SIGKILL, signal.SIGSTOP), range(MOMENTS)):
            number = moments.randrange(2)
            # Who says nothing before all have joined is not named.
            joined = 0 if sent == signal.SIGKILL else 2
            moment = 0.1 * joined + moments.uniform(0, 1)
            with self.subTest(name, sent=sent, number=number, moment=moment):
                shutil.rmtree(out, ignore_errors=True)
                process = subprocess.Popen([HIATON, *words, "--hosts=localhost:2", "--heartbeat=1s"], cwd=ROOT, text=True,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                pid = self.wait_for_process(files[name], RANKS["openmpi"], number, joined)
                time.sleep(moment)
                os.kill(pid, sent)
                said = process.communicate(timeout=TIMEOUT_S)[1]
                self.assertEqual((process.returncode, said.count("error: ")), (1, 1), said)
                self.assertRegex(said, rf"error: process {number} \(.*\) was killed")
                self.assert_nothing_is_left(files[name])
                if (pathlib.Path(out) / "last.safetensors").exists():
                    loaded = hiaton("predict", f"{out}/last.safetensors", "--generate=1")
                    self.assertEqual(loaded.returncode, 0, loaded.stderr)


if __name__ == "__main__":
    harness.main(globals(), moments="so many moments for each kind of run and of loss")
