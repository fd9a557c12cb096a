#!/usr/bin/env python3
"""Tests of training on examples of any kind, from outside: train, eval and predict, alone and in several processes."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import harness
from harness import CommandLineTest, hiaton

HIATON = "hiaton"

SYNTAX = """size vocab = 3
size d = 4
data Ast = Node(kind: i64, children: List[Ast])
param E: f32[vocab, d]
param V: f32[d, 2]
fn encode(t: Ast) -> f32[d] = match t
  Node(kind, children) -> tanh(E[kind] + fold(fn(sum, child) -> sum + encode(child), f32(zeros(d)), children))
fn loss(t: Ast, label: i64, seed: i64) -> f32 = cross_entropy(dropout(encode(t), 0.1, seed) @ V, label)
fn predict(t: Ast) -> (i64, f32[2]) =
  let p = softmax(encode(t) @ V)
  (if p[1] > p[0] then 1 else 0, p)
data Metrics = Metrics(accuracy: bool, entropy: f32)
fn metrics(t: Ast, label: i64) -> Metrics =
  let (found, p) = predict(t)
  Metrics(found == label, 0.0 - sum(p * log(p)))
fn main(t: Ast) -> i64 = (let (found, _) = predict(t) in found)
"""
LINE = """param w: f32[2]
param b: f32[1]
fn predict(x: f32[2]) -> f32 = sum(w * x) + b[0]
fn loss(x: f32[2], y: f32) -> f32 = (predict(x) - y) * (predict(x) - y)
fn main(x: f32[2]) -> f32 = predict(x)
"""


def tree(*kinds):
    return ["Node", kinds[0], [tree(kind) for kind in kinds[1:]]]


def lines(count=60):
    """Trees with a 'Return' have label 1."""
    for i in range(count):
        kinds = ["Def", "Name", ["Return", "Pass"][i % 2], ["Call", "If", "For"][i % 3]]
        yield json.dumps({"t": tree(*kinds), "label": 1 - i % 2}) + "\n"


class AnyData(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.model = self.file(SYNTAX, "syntax.hia")
        self.data = self.file("".join(lines()), "data.jsonl")
        self.root = pathlib.Path(self.directory.name)

    def train(self, out, *words, model=None, data=None):
        done = hiaton("train", model or self.model, "--data", data or self.data, "--lr=0.05", "--batch=5", "--out",
                      str(self.root / out), *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def succeeds(self, *words, **options):
        done = hiaton(*map(str, words), **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_learns_and_says_so(self):
        done = self.train("out", "--dev=20%", "--epochs=4")
        self.assertRegex(done.stdout, r"best epoch \d: dev loss 0\.\d+, accuracy 100\.0%, entropy 0\.")
        self.assertRegex(done.stderr, r"epoch 4/4  loss [0-9.]+  dev loss [0-9.]+  accuracy 100\.0%  entropy 0\.\d+")
        out = self.root / "out"
        self.assertEqual((out / "vocabulary.txt").read_text().split("\n")[:3], ["<unk>", "Def", "Name"])
        shown = self.succeeds("eval", out)
        self.assertRegex(shown, r"^examples +\d+\nloss +0\.\d+\naccuracy +100\.00%\nentropy +0\.\d+\n$")
        report = json.loads(self.succeeds("eval", out, "--data", self.data, "--json"))
        self.assertEqual((report["examples"], report["metrics"]["accuracy"]), (60, 1.0))
        # What predict takes stands alone, or with what loss takes behind it.
        expected = "".join(f"{1 - i % 2}" for i in range(60))
        whole = self.succeeds("predict", out, "--data", self.data)
        self.assertEqual("".join(line.split(" | ")[0] for line in whole.splitlines()), expected)
        alone = "".join(json.dumps(json.loads(line)["t"]) + "\n" for line in lines())
        self.assertEqual(self.succeeds("predict", out, input=alone), whole)
        first = json.loads(self.succeeds("predict", out, "--json", input=alone).splitlines()[0])
        self.assertEqual(first[0], 1)
        self.assertAlmostEqual(sum(first[1]), 1, places=5)
        # Words that training has not seen are unknown, in main they are numbers.
        self.succeeds("predict", out, input='Node("Never", [])\n')
        self.assertEqual(self.succeeds("run", f"--checkpoint={out}", '--t=["Node", 1, [["Node", 3, []]]]').strip(), "1")

    def test_columns_are_the_same_data_as_lines(self):
        digits, lenet = self.root / "digits", str(harness.ROOT / "models/lenet.hia")
        subprocess.run([sys.executable, str(harness.ROOT / "examples/digits.py"), "40", str(digits)], check=True)
        image, digit = [(digits / f"{name}.npy").read_bytes()[128:] for name in ("image", "digit")]
        rows = ([list(image[at : at + 28]) for at in range(784 * i, 784 * (i + 1), 28)] for i in range(40))
        as_lines = self.file("".join(json.dumps([row, digit[i]]) + "\n" for i, row in enumerate(rows)), "digits.jsonl")
        words = ["--epochs=2", "--dev=20%", "--batching=deterministic"]
        self.train("columns", *words, "--parts=1", model=lenet, data=str(digits))
        self.train("lines", *words, "--parts=1", model=lenet, data=as_lines)
        self.assert_same_parameters("columns", "lines")
        self.train("process", *words, model=lenet, data=str(digits))
        self.train("processes", *words, "--processes=2", model=lenet, data=str(digits))
        self.assert_same_parameters("process", "processes")
        shown = self.succeeds("predict", self.root / "columns", "--data", digits / "image.npy")
        self.assertEqual(shown, self.succeeds("predict", self.root / "lines", "--data", as_lines))
        self.assertEqual(len(shown.splitlines()), 40)
        self.succeeds("train", "--resume", "--out", self.root / "columns", "--epochs=3")
        self.assertEqual(json.loads(self.succeeds("eval", self.root / "columns", "--data", digits, "--json"))["examples"], 40)
        self.assert_fails(hiaton("train", self.model, "--data", str(digits), "--out", str(self.root / "no")), 1,
                          "t.npy': No such file or directory")

    def test_every_form_is_the_same_data(self):
        form = "".join(f"{json.dumps(json.loads(line)['t'])} | {json.loads(line)['label']}\n" for line in lines())
        self.train("json", "--epochs=2", "--batching=deterministic")
        self.train("bars", "--epochs=2", "--batching=deterministic", data=self.file(form, "data.txt"))
        self.assert_same_parameters("json", "bars")

    def test_processes_train_and_measure_as_one(self):
        words = ["--epochs=3", "--batching=deterministic", "--dev=20%", "--parts=3"]
        self.train("one", *words)
        self.train("two", *words, "--processes=2")
        self.train("three", *words, "--processes=3", "--workers=2")
        self.assert_same_parameters("one", "two", "three")
        out = self.root / "one"
        for command in (["eval", out, "--json"], ["predict", out, "--data", self.data]):
            self.assertEqual(self.succeeds(*command, "--processes=3"), self.succeeds(*command))

    def test_placed_bodies_run_where_they_are_placed(self):
        head = "fn encode(t: Ast) -> f32[d] ="
        self.assertIn(head, SYNTAX)
        model = self.file(SYNTAX.replace(head, head[:-1] + 'on "trees" ='), "placed.hia")
        data = self.file("".join(lines(250)), "more.jsonl")
        self.train("placed", "--epochs=1", "--dev=20%", model=model, data=data)
        for command in (["eval", self.root / "placed", "--json"], ["predict", self.root / "placed", "--data", data]):
            alone = self.succeeds(*command)
            for how in (["--processes=2", "--place=trees=1"], ["--processes=4", "--replicas=2", "--place=trees=1"]):
                self.assertEqual(self.succeeds(*command, *how), alone)

    def test_resumed_it_goes_on_to_the_same_numbers(self):
        self.train("whole", "--epochs=4", "--dev=20%")
        self.train("parts", "--epochs=2", "--dev=20%")
        self.succeeds("train", "--resume", "--out", self.root / "parts", "--epochs=4")
        self.assert_same_parameters("whole", "parts")
        self.file("".join(lines(50)), "data.jsonl")
        self.assert_fails(hiaton("train", "--resume", "--out", str(self.root / "parts"), "--epochs=5"), 1,
                          "expected the examples that training began with, found others")

    def test_regression_from_standard_input_to_a_bare_file_of_parameters(self):
        points = "".join(f"[{i % 5}, {i % 3}] | {2 * (i % 5) - i % 3 + 1}\n" for i in range(30))
        model = self.file(LINE, "line.hia")
        done = hiaton("train", model, "--data=-", "--epochs=60", "--lr=0.1", "--batch=10", "--out", str(self.root / "line"),
                      input=points)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(float(self.succeeds("predict", self.root / "line", input="[2, 5]\n")), 0, delta=0.2)
        bare = self.root / "bare.safetensors"
        bare.write_bytes((self.root / "line/best.safetensors").read_bytes())
        shown = self.succeeds("run", model, f"--checkpoint={bare}", "--x=[2, 5]")
        self.assertAlmostEqual(float(shown), 0, delta=0.2)
        self.assert_fails(hiaton("run", f"--checkpoint={bare}"), 2, "expected a FILE to run", "has parameters alone")
        self.assert_fails(hiaton("run", self.model, f"--checkpoint={bare}", '--t=["Node", 1, []]'), 1,
                          "expected all parameters of the program, found others")

    def test_errors_have_a_place(self):
        bad = self.file("".join(lines(3)) + '{"t": ["Node", "If", [["Nod", 1, []]]], "label": 1}\n', "bad.jsonl")
        for words in (["train", self.model], ["train", self.model, "--dev", bad, "--data", self.data]):
            words += ["--data", bad] if "--data" not in words else []
            self.assert_fails(hiaton(*words, "--out", str(self.root / "none")), 1,
                              "bad.jsonl:4:24: error: expected a value of type Ast (Node), found '\"Nod\"'")
        wrong = self.file("".join(lines(3)) + '{"t": ["Node", "If", []], "label": 7}\n', "wrong.jsonl")
        self.assert_fails(hiaton("train", self.model, "--data", wrong, "--out", str(self.root / "none")), 1,
                          "index out of range", "for the example in line 4 of the data")
        self.train("many", "--epochs=1")
        far = self.file("\n" + "".join(lines(3)) * 50 + '{"t": ["Node", "If", []], "label": 7}\n', "far.jsonl")
        for processes in ([], ["--processes=3"]):
            self.assert_fails(hiaton("eval", str(self.root / "many"), "--data", far, *processes), 1,
                              "for the example in line 152 of the data")
        self.assert_fails(hiaton("train", self.model, "--data", self.data, "--dev=0%"), 1,
                          "--dev: expected a file, or a share above 0% and below 100% such as 10%, found '0%'")
        self.assert_fails(hiaton("train", self.model, "--data", self.data, "--dev=0.1"), 1,
                          "--dev: expected a file, or a share above 0% and below 100% such as 10%, found '0.1'")
        document = self.file("[\n" + ",\n".join(lines(3)) + "]\n", "document.json")
        self.assert_fails(hiaton("train", self.model, "--data", document, "--out", str(self.root / "none")), 1,
                          "document.json:1:", "examples stand one on a line, also in JSON, with no brackets around all of them")
        self.assert_fails(hiaton("train", self.model, "--out", str(self.root / "none")), 1,
                          "--data names a file of examples: without it trees are generated")
        learns_nothing = self.file("fn loss(x: f32) -> f32 = x\n", "nothing.hia")
        self.assert_fails(hiaton("train", learns_nothing, "--data", self.file("1\n", "one.txt"), "--out", str(self.root / "none")), 1,
                          "nothing.hia: expected something to learn, as 'param W: f32[2, 3]', found no learned parameter")
        integer = self.file("fn loss(x: i64) -> i64 = x\n", "integer.hia")
        self.assert_fails(hiaton("train", integer, "--data", self.data), 1,
                          "integer.hia:1:1: error: expected the first result of 'loss'", "found i64")
        for head in ("loss(f: fn(f32) -> f32, x: f32)", "loss[T](x: T)"):
            takes = self.file(f"param w: f32[2]\nfn {head} -> f32 = sum(w)\n", "takes.hia")
            self.assert_fails(hiaton("train", takes, "--data", self.data), 1,
                              "takes.hia:2:1: error: expected a function 'loss' of examples, found one that takes")
        huge = self.root / "huge.jsonl"
        with open(huge, "wb") as file:
            file.truncate(1 << 30)
        self.assert_fails(hiaton("train", self.model, "--data", str(huge), "--out", str(self.root / "none")), 1,
                          "huge.jsonl:1:1: error: expected a line of at most 16 MiB, found 1073741824 bytes")

    def test_a_loss_of_any_size_is_drawn(self):
        model = self.file("param w: f32[1] = ones\nfn loss(x: f64) -> f32 = sum(w * w)\n", "grows.hia")
        done = hiaton("train", model, "--data", self.file("1\n2\n", "two.txt"), "--batch=1", "--optimizer=sgd",
                      "--lr=1e15", "--epochs=1", "--out", str(self.root / "grows"))
        self.assertEqual((done.returncode, "loss 2e+30" in done.stdout), (0, True), done.stderr)
        self.assertLess((self.root / "grows/curve.svg").stat().st_size, 20000)

    def assert_same_parameters(self, *outs):
        found = {(self.root / out / "best.safetensors").read_bytes() for out in outs}
        self.assertEqual(len(found), 1, outs)


    def test_streamed_examples(self):
        words = ["--stream", "--dev=20%", "--batching=deterministic"]
        self.train("kept", *words[1:], "--epochs=4")
        self.train("lines", *words, "--epochs=4")
        kept, lines_ = (json.loads((self.root / out / "log.jsonl").read_text().splitlines()[0]) for out in ("kept", "lines"))
        self.assertEqual(kept["steps"], lines_["steps"])
        self.assertEqual((self.root / "kept/vocabulary.txt").read_text(), (self.root / "lines/vocabulary.txt").read_text())
        self.train("two", *words, "--epochs=4", "--processes=2")
        self.train("parts", *words, "--epochs=2")
        self.assert_fails(hiaton("train", "--resume", "--out", str(self.root / "parts"), "--stream"), 2, "--stream cannot change")
        self.succeeds("train", "--resume", "--out", self.root / "parts", "--epochs=4")
        self.assert_same_parameters("lines", "two", "parts")
        self.assertIn("examples       ", self.succeeds("eval", self.root / "lines"))
        digits, lenet = self.root / "digits", str(harness.ROOT / "models/lenet.hia")
        subprocess.run([sys.executable, str(harness.ROOT / "examples/digits.py"), "40", str(digits)], check=True)
        self.train("columns", *words, "--epochs=2", model=lenet, data=str(digits))
        self.train("columns-parts", *words, "--epochs=1", model=lenet, data=str(digits))
        self.succeeds("train", "--resume", "--out", self.root / "columns-parts", "--epochs=2")
        self.assert_same_parameters("columns", "columns-parts")
        (digits / "digit.npy").write_bytes((digits / "digit.npy").read_bytes()[:-1] + b"\x00")
        self.assert_fails(hiaton("train", "--resume", "--out", str(self.root / "columns-parts"), "--epochs=3"), 1,
                          "expected the examples that training began with, found others")

    def test_streamed_trees(self):
        """They are the trees of the same file in memory: words, classes, those held back, what they are measured as."""
        trees = self.file("".join(f"({i % 3} (_ w{i % 7}) ({i % 2} (1 x) (0 w{i % 5})))\n" for i in range(80)), "trees.txt")
        words = ["--size=d=4", "--dev=20%", "--batching=deterministic", "--min-count=2"]

        def train(out, *more):
            self.train(out, *words, *more, model=str(harness.ROOT / "models/treernn.hia"), data=trees)

        train("kept", "--epochs=4")
        train("lines", "--stream", "--epochs=4")
        kept, lines_ = (json.loads((self.root / out / "log.jsonl").read_text().splitlines()[0]) for out in ("kept", "lines"))
        self.assertEqual(kept["steps"], lines_["steps"])
        self.assertEqual((self.root / "kept/vocabulary.txt").read_text(), (self.root / "lines/vocabulary.txt").read_text())
        train("two", "--stream", "--epochs=4", "--processes=2")
        train("parts", "--stream", "--epochs=2")
        self.succeeds("train", "--resume", "--out", self.root / "parts", "--epochs=4")
        self.assert_same_parameters("lines", "two", "parts")
        for command in (["eval"], ["eval", "--data", trees], ["predict", "--data", trees], ["predict", "--json", "--data", trees]):
            streamed = self.succeeds(command[0], self.root / "lines", *command[1:])
            self.assertEqual(streamed, self.succeeds(command[0], self.root / "lines", *command[1:], "--processes=2"), command)
            settings = self.root / "lines/model.json"
            text = settings.read_text()
            settings.write_text(text.replace('"stream": true', '"stream": false'))
            self.assertNotEqual(text, settings.read_text())
            self.assertEqual(streamed, self.succeeds(command[0], self.root / "lines", *command[1:]), command)
            settings.write_text(text)
        text = pathlib.Path(trees).read_text()
        pathlib.Path(trees).write_text(text.replace("w3", "w4", 1))
        self.assert_fails(hiaton("train", "--resume", "--out", str(self.root / "parts"), "--epochs=5"), 1,
                          "expected the examples that training began with, found others")

    def test_errors_of_streamed_examples_have_a_place(self):
        for line, place in (('{"t": ["Nod", "\u00e4", []], "label": 1}', "bad.jsonl:5:8: error: expected a value of type Ast"),
                            ('{"t": ["Node", "\u00e4", [1]], "label": 1}', "bad.jsonl:5:22: error: expected"),
                            ("x" * (17 << 20), "bad.jsonl:5:1: error: expected a line of at most 16 MiB")):
            bad = self.file("".join(lines(3)) + "\n" + line + "\n", "bad.jsonl")
            for words in (["--data", bad], ["--data", self.data, "--dev", bad]):
                self.assert_fails(hiaton("train", self.model, *words, "--stream", "--out", str(self.root / "no")), 1, place)
        wrong = self.file("".join(lines(3)) + '{"t": ["Node", "If", []], "label": 7}\n', "wrong.jsonl")
        self.assert_fails(hiaton("train", self.model, "--data", wrong, "--stream", "--out", str(self.root / "no")), 1,
                          "index out of range", "for the example in line 4 of the data")
        trees = self.file("(1 (0 a) (1 b))\n\n(1 \u00e4 (1 b))\n", "trees.txt")
        model = str(harness.ROOT / "models/treernn.hia")
        self.assert_fails(hiaton("train", model, "--data", trees, "--stream"), 1,
                          "trees.txt:3:6: error: expected ')' after the word of a leaf, found '('")
        self.assert_fails(hiaton("train", self.model, "--data", self.file("(1 (0 a) (1 b))\n", "trees.txt"), "--stream"), 1,
                          "expected 'loss' to take one tree of a data type")
        self.assert_fails(hiaton("train", self.model, "--data=-", "--stream", input=""), 1, "cannot read")
        empty = self.file("\n", "empty.jsonl")
        self.assert_fails(hiaton("train", self.model, "--data", empty, "--stream"), 1, "expected examples, one a line, found none")

    def test_parameters_of_f64(self):
        model = self.file(LINE.replace("f32", "f64"), "double.hia")
        data = self.file("".join(f"[{i % 5}, {i % 3}] | {2 * (i % 5) - i % 3 + 1}\n" for i in range(30)), "double.txt")
        for rule, *more in (["adam"], ["adagrad"], ["sgd", "--momentum=0.5"], ["rmsprop", "--momentum=0.5"]):
            words = ["--batching=deterministic", "--dev=20%", f"--optimizer={rule}", *more]
            self.train(f"{rule}-whole", *words, "--epochs=4", model=model, data=data)
            self.train(f"{rule}-two", *words, "--epochs=4", "--processes=2", "--workers=2", model=model, data=data)
            self.train(f"{rule}-parts", *words, "--epochs=2", model=model, data=data)
            self.succeeds("train", "--resume", "--out", self.root / f"{rule}-parts", "--epochs=4")
            self.assert_same_parameters(f"{rule}-whole", f"{rule}-two", f"{rule}-parts")
        self.assertIn(b'"dtype":"F64"', (self.root / "adam-whole/best.safetensors").read_bytes())
        shown = self.succeeds("run", model, f"--checkpoint={self.root / 'adam-whole'}", "--x=[2, 5]")
        self.assertEqual(self.succeeds("predict", self.root / "adam-whole", input="[2, 5]\n"), shown)

    def test_labels_of_any_type(self):
        """Two numbers, and a sequence of any length, with metrics of each."""
        pair = self.file("""param w: f32[3, 2]
fn predict(x: f32[3]) -> (f32, f32) = (let y = x @ w in (y[0], y[1]))
fn off(x: f32[3], target: (f32, f32)) -> f32 =
  let (a, b) = predict(x)
  let (c, d) = target
  (a - c) * (a - c) + (b - d) * (b - d)
fn loss(x: f32[3], target: (f32, f32)) -> f32 = off(x, target)
data Metrics = Metrics(near: bool, distance: f32)
fn metrics(x: f32[3], target: (f32, f32)) -> Metrics = Metrics(off(x, target) < 0.01, sqrt(off(x, target)))
""", "pair.hia")
        points = [(i % 3, i % 4, i % 5) for i in range(60)]
        data = self.file("".join(f"[{a}, {b}, {c}] | ({a - b}, {2 * c})\n" for a, b, c in points), "pair.txt")
        done = self.train("pair", "--dev=20%", "--epochs=60", "--score=near", model=pair, data=data)
        self.assertRegex(done.stdout, r"near 100\.0%, distance 0\.0")
        tags = self.file("""size vocab = 2
param E: f32[vocab, 3]
fn cost(words: List[i64], tags: List[i64]) -> f32 = match (words, tags)
  ([word, ..more], [tag, ..others]) -> cross_entropy(E[word], tag) + cost(more, others)
  _ -> 0.0
fn predict(words: List[i64]) -> List[i64] = map(fn(word) -> argmax(E[word], axis=0), words)
fn loss(words: List[i64], tags: List[i64]) -> f32 = cost(words, tags)
fn metrics(words: List[i64], tags: List[i64]) -> bool = predict(words) == tags
""", "tags.hia")
        kinds = ["cat", "sees", "a"]
        sentences = [[kinds[(i + k) % 3] for k in range(i % 4 + 1)] for i in range(40)]
        data = self.file("".join(json.dumps([s, [kinds.index(w) for w in s]]) + "\n" for s in sentences), "tags.jsonl")
        done = self.train("tags", "--dev=20%", "--epochs=30", model=tags, data=data)
        self.assertIn("100.0%", done.stdout)
        shown = self.succeeds("predict", self.root / "tags", "--data", data).splitlines()
        self.assertEqual([json.loads(line) for line in shown], [[kinds.index(w) for w in s] for s in sentences])

    def test_the_best_epoch_is_that_of_the_score_asked_for(self):
        # The loss falls while the number of the metrics rises with each step.
        model = self.file("""param w: f32[1] = ones
fn loss(x: f32) -> f32 = 10.0 - sum(w)
fn metrics(x: f32) -> (f32, bool) = (sum(w), sum(w) < 1.5)
""", "score.hia")
        data = self.file("1\n2\n", "score.txt")
        words = ["--epochs=5", "--optimizer=sgd", f"--dev={data}", "--patience=2"]
        for number, (score, best, epochs) in enumerate((("loss", 5, 5), ("min:metrics[0]", 1, 3), ("metrics[0]", 5, 5), ("metrics[1]", 1, 3))):
            out = self.root / f"score{number}"
            done = self.train(out.name, *words, f"--score={score}", model=model, data=data)
            self.assertIn(f"best epoch {best}:", done.stdout, score)
            self.assertEqual(len((out / "log.jsonl").read_text().splitlines()), epochs, score)
        # A loss that is no number, as that of the first epoch here, is worse than any.
        model = self.file("param w: f32[1] = ones\nfn loss(x: f32) -> f32 = if x < 1.5 then 10.0 - sum(w) else log(sum(w) - 1.075)\n",
                          "nan.hia")
        done = self.train("nan", "--epochs=3", "--optimizer=sgd", f"--dev={self.file('2', 'dev.txt')}", model=model,
                          data=self.file("1\n1\n", "nan.txt"))
        self.assertIn("best epoch 2:", done.stdout)
        self.assertIn("dev loss nan", done.stderr)

    def test_the_score_is_one_that_there_is(self):
        model = self.file("param w: f32[1]\nfn loss(x: f32) -> f32 = sum(w)\nfn metrics(x: f32) -> (f32, bool) = (x, x < 1.5)\n", "score.hia")
        data = self.file("1\n2\n", "score.txt")
        words = ["--epochs=1", f"--dev={data}"]
        self.assert_fails(hiaton("train", model, "--data", data, *words, "--score=f1", "--out", str(self.root / "f1")), 1,
                          "score: expected one of loss, metrics[0], metrics[1], perhaps with 'min:' before it, found 'f1'")


class Signals(CommandLineTest):
    # One step takes many seconds.
    SLOW = "param w: f32[1]\nfn loss(n: i64) -> f32 = if n == 0 then sum(w) else loss(n - 1) * 0.5 + loss(n - 1) * 0.5\n"

    def test_training_ends_within_a_second(self):
        model = self.file(self.SLOW, "slow.hia")
        data = self.file("26\n" * 40, "data.txt")
        for number, sent in enumerate((signal.SIGTERM, signal.SIGINT)):
            out = pathlib.Path(self.directory.name) / f"out{number}"
            process = subprocess.Popen([HIATON, "train", model, "--data", data, "--batch=40", "--out", str(out)],
                                       stderr=subprocess.PIPE, text=True)
            deadline = time.monotonic() + 60
            while not (out / "model.json").exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(0.5)
            os.kill(process.pid, sent)
            begin = time.monotonic()
            _, message = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - begin, 5, "a second where nothing else runs on the machine")
            self.assertEqual(process.returncode, 130, message)
            self.assertIn("interrupted", message)
            self.assertTrue((out / "last.safetensors").exists())


if __name__ == "__main__":
    harness.main(globals())
