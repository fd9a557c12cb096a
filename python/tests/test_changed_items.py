"""Changes of lists, dicts and sets that lie inside of dicts and lists."""

import collections
import copy
from collections import Counter, defaultdict

import pytest

import hiaton as hia


def dicts_of_comprehension(n):
    made = [{} for _ in range(n)]
    for d in made:
        d[n] = 2
    return [len(d) for d in made]


def appended_dicts(n):
    made = []
    made.append({n: 1})
    for d in made:
        d[n + 1] = 2
    return [len(d) for d in made]


def appended_known_dicts(n):
    made = []
    made.append({"a": 1})
    for d in made:
        d["b"] = n
    return [len(d) for d in made]


def dicts_in_tuples(n):
    made = [({n: 1}, {"a": 2}) for _ in range(n)]
    for d, e in made:
        d[n + 1] = 2
        e["b"] = n
    return [(len(d), len(e)) for d, e in made]


def lists_in_tuples(n):
    made = []
    made.append(([n], 1))
    for xs, _ in made:
        xs.append(2)
    return [len(xs) for xs, _ in made]


@pytest.mark.parametrize("function", [dicts_of_comprehension, appended_dicts, appended_known_dicts, dicts_in_tuples, lists_in_tuples])
def test_an_element_of_a_list_has_another_name_in_a_loop_over_it(function):
    with pytest.raises(hia.ConversionError, match="others may refer to"):
        hia.function(function, strict=True)(3)
    assert hia.function(function)(3) == function(3)


def grouped(n):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 3, []).append(i)
    return groups


def grouped_by_condition(n):
    groups = {}
    for i in range(n):
        if i % 3 not in groups:
            groups[i % 3] = []
        groups[i % 3].append(i)
        groups[i % 3] += [len(groups[i % 3])]
    return groups, len(groups)


def sets_of(n):
    seen = {}
    for i in range(n):
        seen.setdefault(i % 3, set()).add(i * i % 5)
        seen[i % 3] |= {i}
        seen[i % 3].discard(n - i)
        seen[i % 3].update([i, 1])
    return seen, [(k, sorted(seen[k])) for k in seen]


def counted_twice(n):
    counts = {}
    for i in range(n):
        a, b = i % 3, i % 2
        if a not in counts:
            counts[a] = {}
        if b not in counts[a]:
            counts[a][b] = 0
        counts[a][b] += i
        counts[a].pop(n - i, 0)
    return counts, sum(counts[0].values())


def three_deep(n):
    found = {}
    for i in range(n):
        found.setdefault(i % 3, {}).setdefault(i % 2, []).append(i)
        del found[i % 3][i % 2][0]
        found[i % 3][i % 2].extend([n, i])
        found[i % 3][i % 2][0] += 1
    return found


def all_changes(n):
    rows = {i: [i, n - i] for i in range(n)}
    for i in range(n):
        rows[i].extend(rows[(i + 1) % n])
        rows[i].sort(reverse=True)
        rows[i].insert(0, rows[i][-1])
        rows[i].remove(max(rows[i]))
        rows[i].reverse()
        rows[i * 7 % n].append(3)
        rows[i].pop()
    taken = rows.pop(0)
    rows[n] = [n]
    rows[n].clear()
    return rows, taken, [len(rows[k]) for k in rows], rows.get(99, [])


def pop_in_statement(n):
    stacks = {0: [], 1: []}
    for i in range(n):
        stacks[i % 2].append(i)
    last = 0
    for i in range(n // 2):
        stacks[i % 2].pop()
        last = stacks[i % 2][-1] if stacks[i % 2] else -1
    if stacks[0]:
        last = stacks[0].pop(0)
    return stacks, last


def texts_as_keys(n):
    found = {"even": [], "odd": []}
    for i in range(n):
        found["even" if i % 2 == 0 else "odd"].append(i)
    return found


def reached(n):
    edges = {u: [] for u in range(n)}
    for u in range(n):
        edges[u].append((u * 3 + 1) % n)
        edges[(u * 5 + 2) % n].append(u)
    distance, queue = {0: 0}, [0]
    while queue:
        u = queue.pop(0)
        for v in edges[u]:
            if v not in distance:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance


def put(groups, key, x):
    if key not in groups:
        groups[key] = []
    groups[key].append(x)


def handed_down(n):
    groups = {}

    def put_here(key, x):
        groups.setdefault(key, []).append(x)
    for i in range(n):
        put(groups, i % 3, i)
        put_here(i % 2, -i)
    return groups


class Graph:
    def __init__(self):
        self.edges = {}
        self.seen = set()

    def add(self, u, v):
        self.edges.setdefault(u, []).append(v)

    def visit(self, u):
        self.seen.add(u)
        count = 1
        for v in self.edges.get(u, []):
            if v not in self.seen:
                count += self.visit(v)
        return count


def visited(n):
    graph = Graph()
    for u in range(n):
        graph.add(u, (u * 3 + 1) % n)
        graph.add(u, (u * 5 + 2) % n)
    return graph.visit(0), graph.edges


def default_lists(n):
    found = collections.defaultdict(list)
    for i in range(n):
        found[i % 3].append(i)
        found[i % 2] += [n]
    return found, dict(found), found == dict(found)


def default_numbers(n):
    found, sets = defaultdict(int), defaultdict(set)
    for i in range(n):
        found[i % 3] += i
        sets[i % 4].add(i % 3)
    return found, sets, isinstance(found, dict), isinstance(found, Counter), found.get(99)


def default_of_a_lambda(n):
    counts, least, lists = defaultdict(lambda: 0), defaultdict(lambda: -1.5), defaultdict(lambda: [])
    for i in range(n):
        counts[i % 3] += i
        least[i % 4] *= 2
        lists[i % 2].append(i)
    return dict(counts), dict(least), dict(lists), counts.get(99)


def counter(n):
    found = Counter(i * i % 7 for i in range(n))
    found[5] += 1
    return found, found[99], found.most_common(2), found.most_common(), Counter()


RIGHT = [all_changes, grouped, grouped_by_condition, sets_of, counted_twice, three_deep, pop_in_statement, texts_as_keys, reached, handed_down, visited,
         default_lists, default_numbers, default_of_a_lambda, counter]


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_items_are_changed_where_they_lie(function):
    graph = hia.function(function, strict=True)
    for n in (7, 1, 12):
        expected, found = function(n), graph(n)
        assert repr(found) == repr(expected)
    assert graph._graphs[0].hits == 3 and graph._graphs[0].faults == 0


def two_names(n):
    rows = {i: [] for i in range(n)}
    row = rows[0]
    rows[0].append(1)
    return row


def name_in_loop(n):
    rows, row = {}, []
    for i in range(n):
        rows[i] = []
    for i in range(n):
        row = rows[i]
    rows[n - 1].append(2)
    return row


def one_list_twice(n):
    rows = {}
    rows[n] = rows[n + 1] = []
    rows[n].append(1)
    return rows


def shallow_copy(n):
    rows = {i: [] for i in range(n)}
    other = rows.copy()
    rows[0].append(1)
    return other


def one_list_for_all(n):
    row = [n]
    rows = {i: row for i in range(n)}
    rows[0].append(1)
    return rows


def kept_elsewhere(n):
    rows, kept = {i: [] for i in range(n)}, []
    kept.append(rows[0])
    rows[0].append(1)
    return kept


def gone_over(n):
    rows = {i: [i] for i in range(n)}
    for x in rows[0]:
        rows[0].append(x + 1)
        if len(rows[0]) > 5:
            break
    return rows


def of_setdefault(n):
    rows = {}
    row = rows.setdefault(n, [])
    rows[n].append(1)
    return row


def of_values(n):
    rows, last = {i: [i] for i in range(n)}, []
    for row in rows.values():
        last = row
    rows[n - 1].append(1)
    return last


def by_function_inside(n):
    rows = {i: [] for i in range(n)}

    def row_of(i):
        return rows[i]

    def changed(i):
        row = row_of(i)
        rows[i].append(1)
        return len(row)
    return changed(0)


def by_walrus(n):
    rows = {n: (row := [])}
    rows[n].append(1)
    return row


def by_walrus_in_tuple(n):
    rows = {}
    rows[n], other = (row := [1]), 2
    rows[n].append(other)
    return row


def list_by_walrus(n):
    rows, other = (row := [n]), 2
    rows.append(other)
    return row


def inner_dict(n):
    rows = {i: {} for i in range(n)}
    inner = rows[0]
    rows[0][1] = 2
    return len(inner)


def by_argument(n):
    rows = {i: [i] for i in range(n)}
    rows[0].append(rows)
    return len(rows[0])


def read_of_default(n):
    rows = defaultdict(list)
    rows[n].append(1)
    return len(rows[n + 1]), len(rows)


def default_of_a_variable(n):
    rows = defaultdict(lambda: n)
    rows[1] += 1
    return dict(rows)


def endless_default(n):
    rows = defaultdict(lambda: 1e999)
    rows[n] -= 1.0
    return dict(rows)


def changed_default(n):
    rows = defaultdict(int)
    rows[n] += 1
    for k in rows:
        rows[k + 1] += 1
    return rows


OTHERS = [two_names, name_in_loop, one_list_twice, shallow_copy, one_list_for_all, kept_elsewhere, gone_over, of_setdefault, of_values,
          by_function_inside, by_walrus, by_walrus_in_tuple, list_by_walrus, inner_dict, by_argument, read_of_default, changed_default,
          default_of_a_variable, endless_default]


def outcome(function, n):
    try:
        return repr(function(n))
    except (KeyError, RuntimeError) as error:
        return repr(error)


@pytest.mark.filterwarnings("ignore::hiaton.FallbackWarning")
@pytest.mark.parametrize("function", OTHERS, ids=lambda function: function.__name__)
def test_items_to_which_something_else_refers_are_left_to_python(function):
    graph = hia.function(copy.copy(function))
    for n in (3, 1):
        assert outcome(graph, n) == outcome(function, n)


@pytest.mark.parametrize("function", [two_names, name_in_loop, one_list_twice, shallow_copy, one_list_for_all, of_setdefault, inner_dict],
                         ids=lambda function: function.__name__)
def test_the_message_says_what_to_do(function):
    with pytest.raises(hia.ConversionError, match="that others may refer to; make it where it becomes an item, and do not give it another name"):
        hia.function(function, strict=True)(3)


def test_what_a_defaultdict_of_a_lambda_makes_afterwards():
    def counted(n):
        found = defaultdict(lambda: 7)
        found[n] += 1
        return found
    found = hia.function(counted, strict=True)(2)
    assert found == {2: 8} and found[5] == 7


def test_rows_of_a_list_that_change():
    def neighbours(n):
        rows = [[] for _ in range(n)]
        for i in range(n):
            rows[i % 2].append(i)
        return rows
    with pytest.raises(hia.ConversionError, match=r"as rows = \{i: \[\] for i in range\(n\)\}"):
        hia.function(neighbours, strict=True)(3)
    with pytest.warns(hia.FallbackWarning, match="something else may refer to the list"):
        graph = hia.function(neighbours)
        assert [graph(3) for _ in range(4)] == [[[0, 2], [1], []]] * 4


def test_without_tensors_plain_python_is_faster():
    def groups_of(xs):
        groups = {}
        for x in xs:
            groups.setdefault(x % 3, []).append(x)
        return groups
    graph = hia.function(groups_of)
    with pytest.warns(hia.FallbackWarning, match="plain Python changes the lists, dicts and sets that lie in dicts faster"):
        assert graph([1, 2, 3, 4]) == {1: [1, 4], 2: [2], 0: [3]}


def test_with_tensors_items_change_in_the_graph():
    @hia.function
    def sums_of(xs, t):
        groups, total = {}, t
        for x in xs:
            groups.setdefault(x % 3, []).append(t * x)
        for k in range(3):
            for one in groups.get(k, []):
                total = total + one * k
        return total
    assert sums_of([1, 2, 3, 4], hia.tensor([1.0, 2.0])).tolist() == [10.0, 20.0]
    assert sums_of._graphs[0].hits == 1
