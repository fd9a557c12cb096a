"""Random programs of Python: recursion, dataclasses, optional fields, lists, loops that are left early, large integers."""

import dataclasses
import random


@dataclasses.dataclass
class Node:
    value: int
    weight: float = 0.5
    left: "Node | None" = None
    right: "Node | None" = None
    tags: "list[int]" = dataclasses.field(default_factory=list)
    note: "int | None" = None


@dataclasses.dataclass
class Leaf:
    value: int
    weight: float = 1.5

    def scaled(self, k):
        return self.value * k

    @property
    def twice(self):
        return self.value + self.value


class Programs:
    """Each has a function `main` of an integer, a list of integers, a tree and a float."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.fresh = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self, kind):
        self.fresh += 1
        return f"{kind}{self.fresh}"

    # Expressions, by the type that they have. `scope`: names by type.

    def integer(self, scope, depth):
        pick, ints = self.pick, scope["int"]
        if depth <= 0 or self.random.random() < 0.25:
            big = self.random.random() < 0.03
            return pick(*ints, *ints, str(self.random.randint(-9, 9)) if not big else str(self.random.choice([2**62, -2**63, 2**40])))
        a = lambda: self.integer(scope, depth - 1)  # noqa: E731
        kind = self.random.randrange(15)
        if kind < 5:
            return f"({a()} {pick('+', '-', '*', '+', '-')} {a()})"
        if kind == 5:
            return f"({a()} {pick('//', '%')} {pick(a(), str(self.random.choice([-3, -2, 2, 3, 5, 7])))})"
        if kind == 6:
            return f"{pick('min', 'max')}({a()}, {a()})"
        if kind == 7:
            return f"({a()} if {self.boolean(scope, depth - 1)} else {a()})"
        if kind == 8:
            return f"abs({a()})"
        if kind == 9:
            return f"(-{a()})"
        if kind == 10 and scope["list"]:
            xs = pick(*scope["list"])
            return pick(f"len({xs})", f"sum({xs})", f"sum({self.integer({**scope, 'int': [*ints, 'q']}, depth - 1)} for q in {xs})",
                        f"{xs}[{a()}]", f"max({xs})")
        if kind == 11 and scope["node"]:
            n = pick(*scope["node"])
            return pick(f"{n}.value", f"len({n}.tags)", f"({n}.note or {a()})", f"({n}.left.value if {n}.left else {a()})")
        if kind == 12 and scope["calls"]:
            return self.call(scope, depth)
        if kind == 13:
            return f"int({self.floating(scope, depth - 1)})"
        if kind == 14 and scope["leaf"]:
            n = pick(*scope["leaf"])
            return pick(f"{n}.scaled({a()})", f"{n}.twice", f"{n}.value")
        return f"({a()} + {self.boolean(scope, depth - 1)})"

    def floating(self, scope, depth):
        floats = scope["float"]
        if depth <= 0 or self.random.random() < 0.3:
            return self.pick(*floats, *floats, str(self.random.choice([0.5, -1.25, 3.0, 0.0, 1e10])))
        a = lambda: self.floating(scope, depth - 1)  # noqa: E731
        i = lambda: self.integer(scope, depth - 1)  # noqa: E731
        return self.pick(f"({a()} {self.pick('+', '-', '*', '/')} {self.pick(a(), i())})", f"({i()} / {i()})",
                         f"float({i()})", f"abs({a()})", f"({a()} {self.pick('//', '%')} {a()})",
                         f"max({a()}, {a()})", f"({a()} if {self.boolean(scope, depth - 1)} else {a()})")

    def boolean(self, scope, depth):
        a = lambda: self.integer(scope, depth - 1)  # noqa: E731
        choices = [f"({a()} {self.pick('<', '<=', '==', '!=', '>', '>=')} {a()})",
                   f"({self.floating(scope, depth - 1)} < {self.pick(self.floating(scope, depth - 1), a())})"]
        if depth > 0:
            b = lambda: self.boolean(scope, depth - 1)  # noqa: E731
            choices += [f"({b()} and {b()})", f"({b()} or {b()})", f"(not {b()})", f"({a()} < {a()} <= {a()})"]
        for n in scope["node"]:
            choices += [f"({n}.left is None)", f"({n}.right is not None)", f"({n}.note is None)"]
        for xs in scope["list"]:
            choices += [f"bool({xs})", f"({a()} in {xs})", f"any({self.boolean({**scope, 'list': [], 'int': ['q']}, 0)} for q in {xs})"]
        return self.pick(*choices)

    def listing(self, scope, depth):
        inner = {**scope, "int": [*scope["int"], "q"]}
        xs = self.pick(*scope["list"]) if scope["list"] else "range(4)"
        return self.pick(f"[{self.integer(inner, depth - 1)} for q in {xs}]",
                         f"[{self.integer(inner, depth - 1)} for q in range(abs({self.integer(scope, 1)}) % 6)]",
                         f"[{self.integer(inner, depth - 1)} for q in {xs} if {self.boolean(inner, depth - 1)}]",
                         f"[{self.integer(scope, depth - 1)}, {self.integer(scope, depth - 1)}]",
                         f"[{self.integer(inner, 1)} + k for k, q in enumerate({xs})]")

    def call(self, scope, depth):
        name, shape = self.pick(*scope["calls"])
        if shape == "tree":
            if not scope["node"]:
                return "1"
            n = self.pick(*scope["node"])
            below = [m for m in scope["node"] if m in scope.get("below", ())]
            if name in scope.get("own", ()):
                return f"({name}({n}.left, {self.integer(scope, depth - 1)}) if {n}.left else 0)" if not below else \
                    f"{name}({self.pick(*below)}, {self.integer(scope, depth - 1)})"
            return f"{name}({n}, {self.integer(scope, depth - 1)})"
        if name in scope.get("own", ()):
            return f"({name}({scope['counter']} - 1, {self.integer(scope, depth - 1)}) if {scope['counter']} > 0 else 1)"
        return f"{name}(abs({self.integer(scope, 1)}) % 7, {self.integer(scope, depth - 1)})"

    # Statements.

    def block(self, scope, depth, indent, in_loop, size=None):
        scope = {k: list(v) if isinstance(v, list) else v for k, v in scope.items()}
        pad = "    " * indent
        for _ in range(size or self.random.randint(1, 3)):
            kind = self.random.randrange(14)
            if kind < 3:
                name = self.pick(self.name("i"), *scope["mutable"]) if scope["mutable"] else self.name("i")
                self.lines.append(f"{pad}{name} = {self.integer(scope, depth)}")
                self._add(scope, "int", name)
            elif kind == 3:
                name = self.name("f")
                self.lines.append(f"{pad}{name} = {self.floating(scope, depth)}")
                self._add(scope, "float", name)
            elif kind == 4 and scope["mutable"]:
                name = self.pick(*scope["mutable"])
                self.lines.append(f"{pad}{name} {self.pick('+=', '-=', '*=')} {self.integer(scope, depth)}")
            elif kind == 5 and depth > 0:
                self.lines.append(f"{pad}if {self.boolean(scope, depth)}:")
                self.block(scope, depth - 1, indent + 1, in_loop)
                if self.random.random() < 0.5:
                    self.lines.append(f"{pad}else:")
                    self.block(scope, depth - 1, indent + 1, in_loop)
            elif kind == 6 and depth > 0 and indent < 4:
                name = self.name("k")
                count = f"range(abs({self.integer(scope, 1)}) % 6)"
                over = self.pick(count, count, *scope["list"])
                self.lines.append(f"{pad}for {name} in {over}:")
                inner = {**scope, "int": [*scope["int"], name]}
                self.block(inner, depth - 1, indent + 1, True)
            elif kind == 7 and depth > 0 and indent < 3:
                name = self.name("w")
                self.lines.append(f"{pad}{name} = abs({self.integer(scope, 1)}) % 5")
                self.lines.append(f"{pad}while {name} > 0:")
                self.lines.append(f"{pad}    {name} -= 1")
                self.block({**scope, "int": [*scope["int"], name]}, depth - 1, indent + 1, True)
            elif kind == 8 and in_loop:
                self.lines.append(f"{pad}if {self.boolean(scope, depth)}:")
                self.lines.append(f"{pad}    {self.pick('break', 'continue')}")
            elif kind == 9:
                self.lines.append(f"{pad}if {self.boolean(scope, depth)}:")
                self.lines.append(f"{pad}    return {self.integer(scope, depth)}")
            elif kind == 10:
                name = self.name("xs")
                self.lines.append(f"{pad}{name} = {self.listing(scope, depth)}")
                self._add(scope, "list", name)
                if self.random.random() < 0.5:
                    self.lines.append(f"{pad}{name}.append({self.integer(scope, depth)})")
            elif kind == 11 and scope["node"]:
                n = self.pick(*scope["node"])
                side = self.pick("left", "right")
                name = self.name("n")
                self.lines.append(f"{pad}{name} = {n}.{side}")
                self.lines.append(f"{pad}if {name} is None:")
                self.lines.append(f"{pad}    return {self.integer(scope, depth)}")
                self._add(scope, "node", name)
                scope["below"] = [*scope.get("below", ()), name]
            elif kind == 12:
                name = self.name("l")
                self.lines.append(f"{pad}{name} = Leaf({self.integer(scope, depth)}, {self.floating(scope, 1)})")
                self._add(scope, "leaf", name)
            elif kind == 13:
                self.lines.append(f"{pad}if {self.boolean(scope, 0)}:")
                self.lines.append(f"{pad}    raise ValueError('case {self.fresh}')")
            else:
                self.lines.append(f"{pad}pass")
        return scope

    def _add(self, scope, kind, name):
        if name not in scope[kind]:
            scope[kind].append(name)
        if kind == "int" and name not in scope["mutable"]:
            scope["mutable"].append(name)

    def text(self):
        self.lines = ["from random_programs import Leaf, Node\n\n"]
        functions = []
        for number in range(self.random.randint(0, 2)):
            shape = self.pick("tree", "number")
            name = f"f{number}"
            scope = {"int": ["a"], "float": ["0.25"], "list": [], "node": [], "leaf": [], "mutable": [],
                     "calls": [*functions, (name, shape)], "own": [name]}
            if shape == "tree":
                self.lines.append(f"def {name}(t, a):")
                scope["node"] = ["t"]
            else:
                self.lines.append(f"def {name}(n, a):")
                scope["int"] = ["n", "a"]
                scope["counter"] = "n"
            scope = self.block(scope, 2, 1, False)
            self.lines.append(f"    return {self.integer(scope, 2)}\n\n")
            functions.append((name, shape))
        self.lines.append("def main(n, xs, t, x):")
        scope = {"int": ["n"], "float": ["x"], "list": ["xs"], "node": ["t"], "leaf": [], "mutable": [], "calls": functions}
        scope = self.block(scope, 3, 1, False, self.random.randint(2, 5))
        result = self.pick(self.integer(scope, 2), self.floating(scope, 2), self.boolean(scope, 2), self.listing(scope, 2),
                           f"({self.integer(scope, 2)}, {self.floating(scope, 1)})", *scope["node"], *scope["leaf"])
        self.lines.append(f"    return {result}\n")
        return "\n".join(self.lines)


def arguments(seed):
    """Arguments for `main`."""
    rng = random.Random(seed)

    def tree(depth):
        if depth == 0 or rng.random() < 0.2:
            return None
        return Node(rng.randint(-5, 9), rng.random(), tree(depth - 1), tree(depth - 1),
                             [rng.randint(0, 3) for _ in range(rng.randint(0, 3))], rng.choice([None, rng.randint(0, 5)]))
    size = rng.choice([0, 1, 3, 6])
    root = Node(rng.randint(-5, 9), rng.random(), tree(3), tree(2))
    number = rng.choice([rng.randint(-9, 9), rng.randint(0, 30), 2**61 + rng.randint(0, 9)])
    return number, [rng.randint(-9, 9) for _ in range(size)], root, rng.choice([0.0, rng.uniform(-3, 3), 1e9])
