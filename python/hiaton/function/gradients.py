"""Gradients of functions of Python: by the parameters of modules, and by arguments."""

import inspect

from hiaton import _core, programs, tensors
from hiaton.function import MOST_GRAPHS, ConversionError, GraphCallable, converted, prelude
from hiaton.function.types import Const, Dct, Scalar, Symbol, Tens, Tup, floats_in


class Gradients(programs.Gradients):
    """The gradients of a number by the parameters of a module, by path."""

    def __init__(self, module, numbers, core):
        self._parameters = module.parameters()
        super().__init__(list(self._parameters), core)
        self._numbers = numbers

    def numbers_of(self, parameters):
        """Which gradient of the graph is that of each parameter; -1: none."""
        return [self._numbers.get(id(parameter), -1) for parameter in parameters]

    def __getitem__(self, path):
        number = self._numbers.get(id(self._parameters[path]), -1)
        if number < 0:
            return tensors.zeros(self._parameters[path].shape, self._parameters[path].dtype)
        values, rows = self._core.values(number), self._core.rows(number)
        return values if rows is None else programs.RowGrad(rows, values[rows])


class Converted:
    """Graphs of a function that takes part in gradients: there is no plain Python to go back to."""

    def __init__(self, target, workers=1):
        self._settings = {"workers": workers, "max_frames": 0}
        target = getattr(target, "__wrapped__", target)
        self._receiver = ()
        if inspect.ismethod(target):
            self._receiver = (target.__self__,)
            target = getattr(target.__func__, "__wrapped__", target.__func__)
        self._target = target
        self._signature = inspect.signature(target)
        self._graphs = []
        self._fields = {}
        self._state_types = {}

    def _call(self, args, named, run, **how):
        bound = self._signature.bind(*self._receiver, *args, **named)
        bound.apply_defaults()
        values = tuple(bound.arguments.values())
        for graph in self._graphs:
            given = values if graph.states is None else graph.states.read(values)
            if given is not None and graph.guards.hold():
                try:
                    return self._run(graph, given, run)
                except _core.Miss:
                    continue
        for graph in self._graphs:
            if graph.states is not None:
                graph.states.add_types(values, self._fields, self._state_types)
        graph = converted(self._target, values, self._settings, self._fields, entry="loss",
                          state_types=self._state_types, **how)
        self._graphs = [graph, *self._graphs][:MOST_GRAPHS]
        given = values if graph.states is None else graph.states.read(values)
        if given is None:
            raise ConversionError(f"'{self._target.__qualname__}': expected objects that are not known to it otherwise, where "
                                  "their attributes are set")
        try:
            return self._run(graph, given, run)
        except _core.Miss as miss:
            raise ConversionError(f"'{self._target.__qualname__}': {miss.args[0]}") from None

    def _run(self, graph, values, run):
        try:
            return run(graph, values)
        except _core.RunError:
            # Python says what is wrong with the call, where it can.
            self._target(*values[:len(graph.types)])
            raise


class ModuleGradients(Converted):
    """What `nn.value_and_grad` gives."""

    def __init__(self, module, target, has_aux, workers):
        super().__init__(target, workers)
        self._module = module
        self._has_aux = has_aux

    def __call__(self, *args, **named):
        def run(graph, values):
            loss, core = graph.core.value_and_grad(values)
            if graph.states is not None:
                loss = graph.end(values, loss)
            numbers = {id(parameter): number for number, (parameter, _) in enumerate(graph.parameters)}
            return loss, Gradients(self._module, numbers, core)
        return self._call(args, named, run, has_aux=self._has_aux, may_write=True)


class ArgumentGradients(Converted):
    """What `hiaton.value_and_grad` and `hiaton.grad` give."""

    def __init__(self, target, argnums, with_value, has_aux):
        super().__init__(target)
        self._argnums = tuple(argnums) if isinstance(argnums, (tuple, list)) else argnums
        self._with_value = with_value
        self._has_aux = has_aux

    def __call__(self, *args, **named):
        def run(graph, values):
            for type_ in graph.types:
                if not _has_only_numbers(type_):
                    raise ConversionError(f"'{self._target.__qualname__}': expected tensors and numbers, and tuples of them, as "
                                          f"arguments to take gradients by, found {type_}")
            value, *gradients = graph.core.call(values)
            wanted = self._argnums if isinstance(self._argnums, tuple) else (self._argnums,)
            found = [self._of(number, gradients, graph.types) for number in wanted]
            found = tuple(found) if isinstance(self._argnums, tuple) else found[0]
            if self._with_value:
                return value, found
            return (found, value[1]) if self._has_aux else found
        return self._call(args, named, run, by_arguments=True, has_aux=self._has_aux)

    def _of(self, number, gradients, types):
        """The gradient by an argument, as the argument is built."""
        first = len(self._receiver)
        place = number + first if number >= 0 else number + len(types)
        if not first <= place < len(types):
            raise ValueError(f"argnums: expected numbers of {len(types) - first} arguments, found {number}")
        before = sum(len(floats_in(type_)) for type_ in types[:place])
        return _built(types[place], iter(gradients[before:]), number)


def _has_only_numbers(type_):
    return all(map(_has_only_numbers, type_.items)) if isinstance(type_, (Tup, Dct)) else \
        isinstance(type_, (Tens, Scalar, Const, Symbol))


def _built(type_, gradients, number):
    if isinstance(type_, Dct):
        return {key: _built(item, gradients, number) for key, item in zip(type_.keys, type_.items)}
    if isinstance(type_, Tup):
        items = [_built(item, gradients, number) for item in type_.items]
        return tuple(items) if type_.cls is tuple else type_.cls._make(items)
    if not floats_in(type_):
        raise TypeError(f"expected a tensor of floats or a float as argument {number}, found {type_}")
    return next(gradients)


def value_and_grad(function, argnums=0, has_aux=False):
    """A function that gives what `function` gives, a number, and its gradient by an argument, or a tuple of them by several:
    tensors of floats, floats, and tuples of them. With `has_aux`, `function` gives a pair of the number and other results,
    and so does what is made of it. The gradient is that of a graph; ConversionError where there is none."""
    return ArgumentGradients(function, argnums, True, has_aux)


def grad(function, argnums=0, has_aux=False):
    """The same without the number; with `has_aux`, a pair of the gradient and the other results."""
    return ArgumentGradients(function, argnums, False, has_aux)


def vmap(function):
    """A function that takes a list of examples, and gives a list of what `function` gives for each; all run in batches."""
    mapped = GraphCallable(prelude.mapped)
    return lambda examples: mapped(function, list(examples))
