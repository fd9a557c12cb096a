"""What a refusal says: file and line, what cannot be converted, and what to do."""

import ast
import collections
import functools
import pathlib
import re

import pytest

import hiaton as hia
from hiaton.function import conversions

FOLDER = pathlib.Path(conversions.__file__).parent
# These hand on what another message says.
PASSED_ON = {"self.refusal", "str(error)", "self._why_no_more()", "self.left[0]", "message"}


def text_of(node):
    """The text of a message, with its values as '{}'; None where it is not written out."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else _GROWING if "GROWS" in ast.unparse(part) else "{}"
                       for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


_GROWING = "{}; {}"


def messages():
    for path in sorted(FOLDER.glob("*.py")):
        if path.name == "prelude.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("refuse", "ConversionError", "TooMany") and ast.unparse(node.args[0]) not in PASSED_ON:
                yield pytest.param(node.args[0], id=f"{path.name}:{node.lineno}")


@pytest.mark.parametrize("message", list(messages()))
def test_every_message_says_what_to_do(message):
    if isinstance(message, ast.BoolOp):
        message = message.values[-1]
    text = text_of(message)
    assert text is not None, ast.unparse(message)
    what, semicolon, advice = text.rpartition("; ")
    is_engines = text.endswith("{}") and "': {}" in text  # the message of the engine, or of a call, ends it
    assert semicolon and len(what) > 5 and re.match(r"[a-z'h{]", advice) or is_engines, text


def no_source(n):
    return eval("n") + n


def foreign(values):
    return len(frozenset(values))


def queued(values):
    return collections.deque(values)


def counted(values):
    return collections.Counter({value: 1 for value in values})


@functools.cache
def kept(n):
    return n if n < 2 else kept(n - 1) + kept(n - 2)


def cached(values):
    return kept(values[0])


def letters(values):
    return len("ab" if values[0] > 1 else "abc")


def keyed(values):
    return {value / 2: 1 for value in values}


def sliced(values):
    return values[2:0:-1]


def compared(values):
    return values < 3


def set_on_a_tensor(values):
    x = hia.tensor([1.0, 2.0])
    x[0] = 1.0
    return x


def backward(values):
    hia.tensor([1.0]).backward()


def part_of_the_run(values):
    return hia.ones(3)[:values[0]]


@pytest.mark.parametrize("function,line,message", [
    (no_source, 1, "'eval' is foreign to the graph; call it outside of the function, or let Python run this function"),
    (foreign, 1, "an object of 'frozenset' cannot be made in a graph; use a set"),
    (queued, 1, "an object of 'deque' cannot be made in a graph; use only append, extend, popleft, len(q) and 'while q' of it, or a list, with append, pop() and pop(0)"),
    (counted, 1, "a Counter of this cannot be converted; give it a list, a comprehension or list(...) of it"),
    (cached, 1, "'kept' keeps its results for later calls, which a graph does not; define it inside of the function that calls it, "
                "with functools.cache, or call it without that"),
    (letters, 1, "the length of str cannot be converted; count in the function, or hand over a list, as of numbers of its letters"),
    (keyed, 1, "expected ints, bools, strs or tuples of them as keys which the run tells, found float; give things numbers, and use these"),
    (sliced, 1, "a part of a list with ends and a step below 0 cannot be converted; take the part, and then [::-1] of it"),
    (compared, 1, "an order of list[int] and 3 cannot be converted; compare numbers, or tuples of them"),
    (set_on_a_tensor, 2, "a tensor never changes; make another one, as by hia.where(mask, value, x)"),
    (backward, 1, "Tensor.backward cannot be converted; gradients are values here: use hia.value_and_grad, nn.value_and_grad or "
                  "hia.GradientTape"),
    (part_of_the_run, 1, "expected a part with integer bounds that are known before the run, found int; take rows by a tensor of "
                         "numbers, or all of them by a loop"),
])
def test_messages_name_file_line_construct_and_what_to_do(function, line, message):
    with pytest.raises(hia.ConversionError) as error:
        hia.function(function, strict=True)([1, 2, 3])
    assert str(error.value) == f"{__file__}:{function.__code__.co_firstlineno + line}: {message}"
