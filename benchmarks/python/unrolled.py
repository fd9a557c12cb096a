"""Trains a TreeRNN on distinct trees by a compiler that makes a graph of each tree, compile time included.

    unrolled.py torch|jax [--trees 200]

Prints a line of JSON after each tree: how many there were, and seconds since the first one began.
"""

import argparse
import json
import os
import time

import numpy as np

import trees

SIZE = 35


def parameters():
    rng = np.random.default_rng(1)
    shapes = {"E": (trees.VOCABULARY, SIZE), "W": (2 * SIZE, SIZE), "b": (SIZE,), "V": (SIZE, trees.CLASSES), "v": (trees.CLASSES,)}
    return {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}


def torch_step():
    import torch
    import torch_models
    torch.set_num_threads(1)

    class DenseTreeRNN(torch_models.TreeRNN):
        """torch.compile adds up no sparse gradients: it ends with an error."""

        def row(self, number):
            return torch.nn.functional.embedding(number, self.E)

    model = DenseTreeRNN(parameters())
    optimizer = torch.optim.Adagrad(model.parameters(), 0.01)
    loss_of = torch.compile(lambda t: model.loss(t))

    def step(t):
        optimizer.zero_grad()
        loss_of(t).backward()
        optimizer.step()
    return step, torch_models.with_tensors


def jax_step():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    import jax.numpy as jnp

    def node_loss(p, h, label):
        return -jax.nn.log_softmax(h @ p["V"] + p["v"])[label]

    def encode(p, t):
        if len(t) == 2:
            label, word = t
            h = p["E"][word]
            return h, node_loss(p, h, label)
        label, left, right = t
        (hl, ll), (hr, lr) = encode(p, left), encode(p, right)
        h = jnp.tanh(jnp.concatenate([hl, hr]) @ p["W"] + p["b"])
        return h, ll + lr + node_loss(p, h, label)

    @jax.jit
    def next_of(p, squares, t):
        gradients = jax.grad(lambda p: encode(p, t)[1])(p)
        squares = {name: squares[name] + gradients[name] ** 2 for name in p}
        return {name: p[name] - 0.01 * gradients[name] / (jnp.sqrt(squares[name]) + 1e-8) for name in p}, squares

    state = [{name: jnp.asarray(value) for name, value in parameters().items()}]
    state.append({name: jnp.zeros_like(value) for name, value in state[0].items()})

    def step(t):
        state[:] = next_of(*state, t)
        jax.block_until_ready(state)

    def as_tuples(t):
        return (t.label, t.word) if t.left is None else (t.label, as_tuples(t.left), as_tuples(t.right))
    return step, as_tuples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", choices=["torch", "jax"])
    parser.add_argument("--trees", type=int, default=200)
    options = parser.parse_args()
    step, convert = torch_step() if options.package == "torch" else jax_step()
    examples = [convert(t) for t in trees.generated(trees.Tree, options.trees)]
    begin = time.perf_counter()
    for number, t in enumerate(examples, 1):
        step(t)
        print(json.dumps({"trees": number, "seconds": time.perf_counter() - begin}), flush=True)


if __name__ == "__main__":
    main()
