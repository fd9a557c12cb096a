#!/usr/bin/env python3
"""Examples whose results are known: computed here by other means, or published. What was written for the same in the
language of commit 7d29325, tests/lang/before, must give the same values; it has lists of code points for strings."""

import ast
import functools
import json
import math
import operator
import re
import unittest
from random import Random

import harness
from harness import hiaton

HIATON = harness.HIATON

def as_text(line):
    """A line of a program that has no strings, with strings."""
    def string(found):
        return json.dumps("".join(chr(int(code)) for code in found.group(1).split(", ") if code), ensure_ascii=False)

    return re.sub(r"\[(|\d+(?:, \d+)*)\]", string, line)


class KnownValues(unittest.TestCase):
    def lines(self, name, *arguments, before=None, has_strings=False):
        """What both versions print; `before` are the arguments of the old one where they differ."""
        now = hiaton("run", f"examples/{name}.hia", *arguments)
        then = hiaton("run", f"tests/lang/before/{name}.hia", *(arguments if before is None else before))
        self.assertEqual((now.returncode, then.returncode), (0, 0), now.stderr + then.stderr)
        lines = now.stdout.splitlines()
        lines_before = then.stdout.splitlines()
        self.assertEqual(lines, [as_text(line) for line in lines_before] if has_strings else lines_before)
        return lines

    def values(self, name, *arguments, **options):
        """Numbers, truth values, strings and lists of them."""
        lines = self.lines(name, *arguments, **options)
        return [ast.literal_eval(line.replace("true", "True").replace("false", "False")) for line in lines]

    def assert_close(self, found, expected, tolerance=1e-9):
        self.assertLess(abs(found - expected), tolerance * max(1, abs(expected)), (found, expected))

    def test_sorting(self):
        for n in (0, 1, 2, 7, 200):
            ascending, same, by_weight, by_key = self.lines("sorting", f"--n={n}")
            self.assertEqual(ast.literal_eval(ascending), sorted((i * 7919 + 12345) % 13411 for i in range(n)))
            self.assertEqual(same, "true")
            # sorted() of Python is stable, as the merge sort is.
            entries = [(i * 7919 % 101, float(i * i % 4)) for i in range(n)]
            shown = [f"Entry({key}, {weight})" for key, weight in sorted(entries, key=lambda entry: entry[1])]
            self.assertEqual(by_weight, f"[{', '.join(shown)}]")
            found_keys = [int(key) for key in re.findall(r"Entry\((\d+),", by_key)]
            self.assertEqual(found_keys, sorted((key for key, _ in entries), reverse=True))

    def test_fft(self):
        a, b = [1, -2, 0.5], [3, 0, -1, 4, 2]
        # The transform by its definition, and the product term by term.
        (real, imaginary), product = self.values("fft", f"--a={a}", f"--b={b}")
        for k in range(4):
            turns = [-2j * math.pi * k * j / 4 for j in range(len(a))]
            expected = sum(x * (math.cos(turn.imag) + 1j * math.sin(turn.imag)) for x, turn in zip(a, turns))
            self.assert_close(real[k] + 1j * imaginary[k], expected, 1e-6)
        whole = [3, 1, 4, 1, 5, 9, 2, 6, 5], [2, 7, 1, 8, 2, 8]
        _, product = self.values("fft", f"--a={whole[0][:3]}", f"--b={whole[1]}")
        expected = [sum(whole[0][i] * whole[1][k - i] for i in range(3) if 0 <= k - i < 6) for k in range(8)]
        self.assertEqual(product, expected)

    def test_strassen(self):
        for n in (1, 2, 8, 16):
            product, is_close = self.values("strassen", f"--n={n}")
            a = [[(7 * i + j * j) % 10 for j in range(n)] for i in range(n)]
            b = [[(i * i + 3 * j) % 8 - 2 for j in range(n)] for i in range(n)]
            expected = [[sum(a[i][k] * b[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
            self.assertEqual(product, expected)
            self.assertTrue(is_close)

    def test_derivatives(self):
        x, y = 0.7, 1.3
        for order in range(5):
            # By Leibniz's formula.
            powers = [x**3, 3 * x**2, 6 * x, 6, 0]
            sines = [y**k * math.sin(x * y + k * math.pi / 2) for k in range(5)]
            product = sum(math.comb(order, k) * powers[k] * sines[order - k] for k in range(order + 1))
            text, value = self.values("derivatives", f"--order={order}", f"--x={x}", f"--y={y}", has_strings=True)
            self.assert_close(value, product + 2**order * math.exp(2 * x), 1e-8)
            functions = {"x": x, "y": y, "sin": math.sin, "cos": math.cos, "exp": math.exp}
            self.assert_close(eval(text.replace("^", "**"), functions), value, 1e-8)

    def test_ray_tracer(self):
        rows = 12
        picture, = self.values("ray_tracer", f"--rows={rows}", has_strings=True)
        expected = [[ray_shade(x, y, rows) for x in range(2 * rows)] for y in range(rows)]
        self.assertEqual(picture, ["".join(line) for line in expected])
        self.assertGreater(len(set("".join(picture))), 6, "a picture with several shades")

    def test_alpha_beta(self):
        # A perfect game of noughts and crosses ends in a draw; Bouton's theorem (1901) says who wins at nim.
        boards = [[0] * 9, [1, -1, 0, 0, 1, 0, 0, 0, -1], [1, 1, 0, -1, -1, 0, 0, 0, 0], [1, -1, 1, 0, -1, 0, 0, 0, 0],
                  [1, 1, 0, -1, -1, -1, 1, 0, 0]]
        all_heaps = [[], [3], [1, 2, 3], [1, 2, 2], [2, 2, 3, 1], [1, 1, 2, 2]]
        for board, heaps in zip(boards, all_heaps):
            value, count, heap_value, heap_count = self.values("alpha_beta", f"--board={board}", f"--heaps={heaps}")
            best, positions = plain_search(tuple(board))
            self.assertEqual(value, best, board)
            self.assertLessEqual(count, positions)
            self.assertEqual(heap_value, 1 if functools.reduce(operator.xor, heaps, 0) else -1, heaps)
            self.assertGreaterEqual(heap_count, 1)
            if not any(board):
                self.assertEqual((value, positions), (0, 549946))
                self.assertLess(count, positions / 20)

    def test_nuts(self):
        # The moments of the densities: the funnel is exp(-(v^2 + x^2 exp(-v) + v) / 2), so that x^2 has the mean of exp(v).
        mean, products, funnel_mean, funnel_products = self.values("nuts", "--samples=4000", "--step=0.4")
        self.assertLess(math.hypot(*mean), 0.15)
        for found, expected in zip((*products[0], products[1][1]), (1, 0.9, 1)):
            self.assertLess(abs(found - expected), 0.1)
        self.assertLess(math.hypot(*funnel_mean), 0.15)
        for found, expected in zip((*funnel_products[0], funnel_products[1][1]), (1, 0, math.exp(0.5))):
            self.assertLess(abs(found - expected), 0.25)

    def test_barnes_hut(self):
        for n, steps, theta, tolerance in ((1, 2, 0, 2e-6), (2, 3, 0, 2e-6), (12, 4, 0, 2e-6), (12, 4, 0.5, 2e-3)):
            found, = self.values("barnes_hut", f"--n={n}", f"--steps={steps}", f"--theta={theta}")
            expected = bodies_by_pairs(n, steps)
            self.assertEqual(len(found), n)
            for body, (x, y) in zip(found, expected):
                self.assertLess(math.dist(body, (x, y)), tolerance, (n, theta))

    def test_cyk(self):
        sentences = [[0, 1, 2, 3, 4, 5], [0, 1, 2], [0, 1, 2, 3, 2, 3, 4, 5]]
        p = shares([1] * len(RULES))
        for steps in range(4):
            likelihood, found = self.values("cyk", f"--sentences={sentences}", f"--steps={steps}")
            expected, counts = expected_counts(p, sentences)
            self.assert_close(likelihood, expected, 1e-8)
            for a, b in zip(found, p):
                self.assert_close(a, b, 1e-8)
            p = shares(counts)

    def test_pretty_printing(self):
        random = Random(7)
        for width in (1, 5, 12, 20, 33, 60, 200):
            tree = random_tree(random, 4)
            found, = self.values("pretty_printing", f"--tree={written(tree, json.dumps)}", f"--width={width}",
                                 before=(f"--tree={written(tree, codes)}", f"--width={width}"), has_strings=True)
            self.assertEqual(found, shown(tree, 0, width, 0))

    def test_parsers(self):
        random = Random(5)
        texts = [random_expression(random, 5) for _ in range(12)]
        functions = {"sqrt": math.sqrt, "exp": math.exp, "log": math.log, "abs": abs}
        expected = [(eval(text.replace("^", "**"), functions), "", len(text)) for text in texts]
        wrong = [("2 + (7 * 3", None, ")", 10), ("1 - 2 - 3 ", -4, "", 10), ("2 3", 2, "an operator", 2),
                 ("", None, "a number or (", 0), (" ", None, "a number or (", 1), ("foo(2)", None, "a number or (", 3), ("2^3^2", 64, "", 5), ("-2^2 * 3", -12, "", 8)]
        for text, value, message, place in [*((text, *rest) for text, rest in zip(texts, expected)), *wrong]:
            found, *rest = self.lines("parsers", f"--text={text}", before=(f"--text={codes(text)}",), has_strings=True)
            self.assertEqual(rest, [json.dumps(message), str(place)], text)
            if value is None:
                self.assertEqual(found, "nan")
            else:
                self.assert_close(float(found), value)

    def test_syntax_trees(self):
        # The gradient is that of differences, and what is learned holds for trees that were not shown.
        random = Random(3)
        examples = [(tree, has_kind(tree, 2)) for tree in (random_syntax(random, 3) for _ in range(24))]
        asked = [random_syntax(random, 3) for _ in range(20)]
        shown_examples = [f"Example({shown_syntax(tree)}, {str(label).lower()})" for tree, label in examples]
        arguments = [f"--examples=[{', '.join(shown_examples)}]", f"--asked=[{', '.join(map(shown_syntax, asked))}]"]
        weights = [math.sin(1.7 * i) for n in (24, 16, 4) for i in range(n)]
        first_loss = syntax_loss(weights, examples)
        for _ in range(3):
            losses = [[syntax_loss(moved_at(weights, i, by), examples) for by in (1e-5, -1e-5)] for i in range(len(weights))]
            weights = [w - 0.1 * (above - below) / 2e-5 for w, (above, below) in zip(weights, losses)]
        before, after, right, returns = self.values("syntax_trees", *arguments, "--steps=3")
        self.assert_close(before, first_loss, 1e-6)
        self.assert_close(after, syntax_loss(weights, examples), 1e-6)
        self.assertEqual(right, sum((syntax_score(weights, tree) > 0) == label for tree, label in examples))
        self.assertEqual(returns, [syntax_score(weights, tree) > 0 for tree in asked])
        _, after, right, returns = self.values("syntax_trees", *arguments, "--steps=150")
        self.assertLess(after, before / 3)
        self.assertEqual(right, len(examples))
        self.assertGreaterEqual(sum(answer == has_kind(tree, 2) for answer, tree in zip(returns, asked)), 17)


def has_kind(tree, kind):
    return tree[0] == kind or any(has_kind(child, kind) for child in tree[1])


def random_syntax(random, depth):
    """A kind and subtrees."""
    kind = 0 if depth == 3 else random.choice([1, 2, 3, 4, 5])
    return kind, [random_syntax(random, depth - 1) for _ in range(random.randrange(1, 3))] if depth and kind < 2 else []


def shown_syntax(tree):
    return f"Node({tree[0]}, [{', '.join(map(shown_syntax, tree[1]))}])"


def syntax_score(weights, tree):
    """The network of the example, whose weights stand in one list."""
    of_kind, below, out = weights[:24], weights[24:40], weights[40:]

    def encode(kind, children):
        total = [sum(column) for column in zip([0] * 4, *(encode(*child) for child in children))]
        return [math.tanh(of_kind[4 * kind + k] + sum(total[i] * below[4 * i + k] for i in range(4))) for k in range(4)]

    return dot(encode(*tree), out)


def syntax_loss(weights, examples):
    return sum(math.log(1 + math.exp(-syntax_score(weights, tree) if label else syntax_score(weights, tree)))
               for tree, label in examples)


def moved_at(numbers, i, by):
    return [number + by * (k == i) for k, number in enumerate(numbers)]


def random_expression(random, depth):
    """No quotient is of a zero, and no power is of a power, which some read from the right."""
    if depth == 0:
        return random.choice(["1.5", "2", "3.25", "10"])
    a, b = random_expression(random, depth - 1), random_expression(random, random.randrange(depth))
    return random.choice([f"{a} + {b}", f"{a} - ({b})", f"({a})*({b})", f"({a}) / (1 + abs({b}))", f"sqrt(abs({a})) - {b}",
                          f"(abs({a}) / 100)^2 * 3", f"-({a})*2"])


def random_tree(random, depth):
    """A name and subtrees."""
    count = random.randrange(4) if depth else 0
    return ("abcdefghij"[:random.randrange(1, 10)], [random_tree(random, depth - 1) for _ in range(count)])


def codes(text):
    return str([ord(c) for c in text])


def written(tree, name_of):
    name, children = tree
    return f"Tree({name_of(name)}, [{', '.join(written(child, name_of) for child in children)}])"


def on_one_line(tree):
    name, children = tree
    return f"{name}({', '.join(map(on_one_line, children))})" if children else name


def shown(tree, indent, width, behind):
    """The tree from a column on, with so many signs behind it on its last line."""
    name, children = tree
    line = on_one_line(tree)
    if not children or indent + len(line) + behind <= width:
        return line
    last = len(children) - 1
    parts = [shown(child, indent + 2, width, 0 if i == last else 1) for i, child in enumerate(children)]
    blanks = "\n" + " " * indent
    return f"{name}({blanks}  {f',{blanks}  '.join(parts)}{blanks})"


def bodies_by_pairs(n, steps):
    """Every body pulls at every other; the time goes by as in the program."""
    at = [[math.sin(1.7 * i), math.cos(2.3 * i)] for i in range(n)]
    velocity = [[math.cos(i), math.sin(3 * i)] for i in range(n)]
    for _ in range(steps):
        for i in range(n):
            for k in range(n):
                way = [b - a for a, b in zip(at[i], at[k])]
                pull = (1 + math.sin(k)) / (dot(way, way) + 0.01)**1.5
                velocity[i] = [v + 0.01 * pull * w for v, w in zip(velocity[i], way)]
        at = [[x + 0.01 * v for x, v in zip(*body)] for body in zip(at, velocity)]
    return at


# A symbol with the two that it is made of, or with a word.
RULES = [("S", "NP", "VP"), ("VP", "VP", "PP"), ("VP", "V", "NP"), ("NP", "NP", "PP"), ("NP", "Det", "N"), ("PP", "P", "NP"),
         ("NP", 0), ("NP", 2), ("V", 1), ("P", 3), ("Det", 4), ("N", 5)]


def parses(symbol, words):
    """Every parse of the words as the symbol, each as the list of its rules."""
    for rule, (parent, *parts) in enumerate(RULES):
        if parent == symbol and parts == words:
            yield [rule]
        if parent == symbol and len(parts) == 2:
            for middle in range(1, len(words)):
                for left in parses(parts[0], words[:middle]):
                    for right in parses(parts[1], words[middle:]):
                        yield [rule, *left, *right]


def expected_counts(p, sentences):
    """The logarithm of the probability of the sentences, and how often each rule is expected in their parses."""
    likelihood, counts = 0, [0] * len(p)
    for sentence in sentences:
        found = list(parses("S", sentence))
        chances = [math.prod(p[rule] for rule in parse) for parse in found]
        likelihood += math.log(sum(chances))
        for parse, chance in zip(found, chances):
            for rule in parse:
                counts[rule] += chance / sum(chances)
    return likelihood, counts


def shares(counts):
    whole = {parent: sum(count for count, rule in zip(counts, RULES) if rule[0] == parent) for parent, *_ in RULES}
    return [count / whole[rule[0]] for count, rule in zip(counts, RULES)]


LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def plain_search(board):
    """What the player to move can reach, by looking at every position, and how many these are."""
    if any(board[a] == board[b] == board[c] == -1 for a, b, c in LINES):
        return -1, 1
    if 0 not in board:
        return 0, 1
    found = [plain_search_of(board, i) for i in range(9) if board[i] == 0]
    return max(-value for value, _ in found), 1 + sum(count for _, count in found)


@functools.cache
def plain_search_of(board, i):
    return plain_search(tuple(-1 if k == i else -stone for k, stone in enumerate(board)))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def along(origin, direction, t):
    return [o + t * d for o, d in zip(origin, direction)]


def ball_span(origin, direction, center, radius):
    """From where to where the ray is in the ball."""
    d = [o - c for o, c in zip(origin, center)]
    b, c = dot(d, direction), dot(d, d) - radius**2
    root = math.sqrt(max(0, b * b - c))
    return (-b - root, -b + root) if b * b > c else (math.inf, -math.inf)


def cube_span(origin, direction):
    begin, end = -math.inf, math.inf
    for o, d in zip(origin, direction):
        t, u = sorted([(-1 - o) / d, (1 - o) / d])
        begin, end = max(begin, t), min(end, u)
    return begin, end


BITE = [-0.6, 0.6, -1], 0.8


def first_hit(origin, direction):
    """Where the ray first meets the solid from in front, and the direction out of the solid there. As the solid is a
    convex one without a ball, it is in that on one span and not on another."""
    cube, ball = cube_span(origin, direction), ball_span(origin, direction, [0, 0, 0], 1.3)
    begin, end = max(cube[0], ball[0]), min(cube[1], ball[1])
    bite = ball_span(origin, direction, *BITE)
    spans = [(begin, min(end, bite[0])), (max(begin, bite[1]), end)] if bite[0] < bite[1] else [(begin, end)]
    ends = [t for span in spans if span[0] < span[1] for t in span if t > 1e-6]
    if not ends:
        return None
    t = min(ends)
    at = along(origin, direction, t)
    if abs(dot([a - c for a, c in zip(at, BITE[0])], [a - c for a, c in zip(at, BITE[0])]) - BITE[1]**2) < 1e-9:
        normal = [(c - a) / BITE[1] for a, c in zip(at, BITE[0])]
    elif abs(dot(at, at) - 1.69) < 1e-9:
        normal = [a / 1.3 for a in at]
    else:
        normal = [float(round(a)) if abs(abs(a) - 1) < 1e-9 else 0.0 for a in at]
    return at, normal


def unit(x):
    return [e / math.sqrt(dot(x, x)) for e in x]


def ray_shade(x, y, rows):
    place = [(i + 0.5) / n - 0.5 for i, n in ((x, 2 * rows), (y, rows))]
    direction = unit([-0.3 + 0.9 * place[0], -0.3 - 0.9 * place[1], 1])
    hit = first_hit([1.5, 1.5, -5], direction)
    if hit is None:
        return " "
    at, normal = hit
    facing = normal if dot(normal, direction) < 0 else [-e for e in normal]
    light = unit([-1, 2, -1.7])
    bright = 0 if first_hit(at, light) else max(0, dot(facing, light))
    return " .:-=+*#%@"[int(1 + 9 * bright)]


if __name__ == "__main__":
    harness.main(globals())
