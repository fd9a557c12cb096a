#!/usr/bin/env python3
"""Reads what a training run wrote with the packages that people use: safetensors and TensorBoard.

Started without --samples, it makes a virtual environment with these packages, lets the test program write a training
run, and starts itself again in there. Skipped (exit status 77) only where the packages cannot be installed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
PACKAGES = ["safetensors", "numpy", "tensorboard", "setuptools<81"]
IMPORTS = "import numpy, safetensors.numpy, tensorboard.backend.event_processing.event_accumulator"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def python_with_packages(directory):
    """The interpreter of the virtual environment in `directory`, made where missing."""
    python = pathlib.Path(directory) / "bin" / "python"
    if python.exists() and subprocess.run([python, "-c", IMPORTS], capture_output=True).returncode == 0:
        return python
    made = subprocess.run([sys.executable, "-m", "venv", directory], capture_output=True, text=True)
    if made.returncode != 0:
        skip(f"cannot make a virtual environment:\n{made.stdout}{made.stderr}")
    install = [python, "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "30",
               "--disable-pip-version-check", *PACKAGES]
    installed = subprocess.run(install, capture_output=True, text=True)
    if installed.returncode != 0:
        skip(f"cannot install {', '.join(PACKAGES)}; is there a network?\n{installed.stderr[-2000:]}")
    return python


def prepare(arguments):
    python = python_with_packages(arguments.environment)
    with tempfile.TemporaryDirectory() as samples:
        writer = [arguments.writer, "--gtest_filter=Samples.WritesATrainingRunThatWasResumed"]
        subprocess.run(writer, check=True, env={**os.environ, "HIATON_SAMPLES": samples}, stdout=subprocess.DEVNULL)
        return subprocess.run([python, "-B", __file__, "--samples", samples]).returncode


def check_tensors(samples):
    import numpy
    from safetensors import safe_open
    from safetensors.numpy import load_file

    expected = json.loads((samples / "expected.json").read_text())
    best = load_file(samples / "run" / "best.safetensors")
    assert sorted(best) == ["E", "b"], best.keys()
    last = load_file(samples / "run" / "last.safetensors")
    assert sorted(last) == sorted(["E", "b"] + [f"optimizer.{slot}.{name}" for slot in ("mean", "square")
                                               for name in ("E", "b")]), last.keys()
    for name in ("E", "b"):
        assert last[name].dtype == numpy.float32
        assert list(last[name].shape) == expected[name]["shape"], last[name].shape
        numpy.testing.assert_array_equal(last[name].ravel(), numpy.array(expected[name]["values"], numpy.float32))
    assert (last["optimizer.square.E"] >= 0).all() and last["optimizer.square.E"].any()
    with safe_open(samples / "run" / "last.safetensors", "numpy") as file:
        progress = json.loads(file.metadata()["hiaton.training"])["progress"]
    assert progress["step"] == expected["steps"], progress
    assert len(progress["history"]) == expected["epochs"], progress


def check_events(samples):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    expected = json.loads((samples / "expected.json").read_text())
    log = [json.loads(line) for line in (samples / "run" / "log.jsonl").read_text().splitlines()]
    events = EventAccumulator(str(samples / "run"), size_guidance={"scalars": 0}).Reload()
    tags = set(events.Tags()["scalars"])
    assert tags == {"loss/step", "gradient_norm", "loss/train", "loss/dev", "accuracy/root", "accuracy/all",
                    "learning_rate", "examples_per_second"}, tags
    steps = [event.step for event in events.Scalars("loss/step")]
    assert steps == list(range(1, expected["steps"] + 1)), f"each step once, also after resuming: {steps}"

    def check_scalar(tag, value_of):
        found = [(event.step, event.value) for event in events.Scalars(tag)]
        assert [step for step, _ in found] == [line["steps"] for line in log], (tag, found)
        for (_, value), line in zip(found, log):
            assert abs(value - value_of(line)) <= 1e-6 * max(1, abs(value)), (tag, value, line)

    check_scalar("loss/train", lambda line: line["train_loss"])
    check_scalar("loss/dev", lambda line: line["dev"]["loss"])
    check_scalar("accuracy/root", lambda line: line["dev"]["root_accuracy"])
    check_scalar("accuracy/all", lambda line: line["dev"]["all_accuracy"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--environment", help="directory of the virtual environment")
    parser.add_argument("--writer", help="the test program that writes a training run")
    parser.add_argument("--samples", help="directory of the run; for the second start")
    arguments = parser.parse_args()
    if arguments.samples is None:
        return prepare(arguments)
    samples = pathlib.Path(arguments.samples)
    check_tensors(samples)
    check_events(samples)
    print("safetensors and TensorBoard read what training writes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
