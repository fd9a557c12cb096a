#!/usr/bin/env python3
"""Every test that docs/promises.md names is there."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/promises.md"


def tests():
    """As the page names them: Suite.Test, Class.test_name."""
    found = set()
    for path in (ROOT / "tests").rglob("*_test.cpp"):
        found.update(map(".".join, re.findall(r"^TEST(?:_P|_F)?\((\w+),\s*(\w+)\)", path.read_text(), re.MULTILINE)))
    for path in (ROOT / "tests/end_to_end").glob("*.py"):
        suite = None
        for kind, name in re.findall(r"^(class| {4}def) (\w+)", path.read_text(), re.MULTILINE):
            if kind == "class":
                suite = name
            elif name.startswith("test_"):
                found.add(f"{suite}.{name}")
    return found


def findings():
    known = tests()
    rows = 0
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        cells = line.strip("|").split("|")
        if not line.startswith("| ") or cells[-1].strip() in ("shown by", "---"):
            continue
        rows += 1
        names = re.findall(r"`([^`]+)`", cells[-1])
        if len(cells) != 2 or not names:
            yield f"{PAGE}:{number}: expected a promise and the tests that show it, found {line}"
        for name in names:
            if name not in known and not ("/" in name and (ROOT / name).is_file()):
                yield f"{PAGE}:{number}: expected a test, found '{name}', which there is not"
    if rows == 0:
        yield f"{PAGE}: expected promises, found none"


if __name__ == "__main__":
    wrong = list(findings())
    print("\n".join(wrong) or "every promise has its tests")
    sys.exit(1 if wrong else 0)
