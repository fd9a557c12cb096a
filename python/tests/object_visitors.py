"""Objects with state that are handed down trees of objects of several classes, and other programs with such objects."""

from object_cases import cases_of

import hiaton as hia

CASES, case = cases_of()


class Env:
    def __init__(self):
        self.steps = 0
        self.trace = []


class Num:
    def __init__(self, v):
        self.v = v

    def eval(self, env):
        env.steps += 1
        return self.v


class Add:
    def __init__(self, a, b):
        self.a, self.b = (a, b)

    def eval(self, env):
        r = self.a.eval(env) + self.b.eval(env)
        env.trace.append(r)
        return r


class Pass:
    def __init__(self, a):
        self.a = a

    def eval(self, env):
        return self.a.eval(env)


E = Add(Num(1), Pass(Add(Num(2), Num(3))))


@case((E,), (Num(4),))
def run(e):
    env = Env()
    return (e.eval(env), env.steps, env.trace)


@case((E,), (Num(4),))
def run_twice(e):
    env = Env()
    x = e.eval(env) + e.eval(env) if env.steps == 0 else e.eval(env)
    return (x, env.steps, env.trace)


class Visitor:
    def __init__(self):
        self.count = 0
        self.depth = 0

    def visit(self, n):
        self.count += 1
        name = type(n).__name__
        return getattr(self, "visit_" + name)(n)

    def visit_Num(self, n):
        return n.v

    def visit_Add(self, n):
        self.depth += 1
        return self.visit(n.a) + self.visit(n.b)

    def visit_Pass(self, n):
        return self.visit(n.a)


@case((E,), (Num(4),))
def visitor(e):
    v = Visitor()
    return (v.visit(e), v.count, v.depth)


class V2(Visitor):
    def visit(self, n):
        self.count += 1
        if isinstance(n, Num):
            return self.visit_Num(n)
        if isinstance(n, Add):
            return self.visit_Add(n)
        return self.visit_Pass(n)


@case((E,), (Num(4),))
def visitor2(e):
    v = V2()
    return (v.visit(e), v.count, v.depth)


class Interp:
    def __init__(self, n):
        self.vars = [0] * n
        self.out = []

    def run(self, prog):
        for op in prog:
            self.exec(op)

    def exec(self, op):
        k, a, b = op
        if k == "set":
            self.vars[a] = b
        elif k == "add":
            self.vars[a] += self.vars[b]
        elif k == "print":
            self.out.append(self.vars[a])
        elif k == "loop":
            for _ in range(self.vars[a]):
                self.exec(("add", b, b))


@case(([("set", 0, 3), ("set", 1, 1), ("loop", 0, 1), ("print", 1, 0), ("add", 1, 0), ("print", 1, 0)],))
def interp(prog):
    i = Interp(3)
    i.run(prog)
    return (i.out, i.vars)


class Gate:
    def __init__(self, kind):
        self.kind = kind
        self.uses = 0

    def out(self, a, b):
        self.uses += 1
        match self.kind:
            case "and":
                return a and b
            case "or":
                return a or b
            case _:
                return a != b


@case((True, False), (True, True))
def adder(a, b):
    x, y = (Gate("xor"), Gate("and"))
    return (x.out(a, b), y.out(a, b), x.uses + y.uses)


class Bank:
    def __init__(self):
        self.accounts = [100, 50]
        self.log = []

    def transfer(self, a, b, n):
        if self.accounts[a] < n:
            self.log.append("failed")
            return False
        self.accounts[a] -= n
        self.accounts[b] += n
        self.log.append("ok")
        return True


@case(([(0, 1, 30), (1, 0, 100)],))
def bank(moves):
    b = Bank()
    good = sum([1 for f, t, n in moves if b.transfer(f, t, n)])
    return (good, b.accounts, b.log)


class Vec:
    def __init__(self, x, y):
        self.x, self.y = (x, y)

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __iadd__(self, o):
        self.x += o.x
        self.y += o.y
        return self

    def scale(self, k):
        self.x *= k
        self.y *= k


@case((2.0,))
def vec(k):
    v = Vec(1.0, 2.0)
    v.scale(k)
    v = v + Vec(1.0, 1.0)
    v.scale(k)
    return (v.x, v.y)


@case((2.0,))
def iadd(k):
    v = Vec(1.0, 2.0)
    v += Vec(k, k)
    return (v.x, v.y)


class Matrix:
    def __init__(self, rows):
        self.rows = rows
        self.n = len(rows)

    def add_row(self, r):
        self.rows.append(r)
        self.n += 1


@case((2,))
def matrix(k):
    m = Matrix([[1, k], [k, 1]])
    m.add_row([k, k])
    return (m.n, m.rows)


class Model:
    def __init__(self):
        self.w = hia.tensor([1.0, 2.0])
        self.steps = 0

    def step(self, x, lr):
        g = hia.grad(lambda w: hia.sum(w * w * x))(self.w)
        self.w = self.w - g * lr
        self.steps += 1


@case((3,))
def train(n):
    m = Model()
    for _ in range(n):
        m.step(2.0, 0.1)
    return (m.w, m.steps)


@case((4,))
def collatz(n):
    class_free = Longest()
    for i in range(1, n * 5):
        class_free.try_(i)
    return (class_free.best, class_free.at)


class Longest:
    def __init__(self):
        self.best, self.at = (0, 0)

    def length(self, n):
        k = 1
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            k += 1
        return k

    def try_(self, n):
        k = self.length(n)
        if k > self.best:
            self.best, self.at = (k, n)


class Lru:
    def __init__(self, size):
        self.size = size
        self.keys = []
        self.vals = []
        self.hits = 0

    def get(self, k):
        for i in range(len(self.keys)):
            if self.keys[i] == k:
                self.hits += 1
                return self.vals[i]
        v = k * k
        if len(self.keys) >= self.size:
            del self.keys[0]
            del self.vals[0]
        self.keys.append(k)
        self.vals.append(v)
        return v


@case(([1, 2, 1, 3, 1, 4],))
def lru(ks):
    c = Lru(2)
    return ([c.get(k) for k in ks], c.hits)
