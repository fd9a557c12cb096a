"""Objects that a graph makes have their attributes in the order that Python gives them."""

import dataclasses
import json

import pytest

import hiaton as hia


class Point:
    def __init__(self, a, b, c):
        self.x = a
        self.y = b
        self.z = c


@dataclasses.dataclass
class Options:
    first: int
    second: int = dataclasses.field(kw_only=True)
    third: int = 3
    rest: list = dataclasses.field(default_factory=list)


def read_backwards(n):
    point, options = Point(n, n + 1, n + 2), Options(1, second=n)
    return point, options, point.z + point.x + options.third + options.first


def one_of_two(n):
    return Point(n, n, n) if n > 2 else Options(n, second=2)


def turned(n):
    return [Point(point.z, point.y, point.x) for point in [Point(n, 1, 2), Point(3, 4, 5)]]


@pytest.mark.parametrize("function", [read_backwards, one_of_two, turned])
def test_attributes_are_in_the_order_of_init(function):
    graph = hia.function(function, strict=True)
    for n in (1, 3):
        assert json.dumps(graph(n), default=vars) == json.dumps(function(n), default=vars)
