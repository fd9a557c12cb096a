"""Random programs of Python with dicts and sets whose keys the run tells, in loops, in functions that they are handed to, and in functions
inside."""

import random

from random_text import RandomText

KEYS = {"int": ["i % 4", "i * 8", "n - i", "1", "xs[i % len(xs)]"], "pair": ["(i, n)", "(i % 3, i)", "(1, 1)", "(xs[0], i % 2)"]}
ITEMS = {"int": ["i", "n", "7", "s % 5"], "float": ["0.5", "float(i)", "n / 4"], "maybe": ["None", "i", "n"],
         "list": ["[i, n]", "[s % 3]"], "node": ["Leaf(i)", "t"]}


class Programs(RandomText):
    """Each has a function `main` of an integer, a list of integers, an object and two dicts."""

    # Expressions. `scope`: names of dicts and sets by what they stand for, as ("dict", "int", "float").

    def number(self, scope, depth=1):
        choices = ["i", "n", "s", "1"]
        if depth > 0:
            choices += [self.looked_up(scope)] * 4 + [f"({self.number(scope, 0)} + {self.looked_up(scope)})"]
        return self.pick(*choices)

    def key(self, kind):
        return self.pick(*KEYS[kind])

    def of_kind(self, scope, *wanted):
        return [(name, kinds) for name, kinds in scope["names"] if all(a in (None, b) for a, b in zip(wanted, kinds))]

    def as_number(self, item, kind):
        return {"int": item, "float": f"int({item})", "maybe": f"({item} or 0)", "list": f"len({item})", "node": f"{item}.value"}[kind]

    def looked_up(self, scope):
        if not scope["names"]:
            return "i"
        name, kinds = self.pick(*scope["names"])
        key = self.key(kinds[1])
        if kinds[0] == "set":
            return self.pick(f"len({name})", f"int({key} in {name})", f"(3 if {key} not in {name} else 4)",
                             *([f"max({name} | {{0}})", f"sum(sorted({name}))"] if kinds[1] == "int" else []))
        item = self.as_number(f"{name}[{key}]", kinds[2])
        choices = [f"len({name})", f"({item} if {key} in {name} else -1)", f"int({key} in {name})"]
        if kinds[2] in ("int", "float"):
            choices += [f"int({name}.get({key}, 0))", f"int(sum({name}.values()))", f"int(sum([v for v in {name}.values()]))"]
        if kinds[1] == "int":
            choices += [f"sum(k for k in {name})", f"sum([k * j for j, k in enumerate({name})])", f"sum(list({name}.keys()))"]
        if self.random.random() < 0.1:
            choices.append(item)  # which may raise an error
        return self.pick(*choices)

    def condition(self, scope):
        choices = [f"{self.number(scope)} {self.pick('<', '==', '>')} {self.number(scope)}"]
        for name, kinds in scope["names"]:
            choices += [f"{self.key(kinds[1])} in {name}", f"{name}", f"not {name}"]
            same = [other for other, others in self.of_kind(scope, *kinds) if kinds[0] == "set" or kinds[2] in ("int", "float", "maybe")]
            choices += [f"{name} {self.pick('==', '!=') if kinds[0] == 'dict' else self.pick('==', '<=', '<', '>=')} {self.pick(*same)}"] if same else []
        return self.pick(*choices)

    def made(self, scope, kinds):
        """A new dict or set."""
        key = self.key(kinds[1])
        if kinds[0] == "set":
            choices = ["set()", f"{{{key}}}", f"{{{self.key(kinds[1])} for i in range(n)}}"]
            choices += ["set(xs)"] if kinds[1] == "int" else []
            same = [name for name, _ in self.of_kind(scope, *kinds)]
            if same:
                choices += [f"{self.pick(*same)} {self.pick('|', '&', '-', '^')} {self.pick(*same)}", f"{self.pick(*same)}.copy()"]
            return self.pick(*choices)
        item = self.pick(*ITEMS[kinds[2]])
        choices = ["{}", "{}", f"{{{key}: {item}}}", f"{{{self.key(kinds[1])}: {self.pick(*ITEMS[kinds[2]])} for i in range(n)}}"]
        for name, _ in self.of_kind(scope, *kinds):
            choices += [f"{{**{name}, {key}: {item}}}", f"{name}.copy()", f"dict({name})", f"{{k: v for k, v in {name}.items()}}",
                        f"dict([(k, v) for k, v in {name}.items()])", f"{name} | {name}"]
        return self.pick(*choices)

    # Statements.

    def change(self, scope, name, kinds):
        key = self.key(kinds[1])
        if kinds[0] == "set":
            return self.pick(f"{name}.add({key})", f"{name}.add({key})", f"{name}.discard({key})", f"{name} |= {{{key}}}",
                             f"{name}.update([{key}])", f"if {key} in {name}:\n        {name}.remove({key})")
        item = self.pick(*ITEMS[kinds[2]], *([f"{name}.get({key}, 0) + 1"] * 3 if kinds[2] in ("int", "float") else []))
        choices = [f"{name}[{key}] = {item}"] * 4
        choices += [f"{name}.pop({key}, {self.pick(*ITEMS[kinds[2]])})", f"{name}.setdefault({key}, {item})", f"{name}.clear()",
                    f"if {key} in {name}:\n        del {name}[{key}]", f"{name}.update({{{key}: {item}}})"]
        if kinds[2] in ("int", "float"):
            choices += [f"if {key} in {name}:\n        {name}[{key}] += 1", f"s += int({name}.setdefault({key}, {item}))",
                        f"s += int({name}.pop({key}, 2))"]
        return self.pick(*choices)

    def block(self, scope, depth, indent, in_loop=False):
        scope = {**scope, "names": list(scope["names"])}
        pad = "    " * indent
        for _ in range(self.random.randint(2, 4)):
            way = self.random.randrange(20)
            own = [one for one in scope["names"] if one[0] not in ("g", "h") or way > 9 and self.random.random() < 0.2]
            name, kinds = self.pick(*own) if own else (None, None)
            if way < 3 or name is None:
                kinds = (self.pick("dict", "dict", "set"), self.pick("int", "int", "pair"), self.pick(*ITEMS))
                name = self.name("d" if kinds[0] == "dict" else "u")
                self.lines.append(f"{pad}{name} = {self.made(scope, kinds)}")
                scope["names"].append((name, kinds))
            elif way < 9:
                self.lines.append(pad + self.change(scope, name, kinds).replace("\n    ", f"\n{pad}"))
            elif way < 12 and depth > 0:
                over = self.pick("range(n)", "range(n + 2)", "xs", "range(3)")
                if kinds[0] == "dict" and kinds[1] == "int" and self.random.random() < 0.4:
                    over = self.pick(f"list({name})", name, f"sorted({name})")
                elif kinds == ("set", "int", kinds[2]) and self.random.random() < 0.3:
                    over = f"sorted({name})"
                self.lines.append(f"{pad}for i in {over}:")
                self.block(scope, depth - 1, indent + 1, True)
            elif way == 12 and depth > 0:
                self.lines.append(f"{pad}if {self.condition(scope)}:")
                self.block(scope, depth - 1, indent + 1, in_loop)
            elif way == 13:
                others = [other for other, others in self.of_kind(scope, *kinds)]
                other = self.pick(*others)
                self.lines.append(pad + self.pick(f"{name}, {other} = {other}, {name}", f"{name} = {other}", f"{name} = {self.made(scope, kinds)}",
                                                  f"{name} = {other} if {self.condition(scope)} else {name}"))
            elif way == 14 and scope["changers"].get(kinds):
                self.lines.append(f"{pad}s += {self.pick(*scope['changers'][kinds])}({name}, {self.pick('i', 'n', '3')}, xs)")
            elif way == 15 and indent == 1:
                scope["inside"].append(self.function_inside(scope, name, kinds, pad))
            elif way == 16 and scope["inside"]:
                self.lines.append(f"{pad}s += {self.pick(*scope['inside'])}({self.pick('i', 'n', '2')})")
            elif way == 17 and self.random.random() < 0.3:
                self.lines.append(f"{pad}kept.append({name})")
            elif way == 18 and in_loop:
                self.lines.append(f"{pad}if {self.condition(scope)}:\n{pad}    {self.pick('break', 'continue')}")
            else:
                self.lines.append(f"{pad}s = (s + {self.number(scope)}) % 1009")
        return scope

    def function_inside(self, scope, name, kinds, pad):
        inside = self.name("inside")
        if kinds == ("dict", "int", "int") and self.random.random() < 0.7:
            body = [f"if i in {name}:", f"    return {name}[i]", "if i < 2:", "    return 1",
                    f"{name}[i] = {inside}(i - 1) + {inside}(i - 2)", f"return {name}[i]"]
        elif self.random.random() < 0.3:
            body = ["if i < 2:", "    return i", f"return {inside}(i - 1) + {inside}(i - 2) + len({name})"]
            self.lines.append(f"{pad}@functools.cache")
        else:
            body = [*self.change(scope, name, kinds).replace("s +=", "_ =").replace("s % ", "i % ").replace("\n        ", "\n    ").split("\n"),
                    f"return len({name}) + i"]
        self.lines.append(f"{pad}def {inside}(i):")
        self.lines += [f"{pad}    {line}" for line in body]
        return inside

    def functions(self):
        changers = {}
        for _ in range(self.random.randint(0, 3)):
            kinds = (self.pick("dict", "dict", "set"), self.pick("int", "pair"), self.pick(*ITEMS))
            name = self.name("change")
            self.lines.append(f"def {name}(d, i, xs):\n    s, n, t = 1, 2, Leaf(5)")
            for _ in range(self.random.randint(1, 3)):
                self.lines.append("    " + self.change({"names": []}, "d", kinds))
            if self.random.random() < 0.5:
                self.lines.append(f"    if i > 0:\n        s += {name}(d, i - 1, xs)")
            self.lines.append("    return s + len(d)\n\n")
            changers.setdefault(kinds, []).append(name)
        return changers

    def text(self):
        self.lines = ["import functools\n\nfrom random_program_objects import Leaf\n\ng0 = 3\nlog = []\n\n"]
        scope = {"names": [], "changers": self.functions(), "inside": []}
        self.lines.append("def main(n, xs, t, g, h):\n    s = i = 0\n    kept = []")
        if self.random.random() < 0.5:  # dicts of the caller
            scope["names"] += [("g", ("dict", "int", "int")), ("h", ("dict", "int", "list"))][:self.random.randint(1, 2)]
        scope = self.block(scope, 2, 1)
        scope = self.block(scope, 3, 1)
        names = [name for name, _ in scope["names"] if name not in ("g", "h")]
        self.lines.append(f"    return {', '.join(['s', 'len(kept)', *self.random.sample(names, min(3, len(names)))])}\n")
        return "\n".join(self.lines)


def arguments(seed):
    from random_program_objects import Leaf
    rng = random.Random(seed)
    g, h = ({rng.randint(-2, 9): one for _ in range(rng.randint(0, 5))} for one in (rng.randint(0, 9), [1, rng.randint(0, 9)]))
    return rng.randint(1, 5), [rng.randint(-3, 5) for _ in range(rng.randint(1, 6))], Leaf(rng.randint(0, 9)), g, h
