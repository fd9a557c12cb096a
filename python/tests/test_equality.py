"""`==` of objects in graphs: of dataclasses, and by methods."""

import dataclasses
import math
import warnings

import pytest

import hiaton as hia


@dataclasses.dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None
    mark: str = dataclasses.field(default="", compare=False)


@dataclasses.dataclass
class Weighted(Tree):
    weight: float = 0.0


@dataclasses.dataclass
class Parity:
    value: int

    def __eq__(self, other):
        return self.value % 2 == other.value % 2


class Number:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if not isinstance(other, Number):
            return NotImplemented
        return self.value == other.value


class Unequal(Number):
    def __ne__(self, other):
        return True


NAN = float("nan")
PAIRS = [
    (Tree(1, Tree(2), None), Tree(1, Tree(2), None)), (Tree(1, Tree(2)), Tree(1, Tree(3))), (Tree(1), Tree(1, Tree(1))),
    (Tree(1, mark="a"), Tree(1, mark="b")), (Tree(1), None), (None, Tree(1)), (None, None),
    (Weighted(1, None, None, "", 2.0), Weighted(1, None, None, "", 2.0)), (Weighted(1), Tree(1)), (Tree(1), Weighted(1)),
    (Tree(0, Weighted(1)), Tree(0, Weighted(1))), (Tree(0, Weighted(1)), Tree(0, Tree(1))),
    (Weighted(1, None, None, "", NAN), Weighted(1, None, None, "", NAN)), (Weighted(1, weight=float("nan")), Weighted(1, weight=NAN)),
    (Parity(1), Parity(3)), (Parity(1), Parity(2)), (Number(1), Number(1)), (Number(1), Number(2))]


@dataclasses.dataclass
class Listed:
    values: "list[int]"
    pair: tuple = (1, 2.5)
    name: "str | None" = None
    next: "Listed | None" = None


LISTED = [Listed([]), Listed([1, 2]), Listed([1, 3]), Listed([1, 2], (1, 2.0)), Listed([1, 2], name="a"), Listed([], next=Listed([1]))]
PAIRS += [(a, b) for a in LISTED for b in LISTED]


def compared(a, b):
    return a == b, a != b


@pytest.mark.parametrize("a,b", PAIRS)
def test_it_is_that_of_python(a, b):
    assert hia.function(compared, strict=True)(a, b) == compared(a, b)


def test_one_function_for_all():
    graph = hia.function(compared)
    for a, b in PAIRS[:12] * 2:
        assert graph(a, b) == compared(a, b)
    assert graph._refused is None and graph._plain == 0, graph.report()


def test_lists_of_dataclasses():
    @hia.function(strict=True)
    def places(trees, t):
        return t in trees, trees.count(t), trees == [t]

    for trees in ([Tree(1)], [Tree(2), Tree(1)], []):
        assert places(trees, Tree(1)) == places.__wrapped__(trees, Tree(1))


@pytest.mark.parametrize("a,b", [(Number(1), 1), (Number(1), Unequal(1)), (Unequal(1), Unequal(1))])
def test_what_depends_on_both_sides_is_left_to_python(a, b):
    with pytest.raises(hia.ConversionError, match="'==' of .* cannot be converted; compare their fields"):
        hia.function(compared, strict=True)(a, b)


class Never(Number):
    def __eq__(self, other):
        return False


@pytest.mark.parametrize("one", [Parity(1), Number(1), Never(1), Weighted(1, weight=NAN), NAN])
def test_elements_of_containers_are_equal_where_they_are_one_object(one):
    def places(values):
        first = values[0]
        return first in values, values.count(first), values == [first], values.index(first), (first, 1) == (values[0], 1)

    graph = hia.function(places)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for values in ([one, one], [one]):
            assert graph(values) == places(values)


def test_a_class_that_gets_another_method(monkeypatch):
    graph = hia.function(compared)
    assert graph(Parity(1), Parity(3)) == (True, False)
    monkeypatch.setattr(Parity, "__eq__", lambda self, other: self.value == other.value)
    assert graph(Parity(1), Parity(3)) == (False, True)
    assert graph(Tree(1), Tree(1)) == (True, False)
    monkeypatch.setattr(Tree, "__eq__", lambda self, other: False)
    assert graph(Tree(1), Tree(1)) == (False, True)


@dataclasses.dataclass
class Pair:
    value: int
    first: "Pair | None" = None
    second: "Pair | None" = None


def test_what_a_pattern_says_to_be_none_is_compared():
    def differ(pair):
        match pair:
            case Pair(first=Pair(value=_)):
                pass
            case _:
                if pair.first != pair.second:
                    return True
        return False

    graph = hia.function(differ, strict=True)
    for pair in [Pair(1, Pair(2), Pair(3)), Pair(1), Pair(1, None, Pair(3)), Pair(1, Pair(2))]:
        assert graph(pair) == differ(pair)


def test_classes_functions_and_modules_are_equal_to_themselves():
    def compared(n):
        cls, function = Tree, math.floor
        shape = cls if n > 1 else int
        return (cls == Tree, cls != Tree, cls in (int, Tree), shape == Tree, shape in (int, str), math == math,
                helper_of_comparison == helper_of_comparison, helper_of_comparison == compared_with, function is math.floor)
    graph = hia.function(compared, strict=True)
    assert [graph(n) for n in (1, 2)] == [compared(n) for n in (1, 2)]


def helper_of_comparison(n):
    return n


def compared_with(n):
    return n
