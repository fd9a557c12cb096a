"""Sums that begin as a number and become tensors in the first turn of a loop.

    total = 0.0                        total = 0.0 as a tensor of f32, if there is a turn
    for t in trees:                    for t in trees:
        total = total + loss(t)            total = total + loss(t)

The first turn would be a function of the graph of its own, for a number, and what is in it would run in other batches than in the
turns behind it. A number beside a tensor is converted to its element type in any case: so it is converted before the loop.
"""

import ast

from hiaton.function.scopes import nodes_below
from hiaton.function.types import Const, Scalar, Tens, Tup, sides_of

_SUMS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


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


class Sums:
    """The part of a frame that concerns them."""

    def run_turns_of(self, loop):
        """All turns of a loop that nothing leaves early, and what is behind it."""
        node, known = loop.node, self.converter.sums
        kinds = (ast.Break, ast.Continue)
        may_be = loop.items and not node.orelse and not self.carries_state() and not any(
            isinstance(one, kinds) for one in nodes_below(node.body))
        names = sorted(name for name in _sums_in(node) & set(loop.results) & self.env.keys()
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
        is_one = len(tensors) == 1 and tensors[0].dtype in ("f32", "f64") and tensors[0].dims == ()
        if begun is None and is_one and key not in known:
            known[key] = tensors[0]
            self.converter.changed = True
        elif begun is not None and tensors and tensors != [begun]:
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
