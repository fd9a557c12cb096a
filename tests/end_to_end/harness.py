"""The options that the scripts of this folder have in common."""

import argparse
import pathlib
import sys
import unittest


def main(names, **numbers):
    """Runs the tests of a script. `names` are its globals: --hiaton sets HIATON there. So does each of `numbers` for the
    global of its name in capitals, which it has by default; the text says what it is."""
    parser = argparse.ArgumentParser(description=names["__doc__"])
    parser.add_argument("--hiaton", default=names["HIATON"], help="the command to test")
    for name, text in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=names[name.upper()], help=text)
    options, rest = parser.parse_known_args()
    names["HIATON"] = str(pathlib.Path(options.hiaton).resolve())
    for name in numbers:
        names[name.upper()] = getattr(options, name)
    unittest.main(argv=[sys.argv[0], *rest])
