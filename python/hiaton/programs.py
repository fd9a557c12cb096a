"""Programs and models in .hia, called from Python."""

import collections.abc
import json
import numbers
import os
import types
import typing

import numpy

from hiaton import _core, files


class _Rows(typing.NamedTuple):
    rows: _core.Tensor
    values: _core.Tensor


class RowGrad(_Rows):
    """The gradient of some rows of a table; that of all others is zero. `shape` is that of the table, and `np.asarray` gives the whole
    table."""

    def __new__(cls, rows, values, size):
        made = super().__new__(cls, rows, values)
        made.shape = (size, *values.shape[1:])
        made.dtype = values.dtype
        return made

    def __mul__(self, number):
        """So many times the gradient."""
        return self._scaled(number, lambda values: values * number)

    __rmul__ = __mul__

    def __truediv__(self, number):
        return self._scaled(number, lambda values: values / number)

    def __neg__(self):
        return self * -1

    def _scaled(self, number, change):
        if not isinstance(number, numbers.Real) and getattr(number, "shape", None) != ():
            raise TypeError(f"a RowGrad: expected a number to scale it by, found {type(number).__name__}; np.asarray(gradient) is the whole "
                            "table, which arrays go together with")
        return RowGrad(self.rows, change(self.values), self.shape[0])

    def _has_no_sum(self, other):
        raise TypeError("a RowGrad has no sums with others, and no powers; np.asarray(gradient) is the whole table, and gradient.values are its rows")

    __add__ = __radd__ = __sub__ = __rsub__ = __pow__ = _has_no_sum

    def __array__(self, dtype=None, copy=None):
        values = numpy.asarray(self.values)
        whole = numpy.zeros(self.shape, values.dtype if dtype is None else dtype)
        whole[numpy.asarray(self.rows)] = values
        return whole

    def __reduce__(self):
        return RowGrad, (self.rows, self.values, self.shape[0])

    @staticmethod
    def of(values, rows):
        """What a run gathered: in all rows, where `rows` is None."""
        return values if rows is None else RowGrad(rows, values[rows], values.shape[0])


class Gradients(collections.abc.Mapping):
    """The gradients of the parameters of a module, by name."""

    def __init__(self, names, core):
        self._names = names
        self._core = core

    def __getitem__(self, name):
        """A tensor, or a RowGrad where only some rows of the parameter were used."""
        return RowGrad.of(self._core.get(name), self._core.rows(name))

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        return f"<hiaton gradients of {', '.join(self._names)}>"


def _class_of_variant(base, variant, program):
    def field(index):
        return property(lambda value: value._field(index))

    body = {name: field(index) for index, name in enumerate(variant.fields)}
    parts = (f"{name}: {text}" for name, text in zip(variant.fields, variant.field_types))
    body |= {
        "__copy__": lambda value: value,  # values never change
        "__deepcopy__": lambda value, memo: value,
        "__slots__": (),
        "__match_args__": tuple(variant.fields),
        "__doc__": f"{variant.name}({', '.join(parts)})",
        "__module__": program,
        "_variant": variant,
    }
    return type(variant.name, (base,), body)


class _Types(types.SimpleNamespace):
    """The classes of a program's data types and of their variants, by name."""

    def __getattr__(self, name):
        raise AttributeError(f"the program has no data type or variant '{name}'; it has {', '.join(vars(self)) or 'none'}")


def _classes(core, program):
    """A class for each data type of the program, and one for each of its variants."""
    made = {}
    for name in core.types():
        base = type(name, (_core.Data,), {"__slots__": (), "__module__": program, "__doc__": f"data {name}"})
        made[name] = base
        for number, variant in enumerate(core.variants(name)):
            made[variant.name] = _class_of_variant(base, variant, program)
            core.set_class(name, number, made[variant.name])
    return _Types(**made)


_SETTINGS = ("workers", "batching", "evaluation", "max_frames", "max_bytes", "timeout")


class Program:
    """A program: called, it runs its function `main`; its other functions are attributes.

    `types` has a class for each data type of the program and for each variant: `types.Leaf(word=3)` makes a value, its
    fields are attributes, and `match` takes it apart.
    """

    def __init__(self, source, name):
        self._source = source
        self._name = name
        self._classes = source.new_classes()
        self._settings = dict.fromkeys(_SETTINGS)
        self._functions = {}
        self.types = _classes(self._classes, name)

    _store = None

    def function(self, name):
        """The function of this name; attributes are the same, but for names that a program has itself."""
        if name not in self._functions:
            self._functions[name] = _core.function(self._source, name, self._classes, self._store, **self._settings)
        return self._functions[name]

    @property
    def functions(self):
        """The names of the functions."""
        return list(self._source.functions)

    def with_options(self, *, workers=None, batching=None, evaluation=None, max_frames=None, max_bytes=None,
                     timeout=None):
        """The same program, whose runs go otherwise.

        workers: how many threads share a run. batching: whether what is alike in calls runs at once; "deterministic"
        gives the same bits for any number of workers. evaluation: "data", as soon as a value can be computed, or
        "demand", when it is asked for, by one worker. max_frames, max_bytes, timeout (in seconds): a run that needs
        more ends with RunError.
        """
        given = {"workers": workers, "batching": batching, "evaluation": evaluation, "max_frames": max_frames,
                 "max_bytes": max_bytes, "timeout": timeout}
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._settings = self._settings | {name: value for name, value in given.items() if value is not None}
        other._functions = {}
        return other

    def __getattr__(self, name):
        if not name.startswith("_") and name in self._source.functions:
            return self.function(name)
        raise AttributeError(f"{self._name} has no function '{name}'; it has {', '.join(self._source.functions)}")

    def __dir__(self):
        return [*super().__dir__(), *self._source.functions]

    def __call__(self, *args, **kwargs):
        return self.function("main")(*args, **kwargs)

    def map(self, *lists):
        """Calls `main` for the first of each of the lists, for the second of each, and so on, all together."""
        return self.function("main").map(*lists)

    def __repr__(self):
        return f"<hiaton program {self._name}: {', '.join(self._source.functions)}>"


class Module(Program):
    """A program with parameters that are learned; called, it runs its function `predict`."""

    vocabulary = None  # of a training: the number of each word

    def __init__(self, source, name, seed):
        super().__init__(source, name)
        self._store = _core.new_store(source, seed)

    @property
    def parameters(self):
        """Copies of the parameters, by name."""
        return {name: self._store.get(name) for name in self._store.names}

    def update(self, parameters):
        """Gives parameters other values, by name."""
        from hiaton.tensors import asarray

        for name, value in parameters.items():
            self._store.set(name, asarray(value, self._store.get(name).dtype))

    def __call__(self, *args, **kwargs):
        return self.function("predict")(*args, **kwargs)

    def map(self, *lists):
        """Calls `predict` for the first of each of the lists, for the second of each, and so on, all together."""
        return self.function("predict").map(*lists)

    def value_and_grad(self, *lists):
        """The mean of what `loss` gives for the first of each of the lists, for the second of each, and so on, and the
        gradients of that mean by the parameters."""
        loss, gradients = _core.value_and_grad(self.function("loss"), *lists)
        return loss, Gradients(self._store.names, gradients)

    def save(self, path):
        """Writes the parameters as a safetensors file, which `hiaton predict` and `hiaton eval` read too."""
        with files.told_if_missing():
            self._store.save(os.fspath(path))

    def load(self, path):
        """Reads the parameters from such a file, also from one that `hiaton train` wrote. One that has others too is an error."""
        files.refuse_unknown(path, self._store.names, self._name, "load the file into the program that it was saved of, or hand what it has "
                             "to update()")
        with files.told_if_missing():
            self._store.load(self._source, os.fspath(path))


def _checked(sizes):
    for name, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"size '{name}': expected an integer, found {size!r}")
    return sizes


def _made(source, name, seed):
    return Module(source, name, seed) if source.has_parameters else Program(source, name)


def _trained(directory, overflow, sizes):
    """What `hiaton train` has left in a directory."""
    if sizes:
        raise TypeError(f"expected no sizes beside '{directory}', which has those of the training, found {', '.join(sizes)}")
    program = os.path.join(directory, "model.hia")
    try:
        with open(os.path.join(directory, "model.json"), encoding="utf-8") as file:
            info = json.load(file)
    except FileNotFoundError:
        raise files.MissingFileError(f"'{directory}': expected a program, or the directory of a training, found no 'model.json' in "
                                 "there, which 'hiaton train' writes") from None
    words = _core.vocabulary(os.path.join(directory, "vocabulary.txt"))
    has_words = len(words) > 1 or not info["data"].get("values", False)
    sizes = _core.trained_sizes(program, info["sizes"], info["classes"], len(words) if has_words else 0)
    model = _made(_core.source(program, "", True, sizes, overflow), program, info["seed"])
    model.load(os.path.join(directory, "best.safetensors"))
    model.vocabulary = {word: number for number, word in enumerate(words)}
    return model


def load(path, *, seed=1, overflow="wrap", **sizes):
    """The program in a .hia file: a Module where it has parameters, which begin with random values by `seed`. Of a directory that
    `hiaton train` wrote, the model with its best parameters; `vocabulary` has the numbers of the words that it was trained on,
    0 for those that are not there.

    `sizes` are values for the sizes that the program declares, as `d=64`. `overflow` says what becomes of integers that
    do not fit: "wrap" or, as an error, "trap".
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        return _trained(name, overflow, _checked(sizes))
    with files.told_if_missing():
        return _made(_core.source(name, "", True, _checked(sizes), overflow), name, seed)


def program(text, *, name="<program>", seed=1, overflow="wrap", **sizes):
    """The same for a text. `name` is what messages call it."""
    return _made(_core.source(name, text, False, _checked(sizes), overflow), name, seed)
