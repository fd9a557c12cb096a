"""Functions defined inside of others, and lambdas: values that hold what they read of the function around."""

import ast
import functools

from hiaton.function.scopes import calls_change, functions_in, lent_names, names_changed_outside, names_set_inside, needed_names, nonlocal_names, own_names, parameters_of, read_anywhere, refused_in
from hiaton.function.source import tree_of
from hiaton.function.statements import End
from hiaton.function.types import Const, Dct, Func, Lst, Mapping, Store, Tup, Union, Value


class LocalScope:
    """A function that is defined inside of another one, while its text is being read."""

    def __init__(self, outer, node):
        self.function = outer.function
        self.file = outer.file
        self.tree = node
        self.globals = outer.globals
        self.cells = outer.cells
        self.owner = outer.owner
        self.first = None
        self.key = (outer.key, id(node))
        self.inside = {}
        self.set_outside = frozenset()
        self.parameters = parameters_of(node)
        self.own = own_names(node)
        self.locals = self.own | outer.locals
        self.functions = {name: found for name, found in outer.functions.items() if name not in self.own}
        self.functions.update(functions_in(self, node))


class Closures:
    def eval_Lambda(self, node):
        return self.closure(self.where, node, True)

    def eval_named_for_call(self, node):
        """The arguments by name of a built-in function, which keeps none of them: what a lambda reads stays what nobody else refers to."""
        def one(part):
            before, made = dict(self.env), self.eval(part)
            if isinstance(part, ast.Lambda) and not part.args.defaults and not part.args.kw_defaults:
                self.env.clear()
                self.env.update(before)
            return made
        return {keyword.arg: one(keyword.value) for keyword in node.keywords}

    def do_FunctionDef(self, node):
        if node.decorator_list and not self._keeps_results(node):
            self.refuse(f"'{node.name}' has a decorator; take the function out of the one around it", node)
        self.bind(node.name, self.closure(self.where, node, True))

    def _keeps_results(self, node):
        """Whether its decorator is functools.cache or functools.lru_cache, of which rewrite.py has made a dict of the results."""
        decorator = node.decorator_list[0]
        maker = decorator.func if isinstance(decorator, ast.Call) else decorator
        return hasattr(node, "hiaton_keeps_results") and self.eval(maker).type in (Const(functools.cache), Const(functools.lru_cache))

    def closure(self, scope, node, own):
        """The function as a value. `own`: what it reads may still change."""
        for inner in refused_in(node):
            self.refuse(f"'{type(inner).__name__.lower()}' in a function that is defined inside cannot be converted; give the "
                        "value back", inner)
        if node.args.kwarg is not None:
            self.refuse("'**' of a function that is defined inside cannot be converted; write the parameters out", node)
        foreign = nonlocal_names(node) - scope.locals
        if foreign:
            self.refuse(f"'{min(foreign)}' is a variable of a function around the one that is converted, and set by a function that is "
                        "defined inside of that; give the value back", node)
        names, _ = needed_names(scope, node)
        hidden = names & own_names(node)
        if hidden:
            self.refuse(f"'{min(hidden)}' is a name of this function and of the one around it; call it something else", node)
        captured = [(name, self._captured_value(scope, node, name)) for name in sorted(names)
                    if name in self.env and not self.is_lent_to(scope, node, name)]
        defaults = [*node.args.defaults, *node.args.kw_defaults] if own else []
        for number, default in enumerate(defaults):
            if default is not None:
                captured.append((f"default@{number}", self.held(self.eval(default))))
        return self._closure_with(Func(scope, node, (), own), captured)

    def _captured_value(self, scope, node, name):
        array = self.array_to_capture(name, [node, *(scope.functions[other][0] for other in needed_names(scope, node)[1])])
        if array is not None:
            return self.held(array)
        self.name_value(name)
        return self.handed(name)

    @staticmethod
    def _closure_with(type_, captured):
        captured = sorted(captured, key=lambda pair: pair[0])
        type_ = Func(type_.scope, type_.node, tuple((name, value.type) for name, value in captured), type_.own)
        return Value(type_, tuple(id_ for _, value in captured for id_ in value.ids))

    def captured_by(self, value):
        """What a function that was defined inside holds: names and values."""
        made, at = [], 0
        for name, type_ in value.type.captured:
            count = len(self.converter.graph_types(type_))
            made.append((name, Value(type_, value.ids[at:at + count])))
            at += count
        return made

    def recapture(self, name, value):
        """The name has another value: so it has for functions that read it. Gives the value."""
        self._refuse_kept_readers(name)
        is_handed = isinstance(value.type, (Lst, Mapping)) or name in names_set_inside(tree_of(self.where.function))
        for other, held in list(self.env.items()):
            if not (isinstance(held.type, Func) and held.type.own and held.type.scope.key == self.where.key):
                continue
            if name in needed_names(held.type.scope, held.type.node)[0] - (
                    names_changed_outside(held.type.scope, held.type.node) if is_handed else set()):
                if other == name or isinstance(value.type, Func):
                    self.refuse(f"'{name}' stands for several functions, and is read by one of them; give each a name")
                if isinstance(value.type, Lst):
                    value = Value(Lst(value.type.element), self.forward(value).ids)
                elif isinstance(value.type, Mapping):
                    value = self.shared(value)
                captured = dict(self.captured_by(held))
                captured[name] = self.held(value)
                self.env[other] = self._closure_with(held.type, captured.items())
        if isinstance(value.type, Func) and value.type.own and name in needed_names(value.type.scope, value.type.node)[0]:
            self.refuse(f"'{name}' stands for several functions, and is read by one of them; give each a name")
        return value

    def _names_kept_by(self, type_):
        """The names of this function that are read by functions which a value of the type keeps, in a list for example."""
        kept = [one for one in functions_kept_in(type_) if one.scope.key == self.where.key]
        return set().union(*(needed_names(one.scope, one.node)[0] for one in kept))

    def _refuse_kept_readers(self, name):
        """A name gets another value: functions that something keeps hold the one before."""
        if name not in read_anywhere(self.where.tree):
            return
        for other, held in self.env.items():
            if name in self._names_kept_by(held.type):
                self._refuse_to_keep(name, f"while '{other}' keeps a function that reads it")

    def refuse_readers(self, names, value):
        """Of what a comprehension makes: its functions read the last values of the names that it sets."""
        found = names & self._names_kept_by(Lst(value.type))
        if found:
            self._refuse_to_keep(min(found), "in the next turn, and a function that reads it is kept")

    def _refuse_to_keep(self, name, when):
        self.refuse(f"'{name}' gets another value {when}; let the function take it as a default, {name}={name}, where it is to keep "
                    "the value that it has there")

    def handed_on(self, value):
        """The value for another function: what a function defined here reads, it has read."""
        if not isinstance(value.type, Func) or not value.type.own:
            return value
        _, functions = needed_names(value.type.scope, value.type.node)
        for name in functions:
            if value.type.scope.functions[name][1] is self.where and name not in self.env:
                self.fail(f"'{name}' has no value yet")
        return self._closure_with(Func(value.type.scope, value.type.node, (), False), self.captured_by(value))

    def local_function(self, name):
        """A function that the name stands for in a scope around; None: none."""
        found = self.where.functions.get(name)
        if found is None or found[1] is self.where:
            return None
        read = sorted(needed_names(found[1], found[0])[0])
        for n in read:
            if not self.is_lent_to(found[1], found[0], n):
                self.let_items_out(n)
        captured = [(n, self.handed(n)) for n in read
                    if n in self.env and not self.is_lent_to(found[1], found[0], n)]
        for number, default in enumerate([*found[0].args.defaults, *found[0].args.kw_defaults]):
            if default is not None and not isinstance(default, ast.Constant):
                self.refuse(f"'{name}' has a default that is computed; give the argument", default)
            if default is not None:
                captured.append((f"default@{number}", self.held(self.known(default.value))))
        return self._closure_with(Func(found[1], found[0], (), False), captured)

    def call_closure(self, value, args, named):
        scope, node = value.type.scope, value.type.node
        outer = self.lent_to_closure(value, node)
        captured = self.captured_by(self.handed_on(value))
        parameters = parameters_of(node)
        values = self._bound_to_tree(node, args, named, dict(captured))
        lent = self.lent_to(scope.function, node, parameters, values)
        values = self.passed_values(values, scope.function.__code__, [name in lent for name in parameters])
        lent.update({name: name if name in outer else None for name in lent_names(node) if name not in parameters})
        captured = [(name, held) for name, held in captured if not name.startswith("default@") and name not in outer]
        names = [*(name for name, _ in captured), *outer, *parameters]

        def build(frame, given):
            if id(node) not in scope.inside:
                scope.inside[id(node)] = LocalScope(scope, node)
            frame.where = scope.inside[id(node)]
            frame.env = dict(zip(names, given))
            if isinstance(node, ast.Lambda):
                return frame.result(frame.eval(node.body))
            return frame.run(node.body, End(node))
        given = [*(held for _, held in captured), *(self.held(self.env[name]) for name in outer), *values]
        name = getattr(node, "name", f"{scope.function.__name__}_lambda")
        instance = self.converter.instance(("closure", (scope.key, id(node)), tuple(names)), name, [v.type for v in given], build,
                                           parameters=names, shown=getattr(node, "name", "<lambda>"))
        return self.taken_back(self.call_instance(instance, given), node, False, {name: lent[name] for name in lent if name in names})

    def _bound_to_tree(self, node, args, named, captured):
        """The arguments by parameter."""
        tree, args, named = node.args, list(args), dict(named)
        positional = [*tree.posonlyargs, *tree.args]
        values = {}
        for number, parameter in enumerate(positional):
            if args:
                values[parameter.arg] = args.pop(0)
            elif parameter.arg in named and parameter not in tree.posonlyargs:
                values[parameter.arg] = named.pop(parameter.arg)
            else:
                default = number - len(positional) + len(tree.defaults)
                values[parameter.arg] = captured.get(f"default@{default}")
        if tree.vararg:
            values[tree.vararg.arg] = self.tuple_of(args)
            args = []
        for number, parameter in enumerate(tree.kwonlyargs):
            otherwise = captured.get(f"default@{len(tree.defaults) + number}")
            values[parameter.arg] = named.pop(parameter.arg, otherwise)
        missing = [parameter for parameter, value in values.items() if value is None]
        if args or named or missing:
            self.fail(f"the call does not fit the parameters of '{getattr(node, 'name', '<lambda>')}': {', '.join(values) or 'none'}")
        return [values[parameter] for parameter in parameters_of(node)]

    def call_one_of(self, callee, args, named):
        """A call of one of several functions, which the run tells apart."""
        def of_side(number):
            def call():
                return self.call(self.side(callee, number), args, named)
            if number + 1 == len(callee.type.sides):
                return call()
            here = self.op("eq", callee.ids[0], self.constant(number, "i64"))
            return self.changing_on_sides(calls_change(self.node), lambda: self.either(
                here, call, lambda: of_side(number + 1), ("call", id(self.node), number)))
        return of_side(0)


def functions_kept_in(type_):
    """The functions defined inside others that a value of the type keeps in a list or another value."""
    if isinstance(type_, (Tup, Dct, Store, Mapping)):
        inner = type_.items
    elif isinstance(type_, Lst):
        inner = (type_.element,)
    elif isinstance(type_, Union):
        inner = type_.sides
    else:
        return []
    return [one for item in inner for one in ([item] if isinstance(item, Func) else functions_kept_in(item))]
