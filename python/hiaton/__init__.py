"""Hiaton: recursive models as one static graph.

    import hiaton as hia
    fact = hia.program("fn main(n: i64) -> i64 = if n == 0 then 1 else n * main(n - 1)")
    fact(5)                                              # 120

`hiaton.tensor` makes tensors, `hiaton.ops` are the operations on them, `hiaton.function` makes graphs of functions of
Python, `hiaton.nn` has modules for them, `hiaton.load` reads programs and models, and `hiaton.optim` trains all of these.
"""

import os as _os

from hiaton import _core, distributed, elsewhere, nn, optim, random
from hiaton._core import (Data, DType, Error, Function, InternalError, ProgramError, RunError, Tensor, f32,
                          f64, i32, i64, ops, u8)
from hiaton._core import bool as bool  # noqa: PLC0414: the element type
from hiaton._core.ops import *  # noqa: F403: every operation of the catalogue
from hiaton.files import MissingFileError
from hiaton.function import ConversionError, FallbackWarning, function
from hiaton.function.gradients import checkpoint, grad, value_and_grad, vmap
from hiaton.tape import GradientTape, no_grad, stop_gradient
from hiaton.programs import Gradients, Module, Program, RowGrad, load, program
from hiaton.monitor import EventWriter, progress
from hiaton.pieces import split
from hiaton.tensors import (arange, asarray, eye, from_dlpack, from_numpy, full, ones, tensor, zeros)

__version__ = _core.version

for _name in ("Data", "DType", "Error", "Function", "InternalError", "ProgramError", "RunError", "Tensor"):
    getattr(_core, _name).__module__ = "hiaton"
_os.register_at_fork(before=_core.before_fork, after_in_parent=_core.after_fork_in_parent,
                     after_in_child=_core.after_fork_in_child)
ConversionError.__module__ = FallbackWarning.__module__ = "hiaton"


def __getattr__(name):
    raise AttributeError(f"module 'hiaton' has no attribute '{name}'{elsewhere.hint(name)}")
