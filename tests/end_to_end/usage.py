#!/usr/bin/env python3
"""Tests of what the command line says where it is used in another way, and of programs on standard input."""

import harness
from harness import CommandLineTest, hiaton

HIATON = "hiaton"

FACT = "fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1)\nfn main(n: i64) -> i64 = fact(n) + 5\n"


class StandardInput(CommandLineTest):
    def test_programs_run_from_there(self):
        done = hiaton("run", "-", "--n=3", input=FACT)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "11\n", ""))

    def test_every_command_that_takes_a_program_reads_it(self):
        self.assertEqual(hiaton("check", "-", input=FACT).stdout, "<stdin>: 2 functions, no errors\n")
        self.assertIn("function main", hiaton("graph", "-", input=FACT).stdout)
        self.assertIn("--n=i64", hiaton("run", "-", "--help", input=FACT).stdout)
        page = self.file("", "run.html")
        self.assertEqual(hiaton("watch", "-", "--n=3", "--out", page, input=FACT).returncode, 0)

    def test_messages_name_it(self):
        self.assert_fails(hiaton("check", "-", input="fn main() -> i64 = m\n"), 1, "<stdin>:1:20: error: unknown name 'm'")

    def test_it_is_read_once(self):
        self.assert_fails(hiaton("run", "-", "--n=@-", input=FACT), 2,
                          "--n: expected a file, found standard input, which the program reads")


class Usage(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.program = self.file("fn main(count: i64, x: f64) -> f64 = f64(count) * x\n")

    def test_a_missing_argument_is_told_with_how_it_is_written(self):
        self.assert_fails(hiaton("run", self.program, "--x=1"), 2,
                          "the value of 'count' is missing; it is written --count=VALUE, of type i64")

    def test_values_without_names(self):
        self.assert_fails(hiaton("run", self.program, "3"), 2,
                          "found the value '3' without the name of a parameter; it is written --count=3")
        for word in ("x=1", "-x=1"):
            self.assert_fails(hiaton("run", self.program, word, "--count=1"), 2,
                              f"expected an option, found '{word}'; did you mean '--x=1'?")

    def test_another_file(self):
        self.assert_fails(hiaton("run", self.program, "other.hia"), 2, "expected one FILE, found 'other.hia' beside")
        self.assert_fails(hiaton("other.hia"), 2, "did you mean 'hiaton run other.hia'?")

    def test_a_file_without_main_is_named(self):
        file = self.file("fn f(n: i64) -> i64 = n\n", "functions.hia")
        self.assert_fails(hiaton("run", file), 1, "functions.hia: expected a function 'main' to start at, found only: f")


class Compilation(CommandLineTest):
    def test_the_time_of_a_run_is_that_of_its_compilation_too(self):
        calls = " + ".join(f"f{i}(n)" for i in range(20_000))
        program = "".join(f"fn f{i}(n: i64) -> i64 = n * {i} + {i}\n" for i in range(20_000))
        file = self.file(program + f"fn main(n: i64) -> i64 = {calls}\n")
        self.assert_fails(hiaton("run", file, "--n=1", "--timeout=1ms"), 1,
                          "time budget: the compilation takes longer than 1.0 ms; --timeout raises the budget")

    def test_a_short_compilation_leaves_the_run_all_of_its_time(self):
        file = self.file("fn main(n: i64) -> i64 = main(n + 1)\n")
        self.assert_fails(hiaton("run", file, "--n=1", "--timeout=2s"), 1, "time budget: the run takes longer than 2 s;")


if __name__ == "__main__":
    harness.main(globals())
