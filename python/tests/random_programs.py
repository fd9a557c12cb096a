"""Random programs of Python: recursion, dataclasses, optional fields, lists, loops that are left early, large integers,
prints."""

import random

from random_program_objects import Node
from random_text import RandomText


class Programs(RandomText):
    """Each has a function `main` of an integer, a list of integers, a tree and a float."""

    # Expressions, by the type that they have. `scope`: names by type.

    def integer(self, scope, depth):
        pick, one_of, ints = self.pick, self.one_of, scope["int"]
        if depth <= 0 or self.random.random() < 0.25:
            big = self.random.random() < 0.03
            return pick(*ints, *ints, str(self.random.randint(-9, 9)) if not big else str(self.random.choice([2**62, -2**63, 2**40])))
        a = lambda: self.integer(scope, depth - 1)  # noqa: E731
        kind = self.random.randrange(22)
        if kind < 5:
            return f"({a()} {pick('+', '-', '*', '+', '-')} {a()})"
        if kind == 5:
            divisor = one_of(a, lambda: str(self.random.choice([-3, -2, 2, 3, 5, 7])))
            return one_of(lambda: f"({a()} {pick('//', '%')} {divisor})", lambda: f"divmod({a()}, {divisor})[{pick(0, 1)}]")
        if kind == 6:
            return f"{pick('min', 'max')}({a()}, {a()})"
        if kind == 7:
            return f"({a()} if {self.boolean(scope, depth - 1)} else {a()})"
        if kind == 8:
            f = lambda: self.floating(scope, depth - 1)  # noqa: E731
            return one_of(lambda: f"abs({a()})", lambda: f"math.gcd({a()}, {a()})", lambda: f"math.{pick('floor', 'ceil', 'trunc')}({f()})",
                          lambda: f"round({f()})")
        if kind == 9:
            return f"(-{a()})"
        if kind == 10 and scope["list"]:
            xs = pick(*scope["list"])
            return one_of(lambda: f"len({xs})", lambda: f"sum({xs})", lambda: f"{xs}[{a()}]", lambda: f"max({xs})",
                          lambda: f"sum({self.integer({**scope, 'int': [*ints, 'q']}, depth - 1)} for q in {xs})")
        if kind == 11 and scope["node"]:
            n = pick(*scope["node"])
            return one_of(lambda: f"{n}.value", lambda: f"len({n}.tags)", lambda: f"({n}.note or {a()})",
                          lambda: f"({n}.left.value if {n}.left else {a()})")
        if kind == 12 and scope["calls"]:
            return self.call(scope, depth)
        if kind == 13:
            return f"int({self.floating(scope, depth - 1)})"
        if kind == 14 and scope["leaf"]:
            n = pick(*scope["leaf"])
            return one_of(lambda: f"{n}.scaled({a()})", lambda: f"{n}.twice", lambda: f"{n}.value")
        if kind == 15:
            return one_of(lambda: f"({a()} {pick('&', '|', '^')} {a()})",
                          lambda: f"({a()} {pick('<<', '>>')} {one_of(lambda: '1', lambda: '3', lambda: f'min({a()}, 500)')})")
        if kind == 16 and scope["functions"]:
            name = pick(*scope["functions"])
            return one_of(lambda: f"{name}({a()})", lambda: f"{name}({a()}, {a()})", lambda: f"{name}(q={a()}, k={a()})",
                          lambda: f"sum(map({name}, [{a()}, {a()}]))")
        if kind == 17:
            inner = {**scope, "int": [*ints, "p"]}
            return one_of(lambda: f"(lambda p: {self.integer(inner, depth - 1)})({a()})", lambda: f"max(*({a()}, {a()}))")
        if kind == 18 and scope["dict"]:
            d = pick(*scope["dict"])
            return one_of(lambda: f"{d}['a']", lambda: f"{d}['b']", lambda: f"{d}.get('c', {a()})", lambda: f"len({d})",
                          lambda: f"sum({d}.values())")
        if kind == 19 and scope["list"]:
            xs = pick(*scope["list"])
            key = lambda: self.integer({**scope, "int": [*ints, "p"]}, 1)  # noqa: E731
            pairs = lambda: one_of(lambda: f"pairwise({xs})", lambda: f"product({xs}, [1, {a()}])")  # noqa: E731
            return one_of(lambda: f"{xs}.count({a()})", lambda: f"min({xs}, key=lambda p: {key()}, default={a()})",
                          lambda: f"{xs}.index({a()})",
                          lambda: f"functools.reduce(lambda u, v: {self.integer({**scope, 'int': [*ints, 'u', 'v']}, 1)}, {xs}, {a()})",
                          lambda: f"len({xs}[{a()}:])", lambda: f"sum({xs}[:{a()}])", lambda: f"sum({xs}[{a()}::{pick(2, 3)}])",
                          lambda: f"sum(itertools.accumulate({xs}))",
                          lambda: f"sum(u {pick('-', '*')} v for u, v in itertools.{pairs()})",
                          lambda: f"max(len({xs}), {a()}, *{xs}[:0] or (1, 2))")
        if kind == 21 and scope.get("changers") and scope["made"]:
            return self.changing(scope, depth)
        if kind == 20 and scope.get("generators"):
            generated = self.generated(scope)
            return pick(f"sum({generated})", f"len(list({generated}))", f"max({generated})")
        return f"({a()} + {self.boolean(scope, depth - 1)})"

    def changing(self, scope, depth):
        """A call of a function that changes a list."""
        name, gives_list = self.pick(*scope["changers"])
        xs = self.pick(*scope["made"], *scope["made"], *scope["list"])
        call = f"{name}({xs}, abs({self.integer(scope, depth - 1)}) % 4)"
        return f"len({call})" if gives_list else call

    def generated(self, scope):
        """A call of a generator."""
        return f"{self.pick(*scope['generators'])}(abs({self.integer(scope, 1)}) % 4, {self.integer(scope, 1)})"

    def floating(self, scope, depth):
        floats = scope["float"]
        if depth <= 0 or self.random.random() < 0.3:
            return self.pick(*floats, *floats, str(self.random.choice([0.5, -1.25, 3.0, 0.0, 1e10])))
        a = lambda: self.floating(scope, depth - 1)  # noqa: E731
        i = lambda: self.integer(scope, depth - 1)  # noqa: E731
        return self.one_of(lambda: f"({a()} {self.pick('+', '-', '*', '/')} {self.one_of(a, i)})", lambda: f"({i()} / {i()})",
                           lambda: f"float({i()})", lambda: f"abs({a()})", lambda: f"({a()} {self.pick('//', '%')} {a()})",
                           lambda: f"max({a()}, {a()})", lambda: f"({a()} if {self.boolean(scope, depth - 1)} else {a()})",
                           lambda: self.mathematical(a, i))

    def mathematical(self, a, i):
        """A function of the module math. `a`, `i`: make operands that are floats, and integers."""
        one, two, safe = self.pick("cos", "exp", "log", "sinh", "sqrt", "asin"), self.pick("atan2", "fmod", "pow"), \
            self.pick("sin", "tanh", "erf")
        return self.one_of(lambda: f"math.{one}({a()})", lambda: f"math.{two}({a()}, {a()})", lambda: f"math.{safe}({i()})",
                           lambda: f"math.{safe}({a()})", lambda: f"math.log1p(abs({a()}))")

    def boolean(self, scope, depth):
        a = lambda: self.integer(scope, depth - 1)  # noqa: E731
        f = lambda: self.floating(scope, depth - 1)  # noqa: E731
        choices = [lambda: f"({a()} {self.pick('<', '<=', '==', '!=', '>', '>=')} {a()})", lambda: f"({f()} < {self.one_of(f, a)})"]
        if depth > 0:
            b = lambda: self.boolean(scope, depth - 1)  # noqa: E731
            choices += [lambda: f"({b()} and {b()})", lambda: f"({b()} or {b()})", lambda: f"(not {b()})",
                        lambda: f"({a()} < {a()} <= {a()})"]
        choices += [lambda n=n: self.about_node(scope, n) for n in scope["node"] for _ in range(3)]
        choices += [lambda xs=xs: self.about_list(scope, xs, a) for xs in scope["list"] for _ in range(3)]
        return self.one_of(*choices)

    def about_node(self, scope, n):
        """A truth about a node."""
        if self.random.random() < 0.06:
            return f"({self.pick(f'{n}.left', n)} {self.pick('==', '!=')} {self.pick(*scope['node'], f'{n}.right', *scope['leaf'])})"
        return self.pick(f"({n}.left is None)", f"({n}.right is not None)", f"({n}.note is None)")

    def about_list(self, scope, xs, a):
        """A truth about a list. `a`: makes an integer."""
        return self.one_of(lambda: f"bool({xs})", lambda: f"({a()} in {xs})", lambda: f"(len({xs}) {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.random.randint(0, 9)})",
                           lambda: f"any({self.boolean({**scope, 'list': [], 'int': ['q']}, 0)} for q in {xs})")

    def listing(self, scope, depth):
        inner = {**scope, "int": [*scope["int"], "q"]}
        xs = self.pick(*scope["list"]) if scope["list"] else "range(4)"
        return self.one_of(lambda: f"[{self.integer(inner, depth - 1)} for q in {xs}]",
                           lambda: f"[{self.integer(inner, depth - 1)} for q in range(abs({self.integer(scope, 1)}) % 6)]",
                           lambda: f"[{self.integer(inner, depth - 1)} for q in {xs} if {self.boolean(inner, depth - 1)}]",
                           lambda: f"[{self.integer(scope, depth - 1)}, {self.integer(scope, depth - 1)}]",
                           lambda: f"[{self.integer(inner, 1)} + k for k, q in enumerate({xs})]",
                           lambda: f"sorted({xs}, key=lambda q: {self.integer(inner, 1)}, reverse={self.boolean(scope, 1)})",
                           lambda: f"list(map(lambda q: {self.integer(inner, 1)}, {xs}))", lambda: f"sorted({xs})",
                           lambda: f"[*{xs}, {self.integer(scope, depth - 1)}]",
                           lambda: f"list(filter(lambda q: {self.boolean(inner, 1)}, {xs}))",
                           lambda: f"list({xs})[{self.integer(scope, 1)}:]", lambda: f"list({xs})[::{self.pick(-1, 2, -2)}]",
                           lambda: f"[p + q for p, q in zip({xs}, {self.pick(xs, *(scope['list'] or [xs]))}, strict={self.pick(True, False)})]",
                           lambda: f"list(itertools.chain({xs}, [{self.integer(scope, 1)}]))")

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
            kind = self.random.randrange(27)
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
                self._add(scope, "made", name)
                if self.random.random() < 0.5:
                    self.lines.append(f"{pad}{name}.append({self.integer(scope, depth)})")
                if self.random.random() < 0.3:
                    first, second = self.name("i"), self.name("i")
                    pair = f"[{self.integer({**scope, 'int': [*scope['int'], 'q']}, 1)} for q in (0, 1)]"
                    self.lines.append(f"{pad}{first}, {second} = {self.pick(pair, pair, name)}")
                    self._add(scope, "int", self.pick(first, second))
                elif self.random.random() < 0.1:
                    first, rest = self.name("i"), self.name("xs")
                    self.lines.append(f"{pad}{first}, *{rest} = {name}")
                    self._add(scope, "int", first)
                    self._add(scope, "list", rest)
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
            elif kind == 14 and depth > 0 and indent < 3:
                self.local_function(scope, depth, indent)
            elif kind == 15 and depth > 0 and indent < 4:
                self.match(scope, depth, indent, in_loop)
            elif kind == 16 and depth > 0 and indent < 4:
                self.attempt(scope, depth, indent, in_loop)
            elif kind == 17:
                name = self.name("d")
                self.lines.append(f"{pad}{name} = {{'a': {self.integer(scope, depth)}, 'b': {self.integer(scope, depth)}}}")
                if self.random.random() < 0.5:
                    self.lines.append(f"{pad}{name}[{self.pick(*'abc')!r}] {self.pick('=', '=', '+=')} {self.integer(scope, depth)}")
                self._add(scope, "dict", name)
            elif kind == 18 and self.random.random() < 0.25:
                self.queue(scope, depth, pad)
            elif kind == 18:
                name, item = self.name("xs"), self.name("i")
                self.lines.append(f"{pad}{name} = {self.listing(scope, depth)}")
                more = f"[{self.integer(scope, 1)}]"
                self.lines.append(pad + self.pick(f"{name} += {more}", f"{name} = {name} + {more}", f"{name} = {name}[{self.random.randint(-2, 2)}:] + {more}"))
                if self.random.random() < 0.2:
                    self.lines.append(f"{pad}{name + '_'} = {name} if {self.boolean(scope, 1)} else {self.listing(scope, 1)}")
                    self._add(scope, "list", name + "_")
                self.lines.append(f"{pad}{item} = {name}.pop({self.pick('', '0')})")
                self._add(scope, "int", item)
                self._add(scope, "list", name)
            elif kind == 19 and depth > 0 and indent < 4:
                name = self.name("h")
                manager = self.pick("Held({})", "scaled({})", "scaled({}, by=%s)" % self.integer(scope, 0))
                self.lines.append(f"{pad}with {manager.format(self.integer(scope, depth))} as {name}:")
                inner = {**scope, "int": [*scope["int"], f"{name}.value"], "prints": False}
                self.block(inner, depth - 1, indent + 1, in_loop)
            elif kind == 22 and scope.get("generators") and indent < 4:
                name = self.name("y")
                self.lines.append(f"{pad}for {name} in {self.generated(scope)}:")
                self.block({**scope, "int": [*scope["int"], name]}, depth - 1, indent + 1, True, 1)
            elif kind == 22 and scope.get("logs"):
                grown, i = self.pick(*scope["logs"]), self.integer(scope, depth)
                self.lines.append(f"{pad}{self.pick(f'{grown}.append({i})', f'{grown}.append({i})', f'{grown}.extend([1, {i}])')}")
            elif kind == 20 and (scope.get("prints") or self.random.random() < 0.03):
                self.lines.append(f"{pad}{self.printing(scope)}")
            elif kind == 23 and scope["made"]:
                self.lines.append(f"{pad}{self.change(scope)}")
            elif kind == 24 and depth > 0 and indent < 4 and scope["made"]:
                name, xs = self.name("k"), self.pick(*scope["made"])
                over = self.pick(f"range(len({xs}))", f"range(len({xs}))", f"{xs}[:4]", xs)
                self.lines.append(f"{pad}for {name} in {over}:")
                self.lines.append(f"{pad}    if {self.boolean(scope, 1)}:")
                self.lines.append(f"{pad}        {self.pick(f'{xs}[{name}] {self.pick(*self.operators)} {self.integer(scope, 1)}', self.change(scope))}")
                self.lines.append(f"{pad}    if len({xs}) > 9:")
                self.lines.append(f"{pad}        break")
            elif kind >= 25 and scope.get("changers") and scope["made"]:
                call = self.changing(scope, depth)
                name = self.name("i")
                self.lines.append(f"{pad}{self.pick(call, f'{name} = {call}', f'{name} = {call} if {self.boolean(scope, 1)} else 0')}")
                if self.lines[-1].strip().startswith(name):
                    self._add(scope, "int", name)
            elif kind == 21 and (scope["node"] or scope["leaf"]):
                self.lines.append(f"{pad}{self.setting(scope, depth)}")
            else:
                self.lines.append(f"{pad}pass")
        return scope

    operators = ("=", "+=", "-=", "*=")

    def queue(self, scope, depth, pad):
        """A list or a deque that grows at its end and is taken from its beginning."""
        q, item, kind = self.name("q"), self.name("i"), self.pick("{}", "list({})", "collections.deque({})")
        taken = f"{q}.pop(0)" if kind != "collections.deque({})" else f"{q}.popleft()"
        self.lines += [f"{pad}{q} = {kind.format(self.listing(scope, depth))}", f"{pad}{item} = 0"]
        self._add(scope, "int", item)
        more = self.pick(f"{q}.append({self.integer(scope, 1)})", f"{q} += [{self.integer(scope, 1)}, {item}]", f"{q}.extend({self.listing(scope, 1)})")
        self.lines += [f"{pad}for _ in range({self.random.randint(0, 5)}):", f"{pad}    {self.pick(f'if {self.boolean(scope, 1)}: ', '')}{more}",
                       f"{pad}    {self.pick(f'if {q}: ', f'if len({q}) > 2: ', f'if not {q}: break' + chr(10) + pad + '    ', '')}{item} += {taken}"]
        self.lines.append(f"{pad}{item} += {self.pick(f'len({q})', f'(1 if {q} else 2)')}")

    def change(self, scope):
        """A statement that changes a list."""
        xs, i = self.pick(*scope["made"]), self.integer(scope, 1)
        part = self.pick(f"{self.integer(scope, 0)}:{self.integer(scope, 0)}", f"{self.random.randint(-3, 3)}:", f":{self.random.randint(-3, 3)}", ":")
        return self.pick(f"{xs}[{part}] = {self.listing(scope, 1)}", f"{xs}[{part}] = ({i}, 7)", f"del {xs}[{part}]", f"{xs}[{self.random.randint(-2, 2)}] {self.pick(*self.operators)} {i}", f"{xs}.insert({self.integer(scope, 1)}, {i})",
                         f"{xs}.sort(reverse={self.boolean(scope, 0)})", f"{xs}.reverse()", f"{xs}.append({i})", f"del {xs}[{i}]",
                         f"{xs} += [{i}, 3]", f"{xs} = {xs} + [{i}, 3]", f"{xs} = {xs} + {self.listing(scope, 1)}", f"{xs} = {xs}[{self.random.randint(-2, 2)}:]",
                         f"{xs}.remove({i})", f"{xs}.clear()", f"{xs}[{i}] = {self.integer(scope, 1)}")

    def setting(self, scope, depth):
        """An attribute that is set, of an argument or of another object."""
        n, i = self.pick(*scope["node"], *scope["leaf"]), self.integer(scope, depth)
        if n in scope["leaf"]:
            return self.pick(f"{n}.value {self.pick('=', '+=')} {i}", f"{n}.weight = {self.floating(scope, 1)}")
        return self.pick(f"{n}.value {self.pick('=', '+=', '-=')} {i}", f"{n}.note = {self.pick(i, 'None')}", f"{n}.mark = {i}",
                         f"{n}.weight *= {self.floating(scope, 1)}", f"{n}.mark = {self.pick(i, self.floating(scope, 1), n)}",
                         f"{n}.left = {self.pick('None', *scope['node'])}", f"{n}.tags = {self.listing(scope, 1)}")

    def printing(self, scope):
        i, f = self.integer(scope, 2), self.floating(scope, 1)
        shown = self.pick(i, f, self.boolean(scope, 1), *scope["list"], *(f"{n}.note" for n in scope["node"]), f"({i}, {f})")
        return self.pick(f"print({i}, {shown})", f"print('at', {shown}, sep='-')", f"print({{}}, {i})".format('f"{' + f + ':.3f}"'),
                         'print(f"{' + i + ':>{1 + 3}}|{' + f + '!r}", end=";")', "print()", "print('here')")

    def local_function(self, scope, depth, indent):
        """It reads names of the function around, and may set some and change lists."""
        pad, name = "    " * indent, self.name("g")
        self.lines.append(f"{pad}def {name}(q, k={self.random.randint(-3, 3)}):")
        outside = [one for one in dict.fromkeys(scope["mutable"]) if one != "g0"]  # which is a variable of the module
        outside = self.random.sample(outside, min(2, len(outside))) if self.random.random() < 0.5 else []
        if outside:
            self.lines.append(f"{pad}    nonlocal {', '.join(outside)}")
        made = scope["made"] if self.random.random() < 0.4 else []
        inner = {**scope, "int": [*scope["int"], "q", "k"], "mutable": outside, "made": made, "prints": False}
        inner = self.block(inner, depth - 1, indent + 1, False)
        self.lines.append(f"{pad}    return {self.integer(inner, depth - 1)}")
        scope["functions"].append(name)

    def match(self, scope, depth, indent, in_loop):
        pad, v = "    " * indent, self.name("v")
        inner = {**scope, "int": [*scope["int"], v]}
        guard = f" if {self.boolean(inner, 1)}" if self.random.random() < 0.4 else ""
        if scope["node"] and self.random.random() < 0.5:
            subject = self.pick(*scope["node"])
            cases = [(f"Node({v}, left=None){guard}", inner), (f"Node(left=Node(value={v})){guard}", inner), ("None", scope)]
        elif scope["list"] and self.random.random() < 0.4:
            subject = self.pick(*scope["list"])
            cases = [("[]", scope), (f"[{v}]{guard}", inner), (f"[{v}, 1 | 2, *_]", inner)]
        elif self.random.random() < 0.4:
            subject = f"({self.integer(scope, 1)}, {self.integer(scope, 1)})"
            cases = [(f"(0, {v}){guard}", inner), (f"({v}, 1 | 2){guard}", inner)]
        else:
            subject = self.integer(scope, 1)
            cases = [("1 | 2 | -1", scope), ("0", scope), (f"{v}{guard or f' if {v} > 3'}", inner)]
        self.random.shuffle(cases)
        self.lines.append(f"{pad}match {subject}:")
        for pattern, own in [*cases[:self.random.randint(1, len(cases))], ("_", scope)]:
            self.lines.append(f"{pad}    case {pattern}:")
            self.block(own, depth - 1, indent + 2, in_loop, 1)

    def attempt(self, scope, depth, indent, in_loop):
        pad = "    " * indent
        self.lines.append(f"{pad}try:")
        scope = {**scope, "prints": False}
        self.block(scope, depth - 1, indent + 1, in_loop)
        has_handler = self.random.random() < 0.6
        if has_handler:
            self.lines.append(f"{pad}except {self.pick('ZeroDivisionError', 'IndexError', 'ValueError', '(ValueError, AttributeError)')}:")
            self.block(scope, depth - 1, indent + 1, in_loop, 1)
        if not has_handler or self.random.random() < 0.5:
            self.lines.append(f"{pad}finally:")
            names = scope["mutable"] or [self.name("i")]
            name = self.pick(*names)
            self.lines.append(f"{pad}    {name} = {self.integer(scope, 1)}")

    def _add(self, scope, kind, name):
        if name not in scope[kind]:
            scope[kind].append(name)
        if kind == "int" and name not in scope["mutable"]:
            scope["mutable"].append(name)

    def generator(self, name, functions):
        """A function that yields integers, also those of a call of itself."""
        scope = {"int": ["n", "a", "k"], "float": ["0.75"], "list": [], "node": [], "leaf": [], "mutable": [], "functions": [], "dict": [],
                 "made": [], "calls": functions}
        self.lines.append(f"def {name}(n, a):")
        self.lines.append(f"    for k in range(n + {self.random.randint(0, 2)}):")
        if self.random.random() < 0.5:
            self.lines.append(f"        if {self.boolean(scope, 1)}:")
            self.lines.append(f"            {self.pick('continue', 'break', 'return')}")
        self.lines.append(f"        yield {self.integer(scope, 2)}")
        scope["int"].remove("k")
        if self.random.random() < 0.5:
            self.lines.append("    if n > 0:")
            self.lines.append(f"        yield from {name}(n - 1, {self.integer(scope, 1)})")
        if self.random.random() < 0.3:
            self.lines.append(f"    yield {self.integer(scope, 2)}")
        self.lines.append("")
        self.lines.append("")

    def changer(self, name, functions):
        """A function that changes a list and calls itself; whether it gives the list."""
        gives_list = self.random.random() < 0.3
        scope = {"int": ["n"], "float": ["0.5"], "list": ["ys"], "node": [], "leaf": [], "mutable": [], "functions": [], "dict": [],
                 "made": ["ys"], "calls": functions, "changers": []}
        self.lines.append(f"def {name}(ys, n):")
        self.lines.append("    if n > 0:")
        again = f"{name}({self.pick('ys', 'ys', 'ys', 'ys[1:]')}, n - 1)"
        self.lines.append(f"        {self.pick(again, f'm = {again}', f'{again}; {again}', f'[{again} for _ in range(n)]')}")
        self.lines.append(f"    {self.change(scope)}")
        before = len(self.lines)
        scope = self.block(scope, 2, 1, False)
        if gives_list:
            self.lines[before:] = [line if not line.strip().startswith("return") else line[:len(line) - len(line.lstrip())] + "return ys"
                                   for line in self.lines[before:]]
        self.lines.append(f"    {'return ys' if gives_list else self.pick(f'return {self.integer(scope, 2)}', f'return {self.integer(scope, 2)}')}\n\n")
        return name, gives_list

    def declare(self, scope):
        """A function may set a variable of the module, or read it."""
        kind = self.random.randrange(5)
        if kind == 0:
            self.lines.append("    global g0")
            scope["mutable"] = [*scope["mutable"], "g0"]
        if kind < 2:
            scope["int"] = [*scope["int"], "g0"]

    def text(self):
        self.lines = ["import collections\nimport functools\nimport itertools\nimport math\n\nfrom random_program_objects import Held, Leaf, Node, scaled\n\ng0 = 3\nlog = []\n\n"]
        functions = []
        for number in range(self.random.randint(0, 2)):
            shape = self.pick("tree", "number")
            name = f"f{number}"
            scope = {"int": ["a"], "float": ["0.25"], "list": [], "node": [], "leaf": [], "mutable": [],
                     "functions": [], "dict": [], "made": [], "calls": [*functions, (name, shape)], "own": [name], "prints": self.random.random() < 0.3,
                     "logs": ["log"] if self.random.random() < 0.2 else []}
            if shape == "tree":
                self.lines.append(f"def {name}(t, a):")
                scope["node"] = ["t"]
            else:
                self.lines.append(f"def {name}(n, a):")
                scope["int"] = ["n", "a"]
                scope["counter"] = "n"
            self.declare(scope)
            scope = self.block(scope, 2, 1, False)
            self.lines.append(f"    return {self.integer(scope, 2)}\n\n")
            functions.append((name, shape))
        generators = [f"y{number}" for number in range(self.random.randint(0, 2))]
        for name in generators:
            self.generator(name, functions)
        changers = [self.changer(f"c{number}", functions) for number in range(self.random.randint(0, 2))]
        self.lines.append("def main(n, xs, t, x):")
        scope = {"int": ["n"], "float": ["x"], "list": ["xs"], "node": ["t"], "leaf": [], "mutable": [],
                 "functions": [], "dict": [], "made": [], "calls": functions, "prints": True, "generators": generators,
                 "changers": changers, "logs": ["log"] if self.random.random() < 0.3 else []}
        self.declare(scope)
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
    if rng.random() < 0.2:
        root.right = root.left  # one object on two paths
    number = rng.choice([rng.randint(-9, 9), rng.randint(0, 30), 2**61 + rng.randint(0, 9)])
    return number, [rng.randint(-9, 9) for _ in range(size)], root, rng.choice([0.0, rng.uniform(-3, 3), 1e9])
