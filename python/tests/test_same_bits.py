"""The forward pass of a graph gives the bits that eager operations give, in batches of any size and with any number of workers."""

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn
from test_nn import ChildSum, Pictures, Sequence, TreeLSTM, TreeRNN, mean_loss, nodes, pictures, trees

BATCH = 25
WORDS = [[(7 * i + j) % 3 for j in range(1 + i % 6)] for i in range(BATCH)]
MODELS = [(TreeRNN, trees(BATCH)), (TreeLSTM, trees(BATCH)), (ChildSum, nodes(BATCH)), (Sequence, WORDS), (Pictures, pictures(BATCH))]


def each(model, examples):
    return [model.loss(example) for example in examples]


def in_a_loop(model, examples):
    total = hia.f32(0.0)
    for number, example in enumerate(examples):
        total = total + model.loss(example) * float(number % 3)
    return total


def bytes_of(made):
    return [np.asarray(one).tobytes() for one in made] if isinstance(made, list) else np.asarray(made).tobytes()


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("function", [each, mean_loss, in_a_loop])
@pytest.mark.parametrize("make,examples", MODELS, ids=[make.__name__ for make, _ in MODELS])
def test_graph_and_eager_give_the_same_bits(make, examples, function, workers):
    nn.seed(11)
    model = make()
    graph = hia.function(function, strict=True, workers=workers)
    for given in (examples, examples[:1], examples[3:10]):
        assert bytes_of(graph(model, given)) == bytes_of(function(model, given))
    assert graph._plain == 0


@pytest.mark.parametrize("make,examples", MODELS, ids=[make.__name__ for make, _ in MODELS])
def test_the_loss_beside_gradients_has_the_same_bits(make, examples):
    nn.seed(11)
    model = make()
    loss, _ = nn.value_and_grad(model, mean_loss)(model, examples)
    assert bytes_of(loss) == bytes_of(mean_loss(model, examples))
