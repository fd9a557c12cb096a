"""Random programs of Python that make objects and change them, by methods and functions, in branches, loops and recursions."""

import random

from random_text import RandomText

INNER = """class Inner:
    def __init__(self, count):
        self.count = count
        self.seen = []

    def __repr__(self):
        return "Inner"

    def note(self, x):
        self.count += x
        self.seen.append(x)
        return self.count

    def last(self):
        return self.seen[-1] if self.seen else self.count


"""


class Programs(RandomText):
    """Each has a function `main` of an integer and a list of integers."""

    # Expressions. `scope`: names by what they stand for.

    def number(self, scope, depth=2):
        objects = scope["objects"]
        one = self.pick(*objects) if objects else None
        simple = [*scope["numbers"], "1", "2", "n"]
        if one is not None:
            simple += [f"{one}.i", f"{one}.i", f"len({one}.items)", f"{one}.inner.count"]
        if scope["inners"]:
            simple += [f"{self.pick(*scope['inners'])}.count"]
        if depth <= 0 or self.random.random() < 0.3:
            return self.pick(*simple)
        a, b = self.number(scope, depth - 1), self.number(scope, depth - 1)
        calls = []
        if one is not None:
            calls += [f"{one}.{self.pick(*self.methods)}({a})" for _ in range(2)] if self.methods else []
            calls += [f"{one}.inner.note({a})", f"{one}.inner.last()", f"{one}.double", f"(xs[{one}.i % len(xs)] if xs else 0)"]
            calls += [f"{self.pick(*scope['functions'])}({one}, {a})" for _ in range(2)] if scope["functions"] else []
        if scope["inners"]:
            calls += [f"{self.pick(*scope['inners'])}.{self.pick('note(1)', 'last()')}"]
        return self.pick(f"({a} {self.pick('+', '-', '*')} {b}) % 97", f"({a} if {self.condition(scope, depth - 1)} else {b})", f"max({a}, {b})", *calls)

    def condition(self, scope, depth=1):
        choices = [f"{self.number(scope, depth)} {self.pick('<', '==', '>=')} {self.number(scope, depth)}"] * 3
        if scope["objects"]:
            one = self.pick(*scope["objects"])
            choices += [f"{one}.link is None", f"{one}.link is not None and {one}.link.i > 2", f"len({one}.items) > 1", f"{one} is not None", f"{one}.flag",
                        f"1 in {one}.items"]
        return self.pick(*choices)

    def made(self, scope):
        return self.pick("Thing()", f"Thing({self.number(scope, 1)})", f"Thing({self.number(scope, 0)}, [n, 1])", "made(n)")

    # Statements.

    def block(self, scope, depth, indent, in_loop=False):
        scope = {key: list(value) for key, value in scope.items()}
        for _ in range(self.random.randint(1, 4)):
            self.statement(scope, depth, indent, in_loop)
        return scope

    def statement(self, scope, depth, indent, in_loop):
        pad, way = "    " * indent, self.random.randrange(26)
        one = self.pick(*scope["objects"]) if scope["objects"] else None
        if way < 2 or one is None:
            name = self.name("a")
            self.lines.append(f"{pad}{name} = {self.made(scope)}")
            scope["objects"].append(name)
        elif way < 6:
            value = self.number(scope)
            self.lines.append(pad + self.pick(f"{one}.i = {value}", f"{one}.i += {value}", f"{one}.f = {value} * 0.5", f"{one}.flag = {self.condition(scope)}",
                                              f"{one}.i, {one}.flag = {value}, not {one}.flag", f"{one}.inner.count -= {value}"))
        elif way < 8:
            self.lines.append(pad + self.pick(f"{one}.items.append({self.number(scope)})", f"{one}.items += [n, {one}.i]", f"{one}.items = [x for x in xs if x > 1]",
                                              f"{one}.inner.seen.append({self.number(scope, 1)})", f"{one}.items.sort()"))
        elif way == 8:
            self.lines.append(f"{pad}if {one}.items:\n{pad}    " + self.pick(f"s += {one}.items.pop()", f"{one}.items[0] = {self.number(scope, 1)}",
                                                                             f"{one}.items[-1] += 3", f"del {one}.items[0]", f"x = {one}.items.pop(0)"))
        elif way < 11 and self.methods:
            call = f"{one}.{self.pick(*self.methods)}({self.number(scope)})"
            self.lines.append(pad + self.pick(call, f"s += {call}", f"{one}.grow(1)", f"{one}.grow(2).grow({self.number(scope, 0)})", f"s -= {call} + {one}.i"))
        elif way < 14 and depth > 0:
            self.lines.append(f"{pad}if {self.condition(scope)}:")
            self.block(scope, depth - 1, indent + 1, in_loop)
            if self.random.random() < 0.5:
                self.lines.append(f"{pad}else:")
                self.block(scope, depth - 1, indent + 1, in_loop)
        elif way < 17 and depth > 0:
            name = self.name("k")
            over = self.pick("range(n)", "range(3)", "xs", f"{one}.items", f"enumerate({one}.items)", f"range(min({one}.i % 5, 4))")
            bound = f"{name}, {name}x" if over.startswith("enumerate") else name
            self.lines.append(f"{pad}for {bound} in {over}:")
            self.block({**scope, "numbers": [*scope["numbers"], name]}, depth - 1, indent + 1, True)
        elif way == 17 and scope["functions"]:
            self.lines.append(f"{pad}{self.pick(*scope['functions'])}({one}, {self.number(scope, 1)})")
        elif way == 18 and self.random.random() < 0.6:
            self.lines.append(pad + self.pick(f"kept.append({one})", f"{one}.link = {self.made(scope)}", f"{one}.inner = Inner({self.number(scope, 0)})",
                                              f"{one}.link = {self.pick(*scope['objects'])}", f"{one}.inner = made_inner({self.number(scope, 0)})"))
        elif way == 19 and self.random.random() < 0.5:
            name = self.name("b")
            other = self.pick(*scope["objects"])
            self.lines.append(pad + self.pick(f"{name} = {one}", f"{one}, {other} = {other}, {one}", f"{one} = {self.made(scope)}",
                                              f"{name} = {one} if {self.condition(scope)} else {other}", f"{one} = {other}"))
            if self.lines[-1].strip().startswith(name):
                scope["objects"].append(name)
        elif way == 20:
            method = self.pick(*self.methods) if self.methods else "grown"
            self.lines.append(pad + self.pick(f"s += sum([{one}.{method}(x) for x in xs])", f"kept_numbers = [{one}.i + x for x in xs]",
                                              f"s += sum(x + {one}.i for x in xs)", f"s += len([x for x in xs if {one}.{method}(x) > 3])"))
        elif way == 21 and in_loop:
            self.lines.append(f"{pad}if {self.condition(scope)}:\n{pad}    {self.pick('break', 'continue')}")
        elif way == 22 and self.random.random() < 0.3:
            name = self.name("c")
            self.lines.append(pad + self.pick(f"{name} = {one}.inner", f"{name} = Inner(n)", f"{name} = made_inner(n)"))
            scope["inners"].append(name)
        elif way == 23 and indent == 1 and self.random.random() < 0.6:
            self.function_inside(scope, one, pad)
        elif way == 24 and scope["inners"]:
            self.lines.append(f"{pad}s += {self.pick(*scope['inners'])}.note({self.number(scope, 1)})")
        else:
            self.lines.append(f"{pad}s = (s * 3 + {self.number(scope)}) % 1009")

    def function_inside(self, scope, one, pad):
        name = self.name("inside")
        if self.random.random() < 0.6:
            self.maker_inside(scope, name, pad)
            return
        body = self.pick(f"return {one}.i + k", f"{one}.i += k\n{pad}    return {one}.i", f"return {one}.grown(k)")
        self.lines.append(f"{pad}def {name}(k):\n{pad}    {body}")
        self.lines.append(f"{pad}s += {name}({self.number(scope, 0)})")

    def maker_inside(self, scope, name, pad):
        """A function inside with an object of its own, which it changes and may give back."""
        own = self.name("o")
        steps = [f"{own}.i += k", f"{own}.items.append({own}.i)", f"{own}.grow(k)", f"for x in range(k % 4):\n{pad}        {own}.items.append(x)",
                 f"if k > 2:\n{pad}        {own} = Thing(k)", f"{own}.inner.note(k)", f"{own}.items[:1] = [k, 2]", f"kept.append({own})",
                 f"if k > 0:\n{pad}        {own}.items.append({name}(k // 2 - 1){{}})", f"{own}.link = Thing(k)", f"while {own}.i < 4:\n{pad}        {own}.i += 2"]
        gives_object = self.random.random() < 0.3
        body = [f"{own} = {self.pick('Thing(k)', 'made(k)')}", *self.random.sample(steps, self.random.randint(2, 5)),
                f"return {own}" if gives_object else f"return {own}.{self.pick('i', 'double', 'inner.count')}"]
        self.lines.append(f"{pad}def {name}(k):")
        self.lines += [f"{pad}    {line.format('.i' if gives_object else '')}" for line in body]
        self.lines.append(f"{pad}s += {name}({self.number(scope, 0)}){'.i' if gives_object else ''}")

    # Classes and functions.

    def thing(self):
        more = self.pick("", "", "        self.grow(i)\n", "        for x in self.items:\n            self.i += x\n")
        self.lines.append(f"""class Thing:
    def __init__(self, i=1, items=None):
        self.i = i
        self.f = 0.5
        self.flag = False
        self.items = [] if items is None else {self.pick('items', '[*items]', 'list(items)')}
        self.inner = Inner({self.pick('0', 'i')})
        self.link = None
{more}
    def __repr__(self):
        return "Thing"

    def grow(self, k):
        self.i += k
        return self

    @property
    def double(self):
        return self.i * 2
""")
        bodies = {
            "grown": "        self.i += k\n        return self.i",
            "read": "        return self.i + len(self.items) - k",
            "push": "        self.items.append(k)\n        return len(self.items)",
            "halves": "        if k < 1:\n            return self.i\n        self.i += k\n        return self.halves(k // 2 - 1)",
            "both": "        a = self.grown(k)\n        b = self.read(1)\n        return (a * 3 + b) % 50",
            "early": "        if self.i > k:\n            self.flag = True\n            return 0\n        self.i += 1\n        self.f = self.f * 0.5\n        return k",
            "loops": "        for x in range(3):\n            if x > k:\n                return x\n            self.i += x\n            self.items.append(self.i)\n        return self.items[-1]",
            "notes": "        self.inner.note(k)\n        return self.inner.last() + self.i",
            "whiles": "        while self.i < k and self.i < 9:\n            self.grow(2)\n        return self.i",
            "swaps": "        self.i, k = k % 7, self.i\n        return k",
            "links": "        if self.link is None:\n            self.link = Thing(k)\n            return 1\n        return self.link.i"}
        self.methods = self.random.sample(sorted(bodies), 4)
        for name in sorted({*self.methods, "grown", "read"}):
            self.lines.append(f"    def {name}(self, k):\n{bodies[name]}\n")

    def functions(self):
        found = []
        for _ in range(self.random.randint(0, 2)):
            name = self.name("change")
            body = self.pick(f"    if k < 1:\n        return 0\n    a.i += k % 3\n    return {name}(a, k - 3) + 1",
                             "    a.grow(k)\n    a.items.append(k)\n    return len(a.items)",
                             "    b = Thing(k)\n    b.i += a.i\n    a.link = b\n    return b.i",
                             f"    if k <= 0:\n        return a.i\n    {name}(a, k // 2 - 1)\n    {name}(a, k // 2 - 2)\n    a.i += 1\n    return a.inner.note(1)",
                             "    return a.i + k",
                             "    if k > 2:\n        a.flag = not a.flag\n    else:\n        a = Thing(3)\n    return a.i",
                             "    if k > 50:\n        raise ValueError(str(a.i))\n    a.i = k\n    return a.inner.last()")
            self.lines.append(f"def {name}(a, k):\n{body}\n\n")
            found.append(name)
        return found

    def text(self):
        self.lines = ["g0 = 3\nlog = []\n\n", INNER]
        self.methods = []
        self.thing()
        self.lines.append("def made(k):\n    a = Thing(k)\n    a.i += 1\n    a.items.append(k)\n    return a\n\n\ndef made_inner(k):\n    return Inner(k)\n\n")
        scope = {"numbers": ["s"], "objects": [], "inners": [], "functions": self.functions()}
        self.lines.append("def main(n, xs):\n    s = 0\n    kept = []")
        scope = self.block(scope, 3, 1)
        scope = self.block(scope, 3, 1)
        given = [self.pick("{0}.i", "list({0}.items)", "{0}.f", "{0}.inner.seen[:]", "{0}.flag").format(self.pick(*scope["objects"]))
                 for _ in range(3) if scope["objects"]]
        if scope["objects"] and self.random.random() < 0.3:
            given.append(self.pick("kept", *scope["objects"]))
        self.lines.append(f"    return {', '.join(['s', *given, 'len(kept)'])}\n")
        return "\n".join(self.lines)


def arguments(seed):
    rng = random.Random(seed)
    return rng.randint(1, 5), [rng.randint(-3, 5) for _ in range(rng.randint(0, 5))]
