"""Members of an IntEnum are numbers where something is computed with them, and stay members else."""

import dataclasses
import enum

import pytest

import hiaton as hia


class Op(enum.IntEnum):
    SHIFT = 0
    REDUCE = 1


class Bits(enum.IntFlag):
    A = 1
    B = 2


@dataclasses.dataclass
class Example:
    op: int
    ops: list


def named(e):
    match e.op:
        case Op.SHIFT:
            return "shift"
        case Op.REDUCE:
            return "reduce"
        case _:
            return "other"


WAYS = [
    lambda e: [1 if op == Op.SHIFT else 2 if Op.REDUCE == op else 3 for op in e.ops],
    lambda e: (e.op + Op.REDUCE, e.op * Op.REDUCE, -Op.REDUCE + e.op, e.op < Op.REDUCE, Op.REDUCE > e.op, e.op != Op.SHIFT),
    lambda e: (e.op in (Op.SHIFT, Op.REDUCE), e.ops[Op.REDUCE], (4, 5)[Op.SHIFT], max(e.op, Op.REDUCE), {Op.SHIFT: 1}[Op.SHIFT]),
    lambda e: Op.SHIFT if e.op else Op.REDUCE,
    lambda e: (Op.REDUCE.value + e.op, Op.REDUCE.name, [op is Op.SHIFT for op in e.ops]),
    named,
]


@pytest.mark.parametrize("function", WAYS)
@pytest.mark.parametrize("example", [Example(0, [0, 1, 2]), Example(1, [1, 0]), Example(2, [Op.SHIFT, Op.REDUCE])])
def test_members_are_numbers(function, example):
    assert repr(hia.function(function, strict=True)(example)) == repr(function(example))


def test_flags_give_flags():
    function = hia.function(lambda n: (n & Bits.A, n | Bits.B))
    with pytest.warns(hia.FallbackWarning):
        assert repr(function(3)) == repr((3 & Bits.A, 3 | Bits.B))


def test_members_beside_tensors():
    x = hia.tensor([1.0, 2.0])
    assert (x + Op.REDUCE).tolist() == [2.0, 3.0] and x[Op.REDUCE].item() == 2.0
    function = hia.function(lambda x: (x + Op.REDUCE, x[Op.REDUCE]), strict=True)
    assert [one.tolist() for one in function(x)] == [[2.0, 3.0], 2.0]
