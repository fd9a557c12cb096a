"""The syntax tree of a function, where its text is what runs."""

import ast
import inspect
import linecache
import types


class ConversionError(TypeError):
    """A function cannot become a graph; the message says where, why, and what to do."""


_files = {}  # by name: the text, its tree and its code


def _file(name):
    lines = linecache.getlines(name)
    if not lines:
        linecache.checkcache(name)
        lines = linecache.getlines(name)
    text = "".join(lines)
    if name not in _files or _files[name][0] != text:
        tree = ast.parse(text, name)
        _files[name] = (text, tree, compile(text, name, "exec", dont_inherit=True))
    return _files[name]


def _codes(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _same(a, b):
    """Whether two code objects do the same; their places may differ."""
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return (a.co_code == b.co_code and a.co_names == b.co_names and a.co_varnames == b.co_varnames
                and a.co_freevars == b.co_freevars and a.co_name == b.co_name
                and len(a.co_consts) == len(b.co_consts) and all(map(_same, a.co_consts, b.co_consts)))
    return type(a) is type(b) and (a == b or repr(a) == repr(b))


def place(function):
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def tree_of(function):
    """The FunctionDef or Lambda of a function of Python.

    Raises ConversionError where there is no text, or the text is not what runs.
    """
    code = function.__code__
    gone = f"{place(function)}: '{code.co_name}' was defined by exec or changed on disk"
    try:
        _, tree, compiled = _file(code.co_filename)
    except (OSError, SyntaxError, ValueError):
        raise ConversionError(f"{gone}: expected its text, found none that compiles") from None
    matches = [c for c in _codes(compiled) if c.co_firstlineno == code.co_firstlineno and c.co_name == code.co_name]
    if not any(_same(code, c) for c in matches):
        raise ConversionError(f"{gone}: expected the text that runs; reload the module")
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                found.append(node)
        elif isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            found.append(node)
    if len(found) != 1:
        raise ConversionError(f"{place(function)}: expected one function on this line, found {len(found)}; "
                              "give each a line of its own")
    return found[0]


def is_generator(function):
    flags = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    return bool(function.__code__.co_flags & flags)
