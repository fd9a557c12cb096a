"""What a graph assumes of branches and loops, since a profile says that it was so each time; see profile.py."""

import ast

from hiaton.function.profile import MOST_NODES, leaves_turns


class Speculation:
    """The part of a frame that concerns profiles."""

    turns_around = 1  # the product of the turns of the loops around that are written out

    def assumed_side(self, node, condition, is_condition=False):
        """The condition of a branch, or, where the node is one, of a comprehension; True or False where the profile knows one side only, which the run looks at."""
        profile = self.converter.profile
        if profile is None or isinstance(condition, bool):
            return condition
        found = profile.side(self.where.file, node, is_condition)
        if found is None:
            return condition
        side, place = found
        self._speculate(condition if side else self.op("not", condition), node,
                        f"'{place.text}' was {str(side).lower()} in all of {sum(place.sides)} cases", place)
        return side

    def assumed_turns(self, node):
        """The number of turns that a loop is written out for, and its place; None: it stays a loop."""
        profile = self.converter.profile
        found = None if profile is None or leaves_turns(node) else profile.turns(self.where.file, node)
        if found is None or hasattr(node, "hiaton_is_split"):
            return None
        size = sum(1 for statement in node.body for _ in ast.walk(statement))
        return found if found[0] * size * self.turns_around <= MOST_NODES else None

    def run_turns(self, node, turns, place):
        """A loop as its turns, one after the other."""
        why = f"the loop over '{place.text}' made {turns} turns each time"
        items, state = self.items_of(node.iter)
        state = [self.held(value) for value in state]
        around, self.turns_around = self.turns_around, self.turns_around * max(turns, 1)
        try:
            for _ in range(turns):
                self._speculate(items.has(self, state), node, why, place)
                item, state = items.take(self, state)
                self.assign(node.target, item)
                self.run_here(node.body)
        finally:
            self.turns_around = around
        self._speculate(self.negated(items.has(self, state)), node, why, place)
        self.run_here(node.orelse)

    def _speculate(self, condition, node, why, place):
        if condition is True:
            return
        before, self.node = self.node, node
        message = f"{self.where.file}:{node.lineno}: {why}"
        self.converter.speculated.setdefault(message, set()).add(place)
        try:
            if condition is False:
                self.fail(why)
            self.require(condition, why)
        finally:
            self.node = before
