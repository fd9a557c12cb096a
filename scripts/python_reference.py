"""Writes the reference of the Python package into a folder, by pdoc: python python_reference.py FOLDER

pdoc reads Python. What the package has from the engine comes from the type stubs, which hold its signatures and texts.
"""

import inspect
import pathlib
import sys
import types

import hiaton
import pdoc

MODULES = [hiaton, hiaton.nn, hiaton.optim, hiaton.random]
ArrayLike = type("ArrayLike", (), {"__module__": "numpy.typing", "__doc__": "What NumPy makes an array of."})


def functions_in(value):
    """A function itself, or those of a class."""
    for part in vars(value).values() if isinstance(value, type) else [value]:
        for function in (getattr(part, "fget", None), getattr(part, "fset", None), getattr(part, "__func__", part)):
            if isinstance(function, types.FunctionType):
                yield function


def stub(name):
    """The functions and classes of the stubs of a module of the engine, as objects of Python."""
    path = pathlib.Path(hiaton.__file__).parent / "_core" / f"{name}.pyi"
    module = types.ModuleType(f"hiaton._core.{name}")
    exec(compile("from __future__ import annotations\n" + path.read_text(), path, "exec", dont_inherit=True), vars(module))
    made = {key: value for key, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__}
    names = vars(module) | {"bool": bool, "ArrayLike": ArrayLike}  # in annotations, bool is not the element type
    for function in (function for value in made.values() for function in functions_in(value)):
        function.__annotations__ = {key: eval(text.replace("numpy.typing.ArrayLike", "ArrayLike"), names)
                                    for key, text in function.__annotations__.items()}
    return made


def public_names(module):
    """The names that a module has from this package, but for other modules."""
    return [name for name, value in vars(module).items()
            if not name.startswith("_") and not isinstance(value, types.ModuleType)
            and (isinstance(value, hiaton.DType) or (getattr(value, "__module__", None) or "").startswith("hiaton"))]


def main(folder):
    from_engine = stub("__init__") | stub("ops")
    names = {module: public_names(module) for module in MODULES}
    for module in MODULES:
        for name in names[module]:
            if name in from_engine and not inspect.isfunction(vars(module)[name]):
                from_engine[name].__module__ = module.__name__
                setattr(module, name, from_engine[name])
        module.__all__ = sorted(names[module], key=lambda name: (inspect.isroutine(vars(module)[name]), name.lower()))
    hiaton.__all__ += ["nn", "optim", "random"]
    pdoc.render.configure(docformat="markdown", show_source=False)
    pdoc.pdoc("hiaton", "!hiaton.function", output_directory=pathlib.Path(folder))


if __name__ == "__main__":
    main(sys.argv[1])
