#!/usr/bin/env python3
"""Processes on two hosts, which are network namespaces of this machine, with a line between them that delays packets, loses some, or
is cut. Skipped, with the reason, where the machine refuses namespaces or Open MPI is not there."""

import shutil
import subprocess
import time

import harness
from harness import ROOT, TIMEOUT_S, hiaton
from several_processes import (ENVIRONMENT, LAUNCHERS, RANKS, TRAINING, LaunchedTest, lacks, parameters_in, pid_of_process, pids_with,
                               placed_model)
from two_networks import ADDRESSES, Refused, TwoNetworks

HIATON = "hiaton"

SILENCE_S = 2
TIME_TO_END_S = 4  # once nothing was heard of the other process for so long

QUEENS_14 = "365596\n"  # a known number: one process alone would take ten seconds for it

HOSTS = "--hosts=" + ",".join(f"{address}:1" for address in ADDRESSES)


class Networks(LaunchedTest):
    def networks(self, **line):
        reason = lacks("openmpi")
        if reason is not None:
            self.skipTest(reason)
        try:
            networks = TwoNetworks(self.directory.name, **line)
        except Refused as refused:
            self.skipTest(f"no network namespaces: {refused}")
        self.addCleanup(networks.close)
        return networks

    def start(self, networks, *words):
        return networks.start([harness.HIATON, *words], ENVIRONMENT, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_over(self, networks, *words):
        process = self.start(networks, *words)
        out, said = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, out, said

    def queens(self):
        """A copy of the program, so that its processes are found by its name."""
        program = f"{self.directory.name}/queens.hia"
        shutil.copy(ROOT / "examples/queens.hia", program)
        return program

    def test_a_line_that_delays_or_loses_packets_changes_nothing(self):
        alone = hiaton("run", "examples/queens.hia", "--n=11").stdout
        whole = self.trained("whole", "--epochs=1")
        model = placed_model(self.directory.name, "process:1")
        for name, line in {"delay": {"delay_s": 0.005}, "loss": {"delay_s": 0.001, "loss": 0.01}}.items():
            networks = self.networks(**line)
            with self.subTest(name):
                status, out, said = self.run_over(networks, "run", "examples/queens.hia", "--n=11", HOSTS)
                self.assertEqual((status, out), (0, alone), said)
                self.assertGreater(networks.line.forwarded, 10)
                trained = f"{self.directory.name}/{name}"
                status, _, said = self.run_over(networks, "train", model, *TRAINING, "--epochs=1", "--out", trained, HOSTS)
                self.assertEqual(status, 0, said)
                self.assertEqual(parameters_in(trained), whole)
                if "loss" in line:
                    self.assertGreater(networks.line.lost, 0)

    def wait_until_it_runs(self, program):
        """Until both processes compute."""
        for number in (0, 1):
            self.wait_for_process(program, RANKS["openmpi"], number)
        time.sleep(1)

    def test_a_line_that_is_cut_for_some_seconds_goes_on(self):
        program = self.queens()
        networks = self.networks()
        process = self.start(networks, "run", program, "--n=14", HOSTS)
        self.wait_until_it_runs(program)
        self.assertIsNone(process.poll(), "it ended before the line was cut")
        networks.line.is_cut = True
        time.sleep(2)
        networks.line.is_cut = False
        out, said = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual((process.returncode, out), (0, QUEENS_14), said)
        self.assertGreater(networks.line.lost, 0)

    def test_a_line_that_is_cut_for_ever_is_one_error(self):
        program = self.queens()
        networks = self.networks()
        process = self.start(networks, "run", program, "--n=16", f"--heartbeat={SILENCE_S}s", HOSTS)
        self.wait_until_it_runs(program)
        networks.line.is_cut = True
        begin = time.monotonic()
        _, said = process.communicate(timeout=TIMEOUT_S)
        self.assertNotEqual(process.returncode, 0)
        self.assertLess(time.monotonic() - begin, 15)
        self.assertEqual(said.count("error:"), 1, said)
        self.assertIn("cannot be reached", said)
        # What is left on the other side of the line finds out by itself that nothing comes any more.
        deadline = begin + SILENCE_S + TIME_TO_END_S
        while pids_with(program) and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assert_nothing_is_left(program)

    def test_processes_on_both_sides_of_a_cut_end_whatever_the_launcher_does(self):
        program = self.queens()
        networks = self.networks()
        launcher = networks.start([LAUNCHERS["openmpi"][0], "--host", ",".join(f"{address}:1" for address in ADDRESSES), "-n", "2", harness.HIATON,
                                   "run", program, "--n=16", f"--heartbeat={SILENCE_S}s"], ENVIRONMENT, cwd=ROOT,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.wait_until_it_runs(program)
        networks.line.is_cut = True
        deadline = time.monotonic() + SILENCE_S + TIME_TO_END_S
        left = lambda: [number for number in (0, 1) if pid_of_process(program, RANKS["openmpi"], number) is not None]
        while left() and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertEqual(left(), [])
        launcher.kill()
        self.assertEqual(launcher.communicate(timeout=TIMEOUT_S)[1].count("cannot be reached"), 1)


if __name__ == "__main__":
    harness.main(globals())
