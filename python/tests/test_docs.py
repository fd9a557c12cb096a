"""Runs what the documents show of Python: ```python blocks as they stand, ```pycon blocks with their output, and notebooks.

The blocks of one page share their names and run in the root of the repository. A block ```python torch, of another package, runs where
that is installed.
"""

import doctest
import importlib.util
import json
import linecache
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from hiaton import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page):
    """The kind of each block, the package that it is of besides ours, its text and its line."""
    text = page.read_text()
    for match in re.finditer(r"^```(python|pycon)(?: (\w+))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield *match.groups(), text.count("\n", 0, match.start()) + 1


PAGES = [page for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))] 
         if any("hiaton" in code for _, package, code, _ in blocks(page) if package is None)]
NOTEBOOKS = sorted(ROOT.glob("examples/*.ipynb"))


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


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the code of a page finds; `directory` is an empty folder."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["docs"])
    nn.seed(1)  # as in a process of its own
    return {"directory": tmp_path, "__name__": "__main__"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_shows_what_happens(page, names):
    for kind, package, code, line in blocks(page):
        compiled = with_text(code, page, line) if kind == "python" else None
        if package is not None and importlib.util.find_spec(package) is None:
            continue
        if kind == "pycon":
            run_session(code, names, page, line)
        else:
            exec(compiled, names)


def test_all_pages_of_python_are_there():
    assert {"README.md", "python.md", "python-functions.md", "python-tutorial.md", "coming-from.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_the_notebook_runs(notebook, names):
    content = json.loads(notebook.read_text())
    assert content["nbformat"] == 4 and {"kernelspec", "language_info"} == set(content["metadata"])
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert cells and len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    for number, cell in enumerate(cells):
        assert cell["outputs"] == [] and cell["execution_count"] is None, "expected a notebook without outputs"
        exec(with_text("".join(cell["source"]), notebook, number), names)


def labels_of(picture):
    """The titles and texts of a picture, without where they stand."""
    return re.findall(r"<(title|text)[^>]*>(.*?)</\1>", picture.read_text())


def test_the_picture_of_a_function_is_current(tmp_path):
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    example, made = ROOT / "examples/tree_total.py", tmp_path / "tree_total.svg"
    done = subprocess.run([sys.executable, example, made], capture_output=True, text=True, check=True)
    assert done.stdout == "0 10\n"
    assert labels_of(made) == labels_of(ROOT / "docs/tree_total.svg"), "python examples/tree_total.py docs/tree_total.svg makes it anew"
    assert example.read_text() in (ROOT / "docs/python-tutorial.md").read_text()


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="pdoc does not read type stubs on Python 3.13")
def test_the_reference_is_made_without_warnings(tmp_path):
    if importlib.util.find_spec("pdoc") is None:
        pytest.skip("pdoc is not installed")
    done = subprocess.run([ROOT / "scripts/python_reference.sh", sys.executable, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {name: (tmp_path / f"{name}.html").read_text() for name in ("hiaton", "hiaton/nn", "hiaton/optim", "hiaton/random")}
    for name in ("function", "softmax", "GradientTape.gradient", "vmap", "Tensor.astype", "Program.with_options"):
        assert f'id="{name}"' in pages["hiaton"], name
    assert "The quotient. Integers round toward zero" in pages["hiaton"]
    assert all(f'id="{name}"' in pages["hiaton/nn"] for name in ("Conv2d", "Module.save", "value_and_grad"))
