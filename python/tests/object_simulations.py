"""Simulations, accumulators and builders that are objects with state."""

import dataclasses
import math

from object_cases import cases_of

import hiaton as hia

CASES, case = cases_of()


class Shape:
    def __init__(self, n):
        self.n = n
        self.calls = 0

    def area(self):
        self.calls += 1
        return 0

    def twice(self):
        return self.area() + self.area()


class Square(Shape):
    def __init__(self, n, k):
        super().__init__(n)
        self.k = k

    def area(self):
        super().area()
        return self.n * self.n * self.k


@case((3,), (4,))
def shapes(n):
    s = Square(n, 2)
    b = Shape(n)
    x = s.twice() + b.twice()
    return (x, s.calls, b.calls)


class Walker:
    def __init__(self, seed):
        self.seed, self.x, self.y = (seed, 0, 0)

    def rand(self):
        self.seed = (1664525 * self.seed + 1013904223) % 4294967296
        return self.seed >> 16

    def move(self):
        d = self.rand() % 4
        if d == 0:
            self.x += 1
        elif d == 1:
            self.x -= 1
        elif d == 2:
            self.y += 1
        else:
            self.y -= 1


@case((10, 1), (100, 7))
def walk(n, seed):
    w = Walker(seed)
    far = 0
    for _ in range(n):
        w.move()
        far = max(far, abs(w.x) + abs(w.y))
    return (w.x, w.y, far)


class Temp:
    SCALE = 10

    def __init__(self):
        self._c = 0
        self.reads = 0

    @property
    def c(self):
        self.reads += 1
        return self._c * self.SCALE

    @staticmethod
    def clamp(x):
        return min(x, 50)

    def heat(self, d):
        self._c = self.clamp(self._c + d)


@case((30,), (3,))
def temps(d):
    t = Temp()
    t.heat(d)
    t.heat(d)
    return (t.c, t.c + 1, t.reads, t.SCALE)


@dataclasses.dataclass
class Vec:
    x: float
    y: float

    def add(self, o):
        self.x += o.x
        self.y += o.y

    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y)


@case((1.5,), (0.25,))
def vectors(a):
    p, v = (Vec(0.0, 0.0), Vec(a, 1.0))
    for _ in range(5):
        p.add(v)
        v.y -= 0.5
    return (p.x, p.y, p.norm())


class Ball:
    def __init__(self, h):
        self.h, self.v, self.bounces = (h, 0.0, 0)

    def step(self, dt):
        self.v -= 9.81 * dt
        self.h += self.v * dt
        if self.h < 0.0:
            self.h = -self.h
            self.v = -self.v * 0.8
            self.bounces += 1


@case((10.0, 300))
def ball(h, n):
    b = Ball(h)
    for _ in range(n):
        b.step(0.01)
    return (b.h, b.bounces)


class Life:
    def __init__(self, w, h):
        self.w, self.h = (w, h)
        self.cells = [[0] * w for _ in range(h)]
        self.gen = 0

    def set(self, x, y):
        self.cells[y][x] = 1

    def around(self, x, y):
        n = 0
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dx != 0 or dy != 0:
                    n += self.cells[(y + dy) % self.h][(x + dx) % self.w]
        return n

    def step(self):
        new = [[0] * self.w for _ in range(self.h)]
        for y in range(self.h):
            for x in range(self.w):
                n = self.around(x, y)
                new[y][x] = 1 if n == 3 or (n == 2 and self.cells[y][x] == 1) else 0
        self.cells = new
        self.gen += 1

    def alive(self):
        return sum([sum(row) for row in self.cells])


@case((3,))
def life(n):
    g = Life(6, 6)
    for x, y in [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]:
        g.set(x, y)
    for _ in range(n):
        g.step()
    return (g.alive(), g.cells, g.gen)


class Mean:
    def __init__(self):
        self.total = hia.zeros(2)
        self.n = 0

    def add(self, x):
        self.total = self.total + x
        self.n += 1

    def get(self):
        return self.total / self.n


@case(([1.0, 2.0, 3.0],))
def mean(xs):
    m = Mean()
    for x in xs:
        m.add(hia.tensor([1.0, 2.0]) * x)
    return m.get()


class Counter:
    def __init__(self, start=0):
        self.n = start

    def tick(self):
        self.n += 1
        return self.n


class Scale:
    def __init__(self, k):
        self.k = k
        self.used = 0

    def __call__(self, x):
        self.used += 1
        return x * self.k


@case((3,))
def calls(n):
    s = Scale(2)
    a = s(n) + s(n)
    return (a, s.used)


class Money:
    def __init__(self, c):
        self.c = c

    def __add__(self, o):
        return Money(self.c + o.c)


@case((3,))
def money(n):
    a = Money(n)
    a.c += 1
    b = a + Money(2)
    return b.c


class Timer:
    def __init__(self):
        self.depth = 0
        self.total = 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, *a):
        self.depth -= 1
        self.total += 1


@case((3,))
def with_object(n):
    t = Timer()
    for _ in range(n):
        with t:
            n += t.depth
    return (n, t.depth, t.total)


class Env:
    def __init__(self):
        self.vars = {"x": 1, "y": 2}

    def set_x(self, v):
        self.vars["x"] = v


@case((5,))
def env(n):
    e = Env()
    e.set_x(n)
    e.vars["y"] += 1
    return e.vars["x"] + e.vars["y"]


class Player:
    def __init__(self, hp):
        self.hp = hp

    def hit(self, other, d):
        other.hp -= d


@case((10,))
def fight(n):
    a, b = (Player(n), Player(n + 3))
    turn = 0
    while a.hp > 0 and b.hp > 0:
        if turn % 2 == 0:
            a.hit(b, 3)
        else:
            b.hit(a, 2)
        turn += 1
    return (a.hp, b.hp, turn)


class Pair:
    def __init__(self, a, b):
        self.a, self.b = (a, b)

    def swap(self):
        self.a, self.b = (self.b, self.a)


@case((1, 2))
def swap(a, b):
    p = Pair([a], [b, b])
    p.swap()
    p.a.append(7)
    return (p.a, p.b)


@case((2,))
def printing(n):
    c = Counter()
    for _ in range(n):
        print("tick", c.tick())
    return c.n


class Engine:
    def __init__(self):
        self.rpm = 0

    def rev(self, d):
        self.rpm += d


class Car:
    def __init__(self):
        self.engine = Engine()
        self.km = 0

    def drive(self, d):
        self.engine.rev(d * 10)
        self.km += d


@case((3,))
def car(n):
    c = Car()
    for i in range(n):
        c.drive(i)
    c.engine.rpm += 1
    e = c.engine
    return (c.km, c.engine.rpm, e.rpm)


class Acc:
    def __init__(self):
        self.total = 0.0

    def add(self, x):
        self.total = self.total + x * x


def loss(x):
    a = Acc()
    a.add(x)
    a.add(2.0 * x)
    return a.total


@case((3.0,))
def gradient(x):
    return hia.grad(loss)(x)


def bump(*, counter, by=2):
    counter.n += by


@case((5,))
def keywords(n):
    c = Counter(n)
    bump(counter=c)
    bump(by=n, counter=c)
    return c.n


class Bag:
    pass


@case((5,))
def bag(n):
    b = Bag()
    b.x = n
    b.y = [1]
    b.y.append(b.x)
    return (b.x, b.y)


@case((5,), (1,))
def bag_branch(n):
    b = Bag()
    if n > 2:
        b.x = n
    else:
        b.x = 0
    return b.x


@case((4,))
def history(n):
    p = Pair(0, 1)
    out = []
    for i in range(n):
        p.a += i
        out.append((p.a, p.b))
        p.swap()
    return out
