"""Parsers, interpreters and visitors that are objects with state."""

import dataclasses

from object_cases import cases_of

CASES, case = cases_of()


class StrParser:
    def __init__(self, tokens):
        self.tokens = tokens
        self.pos = 0

    def peek(self):
        if self.pos < len(self.tokens):
            return self.tokens[self.pos]
        return None

    def next(self):
        tok = self.peek()
        self.pos += 1
        return tok

    def expect(self, t):
        if self.next() != t:
            raise SyntaxError(f"expected {t}")

    def expr(self):
        left = self.term()
        while self.peek() in ("+", "-"):
            if self.next() == "+":
                left = left + self.term()
            else:
                left = left - self.term()
        return left

    def term(self):
        left = self.factor()
        while self.peek() == "*":
            self.next()
            left = left * self.factor()
        return left

    def factor(self):
        tok = self.next()
        if tok == "(":
            v = self.expr()
            self.expect(")")
            return v
        if tok == "-":
            return -self.factor()
        return 1 if tok == "one" else 2 if tok == "two" else 10


@case((["one", "+", "two", "*", "(", "ten", "-", "one", ")"],), (["-", "two"],), (["(", "one"],))
def str_eval(tokens):
    return StrParser(tokens).expr()


@dataclasses.dataclass
class Num:
    value: int


@dataclasses.dataclass
class Bin:
    op: str
    left: object
    right: object


class AstParser:
    def __init__(self, toks):
        self.toks = toks
        self.i = 0

    def parse(self):
        node = self.atom()
        while self.i < len(self.toks) and self.toks[self.i] < 0:
            op = "+" if self.toks[self.i] == -1 else "*"
            self.i += 1
            node = Bin(op, node, self.atom())
        return node

    def atom(self):
        v = self.toks[self.i]
        self.i += 1
        return Num(v)


def ev(n):
    if isinstance(n, Num):
        return n.value
    l, r = (ev(n.left), ev(n.right))
    return l + r if n.op == "+" else l * r


@case(([1, -1, 2, -2, 5],), ([7],))
def ast_eval(toks):
    p = AstParser(toks)
    tree = p.parse()
    return (ev(tree), p.i)


@case(([1, -1, 2, -2, 5],))
def ast_give(toks):
    return AstParser(toks).parse()


class VM:
    def __init__(self, code):
        self.code = code
        self.stack = []
        self.pc = 0
        self.steps = 0
        self.running = True

    def push(self, v):
        self.stack.append(v)

    def pop(self):
        return self.stack.pop()

    def step(self):
        op = self.code[self.pc]
        self.pc += 1
        self.steps += 1
        if op == 0:
            self.running = False
        elif op == 1:
            self.push(self.code[self.pc])
            self.pc += 1
        elif op == 2:
            a = self.pop()
            b = self.pop()
            self.push(a + b)
        elif op == 3:
            a = self.pop()
            b = self.pop()
            self.push(a * b)
        elif op == 4:
            target = self.code[self.pc]
            self.pc += 1
            if self.stack[-1] > 0:
                self.pc = target

    def run(self):
        while self.running and self.steps < 1000:
            self.step()
        return self.pop()


@case(([1, 2, 1, 3, 2, 1, 4, 3, 0],), ([1, 5, 1, -1, 2, 4, 2, 0],))
def vm(code):
    m = VM(code)
    r = m.run()
    return (r, m.steps)


@dataclasses.dataclass
class T:
    value: int
    left: "T | None" = None
    right: "T | None" = None


TREE = T(5, T(3, T(1), T(4)), T(8, None, T(9)))


class DepthVisitor:
    def __init__(self):
        self.depth = 0
        self.deepest = 0
        self.count = 0
        self.values = []

    def visit(self, t):
        if t is None:
            return
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        self.count += 1
        self.visit(t.left)
        self.values.append(t.value)
        self.visit(t.right)
        self.depth -= 1


@case((TREE,), (None,))
def visit(t):
    v = DepthVisitor()
    v.visit(t)
    return (v.deepest, v.count, v.values)


class Machine:
    def __init__(self):
        self.state = "idle"
        self.log = []

    def feed(self, c):
        if self.state == "idle":
            if c == 1:
                self.state = "run"
        elif self.state == "run":
            if c == 0:
                self.state = "idle"
            elif c == 2:
                self.state = "done"
        self.log.append(self.state)


@case(([1, 0, 1, 2, 1],), ([],))
def machine(cs):
    m = Machine()
    for c in cs:
        m.feed(c)
        if m.state == "done":
            break
    return (m.state, m.log)


class Tokens:
    def __init__(self, codes):
        self.codes = codes
        self.i = 0
        self.out = []

    def skip(self):
        while self.i < len(self.codes) and self.codes[self.i] == 32:
            self.i += 1

    def number(self):
        v = 0
        while self.i < len(self.codes) and 48 <= self.codes[self.i] <= 57:
            v = v * 10 + (self.codes[self.i] - 48)
            self.i += 1
        self.out.append(v)

    def run(self):
        self.skip()
        while self.i < len(self.codes):
            if 48 <= self.codes[self.i] <= 57:
                self.number()
            else:
                self.out.append(-self.codes[self.i])
                self.i += 1
            self.skip()
        return self.out


@case(([ord(c) for c in "12 + 34*5"],), ([],))
def tokenize(codes):
    return Tokens(codes).run()


class Counter:
    def __init__(self, start=0):
        self.n = start

    def tick(self):
        self.n += 1
        return self.n


def hanoi(n, a, b, c, moves, counter):
    if n == 0:
        return
    hanoi(n - 1, a, c, b, moves, counter)
    moves.append((a, c))
    counter.tick()
    hanoi(n - 1, b, a, c, moves, counter)


@case((3,), (0,))
def towers(n):
    moves, counter = ([], Counter())
    hanoi(n, 0, 1, 2, moves, counter)
    return (moves, counter.n)


class Limited:
    def __init__(self, most):
        self.most, self.used = (most, 0)

    def take(self, n):
        if self.used + n > self.most:
            raise ValueError("too much")
        self.used += n


@case(([1, 2, 3], 10), ([5, 6], 10))
def limited(xs, most):
    l = Limited(most)
    for x in xs:
        l.take(x)
    return l.used


@case(([1, 2, 3], 10), ([5, 6, 1], 10))
def limited_try(xs, most):
    l = Limited(most)
    bad = 0
    for x in xs:
        try:
            l.take(x)
        except ValueError:
            bad += 1
    return (l.used, bad)


class Ids:
    def __init__(self):
        self.next = 0

    def new(self):
        self.next += 1
        return self.next


def label(t, ids):
    if t is None:
        return None
    left = label(t.left, ids)
    me = ids.new()
    return T(me, left, label(t.right, ids))


@case((TREE,))
def labels(t):
    ids = Ids()
    return (label(t, ids), ids.next)


@case((TREE,))
def node_first(t):
    ids = Ids()
    return (T(ids.new(), T(ids.new()), T(ids.new())), ids.new())


class Scanner:
    def __init__(self, xs):
        self.xs, self.i = (xs, 0)

    def find(self, x):
        while self.i < len(self.xs):
            if self.xs[self.i] == x:
                return self.i
            self.i += 1
        return -1


@case(([1, 2, 3, 2], 2), ([], 1))
def scan(xs, x):
    s = Scanner(xs)
    a = s.find(x)
    s.i += 1
    return (a, s.find(x))


class Interp:
    def __init__(self):
        self.acc = 0
        self.trace = []

    def run(self, ops):
        for op, arg in ops:
            match op:
                case "add":
                    self.acc += arg
                case "mul":
                    self.acc *= arg
                case "neg":
                    self.acc = -self.acc
                case _:
                    self.acc = 0
            self.trace.append(self.acc)
        return self.acc


@case(([("add", 3), ("mul", 4), ("neg", 0)],), ([("x", 1)],))
def interp(ops):
    i = Interp()
    r = i.run(ops)
    return (r, i.trace)


class Lazy:
    def __init__(self):
        self.value = None

    def get(self):
        if self.value is None:
            self.value = 42
        return self.value + 1


@case((3,))
def lazy(n):
    l = Lazy()
    return l.get() + l.get() * n


def even(n, c):
    c.n += 1
    return True if n == 0 else odd(n - 1, c)


def odd(n, c):
    c.n += 1
    return False if n == 0 else even(n - 1, c)


@case((5,), (4,))
def parity(n):
    c = Counter()
    return (even(n, c), c.n)


def fill(c, n):
    if n == 0:
        return c
    c.n += n
    return fill(c, n - 1)


@case((4,))
def filled(n):
    c = fill(Counter(), n)
    return c.n


@case((5,))
def cond_change(n):
    c = Counter()
    while c.tick() < n:
        pass
    return c.n


@case((5,))
def and_or(n):
    c = Counter()
    a = c.tick() > 1 and c.tick() > 1
    b = c.tick() > 1 or c.tick() > 1
    d = 1 if c.tick() > 3 else c.tick()
    return (a, b, d, c.n)


@case((5,))
def in_sum(n):
    c = Counter()
    return (sum((c.tick() for _ in range(n))), max((c.tick() for _ in range(3))), c.n)
