"""Context managers of `contextlib`: a generator that yields once becomes two functions, of what stands before its `yield` and of
what stands behind it."""

import ast
import contextlib
import inspect
import types

from hiaton import _core
from hiaton.function.errors import ConversionError
from hiaton.function.scopes import assigned, body_of, nodes_below, parameters_of, read_names
from hiaton.function.source import generator_tree_of, note_tree, place
from hiaton.function.types import Const, Lst, Objs, Mapping, Tup, Value, is_float
from hiaton.tape import no_grad

_KEPT = "kept_by_the_manager"
_HELPER = contextlib.contextmanager(lambda: None).__code__


class Manager(tuple):
    """A context manager in a graph: what its generator yields, and what its end reads."""

    _fields = ()


class NoGradient(Manager):
    """That of hia.no_grad(): None, and a name for the block that no other function of the graph knows."""


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
        if generator is no_grad.__wrapped__:
            block = f"{len(self.blocks_without_gradients)} of {hash(self.key)}"
            self.blocks_without_gradients[block] = dict(self.env)
            return self.tuple_of([Value(Const(None)), Value(Const(block))], NoGradient)
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
        if value.type.cls is NoGradient:
            self._stop_gradients(getattr(held[0].type, "value", None))
            return Value(Const(None))
        halves = value.type.cls.halves
        kept = self.tuple_of(held[:len(halves.kept)])
        return self.call_function(halves.leave, [kept, *held[len(halves.kept):]], {})


    def _stop_gradients(self, block):
        """No gradient goes into what a block has computed."""
        if block not in self.blocks_without_gradients:
            self.refuse("'hia.no_grad()' cannot be left inside of a loop by 'return' or 'break'; leave it behind the loop")
        before = self.blocks_without_gradients[block]
        known = {id_ for value in before.values() for id_ in value.ids}
        for name, value in self.env.items():
            if known.issuperset(value.ids) or is_manager(value.type):
                continue
            if self._holds_floats_inside(value.type):
                self.refuse("lists and objects with numbers that are made inside of 'hia.no_grad()' cannot be converted; "
                            "compute the numbers inside, and make them behind it")
            self.env[name] = Value(value.type, tuple(id_ if id_ in known else self.without_gradient(id_) for id_ in value.ids))

    def _holds_floats_inside(self, type_, is_inside=False, seen=frozenset()):
        """Whether floats are in lists or objects of a value of the type."""
        if isinstance(type_, Objs):
            fields = [field for (cls, _), field in self.converter.fields.items() if cls in type_.classes - seen]
            return any(self._holds_floats_inside(field, True, seen | type_.classes) for field in fields)
        if isinstance(type_, Lst):
            return self._holds_floats_inside(type_.element, True, seen)
        if isinstance(type_, Mapping):
            return self._holds_floats_inside(type_.value, True, seen)
        parts = [*getattr(type_, "items", ()), *getattr(type_, "sides", ())]
        return is_inside and is_float(type_) or any(self._holds_floats_inside(part, is_inside, seen) for part in parts)

    def without_gradient(self, id_):
        kind = self.graph.type(id_)
        has_gradient = not kind.is_data and kind.dtype in (_core.f32, _core.f64)
        return self.op("stop_gradient", id_) if has_gradient else id_


def is_manager(type_):
    return isinstance(type_, Tup) and issubclass(type_.cls, Manager)
