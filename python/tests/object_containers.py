"""Containers and searches that are objects with state."""

from object_cases import cases_of

CASES, case = cases_of()


class Queue:
    def __init__(self):
        self.items = []
        self.head = 0

    def put(self, x):
        self.items.append(x)

    def get(self):
        x = self.items[self.head]
        self.head += 1
        return x

    def __len__(self):
        return len(self.items) - self.head


@case(([[1, 2], [3], [3], []], 0))
def bfs(graph, start):
    q = Queue()
    q.put(start)
    seen = [False] * len(graph)
    seen[start] = True
    order = []
    while len(q) > 0:
        u = q.get()
        order.append(u)
        for v in graph[u]:
            if not seen[v]:
                seen[v] = True
                q.put(v)
    return order


class UF:
    def __init__(self, n):
        self.parent = list(range(n))
        self.size = [1] * n
        self.sets = n

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a, b):
        a, b = (self.find(a), self.find(b))
        if a == b:
            return False
        if self.size[a] < self.size[b]:
            a, b = (b, a)
        self.parent[b] = a
        self.size[a] += self.size[b]
        self.sets -= 1
        return True


@case((6, [(0, 1), (2, 3), (1, 3), (0, 2)]))
def kruskal(n, edges):
    uf = UF(n)
    used = 0
    for a, b in edges:
        if uf.union(a, b):
            used += 1
    return (used, uf.sets, uf.parent)


class Heap:
    def __init__(self):
        self.a = []

    def push(self, x):
        self.a.append(x)
        i = len(self.a) - 1
        while i > 0 and self.a[(i - 1) // 2] > self.a[i]:
            p = (i - 1) // 2
            self.a[p], self.a[i] = (self.a[i], self.a[p])
            i = p

    def pop(self):
        top = self.a[0]
        last = self.a.pop()
        if len(self.a) > 0:
            self.a[0] = last
            i = 0
            while True:
                c = 2 * i + 1
                if c >= len(self.a):
                    break
                if c + 1 < len(self.a) and self.a[c + 1] < self.a[c]:
                    c += 1
                if self.a[i] <= self.a[c]:
                    break
                self.a[i], self.a[c] = (self.a[c], self.a[i])
                i = c
        return top


@case(([5, 2, 8, 1, 9, 3],), ([],))
def heap_sort(xs):
    h = Heap()
    for x in xs:
        h.push(x)
    out = []
    for _ in range(len(xs)):
        out.append(h.pop())
    return out


class Fib:
    def __init__(self, n):
        self.memo = [-1] * (n + 2)
        self.calls = 0

    def get(self, n):
        self.calls += 1
        if n < 2:
            return n
        if self.memo[n] >= 0:
            return self.memo[n]
        v = self.get(n - 1) + self.get(n - 2)
        self.memo[n] = v
        return v


@case((10,), (50,))
def fib(n):
    f = Fib(n)
    return (f.get(n), f.calls)


class LNode:
    def __init__(self, v, next=None):
        self.v, self.next = (v, next)


class LinkedList:
    def __init__(self):
        self.head = None
        self.size = 0

    def push(self, v):
        self.head = LNode(v, self.head)
        self.size += 1

    def pop(self):
        v = self.head.v
        self.head = self.head.next
        self.size -= 1
        return v

    def reverse(self):
        prev = None
        cur = self.head
        while cur is not None:
            prev = LNode(cur.v, prev)
            cur = cur.next
        self.head = prev


@case((5,))
def linked(n):
    l = LinkedList()
    for i in range(n):
        l.push(i)
    a = l.pop()
    l.reverse()
    b = l.pop()
    return (a, b, l.size)


class Queens:
    def __init__(self, n):
        self.n, self.solutions = (n, 0)
        self.cols = [False] * n
        self.d1 = [False] * (2 * n)
        self.d2 = [False] * (2 * n)

    def place(self, r):
        if r == self.n:
            self.solutions += 1
            return
        for c in range(self.n):
            if self.cols[c] or self.d1[r + c] or self.d2[r - c + self.n]:
                continue
            self.cols[c] = self.d1[r + c] = self.d2[r - c + self.n] = True
            self.place(r + 1)
            self.cols[c] = self.d1[r + c] = self.d2[r - c + self.n] = False


@case((4,), (6,))
def queens(n):
    q = Queens(n)
    q.place(0)
    return q.solutions


class Mat:
    def __init__(self, n):
        self.n = n
        self.rows = [[0.0] * n for _ in range(n)]

    def fill(self):
        for i in range(self.n):
            for j in range(self.n):
                self.rows[i][j] = float(i * j + 1)
        return self

    def trace(self):
        t = 0.0
        for i in range(self.n):
            t += self.rows[i][i]
        return t


@case((3,))
def trace(n):
    m = Mat(n)
    m.fill()
    return m.trace()


class Arr:
    def __init__(self, n):
        self.xs = [0] * n
        self.gets = 0

    def __getitem__(self, i):
        self.gets += 1
        return self.xs[i]

    def __setitem__(self, i, v):
        self.xs[i] = v

    def __len__(self):
        return len(self.xs)


@case((3,))
def items(n):
    a = Arr(n)
    a[0] = 5
    return (a[0] + a[1], len(a), a.gets)


class Hist:
    def __init__(self, n):
        self.counts = [0] * n

    def add(self, i):
        self.counts[i] += 1

    def most(self):
        best = 0
        for i in range(len(self.counts)):
            if self.counts[i] > self.counts[best]:
                best = i
        return best


@case(([1, 2, 2, 0],))
def hist(xs):
    h = Hist(4)
    for x in xs:
        h.add(x)
    return (h.most(), h.counts)
