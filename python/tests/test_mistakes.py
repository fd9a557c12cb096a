"""Mistakes that every path of a function comes to: the reason, the line, and the calls that led there."""

import dataclasses
import inspect
import re

import numpy as np
import pytest

import hiaton as hia
from hiaton import nn


class Net(nn.Module):
    def __init__(self):
        self.first, self.second = nn.Linear(4, 8), nn.Linear(9, 8)
        self.layers = [nn.Linear(8, 8), nn.Linear(7, 3)]

    def hidden(self, x):
        return hia.tanh(self.frist(x))

    def loss(self, x):
        return hia.sum(self.hidden(x))

    def in_a_row(self, x):
        x = self.first(x)
        return hia.sum(self.second(x))

    def one_after_the_other(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return hia.sum(x)

    def outer(self, x):
        return self.in_a_row(x) + 1.0

    def row(self, x):
        return hia.sum(self.first.weight[7] * x)


def message_of(call):
    with pytest.raises(hia.ConversionError) as error:
        call()
    return str(error.value)


def place(function, number):
    return f"{__file__}:{inspect.unwrap(function).__code__.co_firstlineno + number}"


def gradient_message(method):
    net = Net()
    return message_of(lambda: nn.value_and_grad(net, method)(net, hia.ones(4)))


def test_an_attribute_that_there_is_not():
    assert gradient_message(Net.loss) == (
        f"{place(Net.hidden, 1)}: 'Net' object has no attribute 'frist'; correct this, since no path through 'Net.loss' gives a result, "
        f"or let Python run it\n  in Net.hidden called at {place(Net.loss, 1)}")


def test_a_row_that_a_parameter_does_not_have():
    assert gradient_message(Net.row).startswith(f"{place(Net.row, 1)}: expected an index from -4 to 3, found 7; correct this")


def test_errors_inside_of_modules_name_the_line_of_the_user_and_the_module():
    lines = gradient_message(Net.in_a_row).split("\n")
    assert lines[0].startswith(f"{place(Net.in_a_row, 2)}: ") and "found f32[8] and f32[9, 8]" in lines[0], lines
    assert lines[1:] == [f"  in Linear.__call__ of 'second' called at {place(Net.in_a_row, 2)}"]
    lines = gradient_message(Net.one_after_the_other).split("\n")
    assert lines[0].startswith(f"{place(Net.one_after_the_other, 3)}: "), lines
    assert lines[1:] == [f"  in Linear.__call__ of 'layers.1' called at {place(Net.one_after_the_other, 3)}"]


def test_all_calls_are_named_the_innermost_first():
    assert gradient_message(Net.outer).split("\n")[1:] == [
        f"  in Linear.__call__ of 'second' called at {place(Net.in_a_row, 2)}", f"  in Net.in_a_row called at {place(Net.outer, 1)}"]


def written(file, body):
    """The function f(x) with this body, whose text is in the file."""
    file.write_text(f"def f(x):\n{body}")
    names = {"hia": hia, "nn": nn}
    exec(compile(file.read_text(), str(file), "exec"), names)
    return names["f"]


@pytest.mark.parametrize("body,message", [
    ("hia.relu6(x)", "module 'hiaton' has no attribute 'relu6'"),
    ("nn.relu(x)", "module 'hiaton.nn' has no attribute 'relu'"),
    ("x[4]", "expected an index from -4 to 3, found 4"),
    ("x[0, 0]", "expected at most 1 indices, found 2"),
    ("x[x > 1.0]", "truth values are no indices of tensors, found bool[4], and hia.where(mask, x, 0) keeps the size"),
    ("x * 2**70", "an integer beyond 64 bits"),
    ("x * (1, 2)[2]", "expected an index from -2 to 1, found 2"),
    ("x * {'a': 1}['b']", "no key 'b'"),
    ("hia.sum(x, dim=0)", "sum(): there is no argument 'dim'; its arguments are x, axis"),
    ("x.softmax(dim=0)", "softmax(): there is no argument 'dim'; its arguments are x, axis"),
    ("x if x > 0.0 else -x", "expected a condition of one element, found bool[4]; hia.any(x) and hia.all(x) ask all of them"),
    ("x * (1 // 0)", "integer division or modulo by zero"),
])
def test_expressions_that_python_refuses(body, message, tmp_path):
    file = tmp_path / "mistaken.py"
    f = written(file, f"    y = x + 1.0\n    return {body}\n")
    assert message_of(lambda: hia.function(f, strict=True)(hia.ones(4))).startswith(
        f"{file}:3: {message}; correct this, since no path through 'f' gives a result")


def raised_or_mistaken(x):
    if hia.sum(x).item() > 3.0:
        raise ValueError("too large")
    return hia.summ(x)


def always_raised(x):
    raise ValueError("never")


def without_end(x):
    return without_end(x)


def deep(x, n=3):
    if n == 0:
        return hia.summ(x)
    return deep(x, n - 1)


def test_what_the_function_raises_itself_is_not_the_mistake():
    strict = {f: hia.function(f, strict=True) for f in (raised_or_mistaken, always_raised, without_end, deep)}
    found = {f: message_of(lambda graph=graph: graph(hia.ones(4))) for f, graph in strict.items()}
    assert found[raised_or_mistaken].startswith(f"{place(raised_or_mistaken, 3)}: module 'hiaton' has no attribute 'summ'; ")
    assert found[always_raised] == (f"{place(always_raised, 1)}: 'raise ValueError('never')' is where every path through 'always_raised' "
                                    "ends; let Python run it")
    assert found[deep].startswith(f"{place(deep, 2)}: module 'hiaton' has no attribute 'summ'; ")
    assert "since each calls itself again" in found[without_end]


def test_the_warning_and_the_report_tell_the_reason_too():
    graph = hia.function(deep)
    with pytest.warns(hia.FallbackWarning, match="module 'hiaton' has no attribute 'summ'"), pytest.raises(AttributeError):
        graph(hia.ones(4))
    assert f"in plain Python: {place(deep, 2)}: module 'hiaton' has no attribute 'summ'" in graph.report()


names = {}
exec("def without_text(x):\n    return x", names)  # noqa: S102
without_text = names["without_text"]


def caller(x):
    return without_text(x)


def test_a_function_without_a_text_is_named_with_its_call():
    lines = message_of(lambda: hia.function(lambda x: caller(x), strict=True)(1)).split("\n")
    assert "'without_text' was defined by exec or changed on disk" in lines[0], lines
    assert lines[1] == f"  in without_text called at {place(caller, 1)}" and lines[2].startswith("  in caller called at "), lines


@pytest.mark.parametrize("body, here", [
    ("hia.transpose(x)", "module 'hiaton' has no attribute 'transpose'; what other packages call 'transpose' is hia.permute_dims(x, axes), or x.T here"),
    ("hia.cat([x, x])", "module 'hiaton' has no attribute 'cat'; what other packages call 'cat' is hia.concat([x, y], axis=0) here"),
    ("x.unsqueeze(0)", "'Tensor' object has no attribute 'unsqueeze'; what other packages call 'unsqueeze' is x[None], or x[:, None] here"),
    ("x.shaep", "'Tensor' object has no attribute 'shaep'"),
])
def test_names_of_other_packages(body, here, tmp_path):
    file = tmp_path / "mistaken.py"
    f = written(file, f"    return {body}\n")
    with pytest.raises(AttributeError) as error:
        f(hia.ones(4))
    assert str(error.value) == here
    assert message_of(lambda: hia.function(f, strict=True)(hia.ones(4))).startswith(f"{file}:2: {here}; correct this")


def test_what_names_of_other_packages_are_called_here():
    from hiaton import elsewhere
    for name, text in elsewhere._HERE.items():
        assert not hasattr(hia, name) and hasattr(hia.Tensor, name) == (name in elsewhere.SAME), name
        for path in re.findall(r"(?:hia|nn|x)\.[a-z_0-9.]*[a-z0-9]", text):
            assert eval(path, {"hia": hia, "nn": nn, "x": hia.ones((2, 2))}) is not None


@dataclasses.dataclass
class Word:
    number: int


def test_a_mistaken_call_does_not_spoil_others():
    embed = nn.Embedding(4, 2)
    graph, step = hia.function(lambda t: embed(t.number), strict=True), nn.value_and_grad(embed, lambda embed, t: hia.sum(embed(t.number)))
    for call in (lambda t: graph(t), lambda t: step(embed, t)[0]):
        with pytest.raises(hia.ConversionError, match="expected integers as an index, found float"):
            call(Word(1.0))
        expected = embed(1) if call(Word(1)).shape else hia.sum(embed(1))
        assert call(Word(1)).tolist() == expected.tolist()
    assert "1 graphs, 1 conversions, 0 calls in plain Python" in graph.report()


class Forward(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        return hia.sum(self.layer(x))


class WithoutParameters(nn.Module):
    def __init__(self):
        self.weight = hia.ones(4)

    def __call__(self, x):
        return hia.sum(self.weight * x)


def called(model, x):
    return model(x)


def test_a_module_without_a_call():
    model = Forward()
    message = "'Forward' has no __call__; what other packages call 'forward' is __call__ here"
    assert f": {message}; correct this" in message_of(lambda: nn.value_and_grad(model, called)(model, hia.ones(4)))
    with pytest.raises(NotImplementedError, match=message):
        model(hia.ones(4))


def test_gradients_of_a_module_that_has_no_parameters_there():
    model = WithoutParameters()
    with pytest.raises(TypeError, match="expected a module with parameters, found 'WithoutParameters', which has none; nn.Parameter"):
        nn.value_and_grad(model, called)(model, hia.ones(4))
    model, other = nn.Linear(4, 1), nn.Linear(4, 1)
    with pytest.raises(TypeError, match="none of the 'Linear' that gradients are asked for; ask for those of the module that it is called with"):
        nn.value_and_grad(model, lambda model, x: hia.sum(model(x)))(other, hia.ones(4))


def test_functions_of_numpy():
    message = message_of(lambda: hia.function(lambda x: np.tanh(x), strict=True)(hia.ones(3)))
    assert message.endswith(": 'numpy.tanh' is foreign to the graph; call hia.tanh")
