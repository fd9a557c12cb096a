"""Calls with objects that functions make and change: who calls lends an object, and gets it back; see own_objects.py."""

import ast
import inspect
import types

from hiaton.function import prelude
from hiaton.function.array_uses import looked_up, note_looked_up, read_as_lists
from hiaton.function.dicts import is_fresh
from hiaton.function.errors import ConversionError
from hiaton.function.lent_lists import LentObject
from hiaton.function.managers import is_manager_function
from hiaton.function.own_objects import TEMPORARY, is_array_of_others
from hiaton.function.own_trees import is_named
from hiaton.function.reasons import is_of_package
from hiaton.function.scopes import assigned, body_of, calls_change, lent_names, names_set_inside, read_names
from hiaton.function.source import is_coroutine, is_generator, tree_of
from hiaton.function.statements import Scope, build_function
from hiaton.function.types import Const, Lst, NewObj, Own, Value, is_text, sides_of

_LIBRARY = ("contextlib", "copy", "dataclasses", "functools", "hiaton")


class OwnCalls:
    def lend_object(self, argument, function):
        """An argument of a call that is an object to which nobody else refers, if what is called may change it; None elsewhere."""
        if isinstance(function, type) and function in self.converter.changing and isinstance(argument, ast.Call):
            return self.eval_owned(argument)  # the new object may be a field of the other one
        if not self._takes_objects(function):
            return None
        name = self.own_name(argument)
        if name is None and isinstance(argument, ast.Attribute):
            made = self.eval(argument)
            self.ask_for_own_around(argument, made.type)
            return made
        if name is None and isinstance(argument, ast.Call):
            made = self.eval_owned(argument)
            name = self.name_of_new(made)
            if name is None:
                return made
        return None if name is None else LentObject(self.env[name].type, (), name)

    def _takes_objects(self, function):
        if isinstance(function, tuple):
            return all(map(self._takes_objects, function))
        function = function.__func__ if isinstance(function, types.MethodType) else function
        if not isinstance(function, types.FunctionType) or is_generator(function) or is_coroutine(function) or is_manager_function(function):
            return False
        file, module = function.__code__.co_filename, (function.__module__ or "").partition(".")[0]
        if is_of_package(file) or prelude.is_text_of(file) or module in _LIBRARY or hasattr(function, "__hiaton_recompute__"):
            return False
        try:
            return isinstance(tree_of(function), ast.FunctionDef)
        except ConversionError:
            return False

    def with_own_names(self, function, values):
        """The function whose tree has names for the fields of objects that it is lent, and of those that it makes. Objects that functions
        defined inside of it replace are not lent."""
        parameters = list(self.converter.signature_of(function).parameters)
        lent = {}
        for number, (name, value) in enumerate(zip(parameters, values)):
            if isinstance(value, LentObject) and name in names_set_inside(tree_of(function)):
                values[number] = self.given_away(value.name)
            elif isinstance(value, LentObject):
                lent[name] = value
        made = self.converter.with_own_names(function, frozenset(lent))
        if self.wanted is not None and self.wanted.code == id(function.__code__):
            self.wanted = self.wanted._replace(code=id(made.__code__))
        return made

    def not_lent(self, value):
        """An argument of those that a parameter with a star takes."""
        return self.given_away(value.name) if isinstance(value, LentObject) else value

    def receiver_of(self, method):
        """What a method is called of. A call may give the very object that it was lent, as `self` of builders."""
        node = method.value
        if isinstance(node, ast.Name) and method.attr == "pop" and self.is_array(node.id):
            return self.env[node.id]
        if not isinstance(node, ast.Call):
            return self.peek(node)
        before, self.receiver = self.receiver, node
        try:
            return self.eval_owned(node)
        finally:
            self.receiver = before

    def name_of_new(self, value):
        """A name of its own for an object that was just made, or that of an object that was lent; None: it is something else."""
        if isinstance(value, LentObject):
            return value.name
        if not isinstance(value.type, NewObj):
            return None
        name = f"{TEMPORARY}{id(self.node)}_{len(self.env)}"
        self.set_name(name, value)
        return name

    def call_own_method(self, node, name):
        """A call of a method of an object to which nobody else refers, or of what one of its attributes is."""
        cls, attribute = self.env[name].type.cls, node.func.attr
        if f"{name}.{attribute}" in self.env:
            return self._call_field(node, f"{name}.{attribute}")
        static = inspect.getattr_static(cls, attribute, None)
        if isinstance(static, (staticmethod, classmethod)) or not isinstance(static, types.FunctionType):
            if static is None:
                self.refuse(f"'{cls.__name__}' has no method '{attribute}'; define it in the class")
            self.converter.guard("static", cls, attribute, static)
            if isinstance(static, classmethod):
                self.refuse(f"'{attribute}' is a classmethod, called for an object; call it for the class")
            callee = Value(Const(static.__func__)) if isinstance(static, staticmethod) else self.field_value(f"{name}.{attribute}")
            args, named = self._arguments(node)
            return self.call(callee, args, named)
        self.converter.guard("static", cls, attribute, static)
        if not self._takes_objects(static):
            this = self.given_away(name)
        else:
            this = LentObject(self.env[name].type, (), name)
        args, named = self._arguments(node, function=types.MethodType(static, this))
        return self._called(node, lambda: self.call_function(static, [this, *args], named))

    def _call_field(self, node, field):
        if self.is_own(field):
            return self.call_special(field, "__call__", *self._arguments(node))
        callee = self.name_value(field)
        args, named = self._arguments(node, function=callee.type.value if isinstance(callee.type, Const) else None, is_spread_later=True)
        return self._called(node, lambda: self.call(callee, args, named))

    def is_own_by_name(self, node):
        """Whether an expression is getattr(x, name) of an object to which nobody else refers."""
        return isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords and self.own_name(node.args[0]) is not None \
            and isinstance(node.func, ast.Name) and self.eval(node.func).type == Const(getattr)

    def call_by_name(self, node):
        """A call of the method that getattr() gives of such an object, by a name that is one of several."""
        name, chosen = node.func.args[0].id, self.eval(node.func.args[1])
        cls = self.env[name].type.cls
        sides = sides_of(chosen.type)
        methods = [inspect.getattr_static(cls, side.value, None) if is_text(side) and isinstance(side, Const) else None for side in sides]
        if not all(isinstance(method, types.FunctionType) and self._takes_objects(method) for method in methods):
            self.refuse("what getattr gives can be called here where it is one of several methods whose names are known before the run; write "
                        "the calls out", node)
        for side, method in zip(sides, methods):
            self.converter.guard("static", cls, side.value, method)
        args, named = self._arguments(node, function=tuple(types.MethodType(method, self) for method in methods))

        def of_side(number):
            def call():
                return self.call_function(methods[number], [LentObject(self.env[name].type, (), name), *args], named)
            if number + 1 == len(sides):
                return call()
            here = self.op("eq", chosen.ids[0], self.constant(number, "i64"))
            return self.either(here, call, lambda: of_side(number + 1), ("call by name", id(node), number))
        return self._called(node, lambda: self.changing_on_sides(calls_change(node), lambda: of_side(0)))

    def call_special(self, name, method, args, named):
        """A method that an expression calls for an object to which nobody else refers, as `__len__`."""
        cls = self.env[name].type.cls
        static = inspect.getattr_static(cls, method, None)
        if not isinstance(static, types.FunctionType) or not self._takes_objects(static):
            return self.call_method(self.given_away(name), method, args, named)
        self.converter.guard("static", cls, method, static)
        return self.call_function(static, [LentObject(self.env[name].type, (), name), *args], named)

    def call_with_objects(self, function, tree, parameters, values):
        """A call of a function that is lent objects. `values` are those of the parameters."""
        objects = {parameter: value.name for parameter, value in zip(parameters, values) if isinstance(value, LentObject)}
        twice = [name for name in objects.values() if list(objects.values()).count(name) > 1 or any(
            other.startswith(f"{name}.") for other in objects.values())]
        if twice:
            self.refuse(f"'{twice[0]}' is, or holds, two arguments of this call, which may change it; hand it over once")
        self._note_what_is_changed(function, tree, objects)
        lent = self.lent_to(function, tree, parameters, values)
        values = self.passed_values(values, function.__code__, [name in lent for name in parameters])
        names = list(parameters)
        for parameter, name in objects.items():
            for key in self._keys_to_pass(tree, parameter, name):
                field = parameter + key[len(name):]
                values.append(self._field_to_pass(tree, key, field, parameter in lent))
                names.append(field)
        has_state = id(function.__code__) in self.converter.stateful
        self.converter.callers[id(function.__code__)].add(id(self.where.function.__code__))
        if has_state:
            self.needs_state(function.__name__)
            values += self.state_values()
        kept = {name: self._own_lists(tree, parameter, name) for parameter, name in objects.items() if parameter in lent}
        key = ("function", id(function.__code__), id(function), tuple(names))
        instance = self.converter.instance(key, function.__name__, [value.type for value in values],
                                           lambda frame, given: build_function(frame, function, given, names=names),
                                           parameters=[name.replace(".", "_") for name in names],
                                           shown=self.converter.shown_name(function, [value.type for value in values]))
        self.converter.guard_code(function)
        return self.taken_back(self.call_instance(instance, values), tree, has_state, lent, kept)

    def _note_what_is_changed(self, function, tree, objects):
        """Whether the function gives the objects back, and which of their fields it changes."""
        for parameter, name in objects.items():
            changes = {one for one in assigned(*body_of(tree)) if one == parameter or one.startswith(f"{parameter}.")}
            is_lent = parameter in lent_names(tree)
            passed = [] if is_lent else self._keys_to_pass(tree, parameter, name)
            if not is_lent and (changes or any(is_fresh(self.env[key].type) or isinstance(self.env[key].type, Own) for key in passed)):
                self._note_lent(tree, parameter, False)
            changed = {name + one[len(parameter):] for one in changes} | ({name} if is_lent else set())
            if not name.startswith(TEMPORARY) and not changed <= calls_change(self.node):
                self.note_changed(changed)

    def _keys_to_pass(self, tree, parameter, name):
        """The names of the fields that a function is handed: all that it may read or give back."""
        begin = f"{name}."
        keys = sorted(key for key in self.env if isinstance(key, str) and key.startswith(begin))
        if parameter in lent_names(tree) or is_named(tree, parameter):
            return keys
        read = read_names(body_of(tree))
        return [key for key in keys if parameter + key[len(name):] in read]

    def _field_to_pass(self, tree, key, field, is_lent):
        value = self.env[key]
        if not isinstance(value.type, Lst):
            return self.handed_on(self.held(value if is_lent else self.shared(value)))
        if field in read_as_lists(tree) and self.is_array(key):
            value = self.cells_of(key)
        if field in looked_up(tree) - read_as_lists(tree) and self.stays_array(key, tree, field):
            self._note_lookups_of_field(key)
            self.lay_out(key, ".called" if self.loop is None else self.loop.hidden)
            array = self.array_of(key)
            return self.env[key] if self.env[key].type.fresh or array is None else array
        if is_array_of_others(value.type) and field not in read_as_lists(tree):
            return value  # what is called hands it on at most
        return self.env[key] if is_lent else self.name_value(key)

    def _note_lookups_of_field(self, key):
        self._note_lookups(key)
        if key.partition(".")[0] in self.where.parameters:
            self.converter.changed |= note_looked_up(self.where.tree, key)

    def _own_lists(self, tree, parameter, name):
        """The lists of an object that others refer to, which a function does not set: who lends it keeps them as it has them."""
        changes = assigned(*body_of(tree))
        return {key: self.env[key] for key in self.env if isinstance(key, str) and key.startswith(f"{name}.")
                and isinstance(self.env[key].type, Lst) and not self.env[key].type.fresh and parameter + key[len(name):] not in changes}

    def may_give_object(self, name):
        """Whether a function may give an object that it has made, by this name, as one to which nobody else refers."""
        where = self.where
        return isinstance(where, Scope) and where.function is not self.converter.with_own_names(self.converter.function) \
            and (name is None or "." not in name and name not in lent_names(where.tree) and name not in where.parameters)

    def take_object_back(self, name, held, kept):
        """An object that was lent. `kept`: the lists that stay as they were, by the names of the fields."""
        arrays = {key: value for key, value in self.env.items() if isinstance(key, str) and any(
            key.endswith(f".array.{field}") for field in kept)}
        self.bind(name, held)
        if self.is_own(name):
            self.env.update(kept)
            self.env.update(arrays)
