"""Runs what the documents show of Python: ```python blocks as they stand, ```pycon blocks with their output.

The blocks of one page share their names and run in the root of the repository.
"""

import doctest
import linecache
import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs/python.md", ROOT / "docs/python-functions.md"]


def blocks(page):
    text = page.read_text()
    for match in re.finditer(r"^```(python|pycon)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield match.group(1), match.group(2), text.count("\n", 0, match.start()) + 1


def with_text(code, page, line):
    """Its code, whose functions can find their text: as in a file of Python."""
    text = "\n" * line + code
    name = f"<{page.name}:{line}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, "exec")


def run_session(code, names, page, line):
    report = []
    test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append, clear_globs=False)
    assert test.examples, f"{page}:{line}: expected lines that begin with >>>"
    assert runner.failures == 0, "".join(report)
    names.update(test.globs)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_shows_what_happens(page, tmp_path):
    names = {"directory": tmp_path, "__name__": "__main__"}
    before = pathlib.Path.cwd()
    os.chdir(ROOT)
    try:
        shown = list(blocks(page))
        assert shown, f"{page}: expected blocks of Python, found none"
        for kind, code, line in shown:
            if kind == "pycon":
                run_session(code, names, page, line)
            else:
                exec(with_text(code, page, line), names)
    finally:
        os.chdir(before)
