#!/usr/bin/env python3
"""Runs every program, and every command with its output, that the documents, examples/, benchmarks/programs/ and
tests/lang/before/ show; follows the links between the documents.

In examples/*.hia and in ```hia blocks, comment lines say what must happen:

    # run: --n=3          a run with these arguments
    # demand: --n=3       the same, demand-driven
    # prints: 11          what it prints, one line each
    # fails: by zero      instead: the run fails, and the message holds this text
    # wraps: the sum      integers overflow on purpose: not tried with --overflow=trap

A ```hia block without such lines has only to be a legal program. In ```hia-error blocks `# error: TEXT` is a
part of a message that checking (or running, where there is a `# run:`) must give, and no other may come. In ```console blocks lines
that start with `$ ` are run by bash in the root of the repository, and the lines after must be their output, where
`...` stands for anything.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

MODES = [
    ["--executor=production", "--workers=1"],
    ["--executor=production", "--workers=2"],
    ["--executor=production", "--workers=8"],
    ["--executor=production", "--no-simplify"],
    ["--executor=production", "--parallel-iterations=1", "--overflow=trap"],
    ["--executor=reference"],
    ["--executor=reference", "--no-simplify"],
    ["--executor=reference", "--processes=3"],
    ["--executor=expanding"],
]
# Also of programs that are run as data-driven: where they give results, these are the same.
DEMAND = ["--evaluation=demand", "--executor=production"]
ON_DEMAND = [
    DEMAND,
    ["--evaluation=demand", "--executor=production", "--no-simplify"],
    ["--evaluation=demand", "--executor=reference"],
]
# What runs threads, the graph as it is written, and the partition, for builds that are slow.
FEW_MODES = [MODES[i] for i in (1, 3, 7)]

TIMEOUT_S = 120


class Run:
    """One `# run:` or `# demand:` line with what it must give."""

    def __init__(self, arguments, on_demand):
        self.arguments = arguments
        self.on_demand = on_demand
        self.prints = []
        self.fails = None


class Block:
    """A fenced block of a document, or a whole example."""

    def __init__(self, kind, place, lines):
        self.kind = kind
        self.place = place
        self.lines = lines

    def directives(self, name):
        found = (re.match(rf"\s*# {name}:(.*)", line) for line in self.lines)
        return [match.group(1).strip() for match in found if match]

    def runs(self):
        runs = []
        for line in self.lines:
            match = re.match(r"\s*# (run|demand|prints|fails):(.*)", line)
            if not match:
                continue
            word, rest = match.group(1), match.group(2).strip()
            if word in ("run", "demand"):
                runs.append(Run(rest, word == "demand"))
            elif not runs:
                raise SystemExit(f"{self.place}: '# {word}:' without a '# run:' before it")
            elif word == "prints":
                runs[-1].prints.append(rest)
            else:
                runs[-1].fails = rest
        return runs

    def text(self):
        return "\n".join(self.lines) + "\n"


def blocks_of(document, root):
    """The ``` blocks of a Markdown file, indented ones too."""
    blocks, current = [], None
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r"(\s*)```(.*)", line)
        if fence and current is None:
            place = f"{document.relative_to(root)}:{number}"
            current, indent = Block(fence.group(2).strip(), place, []), fence.group(1)
        elif fence:
            blocks.append(current)
            current = None
        elif current is not None:
            current.lines.append(line.removeprefix(indent))
    if current is not None:
        raise SystemExit(f"{current.place}: the block does not end")
    return blocks


def dead_links(document):
    """Links to files that are not there. Code has none, though what it calls may look like them."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "", text)
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) + re.findall(r'src="([^":]+)"', text)
    return [target for target in targets if not (document.parent / target).exists()]


def check_links(document):
    dead = dead_links(document)
    return f"links to what is not there: {dead}" if dead else None


def execute(command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, **options)


class Checker:
    def __init__(self, hiaton, modes, root, scratch):
        self.hiaton = hiaton
        self.modes = modes
        self.root = root
        self.scratch = scratch

    def tests_of(self, block):
        """Pairs of a name and a function that gives a finding or None."""
        if block.kind == "hia":
            return self.program_tests(block)
        if block.kind == "hia-error":
            return [(block.place, lambda: self.check_error(block))]
        if block.kind == "console":
            return [(block.place, lambda: self.check_console(block))]
        return []

    def file_of(self, block):
        if block.kind == "example":
            return str(self.root / block.place)
        path = self.scratch / (re.sub(r"\W", "_", block.place) + ".hia")
        path.write_text(block.text(), encoding="utf-8")
        return str(path)

    def program_tests(self, block):
        file = self.file_of(block)
        tests = []
        if not block.runs():
            tests.append((f"{block.place} is legal", lambda: self.check_legal(file)))
        # Where a program overflows on purpose, its lines show what wraps around.
        wraps = bool(block.directives("wraps"))
        modes = [mode for mode in self.modes if not (wraps and "--overflow=trap" in mode)]
        for run in block.runs():
            ways = modes if run.fails is not None else [*modes, DEMAND]
            for mode in ON_DEMAND if run.on_demand else ways:
                name = f"{block.place} {run.arguments} {' '.join(mode)}"
                tests.append((name, lambda run=run, mode=mode: self.check_run(file, run, mode)))
        return tests

    def check_legal(self, file):
        done = execute([self.hiaton, "check", file])
        return None if done.returncode == 0 else done.stderr

    def check_run(self, file, run, mode):
        done = execute([self.hiaton, "run", file, *shlex.split(run.arguments), *mode])
        if run.fails is not None:
            if done.returncode == 1 and run.fails in done.stderr:
                return None
            return f"expected a failure with '{run.fails}', found status {done.returncode}\n{done.stdout}{done.stderr}"
        if done.returncode == 0 and done.stdout.splitlines() == run.prints:
            return None
        return f"expected {run.prints}, found status {done.returncode}\n{done.stdout}{done.stderr}"

    def check_error(self, block):
        file = self.file_of(block)
        expected = block.directives("error")
        if not expected:
            return "a hia-error block needs an '# error:' line"
        runs = block.runs()
        arguments = ["run", file, *shlex.split(runs[0].arguments)] if runs else ["check", file]
        done = execute([self.hiaton, *arguments])
        # The echoed source line may be the directive itself: only the messages count.
        messages = "\n".join(line for line in done.stderr.splitlines() if "# error:" not in line)
        missing = [text for text in expected if text not in messages]
        unlisted = [
            line
            for line in messages.splitlines()
            if ": error: " in line and not any(text in line for text in expected)
        ]
        if done.returncode == 1 and not missing and not unlisted:
            return None
        if unlisted:
            return f"expected no error but {expected}, found also {unlisted}"
        return f"expected status 1 and {missing or expected}, found status {done.returncode}\n{done.stderr}"

    def check_console(self, block):
        environment = dict(os.environ)
        environment["PATH"] = f"{pathlib.Path(self.hiaton).parent}:{environment['PATH']}"
        for command, expected in console_steps(block):
            done = subprocess.run(["bash", "-c", command], cwd=self.root, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)
            if not re.fullmatch(pattern_of(expected), done.stdout.rstrip("\n"), re.DOTALL):
                return f"$ {command}\nexpected:\n{expected}\nfound:\n{done.stdout}"
        return None


def pattern_of(expected):
    return ".*".join(re.escape(part) for part in expected.split("..."))


def console_steps(block):
    """Pairs of a command and its output."""
    steps = []
    for line in block.lines:
        if line.startswith("$ "):
            steps.append([line[2:], []])
        elif not steps:
            raise SystemExit(f"{block.place}: a console block starts with a line '$ COMMAND'")
        elif steps[-1][0].endswith("\\"):
            steps[-1][0] += "\n" + line
        else:
            steps[-1][1].append(line)
    return [(command, "\n".join(output).rstrip("\n")) for command, output in steps]


def collect(checker, root):
    tests = []
    for example in sorted([*root.glob("examples/*.hia"), *root.glob("benchmarks/programs/*.hia"),
                          *root.glob("tests/lang/before/*.hia")]):
        place = str(example.relative_to(root))
        block = Block("example", place, example.read_text(encoding="utf-8").splitlines())
        if not block.runs():
            tests.append((place, lambda: "an example needs a '# run:' line"))
        tests += checker.program_tests(block)
    for document in [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]:
        tests.append((f"links of {document.relative_to(root)}", lambda document=document: check_links(document)))
        for block in blocks_of(document, root):
            tests += checker.tests_of(block)
    return tests


def guarded(check):
    try:
        return check()
    except subprocess.TimeoutExpired as expired:
        return f"no end after {expired.timeout} s: {expired.cmd}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hiaton", required=True, help="the command to test")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2], type=pathlib.Path)
    parser.add_argument("--few-modes", action="store_true", help="less often each, for builds that are slow")
    options = parser.parse_args()
    hiaton = str(pathlib.Path(options.hiaton).resolve())
    modes = FEW_MODES if options.few_modes else MODES

    with tempfile.TemporaryDirectory() as scratch:
        tests = collect(Checker(hiaton, modes, options.root, pathlib.Path(scratch)), options.root)
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            findings = list(pool.map(lambda test: (test[0], guarded(test[1])), tests))
    failed = [(name, finding) for name, finding in findings if finding is not None]
    for name, finding in failed:
        print(f"FAILED {name}\n{finding}\n")
    print(f"{len(findings) - len(failed)} programs and commands passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
