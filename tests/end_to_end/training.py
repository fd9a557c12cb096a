#!/usr/bin/env python3
"""Tests of train, predict and eval of trees from outside, with a bag of words for a model."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import tempfile
import unittest

import harness

HIATON = "hiaton"
TIMEOUT_S = 120

# The scores of a node are the sum of the rows of the words below it.
MODEL = """
size vocab = 1
size classes = 2
data Tree = Leaf(label: i64, word: i64) | Node(label: i64, children: List[Tree])
param E: f32[vocab, classes] = zeros
param b: f32[classes] = zeros
data Scored = Scored(p: f32[classes], children: List[Scored])

fn cost(scores: f32[classes], label: i64) -> f32 = if label < 0 then 0.0 else cross_entropy(scores + b, label)

fn score(t: Tree) -> (f32[classes], f32, Scored) =
  match t
    Leaf(label, word) -> (E[word], cost(E[word], label), Scored(softmax(E[word] + b), Nil))
    Node(label, children) ->
      let (scores, costs, below) = score_all(children)
      (scores, costs + cost(scores, label), Scored(softmax(scores + b), below))

fn score_all(trees: List[Tree]) -> (f32[classes], f32, List[Scored]) =
  match trees
    Nil -> (zeros_like(b), 0.0, Nil)
    Cons(first, rest) ->
      let (scores, costs, scored) = score(first)
      let (more_scores, more_costs, more) = score_all(rest)
      (scores + more_scores, costs + more_costs, Cons(scored, more))

fn loss(t: Tree) -> f32 =
  let (_, costs, _) = score(t)
  costs

fn predict(t: Tree) -> Scored =
  let (_, _, scored) = score(t)
  scored
"""

REVIEWS = "(1 (1 good) (_ film))\n(0 (0 bad) (_ film))\n(1 (1 good) (_ plot))\n(0 (0 bad) (_ plot))\n"


class TrainingTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.model = self.file("bow.hia", MODEL)
        self.data = self.file("train.txt", REVIEWS * 5)
        self.dev = self.file("dev.txt", REVIEWS)

    def file(self, name, text):
        path = self.root / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def hiaton(self, *words, **options):
        return subprocess.run([HIATON, *map(str, words)], capture_output=True, text=True, cwd=self.root,
                              timeout=TIMEOUT_S, **options)

    def succeeds(self, *words, **options):
        done = self.hiaton(*words, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def fails(self, status, part, *words, **options):
        done = self.hiaton(*words, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(part, done.stderr)
        self.assertEqual(done.stdout, "")

    def train(self, *words, out="out", epochs=5):
        return self.succeeds("train", self.model, "--data", self.data, "--dev", self.dev, "--epochs", epochs,
                             "--lr=0.1", "--batch=4", "--out", out, *words)

    def log(self, out="out"):
        lines = [json.loads(line) for line in (self.root / out / "log.jsonl").read_text().splitlines()]
        return [{key: value for key, value in line.items() if "second" not in key} for line in lines]


class Train(TrainingTest):
    def test_trains_and_says_what_came_out(self):
        done = self.train()
        self.assertIn("best epoch", done.stdout)
        self.assertIn("root 100.0%, all nodes 100.0%", done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 5, "one line an epoch where stderr is no terminal")
        files = {path.name for path in (self.root / "out").iterdir() if "tfevents" not in path.name}
        self.assertEqual(files, {"best.safetensors", "last.safetensors", "curve.svg", "log.jsonl", "settings.json",
                                 "model.hia", "model.json", "vocabulary.txt"})
        self.assertEqual((self.root / "out/vocabulary.txt").read_text(), "<unk>\ngood\nfilm\nbad\nplot\n")

    def test_shows_a_bar_on_a_terminal(self):
        try:
            parent, child = pty.openpty()
        except OSError as error:
            self.skipTest(str(error))
        process = subprocess.Popen([HIATON, "train", self.model, "--data", self.data, "--epochs=2"], cwd=self.root,
                                   stdout=subprocess.DEVNULL, stderr=child)
        os.close(child)
        shown = b""
        try:
            while chunk := os.read(parent, 4096):
                shown += chunk
        except OSError:
            pass  # the other end is closed
        os.close(parent)
        self.assertEqual(process.wait(timeout=TIMEOUT_S), 0)
        self.assertRegex(shown.decode(), r"epoch 1/2 \[#+-*\] +\d+%  loss [0-9.]+  [0-9.]+ examples/s  \d+:\d\d left")

    def test_goes_to_a_directory_of_its_name(self):
        self.succeeds("train", "bow.hia", "--data", self.data, "--epochs=1")
        self.assertTrue((self.root / "checkpoints/bow/best.safetensors").exists())

    def test_every_optimizer_and_schedule(self):
        for number, words in enumerate((["--optimizer=sgd", "--momentum=0.9"], ["--optimizer=adagrad", "--l2=1e-4"],
                                        ["--optimizer=rmsprop", "--rho=0.95", "--momentum=0.5"],
                                        ["--optimizer=adamw", "--weight-decay=0.02", "--beta1=0.8", "--beta2=0.99", "--epsilon=1e-6"],
                                        ["--clip=0.5", "--schedule=cosine", "--warmup=2"], ["--schedule=step", "--decay-every=2"])):
            done = self.train(*words, out=f"out{number}")
            self.assertIn("all nodes 100.0%", done.stdout, words)

    def test_generated_data_is_the_default(self):
        done = self.succeeds("train", self.model, "--train-trees=50", "--dev-trees=20", "--epochs=1", "--max-depth=2",
                             "--operators=MAX,MIN")
        self.assertIn("best epoch 1", done.stdout)
        self.succeeds("eval", "checkpoints/bow")
        self.assertEqual(self.succeeds("predict", "checkpoints/bow", "--generate=3").stdout.count("tree "), 3)

    def test_stops_early(self):
        self.assertIn("stopped early", self.train("--patience=2", epochs=100).stdout)

    def test_rare_words_are_unknown(self):
        self.file("train.txt", REVIEWS + "(1 rare)\n")
        self.train("--min-count=2")
        self.assertEqual((self.root / "out/vocabulary.txt").read_text(), "<unk>\ngood\nfilm\nbad\nplot\n")

    def test_names_the_bad_line(self):
        self.file("train.txt", REVIEWS + "(1 (1 good)\n" + REVIEWS)
        self.fails(1, "train.txt:5:12: error: expected ')'", "train", self.model, "--data", "train.txt")
        self.file("dev.txt", "(2 good)\n")
        self.file("train.txt", REVIEWS)
        self.fails(1, "dev.txt:1:2: error: expected a label from 0 to 1", "train", self.model, "--data", "train.txt",
                   "--dev", "dev.txt")

    def test_wrong_options(self):
        self.fails(2, "expected a MODEL", "train")
        self.fails(2, "--size: expected a name and a number above 0 such as d=128, found 'd='", "train", self.model,
                   "--size", "d=")
        self.fails(2, "--size: 'd' is given twice", "train", self.model, "--size", "d=1", "--size", "d=2")
        self.fails(2, "--optimizer", "train", self.model, "--optimizer=adan")
        self.fails(2, "epochs: expected 1 or more, found 0", "train", self.model, "--epochs=0")
        self.fails(1, "the program has no size 'k'", "train", self.model, "--size", "k=1")
        self.fails(1, "cannot read", "train", "none.hia")
        self.fails(1, "expected an operator", "train", self.model, "--operators=XOR")
        self.assertFalse((self.root / "checkpoints").exists(), "nothing is written before training begins")

    def test_options_that_change_nothing(self):
        for words, wanted in ((["--momentum=0.9"], "--optimizer=sgd or rmsprop"),
                              (["--rho=0.9", "--optimizer=sgd"], "--optimizer=rmsprop"),
                              (["--weight-decay=0.1"], "--optimizer=adamw"),
                              (["--beta1=0.5", "--optimizer=sgd"], "--optimizer=adam or adamw"),
                              (["--beta2=0.5", "--optimizer=adagrad"], "--optimizer=adam or adamw"),
                              (["--epsilon=0.5", "--optimizer=sgd"], "--optimizer=adagrad or adam or rmsprop or adamw"),
                              (["--decay=0.9"], "--schedule=step or exponential"),
                              (["--decay-every=2", "--schedule=cosine"], "--schedule=step or exponential"),
                              (["--parts=3", "--batching=on"], "--batching=deterministic"),
                              (["--train-trees=5"], "generated trees, without --data"),
                              (["--operators=MAX"], "generated trees, without --data"),
                              (["--data=listops", "--stream"], "--data=FILE")):
            data = [] if words[0].startswith("--data") else ["--data", self.data]
            option = words[-1 if "--stream" in words else 0].split("=")[0]
            self.fails(2, f"{option} changes nothing here: it goes with {wanted}", "train", self.model, *data, *words)
        for words in (["--trace-depth=3"], ["--trace-events=3"]):
            self.fails(2, "requires --trace", "train", self.model, "--data", self.data, *words)
        self.fails(1, "score: expected examples to evaluate on (--dev)", "train", self.model, "--data", self.data, "--score=root")
        self.train()
        self.fails(2, "--data-seed changes nothing here: it goes with --generate", "predict", "out", "--data-seed=2")
        self.fails(2, "--data changes nothing here", "predict", "out", "--generate=2", "--data", self.data)
        self.fails(2, "--momentum changes nothing here", "train", "--resume", "--out", "out", "--momentum=0.5")

    def test_never_overwrites_another_training(self):
        self.train()
        before = (self.root / "out/best.safetensors").read_bytes()
        self.fails(1, "expected a directory without checkpoints", "train", self.model, "--data", self.data, "--out",
                   "out", "--size", "vocab=9")
        self.assertEqual((self.root / "out/best.safetensors").read_bytes(), before)
        self.assertNotIn('"vocab"', (self.root / "out/model.json").read_text())


class Resume(TrainingTest):
    WORDS = ["--train-trees=400", "--dev-trees=50", "--batch=5", "--clip=1"]

    def test_an_interrupted_run_goes_on_to_the_same_numbers(self):
        process = subprocess.Popen([HIATON, "train", self.model, *self.WORDS, "--epochs=1000000", "--out=parts"],
                                   cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stderr.readline()  # the first epoch is done
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("--resume --out parts", errors)
        epochs = f"--epochs={len(self.log('parts')) + 3}"
        self.succeeds("train", "--resume", "--out=parts", epochs)
        self.succeeds("train", self.model, *self.WORDS, epochs, "--out=whole")
        self.assertEqual(self.log("parts"), self.log("whole"))
        self.assertEqual((self.root / "parts/best.safetensors").read_bytes(),
                         (self.root / "whole/best.safetensors").read_bytes())

    def test_more_epochs(self):
        self.train(out="whole")
        self.train(out="parts", epochs=2)
        self.succeeds("train", "--resume", "--out=parts", "--epochs=5")
        self.assertEqual(self.log("parts"), self.log("whole"))

    def test_how_the_model_is_executed_stands_in_the_directory(self):
        self.train("--workers=2", "--batching=deterministic")
        info = self.root / "out/model.json"
        self.assertEqual(json.loads(info.read_text())["execution"], {"workers": 2, "batching": "deterministic", "parts": 2})
        info.write_text(info.read_text().replace("deterministic", "sometimes"))
        self.fails(1, "expected one of on, off, deterministic, found 'sometimes'", "train", "--resume", "--out=out")

    def test_what_does_not_fit(self):
        self.train()
        self.fails(1, "batch: 4, now 7", "train", "--resume", "--out=out", "--batch=7")
        self.fails(2, "--min-count cannot change with --resume", "train", "--resume", "--out=out", "--min-count=3")
        self.fails(2, "expected --out DIR or a MODEL", "train", "--resume")
        self.fails(1, "cannot read", "train", "--resume", "--out=elsewhere")
        self.file("train.txt", REVIEWS)
        self.fails(1, "expected the examples that training began with", "train", "--resume", "--out=out")
        self.file("bow.hia", MODEL + "# changed\n")
        self.fails(1, "expected the model that training began with", "train", self.model, "--resume", "--out=out")

    def test_data_may_move(self):
        self.train()
        (self.root / "train.txt").rename(self.root / "moved.txt")
        self.fails(1, "cannot read", "train", "--resume", "--out=out")
        self.succeeds("train", "--resume", "--out=out", "--data=moved.txt", "--epochs=6")

    def test_a_damaged_checkpoint_is_an_error(self):
        self.train()
        last = self.root / "out/last.safetensors"
        last.write_bytes(last.read_bytes()[:-5])
        self.fails(1, "the file is cut off", "train", "--resume", "--out=out")


class Predict(TrainingTest):
    def setUp(self):
        super().setUp()
        self.train(epochs=30)

    def test_draws_trees_from_standard_input(self):
        done = self.succeeds("predict", "out", input="(0 (_ good) (_ (_ film) (_ nice)))\n(1 good)\n")
        shown = re.sub(r"[01] [0-9.]+%", "P", done.stdout)
        self.assertEqual(shown, "tree 1\nP (label 0)\n├─ P  good\n└─ P\n   ├─ P  film\n   └─ P  nice\n"
                                "\ntree 2\nP  good\n")

    def test_json_has_a_line_for_each_tree(self):
        self.file("more.txt", "(1 (_ good) (0 bad))\n(_ bad)\n")
        lines = [json.loads(line) for line in self.succeeds("predict", "out", "--data=more.txt", "--json").stdout.splitlines()]
        self.assertEqual(len(lines), 2)
        nodes = lines[0]["nodes"]
        self.assertEqual([node.get("label") for node in nodes], [1, None, 0])
        self.assertEqual([node.get("word") for node in nodes], [None, "good", "bad"])
        self.assertEqual(nodes[0]["children"], [1, 2])
        self.assertEqual([nodes[1]["class"], nodes[2]["class"]], [1, 0])
        self.assertAlmostEqual(sum(nodes[0]["probabilities"]), 1, places=5)

    def test_takes_one_checkpoint(self):
        for name in ("best", "last"):
            self.succeeds("predict", f"out/{name}.safetensors", input="(_ good)\n")

    def test_deep_trees(self):
        depth = 20000
        text = "(1 " * depth + "(0 bad)" + ")" * depth + "\n"
        done = self.succeeds("predict", "out", input=text)
        self.assertEqual(done.stdout.count("\n"), depth + 2)
        self.assertLess(len(done.stdout), 300 * depth)
        self.assertEqual(len(json.loads(self.succeeds("predict", "out", "--json", input=text).stdout)["nodes"]), depth + 1)

    def test_errors(self):
        self.fails(1, "no such checkpoint", "predict", "none", input="")
        self.fails(1, "/dev/stdin: expected trees, found none", "predict", "out", input="")
        self.fails(1, "/dev/stdin:1:4: error: expected a word or a subtree", "predict", "out", input="(1 )\n")
        self.fails(2, "--generate", "predict", "out", "--generate=2")
        (self.root / "out/vocabulary.txt").write_text("good\n")
        self.fails(1, "vocabulary.txt:1:1: error: expected '<unk>'", "predict", "out", input="(_ good)\n")
        (self.root / "out/vocabulary.txt").write_text("<unk>\ngood\n")
        self.fails(1, "expected f32[2, 2], found f32[5, 2]", "predict", "out", input="(_ good)\n")
        (self.root / "out/model.json").write_text("{}")
        self.fails(1, "model.json: expected a field 'classes', found none", "predict", "out", input="(_ good)\n")


class Eval(TrainingTest):
    def test_measures_on_dev_and_on_files(self):
        self.train()
        self.assertIn("root accuracy  100.00% of 4 roots\nall accuracy   100.00% of 8 nodes",
                      self.succeeds("eval", "out").stdout)
        wrong = self.file("wrong.txt", "(0 good)\n(1 good)\n")
        report = json.loads(self.succeeds("eval", "out", "--data", wrong, "--json").stdout)
        self.assertEqual((report["trees"], report["root_accuracy"], report["nodes"]), (2, 0.5, 2))
        self.assertEqual(report["loss"] > 0.5, True)
        self.assertIn("none of 0 labelled roots", self.succeeds("eval", "out", "--data=-", input="(_ good)\n").stdout)

    def test_needs_trees(self):
        self.succeeds("train", self.model, "--data", self.data, "--epochs=1")
        self.fails(2, "trained without --dev", "eval", "checkpoints/bow")


if __name__ == "__main__":
    harness.main(globals())
