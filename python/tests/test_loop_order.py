"""Loops whose turns share what the turns before did, or that are left early: all happens in the order of plain Python."""

import pytest

import hiaton as hia


class Counter:
    def __init__(self):
        self.calls = 0


COUNTER = Counter()


def counted(n):
    COUNTER.calls += 1
    return n * COUNTER.calls


def in_order(values):
    total = 0
    for value in values:
        total = 2 * total + counted(value)
    return total


def printed(values):
    total = 0
    for value in values:
        total += twice(value)
        print(twice(value), total, f"{twice(value)}")
    return total


def twice(n):
    return n * 2


def carried(values):
    before, total = 0, 0
    for value in values:
        total += twice(before)
        before = twice(value)
    return total, before


def closure(values):
    total = 0

    def add(n):
        return total + n
    for value in values:
        total = add(value)
        total += (lambda k: k + total)(value)
    return total


def left_early(values):
    total = 0
    for value in values:
        if value == 3:
            break
        total += 6 // (value - 3)
    return total


def left_at_an_element(values):
    total = 0
    for value in values:
        if value == 3:
            break
        total += twice(6 // (value - 3))
    return total


def left_by_what_turns_do(values):
    total = 0
    for value in values:
        if total > 7:
            break
        total += twice(value)
    return total


def left_by_what_turns_change(values):
    total, ends = 0, [0]
    for value in values:
        if len(ends) > 2:
            break
        ends.append(twice(value))
        total += twice(value)
    return total, ends


def left_behind_the_element(values):
    total = value = 0
    for value in values:
        if value == 3 or value == 4:
            break
        total += twice(value)
    return total, value


def left_by_an_attribute(values):
    total = 0
    for value in values:
        if COUNTER.calls > 1:
            break
        total += counted(value)
    return total


def left_or_not(values):
    total = 0
    for value in values:
        if value == 3:
            break
        total += twice(value)
    else:
        total -= 1
    return total


def left_with_a_result(values):
    total = 0
    for value in values:
        if value == 3:
            return total * 100 + value
        total += twice(6 // (value - 3))
    return total


def left_with_a_result_behind_the_work(values):
    total, last, value = 0, values[0], 0
    for value in values:
        last = twice(value) + last
        if value == 7 or value == 4:
            total += 5
            return total, value, last
        total += last
    else:
        total -= 1
    return total, value, last


def left_by_what_a_name_says(values):
    total = first = number = kept = 0
    for first, second in zip(values, range(100)):
        number = first + second
        kept = twice(number)
        if number > 5:
            break
        if not number > 2:
            total += kept
        else:
            return total, number, kept
        number = 3
    return total, first, number


def left_in_each_branch(values):
    total = 0
    for value in values:
        total += twice(value)
        if value != 4:
            total *= 2
        else:
            break
        total += 1
    return total


def left_with_what_is_there_before(values):
    value, half = -5, 7
    for value in values[4:]:
        if value > 100:
            return twice(half)
        half = twice(value)
    return value, half


def left_in_loops_in_loops(values):
    total = 0
    for first in values:
        for second in values:
            total += twice(second)
            if second == first:
                break
        if total > 100:
            break
        for second in values:
            if second > first + 1:
                return total, second
            total += twice(first) * second
    return total, -1


def left_by_a_function_inside(values):
    total, value = 0, 0

    def is_over():
        return value == 3 or value == 4
    for value in values:
        total += twice(value)
        if is_over():
            break
    return total, value


def left_by_an_attribute_behind(values):
    total = 0
    for value in values:
        total += counted(value)
        if COUNTER.calls > 1:
            return total
    return -total


def left_inside(values):
    total = 0
    for first, second in zip(values, values):
        if first == 3:
            break
        for other in values:
            if other == first:
                break
            total += twice(other) * twice(second)
        total = total * 2 + twice(first)
    return total


def left_in_between(values):
    total = 0
    for value in values:
        half = twice(6 // (value + 1))
        if value == 4:
            break
        total += half
    return total


def guarded(values):
    total, found = 0, []
    for value in values:
        if value != 3:
            if total < 100:
                total += twice(6 // (value - 3))
            found.append(twice(value) if value > 4 else -1)
        elif twice(value) > 5:
            total -= 1
    else:
        total += 1
    return total, found


def guarded_without_else(values):
    total, found = 0, []
    for value in values:
        x = y = twice(value)
        if value != 3 and twice(6 // (value - 3)) < 50:
            total += twice(6 // (value - 3)) if value > 3 else twice(x)
            found.append([twice(value)])
        elif twice(value) > 5:
            total -= y
    return total, found


def changed_target(values):
    total = value = 0
    for value in values:
        value = twice(value)
        total += value
    return total, value


def nested(values):
    total = first = second = 0
    for value in values:
        for other in values:
            total += twice(value) * twice(other)
        first, second = twice(value), value
        total -= first * second
    return total, first, second


@pytest.mark.parametrize("function", [in_order, printed, carried, closure, left_early, guarded, guarded_without_else, changed_target,
                                      nested, left_at_an_element, left_by_what_turns_do, left_by_what_turns_change,
                                      left_behind_the_element, left_by_an_attribute, left_or_not, left_inside, left_in_between,
                                      left_with_a_result, left_with_a_result_behind_the_work, left_by_what_a_name_says,
                                      left_in_each_branch, left_with_what_is_there_before, left_in_loops_in_loops,
                                      left_by_a_function_inside, left_by_an_attribute_behind])
def test_the_order_of_what_turns_share_stays(function, capsys):
    for values in ([1, 2, 4, 5], [1, 3, 7], [9]):
        COUNTER.calls = 0
        expected = function(values), capsys.readouterr().out, COUNTER.calls
        graph = hia.function(function, strict=True)
        for _ in range(2):
            COUNTER.calls = 0
            assert (graph(values), capsys.readouterr().out, COUNTER.calls) == expected
        assert graph._plain == 0, graph.report()


def test_a_loop_that_makes_no_turn():
    assert hia.function(guarded_without_else, strict=True)([]) == (0, [])
