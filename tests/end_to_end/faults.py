#!/usr/bin/env python3
"""What training leaves behind when it is killed or interrupted, or when it cannot write: checkpoints that load, and the
numbers of a run that was left alone."""

import json
import math
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIATON = "hiaton"
KILLS = 50
TIMEOUT_S = 300

# Memory where there is such a directory: each checkpoint is synced, and a disk takes its time for that.
DIRECTORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

WORDS = [str(ROOT / "models/treernn.hia"), "--size=d=4", "--max-depth=2", "--dev-trees=10", "--batch=5",
         "--batching=deterministic", "--workers=2"]


def read_safetensors(path):
    """Header and tensors; fails where the file is not whole."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    body = data[8 + length:]
    tensors = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        assert end - begin == 4 * math.prod(tensor["shape"]) and end <= len(body), (path, name)
        tensors[name] = struct.unpack(f"<{(end - begin) // 4}f", body[begin:end])
        assert all(map(math.isfinite, tensors[name])), (path, name)
    assert sum(map(len, tensors.values())) * 4 == len(body), path
    return metadata, tensors


class FaultsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(dir=DIRECTORY)
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)

    def train(self, out, *words, **options):
        return subprocess.run([HIATON, "train", *WORDS, *words, "--out", out], cwd=self.root,
                              capture_output=True, text=True, timeout=TIMEOUT_S, **options)

    def resume(self, out, *words, **options):
        return subprocess.run([HIATON, "train", "--resume", "--out", out, *words], cwd=self.root,
                              capture_output=True, text=True, timeout=TIMEOUT_S, **options)

    def start(self, out, *words):
        """Begins, or goes on where there is a checkpoint."""
        resumes = (self.root / out / "last.safetensors").exists()
        command = ["--resume"] if resumes else [*WORDS, *words]
        return subprocess.Popen([HIATON, "train", *command, "--out", out], cwd=self.root, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def steps_done(self, out):
        """Also sees that every checkpoint is whole."""
        for path in (self.root / out).glob("*.safetensors"):
            metadata, _ = read_safetensors(path)
            if path.name == "last.safetensors":
                steps = json.loads(metadata["hiaton.training"])["progress"]["step"]
        return steps if (self.root / out / "last.safetensors").exists() else 0

    def assert_same_training(self, out, whole):
        for name in ("best.safetensors", "last.safetensors"):
            self.assertEqual(read_safetensors(self.root / out / name)[1], read_safetensors(self.root / whole / name)[1])
        self.assertEqual(self.log(out), self.log(whole))

    def log(self, out):
        lines = [json.loads(line) for line in (self.root / out / "log.jsonl").read_text().splitlines()]
        return [{key: value for key, value in line.items() if "second" not in key} for line in lines]

    def end_many_times(self, out, words, ending, times, longest):
        """Ends training with a signal at random moments, and lets it go on, until it was ended often enough. It
        begins anew where it comes to its end, and has more time where it does not get on."""
        moments = random.Random(20)
        steps = ended = advances = 0
        while ended < times or advances == 0:
            process = self.start(out, *words)
            try:
                _, errors = process.communicate(timeout=moments.uniform(0, longest))
            except subprocess.TimeoutExpired:
                process.send_signal(ending)
                _, errors = process.communicate(timeout=TIMEOUT_S)
            if process.returncode == 0:  # also where the signal came after the last step
                shutil.rmtree(self.root / out)
                steps = 0
                continue
            yield process.returncode, errors
            ended += 1
            done = self.steps_done(out)
            self.assertGreaterEqual(done, steps, "steps of a checkpoint were lost")
            if done > steps:
                advances += 1
            else:
                longest *= 1.2
            steps = done


class Signals(FaultsTest):
    def ends_like_a_run_left_alone(self, ending, times, words, expected):
        begin = time.monotonic()
        self.assertEqual(self.train("whole", *words).returncode, 0)
        longest = (time.monotonic() - begin) / times
        for status, errors in self.end_many_times("parts", words, ending, times, longest):
            self.assertIn(status, expected, errors)
        process = self.start("parts", *words)
        _, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 0, errors)
        self.assert_same_training("parts", "whole")

    def test_killed_with_a_checkpoint_after_each_step(self):
        words = ["--train-trees=200", f"--epochs={KILLS}", "--checkpoint-every=1"]
        self.ends_like_a_run_left_alone(signal.SIGKILL, KILLS, words, {-signal.SIGKILL})

    def test_killed_with_a_checkpoint_after_each_epoch(self):
        words = ["--train-trees=40", f"--epochs={2 * KILLS}"]
        self.ends_like_a_run_left_alone(signal.SIGKILL, KILLS // 2, words, {-signal.SIGKILL})

    def test_interrupted(self):
        # Before it listens to the signal, it ends as any process does.
        words = ["--train-trees=400", f"--epochs={KILLS}"]
        self.ends_like_a_run_left_alone(signal.SIGINT, max(1, KILLS // 5), words, {130, -signal.SIGINT})


class Resumed(FaultsTest):
    EPOCHS = ["--train-trees=40", "--epochs=2"]

    def parameters_of(self, out, *words):
        self.assertEqual(self.train(out, *self.EPOCHS).returncode, 0)
        done = self.resume(out, "--epochs=4", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return read_safetensors(self.root / out / "last.safetensors")[1]

    def test_the_model_is_executed_as_before(self):
        self.assertEqual(self.train("whole", self.EPOCHS[0], "--epochs=4").returncode, 0)
        whole = read_safetensors(self.root / "whole/last.safetensors")[1]
        self.assertEqual(self.parameters_of("parts"), whole)
        self.assertEqual(self.parameters_of("one", "--workers=1"), whole, "still deterministic")
        self.assertNotEqual(self.parameters_of("on", "--workers=1", "--batching=on"), whole,
                            "the command line says otherwise, and that is other bits")


class Disk(FaultsTest):
    EPOCHS = ["--train-trees=40", "--epochs=3"]
    MORE = ["--epochs=400", "--checkpoint-every=1"]

    def setUp(self):
        super().setUp()
        self.assertEqual(self.train("out", *self.EPOCHS).returncode, 0)

    def assert_says(self, done, path, reason):
        self.assertEqual(done.returncode, 1, done.stderr)
        message = done.stderr.splitlines()[-1]
        self.assertRegex(message, f"^error: cannot (write|make) '{path}.*': {reason}$")
        self.assertEqual(done.stdout, "")

    def assert_goes_on(self, out, epochs):
        """From a checkpoint that is as it was, to the same numbers."""
        done = self.resume(out, epochs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.train("whole", self.EPOCHS[0], epochs).returncode, 0)
        self.assert_same_training(out, "whole")

    def test_a_file_that_may_not_grow(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

        done = self.resume("out", "--epochs=400", preexec_fn=limit)
        self.assert_says(done, "out/", "File too large")
        epochs = self.steps_done("out") // 8 + 1
        self.assert_goes_on("out", f"--epochs={epochs}")

    def test_a_full_disk(self):
        disk = self.root / "disk"
        disk.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)], capture_output=True)
        if mount.returncode != 0:
            self.skipTest("may not mount")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        self.assert_says(self.train("disk/out", "--train-trees=400", *self.MORE), "disk/out/", "No space left on device")
        steps = self.steps_done("disk/out")
        self.assertGreater(steps, 0)
        self.assertEqual([path.name for path in (disk / "out").glob("*.tmp")], [], "the disk is not filled further")
        for path in (disk / "out").glob("events*"):
            path.unlink()
        done = self.resume("disk/out", f"--epochs={steps // 80 + 1}")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_directory_that_may_not_be_written(self):
        if os.geteuid() == 0:
            words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--reuid=65534", "--clear-groups", "--regid=65534"]
            if subprocess.run([*words, "true"], capture_output=True).returncode != 0:
                self.skipTest("root may write everywhere")
        else:
            words = []
        os.chmod(self.root, 0o755)
        hiaton, model = (shutil.copy(path, self.root) for path in (HIATON, WORDS[0]))  # for a user who may not read ours
        before = {path: path.read_bytes() for path in (self.root / "out").iterdir()}
        os.chmod(self.root / "out", 0o555)
        for command in (["--resume", "--epochs=5", "--out", "out"], [model, *WORDS[1:], "--out", "none/out"],
                        [model, *WORDS[1:], "--out", "out/deeper"]):
            done = subprocess.run([*words, hiaton, "train", *command], cwd=self.root, capture_output=True, text=True,
                                  timeout=TIMEOUT_S)
            self.assert_says(done, "(out|none)", "Permission denied")
        os.chmod(self.root / "out", 0o755)
        self.assertEqual({path: path.read_bytes() for path in (self.root / "out").iterdir()}, before)

    def test_a_file_in_the_place_of_the_directory(self):
        (self.root / "file").write_text("precious")
        for out in ("file", "file/out"):
            self.assert_says(self.train(out, *self.EPOCHS), "file", "(Not a directory|File exists)")
        self.assertEqual((self.root / "file").read_text(), "precious")

    def test_nobody_listens(self):
        """The result cannot be told, but is there."""
        reader, unread = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, unread)
        for closed in (">&-", ">/dev/full", ">&- 2>&- <&-", f">&{unread}", f">&{unread} 2>&1"):
            words = " ".join([HIATON, "train", *WORDS, *self.EPOCHS, "--trace=trace.json", "--out=quiet"])
            done = subprocess.run(["bash", "-c", f"{words} {closed}"], cwd=self.root, capture_output=True, text=True,
                                  timeout=TIMEOUT_S, pass_fds=[unread])
            self.assertEqual(done.returncode, 1, done.stderr)
            if "2>" not in closed:
                self.assertIn("cannot write to standard output", done.stderr)
            self.assert_same_training("quiet", "out")
            json.loads((self.root / "trace.json").read_text())
            for path in (self.root / "quiet").iterdir():
                path.unlink()


if __name__ == "__main__":
    harness.main(globals(), kills="how often training is ended, 5 or more")
