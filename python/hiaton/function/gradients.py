"""Gradients of functions of Python: by the parameters of modules, and by arguments."""

import functools
import inspect
import numbers
import types
import warnings

import numpy

from hiaton import _core, programs, tape, tensors
from hiaton.function import ConversionError, GraphCallable, prelude
from hiaton.function.callers import as_function
from hiaton.function.conversions import Conversions, FallbackWarning, Known, TooMany, plain_count
from hiaton.function.types import FLOAT, Const, Dct, Scalar, Symbol, Tens, Tup, floats_in


_ARRAYS = (numpy.ndarray, numpy.number, numpy.bool_)


class Gradients(programs.Gradients):
    """The gradients of a number by the parameters of a module, by path."""

    def __init__(self, module, numbers, core):
        self._module = module
        self._numbers = numbers  # by identity of the parameters: which gradient of the graph is theirs
        self._core = core

    @functools.cached_property
    def _parameters(self):
        """Found when somebody asks: an optimizer does not."""
        return self._module.parameters()

    @property
    def _names(self):
        return list(self._parameters)

    def numbers_of(self, parameters):
        """Which gradient of the graph is that of each parameter; -1: none."""
        return [self._numbers.get(id(parameter), -1) for parameter in parameters]

    def are_of_others(self, parameters):
        """Whether the module has none of the parameters."""
        return not {*map(id, parameters)} & {*map(id, self._parameters.values())}

    def __getitem__(self, path):
        number = self._numbers.get(id(self._parameters[path]), -1)
        if number < 0:
            return tensors.zeros(self._parameters[path].shape, self._parameters[path].dtype)
        return self.numbered(number)

    def numbered(self, number):
        """The gradient with this number."""
        return programs.RowGrad.of(self._core.values(number), self._core.rows(number))


class TapeGradients(Gradients):
    """The same, where a tape gave them: no graph holds them, and `_core` is None."""

    def __init__(self, module, found):
        """`found`: pairs of a parameter and its gradient."""
        super().__init__(module, {id(parameter): number for number, (parameter, _) in enumerate(found)}, None)
        self._found = [gradient for _, gradient in found]

    def numbered(self, number):
        return self._found[number]


class Converted(Conversions):
    """Graphs of a function that takes part in gradients. Where none is for a call, plain Python runs it on a tape, or with
    `strict` nobody does."""

    exact_graphs = 2

    def __init__(self, target, has_aux, workers=1, strict=False):
        self._has_aux = has_aux
        self._strict = strict
        profile = getattr(getattr(target, "__func__", target), "_profile", None)
        self._receiver = ()
        target = as_function(target)
        if inspect.ismethod(target):  # also of a function that is a graph
            self._receiver = (target.__self__,)
            target = target.__func__
        target = getattr(target, "__wrapped__", target)
        super().__init__(target, {"workers": workers, "max_frames": 0, "max_bytes": 0})
        if not inspect.isfunction(target) and not inspect.isclass(target):
            raise TypeError(f"expected a function or a method of Python, found {target!r}; call it in a function of your own, as "
                            "lambda x: f(x)")
        self._signature = inspect.signature(target)
        parameters = list(self._signature.parameters.values())
        self.__signature__ = self._signature.replace(parameters=parameters[len(self._receiver):])
        self.__qualname__ = getattr(target, "__qualname__", type(target).__qualname__)
        self._count = plain_count(self._signature)
        self._profile = profile  # that its own calls made, without gradients
        self._warned = False

    def _call(self, args, named, **how):
        if any(isinstance(value, _ARRAYS) for value in (*args, *named.values())):
            args = tuple(map(_as_tensor, args))
            named = {name: _as_tensor(value) for name, value in named.items()}
        values = (*self._receiver, *args)
        if named or len(values) != self._count:
            bound = self._signature.bind(*values, **named)
            bound.apply_defaults()
            values = tuple(bound.arguments.values())
        if self._refused is not None:
            return self._on_tape(values, args, named, ConversionError(f"'{self._function.__qualname__}': {self._refused}"))
        if _core.tapes_run() and self.is_for_tapes(values):
            return self._on_tape(values, args, named, ConversionError(
                f"'{self._function.__qualname__}': expected a tensor of one float to take gradients of, where a tape around sees them; "
                "give such a tensor, or leave the tape before"))
        for graph, given in self._known_graphs(values):
            try:
                return self._run(graph, values, given, args, named)
            except _core.Miss as miss:
                graph.note_miss(miss)
                continue
        try:
            graph = self._next_graph(values, entry="loss", **how)
        except Known:
            return self._in_python(values, args, named, ConversionError(
                f"'{self._function.__qualname__}': expected objects that are apart from each other; give copies"))
        except TooMany as error:
            return self._in_python(values, args, named, ConversionError(str(error)))
        except ConversionError as error:
            raise ConversionError(str(error)) from None  # without the calls inside of the conversion
        given = values if graph.states is None else graph.states.read(values)
        if given is None:
            raise ConversionError(f"'{self._function.__qualname__}': expected objects that are not known to it otherwise, where "
                                  "their attributes are set; hand them over as arguments only")
        try:
            return self._run(graph, values, given, args, named)
        except _core.Miss as miss:
            return self._in_python(values, args, named, ConversionError(f"'{self._function.__qualname__}': {miss.args[0]}"))

    def _known_graphs(self, values):
        """Those that may take the values, each with what it is given."""
        for graph in self._graphs:
            given = values if graph.states is None else graph.states.read(values)
            if given is not None and graph.guards.hold():
                yield graph, given

    def _run(self, graph, values, given, args, named):
        try:
            made, rest = self.of_graph(graph, given)
            prints = () if graph.states is None else graph.states.prints(made)
        except _core.RunError as error:
            return self._after_fault(graph, error, values, args, named)
        except Exception as error:
            if isinstance(error, (_core.Miss, _core.Error, ConversionError)):
                raise
            return self._on_tape(values, args, named, error)  # the format of what is printed raised it
        graph.note_run()
        return self.given(graph, made if graph.states is None else graph.end(values, made, prints), rest)

    def _after_fault(self, graph, error, values, args, named):
        """A tape gives what a graph did not; so do all calls from then on that it did too often."""
        why = graph.note_fault(error)
        if why in graph.speculated:
            self._relax(graph, why)
            return self._on_tape(values, args, named, error)
        if self._strict:
            raise ConversionError(f"'{self._function.__qualname__}': its graph gives no gradients here: {why}; "
                                  "without strict=True a tape gives them") from error
        made = self._on_tape(values, args, named, error)
        if graph.note_answer():
            self._refused = f"its graph fails where Python gives a result: {why}"
            self._warn(self._refused, 6)
        return made

    def _in_python(self, values, args, named, error):
        if self._strict:
            raise error
        if not self._warned:
            self._warned = True
            self._warn(error, 5)
        return self._on_tape(values, args, named, error)

    def _warn(self, why, depth):
        """`depth`: how many calls lie between here and the text of the user."""
        warnings.warn(f"'{self._function.__qualname__}': gradients are taken on a tape, in plain Python: {why}", FallbackWarning,
                      stacklevel=depth)

    def _on_tape(self, values, args, named, error):
        """Plain Python runs the call; nothing has been changed or printed yet. Where its loss is none that a tape knows, the call
        ends with the error of the graph."""
        self._plain += 1
        with tape.GradientTape() as recorded:
            self.watch(recorded, values)
            made = self._function(*self._receiver, *args, **named)
        found = self.of_tape(recorded, values, made)
        if found is None:
            raise error
        return found

    def loss_in(self, made):
        """The number in what the function gives, or its type in the type of that."""
        if not self._has_aux:
            return made
        return made.items[0] if isinstance(made, Tup) else made[0] if isinstance(made, tuple) and len(made) == 2 else None


def _as_tensor(value):
    """An array or a number of NumPy as a tensor, which shares its memory where it can."""
    return tensors.asarray(value) if isinstance(value, _ARRAYS) else value


def _is_tensor(made):
    """Whether it is a tensor of one float, which a tape can have recorded."""
    return isinstance(made, _core.Tensor) and made.dtype in (_core.f32, _core.f64) and made.shape == ()


class ModuleGradients(Converted):
    """What `nn.value_and_grad` gives."""

    def __init__(self, module, target, has_aux, workers, strict):
        super().__init__(target, has_aux, workers, strict)
        self._module = module

    def __call__(self, *args, **named):
        return self._call(args, named, has_aux=self._has_aux, may_write=True)

    def _next_graph(self, values, **how):
        """One that is of parameters of the module."""
        graph, name = super()._next_graph(values, **how), type(self._module).__name__
        if self._module is None:
            return graph
        parameters = self._module.parameters().values()
        if not parameters:
            raise TypeError(f"expected a module with parameters, found '{name}', which has none; nn.Parameter(x) makes one of a tensor")
        if graph.numbers and not any(id(parameter) in graph.numbers for parameter in parameters):
            raise TypeError(f"'{self._function.__qualname__}' uses parameters, but none of the '{name}' that gradients are asked for; ask for those of "
                            "the module that it is called with")
        return graph

    def kernel_seconds(self, *args):
        """How long a call with arguments like these is inside of kernels, which are tensor operations and additions to gradients:
        what it takes beyond that runs between them. The graph that such a call made before runs once more, and nothing that it
        sets or prints is seen."""
        for graph, given in self._known_graphs((*self._receiver, *args)):
            return graph.core.value_and_grad(given, times_kernels=True)[1].kernel_seconds
        raise ValueError(f"'{self._function.__qualname__}': expected arguments that a graph was made for by a call")

    def of_graph(self, graph, given):
        return graph.core.value_and_grad(given)

    def given(self, graph, made, core):
        return made, Gradients(self._module, graph.numbers, core)

    def is_for_tapes(self, values):
        """Gradients by parameters are constants to tapes around."""
        return False

    def watch(self, recorded, values):
        """Tapes watch parameters by themselves."""

    def of_tape(self, recorded, values, made):
        loss = self.loss_in(made)
        if not _is_tensor(loss):
            return None
        parameters = list(self._module.parameters().values())
        found = zip(parameters, recorded.gradient(loss, parameters))
        return made, TapeGradients(self._module, [(parameter, one) for parameter, one in found if one is not None])


class ArgumentGradients(Converted):
    """What `hiaton.value_and_grad` and `hiaton.grad` give."""

    def __init__(self, target, argnums, with_value, has_aux, strict):
        super().__init__(target, has_aux, strict=strict)
        self._argnums = tuple(argnums) if isinstance(argnums, (tuple, list)) else argnums
        count = len(self.__signature__.parameters)
        for number in self._wanted():
            if not isinstance(number, numbers.Integral):
                raise TypeError(f"argnums: expected the number of an argument, from 0 on, or a tuple of such numbers, found {number!r}")
            if not -count <= number < count:
                raise ValueError(f"argnums: expected numbers of the arguments of '{self._function.__qualname__}', of which there are {count}, "
                                 f"from 0 on, found {number}")
        self._with_value = with_value

    def __call__(self, *args, **named):
        return self._call(args, named, by_arguments=True, has_aux=self._has_aux)

    def of_graph(self, graph, given):
        first = len(self._receiver)
        for number in self._wanted():
            place = number + first if number >= 0 else number + len(graph.types)
            if not _has_only_numbers(graph.types[place]):
                raise ConversionError(f"'{self._function.__qualname__}': expected a tensor or a number, or a tuple or dict of them, "
                                      f"as argument {number}, by which the gradient is to be, found {graph.types[place]}; choose "
                                      "others by argnums, or use nn.value_and_grad for the parameters of modules")
            if self.loss_in(graph.result.items[0]) == FLOAT and any(one != FLOAT for one in floats_in(graph.types[place])):
                raise ConversionError(f"'{self._function.__qualname__}': expected a tensor to take the gradient by argument {number} of, "
                                      "found a float: .item() and float() take a number out of a tensor, and gradients end there; give "
                                      "the tensor itself")
        made, *gradients = graph.core.call(given)
        return made, gradients

    def given(self, graph, made, gradients):
        return self._given(made, [self._of(number, gradients, graph.types) for number in self._wanted()])

    def function_and_receiver(self):
        """The function of Python, and a tuple of what it is bound to, or an empty one."""
        return self._function, self._receiver

    def how(self):
        """argnums, whether the value is given, and whether other results are."""
        return self._argnums, self._with_value, self._has_aux

    def _wanted(self):
        return self._argnums if isinstance(self._argnums, tuple) else (self._argnums,)

    def _given(self, made, found):
        found = tuple(found) if isinstance(self._argnums, tuple) else found[0]
        if self._with_value:
            return made, found
        return (found, made[1]) if self._has_aux else found

    def _sources(self, values):
        """The arguments to take gradients by; None: a tape does not watch all of them, or not apart."""
        first = len(self._receiver)
        sources = [values[number + first if number >= 0 else number] for number in self._wanted()]
        found = []
        is_watched = all(_tensors_of(source, found) for source in sources) and len(set(map(id, found))) == len(found)
        return sources if is_watched else None

    def is_for_tapes(self, values):
        """Whether tapes around are to see what the gradients are made of, which a graph would hide from them."""
        found = []
        for value in values:
            _tensors_of(value, found)
        return self._sources(values) is not None and any(isinstance(one, _core.Tensor) and _core.has_mark(one) for one in found)

    def watch(self, recorded, values):
        sources = self._sources(values)
        if sources is not None:
            recorded.watch(sources)

    def of_tape(self, recorded, values, made):
        sources, loss = self._sources(values), self.loss_in(made)
        if sources is None or not _is_tensor(loss):
            return None
        return self._given(made, _with_zeros(recorded.gradient(loss, sources), sources))

    def _of(self, number, gradients, types):
        """The gradient by an argument, as the argument is built."""
        place = number + len(self._receiver) if number >= 0 else number + len(types)
        before = sum(len(floats_in(type_)) for type_ in types[:place])
        return _built(types[place], iter(gradients[before:]), number)


def _tensors_of(value, found):
    """Whether it is a tensor of floats or is built of such; they go into `found`."""
    if isinstance(value, (tuple, dict)):
        return all([_tensors_of(part, found) for part in (value.values() if isinstance(value, dict) else value)])
    found.append(value)
    return isinstance(value, _core.Tensor) and value.dtype in (_core.f32, _core.f64)


def _with_zeros(gradients, sources):
    """What a tape gave, with zeros where no way led to the loss."""
    if isinstance(sources, dict):
        return {key: _with_zeros(gradients[key], source) for key, source in sources.items()}
    if isinstance(sources, (tuple, list)):
        made = [_with_zeros(gradient, source) for gradient, source in zip(gradients, sources)]
        return getattr(type(sources), "_make", type(sources))(made)
    return tensors.zeros(sources.shape, sources.dtype) if gradients is None else gradients


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


def value_and_grad(function, argnums=0, has_aux=False, strict=False):
    """A function that gives what `function` gives, a number, and its gradient by an argument, or a tuple of them by several:
    tensors of floats, floats, and tuples of them. With `has_aux`, `function` gives a pair of the number and other results,
    and so does what is made of it. The gradient is that of a graph; ConversionError where there is none. A call that leaves its graph
    is computed on a tape, or with `strict` raises ConversionError; `report()` of what is made tells how often, and why."""
    return ArgumentGradients(function, argnums, True, has_aux, strict)


def grad(function, argnums=0, has_aux=False, strict=False):
    """The same without the number; with `has_aux`, a pair of the gradient and the other results."""
    return ArgumentGradients(function, argnums, False, has_aux, strict)


def checkpoint(function):
    """The same function, of whose calls gradients keep no more than the arguments: they compute them again. So it is for the gradients
    of graphs, as of `nn.value_and_grad`; plain Python on a tape keeps all. A decorator, also of methods."""
    function = as_function(function)
    if inspect.ismethod(function):
        return types.MethodType(checkpoint(function.__func__), function.__self__)
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"expected a function or a method of Python, found {type(function).__name__}; "
                        "call what it does in a function of your own")
    made = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(made, function)
    del made.__wrapped__  # it is the function itself that runs
    made.__hiaton_recompute__ = True
    return made


def vmap(function):
    """A function that takes a list of examples, and gives a list of what `function` gives for each; all run in batches. Of
    several parameters it takes a list for each, all of one length."""
    mapped, mapped_apart = GraphCallable(prelude.mapped), GraphCallable(prelude.mapped_apart)

    def over(examples, *others):
        if not others:
            return mapped(function, list(examples))
        lists = [list(examples), *map(list, others)]
        if len(set(map(len, lists))) > 1:
            raise ValueError(f"expected lists of one length, found {', '.join(str(len(one)) for one in lists)}")
        return mapped_apart(function, list(zip(*lists)))
    return over
