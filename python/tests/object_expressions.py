"""Objects with state in expressions and statements of every kind."""

import dataclasses

from object_cases import cases_of

CASES, case = cases_of()


class Counter:
    def __init__(self, n=0):
        self.n = n

    def tick(self):
        self.n += 1
        return self.n


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1
        self.b = 2

    def up(self):
        self.a += self.b


@case((3,))
def slotted(n):
    s = Slotted()
    for _ in range(n):
        s.up()
    return s.a


@dataclasses.dataclass
class Post:
    x: int
    y: int = 0

    def __post_init__(self):
        self.y = self.x * 2


@case((3,))
def post(n):
    p = Post(n)
    p.x += 1
    return (p.x, p.y)


class ClassAttr:
    total = 0

    def __init__(self):
        self.mine = 0

    def add(self):
        self.total += 1
        self.mine += 1


@case((3,))
def class_attr(n):
    c = ClassAttr()
    c.add()
    c.add()
    return (c.total, c.mine)


@case((3,))
def finally_(n):
    c = Counter()
    try:
        c.tick()
        if n > 2:
            return c.n
    finally:
        c.n += 10
    return c.n


@case((3,))
def tuple_of(n):
    c = Counter(n)
    c.tick()
    t = (c, n)
    return t[0].n + t[1]


@case((3,))
def lambda_read(n):
    c = Counter(n)
    c.tick()
    f = lambda x: x + c.n
    return f(2)


@case((3,))
def isinst(n):
    a = Counter(n)
    a.tick()
    return (isinstance(a, Counter), isinstance(a, int), a.n)


@case((3,))
def truth(n):
    a = Counter(n)
    a.tick()
    return (1 if a else 0, not a, a.n)


class Cont:
    def __init__(self):
        self.xs = []

    def __contains__(self, x):
        return x in self.xs

    def add(self, x):
        self.xs.append(x)


@case((3,))
def contains(n):
    c = Cont()
    c.add(n)
    r = n in c
    return (r, 5 in c)


class Tree2:
    def __init__(self, v):
        self.v = v
        self.kids = []

    def add(self, k):
        self.kids.append(k)
        return k

    def sum(self):
        return self.v + sum([k.sum() for k in self.kids])


@case((3,))
def tree2(n):
    r = Tree2(1)
    for i in range(n):
        r.add(Tree2(i))
    return r.sum()


def grow(t, d):
    if d == 0:
        return
    for i in range(2):
        k = Tree2(d)
        grow(k, d - 1)
        t.add(k)


@case((3,))
def grown(n):
    r = Tree2(0)
    grow(r, n)
    return (r.sum(), r)


@case((2,))
def nested_calls(n):
    c = Counter(n)
    return (c.tick() + c.tick() * c.tick() - (c.tick() if c.tick() > 4 else 0), c.n)


@case((2,))
def chain_cmp(n):
    c = Counter(n)
    return (0 < c.tick() < 4 < c.tick() < 100, c.n)


@case((2,))
def walrus(n):
    c = Counter(n)
    while (k := c.tick()) < 6:
        pass
    return (k, c.n)


@case((2,))
def aug_call(n):
    c = Counter(n)
    c.n += c.tick()
    c.n *= c.tick() + c.n
    return c.n


@case(([[1, 2], [3]],))
def listcomp2(rows):
    c = Counter()
    return ([[c.tick() + x for x in r] for r in rows], c.n)


@case((5,))
def ternary_objects(n):
    c = Counter(n) if n > 3 else Counter(0)
    c.tick()
    return c.n


def early(n):
    c = Counter(n)
    if n > 2:
        return c
    c.tick()
    return c


@case((5,), (0,))
def two_returns(n):
    c = early(n)
    c.tick()
    return c.n


class Tok:
    def __init__(self, kind, val):
        self.kind, self.val = (kind, val)


class P3:
    def __init__(self, toks):
        self.toks = toks
        self.i = 0

    def next(self):
        t = self.toks[self.i]
        self.i += 1
        return t

    def expr(self):
        t = self.next()
        if t.kind == "num":
            return t.val
        a = self.expr()
        b = self.expr()
        return a + b if t.kind == "+" else a * b


@case(([Tok("+", 0), Tok("num", 3), Tok("*", 0), Tok("num", 2), Tok("num", 5)],))
def tok_objects(toks):
    return P3(toks).expr()
