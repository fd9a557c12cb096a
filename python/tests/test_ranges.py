"""What is asked of ranges besides going over them."""

import pytest

import hiaton as hia


def lengths(n):
    return len(range(n)), len(range(2, n)), len(range(1, n, 3)), len(range(n, 0, -2)), len(range(n)) == 0, len(range(n, 2 * n)) > 0


def members(n):
    return n in range(3), n not in range(2, 9, 3), n in range(9, 0, -4), float(n) in range(3), n + 0.5 in range(9), (n > 2) in range(1)


def counted(n):
    total = 0
    for number, item in enumerate([n, 2, n], start=5):
        total += number * item
    return total, [number * item for number, item in enumerate([3, n], start=n)], list(enumerate([n], start=-1)), {
        number: item for number, item in enumerate((n, 7), start=2)}


@pytest.mark.parametrize("function", [lengths, members, counted])
def test_it_is_what_python_gives(function):
    graph = hia.function(function, strict=True)
    for n in range(-2, 12):
        assert repr(graph(n)) == repr(function(n)), n


def test_a_step_of_nothing_raises():
    graph = hia.function(lambda n: n in range(0, 5, n), strict=True)
    assert graph(1) is True
    with pytest.raises(ValueError, match="must not be zero"):
        graph(0)


@pytest.mark.parametrize("function,name", [(lambda n: range(n), "range"), (lambda n: range(5)[n], "range"), (lambda n: zip([n], [n]), "zip")])
def test_ranges_are_not_kept(function, name):
    with pytest.raises(hia.ConversionError, match=f"what '{name}' gives can be gone over where it is made, in a loop or as list"):
        hia.function(function, strict=True)(2)
