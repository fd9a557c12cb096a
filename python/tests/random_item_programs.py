"""Random programs of Python that change lists, dicts and sets which are items of dicts, and that have other names for some of these."""

import random

from random_text import RandomText

KEYS = ["i % 3", "i", "n", "i % 2", "xs[i % len(xs)]", "s % 4"]
KINDS = ["list", "list", "set", "counts", "lists"]
DEFAULTS = {"list": "list", "set": "set", "counts": "dict", "lists": "dict"}
NEW = {"list": ["[]", "[]", "[i]", "[n, 3]", "list(xs)", "xs[1:]"], "set": ["set()", "set()", "{i}", "{n, 3}"], "counts": ["{}", "{}", "{i: 1}"],
       "lists": ["{}", "{}", "{i: [n]}"]}


class Programs(RandomText):
    """Each has a function `main` of an integer and a list of integers. Names stand for dicts of a kind of items: of lists, of sets, of dicts of
    numbers, and of dicts of lists."""

    def key(self):
        return self.pick(*KEYS)

    def names_of(self, scope, kind):
        return [name for name, other in scope["names"] if other == kind]

    # Expressions.

    def read(self, scope):
        """A number."""
        if not scope["names"]:
            return "i"
        name, kind = self.pick(*scope["names"])
        key = self.key()
        choices = [f"len({name})", f"int({key} in {name})"]
        if kind in ("list", "set"):
            choices += [f"(len({name}[{key}]) if {key} in {name} else 7)", f"(sum({name}[{key}]) if {key} in {name} else 7)",
                        f"len({name}.get({key}, []))" if kind == "list" else f"len({name})"]
        if kind == "list":
            choices += [f"({name}[{key}][-1] if {key} in {name} and {name}[{key}] else 5)", f"sum([len({name}[k]) for k in {name}])",
                        f"sum(x * j for j, x in enumerate({name}.get({key}, [])))", f"int(i in {name}.get({key}, []))"]
        if kind == "counts":
            choices += [f"({name}[{key}].get(i, 2) if {key} in {name} else 6)", f"sum([len({name}[k]) for k in {name}])",
                        f"(sum({name}[{key}].values()) if {key} in {name} else 0)", f"(len({name}[{key}]) if {key} in {name} else 0)"]
        if kind == "lists":
            choices += [f"sum([len({name}[k]) for k in {name}])",
                        f"(len({name}[{key}][i]) if {key} in {name} and i in {name}[{key}] else 4)"]
        if scope["lists"] and self.random.random() < 0.4:
            other = self.pick(*scope["lists"])
            choices = [f"len({other})", f"sum({other})"]
        if self.random.random() < 0.03:
            choices.append(f"len({name}[{key}])")  # which may raise an error
        return self.pick(*choices)

    def condition(self, scope):
        choices = [f"{self.read(scope)} {self.pick('<', '==', '>')} {self.read(scope)}", "i % 2 == 0"]
        if scope["names"]:
            name, _ = self.pick(*scope["names"])
            choices += [f"{self.key()} in {name}", f"not {name}"]
        return self.pick(*choices)

    def made(self, scope, kind):
        """A new dict."""
        new, key = self.pick(*NEW[kind]), self.key()
        if self.random.random() < 0.2:
            return f"defaultdict({DEFAULTS[kind]})"
        choices = ["{}"] * 4 + [f"{{k: {self.pick(*NEW[kind])} for k in range(n)}}"] * 3 + [f"{{{key}: {new}, {self.key()}: {self.pick(*NEW[kind])}}}"]
        others = self.names_of(scope, kind)
        if others and self.random.random() < 0.3:
            other = self.pick(*others)
            choices = [f"{other}.copy()", f"dict({other})", f"{{**{other}, {key}: {new}}}", f"{other} | {{{key}: {new}}}",
                       f"{{k: v for k, v in {other}.items()}}", f"{{k: {other}[k] for k in {other}}}", other]
        if kind == "list" and self.random.random() < 0.1:
            choices = ["{k: xs for k in range(n)}", "{k: row for k, row in enumerate([[]] * n)}", "{k: row for k, row in enumerate([[] for _ in xs])}"]
        return self.pick(*choices)

    # Statements.

    def change_of_item(self, item, kind):
        """A change of an item of a dict, which is there."""
        value = self.pick("i", "n", "s % 7", "len(xs)")
        if kind == "list":
            return self.pick(f"{item}.append({value})", f"{item}.append({value})", f"{item} += [{value}]", f"{item}.extend(xs)", f"{item}.sort()",
                             f"{item}.insert(0, {value})", f"{item}.clear()", f"{item}.extend({item})", f"{item}.append(len({item}))",
                             f"{item}.extend(x + 1 for x in xs)", f"{item}.reverse()")
        if kind == "set":
            return self.pick(f"{item}.add({value})", f"{item}.add({value})", f"{item}.discard({value})", f"{item} |= {{{value}}}",
                             f"{item}.update(xs)", f"{item}.clear()")
        if kind == "counts":
            return self.pick(f"{item}[{value}] = {item}.get({value}, 0) + 1", f"{item}[{value}] = i", f"{item}.pop({value}, 0)",
                             f"{item}.setdefault({value}, 2)", f"{item}.update({{{value}: 1}})")
        return self.pick(f"{item}.setdefault({value}, []).append(i)", f"{item}.setdefault({value}, [])", f"{item}[{value}] = [i]",
                         f"{item}.pop({value}, None)")

    def change(self, scope, name, kind):
        key, new = self.key(), self.pick(*NEW[kind])
        way = self.random.randrange(16)
        if way < 5 and name in self.with_defaults:
            return self.change_of_item(f"{name}[{key}]", kind)
        if way < 5:
            return f"if {key} not in {name}:\n    {name}[{key}] = {new}\n{self.change_of_item(f'{name}[{key}]', kind)}"
        if way < 8 and kind in ("list", "set"):
            added = self.pick(f".{'append' if kind == 'list' else 'add'}({self.pick('i', 'n', self.read(scope))})", ".clear()")
            return f"{name}.setdefault({key}, {new}){added}"
        if way < 10:
            return f"if {key} in {name}:\n    {self.change_of_item(f'{name}[{key}]', kind)}"
        if way == 10:
            return f"{name}[{key}] = {new}"
        if way == 11:
            return f"if {key} in {name}:\n    {self.pick(f'del {name}[{key}]', f'{name}.pop({key})')}"
        if way == 12:
            return f"{name}.setdefault({key}, {new})"
        if way == 13 and self.random.random() < 0.5:
            other = self.pick(*self.names_of(scope, kind), name)
            return self.pick(f"{name}[{key}] = {name}[{self.key()}] = {new}", f"if {key} in {other}:\n    {name}[{self.key()}] = {other}[{key}]",
                             f"{name}.update({other})", f"{name}.clear()")
        if way == 14 and kind == "list":
            return f"if {key} in {name} and {name}[{key}]:\n    {name}[{key}][{self.pick('0', '-1')}] {self.pick('=', '+=')} {self.read(scope)}"
        if way == 15 and kind == "list":
            return f"if {key} in {name} and {name}[{key}]:\n    s += {name}[{key}].pop({self.pick('', '0')})"
        return f"s += {self.read(scope)}"

    def other_name(self, scope, name, kind):
        """A statement by which something else may refer to an item, or to the dict."""
        key = self.key()
        if kind == "list":
            other = self.name("ys")
            scope["lists"].append(other)
            return self.pick(f"{other} = {name}.get({key}, xs)", f"{other} = {name}[{key}] if {key} in {name} else []",
                             f"{other} = {name}.setdefault({key}, [])", f"{other} = {name}.pop({key}, [])", f"{other} = list({name}.get({key}, []))",
                             f"{other} = xs\nfor {other} in {name}.values():\n    pass")
        return self.pick(f"kept.append({name}.get({key}))", f"kept.append(len({name}))", f"other = {name}", f"s += len({name}.copy())")

    def block(self, scope, depth, indent, in_loop=False):
        scope = {**scope, "names": list(scope["names"]), "lists": list(scope["lists"])}
        pad = "    " * indent

        def add(text):
            self.lines.extend(pad + line for line in text.split("\n"))
        for _ in range(self.random.randint(2, 4)):
            way = self.random.randrange(22)
            name, kind = self.pick(*scope["names"]) if scope["names"] else (None, None)
            if way < 2 or name is None:
                kind = self.pick(*KINDS)
                name = self.name("d")
                made = self.made(scope, kind)
                if made.startswith("defaultdict"):
                    self.with_defaults.add(name)
                add(f"{name} = {made}")
                scope["names"].append((name, kind))
            elif way < 11:
                add(self.change(scope, name, kind))
            elif way < 14 and depth > 0:
                over = self.pick("range(n)", "range(n + 2)", "xs", "range(3)", f"list({name})", f"sorted({name})", f"sorted({name})")
                if kind == "list" and self.random.random() < 0.3:
                    over = f"{name}.get({self.key()}, [])"
                add(f"for i in {over}:")
                self.block(scope, depth - 1, indent + 1, True)
            elif way == 14 and depth > 0:
                add(f"if {self.condition(scope)}:")
                self.block(scope, depth - 1, indent + 1, in_loop)
            elif way == 15 and self.random.random() < 0.5:
                add(self.other_name(scope, name, kind))
            elif way == 16 and scope["changers"].get(kind):
                add(f"s += {self.pick(*scope['changers'][kind])}({name}, {self.pick('i', 'n', '3')}, xs)")
            elif way == 17 and indent == 1:
                scope["inside"].append(self.function_inside(scope, name, kind, pad))
            elif way == 18 and scope["inside"]:
                add(f"s += {self.pick(*scope['inside'])}({self.pick('i', 'n', '2')})")
            elif way == 19 and scope["boxes"]:
                box = self.pick(*scope["boxes"])
                add(self.pick(f"{box}.add({self.key()}, i)", f"{box}.add({self.key()}, n)", f"s += {box}.total({self.key()})",
                              f"if {self.key()} in {box}.d:\n    s += len({box}.d[{self.key()}])" if self.random.random() < 0.3 else f"{box}.add(i, s)",
                              *([f"s += sum({box}.of({self.key()}))"] if self.random.random() < 0.4 else [])))
            elif way == 20 and in_loop:
                add(f"if {self.condition(scope)}:\n    {self.pick('break', 'continue')}")
            else:
                add(f"s = (s + {self.read(scope)}) % 1009")
        return scope

    def given(self, name, kind):
        ways = {"list": ["{{k: {0}[k] + [k] for k in {0}}}", "[(k, list({0}[k])) for k in {0}]"], "set": ["{0}", "[(k, sorted({0}[k])) for k in {0}]"],
                "counts": ["{0}", "[(k, sorted({0}[k].items())) for k in {0}]"], "lists": ["{0}", "[(k, list({0}[k])) for k in {0}]"]}[kind]
        return (ways[0] if self.random.random() < (0.5 if kind == "list" else 0.2) else ways[1]).format(name)

    def function_inside(self, scope, name, kind, pad):
        inside = self.name("inside")
        if kind == "list" and self.random.random() < 0.3:
            body = [f"return len({name}.get(i, []))"]
        else:
            body = [*self.change({**scope, "names": [(name, kind)], "lists": []}, name, kind).replace("s +=", "_ =").replace("s % ", "i % ").split("\n"),
                    f"return len({name}) + i"]
        self.lines.append(f"{pad}def {inside}(i):")
        self.lines += [f"{pad}    {line}" for line in body]
        return inside

    def functions(self):
        changers = {}
        for _ in range(self.random.randint(0, 3)):
            kind, name = self.pick(*KINDS), self.name("change")
            self.lines.append(f"def {name}(d, i, xs):\n    s, n = 1, 2")
            for _ in range(self.random.randint(1, 3)):
                self.lines += [f"    {line}" for line in self.change({"names": [("d", kind)], "lists": []}, "d", kind).split("\n")]
            if self.random.random() < 0.5:
                self.lines.append(f"    if i > 0:\n        s += {name}(d, i - 1, xs)")
            self.lines.append("    return s + len(d)\n\n")
            changers.setdefault(kind, []).append(name)
        return changers

    def text(self):
        self.with_defaults = set()
        self.lines = ["from collections import defaultdict\n\ng0 = 3\nlog = []\n\n"]
        self.lines.append(f"class Box:\n    def __init__(self, n):\n        self.d = {self.pick('{}', '{i: [] for i in range(n)}')}\n        self.n = n\n\n"
                          "    def add(self, k, x):\n" + self.pick("        self.d.setdefault(k, []).append(x)\n", "        if k not in self.d:\n"
                          "            self.d[k] = []\n        self.d[k].append(x)\n        self.n += 1\n", "        if k in self.d:\n"
                          "            self.d[k] += [x]\n        else:\n            self.d[k] = [x]\n") + "\n"
                          "    def of(self, k):\n        return self.d.get(k, [])\n\n"
                          "    def total(self, k):\n        total = self.n\n        if k in self.d:\n            for x in self.d[k]:\n"
                          "                total += x\n        return total\n\n")
        scope = {"names": [], "lists": [], "changers": self.functions(), "inside": [], "boxes": []}
        self.lines.append("def main(n, xs):\n    s, i, kept, other = 0, len(xs) % 3, [], None")
        if self.random.random() < 0.4:
            scope["boxes"].append("box")
            self.lines.append("    box = Box(n)")
        scope = self.block(scope, 2, 1)
        scope = self.block(scope, 3, 1)
        names = [self.given(name, kind) for name, kind in scope["names"]] + [f"list({name})" for name in scope["lists"][:1]]
        self.lines.append(f"    return {', '.join(['s', 'len(kept)', *self.random.sample(names, min(3, len(names)))])}\n")
        return "\n".join(self.lines)


def arguments(seed):
    rng = random.Random(seed)
    return rng.randint(1, 5), [rng.randint(-3, 5) for _ in range(rng.randint(1, 6))]
