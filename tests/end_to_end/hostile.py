#!/usr/bin/env python3
"""Input that nobody means well with: huge sources, huge trees, checkpoints that lie about sizes, NaN and infinity, paths
that are directories, outputs that are closed. A clear error or a right answer, bounded memory, no hang."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIATON = "hiaton"
NODES = 100_000
TIMEOUT_S = 1500

FACT = "fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1)\nfn main(n: i64) -> i64 = fact(n) + 5\n"


class HostileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.directory.name)
        (cls.root / "fact.hia").write_text(FACT)
        (cls.root / "directory").mkdir()

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def hiaton(self, *words, **options):
        return subprocess.run([HIATON, *map(str, words)], cwd=self.root, capture_output=True, text=True,
                              timeout=TIMEOUT_S, **options)

    def fails(self, part, *words, status=1):
        done = self.hiaton(*words)
        self.assertEqual(done.returncode, status, f"{words}: {done.stdout}{done.stderr}")
        self.assertRegex(done.stderr, part, words)
        self.assertEqual(done.stdout, "", words)
        self.assertLess(len(done.stderr), 10_000, words)
        return done

    def succeeds(self, *words, **options):
        done = self.hiaton(*words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @classmethod
    def sparse(cls, name, size, begin=b""):
        """A file that says to be so large, and takes no room on the disk."""
        path = cls.root / name
        with open(path, "wb") as file:
            file.write(begin)
            file.truncate(size)
        return path

    @classmethod
    def model(cls, name, model, *words):
        out = cls.root / name
        if not out.exists():
            trees = cls.root / "small.txt"
            trees.write_text("(1 (0 bad) (1 good))\n(0 (1 good) (0 bad))\n")
            subprocess.run([HIATON, "train", ROOT / "models" / model, "--data", trees, "--dev", trees, "--epochs=1",
                            "--out", out, *words], check=True, capture_output=True, timeout=TIMEOUT_S)
        return out


class Sources(HostileTest):
    def peak_of(self, *words):
        """The most memory that a command which fails took, in bytes, and its message."""
        process = subprocess.Popen([HIATON, *map(str, words)], cwd=self.root, stderr=subprocess.PIPE, text=True)
        message = process.stderr.read()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 1, message)
        return usage.ru_maxrss * 1024, message

    def test_a_source_of_a_gigabyte_is_an_error(self):
        path = self.sparse("huge.hia", 1 << 30, FACT.encode())
        for command in ("run", "check", "graph", "trace", "watch", "train"):
            peak, message = self.peak_of(command, path)
            self.assertIn(f"cannot read '{path}': it is larger than 16 MiB", message)
            self.assertLess(peak, 300 << 20)

    def test_a_saved_graph_of_a_gigabyte_is_an_error(self):
        peak, message = self.peak_of("run", self.sparse("huge.json", 1 << 30, b"{"))
        self.assertIn("it is larger than 256 MiB", message)
        self.assertLess(peak, 1 << 30)

    def test_an_endless_source_is_an_error(self):
        self.assertIn("larger than 16 MiB", self.peak_of("run", "/dev/zero")[1])

    def test_the_largest_source_is_read(self):
        path = self.root / "large.hia"
        path.write_text(FACT + "# " + "x" * ((16 << 20) - len(FACT) - 3) + "\n")
        self.assertEqual(self.succeeds("run", path, "--n=3"), "11\n")
        with open(path, "a", encoding="utf-8") as file:
            file.write("\n")
        self.fails("larger than 16 MiB", "run", path, "--n=3")


class Trees(HostileTest):
    """Trees of NODES nodes; with --nodes=10000000 as large as the language of the promise has it."""

    def shapes(self):
        pairs = NODES // 2
        chain = self.root / "chain.txt"
        chain.write_text("(1 " * pairs + "(0 bad)" + " (1 good))" * pairs + "\n")
        level = "(0 bad)"
        depth = (NODES + 1).bit_length() - 1
        for _ in range(depth - 1):
            level = f"(1 {level} {level})"
        bushy = self.root / "bushy.txt"
        bushy.write_text(level + "\n")
        return chain, bushy

    def test_binary_trees(self):
        model = self.model("binary", "treernn.hia", "--size=d=2")
        for path in self.shapes():
            report = json.loads(self.succeeds("eval", model, "--data", path, "--json"))
            self.assertEqual((report["trees"], report["roots"]), (1, 1))
            self.assertGreater(report["nodes"], NODES * 0.5)
            self.assertEqual(self.succeeds("predict", model, "--data", path).count("\n"), report["nodes"] + 1)
            out = self.root / "out"
            self.succeeds("train", ROOT / "models/treernn.hia", "--size=d=2", "--data", path, "--epochs=1", "--out", out)
            shutil.rmtree(out)

    def test_a_node_with_so_many_children(self):
        model = self.model("wide", "childsum.hia", "--size=d=2")
        path = self.root / "wide.txt"
        path.write_text("(1 " + "(0 bad)" * NODES + ")\n")
        report = json.loads(self.succeeds("eval", model, "--data", path, "--json"))
        self.assertEqual(report["nodes"], NODES + 1)
        self.succeeds("train", ROOT / "models/childsum.hia", "--size=d=2", "--data", path, "--epochs=1", "--out",
                      self.root / "wide_out")


class Checkpoints(HostileTest):
    def test_headers_that_lie(self):
        model = self.model("lies", "treernn.hia", "--size=d=2")
        path = model / "best.safetensors"
        whole = path.read_bytes()
        length = int.from_bytes(whole[:8], "little")
        header = json.loads(whole[8:8 + length])
        body = whole[8 + length:]
        first, second = list(name for name in header if name != "__metadata__")[:2]
        size = len(body)

        def write(changed, prefix=None):
            text = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
            path.write_bytes((len(text) if prefix is None else prefix).to_bytes(8, "little") + text + body)

        def changed(name, **fields):
            return {**header, name: {**header[name], **fields}}

        begin, end = header[first]["data_offsets"]
        text = json.dumps(header).encode()
        for prefix in (len(text) + size + 1, 1 << 32, 1 << 62, (1 << 63) + 1, (1 << 64) - 1, 0, 1):
            write(text, prefix)
            self.fails("best.safetensors: expected ", "predict", model, "--data", self.root / "small.txt")
        for lie in (changed(first, data_offsets=[-4, end]), changed(first, data_offsets=[end, begin]),
                    changed(first, data_offsets=[begin, 1 << 62]), changed(first, data_offsets=[size, size + end - begin]),
                    changed(first, data_offsets=[begin, end + 4]), changed(first, data_offsets=header[second]["data_offsets"]),
                    changed(first, data_offsets=[begin]), changed(first, data_offsets=[1 << 64, 1 << 65]),
                    changed(first, data_offsets=[0.5, 4.5]), changed(first, data_offsets=None),
                    changed(first, shape=[1 << 62, 1 << 62]), changed(first, shape=[1 << 32, 1 << 32]),
                    changed(first, shape=[1 << 31, 1 << 31, 4]), changed(first, shape=[-1]), changed(first, shape=[0, 1 << 62]),
                    changed(first, shape=[(1 << 64) + 2]), changed(first, shape=[]), changed(first, shape=[1] * 100_000),
                    changed(first, dtype="F8192"), changed(first, dtype="F64"), changed(first, dtype=7),
                    {**header, "more": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [size, size + (4 << 40)]}},
                    {**header, "__metadata__": [1]}, {}, [], {first: {}},
                    b"[" * 1_000_000, b'{"a":' * 1_000_000, b"\xff\xfe", b"{" + b" " * 100 + text[1:-1]):
            write(lie)
            self.fails("best.safetensors: ", "predict", model, "--data", self.root / "small.txt")
        path.write_bytes(whole)
        self.assertIn("tree 2", self.succeeds("predict", model, "--data", self.root / "small.txt"))

    def test_numbers_that_are_none(self):
        model = self.model("none", "treernn.hia", "--size=d=2")
        path = model / "best.safetensors"
        whole = path.read_bytes().replace(b"hiaton.crc32c", b"another.field")  # as other programs write it, without checksums
        for bits in (b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff"):  # NaN, infinity, -infinity
            path.write_bytes(whole[:-4] + bits)
            self.fails("expected finite values, found -?(nan|inf)", "predict", model, "--data", self.root / "small.txt")

    def test_a_bit_that_has_changed(self):
        model = self.model("changed", "treernn.hia", "--size=d=2")
        path = model / "best.safetensors"
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.fails("best.safetensors: '\\w+': expected what was written, with the checksum", "predict", model, "--data",
                   self.root / "small.txt")


class Numbers(HostileTest):
    PROGRAM = ("fn walk(x: f64, n: i64) -> f64 = if n == 0 then x else walk(x * 2.0 - x, n - 1)\n"
               "fn main(x: f64, y: f32, t: f64[2]) -> (f64, f64, bool, bool, f32, f64[2]) =\n"
               "  (walk(x, 3), x - x, x < 1.0, x == x, max(y, f32(1)), t + x)\n")

    def test_arguments(self):
        path = self.root / "numbers.hia"
        path.write_text(self.PROGRAM)
        right = {"nan": ["nan", "nan", "false", "false"], "inf": ["nan", "nan", "false", "true"],
                 "-inf": ["nan", "nan", "true", "true"]}
        for x, expected in right.items():
            outputs = set()
            for executor in ("production", "flow", "reference", "expanding"):
                for workers in (1, 2):
                    outputs.add(self.succeeds("run", path, f"--x={x}", f"--y={x}", f"--t=[{x}, 1.0]",
                                              f"--executor={executor}", f"--workers={workers}"))
            self.assertEqual(len(outputs), 1, outputs)
            self.assertEqual(outputs.pop().splitlines()[:4], expected)

    def test_what_no_integer_can_hold(self):
        path = self.root / "cast.hia"
        path.write_text("fn main(x: f64) -> i64 = i64(x)\n")
        for x in ("nan", "inf", "-inf", "1e300"):
            self.fails("invalid cast", "run", path, f"--x={x}")
        self.fails("expected a value of type i64", "run", "fact.hia", "--n=nan", status=2)

    def test_settings(self):
        model = [ROOT / "models/treernn.hia", "--size=d=2", "--train-trees=20", "--dev-trees=5"]
        for option in ("lr", "momentum", "l2", "clip", "decay"):
            for number in ("nan", "inf", "-inf", "-1"):
                schedule = ["--schedule=step"] if option == "decay" else []
                optimizer = ["--optimizer=sgd"] if option == "momentum" else []
                self.fails("expected", "train", *model, *schedule, *optimizer, f"--{option}={number}", status=2)
        self.assertFalse((self.root / "checkpoints").exists())

    def test_options(self):
        most = 2**64 - 1
        for option, found, expected in (("--seed", most + 1, f"a number from 0 to {most}"), ("--seed", -1, f"a number from 0 to {most}"),
                                        ("--seed", "010", "a number without leading zeros"), ("--seed", "1.5", "a whole number"),
                                        ("--max-frames", most + 1, f"a number from 0 to {most}"), ("--max-frames", 0, "a number above 0")):
            self.fails(f"{option}: expected {expected}, found '{found}'", "run", "fact.hia", "--n=3", f"{option}={found}", status=2)
        self.fails("--lr: expected a number, found 'fast'", "train", ROOT / "models/treernn.hia", "--lr=fast", status=2)

    def test_labels(self):
        for label in ("nan", "inf", "-1", "1e3", "0x1", "99999999999999999999"):
            path = self.root / "labels.txt"
            path.write_text(f"({label} good)\n")
            self.fails("labels.txt:1:2: error: expected a label", "train", ROOT / "models/treernn.hia", "--data", path)

    def test_training_that_diverges_keeps_what_was_written(self):
        words = [ROOT / "models/treernn.hia", "--size=d=2", "--train-trees=20", "--dev-trees=5", "--optimizer=sgd"]
        self.fails("diverged", "train", *words, "--lr=1e38", "--epochs=50", "--out=diverged")
        for path in (self.root / "diverged").glob("*.safetensors"):
            self.assertIn("tree 1", self.succeeds("predict", path, "--generate=1"))


class Paths(HostileTest):
    def test_directories_in_the_place_of_files(self):
        model = self.model("model", "treernn.hia", "--size=d=2")
        treernn = ROOT / "models/treernn.hia"
        few = ["--size=d=2", "--train-trees=20", "--dev-trees=5", "--epochs=1"]
        cannot_read = "cannot read 'directory': Is a directory"
        cannot_write = "cannot write 'directory': Is a directory"
        for words in (["run", "directory"], ["check", "directory"], ["graph", "directory"], ["trace", "directory"],
                      ["watch", "directory"], ["train", "directory"], ["train", treernn, "--data=directory"],
                      ["train", treernn, "--data=small.txt", "--dev=directory"], ["predict", model, "--data=directory"],
                      ["eval", model, "--data=directory"]):
            self.fails(cannot_read, *words)
        for words in (["graph", "fact.hia", "--out=directory"], ["run", "fact.hia", "--n=3", "--events=directory"],
                      ["trace", "fact.hia", "--n=3", "--out=directory"], ["run", "fact.hia", "--n=3", "--trace=directory"],
                      ["watch", "fact.hia", "--n=3", "--out=directory"]):
            self.fails(cannot_write, *words)
        self.fails("cannot write 'none/trace.json': No such file or directory", "run", "fact.hia", "--n=3", "--trace=none/trace.json")
        self.fails(cannot_write, "train", treernn, *few, "--trace=directory", "--out=traced")
        self.fails(cannot_read, "run", "fact.hia", "--n=@directory", status=2)
        for words in (["predict", "directory", "--data=small.txt"], ["eval", "directory"],
                      ["run", "fact.hia", "--n=3", "--checkpoint=directory"]):
            self.fails("expected the directory of a training run, .* found no 'directory/model.json'", *words)
        self.fails("cannot read 'directory/model.json': No such file or directory", "train", "--resume",
                   "--out=directory")
        for name in ("best.safetensors", "vocabulary.txt", "model.json", "model.hia"):
            copy = self.root / "copy"
            shutil.copytree(model, copy)
            (copy / name).unlink()
            (copy / name).mkdir()
            self.fails(f"cannot read '.*{name}': Is a directory", "predict", "copy", "--data=small.txt")
            self.fails(f"cannot read '.*{name}': Is a directory", "run", "fact.hia", "--n=3", "--checkpoint=copy")
            shutil.rmtree(copy)


class Outputs(HostileTest):
    def commands(self):
        """Every command, with the files that it has to leave behind."""
        model = self.model("told", "treernn.hia", "--size=d=2")
        return {"run fact.hia --n=3": [], "run fact.hia --n=3 --json --stats": [],
                "run fact.hia --n=3 --events=events.jsonl": ["events.jsonl"], "run fact.hia --help": [],
                "check fact.hia": [], "graph fact.hia": [], "graph fact.hia --format=json": [],
                "trace fact.hia --n=3 --out=trace.json": ["trace.json"],
                "watch fact.hia --n=3 --out=run.html": ["run.html"], "ops": [], "ops --markdown": [],
                f"train {ROOT}/models/treernn.hia --size=d=2 --train-trees=20 --dev-trees=5 --epochs=1 --out=new": ["new"],
                f"predict {model} --data small.txt": [], f"predict {model} --data small.txt --json": [],
                f"eval {model} --data small.txt": [], "--help": [], "--version": []}

    def bash(self, line):
        return subprocess.run(["bash", "-c", line], cwd=self.root, capture_output=True, text=True, timeout=TIMEOUT_S)

    def remove(self, files):
        for name in files:
            path = self.root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def test_closed_and_full_outputs_are_errors_and_nothing_else_is_lost(self):
        for command, files in self.commands().items():
            for closed in (">&-", ">/dev/full"):
                done = self.bash(f"'{HIATON}' {command} {closed}")
                self.assertEqual(done.returncode, 1, f"{command} {closed}: {done.stderr}")
                self.assertIn("cannot write to standard output", done.stderr)
                self.remove(files)

    def test_without_any_stream_files_hold_what_they_should(self):
        for command, files in self.commands().items():
            self.assertEqual(self.bash(f"'{HIATON}' {command} <&- >&- 2>&-").returncode, 1, command)
            for name in files:
                path = self.root / name
                self.assertTrue(path.is_dir() or path.read_bytes()[:1] in (b"{", b"<"), command)
            self.remove(files)
        done = self.bash(f"'{HIATON}' predict told <&-")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read '/dev/stdin'", done.stderr)

    def test_a_reader_that_leaves(self):
        broken = 141  # 128 + SIGPIPE: as other commands in a pipe end
        for command, files in self.commands().items():
            done = self.bash(f"'{HIATON}' {command} 2>&1 | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}")
            self.assertIn(done.returncode, (0, 1) if command.startswith("train") else (0, broken), command)
            self.remove(files)


if __name__ == "__main__":
    harness.main(globals(), nodes="of the large trees")
