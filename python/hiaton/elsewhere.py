"""What names of PyTorch and NumPy that are not there are called here: messages of errors tell."""

from hiaton import _core

_HERE = {
    "absolute": "hia.abs(x)", "addmm": "a + x @ y", "arctan2": "hia.atan2(y, x)", "argmin": "hia.argmax(-x)", "array": "hia.tensor(x)",
    "bmm": "x @ y", "cat": "hia.concat([x, y], axis=0)", "chunk": "hia.split(x, length, axis=0)", "clamp": "hia.clip(x, low, high)",
    "concatenate": "hia.concat([x, y], axis=0)", "contiguous": "x itself", "cpu": "x itself", "cumsum": "hia.cumulative_sum(x)",
    "detach": "hia.stop_gradient(x)", "dim": "x.ndim", "double": "hia.f64(x)", "expand": "hia.broadcast_to(x, shape)",
    "expand_dims": "x[None]", "flatten": "hia.reshape(x, (-1,))", "float": "hia.f32(x)", "float32": "hia.f32", "float64": "hia.f64",
    "index_add": "hia.scatter_add", "int32": "hia.i32", "int64": "hia.i64", "jit": "hia.function(f)",
    "log_sum_exp": "hia.logsumexp(x)", "long": "hia.i64(x)", "manual_seed": "nn.seed(number)", "masked_fill": "hia.where(mask, value, x)",
    "mm": "x @ y", "mse_loss": "hia.mean((x - y) ** 2)", "mul": "x * y", "mv": "x @ y", "neg": "-x", "norm": "hia.sqrt(hia.sum(x * x))",
    "permute": "hia.permute_dims(x, axes), or x.permute(1, 0)", "power": "x ** y", "prod": "hia.exp(hia.sum(hia.log(x))) of positive numbers",
    "rand": "hia.random.uniform(key, shape)", "randn": "hia.random.normal(key, shape)", "relu_": "hia.relu(x)",
    "silu": "x * hia.sigmoid(x)", "square": "x * x", "squeeze": "x[0], or hia.reshape(x, shape)",
    "std": "hia.sqrt(hia.mean((x - hia.mean(x)) ** 2))", "sub": "x - y", "swapaxes": "hia.permute_dims(x, axes)", "t": "x.T",
    "topk": "hia.top_k(x, k) and hia.top_k_indices(x, k)", "transpose": "hia.permute_dims(x, axes), or x.T",
    "unsqueeze": "x[None], or x[:, None]", "var": "hia.mean((x - hia.mean(x)) ** 2)", "view": "hia.reshape(x, shape), or x.view(2, 3)",
}

SAME = {"view": "reshape", "permute": "permute_dims"}  # methods of tensors that have the names of other packages as well


def hint(name):
    """What a name is here, for the end of a message; nothing where it is not known."""
    return f"; what other packages call '{name}' is {_HERE[name]} here" if name in _HERE else ""


def _of_tensor(tensor, name):
    raise AttributeError(f"'{type(tensor).__name__}' object has no attribute '{name}'{hint(name)}")


_core.Tensor.__getattr__ = _of_tensor
for _theirs, _ours in SAME.items():
    setattr(_core.Tensor, _theirs, getattr(_core.Tensor, _ours))
