"""Modules: parts of models with parameters, in plain Python.

A module finds its parameters by its attributes. Its methods run as they stand, on tensors, and become part of the graph of a
`hiaton.function` that uses them.
"""

import os

import numpy

from hiaton import _core, files, tensors
from hiaton._core import Parameter, ops
from hiaton.function.gradients import Gradients, ModuleGradients

__all__ = ["BatchNorm", "Conv1d", "Conv2d", "ConvTranspose2d", "Dropout", "Embedding", "Gradients", "InstanceNorm", "LSTMCell", "LayerNorm", "Linear", "Module",
           "Parameter", "Sequential", "seed", "value_and_grad"]

Parameter.__module__ = "hiaton.nn"


class Module:
    """A part of a model. Parameters, modules, and lists and tuples of them that are its attributes belong to it."""

    __hiaton_constant__ = True
    training = True  # what Dropout and BatchNorm ask, and your own modules may

    def train(self, mode=True):
        """Says that the module and all of its parts are being trained, or are not; gives the module."""
        for _, part in _parts_of(self):
            if isinstance(part, Module):
                part.training = mode
        return self

    def eval(self):
        """The same as train(False): Dropout drops nothing, and BatchNorm takes the mean and the variance that it has found."""
        return self.train(False)

    def parameters(self):
        """The parameters by their paths, as "encoder.weight". One that several paths lead to, as a matrix that two layers share,
        is there once, by the first of them."""
        return {path: part for path, part in _parts_of(self) if isinstance(part, Parameter)}

    _saved = ()  # attributes that are tensors, and are saved beside the parameters

    def _saved_tensors(self):
        """Who has such an attribute, and its name, by path."""
        return {f"{path}.{name}" if path else name: (part, name)
                for path, part in _parts_of(self) if isinstance(part, Module) for name in part._saved}

    def update(self, values):
        """Gives parameters other values, by path."""
        parameters = self.parameters()
        for path, value in values.items():
            if path not in parameters:
                raise KeyError(f"there is no parameter '{path}'; there are {', '.join(parameters)}")
            value = tensors.asarray(value, parameters[path].dtype)
            if value.shape != parameters[path].shape:
                raise TypeError(f"parameter '{path}': expected the shape {parameters[path].shape}, found {value.shape}")
            parameters[path].assign(value)

    def save(self, path):
        """Writes the parameters as a safetensors file, with the means and variances that a BatchNorm has found."""
        saved = self.parameters()
        saved.update({place: Parameter(getattr(part, name)) for place, (part, name) in self._saved_tensors().items()})
        with files.told_if_missing():
            _core.save_parameters(os.fspath(path), list(saved), list(saved.values()))

    def load(self, path):
        """Reads all of that from such a file. The state of an optimizer in there, as `hiaton train` writes it, is left alone."""
        parameters, others = self.parameters(), self._saved_tensors()
        declared = [*parameters.values(), *(Parameter(getattr(part, name)) for part, name in others.values())]
        with files.told_if_missing():
            values = _core.load_parameters(os.fspath(path), [*parameters, *others], declared)
        files.refuse_unknown(path, {*parameters, *others}, type(self).__name__, "load the file into a module like the one that was saved, "
                             "whose parts have parameters() for update()")
        for parameter, value in zip(parameters.values(), values):
            parameter.assign(value)
        for (part, name), value in zip(others.values(), values[len(parameters):]):
            setattr(part, name, value)

    def __call__(self, *args):
        raise NotImplementedError(self._why_not_called())

    def _why_not_called(self):
        hint = "; what other packages call 'forward' is __call__ here" if hasattr(self, "forward") else ""
        return f"'{type(self).__name__}' has no __call__{hint}"

    def __repr__(self):
        return _described(self, set())


def _described(module, around):
    """The class of a module with its parameters and its modules by path; `around` are the modules that it is in, by identity."""
    if id(module) in around:
        return f"{type(module).__name__}(...)"
    around = around | {id(module)}
    parts = [(path, part) for path, part in _parts_of(module, stops_at_modules=True) if part is not module]
    own = [f"{path}: {str(part.dtype).split('.')[-1]}{list(part.shape)}" for path, part in parts if isinstance(part, Parameter)]
    inner = [f"{path}: {_described(part, around) if type(part).__repr__ is Module.__repr__ else repr(part)}"
             for path, part in parts if isinstance(part, Module)]
    if not inner:
        return f"{type(module).__name__}({', '.join(own)})"
    lines = "\n".join([*own, *inner]).replace("\n", "\n  ")
    return f"{type(module).__name__}(\n  {lines}\n)"


def _parts_of(holder, path="", seen=None, stops_at_modules=False):
    """Pairs of a path and a module or parameter: the holder and all that belongs to it, each once; with `stops_at_modules`, without what
    belongs to modules in there."""
    is_whole, seen = seen is None, set() if seen is None else seen
    if id(holder) in seen:
        return
    seen.add(id(holder))
    if isinstance(holder, (Module, Parameter)):
        yield path, holder
    if isinstance(holder, Module):
        if stops_at_modules and not is_whole:
            return
        parts = vars(holder).items()
    elif isinstance(holder, (list, tuple)):
        parts = enumerate(holder)
    elif isinstance(holder, dict):
        parts = holder.items()
    else:
        return
    for name, part in parts:
        yield from _parts_of(part, f"{path}.{name}" if path else str(name), seen, stops_at_modules)


_random = numpy.random.default_rng(1)


def seed(number):
    """Begins the random numbers anew that parameters begin with."""
    global _random
    _random = numpy.random.default_rng(number)


def _parameter(array, dtype):
    return Parameter(tensors.tensor(array, dtype))


def _uniform(limit, dtype, *shape):
    return _parameter(_random.uniform(-limit, limit, shape), dtype)


class Linear(Module):
    """x @ weight + bias."""

    def __init__(self, inputs, outputs, bias=True, dtype=_core.f32):
        self.weight = _uniform((6 / (inputs + outputs)) ** 0.5, dtype, inputs, outputs)
        self.bias = Parameter(tensors.zeros(outputs, dtype)) if bias else None

    def __call__(self, x):
        if self.bias is None:
            return x @ self.weight
        return x @ self.weight + self.bias


class Sequential(Module):
    """Modules and functions of one tensor, each called with what the one before gave. model(x, seed) hands a seed of its own, made of
    this one, to each Dropout."""

    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x, seed=None):
        if seed is None:
            for layer in self.layers:
                x = layer(x)
            return x
        for layer in self.layers:
            if isinstance(layer, (Dropout, Sequential)):
                x = layer(x, seed)
                seed = ops.fold_in(seed, 1)
            else:
                x = layer(x)
        return x


class Embedding(Module):
    """A table: the row of a number."""

    def __init__(self, rows, size, scale=0.1, dtype=_core.f32):
        self.weight = _parameter(_random.normal(0, scale, (rows, size)), dtype)

    def __call__(self, row):
        return self.weight[row]


class _Convolution(Module):
    """What convolutions along one axis and along two share."""

    def __init__(self, axes, inputs, outputs, size, bias, windows, groups, dtype, transposed=False):
        size = tuple(size) if isinstance(size, (tuple, list)) else (size,) * axes
        seen = numpy.prod(size) / groups  # elements of the input that one of the output depends on, and the other way round
        limit = (6 / ((inputs + outputs) * seen)) ** 0.5
        shape = (inputs, outputs // groups) if transposed else (outputs, inputs // groups)
        self.weight = _uniform(limit, dtype, *shape, *size)
        self.bias = Parameter(tensors.zeros((outputs,) + (1,) * axes, dtype)) if bias else None
        self.windows = windows
        self.groups = groups

    def _shifted(self, y):
        return y if self.bias is None else y + self.bias


class Conv1d(_Convolution):
    """A convolution of lines [.., inputs, n] with filters of so many elements, which gives [.., outputs, m]."""

    def __init__(self, inputs, outputs, size, stride=1, padding=0, dilation=1, groups=1, bias=True, dtype=_core.f32):
        super().__init__(1, inputs, outputs, size, bias, (stride, padding, dilation), groups, dtype)

    def __call__(self, x):
        stride, padding, dilation = self.windows
        return self._shifted(ops.conv1d(x, self.weight, stride, padding, dilation, self.groups))


class Conv2d(_Convolution):
    """A convolution of images [.., inputs, h, w], which gives [.., outputs, h', w']. Numbers stand for both axes, pairs for rows
    and columns."""

    def __init__(self, inputs, outputs, size, stride=1, padding=0, dilation=1, groups=1, bias=True, dtype=_core.f32):
        super().__init__(2, inputs, outputs, size, bias, (stride, padding, dilation), groups, dtype)

    def __call__(self, x):
        stride, padding, dilation = self.windows
        return self._shifted(ops.conv2d(x, self.weight, stride, padding, dilation, self.groups))


class ConvTranspose2d(_Convolution):
    """A transposed convolution of images [.., inputs, h, w]: what grows them where a Conv2d with this stride shrinks them."""

    def __init__(self, inputs, outputs, size, stride=1, padding=0, dilation=1, groups=1, output_padding=0, bias=True,
                 dtype=_core.f32):
        super().__init__(2, inputs, outputs, size, bias, (stride, padding, dilation), groups, dtype, transposed=True)
        self.output_padding = output_padding

    def __call__(self, x):
        stride, padding, dilation = self.windows
        return self._shifted(
            ops.conv_transpose2d(x, self.weight, stride, padding, dilation, self.groups, self.output_padding))


class LSTMCell(Module):
    """One step of an LSTM: cell(x, (h, c)) gives the next (h, c)."""

    def __init__(self, inputs, size, dtype=_core.f32):
        self.size = size
        self.input = Linear(inputs, 4 * size, dtype=dtype)
        self.state = Linear(size, 4 * size, bias=False, dtype=dtype)

    def __call__(self, x, state):
        h, c = state
        gates = self.input(x) + self.state(h)
        n = self.size
        kept = ops.sigmoid(ops.slice(gates, axis=-1, start=n, length=n)) * c
        added = ops.sigmoid(ops.slice(gates, axis=-1, start=0, length=n)) * ops.tanh(ops.slice(gates, axis=-1, start=2 * n, length=n))
        c = kept + added
        return ops.sigmoid(ops.slice(gates, axis=-1, start=3 * n, length=n)) * ops.tanh(c), c


class _Norm(Module):
    """A gain and a shift, which are learned, for each of `size` places of an axis."""

    def __init__(self, size, epsilon=1e-5, dtype=_core.f32):
        self.epsilon = epsilon
        self.weight = Parameter(tensors.ones(size, dtype))
        self.bias = Parameter(tensors.zeros(size, dtype))


class LayerNorm(_Norm):
    """Elements along the last axis, moved and scaled to mean 0 and variance 1, then by what is learned."""

    def __call__(self, x):
        return ops.layer_norm(x, self.weight, self.bias, self.epsilon)


class InstanceNorm(_Norm):
    """Images [.., size, h, w], of which each channel of each image is moved and scaled to mean 0 and variance 1, then by what is
    learned for the channel."""

    def __call__(self, x):
        return ops.instance_norm(x, self.weight, self.bias, self.epsilon)


class BatchNorm(_Norm):
    """Examples [n, size], [n, size, m] or [n, size, h, w] in which each channel is moved and scaled to mean 0 and variance 1, then by what is learned for it.

    While `training`, which it begins with, mean and variance are those of the n examples, and `mean` and `variance` move towards
    them by the part `momentum`: towards the variance of a sample, as if there were one element less. Otherwise these two are
    taken, so that examples do not depend on each other. They are no parameters; `save` writes them with these.
    """

    _saved = ("mean", "variance")

    def __init__(self, size, epsilon=1e-5, momentum=0.1, dtype=_core.f32):
        super().__init__(size, epsilon, dtype)
        self.momentum = momentum
        self.training = True
        self.mean = tensors.zeros(size, dtype)
        self.variance = tensors.ones(size, dtype)

    def __call__(self, x):
        if x.ndim not in (2, 3, 4):
            raise ValueError("BatchNorm: expected examples [n, size], [n, size, m] or [n, size, h, w], found a tensor of other dimensions; "
                             "one example x is x[None]")
        if not self.training:
            gain = self.weight * ops.rsqrt(self.variance + self.epsilon)
            return x * _by_channel(gain, x) + _by_channel(self.bias - self.mean * gain, x)
        count = x.shape[0]
        for axis in range(2, x.ndim):
            count = count * x.shape[axis]
        if count < 2:
            raise ValueError("BatchNorm: expected several elements of each channel while it is trained, found one, which has no variance; "
                             "give a batch of more examples, or call eval() of the module")
        mean = _mean_of_channels(x)
        variance = _mean_of_channels((x - _by_channel(mean, x)) ** 2) * (count / (count - 1))
        self.mean = self.mean + self.momentum * (mean - self.mean)
        self.variance = self.variance + self.momentum * (variance - self.variance)
        return ops.batch_norm(x, self.weight, self.bias, self.epsilon)


def _mean_of_channels(x):
    if x.ndim == 2:
        return ops.mean(x, 0)
    return ops.mean(x, (0, 2)) if x.ndim == 3 else ops.mean(x, (0, 2, 3))


def _by_channel(each, x):
    """A vector of a number for each channel in the shape that goes together with x."""
    if x.ndim == 2:
        return each
    return ops.reshape(each, (-1, 1)) if x.ndim == 3 else ops.reshape(each, (-1, 1, 1))


class Dropout(Module):
    """Each element is dropped with probability `rate`, and the others grow by as much: dropout(x, seed). A seed, an integer or a key of
    `hiaton.random`, gives the same elements each time. After `eval()` nothing is dropped, and no seed is asked for."""

    def __init__(self, rate):
        if not 0 <= rate <= 1:
            raise ValueError(f"Dropout: expected a rate from 0 to 1, found {rate}")
        self.rate = rate

    def __call__(self, x, seed=None):
        if not self.training:
            return x
        if seed is None:
            raise TypeError("Dropout: expected a seed to draw what is dropped, as dropout(x, seed) and Sequential(...)(x, seed), found none; "
                            "give another one in each step, or call eval() of the module, and nothing is dropped")
        return ops.dropout(x, self.rate, seed)

    def __repr__(self):
        return f"Dropout({self.rate})"


def value_and_grad(module, function, has_aux=False, workers=1, strict=False):
    """A function that gives what `function` gives, a number, and its gradients by the parameters of the module. With
    `has_aux`, `function` gives a pair of the number and other results, which comes in place of the number.

    They are those of a graph, which `function` is converted to as by `hiaton.function`; ConversionError where it cannot be.
    `workers` threads share a run. Where a call leaves its graph, plain Python computes it on a tape, which is far slower; after a few
    such calls all are, with one FallbackWarning that says where and why. With `strict` such a call raises ConversionError.
    `report()` of what is made tells what became of its calls.
    """
    return ModuleGradients(module, function, has_aux, workers, strict)
