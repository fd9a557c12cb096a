"""Lists that calls change: of parameters, and of the function around; see lent_lists.py."""

import dataclasses
import warnings

import pytest

import hiaton as hia
from hiaton import nn


@dataclasses.dataclass
class Tree:
    value: float
    left: "Tree | None" = None
    right: "Tree | None" = None


def full(depth, number=1):
    if depth == 0:
        return Tree(float(number))
    return Tree(number + 0.5, full(depth - 1, 2 * number), full(depth - 1, 2 * number + 1))


class Leaf:
    def __init__(self, value):
        self.value = value

    def collect(self, out):
        out.append(self.value)

    def size(self, out):
        out.append(self.value)
        return 1


class Nothing:
    def collect(self, out):
        pass

    def size(self, out):
        return 0


class Many:
    def __init__(self, value, children):
        self.value = value
        self.children = children

    def collect(self, out):
        for child in self.children:
            child.collect(out)
        out.append(self.value)

    def size(self, out):
        n = sum(child.size(out) for child in self.children)
        out.append(self.value * 10 + n)
        return n + 1


def many(depth):
    if depth <= 0:
        return Leaf(1.5) if depth == 0 else Nothing()
    return Many(float(depth), [many(depth - 1) for _ in range(depth)] + [Leaf(0.5), Nothing()])


def collects(n):
    out = []
    n.collect(out)
    return out


def collects_and_counts(n):
    out = []
    k = n.size(out)
    return k, out


def by_a_function_inside(t):
    out = []

    def go(t):
        if t.left is None:
            out.append(t.value)
            return
        go(t.left)
        go(t.right)
    go(t)
    return out


def by_functions_that_call_each_other(t):
    out, seen = [], []

    def add(v):
        out.append(v)

    def go(t, depth):
        if t is None:
            return 0
        add(t.value * depth)
        a = go(t.left, depth + 1)
        seen.append(a)
        b = go(t.right, depth + 1)
        return a + b + 1
    n = go(t, 1)
    return n, out, seen


def paths(t):
    found = []

    def go(t, path):
        path.append(t.value)
        if t.left is None:
            total = 0.0
            for value in path:
                total += value
            found.append(total)
        else:
            go(t.left, path)
            go(t.right, path)
        path.pop()
    go(t, [])
    return found


def parsed(t):
    tokens = [2, 1, 3, 12, 1, 13, 4, 2, 14]
    tokens.reverse()
    return expression(tokens), len(tokens)


def expression(tokens):
    value = term(tokens)
    while tokens and tokens[-1] == 1:
        tokens.pop()
        value = value + term(tokens)
    return value


def term(tokens):
    value = atom(tokens)
    while tokens and tokens[-1] == 2:
        tokens.pop()
        value = value * atom(tokens)
    return value


def atom(tokens):
    token = tokens.pop()
    if token == 3:
        value = expression(tokens)
        tokens.pop()
        return value
    return token - 10


def in_a_comprehension(t):
    out = []
    values = [sums(x, out) for x in [t, t.left, t.right]]
    return values, out


def sums(t, out):
    if t is None:
        return 0.0
    h = (sums(t.left, out) if t.left is not None else 0.0) + (0.0 if t.right is None else sums(t.right, out))
    out.append(h + t.value)
    return h + t.value


def in_conditions(t):
    out = []
    found = has(t, 5.0, out) and has(t, 7.0, out) or has(t, 100.0, out)
    return found, out


def has(t, value, out):
    if t is None:
        return False
    out.append(t.value)
    return t.value == value or has(t.left, value, out) or has(t.right, value, out)


def reads_between_calls(t):
    out = []
    fill(t, out)
    n = len(out)
    out.append(-1.0)
    fill(t, out)
    return n, len(out), out[0], out[-1], out


def fill(t, out):
    if t is None:
        return
    out.insert(0, t.value)
    fill(t.left, out)
    fill(t.right, out)
    if len(out) > 3:
        out[1] = out[1] + 1


def in_loops(t):
    out = []
    for i in range(7):
        push(out, i)
        if i % 3 == 0:
            continue
        push(out, -i)
    k = 0
    while k < 3:
        push(out, k)
        k += 1
        if len(out) > 1000:
            break
    return out


def push(out, x):
    out.append(x)


def permutations(t):
    found = []
    permute([], [0, 1, 2, 3], found)
    return found


def permute(path, rest, found):
    if not rest:
        found.append([x for x in path])
        return
    for i in range(len(rest)):
        path.append(rest[i])
        permute(path, rest[:i] + rest[i + 1:], found)
        path.pop()


def queens(t):
    solutions = []

    def place(row, columns):
        if row == 5:
            solutions.append(columns[:])
            return
        for c in range(5):
            is_free = True
            for r in range(row):
                if columns[r] == c or abs(columns[r] - c) == row - r:
                    is_free = False
            if is_free:
                columns.append(c)
                place(row + 1, columns)
                columns.pop()
    place(0, [])
    return len(solutions), solutions


def levels(t):
    rows = []
    add_levels(t, 0, rows)
    return rows


def add_levels(t, depth, rows):
    if t is None:
        return
    if len(rows) == depth:
        rows.append([])
    rows[depth] = rows[depth] + [t.value]
    add_levels(t.left, depth + 1, rows)
    add_levels(t.right, depth + 1, rows)


def by_name(t):
    out = []
    add_by_name(t, out=out)
    return out


def add_by_name(t, *, out):
    if t is None:
        return
    add_by_name(t.left, out=out)
    out.append(t.value)
    add_by_name(t.right, out=out)


def two_lists(t):
    a, b = [], []
    share_out(t, a, b)
    return a, b


def share_out(t, a, b):
    if t is None:
        return
    a.append(t.value)
    share_out(t.left, b, a)
    share_out(t.right, a, b)


def with_a_default(t):
    return given_back(t), given_back(t)


def given_back(t, out=None):
    if out is None:
        out = []
    if t is None:
        return out
    out.append(t.value)
    given_back(t.left, out)
    given_back(t.right, out)
    return out


def of_a_caller(t):
    xs = [t.value, 1.0, 0.0]
    replace_first(xs)
    return xs


def replace_first(xs):
    xs[0] = 5.0


OF_TREES = [by_a_function_inside, by_functions_that_call_each_other, paths, parsed, in_a_comprehension, in_conditions, reads_between_calls,
            in_loops, permutations, queens, levels, by_name, two_lists, with_a_default, of_a_caller]


@pytest.mark.parametrize("function", OF_TREES, ids=lambda f: f.__name__)
def test_lists_are_lent_and_given_back(function):
    graph = hia.function(function, strict=True)
    for depth in (3, 0, 2):
        assert graph(full(depth)) == function(full(depth))
    assert ", 0 calls in plain Python" in graph.report()


@pytest.mark.parametrize("function", [collects, collects_and_counts], ids=lambda f: f.__name__)
def test_methods_of_several_classes_change_a_list(function):
    graph = hia.function(function, strict=True)
    assert graph(many(3)) == function(many(3))


def test_a_list_of_the_caller_of_the_graph_grows_beside_lists_of_its_own():
    def counts(t, out):
        add_by_name(t, out=out)
        own = []
        add_by_name(t, out=own)
        return len(own)

    graph, found, expected = hia.function(counts, strict=True), [], []
    assert graph(full(2), found) == counts(full(2), expected)
    assert found == expected


def another_name(t):
    out = []
    other = out
    fill(t, out)
    return out, other


def another_argument(t):
    out = []
    both(out, out)
    return out


def both(a, b):
    a.append(1.0)
    b.append(len(a) + 0.5)


def what_is_given_is_the_list(t):
    out = []
    same = given_back(t, out)
    same.append(1.0)
    return out, same


def in_an_object(t):
    out = []
    held = Leaf(out)
    fill(t, out)
    return held.value, out


def while_it_is_gone_over(t):
    out = [1.0, 2.0]
    for x in out:
        if len(out) < 5:
            push(out, x)
    return out


def in_another_call(t):
    out = []

    def go(t, again):
        out.append(t.value)
        if t.left is not None:
            again(t.left)
    called_elsewhere(t, lambda u: go(u, lambda v: None))
    return out


def called_elsewhere(t, f):
    f(t)


@pytest.mark.parametrize("function", [another_name, another_argument, what_is_given_is_the_list, in_an_object, while_it_is_gone_over,
                                      in_another_call], ids=lambda f: f.__name__)
def test_lists_to_which_others_refer_are_left_to_python(function):
    with pytest.raises(hia.ConversionError):
        hia.function(function, strict=True)(full(2))
    graph = hia.function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hia.FallbackWarning)
        for depth in (2, 2, 1):
            assert graph(full(depth)) == function(full(depth))


def handed_on_by_elements(t):
    out, seen, values = [], [], []

    def go(x):
        out.append(x)
        if x > 0:
            seen.append([go(x - 1) for _ in range(2)])
        return len(out)
    counts = [go(i) for i in range(3) if i != 1 or has(t, 1.5, values)]
    pairs = [(push(values, i), j) for i in (1.0, 2.0) for j in (3, 4)]
    return counts, pairs, out, seen, values


def test_elements_of_comprehensions_hand_lists_on():
    graph = hia.function(handed_on_by_elements, strict=True)
    assert graph(full(2)) == handed_on_by_elements(full(2))


class Labels(nn.Module):
    def __init__(self):
        self.W, self.C = nn.Linear(8, 4), nn.Linear(4, 3)

    def encode(self, t, found):
        if t.left is None:
            h = hia.ones(4) * t.value
        else:
            h = hia.tanh(self.W(hia.concat([self.encode(t.left, found), self.encode(t.right, found)], axis=0)))
        found.append(self.C(h))
        return h

    def loss(self, t):
        found = []
        self.encode(t, found)
        return hia.sum(hia.stack(found) ** 2)

    def loss_without_a_list(self, t):
        return self.both(t)[1]

    def both(self, t):
        if t.left is None:
            h, below = hia.ones(4) * t.value, 0.0
        else:
            (a, of_left), (b, of_right) = self.both(t.left), self.both(t.right)
            h, below = hia.tanh(self.W(hia.concat([a, b], axis=0))), of_left + of_right
        return h, below + hia.sum(self.C(h) ** 2)


def test_what_a_recursion_collects_has_gradients():
    model, tree = Labels(), full(4)
    loss, gradients = nn.value_and_grad(model, Labels.loss)(model, tree)
    expected, expected_gradients = nn.value_and_grad(model, Labels.loss_without_a_list)(model, tree)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    for path, gradient in gradients.items():
        assert gradient.numpy() == pytest.approx(expected_gradients[path].numpy(), rel=1e-4, abs=1e-5), path


def test_stack_and_concat_join_lists_of_any_length():
    def joined(xs):
        return hia.stack(xs), hia.concat([hia.stack([x, x + 1]) for x in xs], axis=0)

    graph = hia.function(joined, strict=True)
    for n in (1, 2, 3, 4, 5, 9, 17, 40):
        xs = [hia.f32(i) for i in range(n)]
        assert [one.numpy().tolist() for one in graph(xs)] == [one.numpy().tolist() for one in joined(xs)]
