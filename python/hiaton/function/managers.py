"""Context managers of `contextlib`: a generator that yields once becomes two functions, of what stands before its `yield` and of
what stands behind it."""

import ast
import contextlib
import inspect
import types

from hiaton.function.errors import ConversionError
from hiaton.function.scopes import assigned, body_of, nodes_below, parameters_of, read_names
from hiaton.function.source import generator_tree_of, note_tree, place
from hiaton.function.types import Tup

_KEPT = "kept_by_the_manager"
_HELPER = contextlib.contextmanager(lambda: None).__code__


class Manager(tuple):
    """A context manager in a graph: what its generator yields, and what its end reads."""

    _fields = ()


def is_manager_function(function):
    """Whether a decorated generator gives context managers."""
    return isinstance(function, types.FunctionType) and function.__code__ is _HELPER


class _Halves:
    """`enter` is what stands before the `yield`, and gives what it yields and the names `kept`; `leave` is what stands behind
    it, and takes a tuple of these and the parameters `given`."""

    def __init__(self, generator):
        tree = generator_tree_of(generator)
        places = [number for number, one in enumerate(tree.body) if isinstance(one, ast.Expr) and isinstance(one.value, ast.Yield)]
        yields = [one for one in nodes_below(body_of(tree)) if isinstance(one, (ast.Yield, ast.YieldFrom))]
        if len(places) != 1 or len(yields) != 1:
            raise ConversionError(f"{place(generator)}: '{generator.__qualname__}' cannot be converted: expected one 'yield' that is a "
                                  "statement outside of branches and loops; let it be so, or call it outside of the function")
        before, after = tree.body[:places[0]], tree.body[places[0] + 1:]
        if any(isinstance(one, ast.Return) for one in nodes_below(before)):
            raise ConversionError(f"{place(generator)}: '{generator.__qualname__}' may return before its 'yield', "
                                  "which cannot be converted; let it yield on every path")
        names = {node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)}
        if names != set(parameters_of(tree)):
            raise ConversionError(f"{place(generator)}: '{generator.__qualname__}' takes '**', which cannot be converted; "
                                  "write the parameters out")
        declared = [one for one in tree.body if isinstance(one, (ast.Global, ast.Nonlocal))]
        outside = {name for one in declared for name in one.names}
        read = read_names(after)
        self.kept = sorted(assigned(*before) & read - outside)
        self.given = [name for name in parameters_of(tree) if name in read and name not in self.kept]
        value = yields[0].value or ast.Constant(None)
        result = ast.Return(ast.Tuple([value, *(ast.Name(name, ast.Load()) for name in self.kept)], ast.Load()))
        # One parameter for all that is kept: names of the converter are none that a parameter may have.
        unpacked = ast.Assign([ast.Tuple([ast.Name(name, ast.Store()) for name in self.kept], ast.Store())],
                              ast.Name(_KEPT, ast.Load()))
        arguments = ast.arguments([], [ast.arg(name) for name in (_KEPT, *self.given)], None, [], [], None, [])
        self.enter = _function(generator, tree, tree.args, [*before, result])
        self.leave = _function(generator, tree, arguments, [*declared, unpacked, *after])
        self.enter.__defaults__, self.enter.__kwdefaults__ = generator.__defaults__, generator.__kwdefaults__
        self.cls = type("Manager", (Manager,), {"halves": self})


def _function(generator, tree, arguments, body):
    """A function beside a generator, with its variables around."""
    free = generator.__code__.co_freevars
    arguments = ast.arguments(arguments.posonlyargs, arguments.args, arguments.vararg, arguments.kwonlyargs,
                              [None] * len(arguments.kwonlyargs), None, [])
    made = ast.copy_location(ast.FunctionDef(tree.name, arguments, body, [], None), tree)
    around = ast.FunctionDef("around", ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, []), [made], [], None)
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(around, tree)], []))
    try:
        codes = compile(module, generator.__code__.co_filename, "exec", dont_inherit=True).co_consts[0].co_consts
    except (TypeError, SyntaxError) as error:
        raise ConversionError(f"{place(generator)}: '{generator.__qualname__}' cannot be converted as a context manager: {error}; "
                              "write a class with __enter__ and __exit__") from None
    code = next(one for one in codes if isinstance(one, types.CodeType))
    cells = dict(zip(free, generator.__closure__ or ()))
    function = types.FunctionType(code, generator.__globals__, generator.__name__, None,
                                  tuple(cells[name] for name in code.co_freevars))
    function.__qualname__ = generator.__qualname__
    note_tree(function, made)
    return function


def halves_of(generator):
    if not hasattr(generator, "hiaton_halves"):
        generator.hiaton_halves = _Halves(generator)
    return generator.hiaton_halves


class Managers:
    def call_manager(self, generator, args, named):
        """A context manager that a decorated generator gives."""
        try:
            halves = halves_of(generator)
        except ConversionError as error:
            self.refuse(str(error))
        values = dict(zip(inspect.signature(generator).parameters, self.bound(generator, args, named)))
        found = self.items(self.call_function(halves.enter, args, named))
        return self.tuple_of([*found, *(values[name] for name in halves.given)], halves.cls)

    def manager_method(self, value, name):
        """`__enter__` and `__exit__` of such a one."""
        yielded, *held = self.items(value)
        if name == "__enter__":
            return yielded
        halves = value.type.cls.halves
        kept = self.tuple_of(held[:len(halves.kept)])
        return self.call_function(halves.leave, [kept, *held[len(halves.kept):]], {})


def is_manager(type_):
    return isinstance(type_, Tup) and issubclass(type_.cls, Manager)
