"""Optimizers for the parameters of a module, and learning rates that change over the steps."""

import math
import os

import numpy

from hiaton import _core, files, tensors
from hiaton.function.callers import function_of_text
from hiaton.function.gradients import ModuleGradients
from hiaton.programs import RowGrad

__all__ = ["Adagrad", "Adam", "AdamW", "Optimizer", "RMSProp", "SGD", "Schedule", "constant", "cosine",
           "exponential", "linear", "step"]


class Schedule:
    """A learning rate for each step, from 0: a function of the number of the step. `constant`, `linear`, `cosine`, `step` and
    `exponential` make them; an optimizer takes one, or any other function of a step, as its learning rate. In the first `warmup`
    steps it grows along a line: step 0 has 1 / warmup of what it would have, the last of these steps all of it."""

    def __init__(self, kind, learning_rate, steps=1, decay=1.0, every=1, warmup=0):
        self.kind, self.learning_rate, self.steps, self.decay, self.every, self.warmup = kind, learning_rate, steps, decay, every, warmup
        if steps < 1 or every < 1:
            raise ValueError(f"expected 1 step or more, found {min(steps, every)}")
        if not 0 < decay <= 1:
            raise ValueError(f"expected as decay a number above 0, at most 1, found {decay}")
        if warmup < 0:
            raise ValueError(f"expected as warmup 0 steps or more, found {warmup}")

    def __call__(self, step):
        return _core.learning_rate_at(self.kind, self.learning_rate, step, self.steps, self.decay, self.every, self.warmup)

    def __repr__(self):
        lengths = [f"steps={self.steps}"] if self.kind in ("linear", "cosine") else []
        lengths += [f"decay={self.decay}", f"every={self.every}"] if self.kind in ("step", "exponential") else []
        lengths += [f"warmup={self.warmup}"] if self.warmup > 0 else []
        return f"{self.kind}({', '.join([str(self.learning_rate), *lengths])})"


def constant(learning_rate, warmup=0):
    """The learning rate, after a warm-up."""
    return Schedule("constant", learning_rate, warmup=warmup)


def linear(learning_rate, steps, warmup=0):
    """From the learning rate at step `warmup` along a line to 0 at step `steps`, and 0 from there on."""
    return Schedule("linear", learning_rate, steps=steps, warmup=warmup)


def cosine(learning_rate, steps, warmup=0):
    """From the learning rate at step `warmup` along half a wave of the cosine to 0 at step `steps`, and 0 from there on."""
    return Schedule("cosine", learning_rate, steps=steps, warmup=warmup)


def step(learning_rate, decay, every, warmup=0):
    """The learning rate, times `decay` after every so many steps."""
    return Schedule("step", learning_rate, decay=decay, every=every, warmup=warmup)


def exponential(learning_rate, decay, every, warmup=0):
    """The same decay, spread evenly over the steps."""
    return Schedule("exponential", learning_rate, decay=decay, every=every, warmup=warmup)


class Optimizer:
    """Changes the parameters of a module along gradients. `learning_rate` may be set between steps: a number, or a function
    that gives one for the number of a step, from 0, as the schedules of this module are.

    The module is one of `hiaton.nn`, its parameters by path, or a program with parameters.
    """

    def __init__(self, kind, module, learning_rate, settings):
        self._parameters = None
        self._paths = []
        self._schedule = None
        self._weighed = {}  # by how many tensors each gradient consists of: a function that gives them as those of a graph
        if hasattr(module, "_store"):
            self._core = _core.store_optimizer(module._store, kind, settings, 0.0)
        else:
            if not isinstance(module, dict) and not hasattr(module, "parameters"):
                raise TypeError(f"expected a module, or its parameters(), found {type(module).__name__}")
            parameters = module if isinstance(module, dict) else module.parameters()
            self._parameters = list(parameters.values())
            self._paths = list(parameters)
            self._refuse_twice()
            self._core = _core.TensorOptimizer(list(parameters), self._parameters, kind, settings, 0.0)
        self.learning_rate = learning_rate

    def _refuse_twice(self):
        """Each step would change such a parameter for one of its paths alone."""
        first = {}
        for path, parameter in zip(self._paths, self._parameters):
            other = first.setdefault(id(parameter), path)
            if other != path:
                raise ValueError(f"parameter '{path}' is also '{other}'; expected each once, as parameters() of a module gives them")

    def _update_by(self, gradients):
        if self._parameters is None:
            raise TypeError("expected what the value_and_grad of the program gave, found a dict")
        for path in gradients:
            if path not in self._paths:
                raise KeyError(f"there is no parameter '{path}'; there are {', '.join(self._paths)}")
        self._step_by([gradients.get(path) for path in self._paths])

    def _step_by(self, given):
        """One step against gradients by parameter: tensors, arrays, RowGrads, and None."""
        given = [_checked_gradient(*one) for one in zip(given, self._paths, self._parameters)]
        if not any(isinstance(one, RowGrad) for one in given):
            self._core.update_by(given)
            return
        given = tuple(map(_parts, given))
        counts = tuple(map(len, given))
        if counts not in self._weighed:
            self._weighed[counts] = _weighed_by(self._parameters, counts)
        _, made = self._weighed[counts](given)
        self._core.update(made._core, made.numbers_of(self._parameters))

    @property
    def learning_rate(self):
        """That of the next step."""
        return self._core.learning_rate if self._schedule is None else _checked_rate(float(self._schedule(self.steps)))

    @learning_rate.setter
    def learning_rate(self, value):
        self._schedule = value if callable(value) else None
        if not callable(value) and not hasattr(value, "__float__"):
            raise TypeError(f"learning_rate: expected a number, or a function of the step, found {value!r}")
        self._core.learning_rate = self.learning_rate if callable(value) else _checked_rate(float(value))

    @property
    def steps(self):
        """How many steps it has made."""
        return self._core.steps

    def update(self, *given):
        """One step against gradients: update(gradients), or update(module, gradients). They are what `value_and_grad` gave,
        or a dict of tensors by the paths of the parameters, as a GradientTape gives; None counts as zero."""
        gradients = given[-1]
        self._core.learning_rate = self.learning_rate
        if isinstance(gradients, dict):
            self._update_by(gradients)
        elif not hasattr(gradients, "_core"):
            raise TypeError(f"expected the gradients that value_and_grad or a GradientTape gave, found {type(gradients).__name__}")
        elif self._parameters is None:
            self._core.update(gradients._core)
        else:
            numbers = gradients.numbers_of(self._parameters)
            if max(numbers, default=-1) < 0 and gradients.are_of_others(self._parameters):
                raise ValueError("expected gradients by parameters of the optimizer, found those by others: it changes the parameters "
                                 "that the module had when it was made")
            if gradients._core is None:  # they are those of a tape
                self._step_by([None if number < 0 else gradients.numbered(number) for number in numbers])
            else:
                self._core.update(gradients._core, numbers)

    def save(self, path):
        """Writes its state, the number of its steps and its learning rate as a safetensors file. Beside the parameters that
        the module saves, that is all that training needs to go on to the same numbers."""
        with files.told_if_missing():
            self._core.save(os.fspath(path))

    def load(self, path):
        """Goes on from such a file, of an optimizer of the same kind for the same parameters. A schedule stays as it is."""
        with files.told_if_missing():
            self._core.load(os.fspath(path))


def _checked_rate(rate):
    if not 0 <= rate < math.inf:
        raise ValueError(f"learning_rate: expected a number that is not negative and not infinite, found {rate}")
    return rate


def _checked_gradient(given, path, parameter):
    if isinstance(given, (numpy.ndarray, numpy.generic)):
        given = tensors.asarray(given, parameter.dtype)
    if given is None:
        return None
    if not isinstance(given, (_core.Tensor, RowGrad)):
        raise TypeError(f"the gradient of '{path}': expected a tensor, a RowGrad, an array or None, found {type(given).__name__}")
    if given.shape != parameter.shape or given.dtype != parameter.dtype:
        raise TypeError(f"the gradient of '{path}': expected {_shown(parameter)}, found {_shown(given)}")
    return given


def _shown(tensor):
    return f"{str(tensor.dtype).split('.')[-1]}{list(tensor.shape)}"


def _parts(gradient):
    """The tensors that it consists of."""
    return () if gradient is None else tuple(gradient) if isinstance(gradient, RowGrad) else (gradient,)


def _weighed_by(parameters, counts):
    """A function that gives gradients which are tensors and RowGrads as those of a graph, of which the engine knows the rows. They are those
    of the sum of the parameters times their gradients, where no more than the rows is read of a parameter that has rows. `counts`: of
    how many tensors each gradient consists."""
    lines = ["def weighed(given):", "    total = 0.0"]
    for number, count in enumerate(counts):
        if count > 0:
            read = f"p{number} * given[{number}][0]" if count == 1 else f"p{number}[given[{number}][0]] * given[{number}][1]"
            lines.append(f"    total = total + add_up({read})")
    names = {"add_up": _core.ops.sum} | {f"p{number}": parameter for number, parameter in enumerate(parameters)}
    weighed = function_of_text("weighed", "\n".join([*lines, "    return total", ""]), f"<hiaton: gradients of {counts}>", names)
    return ModuleGradients(None, weighed, False, 1, True)


class SGD(Optimizer):
    """Stochastic gradient descent, with or without momentum.

    l2 adds so many times a parameter to its gradient; clip is the largest norm of all gradients together, 0: no limit.
    """

    def __init__(self, module, learning_rate=1e-2, momentum=0.0, *, l2=0.0, clip=0.0):
        super().__init__("sgd", module, learning_rate, {"momentum": momentum, "l2": l2, "clip": clip})


class Adagrad(Optimizer):
    """Adagrad; l2 and clip as for SGD."""

    def __init__(self, module, learning_rate=1e-2, epsilon=1e-8, *, l2=0.0, clip=0.0):
        super().__init__("adagrad", module, learning_rate, {"epsilon": epsilon, "l2": l2, "clip": clip})


class Adam(Optimizer):
    """Adam; l2 and clip as for SGD."""

    def __init__(self, module, learning_rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8, *, l2=0.0, clip=0.0):
        super().__init__("adam", module, learning_rate,
                         {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "l2": l2, "clip": clip})


class RMSProp(Optimizer):
    """RMSProp: gradients over the root of their mean square, which decays by `rho`; momentum, l2 and clip as for SGD."""

    def __init__(self, module, learning_rate=1e-3, rho=0.9, momentum=0.0, epsilon=1e-8, *, l2=0.0, clip=0.0):
        super().__init__("rmsprop", module, learning_rate,
                         {"rho": rho, "momentum": momentum, "epsilon": epsilon, "l2": l2, "clip": clip})


class AdamW(Optimizer):
    """Adam with weight decay that stands apart from the gradient: each step first makes a parameter smaller by the learning rate
    times `weight_decay` times itself. Of a parameter of which only some rows have a gradient, only these get smaller."""

    def __init__(self, module, learning_rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.01, *, clip=0.0):
        super().__init__("adamw", module, learning_rate,
                         {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "weight_decay": weight_decay, "clip": clip})
