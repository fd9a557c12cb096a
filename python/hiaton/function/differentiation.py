"""Gradients inside of graphs: calls of what hia.grad and hia.value_and_grad give become calls of gradient functions."""

import ast
import inspect
import types
import typing

from hiaton import _core
from hiaton.function.types import FLOAT, Const, Dct, Func, Tup, Value, floats_in, is_float


class Wanted(typing.NamedTuple):
    """What a call of a function is to give in place of its result."""

    code: int          # the identity of the code, or of the syntax tree, of the function that is called
    count: int         # of the parameters that argnums count
    argnums: object    # a number or a tuple of them
    with_value: bool
    has_aux: bool


class Differentiation:
    def gradient_function(self, function, args, named):
        """What hia.grad(f) gives where f is known before the run."""
        bound = inspect.signature(function).bind(*args, **named)
        bound.apply_defaults()
        known = {name: self._known_part(value) for name, value in bound.arguments.items()}
        key = (function, *map(repr, list(known.values())[1:]), id(known["function"]))
        made = self.converter.gradient_functions
        if key not in made:
            try:
                made[key] = function(**known)
            except (TypeError, ValueError) as error:
                self.refuse(str(error))
        return Value(Const(made[key]))

    def call_gradient_at_once(self, node):
        """hia.grad(f)(x), where f may be defined inside; None where the node is something else."""
        inner = node.func
        if not (isinstance(inner, ast.Call) and isinstance(inner.func, (ast.Name, ast.Attribute))):
            return None
        maker = self.eval(inner.func)
        if not (isinstance(maker.type, Const) and is_gradient_maker(maker.type.value)):
            return None
        args, named = self._arguments(inner)
        bound = inspect.signature(maker.type.value).bind(*args, **named)
        bound.apply_defaults()
        function = bound.arguments["function"]
        if not isinstance(function.type, Func):
            return None
        argnums, has_aux = (self._known_part(bound.arguments[name]) for name in ("argnums", "has_aux"))
        tree = function.type.node
        count = len(tree.args.posonlyargs + tree.args.args + tree.args.kwonlyargs) + bool(tree.args.vararg)
        wanted = Wanted(id(tree), count, argnums, maker.type.value.__name__ == "value_and_grad", has_aux)
        return self._gradients_of_call(wanted, function, *self._arguments(node))

    def call_gradient(self, made, args, named):
        """A call of an object that hia.grad or hia.value_and_grad gave."""
        function, receiver = made.function_and_receiver()
        if not isinstance(function, types.FunctionType):
            self.refuse("the gradient of what is no function of Python cannot be converted; define a function")
        if id(function.__code__) in self.converter.stateful:
            self.refuse(f"the gradient of '{function.__qualname__}', which prints or sets something, cannot be converted here; "
                        "take it outside of the function")
        count = len(inspect.signature(function).parameters) - len(receiver)
        wanted = Wanted(id(function.__code__), count, *made.how())
        callee = Value(Const(types.MethodType(function, *receiver) if receiver else function))
        return self._gradients_of_call(wanted, callee, args, named)

    def _gradients_of_call(self, wanted, callee, args, named):
        args = [self.held(value) for value in args]
        named = {name: self.held(value) for name, value in named.items()}
        before, self.wanted = self.wanted, wanted
        try:
            return self.call(callee, args, named)
        finally:
            self.wanted = before

    def differentiated(self, instance, values):
        """What the call of the instance gives if its gradient is wanted; None if it is not."""
        wanted = self.wanted
        if wanted is None or wanted.code not in (instance.key[1], instance.key[1][-1] if isinstance(instance.key[1], tuple) else 0):
            return None
        numbers = wanted.argnums if isinstance(wanted.argnums, tuple) else (wanted.argnums,)
        first = len(values) - wanted.count
        if not all(isinstance(number, int) for number in numbers):
            self.refuse(f"argnums: expected the number of an argument, or a tuple of such numbers, found {wanted.argnums!r}; count from 0 on")
        places = [number + (first if number >= 0 else len(values)) for number in numbers]
        if not all(first <= place < len(values) and _has_only_floats(values[place].type) for place in places):
            self.refuse("expected floats, tensors of floats, or tuples of them as arguments by which the gradient is to be, found "
                        f"{', '.join(str(v.type) for v in values[first:])}; choose others by argnums")
        loss = instance.result.items[0] if wanted.has_aux and isinstance(instance.result, Tup) else instance.result
        if loss == FLOAT and (instance.key in self.converter.giving_taken_out or any(_has_tensors(values[place].type) for place in places)):
            self.refuse("expected a tensor to take gradients of, found a float: .item() and float() take a number out of a tensor, "
                        "and gradients end there; give the tensor itself")
        before = [sum(len(v.ids) for v in values[:place]) for place in places]
        by = sorted({at + n for at, place in zip(before, places) for n in range(len(values[place].ids))})
        try:
            number = self.converter.gradient_instance(instance.number, tuple(by))
        except _core.ProgramError as error:
            self.refuse(f"the gradient of '{instance.name}': {error}; let Python run this function")
        ids = [id_ for value in (*values, *self.followed.values()) for id_ in value.ids]
        made = self.graph.call(number, ids)
        result = Value(instance.result, tuple(made[:len(self.converter.graph_types(instance.result))]))
        gradients = dict(zip(by, made[len(result.ids):]))
        found = [Value(values[place].type, tuple(gradients[at + n] for n in range(len(values[place].ids))))
                 for at, place in zip(before, places)]
        found = self.tuple_of(found) if isinstance(wanted.argnums, tuple) else found[0]
        if wanted.with_value:
            return self.tuple_of([result, found])
        return self.tuple_of([found, self.items(result)[1]]) if wanted.has_aux else found

    def _known_part(self, value):
        if not isinstance(value, Value):
            return value
        if isinstance(value.type, Tup):
            return tuple(map(self._known_part, self.items(value)))
        if isinstance(value.type, Func):
            self.refuse("the gradient function of a function that is defined inside is called at once, as hia.grad(f)(x); "
                        "or define that function outside")
        if not isinstance(value.type, Const):
            self.refuse(f"hia.grad(): expected what is known before the run, found {value.type}; write the number")
        return value.type.value


def is_gradient_maker(target):
    return isinstance(target, types.FunctionType) and target.__module__ == "hiaton.function.gradients" and target.__name__ in (
        "grad", "value_and_grad")


def _has_tensors(type_):
    return any(one != FLOAT for one in floats_in(type_))


def _has_only_floats(type_):
    if isinstance(type_, (Tup, Dct)):
        return bool(floats_in(type_)) and all(map(_has_only_floats, type_.items))
    return is_float(type_)
