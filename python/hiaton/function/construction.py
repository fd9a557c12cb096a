"""New objects that are made of others, and what a plain `__init__` sets."""

import ast
import collections
import dataclasses
import itertools
import types

from hiaton.function.dicts import is_fresh
from hiaton.function.scopes import nodes_below, read_names
from hiaton.function.statements import Scope
from hiaton.function.types import Const, Dct, Objs, Tup, Value

_MISSING = object()
ADVICE_BY_CLASS = {  # what to write in place of objects of these
    collections.deque: "use only append, extend, popleft, len(q) and 'while q' of it, or a list, with append, pop() and pop(0)",
    collections.OrderedDict: "use a dict, whose keys have the same order", frozenset: "use a set", itertools.groupby: "sort the items, and go over them in a loop"}


class Construction:
    def eval_StandsFor(self, node):
        value = self.eval(node.name)
        if value.type != Const(node.value):
            self.refuse(f"'{ast.unparse(node.name)}' stands for something else than before; give that another name", node)
        return value

    def named_by_stars(self, node, by_name):
        """The arguments by name of a call: those that are written out, and those that `**options` stands for."""
        found = dict(by_name)
        for keyword in node.keywords:
            if keyword.arg is not None:
                continue
            value = self.eval(keyword.value)
            if isinstance(value.type, Const) and type(value.type.value) is dict:
                value = self.known_dict(value.type.value)
            if not isinstance(value.type, Dct) or not all(type(key) is str for key in value.type.keys):
                self.refuse(f"'**' takes apart a dict whose keys are texts that are known before the run, found {value.type}; write the "
                            "arguments out", node)
            twice = found.keys() & set(value.type.keys)
            if twice:
                self.fail(f"the call has several values for '{min(twice)}'")
            found.update(zip(value.type.keys, self.items(value)))
        return found

    def replaced(self, value, named):
        """What dataclasses.replace() and the method _replace() of named tuples give."""
        value = self.operand(value)
        if isinstance(value.type, Tup):
            fields = dict(zip(value.type.cls._fields, self.items(value)))
            self._check_replaced(value.type.cls, fields, named)
            return self.tuple_of([named.get(name, field) for name, field in fields.items()], value.type.cls)
        if not isinstance(value.type, Objs) or not all(map(dataclasses.is_dataclass, value.type.classes)):
            self.refuse(f"replace(): expected an object of a dataclass, found {value.type}; make a new one")
        classes = sorted(value.type.classes, key=lambda cls: cls.__qualname__)

        def of_class(number):
            cls = classes[number]
            this = value if len(classes) == 1 else Value(Objs(frozenset([cls])), value.ids)

            def make():
                names = [field.name for field in dataclasses.fields(cls) if field.init]
                self._check_replaced(cls, names, named)
                return self.construct(cls, [], {name: named[name] if name in named else self.attribute(this, name)
                                                for name in names})
            if number + 1 == len(classes):
                return make()
            return self.either(self.truth_id(self.is_instance_of(value, [cls])), make, lambda: of_class(number + 1),
                               ("replace", id(self.node), number))
        return of_class(0)

    def _check_replaced(self, cls, fields, named):
        unknown = named.keys() - set(fields)
        if unknown:
            self.fail(f"'{cls.__name__}' has no field '{min(unknown)}'")

    # What __init__ sets.

    def fields_of_init(self, cls, init, args, named):
        """The fields that a plain __init__ sets: assignments to attributes of self, to names, and a call of that of a class above, one
        after the other."""
        if not isinstance(init, types.FunctionType):
            if init is not object.__init__ or args or named:
                self.refuse(f"'{cls.__name__}' cannot be made in a graph; make it outside of the function, or use a dataclass")
            return {}
        self.converter.guard_code(init)
        values = self.bound(init, [Value(Const(_MISSING)), *args], named)
        before = self.where, self.env, self.node
        scope = self.converter.scope_of(init, Scope)
        try:
            self.where = scope
            self.env = dict(zip(scope.parameters, values))
            del self.env[scope.first]
            fields = {}
            for statement in scope.tree.body:
                self.node = statement
                self._run_init_statement(cls, scope, statement, fields)
            return fields
        finally:
            self.where, self.env, self.node = before

    def _run_init_statement(self, cls, scope, statement, fields):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) or isinstance(statement, ast.Pass):
            return
        above = _init_above(statement)
        if above is not None:
            following = cls.__mro__[cls.__mro__.index(scope.owner) + 1:]
            init = next(vars(base)["__init__"] for base in following if "__init__" in vars(base))
            args, named = self._arguments(above)
            fields.update(self.fields_of_init(cls, init, args, named))
            return
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        pairs = [pair for target in targets for pair in _single_targets(target, statement)]
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not all(_is_settable(target, scope.first) for target, _ in pairs):
            self.refuse(f"'__init__' of '{cls.__name__}' does more than set fields; make the object outside of the function, or use a "
                        "dataclass")
        known = {}
        for _, value in pairs:
            if id(value) not in known:
                known[id(value)] = self._field_set_in_init(scope, value, [other for _, other in pairs].count(value))
        for target, value in pairs:
            if isinstance(target, ast.Name):
                self.bind(target.id, known[id(value)])
            else:
                fields[target.attr] = known[id(value)]


    def _field_set_in_init(self, scope, value, times):
        """What a field is set to. An object that was made for it alone may still be changed."""
        held = self.env.get(value.id) if isinstance(value, ast.Name) else None
        if times > 1:
            return self.shared(self.eval(value))
        if held is None or not is_fresh(held.type):
            return self._kept(self.eval_owned(value), value)
        nodes = list(nodes_below(scope.tree.body))
        counted = {id(node.args[0]) for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "len" and node.args}
        reads = [node for node in nodes if isinstance(node, ast.Name) and node.id == value.id and id(node) not in counted]
        return held if len(reads) == 1 else self._kept(self.eval(value), value)

    def does_more_than_set(self, cls):
        """Whether the __init__ of a class reads or changes what it has set, or has branches and loops: then its objects are made as ones that
        change."""
        init = cls.__init__
        if not isinstance(init, types.FunctionType) or self._only_sets(cls, init):
            return False
        if cls not in self.converter.changing:
            self.converter.changing.add(cls)
            self.converter.own_names_grew = self.converter.changed = True
        return True

    def _only_sets(self, cls, init):
        scope = self.converter.scope_of(init, Scope)
        for statement in scope.tree.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            pairs = [pair for target in targets for pair in _single_targets(target, statement)]
            above = _init_above(statement)
            if above is not None:
                base = next((base for base in cls.__mro__[cls.__mro__.index(scope.owner) + 1:] if "__init__" in vars(base)), object)
                if isinstance(vars(base)["__init__"], types.FunctionType) and not self._only_sets(cls, vars(base)["__init__"]):
                    return False
                parts = [*above.args, *(keyword.value for keyword in above.keywords)]
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and all(_is_settable(target, scope.first) for target, _ in pairs):
                parts = [value for _, value in pairs if value is not None]
            elif isinstance(statement, ast.Pass) or isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            else:
                return False
            if scope.first in read_names(parts):
                return False
        return True


def _init_above(statement):
    """The call super().__init__(...), if the statement is that."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
        maker = call.func.value
        if isinstance(maker, ast.Call) and isinstance(maker.func, ast.Name) and maker.func.id == "super" and not maker.args:
            return call
    return None


def _single_targets(target, statement):
    """Pairs of a target and what it is set to: those of a, b = 1, 2 are two."""
    value = getattr(statement, "value", None)
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts))
    return [(target, value)]


def _is_settable(target, first):
    if isinstance(target, ast.Name):
        return target.id != first
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == first
