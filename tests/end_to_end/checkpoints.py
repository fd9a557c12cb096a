#!/usr/bin/env python3
"""Tests of programs that run with what training learned."""

import json
import pathlib

import harness
from harness import CommandLineTest, hiaton

HIATON = "hiaton"


class Checkpoints(CommandLineTest):
    MODEL = ("size d = 2\nsize vocab = 10\nsize classes = 2\nsize depth = 3\n"
             "data Tree = Leaf(label: i64, word: i64) | Node(label: i64, left: Tree, right: Tree)\n"
             "data Scored = One(p: f32[classes]) | Two(p: f32[classes], left: Scored, right: Scored)\n"
             "param E: f32[vocab, d]\nparam V: f32[d, classes]\n"
             "fn encode(t: Tree) -> f32[d] = match t\n"
             "  Leaf(_, word) -> E[word]\n  Node(_, left, right) -> encode(left) + encode(right)\n"
             "fn label(t: Tree) -> i64 = match t\n  Leaf(label, _) -> label\n  Node(label, _, _) -> label\n"
             "fn loss(t: Tree) -> f32 = cross_entropy(encode(t) @ V, label(t))\n"
             "fn predict(t: Tree) -> Scored =\n  let p = softmax(encode(t) @ V)\n  match t\n"
             "    Leaf(_, _) -> One(p)\n    Node(_, left, right) -> Two(p, predict(left), predict(right))\n"
             "fn main(t: Tree) -> (f32[classes], i64) = (softmax(encode(t) @ V), depth)\n")
    TREE = "--t=Node(-1, Leaf(-1, 1), Leaf(-1, 2))"

    def setUp(self):
        super().setUp()
        self.model = self.file(self.MODEL, "model.hia")
        trees = self.file("(1 (1 good) (1 film))\n(0 (0 bad) (0 film))\n" * 10, "trees.txt")
        self.out = str(pathlib.Path(self.directory.name) / "out")
        done = hiaton("train", self.model, "--data", trees, "--dev", trees, "--size=d=3", "--epochs=3", "--batch=5",
                      "--out", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_runs_main_with_what_was_learned(self):
        done = hiaton("predict", self.out, "--json", input="(_ (_ good) (_ film))\n")
        expected = json.loads(done.stdout)["nodes"][0]["probabilities"]
        for words in ([self.model, "--checkpoint", self.out], [f"--checkpoint={self.out}"],
                      [f"--checkpoint={self.out}/best.safetensors", "--size=d=3", "--executor=reference"]):
            done = hiaton("run", *words, self.TREE, "--json")
            found, depth = json.loads(done.stdout)["results"]
            self.assertEqual(depth, 3)
            for p, q in zip(found, expected, strict=True):
                self.assertAlmostEqual(p, q, places=5, msg=words)
        last = hiaton("run", f"--checkpoint={self.out}/last.safetensors", self.TREE)
        self.assertEqual(last.returncode, 0, last.stderr)
        self.assertIn("--t=Tree", hiaton("run", f"--checkpoint={self.out}", "--help").stdout)

    def test_a_trace_and_a_page_too(self):
        run = hiaton("run", f"--checkpoint={self.out}", self.TREE)
        for command in ("trace", "watch"):
            done = hiaton(command, f"--checkpoint={self.out}", self.TREE, f"--out={self.directory.name}/written")
            self.assertEqual((done.returncode, done.stdout), (0, run.stdout), done.stderr)

    def test_other_programs_take_what_they_share(self):
        part = self.file("size d = 7\nsize vocab = 1\nsize rows = 4\nparam E: f32[vocab, d]\n"
                         "fn main() -> (i64, i64, i64, f32) = (d, vocab, rows, sum(E))\n")
        done = hiaton("run", part, f"--checkpoint={self.out}", "--size=rows=5")
        self.assertEqual(done.stdout.splitlines()[:3], ["3", "4", "5"], done.stderr)
        saved = str(pathlib.Path(self.directory.name) / "saved.json")
        hiaton("graph", part, "--size=d=3", "--size=vocab=4", "--format=json", f"--out={saved}")
        self.assertEqual(hiaton("run", saved, f"--checkpoint={self.out}").stdout.splitlines()[3],
                         done.stdout.splitlines()[3])
        more = self.file("size d = 3\nparam E: f64[4, d]\nparam b: f32[d]\nparam V: f32[d]\n"
                         "fn main() -> f32 = f32(sum(E)) + sum(b) + sum(V)\n")
        self.assert_fails(hiaton("run", more, f"--checkpoint={self.out}"), 1,
                          "best.safetensors: expected all parameters of the program, found others\n",
                          "'E': expected f64[4, 3], found f32[4, 3]", "'b': expected f32[3], found none",
                          "'V': expected f32[3], found f32[3, 2]")

    def test_keeps_the_files_that_the_model_imports(self):
        first, rest = self.MODEL.split("fn main", 1)
        files = [self.file(first, "parts.hia"), self.file('import "parts.hia"\nfn main' + rest, "whole.hia")]
        trees = self.file("(1 (1 good) (1 film))\n(0 (0 bad) (0 film))\n" * 10, "trees.txt")
        out = str(pathlib.Path(self.directory.name) / "of_files")
        done = hiaton("train", files[1], "--data", trees, "--size=d=3", "--epochs=1", "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        for file in files:
            pathlib.Path(file).unlink()
        done = hiaton("run", f"--checkpoint={out}", self.TREE)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = hiaton("train", "--resume", "--out", out, "--epochs=2")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_does_not_fit(self):
        run = ("run", self.model, self.TREE)
        self.assert_fails(hiaton(*run, f"--checkpoint={self.out}", "--size=d=4"), 2,
                          "--size: expected d=3, as in the training of the checkpoint, found d=4")
        self.assert_fails(hiaton(*run, f"--checkpoint={self.out}", "--size=depth=4"), 2, "expected depth=3")
        self.assert_fails(hiaton(*run, f"--checkpoint={self.out}", "--size=k=4"), 1, "the program has no size 'k'")
        self.assert_fails(hiaton(*run, f"--checkpoint={self.out}", "--seed=4"), 2, "--seed: expected no --checkpoint")
        self.assert_fails(hiaton(*run, "--checkpoint=/nonexistent"), 1, "there is no such checkpoint")
        self.assert_fails(hiaton(*run, f"--checkpoint={self.directory.name}"), 1,
                          "expected the directory of a training run", "model.json', which 'hiaton train' writes")
        best = pathlib.Path(self.out) / "best.safetensors"
        best.write_bytes(best.read_bytes()[:-5])
        self.assert_fails(hiaton(*run, f"--checkpoint={self.out}"), 1, "best.safetensors: ", "the file is cut off")

    def test_a_program_is_no_checkpoint(self):
        for words in (["predict", self.model, "--data=trees.txt"], ["eval", self.model],
                      ["run", self.model, f"--checkpoint={self.model}", self.TREE]):
            self.assert_fails(hiaton(*words), 1, f"expected a checkpoint, found '{self.model}', which is a program; "
                              f"'hiaton train {self.model}' makes one, the directory 'checkpoints/model'")
        self.assert_fails(hiaton("predict", f"{self.out}/model.hia"), 1, f"the checkpoint is its directory '{self.out}'")


if __name__ == "__main__":
    harness.main(globals())
