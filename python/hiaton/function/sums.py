"""Sums that begin as a number and become tensors in the first turn of a loop.

    total = 0.0                        total = 0.0 as a tensor of f32, if there is a turn
    for t in trees:                    for t in trees:
        total = total + loss(t)            total = total + loss(t)

The first turn would be a function of the graph of its own, for a number, and what is in it would run in other batches than in the
turns behind it. A number beside a tensor is converted to its element type in any case: so it is converted before the loop.

What a function gives may also be a number on one path and a tensor on another, as the loss of a leaf, 0.0, and that of an inner node, or
an int on one path and a float on another, as the sum of no children and that of some. A sum of such values is a branch: that of numbers is
a number, and every other one is a tensor.
"""

import ast

from hiaton.function.scopes import found_below, nodes_below
from hiaton.function.types import NONE, Const, Scalar, Tens, Tup, sides_of

_SUMS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def _jumps_in(loop):
    return found_below(loop, "hiaton_jumps", lambda node: (one for one in nodes_below(node.body) if isinstance(one, (ast.Break, ast.Continue))))


def _sums_in(node):
    """The names to which each turn gives a sum or a product of themselves and something, and that nothing else in the loop has to do
    with."""
    found = set()
    for statement in node.body:
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) and isinstance(statement.op, _SUMS):
            name, own = statement.target.id, 1
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name) \
                and isinstance(statement.value, ast.BinOp) and isinstance(statement.value.op, _SUMS):
            name, own = statement.targets[0].id, 2
            sides = statement.value.left, statement.value.right
            if not any(isinstance(side, ast.Name) and side.id == name for side in sides):
                continue
        else:
            continue
        if sum(isinstance(one, ast.Name) and one.id == name for one in nodes_below([node], True)) == own:
            found.add(name)
    return found


def _is_number(type_):
    return isinstance(type_, (Const, Scalar)) and (type_.kind if isinstance(type_, Scalar) else type(type_.value)) in (int, float)


def _is_float_tensor(type_):
    return isinstance(type_, Tens) and type_.dtype in ("f32", "f64")


def is_number_or_tensor(type_):
    """Whether it is a union of numbers and of tensors of floats, or of a few tensors of different ranks; beside tensors, None may be there."""
    sides = sides_of(type_)
    if is_of_several_tensors(type_):
        return True
    return len(sides) > 1 and any(isinstance(side, Scalar) for side in sides) and all(
        side.kind in (int, float) if isinstance(side, Scalar) else _is_float_tensor(side) for side in sides)


def is_of_several_tensors(type_):
    """Whether it is a union of two or three tensors of floats, beside which there may be None."""
    sides = [side for side in sides_of(type_) if side != NONE]
    return 1 < len(sides) < 4 and all(map(_is_float_tensor, sides))


class Sums:
    """The part of a frame that concerns them."""

    def binary_by_sides(self, operator, left, right):
        """An operator of which one operand, or both, are numbers or tensors."""
        if self.loop is not None:
            self.converter.mixed_sums.add(self.loop.key)
        return self.by_sides([left, right], is_number_or_tensor, lambda pair: self.binary(operator, *pair), operator)

    def by_sides(self, values, is_union, compute, what, path=()):
        """What `compute` gives for the values, of which some are unions: of one side of each, which the run tells."""
        if not path:
            path = (id(self.node), what, sum(key[0] == id(self.node) for key in self.sums_by_sides))
            self.sums_by_sides.append(path)
        place = next((place for place, value in enumerate(values) if is_union(value.type)), None)
        if place is None:
            return compute(values)
        union = values[place]

        def of(number):
            side = self.side(union, number)
            if side.type == NONE:
                self.fail(f"{what} of None")
            return self.by_sides([*values[:place], side, *values[place + 1:]], is_union, compute, what, (*path, number))

        def from_side(number):
            if number + 1 == len(union.type.sides):
                return of(number)
            return self.either(self.op("eq", union.ids[0], self.constant(number, "i64")), lambda: of(number), lambda: from_side(number + 1),
                               (*path, "side", number))
        return from_side(0)

    def run_turns_of(self, loop):
        """All turns of a loop that nothing leaves early, and what is behind it."""
        node, known = loop.node, self.converter.sums
        may_be = loop.items and not node.orelse and not self.carries_state() and not _jumps_in(node)
        names = sorted(name for name in found_below(node, "hiaton_sums", _sums_in) & set(loop.results) & self.env.keys()
                       if _is_number(self.env[name].type)) if may_be else []
        begun = {name: known[loop.key, name] for name in names if known.get((loop.key, name)) is not None}
        made = self._with_sums(loop, begun) if begun else loop.again(self)
        if isinstance(made.type, Tup):
            for name, type_ in zip(loop.results, made.type.items):
                if name in names:
                    self._note_sum((loop.key, name), type_, begun.get(name))
        return made

    def _note_sum(self, key, type_, begun):
        """Another round begins with a tensor where the turns give one; not where they gave another one then."""
        known = self.converter.sums
        tensors = [side for side in sides_of(type_) if isinstance(side, Tens)]
        is_one = len(tensors) == 1 and tensors[0].dtype in ("f32", "f64") and tensors[0].dims == () and key[0] not in self.converter.mixed_sums
        if begun is None and is_one and key not in known:
            known[key] = tensors[0]
            self.converter.changed = True
        elif begun is not None and (tensors and tensors != [begun] or key[0] in self.converter.mixed_sums):
            known[key] = None
            self.converter.changed = True

    def _with_sums(self, loop, begun):
        def turns():
            for name, type_ in begun.items():
                self.env[name] = self.converted(self.env[name], type_.dtype)
            return loop.again(self)

        def none():
            return self.tuple_of([self._state(name) for name in loop.results])
        has = loop.items.has(self, loop.state(self))
        if isinstance(has, bool):
            return turns() if has else none()
        return self.branch(has, [], turns, [], none, ("sums", loop.key))
