"""Random programs of Python that look up and set elements of lists of numbers, and of lists of such lists, in loops and functions."""

import random

from random_text import RandomText

ELEMENTS = {"int": ["0", "1", "i", "n - 3"], "float": ["0.5", "1.0", "float(i)"], "bool": ["True", "False", "i % 2 == 0"], "pair": ["(0, i)", "(i, 2)"]}


def as_integer(kind, one):
    return f"{one}[1]" if kind == "pair" else f"int({one})"


class Programs(RandomText):
    """Each has a function `main` of an integer and two lists of integers."""

    # Expressions. `scope`: names by what they stand for; of lists by the kind of their elements, of tables so too.

    def index(self, scope, xs):
        i = self.pick(*scope["index"], *scope["index"], "0")
        if self.random.random() < 0.1:
            return f"{self.element(scope, 'int')} % len({xs})"
        inside = f"{i} % len({xs})"
        return self.pick(inside, inside, inside, f"({i} + 1) % len({xs})", f"{i} // 2", f"-1 - {inside}", "0", i, f"{i} - 1")

    def element(self, scope, kind):
        if scope["table"][kind] and self.random.random() < 0.4:
            t = self.pick(*scope["table"][kind])
            row = self.index(scope, t)
            return f"{t}[{row}][{self.index(scope, f'{t}[0]')}]"
        xs = self.pick(*scope["list"][kind])
        return f"{xs}[{self.index(scope, xs)}]"

    def number(self, scope, kind, depth):
        if kind == "bool":
            return self.condition(scope, depth)
        if kind == "pair":
            return self.pair(scope, depth)
        has_lists = scope["list"][kind] or scope["table"][kind]
        simple = [self.element(scope, kind)] * 3 if has_lists and scope["list"][kind] else []
        simple += ["1", self.pick(*scope["index"], *scope["values"])] if kind == "int" else ["0.25", "float(n)"]
        if depth <= 0 or self.random.random() < 0.3:
            return self.pick(*simple)
        a, b = self.number(scope, kind, depth - 1), self.number(scope, kind, depth - 1)
        whole = [f"len({self.pick(*scope['list'][kind])})", f"sum({self.pick(*scope['list'][kind])})"] if scope["list"][kind] and kind == "int" else []
        calls = [self.pick(*scope["readers"]) + f"({self.pick(*scope['list'][kind])}, {self.pick(*scope['index'])})"] \
            if scope["readers"] and scope["list"][kind] and kind == "int" else []
        return self.pick(f"({a} {self.pick('+', '-', '*')} {b})", f"max({a}, {b})", f"({a} if {self.condition(scope, 0)} else {b})", *whole, *calls, *calls)

    def pair(self, scope, depth):
        both = f"({self.number(scope, 'int', depth - 1)}, {self.number(scope, 'int', 0)})"
        if not scope["list"]["pair"]:
            return both
        one = self.element(scope, "pair")
        if depth <= 0:
            return one
        return self.pick(both, one, f"{self.pick('max', 'min')}({one}, {both})", f"({one} if {self.condition(scope, 0)} else {both})")

    def condition(self, scope, depth):
        choices = [f"{self.number(scope, 'int', depth - 1)} {self.pick('<', '==', '>=')} {self.number(scope, 'int', depth - 1)}"]
        if scope["list"]["bool"]:
            choices += [self.element(scope, "bool")] * 2
        if scope["list"]["pair"]:
            choices += [f"{self.pair(scope, 0)} {self.pick('<', '==', '>=')} {self.pair(scope, 0)}"]
        if scope["list"]["int"] and self.random.random() < 0.3:
            xs = self.pick(*scope["list"]["int"])
            choices += [f"bool({xs})", f"1 in {xs}", f"len({xs}) > 2"]
            if len(scope["list"]["int"]) > 1:
                choices += [f"{xs} is {self.pick(*scope['list']['int'])}", f"{xs} == {self.pick(*scope['list']['int'])}"]
        return self.pick(*choices)

    def made(self, scope, kind):
        """A new list, of six elements or so."""
        size = self.pick("n", "n", "6", "(n + 2)")
        value = self.pick(*{"int": ("0", "7"), "float": ("0.5", "1.0"), "bool": ("False", "True"), "pair": ("(0, 1)", "(n, 0)")}[kind])
        choices = [f"[{value}] * {size}", f"[{value}] * {size}", f"[{self.pick(*ELEMENTS[kind])} for i in range({size})]"]
        if scope["list"][kind]:
            xs = self.pick(*scope["list"][kind])
            choices += [f"list({xs})", f"{xs}[:]", f"{xs} + {xs}", f"[{xs}[i] for i in range(len({xs}))]"]
        return self.pick(*choices)

    def made_table(self, scope, kind):
        row = self.made({**scope, "list": {key: [] for key in ELEMENTS}}, kind)
        ragged = f"[{self.pick(*ELEMENTS[kind]).replace('i', 'r')}] * (r + 1)" if kind in ("int", "bool") else f"[{ELEMENTS[kind][0].replace('i', 'r')}] * (r + 1)"
        if scope["table"][kind] and self.random.random() < 0.4:
            t = self.pick(*scope["table"][kind])
            return self.pick(f"[{row}] + {t}", f"{t} + [{row}]", f"{t}[1:] + [{row}]", f"{t} + {t}")
        return self.pick(f"[{row} for r in range({self.pick('n', '3')})]", f"[{ragged} for r in range(n)]", f"[{row}, {row}, {row}]",
                         f"[{row} for r in range(n)]")

    # Statements.

    def block(self, scope, depth, indent, in_loop=False):
        scope = {key: list(value) if isinstance(value, list) else {kind: list(names) for kind, names in value.items()} for key, value in scope.items()}
        pad = "    " * indent
        for _ in range(self.random.randint(1, 4)):
            kind = self.pick("int", "int", "float", "bool", "pair")
            way = self.random.randrange(22)
            xs = self.pick(*scope["list"][kind]) if scope["list"][kind] else None
            if way < 2:
                name = self.name("xs")
                self.lines.append(f"{pad}{name} = {self.made(scope, kind)}")
                scope["list"][kind].append(name)
                scope["own"].append(name)
            elif way == 2:
                name = self.name("t")
                self.lines.append(f"{pad}{name} = {self.made_table(scope, kind)}")
                scope["table"][kind].append(name)
            elif way < 7 and depth > 0:
                name = self.name("k")
                over = self.pick("range(n)", "range(n)", f"range(len({xs}))" if xs else "range(3)", "range(1, n)", "range(n - 1, -1, -1)")
                inner = {**scope, "index": [*scope["index"], name, name]}
                if xs and self.random.random() < 0.3:
                    item = self.name("x")
                    over, name = self.pick((f"enumerate({xs})", f"{name}, {item}"), (xs, item))
                    inner = {**scope, "index": [*scope["index"], *name.split(", ")[:-1]], "values": [*scope["values"], as_integer(kind, item)]}
                self.lines.append(f"{pad}for {name} in {over}:")
                self.block(inner, depth - 1, indent + 1, True)
            elif way < 10 and (xs in scope["own"] or xs and self.random.random() < 0.1):
                how = self.pick("=", "=", "+=" if kind in ("int", "float") else "=")
                self.lines.append(f"{pad}{xs}[{self.index(scope, xs)}] {how} {self.number(scope, kind, 2)}")
            elif way < 12 and scope["table"][kind]:
                t = self.pick(*scope["table"][kind])
                how = self.pick("=", "=", "+=" if kind in ("int", "float") else "=")
                self.lines.append(f"{pad}{t}[{self.index(scope, t)}][{self.index(scope, f'{t}[0]')}] {how} {self.number(scope, kind, 1)}")
            elif way == 12:
                self.lines.append(f"{pad}s = (s * 3 + {self.number(scope, 'int', 2)}) % 1009")
            elif way == 13 and depth > 0:
                self.lines.append(f"{pad}if {self.condition(scope, 1)}:")
                self.block(scope, depth - 1, indent + 1, in_loop)
            elif way == 14 and len(scope["list"][kind]) > 1:
                ys = self.pick(*scope["list"][kind])
                self.lines.append(pad + self.pick(f"{xs}, {ys} = {ys}, {xs}", f"{xs} = {ys}", f"{xs} = {ys} if {self.condition(scope, 0)} else {xs}"))
            elif way == 15 and xs in scope["own"] and self.random.random() < 0.3:
                self.lines.append(pad + self.pick(f"{xs}.reverse()", f"{xs} = {xs}[1:]", f"kept.append({xs})", f"{xs}.sort()", f"del {xs}[0]"))
            elif way == 15 and xs in scope["own"]:
                self.lines += [pad + line for line in self.change_of_length(scope, xs, kind)]
            elif way == 20 and xs in scope["own"] and self.random.random() < 0.3:
                one = self.number(scope, kind, 1)
                self.lines += [pad + line for line in self.pick(
                    [f"heapq.heapify({xs})"], [f"heapq.heappush({xs}, {one})"], [f"s += {as_integer(kind, f'heapq.heappushpop({xs}, {one})')}"],
                    [f"if len({xs}) > 3:", f"    s += {as_integer(kind, f'heapq.heappop({xs})')}"], [f"{xs}[-1] = heapq.heapreplace({xs}, {one})"],
                    [f"s += bisect.bisect({xs}, {one})"], [f"s += bisect.bisect_left({xs}, {one}, 1)"])]
            elif way == 21 and scope["table"][kind]:
                self.lines += [f"{pad}for x in {self.pick(*scope['table'][kind])}[{self.index(scope, 'ys')}]:",
                               f"{pad}    s += {as_integer(kind, 'x')} - {self.element(scope, 'int')}"]
            elif way >= 20:
                self.grown_list(scope, kind, pad)
            elif way == 16 and scope["changers"] and xs in scope["own"]:
                self.lines.append(f"{pad}{self.pick(*scope['changers'])}({xs}, {self.pick(*scope['index'])})")
            elif way == 17 and scope["table"][kind] and self.random.random() < 0.5:
                t, name = self.pick(*scope["table"][kind]), self.name("row")
                self.lines.append(pad + self.pick(f"{name} = {t}[{self.index(scope, t)}]", f"{name} = {t}[0]", f"s += sum([len({name}) for {name} in {t}])"))
                if self.lines[-1].strip().startswith(name):
                    scope["list"][kind].append(name)
            elif way == 18 and indent == 1 and xs in scope["own"]:
                scope["inside"].append(self.function_inside(xs, pad))
            elif way == 19 and scope["inside"]:
                name = self.pick(*scope["inside"])
                self.lines.append(f"{pad}s += {name}({self.pick(*scope['index'])})")
            elif way == 18 and in_loop:
                self.lines.append(f"{pad}if {self.condition(scope, 0)}:\n{pad}    {self.pick('break', 'continue')}")
            else:
                self.lines.append(f"{pad}s += {self.number(scope, 'int', 1)}")
        return scope

    def change_of_length(self, scope, xs, kind):
        one, more = self.number(scope, kind, 1), self.number(scope, kind, 0)
        return self.pick([f"{xs}.append({one})"], [f"{xs}.append({one})"], [f"{xs} += [{one}, {more}]"], [f"{xs}.extend([{one}])"], [f"{xs} = {xs} + [{one}]"],
                         [f"{xs}.extend({xs}[2:])"], [f"if len({xs}) > 3:", f"    s += {as_integer(kind, f'{xs}.pop()')}"], [f"while len({xs}) > 4:", f"    {xs}.pop()"],
                         [f"{xs}[len({xs}) - 1] = {xs}.pop()" if self.random.random() < 0.1 else f"{xs}[-1] = {one}"],
                         [f"{xs}.clear()", f"{xs} += [{one}] * 5"])

    def grown_list(self, scope, kind, pad):
        """A list that begins empty, or with one element, and grows in a loop that looks elements of it up."""
        xs, k, before = self.name("xs"), self.name("k"), self.pick("[]", "[]", f"[{self.number(scope, kind, 0)}]")
        scope["list"][kind].append(xs)
        scope["own"].append(xs)
        self.lines += [f"{pad}{xs} = {before}", f"{pad}for {k} in range(n + 4):"]
        inner = {**scope, "index": [*scope["index"], k, k]}
        self.lines.append(f"{pad}    {xs}.append({self.number(scope, kind, 1)})")
        for _ in range(self.random.randint(0, 2)):
            lines = self.pick([f"{xs}[{self.index(inner, xs)}] = {self.number(inner, kind, 1)}"], self.change_of_length(inner, xs, kind),
                              [f"for x in {xs}:", f"    s += {as_integer(kind, 'x')} * {k}"], [f"if {self.condition(inner, 1)}:", f"    {xs}.append({self.number(inner, kind, 1)})"])
            self.lines += [f"{pad}    {line}" for line in lines]

    def function_inside(self, xs, pad):
        name = self.name("inside")
        self.lines.append(f"{pad}def {name}(i):")
        body = self.pick(f"{xs}[i % len({xs})] = {xs}[0]", f"{xs}[i % len({xs})] = {xs}[-1]\n{pad}    ys = {xs}\n{pad}    ys[0] = ys[i % len(ys)]",
                         f"nonlocal {xs}\n{pad}    {xs} = list({xs})\n{pad}    {xs}[0] = {xs}[i % len({xs})]", "pass")
        self.lines.append(f"{pad}    {body}\n{pad}    return len({xs}) + i")
        return name

    def functions(self):
        readers, changers = [], []
        for _ in range(self.random.randint(0, 2)):
            name = self.name("read")
            body = self.pick("    s = 0\n    for i in range(len(xs)):\n        s += xs[i] * (i + at)\n    return s",
                             f"    return xs[at] if at >= len(xs) - 1 else xs[at] {self.pick('+', '-')} {name}(xs, at + 1)",
                             "    while at > 0 and xs[at - 1] < 3:\n        at -= 1\n    return at",
                             "    return xs[at] + len(xs) + max(xs)")
            self.lines.append(f"def {name}(xs, at):\n{body}\n\n")
            readers.append(name)
        for _ in range(self.random.randint(0, 2)):
            name = self.name("change")
            body = self.pick("    for i in range(len(xs) - 1):\n        xs[i], xs[i + 1] = xs[i + 1], xs[i]",
                             f"    xs[at], xs[-1] = xs[-1], xs[at]\n    if at > 0:\n        {name}(xs, at - 1)",
                             f"    if at < len(xs) and at > 0:\n        xs[at] = xs[at - 1]\n        {name}(xs, at - 1)",
                             "    xs[at] = xs[0]\n    xs.append(xs[at])",
                             "    xs.append(xs[at])\n    for i in range(len(xs) - 1, 0, -1):\n        if xs[i // 2] > xs[i]:\n            xs[i] = xs[i // 2]",
                             "    while len(xs) > 5:\n        xs[at] = xs.pop()",
                             "    xs[at] = xs[0]\n    ys = xs\n    for i in range(len(ys)):\n        ys[i] = xs[at]",
                             "    ys = xs\n    xs = [x for x in ys]\n    xs[at] = ys[0]")
            self.lines.append(f"def {name}(xs, at):\n{body}\n\n")
            changers.append(name)
        return readers, changers

    def text(self):
        self.lines = ["import bisect\nimport heapq\n\ng0 = 3\nlog = []\n\n"]
        readers, changers = self.functions()
        scope = {"index": ["n", "2"], "list": {"int": ["xs", "ys"], "float": [], "bool": [], "pair": []}, "table": {kind: [] for kind in ELEMENTS},
                 "own": [], "values": [], "inside": [], "readers": readers, "changers": changers}
        self.lines.append("def main(n, xs, ys):\n    s = 0\n    kept = []")
        scope = self.block(scope, 3, 1)
        scope = self.block(scope, 3, 1)
        given = [name for kinds in (scope["list"], scope["table"]) for names in kinds.values() for name in names]
        self.lines.append(f"    return {', '.join(['s', *self.random.sample(given, min(6, len(given)))])}\n")
        return "\n".join(self.lines)


def arguments(seed):
    rng = random.Random(seed)
    least = rng.choice((1, 5, 5, 5))  # where a list that is given back on several paths is empty, it need not be the same one
    return rng.randint(1, 5), [rng.randint(-3, 5) for _ in range(rng.randint(least, 7))], [rng.randint(0, 4) for _ in range(rng.randint(5, 7))]
