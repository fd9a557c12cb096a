"""Calls: of functions of Python, methods, built-in functions, and operations on tensors."""

import ast
import builtins
import dataclasses
import functools
import inspect
import types

import numpy

from hiaton import _core, pieces
from hiaton.function import prelude
from hiaton.function.attributes import is_of_several
from hiaton.function.builtin_functions import builtin_functions, iterating, lazy
from hiaton.function.differentiation import is_gradient_maker
from hiaton.function.errors import ConversionError
from hiaton.function.heaps import in_python
from hiaton.function.iterators import gives_iterator
from hiaton.function.known_items import is_parameters_of_module
from hiaton.function.lent_lists import LentObject
from hiaton.function.managers import is_manager, is_manager_function
from hiaton.function.mappings import store_operations
from hiaton.function.partials import is_function, is_partial, partial_with
from hiaton.function.scopes import CHANGES, calls_change, changed
from hiaton.function.source import is_coroutine, is_generator
from hiaton.function.state import Root
from hiaton.function.statements import Scope
from hiaton.function.types import (INT, NEVER, NONE, Const, Dct, Func, Lst, Mapping, Objs, Tens,
                                   Tup, Union, Value, is_number, is_text)
from hiaton.tape import GradientTape, stop_gradient

_DTYPES = {"bool": 0, "u8": 1, "i32": 2, "i64": 3, "f32": 4, "f64": 5}


@functools.cache
def _operations():
    """By function: its row in the table of operations."""
    return {id(getattr(_core.ops, name)): (name, row) for name, row in _core.operation_table().items()
            if hasattr(_core.ops, name)}


def _makes_tensors(target):
    """Whether it is hia.tensor, hia.zeros or their like."""
    return isinstance(target, types.FunctionType) and target.__module__ == "hiaton.tensors"


class Calls:
    def eval_Call(self, node):
        if isinstance(node.func, ast.Attribute):
            made = self._call_attribute(node)
            if made is not None:
                return made
            callee = self.attribute(self.eval(node.func.value), node.func.attr)
        else:
            made = self.call_gradient_at_once(node)
            if made is not None:
                return made
            if self.is_own_by_name(node.func):
                return self.call_by_name(node)
            if self.own_name(node.func) is not None:
                return self.call_special(node.func.id, "__call__", *self._arguments(node))
            callee = self.eval(node.func)
        callee = in_python(callee)
        if isinstance(callee.type, Const):
            special = getattr(self, f"call_{_name_of(callee.type.value)}", None)
            has_stars = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
            if special is not None and callee.type.value in iterating() and not has_stars:
                return special(node)
        target = callee.type.value if isinstance(callee.type, Const) else None
        if target is builtins.len and len(node.args) == 1 and self.own_name(node.args[0]) is not None:
            return self.call_special(node.args[0].id, "__len__", [], {})
        length = (self.length_of_range(node) or self.length_in_table(node)) if target is builtins.len else None
        if length is not None:
            return length
        if target is builtins.print:
            self.refuse("'print' can be converted as a statement outside of 'try' and 'with'; elsewhere, let Python run this function", node)
        args, named = self._arguments(node, id(target) in _operations() or _makes_tensors(target) or target is pieces.split,
                                      target in builtin_functions(), target, is_spread_later=True)
        return self._called(node, lambda: self.call(callee, args, named))

    def _called(self, node, call):
        """What a call gives: of a generator whose items somebody goes over to the end, their list."""
        self.is_run = getattr(node, "hiaton_is_run", False)
        before = dict(self.env) if calls_change(node) else {}
        try:
            made = call()
        finally:
            self.is_run = False
        self.share_what_was_not_taken(node, before)
        return made

    def _arguments(self, node, has_fixed_lists=False, only_looks=False, function=None, is_spread_later=False):
        """`has_fixed_lists`: lists are written as they stand there, [a, b], and have a fixed length. `only_looks`: what is called
        does not keep them. `function`: that is called, where it is known. `is_spread_later`: a list behind a star is left as it is."""
        def one(argument, place=None):
            is_array = self.is_array_for(argument, function, place)
            lent = self.lend(node, argument, function)
            lent = self.lend_object(argument, function) if lent is None else lent
            if lent is not None:
                return lent
            if function is builtins.isinstance and self.own_name(argument) is not None:
                return Value(Objs(frozenset([self.env[argument.id].type.cls])))
            if is_array:
                return self.array_to_look_up(argument.id)
            if has_fixed_lists and isinstance(argument, ast.List):
                return self.tuple_of([one(item) for item in argument.elts])
            if has_fixed_lists and isinstance(argument, ast.ListComp):
                return self.comprehension(argument)
            if function is builtins.len:
                return self.looked_at(argument)
            return self.peek(argument) if only_looks else self.eval(argument)
        args = []
        for argument in node.args:
            is_star = isinstance(argument, ast.Starred)
            args += self.starred_arguments(argument, argument is node.args[-1]) if is_star else [one(argument, len(args))]
        named = self.named_by_stars(node, {k.arg: one(k.value, k.arg) for k in node.keywords if k.arg is not None})
        return args if is_spread_later else self.with_spread(function, args, named), named

    def _call_attribute(self, node):
        """Methods; None where what is called is no method of a value of the graph."""
        if isinstance(node.func.value, ast.Call) and isinstance(node.func.value.func, ast.Name) \
                and node.func.value.func.id == "super":
            return self._call_super(node)
        own = self.own_name(node.func.value)
        if own is None and node.func.attr == "keys" and self.owns_items(getattr(node.func.value, "id", None)):
            value = self.peek(node.func.value, True)
        elif own is None:
            value = self.receiver_of(node.func)
            own = self.name_of_new(value)
        if own is not None:
            return self.call_own_method(node, own)
        self.ask_for_own_around(node.func.value, value.type)
        if is_of_several(value.type):
            args, named = self._arguments(node)
            return self._called(node, lambda: self.method_of_sides(value, node.func.attr, args, named))
        if isinstance(value.type, (Objs, Union)):
            value = self.operand(value)
        if isinstance(value.type, Const) and type(value.type.value) is str:
            return self.method_of_text(value.type.value, node.func.attr, *self._arguments(node))
        if isinstance(value.type, Const) and type(value.type.value) is dict:
            return self.method_of_known_dict(value.type.value, node.func.attr, *self._arguments(node))
        if isinstance(value.type, Dct):
            args, named = self._arguments(node)
            if named:
                self.refuse(f"arguments by name of 'dict.{node.func.attr}' cannot be converted; write them without names")
            return self.dict_method(value, node.func.attr, args)
        if isinstance(value.type, (Objs, Tens)) or isinstance(value.type, Tup) and value.type.cls is not tuple:
            args, named = self._arguments(node, function=self._method_of(value, node.func.attr))
            return self._called(node, lambda: self.call_method(value, node.func.attr, args, named))
        if isinstance(value.type, Mapping) and value.type.cls is dict and node.func.attr in ("pop", "setdefault") \
                and isinstance(node.func.value, ast.Name) and not node.keywords:
            return self.popped_inside(node)
        if isinstance(value.type, Mapping):
            args, named = self._arguments(node)
            if named:
                self.refuse(f"arguments by name of '{node.func.attr}' cannot be converted; write them without names")
            return self.mapping_method(self._as_arguments_left_it(node, value), node.func.attr, args, node)
        if isinstance(value.type, Lst) and node.func.attr == "pop":
            self.ask_for_own_holder(node.func.value)
        if isinstance(value.type, Lst) and node.func.attr == "pop" and isinstance(node.func.value, ast.Name) and not node.keywords:
            return self.popped_inside(node)
        if isinstance(value.type, Lst):
            if node.func.attr == "copy" and not node.keywords and not node.args:
                return self.copied(value)
            named = {"index": "place_of", "count": "count_of"}
            if node.func.attr in named and not node.keywords and len(node.args) == 1:
                args, _ = self._arguments(node)
                return self.call_prelude(named[node.func.attr], [self._as_arguments_left_it(node, value), *args])
            if node.func.attr in CHANGES and isinstance(node.func.value, (ast.Attribute, ast.Subscript)):
                self.refuse(f"list.{node.func.attr} cannot be converted here, where something else may refer to the list, or to what holds it; "
                            "build a new list, or change that of an object or a dict which the function has made, as rows = {i: [] for i in range(n)}")
            self.refuse(f"list.{node.func.attr} cannot be converted here; "
                        "lists that the function made have methods that change them, as statements of their own")
        return None

    def _as_arguments_left_it(self, node, value):
        """What a method is called of: the arguments may have changed it."""
        return self.peek(node.func.value) if getattr(node.func.value, "id", None) in changed(*node.args) else value

    @staticmethod
    def _method_of(value, name):
        """The method that an object is called by; a tuple of them, if its classes have different ones; None: they have none in Python."""
        found = {id(method): method for method in (inspect.getattr_static(cls, name, None) for cls in getattr(value.type, "classes", ()))}
        if len(found) > 1 and all(isinstance(method, types.FunctionType) for method in found.values()):
            return tuple(types.MethodType(method, value) for method in found.values())
        method = found.popitem()[1] if len(found) == 1 else None
        return types.MethodType(method, value) if isinstance(method, types.FunctionType) else method

    def _call_super(self, node):
        cls, this = self.where.owner, self.env.get(self.where.first)
        if cls is None or this is None or node.func.value.args:
            self.refuse("'super' can be converted in a method, as super().method(...); "
                        "name the class, or call it outside of the function")
        own = self.where.first if self.is_own(self.where.first) else None
        if own is not None:
            instance = this.type.cls
            this = LentObject(this.type, (), own)
        else:
            instance = next(iter(this.type.classes)) if isinstance(this.type, Objs) else type(this.type.value)
        following = instance.__mro__[instance.__mro__.index(cls) + 1:]
        for base in following:
            if node.func.attr in vars(base):
                if own is not None and vars(base)[node.func.attr] is object.__init__:
                    return Value(NONE)
                args, named = self._arguments(node)
                return self._called(node, lambda: self.call_function(vars(base)[node.func.attr], [this, *args], named))
        self.refuse(f"no class above '{cls.__name__}' has a method '{node.func.attr}'; call one that there is")

    def call(self, callee, args, named):
        if isinstance(callee.type, Union) and all(map(is_function, callee.type.sides)):
            return self.call_one_of(callee, args, named)
        callee = self.chosen(callee)
        args = self.with_spread(callee.type, args, named)
        if isinstance(callee.type, Func):
            return self.call_closure(callee, args, named)
        if is_partial(callee.type):
            return self._call_partial(callee, args, named)
        if not isinstance(callee.type, Const):
            if isinstance(callee.type, Objs):
                return self.call_method(callee, "__call__", args, named)
            self.refuse(f"a call of {callee.type} cannot be converted; call a function, a method or a class")
        target = callee.type.value
        if _makes_tensors(target):
            return self.constant_tensor(target, args, named)
        if target is pieces.split:
            return self.tensor_split(self.bound(target, args, named))
        if target is prelude.head or target is prelude.tail:
            return self.head(args[0]) if target is prelude.head else self.tail(args[0])
        if target is prelude.before:
            return self.cons(*args)
        if id(target) in store_operations():
            return getattr(self, store_operations()[id(target)])(*args)
        if target is stop_gradient:
            (value,) = self.bound(target, args, named)
            return Value(value.type, tuple(map(self.without_gradient, value.ids)))
        if target is GradientTape:
            self.refuse("'hia.GradientTape()' cannot be converted; write hia.grad(f)(x) or hia.value_and_grad(f)(x)")
        if is_gradient_maker(target):
            return self.gradient_function(target, args, named)
        if target is dataclasses.replace and len(args) == 1:
            return self.replaced(args[0], named)
        if isinstance(target, types.FunctionType):
            return self.call_function(target, args, named)
        if is_parameters_of_module(callee.type) and not args and not named:
            return self.parameters_of_module(target.__self__)
        if isinstance(target, types.MethodType):
            return self.call_function(target.__func__, [self.constant_value(target.__self__, "self"), *args], named)
        if id(target) in _operations():
            return self.tensor_op(_operations()[id(target)][0], args, named)
        if isinstance(target, _core.DType):
            return self.cast_to(target, args)
        original = getattr(target, "__wrapped__", None)
        if type(target).__module__.startswith("hiaton.function") and original is not None:
            return self.call_function(original, args, named)
        if target in builtin_functions():
            if named:
                self.refuse(f"arguments by name of '{_name_of(target)}' cannot be converted; write them without names")
            special = getattr(self, f"builtin_{_name_of(target)}", None)
            return special(*args) if special is not None else self.call_math(target, args)
        if isinstance(target, types.BuiltinFunctionType) and not named:
            made = self.call_of_library(target, args)
            if made is not None:
                return made
        if isinstance(target, functools.partial):
            fixed = [self.constant_value(value, "an argument of functools.partial") for value in target.args]
            by_name = {name: self.constant_value(value, name) for name, value in target.keywords.items()}
            return self.call(Value(Const(target.func)), [*fixed, *args], {**by_name, **named})
        if target is functools.partial and args:
            return self.tuple_of([*args, *named.values()], partial_with(tuple(named)))
        if target is dict and not args:
            return self.dict_of(named)
        if gives_iterator(target):
            self.refuse(f"what itertools.{target.__name__} gives can be gone over where it is made, in a loop or as list(...); make a list "
                        "to keep it")
        if target in lazy():
            self.refuse(f"what '{target.__name__}' gives can be gone over where it is made, in a loop or as list(...); make a list to keep it")
        if isinstance(target, type):
            return self.construct(target, args, named)
        if hasattr(target, "function_and_receiver"):
            return self.call_gradient(target, args, named)
        method = getattr(type(target), "__call__", None)
        if isinstance(method, types.FunctionType):
            self.converter.guard("static", type(target), "__call__", method)
            if "_why_not_called" in method.__code__.co_names:  # that of nn.Module itself
                self.fail(target._why_not_called())
            return self.call_function(method, [callee, *args], named)
        self._refuse_foreign(target)

    def _refuse_foreign(self, target):
        if isinstance(target, type(functools.cache(len))):
            self.refuse(f"'{_name_of(target)}' keeps its results for later calls, which a graph does not; define it inside of the function that "
                        "calls it, with functools.cache, or call it without that")
        if isinstance(target, numpy.ufunc) and hasattr(_core.ops, target.__name__):
            self.refuse(f"'numpy.{target.__name__}' is foreign to the graph; call hia.{target.__name__}")
        if target in (builtins.id, builtins.hash):
            self.refuse(f"'{_name_of(target)}' is foreign to the graph; its objects have no place in memory: give each a number of its own, in a field")
        self.refuse(f"'{_name_of(target)}' is foreign to the graph; call it outside of the function, or let Python run this function")

    def _call_partial(self, value, args, named):
        """A call of what functools.partial gave in the graph."""
        names = value.type.cls.names
        function, *fixed = self.items(value)
        count = len(fixed) - len(names)
        return self.call(function, [*fixed[:count], *args], {**dict(zip(names, fixed[count:])), **named})

    # Functions of Python.

    def call_function(self, function, args, named):
        if not isinstance(function, types.FunctionType):
            wrapped = getattr(function, "__wrapped__", None)
            if isinstance(function, staticmethod):
                wrapped = function.__func__
            if wrapped is None:
                self.refuse(f"'{_name_of(function)}' is foreign to the graph; "
                            "call it outside of the function, or let Python run this function")
            return self.call_function(wrapped, args, named)
        if is_manager_function(function):
            return self.call_manager(function.__wrapped__, args, named)
        converter, is_run, self.is_run = self.converter, self.is_run, False
        if is_coroutine(function):
            self.refuse(f"'{function.__qualname__}' is a coroutine, which a graph cannot run; call it outside of the function")
        if is_generator(function):
            if not is_run:
                self.refuse(f"'{function.__qualname__}' is a generator; "
                            "it can be converted where it is run to its end, in a loop without "
                            "'break' and 'return', a comprehension, 'list', 'sum' and their like; elsewhere, give a list")
            if id(function.__code__) in converter.stateful:
                self.refuse(f"'{function.__qualname__}' is a generator that prints, sets, or reads what is set; give a list")
        values = self.bound(function, args, named)
        function = self.with_own_names(function, values)
        tree, parameters = self._tree_and_parameters(function)
        if any(isinstance(value, LentObject) for value in values):
            return self.call_with_objects(function, tree, parameters, values)
        lent = self.lent_to(function, tree, parameters, values)
        values = self.passed_values(values, function.__code__, [name in lent for name in parameters])
        values = [self._strict(v, converter.strict.get((id(function.__code__), i, v.type))) for i, v in enumerate(values)]
        converter.callers[id(function.__code__)].add(id(self.where.function.__code__))
        has_state = id(function.__code__) in converter.stateful
        if has_state:
            self.needs_state(function.__name__)
            values += self.state_values()
        made = self.call_instance(converter.instance_of(function, [v.type for v in values]), values)
        return self.taken_back(made, tree, has_state, lent)

    def _tree_and_parameters(self, function):
        try:
            scope = self.converter.scope_of(function, Scope)
            return scope.tree, scope.parameters
        except ConversionError:  # its text is not known, as its instance says
            return None, inspect.signature(function, follow_wrapped=False).parameters

    def passed_values(self, values, code, are_lent):
        """As other functions take them."""
        if id(code) not in self.converter.fixed:
            values = [self.held(v) if is_number(v.type) or isinstance(v.type, (Tup, Dct)) else v for v in values]
        return [v if is_lent and isinstance(v.type, (Lst, Mapping)) else self.handed_on(self.shared(v)) for v, is_lent in zip(values, are_lent)]

    def _strict(self, value, side):
        if side is None:
            return value
        if isinstance(value.type, Objs):
            return self.operand(value)
        return self.chosen(value, lambda one: one == side)

    def call_instance(self, instance, values):
        values = [self.coerce(value, type_) for value, type_ in zip(values, instance.types)]
        if instance.result is NEVER:
            self.fail_as(instance)
        gradients = self.differentiated(instance, values)
        if gradients is not None:
            return gradients
        ids = [id_ for value in (*values, *self.followed.values()) for id_ in value.ids]
        made = self.graph.call(instance.number, ids)
        if instance.key in self.converter.giving_taken_out:
            self.taken_out.add(made[0])
        return Value(instance.result, tuple(made[:len(self.converter.graph_types(instance.result))]))

    def bound(self, function, args, named):
        """The arguments by parameter."""
        if function.__defaults__ or function.__kwdefaults__:
            self.converter.guard("defaults", function, None, (function.__defaults__, function.__kwdefaults__))
        try:
            bound = self.converter.signature_of(function).bind(*args, **named)
        except TypeError as error:
            self.fail(f"{function.__qualname__}(): {error}")
        values = []
        for name, parameter in bound.signature.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                values.append(self.tuple_of([self.not_lent(value) for value in bound.arguments.get(name, ())]))
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                values.append(self.dict_of({key: self.not_lent(value) for key, value in bound.arguments.get(name, {}).items()}))
            elif name in bound.arguments:
                values.append(bound.arguments[name])
            else:
                values.append(self.constant_value(parameter.default, name))
        return values

    def call_prelude(self, name, args):
        return self.call_function(getattr(prelude, name), args, {})

    def call_method(self, value, name, args, named):
        if isinstance(value.type, Tens):
            return self.tensor_method(value, name, args, named)
        if is_manager(value.type):
            return self.manager_method(value, name)
        if isinstance(value.type, Tup) and name == "_replace" and not args:
            return self.replaced(value, named)
        if isinstance(value.type, Tup):
            return self.call_function(inspect.getattr_static(value.type.cls, name), [value, *args], named)
        if isinstance(value.type, Const):
            return self.call(self.attribute(value, name), args, named)
        groups = {}
        for cls in sorted(value.type.classes, key=lambda c: c.__qualname__):
            found = inspect.getattr_static(cls, name, None)
            if (cls, name) in self.converter.fields:
                if isinstance(found, types.FunctionType):
                    self.refuse(f"objects of '{cls.__name__}' have a field '{name}' of their own, which hides a method; "
                                "give the field another name")
                groups.setdefault(cls, (None, [cls]))
                continue
            if found is None:
                self.refuse(f"'{cls.__name__}' has no method '{name}'; define it in the class")
            self.converter.guard("static", cls, name, found)
            groups.setdefault(id(found), (found, []))[1].append(cls)
        groups = list(groups.values())

        def of_group(number):
            function, classes = groups[number]
            this = value if isinstance(value.type, Root) else Value(Objs(frozenset(classes)), value.ids)

            def call():
                if function is None:  # what an attribute of the object holds is called
                    return self.call(self.attribute(this, name), args, named)
                if isinstance(function, staticmethod):
                    return self.call_function(function.__func__, args, named)
                if isinstance(function, classmethod):
                    self.refuse(f"'{name}' is a classmethod, called for an object; call it for the class")
                return self.call_function(function, [this, *args], named)
            if number + 1 == len(groups):
                return call()
            return self.changing_on_sides(calls_change(self.node), lambda: self.either(
                self.truth_id(self.is_instance_of(value, classes)), call, lambda: of_group(number + 1),
                ("method", id(self.node), name, number)))
        return of_group(0)

    def is_instance_of(self, value, classes):
        """Whether its class is one of these very classes."""
        which, condition = self.graph.variant(value.ids[0]), False
        for cls in classes:
            condition = self.any_of(condition, self.op("eq", which, self.constant(self.variant_of(cls), "i64")))
        return condition

    def truth_id(self, condition):
        return self.constant(condition, "bool") if isinstance(condition, bool) else condition

    # Built-in functions.

    def builtin_len(self, value):
        value = self.chosen(value)
        if isinstance(value.type, Mapping):
            return self.length_of_mapping(value)
        value = self.iterated(value)
        if isinstance(value.type, (Tup, Dct)):
            return Value(Const(len(value.type.items)))
        if isinstance(value.type, Lst):
            return self.length_of_array(value) if value.type.array else self.call_prelude("count", [self.mirrored(value)])
        if isinstance(value.type, Tens) and value.type.dims:
            return Value(INT, (self.op("size", value.ids[0], attributes=(0,)),))
        if isinstance(value.type, Objs):
            return self.call_method(value, "__len__", [], {})
        if isinstance(value.type, Const) and isinstance(value.type.value, str):
            return Value(Const(len(value.type.value)))
        advice = "hand over a list, as of numbers of its letters" if is_text(value.type) else "give the number as an argument"
        self.refuse(f"the length of {value.type} cannot be converted; count in the function, or {advice}")

    def builtin_isinstance(self, value, classes):
        return self.truth_value(self.is_instance(value, self.classes_of(classes)))

    def builtin_min(self, *values):
        return self._extreme("smaller", "smallest", values)

    def builtin_max(self, *values):
        return self._extreme("larger", "largest", values)

    def _extreme(self, two, many, values):
        if len(values) == 1 and isinstance(values[0].type, Tup):
            values = self.items(values[0])
        if len(values) == 1:
            return self.call_prelude(many, [values[0]])
        if not values:
            self.fail("expected something to compare, found none")
        best = values[0]
        for value in values[1:]:
            best = self.call_prelude(two, [best, value])
        return best


def _name_of(target):
    return getattr(target, "__name__", None) or type(target).__name__
