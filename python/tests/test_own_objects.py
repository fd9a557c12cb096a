"""Objects that functions make and change, as long as nobody else refers to them; see own_objects.py."""

import copy
import dataclasses
import linecache
import warnings

import object_containers
import object_expressions
import object_parsers
import object_simulations
import object_visitors
import pytest

import hiaton as hia
from hiaton.function.source import tree_of

MODULES = (object_containers, object_expressions, object_parsers, object_simulations, object_visitors)
CASES = [case for module in MODULES for case in module.CASES]


def shape(value):
    """What a value consists of."""
    if isinstance(value, (list, tuple)):
        return type(value), [shape(part) for part in value]
    if isinstance(value, hia.Tensor):
        return value.numpy().tolist()
    return (type(value), [(name, shape(part)) for name, part in vars(value).items()]) if hasattr(value, "__dict__") else value


def outcome(function, args):
    try:
        return shape(function(*copy.deepcopy(args)))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("function,calls", CASES, ids=[function.__name__ for function, _ in CASES])
def test_programs_give_what_python_gives(function, calls):
    graph = hia.function(function, strict=True)
    for args in calls:
        assert outcome(graph, args) == outcome(function, args)
    assert "calls that come here run in plain Python" not in graph.report()


class Stats:
    def __init__(self, count=0):
        self.count = count
        self.values = []

    def add(self, x):
        self.count += 1
        self.values.append(x)
        return self

    def last(self):
        return self.values[-1]


class Holder:
    def __init__(self, stats):
        self.stats = stats
        self.first = True


@dataclasses.dataclass
class Node:
    value: int
    left: "Node | None" = None
    right: "Node | None" = None


def made(n):
    stats = Stats(n)
    stats.add(n)
    return stats


def of_a_function(n):
    stats = made(n)
    stats.add(2)
    return stats.count, stats.values


def of_a_call(n):
    return made(n).add(3).last()


def chained(n):
    stats = Stats()
    stats.add(n).add(n + 1).add(stats.count)
    return stats.values


def moved(n):
    a, b = Stats(), Stats(5)
    for i in range(n):
        a.add(i)
        a, b = b, a
    return a.count, b.count, a.values, b.values


def owned(n):
    holder = Holder(Stats(n))
    holder.stats.add(4)
    if n > 2:
        holder.stats = Stats()
        holder.first = False
    holder.stats.add(5)
    return holder.stats.count, holder.first, holder


def put_somewhere_last(n):
    kept = []
    for i in range(n):
        stats = Stats(i)
        stats.add(i)
        kept.append(stats)
    return kept, [stats.count for stats in kept]


def put_somewhere_in_a_branch(n):
    kept, stats = [], Stats()
    stats.add(n)
    if n > 2:
        kept.append(stats)
    return stats.count, kept


def read_of_two_names(n):
    stats = Stats()
    stats.add(n)
    other = stats
    return other.count + stats.count, other.values


def filled_in(depth):
    node = Node(depth)
    if depth > 0:
        node.left = filled_in(depth - 1)
        node.right = filled_in(depth - 1)
        node.value += node.left.value + node.right.value
    return node


def compared_with_what_changes_it(n):
    stats = Stats(n)
    return stats.count == stats.add(1).last(), stats.count + stats.add(2).last()


def set_again(n):
    stats = Stats()
    for i in range(n):
        if stats.count > 2:
            stats = Stats()
        stats.add(i)
    return stats.values


def one_list_in_two_names(n):
    first = second = []
    second = [*second, n]
    return first, second


@pytest.mark.parametrize("function", [
    of_a_function, of_a_call, chained, moved, owned, put_somewhere_last, put_somewhere_in_a_branch, read_of_two_names, filled_in,
    compared_with_what_changes_it, set_again, one_list_in_two_names])
def test_objects_are_what_they_are_in_python(function):
    graph = hia.function(function, strict=True)
    for n in (0, 1, 3, 5):
        assert outcome(graph, [n]) == outcome(function, [n])


def test_what_is_one_object_stays_one():
    def pair(n):
        stats = Stats()
        stats.add(n)
        return [stats, stats], Holder(stats)

    (first, second), holder = hia.function(pair, strict=True)(3)
    assert first is second is holder.stats
    assert first.values == [3]


def test_attributes_come_in_the_order_of_python():
    class Late:
        def __init__(self, n):
            self.z = n
            if n > 1:
                self.b = 1
            else:
                self.b = 2
            self.a = self.z + self.b

    def made(n):
        late = Late(n)
        late.z += 1
        return late

    assert list(vars(hia.function(made, strict=True)(3)).items()) == list(vars(made(3)).items()) == [("z", 4), ("b", 1), ("a", 4)]


def set_through_another_name(n):
    stats = Stats()
    other = stats
    other.count = n
    return stats.count


def set_behind_a_list(n):
    stats = Stats()
    kept = [stats]
    stats.count = n
    return kept[0].count


def set_behind_a_branch(n):
    stats, kept = Stats(), []
    if n > 2:
        kept.append(stats)
    stats.count += 1
    return len(kept), stats.count


def set_of_elements(n):
    kept = [Stats(i) for i in range(n)]
    for stats in kept:
        stats.count += 1
    return [stats.count for stats in kept]


def set_inside(n):
    stats = Stats()

    def inside(k):
        stats.count += k
        return stats.count
    return inside(n) + stats.count


class Doubly:
    def __init__(self):
        self.values = []
        self.others = self.values

    def add(self, x):
        self.values.append(x)


def one_list_in_two_fields(n):
    doubly = Doubly()
    doubly.add(n)
    return doubly.others


def chosen(n):
    first, second = Stats(1), Stats(2)
    other = first if n > 2 else second
    other.count += 1
    return first.count, second.count


REFUSED = [set_through_another_name, set_behind_a_list, set_behind_a_branch, set_of_elements, set_inside, chosen]


@pytest.mark.parametrize("function", REFUSED)
def test_changes_that_others_would_see_are_left_to_python(function):
    with pytest.raises(hia.ConversionError, match="'count' of a 'Stats' is set where something else may refer to the object; set it before"):
        hia.function(function, strict=True)(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        assert hia.function(function)(3) == function(3)


def test_a_list_in_two_fields_is_one_list():
    with pytest.raises(hia.ConversionError, match="'self.values' is a list that others may refer to"):
        hia.function(one_list_in_two_fields, strict=True)(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        assert hia.function(one_list_in_two_fields)(3) == [3]


def twice(a, b):
    a.count += 1
    b.count += 1
    return a.count


def lent_twice(n):
    stats = Stats(n)
    return twice(stats, stats)


def set_anew(stats, n):
    stats.count += n
    stats = Stats()
    return stats.count


def lent_and_set_anew(n):
    stats = Stats(n)
    return set_anew(stats, n) + stats.count


@pytest.mark.parametrize("function,message", [
    (lent_twice, "'stats' is, or holds, two arguments of this call, which may change it; hand it over once"),
    (lent_and_set_anew, "'stats' is an object of who calls this function, which is changed, and gets another value; call the other object")])
def test_refusals_say_what_to_write(function, message):
    with pytest.raises(hia.ConversionError) as error:
        hia.function(function, strict=True)(3)
    assert message in str(error.value)


def test_an_index_that_changes_what_is_set_is_computed_first():
    def add(xs):
        xs.append(1)
        return len(xs)

    def halved(parents, x):
        while parents[x] != x:
            parents[x] = parents[parents[x]]
            x = parents[x]
        return x

    def main(n):
        xs, parents = [n, n], [0, 0, 1, 2, 3]
        xs[add(xs) - 1] = 5
        parents[halved(parents, 4)] = 0
        return xs, parents

    assert hia.function(main, strict=True)(3) == main(3)


def test_a_comparison_sees_what_its_other_side_changes():
    def add(xs):
        xs.append(1)
        return xs

    def main(n):
        xs = [n]
        return xs == add(xs)

    assert hia.function(main, strict=True)(3) is main(3) is True


def test_names_of_one_new_list_are_one_list():
    def main(n):
        first = second = []
        first.append(n)
        return len(second)

    with pytest.warns(hia.FallbackWarning):
        assert hia.function(main)(3) == main(3) == 1


def test_a_parser_goes_deeper_than_python():
    depth = 20_000
    tokens = ["("] * depth + ["two"] + [")"] * depth
    assert hia.function(object_parsers.str_eval, strict=True)(tokens) == 2


def test_fields_that_are_looked_up_lie_in_arrays():
    graph = hia.function(object_parsers.str_eval, strict=True)
    assert graph(["one", "+", "two"]) == 3
    assert "self_tokens: i64[_]" in graph.text()


def test_a_method_that_changes_later_is_seen():
    names = {}
    for text in ("def bump(counter):\n    counter.count += 1\n", "def bump(counter):\n    counter.count += 2\n"):
        linecache.cache["<bump>"] = (len(text), None, text.splitlines(keepends=True), "<bump>")
        exec(compile(text, "<bump>", "exec"), names)
        names.setdefault("first", names["bump"])
    linecache.cache.pop("<bump>")

    class Counter:
        def __init__(self):
            self.count = 0

        def twice(self):
            self.count = self.count * 2 + 1

    def main(n):
        counter = Counter()
        counter.twice()
        return counter.count + n

    graph = hia.function(main)
    assert graph(1) == 2
    Counter.twice = lambda self: None
    assert graph(1) == 1


def test_trees_of_functions_stay_as_they_are():
    hia.function(object_parsers.str_eval, strict=True)(["one"])
    assert "self.pos" not in {getattr(node, "id", "") for node in tree_of(object_parsers.StrParser.next).body}
