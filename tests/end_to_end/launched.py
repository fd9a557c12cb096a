#!/usr/bin/env python3
"""Tests of commands in processes that a launcher of MPI has started, with Open MPI and with MPICH. One that is not installed is
skipped."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest.mock

import harness
from harness import ROOT, TIMEOUT_S, hiaton
from several_processes import ENVIRONMENT, MODEL, TRAINING, LaunchedTest, launched, parameters_in, placed_model

HIATON = "hiaton"


class Launched(LaunchedTest):
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

    def test_training_with_a_table_of_another_process_has_the_bits_of_one(self):
        whole = self.trained("whole", "--epochs=1")
        model = placed_model(self.directory.name, "process:1")
        for mpi in self.each_mpi():
            for processes, replicas in ((2, 1), (4, 2)):
                out = f"{self.directory.name}/{mpi}_{processes}"
                done = launched(mpi, processes, "train", model, *TRAINING, "--epochs=1", f"--replicas={replicas}", "--out", out)
                self.assertEqual((done.returncode, done.stderr.count("epoch 1/1")), (0, 1), done.stderr)
                self.assertEqual(parameters_in(out), whole)
                alone = hiaton("predict", out, "--generate=50", "--json")
                spread = launched(mpi, processes, "predict", out, "--generate=50", "--json", f"--replicas={replicas}")
                self.assertEqual((spread.returncode, spread.stdout), (0, alone.stdout), spread.stderr)

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
            done = launched(mpi, 1, "24", ":", "-n", "1", HIATON, "run", "examples/fact.hia", "--n=3", program=program)
            self.assert_one_error(done, "error: process 1 (", "expected the same program, arguments and options in all")

    def test_a_process_that_looks_for_messages_keeps_its_processor(self):
        # As on a machine that is busy with other things.
        slow = self.preloaded("slow", "#include <unistd.h>\nint sched_yield(void) { usleep(5000); return 0; }\n")
        words = ["run", "examples/hamiltonian.hia", "--samples=50", "--stats", "--json"]
        processes = os.cpu_count() + 1  # so many share processors, and Open MPI yields
        for mpi in self.each_mpi():
            with unittest.mock.patch.dict(ENVIRONMENT, LD_PRELOAD=slow, OMPI_MCA_mpi_yield_when_idle="1"):
                done = launched(mpi, processes, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(json.loads(done.stdout)["seconds"], 3)

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

    def test_process_0_writes_to_the_output_of_the_command(self):
        for _ in self.each_mpi():
            pass
        model = self.model()
        words = ["predict", model, "--generate=3000"]
        alone = hiaton(*words)
        file = pathlib.Path(self.directory.name, "predictions.txt")
        file.write_text("before\n", encoding="utf-8")
        with file.open("a", encoding="utf-8") as output:
            subprocess.run([HIATON, *words, "--hosts=localhost:2"], cwd=ROOT, stdout=output, check=True, timeout=TIMEOUT_S)
        self.assertEqual(file.read_text(encoding="utf-8"), "before\n" + alone.stdout)
        writer = subprocess.Popen([HIATON, *words, "--hosts=localhost:2"], cwd=ROOT, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(writer.stdout.readline(), "tree 1\n")
        writer.stdout.close()  # too early
        lines = writer.stderr.read().splitlines()
        # The launcher, which has the same output, warns of it at times.
        own = [line for line in lines if line and not line.startswith("[warn] ")]
        self.assertEqual(own, ["error: cannot write to standard output: Broken pipe"])
        self.assertEqual(writer.wait(timeout=TIMEOUT_S), 1)
        writer.stderr.close()

    def test_another_model_is_refused_by_name(self):
        model = self.model()
        other = f"{self.directory.name}/other"
        shutil.copytree(model, other)
        with open(f"{other}/model.hia", "a", encoding="utf-8") as program:
            program.write("# changed\n")
        for mpi in self.each_mpi():
            done = launched(mpi, 1, "predict", model, "--generate=5", ":", "-n", "1", HIATON, "predict", other, "--generate=5")
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"error: process 1 \(.*\) has the model \w+, process 0 the model \w+")

    def test_other_arguments_and_options_are_refused(self):
        for other in (["--n=11"], ["--n=10", "--overflow=trap"]):
            for mpi in self.each_mpi():
                fib = ["run", "examples/fib.hia"]
                done = launched(mpi, 1, *fib, "--n=10", ":", "-n", "1", HIATON, *fib, *other)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stdout, "")
                self.assertIn("; expected the same program, arguments and options in all", done.stderr)

    def test_an_error_of_all_before_they_join_comes_once(self):
        errors = {("nowhere.hia", "--n=3"): (1, "error: cannot read 'nowhere.hia': No such file or directory"),
                  ("examples/fib.hia", "--n=x"): (2, "error: --n: expected a value of type i64, found 'x'"),
                  ("--nonsense",): (2, "error: expected a FILE to run, or a --checkpoint; see 'hiaton run --help'")}
        for words, (status, error) in errors.items():
            for mpi in self.each_mpi():
                done = launched(mpi, 3, "run", *words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual([line for line in done.stderr.splitlines() if "error: " in line], [error])

    def test_an_error_of_one_before_it_joins_names_it(self):
        for mpi in self.each_mpi():
            done = launched(mpi, 1, "run", "examples/fib.hia", "--n=10", ":", "-n", "1", HIATON, "run", "nowhere.hia", "--n=10")
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"error: process 1 \(.*\): cannot read 'nowhere.hia'")

    def test_one_trace_holds_the_processes_of_hosts(self):
        for mpi, environment in self.each_launcher_of_the_command():
            file = f"{self.directory.name}/{mpi}.json"
            for words in (["run", "examples/fib.hia", "--n=36"], ["run", "examples/spread.hia", "--n=9"]):
                done = hiaton(*words, "--hosts=localhost:2", f"--trace={file}", env=environment)
                self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 1), done.stderr)
                names, slices, arrows = self.read_trace(file)
                self.assertEqual(len(names), 2)
                self.assertIn((1, 2), arrows)

    def test_copies_gradients_and_placed_parameters_run_on_hosts_too(self):
        runs = (["run", "docs/distribution/copies.hia", "--n=16", "--place=fibs=1+2,table=0"],
                ["run", "docs/distribution/copies.hia", "--n=16", "--place=fibs=0+1,table=2"],
                ["run", "docs/distribution/slope.hia", "--x=2"],
                ["run", "docs/distribution/table.hia", "--n=7", "--place=auto", "--max-bytes=40K"])
        for words in runs:
            alone = hiaton(*[word for word in words if not word.startswith("--place") and not word.startswith("--max-bytes")])
            self.assertEqual(alone.returncode, 0, alone.stderr)
            for mpi in self.each_mpi():
                with self.subTest(words=words, mpi=mpi):
                    spread = launched(mpi, 3, *words)
                    self.assertEqual((spread.returncode, spread.stdout), (0, alone.stdout), spread.stderr)

    def test_examples_print_what_they_print_in_one_process(self):
        processes = {"openmpi": 3, "mpich": 2}
        runs = {}
        for example in sorted((ROOT / "examples").glob("*.hia")):
            words = re.search(r"^# run:(.*)$", example.read_text(encoding="utf-8"), re.MULTILINE)
            if words is not None:
                runs[example.name] = ["run", str(example), *shlex.split(words.group(1))]
        self.assertLess(30, len(runs))
        alone = {name: hiaton(*words) for name, words in runs.items()}
        for mpi in self.each_mpi():
            for name, words in runs.items():
                with self.subTest(example=name, mpi=mpi):
                    spread = launched(mpi, processes[mpi], *words)
                    self.assertEqual((spread.returncode, spread.stdout), (alone[name].returncode, alone[name].stdout), spread.stderr)


if __name__ == "__main__":
    harness.main(globals())
