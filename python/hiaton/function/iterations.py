"""How loops go over what they go over: a state, whether there is one more element, and how to take it."""

import ast

from hiaton.function.types import INT, NEVER, Value


def mark_run(node):
    """Somebody goes over all that the expression gives, if it is a generator."""
    node.hiaton_is_run = True
    hands_on = ("enumerate", "map", "filter", "reversed")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in hands_on:
        for argument in node.args:
            mark_run(argument)


class RangeItems:
    """Of `range`: the state is the next number and the end."""

    count = 2

    def __init__(self, step):
        self.step = step

    def has(self, frame, state):
        return frame.op("lt" if self.step > 0 else "gt", state[0].ids[0], state[1].ids[0])

    def take(self, frame, state):
        following = frame.op("add", state[0].ids[0], frame.constant(self.step, "i64"))
        return state[0], [Value(INT, (following,)), state[1]]


class SteppedItems:
    """Of `range` with a step that the run knows: the state is the next number, how many are left, and the step."""

    count = 3

    def has(self, frame, state):
        return frame.op("gt", state[1].ids[0], frame.constant(0, "i64"))

    def take(self, frame, state):
        following = frame.op("add", state[0].ids[0], state[2].ids[0])
        left = frame.op("sub", state[1].ids[0], frame.constant(1, "i64"))
        return state[0], [Value(INT, (following,)), Value(INT, (left,)), state[2]]


class RowItems:
    """Of a tensor: the state is the tensor, the number of the next row and that of all."""

    count = 3

    def has(self, frame, state):
        return frame.op("lt", state[1].ids[0], state[2].ids[0])

    def take(self, frame, state):
        row = frame.tensor_value(frame.op("gather", state[0].ids[0], state[1].ids[0]))
        following = frame.op("add", state[1].ids[0], frame.constant(1, "i64"))
        return row, [state[0], Value(INT, (following,)), state[2]]


class ListItems:
    count = 1

    def has(self, frame, state):
        if state[0].type.element is NEVER:
            return False
        return frame.op("ne", frame.graph.variant(state[0].ids[0]), frame.constant(0, "i64"))

    def take(self, frame, state):
        return frame.head(state[0]), [frame.tail(state[0])]


class ItemsInPlace:
    """Of a list that lies in an array, by name: the state is the index of the next one, since the loop may set elements."""

    count = 1

    def __init__(self, name):
        self.name = name

    def has(self, frame, state):
        return frame.op("lt", state[0].ids[0], frame.length_of_array(self._array(frame)).ids[0])

    def take(self, frame, state):
        following = frame.op("add", state[0].ids[0], frame.constant(1, "i64"))
        return frame.element_of_array(self._array(frame), state[0]), [Value(INT, (following,))]

    def _array(self, frame):
        array = frame.array_of(self.name)
        if array is None:
            frame.refuse(f"'{self.name}' is a list that the loop goes over and that gets another length in it; go over a copy, list({self.name})")
        return array


class ItemsOfRow(ItemsInPlace):
    """Of a list that lies in an array of such lists, by the name of that: the state is where the next item lies, and where the row ends."""

    count = 2

    def has(self, frame, state):
        return frame.op("lt", state[0].ids[0], state[1].ids[0])

    def take(self, frame, state):
        following = frame.op("add", state[0].ids[0], frame.constant(1, "i64"))
        return frame.element_at(self._array(frame), state[0].ids[0]), [Value(INT, (following,)), state[1]]


class ZipItems:
    """`is_strict`: all have equally many elements."""

    def __init__(self, parts, is_strict):
        self.parts = parts
        self.is_strict = is_strict
        self.count = sum(part.count for part in parts)

    def _states(self, state):
        at = 0
        for part in self.parts:
            yield part, state[at:at + part.count]
            at += part.count

    def has(self, frame, state):
        every = [part.has(frame, own) for part, own in self._states(state)]
        if self.is_strict:
            first, *others = map(frame.truth_id, every)
            for other in others:
                frame.require(frame.op("eq", first, other), "zip(): expected equally many elements")
        found = True
        for one in every:
            found = frame.all_of(found, one)
        return found

    def take(self, frame, state):
        items, following = [], []
        for part, own in self._states(state):
            item, then = part.take(frame, own)
            items.append(item)
            following += then
        return frame.tuple_of(items), following


class CountedItems:
    """Of `enumerate`."""

    def __init__(self, part):
        self.part = part
        self.count = part.count + 1

    def has(self, frame, state):
        return self.part.has(frame, state[1:])

    def take(self, frame, state):
        item, following = self.part.take(frame, state[1:])
        number = frame.op("add", state[0].ids[0], frame.constant(1, "i64"))
        return frame.tuple_of([state[0], item]), [Value(INT, (number,)), *following]


def names_start(node):
    """Whether the call may be `enumerate(items, start=number)`."""
    is_named = [keyword.arg for keyword in node.keywords] == ["start"] and len(node.args) == 1
    return is_named and isinstance(node.func, ast.Name) and node.func.id == "enumerate"
