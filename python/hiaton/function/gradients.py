"""Gradients of functions of Python: by the parameters of modules, and by arguments."""

import inspect

from hiaton import _core, programs, tensors
from hiaton.function import MOST_GRAPHS, ConversionError, GraphCallable, converted, prelude
from hiaton.function.types import Const, Scalar, Symbol, Tens, is_float


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
            return tensors.zeros(self._parameters[path].shape)
        values, rows = self._core.values(number), self._core.rows(number)
        return values if rows is None else programs.RowGrad(rows, values[rows])


class Converted:
    """Graphs of a function that takes part in gradients: there is no plain Python to go back to."""

    def __init__(self, target):
        target = getattr(target, "__wrapped__", target)
        self._receiver = ()
        if inspect.ismethod(target):
            self._receiver = (target.__self__,)
            target = getattr(target.__func__, "__wrapped__", target.__func__)
        self._target = target
        self._signature = inspect.signature(target)
        self._graphs = []
        self._fields = {}

    def _call(self, args, named, run, **how):
        bound = self._signature.bind(*self._receiver, *args, **named)
        bound.apply_defaults()
        values = tuple(bound.arguments.values())
        for graph in self._graphs:
            if graph.guards.hold():
                try:
                    return self._run(graph, values, run)
                except _core.Miss:
                    continue
        graph = converted(self._target, values, {"workers": 1, "max_frames": 0}, self._fields, entry="loss", **how)
        self._graphs = [graph, *self._graphs][:MOST_GRAPHS]
        try:
            return self._run(graph, values, run)
        except _core.Miss as miss:
            raise ConversionError(f"'{self._target.__qualname__}': {miss.args[0]}") from None

    def _run(self, graph, values, run):
        try:
            return run(graph, values)
        except _core.RunError:
            # Python says what is wrong with the call, where it can.
            self._target(*values)
            raise


class ModuleGradients(Converted):
    """What `nn.value_and_grad` gives."""

    def __init__(self, module, target):
        super().__init__(target)
        self._module = module

    def __call__(self, *args, **named):
        def run(graph, values):
            loss, core = graph.core.value_and_grad(values)
            numbers = {id(parameter): number for number, (parameter, _) in enumerate(graph.parameters)}
            return loss, Gradients(self._module, numbers, core)
        return self._call(args, named, run)


class ArgumentGradients(Converted):
    """What `hiaton.value_and_grad` and `hiaton.grad` give."""

    def __init__(self, target, argnums, with_value):
        super().__init__(target)
        self._argnums = argnums
        self._with_value = with_value

    def __call__(self, *args, **named):
        def run(graph, values):
            for type_ in graph.types:
                if not isinstance(type_, (Tens, Scalar, Const, Symbol)):
                    raise ConversionError(f"'{self._target.__qualname__}': expected tensors and numbers as arguments to take "
                                          f"gradients by, found {type_}")
            value, *gradients = graph.core.call(values)
            places = [place for place, type_ in enumerate(graph.types) if is_float(type_)]
            found = [self._of(number + len(self._receiver), places, gradients, graph.types)
                     for number in (self._argnums if isinstance(self._argnums, tuple) else (self._argnums,))]
            found = tuple(found) if isinstance(self._argnums, tuple) else found[0]
            return (value, found) if self._with_value else found
        return self._call(args, named, run, by_arguments=True)

    def _of(self, number, places, gradients, types):
        if number not in places:
            raise TypeError(f"expected a tensor of floats or a float as argument {number}, found {types[number]}")
        return gradients[places.index(number)]


def value_and_grad(function, argnums=0):
    """A function that gives what `function` gives, a number, and its gradient by an argument, or a tuple of them by several:
    tensors of floats, and floats. The gradient is that of a graph; ConversionError where there is none."""
    return ArgumentGradients(function, argnums, True)


def grad(function, argnums=0):
    """The same without the number."""
    return ArgumentGradients(function, argnums, False)


def vmap(function):
    """A function that takes a list of examples, and gives a list of what `function` gives for each; all run in batches."""
    mapped = GraphCallable(prelude.mapped)
    return lambda examples: mapped(function, list(examples))
