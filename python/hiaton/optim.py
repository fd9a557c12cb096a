"""Optimizers for the parameters of a module."""

from hiaton import _core


class Optimizer:
    """Changes the parameters of a module along gradients. `learning_rate` may be set between steps."""

    def __init__(self, module, core):
        self._module = module
        self._core = core

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

    def update(self, gradients):
        """One step against the gradients that `value_and_grad` of the module gave."""
        self._core.update(gradients._core)


class SGD(Optimizer):
    """Stochastic gradient descent, with or without momentum.

    l2 adds so many times a parameter to its gradient; clip is the largest norm of all gradients together, 0: no limit.
    """

    def __init__(self, module, learning_rate=1e-2, momentum=0.0, *, l2=0.0, clip=0.0):
        super().__init__(module, _core.sgd(module._store, learning_rate, momentum, l2, clip))


class Adagrad(Optimizer):
    """Adagrad; l2 and clip as for SGD."""

    def __init__(self, module, learning_rate=1e-2, epsilon=1e-8, *, l2=0.0, clip=0.0):
        super().__init__(module, _core.adagrad(module._store, learning_rate, epsilon, l2, clip))


class Adam(Optimizer):
    """Adam; l2 and clip as for SGD."""

    def __init__(self, module, learning_rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8, *, l2=0.0, clip=0.0):
        super().__init__(module, _core.adam(module._store, learning_rate, beta1, beta2, epsilon, l2, clip))
