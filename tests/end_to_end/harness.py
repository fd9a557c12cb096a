"""What the scripts of this folder have in common: their options, and tests of the command from outside."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIATON = "hiaton"
TIMEOUT_S = 120


def hiaton(*words, **options):
    options.setdefault("cwd", ROOT)
    options.setdefault("timeout", TIMEOUT_S)
    return subprocess.run([HIATON, *words], capture_output=True, text=True, **options)


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def file(self, text, name="program.hia"):
        path = pathlib.Path(self.directory.name) / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def assert_fails(self, done, status, *parts):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertEqual(done.stdout, "", "messages belong on stderr")


def main(names, **numbers):
    """Runs the tests of a script. `names` are its globals: --hiaton sets HIATON there and here. So does each of
    `numbers` for the global there of its name in capitals, which it has by default; the text says what it is."""
    parser = argparse.ArgumentParser(description=names["__doc__"])
    parser.add_argument("--hiaton", default=names["HIATON"], help="the command to test")
    for name, text in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=names[name.upper()], help=text)
    options, rest = parser.parse_known_args()
    global HIATON
    HIATON = names["HIATON"] = str(pathlib.Path(options.hiaton).resolve())
    for name in numbers:
        names[name.upper()] = getattr(options, name)
    unittest.main(argv=[sys.argv[0], *rest])
