"""Functions of Python that call what is none, so that it can be converted: what hia.grad gives, functools.partial, and objects."""

import functools
import inspect
import linecache
import types

_KINDS = inspect.Parameter


def as_function(target):
    """The target itself, if it is a function or a method of Python, or nothing is known of it; else one that calls it."""
    if isinstance(target, functools.partial) or hasattr(target, "function_and_receiver"):
        return _caller(target)
    method = getattr(type(target), "__call__", None)
    if isinstance(method, types.FunctionType) and not getattr(target, "__hiaton_plain__", False):
        return types.MethodType(method, target)
    return target


def function_of_text(name, text, file, names):
    """The function of this name in a text, as if it stood in a file, where the converter reads it. `names`: its globals."""
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names = {"__name__": __name__, **names}
    exec(compile(text, file, "exec"), names)
    return names[name]


def _caller(target):
    """A function with the parameters of the target, in a text of its own that the converter reads."""
    signature = inspect.signature(target)
    declared, given = _written(signature.parameters.values())
    called = "target"
    while called in signature.parameters:
        called += "_"
    name = getattr(target, "func", target)
    name = getattr(name, "__qualname__", type(name).__qualname__)
    text = f"def call({declared}):\n    return {called}({given})\n"
    file = f"<hiaton: call({declared}) of {name}>"
    call = function_of_text("call", text, file, {called: target})
    call.__name__ = call.__qualname__ = name
    others = [one for one in signature.parameters.values() if one.default is not _KINDS.empty]
    call.__defaults__ = tuple(one.default for one in others if one.kind is not _KINDS.KEYWORD_ONLY) or None
    call.__kwdefaults__ = {one.name: one.default for one in others if one.kind is _KINDS.KEYWORD_ONLY} or None
    return call


def _written(parameters):
    """Parameters as they are declared, and as arguments that hand them on."""
    declared, given, last = [], [], None
    for one in parameters:
        if last is _KINDS.POSITIONAL_ONLY is not one.kind:
            declared.append("/")
        if one.kind is _KINDS.KEYWORD_ONLY and last not in (_KINDS.VAR_POSITIONAL, _KINDS.KEYWORD_ONLY):
            declared.append("*")
        stars = {_KINDS.VAR_POSITIONAL: "*", _KINDS.VAR_KEYWORD: "**"}.get(one.kind, "")
        declared.append(stars + one.name + ("" if one.default is _KINDS.empty else "=None"))
        given.append(f"{one.name}={one.name}" if one.kind is _KINDS.KEYWORD_ONLY else stars + one.name)
        last = one.kind
    if last is _KINDS.POSITIONAL_ONLY:
        declared.append("/")
    return ", ".join(declared), ", ".join(given)
