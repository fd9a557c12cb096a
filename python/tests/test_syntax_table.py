"""The table of docs/python-functions.md: every class of `ast` is there, and converted or refused as it says. The example of what is
converted in part is one that is refused."""

import ast
import inspect
import linecache
import math
import pathlib
import re

import pytest

import hiaton as hia

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/python-functions.md"
# What no function holds, what is only a base, and what Python has kept from older versions.
ELSEWHERE = {"AST", "mod", "Module", "Interactive", "Expression", "FunctionType", "Suite", "stmt", "expr", "expr_context",
             "boolop", "operator", "unaryop", "cmpop", "excepthandler", "pattern", "type_ignore", "TypeIgnore", "slice",
             "Index", "ExtSlice", "Num", "Str", "Bytes", "NameConstant", "Ellipsis", "AugLoad", "AugStore", "Param"}
NEWER = {"TypeAlias", "type_param", "TypeVar", "ParamSpec", "TypeVarTuple", "Interpolation", "TemplateStr"}


def rows():
    for match in re.finditer(r"^\| ((?:`\w+` ?)+)\| (converted|in part|refused) \| `(.*)` \|$", PAGE.read_text(), re.MULTILINE):
        classes = re.findall(r"`(\w+)`", match.group(1))
        yield classes, match.group(2), match.group(3).replace("\\|", "|").split("<br>")


def helper(n, by):
    return n * by


class Scaled:
    def __init__(self, by):
        self.by = by

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def test_every_class_stands_in_it():
    there = [name for classes, _, _ in rows() for name in classes]
    assert len(there) == len(set(there))
    known = {name for name, cls in vars(ast).items() if isinstance(cls, type) and issubclass(cls, ast.AST) and name[0] != "_"}
    assert set(there) == known - ELSEWHERE - NEWER


@pytest.mark.parametrize("classes,what,lines", list(rows()), ids=lambda value: value[0] if isinstance(value, list) else value)
def test_it_is_as_the_table_says(classes, what, lines, request):
    text = "def f(n):\n" + "".join(f"    {line}\n" for line in lines)
    found = {type(node).__name__ for node in ast.walk(ast.parse(text))}
    assert set(classes) <= found, f"the example has no {set(classes) - found}"
    name = f"<{request.node.name}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"hia": hia, "math": math, "helper": helper, "Scaled": Scaled}
    try:
        exec(compile(text, name, "exec"), names)
    except SyntaxError:
        assert what != "converted" and {"Nonlocal", "Await"} & set(classes)
        return
    function = names["f"]
    if inspect.isgeneratorfunction(function):
        names["f"] = lambda n: list(function(n))
    graph = hia.function(names["f"], strict=True)
    if what != "converted":
        with pytest.raises(hia.ConversionError, match=re.escape(name)):
            graph(3)
        return
    for n in (0, 3, -2, 1, 7):
        try:
            expected = names["f"](n)
        except ValueError:
            with pytest.raises(ValueError):
                graph(n)
            continue
        assert repr(graph(n)) == repr(expected)
    assert sum(g.hits for g in graph._graphs) >= 3, graph.report()
