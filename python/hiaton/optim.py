"""Optimizers for the parameters of a module."""

from hiaton import _core


class Optimizer:
    """Changes the parameters of a module along gradients. `learning_rate` may be set between steps.

    The module is one of `hiaton.nn`, its parameters by path, or a program with parameters.
    """

    def __init__(self, kind, module, learning_rate, settings):
        self._parameters = None
        self._paths = []
        if hasattr(module, "_store"):
            self._core = _core.store_optimizer(module._store, kind, settings, learning_rate)
            return
        parameters = module if isinstance(module, dict) else module.parameters()
        self._parameters = list(parameters.values())
        self._paths = list(parameters)
        self._core = _core.TensorOptimizer(list(parameters), self._parameters, kind, settings, learning_rate)

    def _update_by(self, gradients):
        if self._parameters is None:
            raise TypeError("expected what the value_and_grad of the program gave, found a dict")
        for path in gradients:
            if path not in self._paths:
                raise KeyError(f"there is no parameter '{path}'; there are {', '.join(self._paths)}")
        self._core.update_by([gradients.get(path) for path in self._paths])

    @property
    def learning_rate(self):
        return self._core.learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        self._core.learning_rate = value

    @property
    def steps(self):
        """How many steps it has made."""
        return self._core.steps

    def update(self, *given):
        """One step against gradients: update(gradients), or update(module, gradients). They are what `value_and_grad` gave,
        or a dict of tensors by the paths of the parameters, as a GradientTape gives; None counts as zero."""
        gradients = given[-1]
        if isinstance(gradients, dict):
            self._update_by(gradients)
        elif self._parameters is None:
            self._core.update(gradients._core)
        else:
            self._core.update(gradients._core, gradients.numbers_of(self._parameters))


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
