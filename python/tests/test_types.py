"""The types that the package tells type checkers."""

import ast
import pathlib
import subprocess
import sys

import pytest

import hiaton as hia

STUBS = pathlib.Path(hia.__file__).parent / "_core"
PROGRAM = """
import numpy as np
import hiaton as hia
from hiaton import _core

x = hia.tensor([1.0])
a: hia.Tensor = x + 1
b: hia.Tensor = hia.ops.exp(x[0])
c: hia.Tensor = hia.min(np.ones(3), axis=0)
d: hia.Tensor = hia.nn.Parameter(a).astype("f64")
reveal_type([x, a // 2, b, c, d, hia.zeros(3), _core.ops.tanh(x)])
wrong: int = x.shape
"""


def test_every_operation_has_its_type():
    functions = {node.name: node for node in ast.parse((STUBS / "ops.pyi").read_text()).body if isinstance(node, ast.FunctionDef)}
    assert set(hia.ops.__all__) == set(functions)
    for name, node in functions.items():
        assert ast.unparse(node.returns) == "hiaton._core.Tensor", name


def test_stubs_name_modules_of_the_package():
    imports = [node for node in ast.walk(ast.parse((STUBS / "__init__.pyi").read_text())) if isinstance(node, ast.ImportFrom)]
    assert any(node.module == "hiaton._core" for node in imports) and not any(node.module == "_core" for node in imports)


def test_mypy_knows_the_types(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(tmp_path / "program.py")]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    assert 'Revealed type is "list[hiaton._core.Tensor]"' in said.replace("builtins.", ""), said
    assert said.count(": error:") == 1 and 'variable has type "int"' in said, said
