"""What is asked of a range: its length, and whether a number is in it. Loops over ranges are in loops.py."""

import ast
import builtins

from hiaton.function.types import Const, Value


class Ranges:
    def range_bounds(self, node):
        """The start, the stop and the step of the `range` that an expression makes; None: it is something else."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords or not 1 <= len(node.args) <= 3:
            return None
        if any(isinstance(bound, ast.Starred) for bound in node.args) or self.eval(node.func).type != Const(builtins.range):
            return None
        bounds = [self.integer_bound(bound, node) for bound in node.args]
        start_stop = [Value(Const(0)), *bounds] if len(bounds) == 1 else bounds[:2]
        return [*start_stop, bounds[2] if len(bounds) == 3 else Value(Const(1))]

    def integer_bound(self, bound, node):
        """An argument of `range`, which the call is written as `node`."""
        value = self.operand(self.eval(bound))
        if not self.numeric(value.type) or self.kind_of(value.type) is float:
            self.refuse(f"range(): expected integers, found {value.type}; convert them by int(...)", node)
        return value

    def length_of_range(self, node):
        """What len(range(...)) gives; None where the expression is something else."""
        is_one = isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords
        bounds = self.range_bounds(node.args[0]) if is_one else None
        return None if bounds is None else self.call_prelude("length_of_range", bounds)

    def compared_with_range(self, node):
        """What `x in range(...)` and `x not in range(...)` give; None where the expression is something else."""
        if not isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return None
        bounds = self.range_bounds(node.comparators[0])
        if bounds is None:
            return None
        found = self.truth(self.call_prelude("is_in_range", [self.eval(node.left), *bounds]))
        return self.truth_value(found if isinstance(node.ops[0], ast.In) else self.negated(found))
