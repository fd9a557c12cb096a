"""Numbers to which the turns of a loop add tensors: what comes out is of the type that Python gives, and the graph has one loop."""

import pytest

import hiaton as hia

X = hia.tensor([1.5, -2.0, 0.25, 3.0])


def added(x, n):
    total = 0.0
    for i in range(n):
        total = total + x[i]
    return total


def subtracted_from_an_integer(x, n):
    total = 7
    for i in range(n):
        total -= x[i]
    return total


def on_the_right(x, n):
    total = 1.0
    for i in range(n):
        total = x[i] / total
    return total


def two_of_them(x, n):
    total, product, plain = 0.1, 1, 0.1
    for i in range(n):
        total += x[i]
        product = product * (x[i] * 0.5)
        plain = plain * 2
    return total, product, plain


def of_another_size(x, n):
    total = 0.5
    for _ in range(n):
        total += x
    return total


def in_a_branch(x, n):
    total = 0.1
    for i in range(n):
        if i > 1:
            total += x[i]
    return total


def until_it_is_left(x, n):
    total = 0.1
    for i in range(n):
        if i == 2:
            break
        total += x[i]
    return total


def read_in_the_turn(x, n):
    total, doubled = 0.1, 0.0
    for i in range(n):
        total = total + x[i]
        doubled = total * 2
    return total, doubled


def read_before(x, n):
    total, tripled = 0.1, 0.0
    for i in range(n):
        tripled = total * 3
        total = total + x[i]
    return total, tripled


def of_itself_twice(x, n):
    total = 1.1
    for i in range(n):
        total = total + total * x[i]
    return total


def nested(x, n):
    total = 0.1
    for i in range(n):
        row = 0.3
        for j in range(i):
            row += x[j]
        total += row * x[i]
    return total


def of_integers(x, n):
    total, i64 = 0.5, hia.tensor([2, 3, 4, 5])
    for i in range(n):
        total = total + x[i]
        total = total + hia.f32(i64[i])
    return total


def from_an_argument(x, n, start=0.1):
    for i in range(n):
        start = start + x[i]
    return start


FUNCTIONS = [added, subtracted_from_an_integer, on_the_right, two_of_them, of_another_size, in_a_branch, until_it_is_left,
             read_in_the_turn, read_before, of_itself_twice, nested, of_integers, from_an_argument]


def parts_of(made):
    return made if isinstance(made, tuple) else (made,)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_comes_out_is_what_python_gives(function):
    graph = hia.function(function)
    for n in (2, 0, 1, 4, 0, 3):
        for found, expected in zip(parts_of(graph(X, n)), parts_of(function(X, n)), strict=True):
            assert type(found) is type(expected), (n, found, expected)
            if isinstance(expected, hia.Tensor):
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
                found, expected = found.numpy().tobytes(), expected.numpy().tobytes()
            assert found == expected, n
    assert "in plain Python:" not in graph.report(), graph.report()


@pytest.mark.parametrize("function", [added, subtracted_from_an_integer, on_the_right, from_an_argument], ids=lambda f: f.__name__)
def test_the_first_turn_is_no_loop_of_its_own(function):
    graph = hia.function(function, strict=True)
    graph(X, 3)
    assert graph.text().count("fn ") == 2, graph.text()


def test_a_large_number_is_rounded_once():
    def large(x, n):
        total = 16777217  # which f32 does not hold
        for i in range(n):
            total = total + x[i]
        return total

    graph = hia.function(large, strict=True)
    assert graph(X, 1).item() == large(X, 1).item() and graph(X, 0) == 16777217


def test_gradients_go_through_the_sum():
    def loss(x):
        total = 0.0
        for row in x:
            total = total + row * row
        return total

    assert hia.grad(loss)(X).tolist() == [3.0, -4.0, 0.5, 6.0]
