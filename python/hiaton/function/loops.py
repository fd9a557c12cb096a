"""Loops and comprehensions: each is a function of the graph that calls itself for the next turn."""

import ast
import builtins

from hiaton.function.dicts import is_fresh, may_hold
from hiaton.function.iterations import CountedItems, ListItems, RangeItems, RowItems, SteppedItems, ZipItems, mark_run, names_start
from hiaton.function.known_items import MOST_UNROLLED
from hiaton.function.liveness import names_needed, names_outside
from hiaton.function.own_trees import with_fields, without_fields
from hiaton.function.scopes import assigned, calls_change, changed, iterated_names, read_names
from hiaton.function.splits import split_of
from hiaton.function.statements import Rest, is_unbound, leaves
from hiaton.function.tables import own_rows
from hiaton.function.types import INT, NEVER, NONE, Const, Dct, Lst, Mapping, Objs, Tens, Tup, Value, is_number


class Loop:
    """A `for` or `while` of one function of Python, while functions of the graph are made of it."""

    def __init__(self, node, items, where, outer, after, names, results):
        self.node = node
        self.items = items      # None: while
        self.where = where
        self.outer = outer      # the loop around
        self.after = after      # what follows, in the graph's function of the loop; None: the caller goes on
        self.names = names
        self.results = results  # the names that have other values behind the loop
        self.hidden = f".{id(node)}"

    def go(self, frame):
        """The end of the body."""
        return self.again(frame)

    def state(self, frame):
        return [frame.env[f"{self.hidden}.{i}"] for i in range(self.items.count)] if self.items else []

    def set_state(self, frame, state):
        for number, value in enumerate(state):
            frame.env[f"{self.hidden}.{number}"] = value

    def again(self, frame):
        names, values = frame.passed(self.names)
        frame.drop_state()
        if self.after is None:
            kept = [(n, v) for n, v in zip(names, values) if not n.startswith(".") or n.startswith(self.hidden)]
            names, values = [n for n, _ in kept], [v for _, v in kept]

        held = {name: holder for name, holder in frame.held_around.items() if name in names}
        if self.after is None:
            given = dict(zip(names, values))
            held = {**dict.fromkeys(frame.names_of_lists(given) - with_fields({*self.results, *assigned(self.node)}, given), self.key), **held}

        def build(inner, given):
            inner.where, inner.loop, inner.loop_key, inner.held_around = self.where, self, self.key, held
            inner.env = dict(zip(names, given))
            return self.turn(inner)
        key = ("loop", self.key, tuple(names))
        instance = frame.converter.instance(key, f"{self.where.function.__name__}_loop", [v.type for v in values], build,
                                            parameters=names)
        if id(self.node) in frame.converter.whole:
            frame.converter.whole[id(self.node)].add(frame.converter.builder.function_name(instance.number))
        return frame.call_instance(instance, values)

    @property
    def key(self):
        return (self.where.key, id(self.node), self.outer.key if self.outer else ())

    def turn(self, frame):
        frame.node = self.node
        if self.items:
            state = self.state(frame)
            condition, true, false = self.items.has(frame, state), [], []
        else:
            condition, true, false = frame.condition(self.node.test)

        def body():
            if self.items:
                item, following = self.items.take(frame, state)
                self.set_state(frame, following)
                frame.assign(self.node.target, item)
            return frame.run(self.node.body, self)

        def over():
            frame.loop = self.outer
            try:
                return frame.run(self.node.orelse, _Leave(self))
            finally:
                frame.loop = self
        if condition is True or condition is False:
            frame.learn(true if condition else false)
            return body() if condition else over()
        return frame.branch(condition, true, body, false, over, ("turn", id(self.node)))

    def leave(self, frame):
        if self.after is None:
            made = frame.tuple_of([frame._state(name) for name in self.results])
            frame.drop_state()
            return made
        for name in [n for n in frame.env if isinstance(n, str) and n.startswith(self.hidden)]:
            del frame.env[name]
        frame.loop, frame.loop_key = self.outer, self.outer.key if self.outer else ()
        try:
            return self.after.go(frame)
        finally:
            frame.loop, frame.loop_key = self, self.key


class _Leave:
    def __init__(self, loop):
        self.loop = loop
        self.names = loop.names

    def go(self, frame):
        return self.loop.leave(frame)


class Loops:
    def run_loop(self, node, rest, following):
        """A loop; gives a value where what follows belongs to it, since it may return, else None."""
        self.begin_items(node)
        if leaves([*node.body, *node.orelse], (ast.Return,)):
            after = Rest(rest, following, True)
            names = names_needed(self.where.tree, node) | after.names
            results = []
            names |= set(self.state_names())
        else:
            after = None
            elsewhere = self._read_elsewhere(node) | {name for name in self.env if str(name).startswith("list@")}
            results = without_fields(assigned(node) & elsewhere) + [name for name in self.state_names() if name in self.env]
            names = names_needed(self.where.tree, node) | set(results)
        items, state = None, []
        if isinstance(node, ast.For):
            if not leaves([*node.body, *node.orelse], (ast.Return, ast.Break)):
                mark_run(node.iter)
            # Python goes over what is changed meanwhile.
            in_place = self.items_in_place(node)
            if in_place is not None:
                items, state, name = in_place
                return self._run_loop_over(node, items, state, after, names | {name}, results)
            self.refuse_changed_views([node.iter], node.body)
            over = {name for name in iterated_names(node.iter) & changed(*node.body) if self.mapping_named(name) is None}
            self.share((over | self.fields_changed_in_place(node)) & self.env.keys())
            items = self.turns_written_out(node) if after is None else None
            if items is not None:
                return self.run_written_out(node, items)
            turns = self.assumed_turns(node) if after is None else None
            if turns is not None:
                return self.run_turns(node, *turns)
            if after is None and self._taken_apart(node):
                return None
            items, state = self.items_of(node.iter)
        return self._run_loop_over(node, items, state, after, names, results)

    def _run_loop_over(self, node, items, state, after, names, results):
        """The same, whose items are known; None: a `while`."""
        loop = Loop(node, items, self.where, self.loop, after, names, results)
        loop.set_state(self, [self.held(v) for v in state])
        self.begin_arrays(node, loop.hidden)
        self.turn_lists(loop.key)
        self.begin_lookups(loop)
        if after is not None:
            return loop.again(self)
        made = self.run_turns_of(loop)
        for name in [n for n in self.env if isinstance(n, str) and n.startswith(loop.hidden)]:
            del self.env[name]
        if isinstance(made.type, Tup):
            read = read_names([node])
            self.share([name for name, value in self.env.items() if name in read and is_fresh(value.type) and not self.is_array(name) and name not in results
                        and any(may_hold(item, value.type) for item in made.type.items)])
            for name, item in zip(results, self.items(made)):
                if is_unbound(item.type):
                    self.env.pop(name, None)
                else:
                    self.bind(name, item)
        for name in without_fields(assigned(node) | set(results)):
            if name not in results:
                self.forget(name)
        return None

    def _taken_apart(self, node):
        """Whether the loop was run as a list of what its turns compute on their own, and a loop over that."""
        converter = self.converter
        split = None if hasattr(node, "hiaton_is_split") or self.owns_in(node) else split_of(node, self)
        if split is None or id(split.first.value) in converter.in_order:
            return False
        if converter.apart is not None and id(node) not in converter.apart:
            converter.whole.setdefault(id(node), set())
            return False
        self.run_here([split.first])
        self.run_loop(split.loop, [], None)
        self.env.pop(split.name, None)
        return True

    def _read_elsewhere(self, node):
        return names_outside(self.where.tree, node) | self._outer_names()

    def _outer_names(self):
        names, loop = set(), self.loop
        while loop is not None:
            names |= loop.names
            loop = loop.outer
        return names

    # What loops go over.

    def items_of(self, node):
        """How to go over what an expression gives: (the way, its first state)."""
        maker = self.iterator_maker(node)
        if maker is not None:
            value = self.forward(self.list_of_iterator(maker, node))
            return ListItems(), [Value(Lst(value.type.element), value.ids)]
        if isinstance(node, ast.Call) and (not node.keywords or _is_zip_that_says_whether_strict(node) or names_start(node)):
            callee = self.eval(node.func) if isinstance(node.func, ast.Name) else Value(NONE)
            target = callee.type.value if isinstance(callee.type, Const) else None
            if target is builtins.range:
                return self._range_items(node)
            if target is builtins.zip and node.args:
                parts = [self.items_of(arg) for arg in node.args]
                is_strict = any(keyword.value.value for keyword in node.keywords)
                return ZipItems([part for part, _ in parts], is_strict), [value for _, state in parts for value in state]
            if target is builtins.enumerate and len(node.args) + len(node.keywords) in (1, 2):
                part, state = self.items_of(node.args[0])
                start = self.start_of(node)
                return CountedItems(part), [Value(INT, (self.as_kind(self.operand(start), int),)), *state]
            if target in (map, filter):
                value = self.computed_ahead(node, lambda: self.as_list(node))
                return ListItems(), [Value(Lst(value.type.element), value.ids)]
            if target is builtins.reversed and len(node.args) == 1:
                turned = self.turned(self.forward(self.whole_list(self.as_list(node.args[0]), node)))
                return ListItems(), [Value(Lst(turned.type.element), turned.ids)]
        value = self._iterated_value(node)
        if isinstance(value.type, Tens) and value.type.dims:
            length = self.op("size", value.ids[0], attributes=(0,))
            return RowItems(), [value, Value(INT, (self.constant(0, "i64"),)), Value(INT, (length,))]
        value = self.forward(self.whole_list(value, node))
        return ListItems(), [Value(Lst(value.type.element), value.ids)]

    def start_of(self, node):
        """The first number of a call of `enumerate`."""
        given = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        return self.eval(given[0]) if given else Value(Const(0))

    def _range_items(self, node):
        args = [self.integer_bound(arg, node) for arg in node.args]
        step = 1
        if len(args) == 3:
            if not is_number(args[2].type) or args[2].type.value == 0:
                length = self.call_prelude("length_of_range", args)
                return SteppedItems(), [Value(INT, (self.as_kind(v, int),)) for v in (args[0], length, args[2])]
            step = args[2].type.value
        start, stop = (Value(Const(0)), args[0]) if len(args) == 1 else args[:2]
        return RangeItems(step), [Value(INT, (self.as_kind(v, int),)) for v in (start, stop)]

    def as_list(self, node):
        """What an expression gives, as a list or a tuple."""
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            return self.comprehension(node)
        maker = self.iterator_maker(node)
        if maker is not None:
            return self.list_of_iterator(maker, node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            callee = self.eval(node.func)
            kinds = (range, zip, enumerate, reversed, map, filter)
            if isinstance(callee.type, Const) and any(callee.type.value is f for f in kinds):
                if not hasattr(node, "hiaton_list"):
                    node.hiaton_list = self._as_comprehension(node, callee.type.value)
                return self.comprehension(node.hiaton_list)
        return self.rows_of(self._iterated_value(node))

    def _iterated_value(self, node):
        """What is gone over where an expression stands: of an object, what the generator `__iter__` of its class yields."""
        if isinstance(node, ast.GeneratorExp):
            return self.computed_ahead(node, lambda: self.comprehension(node))
        value = self.chosen(self.peek_to_go_over(node), lambda side: isinstance(side, (Lst, Tup, Dct, Mapping, Tens, Objs)))
        if isinstance(value.type, Mapping):
            return self.keys_of_mapping(value, node is self.in_any_order)
        if isinstance(value.type, Objs):
            value = self.operand(value)
            self.is_run = getattr(node, "hiaton_is_run", False)
            try:
                value = self.call_method(value, "__iter__", [], {})
            finally:
                self.is_run = False
        return self.iterated(value)

    def _as_comprehension(self, node, function):
        item = ast.Name(".item", ast.Load())
        items, made, tests = node, item, []
        if function in (map, filter):
            if len(node.args) != 2 or node.keywords:
                self.refuse(f"this call of '{function.__name__}' cannot be converted; write a comprehension", node)
            items = node.args[1]
            found = ast.Call(node.args[0], [item], [])
            found.hiaton_changes = calls_change(node)
            if function is map:
                made = found
            else:
                is_none = isinstance(node.args[0], ast.Constant) and node.args[0].value is None
                tests = [item if is_none else found]
        made = ast.ListComp(made, [ast.comprehension(ast.Name(".item", ast.Store()), items, tests, 0)])
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def whole_list(self, value, node):
        """What as_list() gives, as a list."""
        return self.list_of(self.items(value), ("items", id(node))) if isinstance(value.type, Tup) else self.require_list(value, node)

    def require_list(self, value, node):
        """The value; refuses one that is no list."""
        if not isinstance(value.type, Lst):
            self.refuse(f"a loop over {value.type} cannot be converted; go over a list, a tuple, a range or the rows of a tensor", node)
        return value

    def rows_of(self, value):
        """A tensor of a known number of rows as a tuple of them."""
        if not isinstance(value.type, Tens) or not value.type.dims or not 0 <= value.type.dims[0] <= MOST_UNROLLED:
            return value
        numbers = [self.constant(number, "i64") for number in range(value.type.dims[0])]
        return self.tuple_of([self.tensor_value(self.op("gather", value.ids[0], number)) for number in numbers])

    def eval_ListComp(self, node):
        return own_rows(self.kept(self.comprehension(node)), [node.elt])

    def eval_GeneratorExp(self, node):
        self.refuse("a generator that is kept cannot be converted; make a list", node)

    def comprehension(self, node):
        """A list, element after element, which do not wait for each other; a tuple, where the items are of several types."""
        self.begin_items(node)
        written_out = self.elements_written_out(node)
        if written_out is not None:
            return written_out
        self.refuse_changed_views([part.iter for part in node.generators], [node.elt, *(test for part in node.generators for test in part.ifs)])
        if id(node) in self.converter.in_order or self.changes_own(node):
            return self._in_order(node)
        first = node.generators[0]
        read = read_names([node.elt, *first.ifs, *node.generators[1:]])
        where = self.where
        base = (self.base_key(), id(node))
        targets = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        lists = self.lists_of_elements(node)

        def start(frame, level, rest):
            generator = node.generators[level]
            if generator.is_async:
                frame.refuse("'async for' cannot be converted; give a list as an argument", node)
            mark_run(generator.iter)
            items, state = frame.items_of(generator.iter)
            for number, value in enumerate(state):
                frame.env[f".{id(generator)}.{number}"] = frame.held(value)
            frame.begin_arrays(node, f".{id(generator)}")
            frame.turn_lists(id(node))
            return again(frame, level, items, rest)

        def again(frame, level, items, rest):
            generator = node.generators[level]
            hidden = f".{id(generator)}."
            bound = {n.id for g in node.generators[level:] for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            known, values = frame.passed(read - bound)
            values = [frame.handed_on(value) for value in values]
            kept = [(n, v) for n, v in zip(known, values) if not n.startswith(".") or n.startswith(hidden) or n == ".item"]
            known, values = [n for n, _ in kept], [v for _, v in kept]

            held = frame.held_by(id(node), frame.names_of_lists(dict(zip(known, values))), lists)

            def build(inner, given):
                inner.where, inner.element_of, inner.held_around = where, node, held
                rest_list = given[-1] if rest is not None else None
                inner.env = dict(zip(known, given))
                return turn(inner, level, items, rest_list)
            given = [*values, rest] if rest is not None else values
            key = ("comprehension", base, level, tuple(known), len(lists))
            instance = frame.converter.instance(key, f"{where.function.__name__}_list", [v.type for v in given], build,
                                                parameters=known)
            return frame.call_instance(instance, given)

        def turn(frame, level, items, rest):
            frame.node = node
            generator = node.generators[level]
            hidden = f".{id(generator)}"
            state = [frame.env[f"{hidden}.{i}"] for i in range(items.count)]

            def more():
                item, following = items.take(frame, state)
                before = dict(frame.env)
                for number, value in enumerate(following):
                    frame.env[f"{hidden}.{number}"] = value
                behind = None if lists else again(frame, level, items, rest)
                frame.env = frame.env if lists else before
                frame.assign(generator.target, item)
                return kept(frame, level, generator.ifs, lambda: again(frame, level, items, rest) if lists else behind)

            def empty():
                made = rest if rest is not None else frame.default(Lst(NEVER, True))
                return frame.tuple_of([made, *(frame.env[name] for name in lists)]) if lists else made
            has = items.has(frame, state)
            if isinstance(has, bool):
                return more() if has else empty()
            return frame.branch(has, [], more, [], empty, ("turn", id(node), level, len(lists)))

        def kept(frame, level, conditions, behind):
            if conditions:
                condition, true, false = frame.condition(conditions[0])
                condition = frame.assumed_side(conditions[0], condition, True)
                if isinstance(condition, bool):
                    frame.learn(true if condition else false)
                    return kept(frame, level, conditions[1:], behind) if condition else behind()
                return frame.branch(condition, true, lambda: kept(frame, level, conditions[1:], behind), false,
                                    behind, ("kept", id(conditions[0]), len(lists)))
            if level + 1 < len(node.generators):
                return start(frame, level + 1, behind())
            value = frame.eval(node.elt)
            value = frame.held(value if isinstance(value.type, Lst) else frame.shared(value))
            frame.refuse_readers(targets, value)
            if isinstance(value.type, Lst):
                value = frame.forward(value)
                value = Value(Lst(value.type.element), value.ids)
            if not lists:
                return frame.cons(value, behind())
            others, *held = frame.parts_of_elements(behind(), lists)
            return frame.tuple_of([frame.cons(value, others), *held])

        before, self.env = self.env, dict(self.env)
        try:
            made = start(self, 0, None)
        finally:
            # What it goes over may have set something.
            self.keep_changes(before, targets)
            self.env = before
        made, *held = self.parts_of_elements(made, lists)
        for name, value in zip(lists, held):
            self.bind(name, value)
        return made

    def _in_order(self, node):
        """A comprehension whose elements set something: a loop, one element after the other."""
        if self.converter.places:
            self.needs_state("what is set")
        name = f"list@{id(node)}"
        if not hasattr(node, "hiaton_loop"):
            made = ast.Expr(ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [node.elt], []))
            for generator in reversed(node.generators):
                for test in reversed(generator.ifs):
                    made = ast.If(test, [made], [])
                made = ast.For(generator.target, generator.iter, [made], [])
            node.hiaton_loop = ast.fix_missing_locations(ast.copy_location(made, node))
            for part in ast.walk(node.hiaton_loop):
                if isinstance(part, ast.stmt):
                    ast.copy_location(part, node)
        own = {part.id for generator in node.generators for part in ast.walk(generator.target) if isinstance(part, ast.Name)}
        before = {key: value for key, value in self.env.items() if (key[0] if isinstance(key, tuple) else key) in own}
        self.env[name] = self.default(Lst(NEVER, True))
        self.run_here([node.hiaton_loop])
        made = self.forward(self.env.pop(name))
        for key in [key for key in self.env if (key[0] if isinstance(key, tuple) else key) in own]:
            del self.env[key]
        self.env.update(before)
        return made


def _is_zip_that_says_whether_strict(node):
    """Whether it may be `zip(..., strict=True)` or `zip(..., strict=False)`."""
    strict = node.keywords[0].value if [keyword.arg for keyword in node.keywords] == ["strict"] else None
    return isinstance(strict, ast.Constant) and isinstance(strict.value, bool) and isinstance(node.func, ast.Name) and node.func.id == "zip"
