"""Rows of tensors, functions and dicts in gradients, and what is refused."""

import copy
import dataclasses
import math
import pickle
import types
import warnings

import numpy as np
import pytest

import hiaton as hia
from hiaton.function import frame


def test_parts_of_the_converter_share_no_name():
    seen = {}
    for part in frame.Frame.__mro__[:-1]:
        for name in vars(part):
            assert name.startswith("__") or seen.setdefault(name, part) is part, (name, part, seen[name])


def test_rows_of_tensors():
    @hia.function(strict=True)
    def total(x):
        s = 0.0
        for row in x:
            a, b = row
            s = s + a * b
        return s, [hia.sum(row) for row in x]

    x = hia.tensor([[1.0, 2.0], [3.0, 4.0]])
    s, rows = total(x)
    assert s.item() == 14.0 and [row.item() for row in rows] == [3.0, 7.0]
    assert total(hia.tensor([[1.0, 2.0]]))[0].item() == 2.0
    assert "2 conversions, 0 calls in plain Python" in total.report()


def test_gradients_go_through_functions_and_dicts():
    def loss(parameters, x, act):
        layer = lambda name, x: act(x * parameters[name])  # noqa: E731
        return hia.sum(layer("b", layer("a", x)))

    parameters = {"a": hia.tensor([2.0]), "b": hia.tensor([3.0])}
    gradient = hia.grad(lambda p, x: loss(p, x, hia.tanh))(parameters, hia.tensor([0.1]))
    a = math.tanh(0.2)
    slope = 1 - math.tanh(3 * a) ** 2
    assert gradient["b"].item() == pytest.approx(slope * a, rel=1e-5)
    assert gradient["a"].item() == pytest.approx(slope * 3 * (1 - a * a) * 0.1, rel=1e-5)


@pytest.mark.parametrize("lines,message", [
    ("f = lambda m: m\nreturn [f]", "a function that is made inside cannot be given back"),
    ("g = d\nreturn g", "a dict that came in cannot be given back"),
    ("e = {'a': 1}\nf = e\ne['b'] = 2\nreturn f", "'e' is a dict that others may refer to"),
    ("xs = [1]\nys = xs\nxs.pop()\nreturn ys", "'xs' is a list that others may refer to"),
    ("match n:\n    case (a, 1) | (1, a): return a\nreturn n", "(Match) cannot be converted"),
    ("try:\n    n += 1\nfinally:\n    return n", "(Try) cannot be converted"),
    ("def f(**named): return n\nreturn f()", "'**' of a function that is defined inside"),
    ("f = lambda m: m\nf = lambda m: f(m) if m else m\nreturn f(n)", "'f' stands for several functions"),
    ("d['x'] = 2\nreturn n", "'d' is a dict that others may refer to"),
    ("return d.pop('x')", "dict.pop cannot be converted here"),
    ("return {n / 2: 1}", "expected ints, bools, strs or tuples of them as keys which the run tells, found float"),
    ("import antigravity\nreturn n", "'antigravity' is not imported yet"),
])
def test_refusals_name_the_place(lines, message, tmp_path):
    file = tmp_path / "refused.py"
    file.write_text("def f(n, d):\n" + "".join(f"    {line}\n" for line in lines.split("\n")))
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(hia.ConversionError) as refused:
        hia.function(names["f"], strict=True)(3, {"x": 1})
    assert message in str(refused.value)
    assert f"{file}:" in str(refused.value)


def alias_by_condition(c):
    a = [1]
    b = a if c else [2]
    a.append(3)
    return a, b


def alias_by_branch(c):
    a, b = [1], [2]
    if c:
        b = a
    a.append(3)
    return a, b


def alias_by_loop(c):
    a, b = [1], [2]
    for i in range(3):
        if i == c:
            b = a
    a.append(3)
    return a, b


def alias_by_tuple(c):
    t = ([1], [c])
    u, v = t
    u.append(2)
    return t, u, v


def alias_by_list(c):
    xs = [[1], [c]]
    for x in xs:
        x.append(3)
    return xs


def alias_of_dict(c):
    a = {"x": 1}
    b = a if c else {"x": 2}
    a["x"] = 5
    return a, b


def alias_by_function(c):
    a = [1]
    f = lambda: a  # noqa: E731
    a.append(c)
    return f()


@pytest.mark.parametrize("function", [alias_by_condition, alias_by_branch, alias_by_loop, alias_by_tuple, alias_by_list,
                                      alias_of_dict, alias_by_function], ids=lambda f: f.__name__)
def test_lists_that_others_refer_to_are_not_changed(function):
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for c in (0, 1, 2, 5):
            assert graph(c) == function(c)


def test_what_is_raised_inside_try_runs_in_python():
    @hia.function
    def quotient(n, m):
        try:
            return n // m
        except ZeroDivisionError:
            return None

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [quotient(7, 2), quotient(7, 0), quotient(9, 2)] == [3, None, 4]
    assert quotient._graphs[0].hits == 2


def test_keys_of_another_order_are_another_dict():
    @hia.function
    def keys(d):
        return [value for value in d.values()]

    assert keys({"a": 1, "b": 2}) == [1, 2] and keys({"b": 1, "a": 2}) == [1, 2]
    assert keys({"a": 5, "b": 6}) == [5, 6]
    assert keys(types.SimpleNamespace(values=lambda: [4])) == [4] and "1 calls for which no graph can be made" in keys.report()


class Slots:
    __slots__ = ("value", "next")

    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class More(Slots):
    __slots__ = ("more",)


def test_objects_with_slots():
    @hia.function
    def total(link):
        return 0 if link is None else link.value + total(link.next)

    chain = Slots(1, Slots(2, Slots(3)))
    assert total(chain) == 6 and total(chain.next) == 5
    longer = More(4, chain)
    assert total(longer) == 10 and total(Slots(5, longer)) == 15
    empty = More.__new__(More)
    with pytest.raises(AttributeError):
        total(empty)
    assert total(chain) == 6 and total._graphs[0].hits > 0


class Scaled:
    def __init__(self, by):
        self.by = by

    def of(self, n):
        return 0 if n == 0 else self.by + self.of(n - 1)

    def __call__(self, n):
        return self.of(n) + 1


def test_methods_and_objects_that_can_be_called_become_graphs():
    scaled = Scaled(3)
    method, called = hia.function(scaled.of, strict=True), hia.function(scaled, strict=True)
    assert method(4) == 12 and called(4) == 13
    scaled.by = 5
    assert method(4) == 20 and called(4) == 21
    assert "0 calls in plain Python" in method.report() and "0 calls in plain Python" in called.report()
    again = hia.function(hia.function(fibonacci), strict=True)
    assert again(10) == 55


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_lambdas_of_one_line_are_told_apart():
    square, cube = hia.function(lambda x: x * x, strict=True), hia.function(lambda x: x * x * x, strict=True)
    both = [hia.function(f, strict=True) for f in (lambda x: x + 1, lambda x: x + 2, lambda x: (lambda y: y + x)(3))]
    assert (square(3.0), cube(2.0), [f(1) for f in both]) == (9.0, 8.0, [2, 3, 4])


def test_what_is_nested_too_deeply_runs_in_plain_python():
    def total(tree):
        if isinstance(tree, list):
            return sum([total(child) for child in tree])
        return tree

    tree = 1
    for i in range(300):
        tree = [tree, i]
    with pytest.warns(hia.FallbackWarning, match="nested less deeply|hold what grows in depth"):
        assert hia.function(total)(tree) == total(tree)


def test_a_tuple_that_grows_from_call_to_call():
    def paths(n, path):
        return len(path) if n == 0 else paths(n - 1, path + (n,)) + paths(n - 1, path + (0,))

    def lists(n, path):
        return len(path) if n == 0 else lists(n - 1, path + [n]) + lists(n - 1, path + [0])
    with pytest.raises(hia.ConversionError, match="tuples that do not grow from call to call; .* what grows in length in a list"):
        hia.function(lambda n: paths(n, ()), strict=True)(4)
    assert hia.function(lambda n: lists(n, []), strict=True)(4) == lists(4, []) == paths(4, ())


@dataclasses.dataclass
class Leaf:
    value: float


@dataclasses.dataclass
class Both:
    left: object
    right: object


def value_of(e):
    return e.value if isinstance(e, Leaf) else value_of(e.left) // value_of(e.right)


def test_a_graph_that_leaves_every_other_call_to_python_is_given_up():
    graph = hia.function(value_of)
    with pytest.warns(hia.FallbackWarning, match="its graph fails where Python gives a result: .*expected float, found int"):
        for _ in range(20):
            assert graph(Both(Leaf(7.5), Leaf(2.5))) == 3 and graph(Both(Leaf(5), Leaf(2.5))) == 2


@hia.function
def doubled(n):
    return 2 * n


def test_graph_functions_are_pickled_by_their_names():
    assert pickle.loads(pickle.dumps(doubled)) is doubled and copy.deepcopy([doubled])[0] is doubled
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(hia.function(lambda n: n))


def test_gradients_are_of_functions_of_python():
    with pytest.raises(TypeError, match="expected a function or a method of Python, found .*; call it in a function of your own"):
        hia.grad(hia.sum)


def test_numbers_of_numpy_in_objects_are_named():
    graph = hia.function(value_of)
    assert graph(Leaf(1.0)) == 1
    with pytest.warns(hia.FallbackWarning, match="its arguments do not fit its graph: .*, float32; int.x. and float.x. make numbers of"):
        for _ in range(4):
            assert graph(Leaf(np.float32(2.0))) == 2


@dataclasses.dataclass
class Counted:
    left: "Counted | None" = None
    right: "Counted | None" = None
    size: int = 0


def test_what_is_set_and_read_is_named():
    def counted(tree):
        if tree is None:
            return 0
        tree.size = 1 + counted(tree.left) + counted(tree.right)
        return tree.size

    with pytest.raises(hia.ConversionError, match="'size' of a 'Counted' is set, and read of objects that may be the same one; give its value back"):
        hia.function(counted, strict=True)(Counted(Counted()))
