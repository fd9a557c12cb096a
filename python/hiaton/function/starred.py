"""Arguments behind a star, f(*items): of a list, as many elements as what is called has parameters for."""

import ast
import inspect
import types

from hiaton import _core
from hiaton.function.scopes import parameters_of
from hiaton.function.types import Const, Func, Lst, Tup, Value


class Spread(Value):
    """The arguments that stand for a list behind a star, until it is known what is called."""


class Starred:
    def starred_arguments(self, node, is_last):
        """The arguments that an expression behind a star stands for."""
        is_lazy = isinstance(node.value, ast.GeneratorExp) or self.is_lazy(node.value)
        value = self.as_list(node.value) if is_lazy else self.eval(node.value)
        if isinstance(value.type, Lst) and is_last:
            return [Spread(value.type, self.forward(value).ids)]
        return self.items_behind_star(value, node)

    def items_behind_star(self, value, node=None):
        value = self.chosen(value, lambda side: isinstance(side, Tup))
        if not isinstance(value.type, Tup):
            self.refuse(f"'*' takes apart what has a length that is known before the run, found {value.type}; write the items out", node)
        return self.items(value)

    def with_spread(self, callee, args, named):
        """The arguments of a call, of which the last may stand for a list. `callee`: the type of what is called, a method with what it is
        called of; None: it is not known."""
        if not args or not isinstance(args[-1], Spread):
            return args
        *args, spread = args
        count = None if callee is None else _places_in(callee, self.converter.signature_of)
        if count is None:
            self.refuse(f"'*' takes {spread.type} apart where what is called has a known number of parameters, without defaults and '*'; write the "
                        "items out")
        names = [] if isinstance(count, int) else [name for name in count[len(args):] if name not in named]
        rest = Value(spread.type, spread.ids)
        return [*args, *self.elements(rest, max(count - len(args), 0) if isinstance(count, int) else len(names))]


def _places_in(callee, signature_of):
    """The names of the parameters that arguments without names are for, or their number; None: it is not known, or some have defaults."""
    if isinstance(callee, Func):
        args = callee.node.args
        return None if args.vararg or args.defaults else parameters_of(callee.node)[:len(args.posonlyargs) + len(args.args)]
    target = callee.value if isinstance(callee, Const) else callee
    row = next((row for name, row in _core.operation_table().items() if getattr(_core.ops, name, None) is target), None)
    if row is not None:
        _, operands, variadic, attributes, *_ = row
        return None if variadic or attributes else len(operands)
    if isinstance(target, types.BuiltinFunctionType):
        return _count_of_builtin(target)
    receivers = 0
    if isinstance(target, types.MethodType):
        target, receivers = target.__func__, 1
    elif isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
        return None if target._field_defaults else list(target._fields)
    elif isinstance(target, type):
        target, receivers = target.__init__, 1
    elif not isinstance(target, types.FunctionType):
        target, receivers = getattr(type(target), "__call__", None), 1
    if not isinstance(target, types.FunctionType):
        return None
    parameters = list(signature_of(target).parameters.values())[receivers:]
    places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    if any(one.kind is one.VAR_POSITIONAL for one in parameters) or any(one.default is not one.empty for one in places):
        return None
    return [one.name for one in places]


def _count_of_builtin(target):
    try:
        parameters = inspect.signature(target).parameters.values()
    except ValueError:
        return None
    return len(parameters) if all(one.kind is one.POSITIONAL_ONLY and one.default is one.empty for one in parameters) else None
