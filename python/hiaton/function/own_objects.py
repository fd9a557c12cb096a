"""Objects that a function makes and then changes: as long as nobody else refers to one, its fields are variables of the function.

    p = Parser(tokens)                 p.tokens, p.pos = tokens, 0
    p.pos += 1                         p.pos = p.pos + 1
    p.expr()                           made, (p.tokens, p.pos) = expr(p.tokens, p.pos)

Functions and methods that set attributes of a parameter, or change lists in them, are lent the object by a name of who calls, and give it back.
Where something else refers to the object, as a list or another name, it becomes a value that never changes again. Which classes have objects
that are changed, and by which names, is found out from round to round: see own_trees.py for the trees in which attributes are names.
"""

import ast
import dataclasses
import inspect
import types

from hiaton.function.dicts import may_refer
from hiaton.function.item_changes import is_set_default
from hiaton.function.lent_lists import LentObject
from hiaton.function.own_trees import InnerName, attributes_in_order, is_field, own_names_of, owner_of, owners_of, place_of_inner
from hiaton.function.reasons import is_of_package
from hiaton.function.scopes import assigned, calls_change, changed, iterated_names, names_set_inside, needed_names, nodes_below, note_changes, read_names
from hiaton.function.source import is_coroutine, is_generator, tree_of
from hiaton.function.state import Root
from hiaton.function.statements import Scope
from hiaton.function.types import NEVER, Func, Lst, NewObj, Objs, Own, Union, Value, sides_of

_MISSING = object()
TEMPORARY = "object@"


class OwnObjects:
    def is_own(self, name):
        """Whether the name stands for an object to which nobody else refers."""
        return isinstance(getattr(self.env.get(name), "type", None), Own)

    def owns_in(self, node):
        """Whether something below a syntax tree is about such an object."""
        return bool(own_names_of(self.where.tree)) and any(map(self.is_own, read_names([node]) | assigned(node)))

    def changes_own(self, node):
        """Whether something below a syntax tree changes such an object, or may put it somewhere."""
        return bool(own_names_of(self.where.tree)) and any(map(self.is_own, changed(node)))

    def fields_changed_in_place(self, loop):
        """The names of lists in such objects that a loop goes over while it puts these somewhere."""
        return {name for name in iterated_names(loop.iter) if is_field(name) and any(
            isinstance(node, ast.Name) and calls_change(node) & set(owners_of(name)) for node in nodes_below(loop.body))}

    def own_name(self, node):
        """The name, if an expression is one that stands for such an object; else None."""
        return node.id if isinstance(node, ast.Name) and self.is_own(node.id) else None

    def _fields_of(self, name):
        """The fields by name, and the names that stand for them."""
        begin = f"{name}."
        keys = [key for key in self.env if isinstance(key, str) and key.startswith(begin)]
        return {key[len(begin):]: key for key in keys if "." not in key[len(begin):]}

    def eval_owned(self, node):
        """The value of an expression: an object that was just made may still be changed."""
        before, self.node = self.node, node
        try:
            return self.eval_call_or_shared(node)
        finally:
            self.node = before

    def eval_call_or_shared(self, node):
        if isinstance(node, ast.IfExp):
            return self.eval_IfExp(node, self.eval_owned)
        return getattr(self, f"eval_{type(node).__name__}")(node) if isinstance(node, (ast.Call, ast.BinOp)) else self.eval(node)

    def value_for(self, targets, node):
        """What an expression gives that is assigned: a new object for each target that is a name may still be changed."""
        target = targets[0]
        if len(targets) > 1:
            return self.shared(self.eval(node))
        if isinstance(node, ast.Tuple) and isinstance(target, ast.Tuple) and len(node.elts) == len(target.elts) and not any(
                isinstance(part, ast.Starred) for part in (*node.elts, *target.elts)):
            return self.tuple_of([self.eval_owned(part) for part in node.elts])
        return self.eval_owned(node)

    # A name and the fields of its object.

    def packed(self, name):
        """What a name stands for as one value."""
        value = self.env[name]
        if not isinstance(value.type, Own):
            return value
        fields = {field: self.packed(key) for field, key in self._fields_of(name).items()}
        return self._new_object(value.type.cls, fields)

    def _new_object(self, cls, fields):
        fields = self._fields_in_order(cls, fields)
        type_ = NewObj(cls, tuple(fields), tuple(value.type for value in fields.values()))
        return Value(type_, tuple(id_ for value in fields.values() for id_ in value.ids))

    def _fields_in_order(self, cls, fields):
        """Fields in the order in which objects of the class get them."""
        orders = self.converter.order_of_fields
        if cls not in orders:
            orders[cls] = {name: number for number, name in enumerate(attributes_in_order(cls))}
        for name in fields:
            orders[cls].setdefault(name, len(orders[cls]))
        return {name: fields[name] for name in sorted(fields, key=orders[cls].get)}

    def new_object_as(self, value, to):
        """The same for a wider type: of a type for which something else refers to it, it does not change any more."""
        if not isinstance(to, NewObj):
            return self.coerce(self.shared(value), to)
        fields = dict(zip(value.type.names, self.items(value)))
        items = [self.coerce(fields[name], type_) for name, type_ in zip(to.names, to.items)]
        return Value(to, tuple(id_ for item in items for id_ in item.ids))

    def given_back(self, name):
        """A list or an object that the function was lent, but for the arrays that others refer to: who has lent it keeps these."""
        value = self.packed(name)
        if not isinstance(value.type, NewObj):
            return value
        fields = dict(zip(value.type.names, self.items(value)))
        return self._new_object(value.type.cls, {field: item for field, item in fields.items() if not is_array_of_others(item.type)})

    def forget(self, name):
        """A name has no value any more."""
        begin = f"{name}."
        for key in [key for key in self.env if key == name or isinstance(key, tuple) and (
                key[0] == name or str(key[0]).startswith(begin)) or isinstance(key, str) and (
                key.startswith(begin) or f".array.{name}." in key)]:
            del self.env[key]

    def taken_apart(self, name, value):
        """The value that a name gets: an object that was just made becomes variables, if the name is one by which it may be changed."""
        if any(isinstance(side, NewObj) for side in sides_of(value.type)) and not isinstance(value.type, NewObj):
            self.refuse(f"'{name}' is an object that has other attributes on one path than on another; set all fields when it is made")
        if not isinstance(value.type, NewObj):
            return value
        if not self._may_be_own(name, value.type):
            return self.shared(value)
        self.env[name] = marker = Value(Own(value.type.cls))
        for field, item in zip(value.type.names, self.items(value)):
            self.set_name(f"{name}.{field}", item)
        return marker

    def _may_be_own(self, name, type_):
        above, root = owner_of(name), name.partition(".")[0]
        if self._is_read_inside(root):
            return False
        while above:
            if self.env[above].type.cls in _classes_in(type_):
                return False  # objects of one class in each other, as the nodes of a list
            above = owner_of(above)
        if root.startswith(TEMPORARY) or root in own_names_of(self.where.tree):
            return True
        if self._may_have_own_objects(root):
            is_inside = not isinstance(self.where, Scope)
            self.converter.note_own_name(self.where.function, InnerName(place_of_inner(self.where.tree), root) if is_inside else root)
        return False

    def _is_read_inside(self, name):
        """Whether a function that was defined here already reads the name."""
        functions = [held.type for held in self.env.values() if isinstance(held.type, Func) and held.type.own]
        return any(name in needed_names(one.scope, one.node)[0] for one in functions)

    def _may_have_own_objects(self, name):
        where = self.where
        is_its_own = isinstance(where, Scope) or name in where.own
        return is_its_own and isinstance(where.tree, ast.FunctionDef) and not is_generator(where.function) \
            and not is_coroutine(where.function) and not is_of_package(where.file) and name not in where.set_outside \
            and name not in names_set_inside(where.tree) and "." not in name and self.element_of is None

    def given_away(self, name):
        """The object that a name stands for, to which something else refers from now on: it does not change any more."""
        if not self.is_own(name):
            return self.name_value(name)
        cls = self.env[name].type.cls
        root = name.partition(".")[0]
        if not root.startswith(TEMPORARY) and not {name, root} & calls_change(self.node):
            self.note_changed({name})
        fields = {field: self.given_away(key) if self.is_own(key) else self.name_value(key) for field, key in self._fields_of(name).items()}
        made = self.made(cls, self._fields_in_order(cls, fields))
        self.forget(name)
        self.env[name] = made
        return made

    def note_changed(self, names):
        """This round goes on, and finds more that the next one goes by."""
        note_changes(tree_of(self.where.function), self.node, set(names))
        self.converter.changed = True

    # Attributes.

    def field_value(self, name):
        """An attribute of what a name stands for, which is no variable."""
        owner, attribute = owner_of(name), name.rpartition(".")[2]
        path = self.path_of(ast.Name(name, ast.Load()))
        if path is not None and path in self.env and self.is_settled(path):
            return self.env[path]
        if not self.is_own(owner):
            holder = self.name_value(owner)
            value = self.attribute(self.operand(holder) if isinstance(holder.type, (Objs, Union)) else holder, attribute)
            return value
        cls = self.env[owner].type.cls
        static = inspect.getattr_static(cls, attribute, _MISSING)
        if static is _MISSING or isinstance(static, types.MemberDescriptorType):
            self.fail(f"'{cls.__name__}' object has no attribute '{attribute}'")
        self.converter.guard("static", cls, attribute, static)
        if isinstance(static, property):
            return self.call_function(static.fget, [LentObject(self.env[owner].type, (), owner)], {})
        if isinstance(static, (types.FunctionType, classmethod)):
            return self.attribute(self.given_away(owner), attribute)
        return self.constant_value(static.__func__ if isinstance(static, staticmethod) else static, attribute)

    def with_known_elements(self, name, value):
        """An empty list that becomes a field: of what such lists hold elsewhere, if that is of one type, and growing where these do, so that one
        function of the graph serves for both."""
        if not isinstance(value.type, Lst) or not value.type.fresh or value.type.array:
            return value
        key, known = (self.env[owner_of(name)].type.cls, name.rpartition(".")[2]), self.converter.elements_of_fields
        element = value.type.element
        if element is not NEVER:
            before, grows = known.get(key, (element, False))
            known[key] = element if before == element else None, grows or value.type.backward
        elif known.get(key, (None, False))[0] is not None:
            return self.default(Lst(known[key][0], True, known[key][1]))
        return value

    def is_changed_by(self, node, other, value):
        """Whether what is computed after a name has changed the list or dict that it stands for, which Python sees. Refused where it may have
        given the name another one, which Python does not see."""
        name = getattr(node, "id", None)
        if name not in changed(other) or not may_refer(value.type):
            return False
        if is_field(name) or name in names_set_inside(tree_of(self.where.function)):
            self.refuse(f"'{name}' may be changed by '{ast.unparse(other)}', which is computed after it; compute that on a line before", node)
        return True

    def is_question_for_other(self, node):
        """Whether a comparison by `is` is one with None or with what a name stands for."""
        return self.is_question_for_none(node) or isinstance(node.ops[0], (ast.Is, ast.IsNot)) and self.own_name(node.comparators[0]) is not None

    @staticmethod
    def is_question_for_none(node):
        other = node.comparators[0]
        return isinstance(node.ops[0], (ast.Is, ast.IsNot)) and isinstance(other, ast.Constant) and other.value is None

    def is_own_that_is_true(self, node):
        name = self.own_name(node)
        return name is not None and not any(hasattr(self.env[name].type.cls, method) for method in ("__bool__", "__len__"))

    def set_field(self, name, value):
        """An attribute of what a name stands for is set."""
        owner, attribute = owner_of(name), name.rpartition(".")[2]
        target = ast.copy_location(ast.Attribute(ast.copy_location(ast.Name(owner, ast.Load()), self.node), attribute, ast.Store()), self.node)
        if not self.is_own(owner):
            self.set_attribute(target, value)
            return False
        self._check_settable(None, self.env[owner].type.cls, attribute, target)
        return True

    # Which objects may be changed.

    def ask_for_own(self, type_, is_early=True):
        """An attribute is set of an object: from the next round on, objects of its class that the graph makes may be changed."""
        converter = self.converter
        if isinstance(type_, Root) or not isinstance(type_, Objs) or len(type_.classes) != 1:
            return
        cls, = type_.classes
        if cls not in converter.constructed or cls in converter.changing or (
                is_early and converter.may_write and self.is_of_arguments(cls)):
            return
        converter.changing.add(cls)
        converter.own_names_grew = converter.changed = True
        self.fail()

    def ask_for_own_holder(self, node):
        """The same of what has an attribute, or the element of one, that is changed."""
        while isinstance(node, ast.Subscript) or is_set_default(node):
            node = node.value if isinstance(node, ast.Subscript) else node.func.value
        while isinstance(node, ast.Attribute):
            node = node.value
            if _is_path(node):
                self.ask_for_own(self.eval(node).type)

    def ask_for_own_around(self, node, type_):
        """The same of an object that holds one which a call may change."""
        if isinstance(node, ast.Attribute) and isinstance(type_, Objs) and type_.classes & self.converter.changing:
            self.ask_for_own_holder(node)

    def own_new(self, cls, fields):
        """An object that was just made."""
        if cls not in self.converter.changing:
            return self.made(cls, fields)
        return self._new_object(cls, {name: self.held(value) for name, value in fields.items()})

    def made_by_init(self, cls, args, named):
        """An object that its __init__ fills, which does more than to set fields."""
        name = f"{TEMPORARY}{id(self.node)}_{len(self.env)}"
        self.env[name] = Value(Own(cls))
        self.call_function(cls.__init__, [LentObject(self.env[name].type, (), name), *args], named)
        made = self.packed(name)
        self.forget(name)
        return made

    def has_plain_post_init(self, cls):
        """Whether a dataclass has a __post_init__ in Python that takes no arguments, and no slots and fields that __init__ does not take."""
        method = cls.__post_init__
        return dataclasses.is_dataclass(cls) and isinstance(method, types.FunctionType) and method.__code__.co_argcount == 1 \
            and not cls.__dataclass_params__.frozen and all(field.init for field in dataclasses.fields(cls))

    def made_with_post_init(self, cls, fields):
        """An object of a dataclass whose fields __post_init__ changes."""
        if cls not in self.converter.changing:
            self.converter.changing.add(cls)
            self.converter.own_names_grew = self.converter.changed = True
        name = self.name_of_new(self.own_new(cls, fields))
        self.call_function(cls.__post_init__, [LentObject(self.env[name].type, (), name)], {})
        made = self.packed(name)
        self.forget(name)
        return made


def is_array_of_others(type_):
    return isinstance(type_, Lst) and type_.array and not type_.fresh


def _classes_in(type_):
    if not isinstance(type_, NewObj):
        return frozenset()
    return frozenset([type_.cls]).union(*map(_classes_in, type_.items))


def _is_path(node):
    return isinstance(node, ast.Name) or isinstance(node, ast.Attribute) and _is_path(node.value)
