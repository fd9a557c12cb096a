"""Objects: their attributes, how they are made, and what is known of them before the run. Lists as values."""

import ast
import collections
import dataclasses
import inspect
import types

from hiaton import _core
from hiaton.function import heaps
from hiaton.function.attributes import is_of_several
from hiaton.function.construction import ADVICE_BY_CLASS
from hiaton.function.data_classes import is_data_class
from hiaton.function.dicts import came_in
from hiaton.function.partials import partial_with
from hiaton.function.state import Root, unrooted
from hiaton.function.tables import is_table, own_rows
from hiaton.function.types import (INT, NEVER, NONE, NUMBERS, Const, Dct, Func, Lst, Mapping, Objs, Opaque, Sink, Tens, Tup, Union,
                                   Value, as_number, general, is_number, join)

_MISSING = object()
NIL, CONS = 0, 1


class Objects:
    # Attributes.

    def attribute(self, value, name):
        if name == "__class__":
            return self.builtin_type(value)
        if is_of_several(value.type):
            return self.attribute_of_sides(value, name)
        if isinstance(value.type, (Objs, Union)):
            value = self.operand(value)
        type_ = value.type
        if isinstance(type_, Const):
            return self._constant_attribute(type_.value, name)
        if isinstance(type_, Tens):
            return self.tensor_attribute(value, name)
        if isinstance(type_, Tup) and name in getattr(type_.cls, "_fields", ()):
            return self.items(value)[type_.cls._fields.index(name)]
        if isinstance(type_, Tup) and isinstance(inspect.getattr_static(type_.cls, name, None), property):
            return self.call_function(inspect.getattr_static(type_.cls, name).fget, [value], {})
        if isinstance(type_, Root):
            return self._field(value, next(iter(type_.classes)), name)
        if isinstance(type_, Objs):
            classes = sorted(type_.classes, key=lambda c: c.__qualname__)
            return self._attribute_of(value, name, classes)
        self.refuse(f"attribute '{name}' of {type_} cannot be converted; read it outside of the function")

    def _attribute_of(self, value, name, classes):
        first, rest = classes[0], classes[1:]
        this = Value(Objs(frozenset([first])), value.ids)
        if not rest:
            return self._field(this, first, name)
        return self.either(self.truth_id(self.is_instance_of(value, [first])), lambda: self._field(this, first, name),
                           lambda: self._attribute_of(value, name, rest),
                           ("attribute", id(self.node), name, len(rest)))

    def _field(self, value, cls, name):
        static = inspect.getattr_static(cls, name, None)
        if isinstance(static, property):
            self.converter.guard("static", cls, name, static)
            return self.call_function(static.fget, [value], {})
        place = self.place_of(value, name)
        if place is not None:
            return self.read_place(place)
        self.notes_read(value, cls, name)
        type_ = self.converter.fields.get((cls, name), NEVER)
        if type_ is NEVER:
            if name in getattr(cls, "__annotations__", {}) or static is None:
                self.fail(f"'{cls.__name__}' object has no attribute '{name}'")
            if isinstance(static, classmethod):
                self.refuse(f"classmethod '{name}' of '{cls.__name__}' can only be called here, not kept; call it, or use a lambda")
            self.converter.guard("static", cls, name, static)
            if isinstance(static, types.FunctionType):
                return self.tuple_of([Value(Const(static)), value], partial_with(()))
            static = static.__func__ if isinstance(static, staticmethod) else static
            return self.constant_value(static, name)
        if isinstance(type_, Opaque):
            self.refuse(f"field '{name}' of '{cls.__name__}' holds {type_}, which a graph cannot hold; "
                        "read it outside of the function")
        place = self.converter.field_numbers(cls, name)
        if place is None:
            return self.default(type_)
        at, count = place
        number = self.variant_of(cls)
        return Value(type_, tuple(self.graph.field(value.ids[0], number, at + i) for i in range(count)))

    def variant_of(self, cls):
        if cls not in self.converter.variants:
            self.converter.read.setdefault(cls, {})
            self.converter.changed = True
            return 0
        return self.converter.variants[cls]

    def class_attributes(self, classes, name):
        return [inspect.getattr_static(cls, name, None) for cls in classes]

    def _constant_attribute(self, holder, name):
        if holder is None or type(holder) in (*NUMBERS, str):
            self.fail(self._why_no_attribute(holder, name))
        place = self.place_of(Value(Const(holder)), name)
        if place is not None:
            return self.read_place(place)
        if is_data_class(type(holder)):
            self.converter.read_of_roots.add((type(holder), name))
        static = inspect.getattr_static(type(holder), name, None)
        if isinstance(static, property) and isinstance(static.fget, types.FunctionType):
            self.converter.guard("static", type(holder), name, static)
            return self.call_function(static.fget, [Value(Const(holder))], {})
        if isinstance(static, types.FunctionType) and name not in getattr(holder, "__dict__", {}):
            self.converter.guard("static", type(holder), name, static)
            if hasattr(holder, "__dict__"):
                self.converter.guard("no item", vars(holder), name, None)
            return Value(Const(types.MethodType(static, holder)))
        found = getattr(holder, name, _MISSING)
        if found is _MISSING:
            self.fail(self._why_no_attribute(holder, name))
        return self.fixed_value("attribute", holder, name, found, name)

    @staticmethod
    def _why_no_attribute(holder, name):
        try:
            getattr(holder, name)
        except AttributeError as error:
            return str(error)
        return f"attribute '{name}' of {type(holder).__name__}"

    def fixed_value(self, kind, container, key, found, name):
        """What a variable or an attribute holds, which is taken as fixed, unless it differed from call to call."""
        followed = self.followed.get((kind, id(container), key))
        if followed is not None:
            return followed
        if (kind, id(container), key) not in self.converter.cells:
            where = f"{self.where.file}:{self.node.lineno}" if hasattr(self.node, "lineno") else self.where.file
            self.converter.guard_cell(kind, container, key, found, name, where)
        return self.constant_value(found, name)

    def constant_value(self, found, name):
        """What is known before the run, as a value."""
        if isinstance(found, _core.Parameter):
            number = self.converter.learned_number(found)
            return self.tensor_value(self.graph.parameter(number))
        if isinstance(found, _core.Tensor):
            dtype = str(found.dtype).split(".")[-1]
            self.converter.constants[id(found)] = found
            kind = _core.graph_type(found.dtype, list(found.shape))
            return Value(Tens(dtype, found.shape), (self.graph.constant(found, kind),))
        if isinstance(found, tuple):
            return self.tuple_of([self.constant_value(one, name) for one in found], type(found))
        if type(found) is list and id(found) in self.converter.appended:
            return Value(Sink(held=Const(found)))
        if type(found) is list:
            self.converter.guard("list", found, None, tuple(found))
            return self.tuple_of([self.constant_value(one, name) for one in found], list)
        return self.known(found)

    def eval_Subscript(self, node):
        path = self.path_of(node)
        if path is not None and path in self.env:
            return self.env[path]
        element = self.element_of_table(node)
        if element is not None:
            return element
        if self.own_name(node.value) is not None:
            return self.call_special(node.value.id, "__getitem__", [self.eval(node.slice)], {})
        value = self._looked_at(node)
        if value.type == NONE:
            self.fail("'NoneType' object is not subscriptable")
        if isinstance(value.type, (Dct, Mapping)):
            key = self.eval(node.slice)
            value = self._looked_at(node) if self.is_changed_by(node.value, node.slice, value) else value
            return self.dict_item(value, key) if isinstance(value.type, Dct) else self.mapping_item(value, key)
        if isinstance(value.type, Tens):
            return self.tensor_subscript(value, node.slice)
        if isinstance(value.type, Const) and type(value.type.value) is str:
            return self.part_of_text(value.type.value, node.slice)
        if isinstance(node.slice, ast.Slice):
            return self._part(value, node.slice)
        key = as_number(self.eval(node.slice))
        if self.is_changed_by(node.value, node.slice, value):
            value = self._looked_at(node)  # the index changes this very list
        if isinstance(value.type, Tup):
            if is_number(key.type):
                items = self.items(value)
                if not -len(items) <= key.type.value < len(items):
                    self.fail(f"expected an index from {-len(items)} to {len(items) - 1}, found {key.type.value}")
                return items[key.type.value]
            return self.call_prelude("element", [self.list_of(self.items(value), ("items", id(node))), self._index_into_list(key)])
        if isinstance(value.type, Lst):
            return self._element(node, value, self._index_into_list(key))
        if isinstance(value.type, Const) and type(value.type.value) is dict:
            return self.item_of_known_dict(value.type.value, key)
        if isinstance(value.type, Objs):
            return self.call_method(value, "__getitem__", [key], {})
        self.refuse(f"an index into {value.type} cannot be converted; index a list, a tuple, a dict or a tensor")

    def _looked_at(self, node):
        """What a subscript is of. To find an element, a list that grows is not turned."""
        held = self.env.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if isinstance(node.slice, ast.Slice):
            array = None if held is None else self.array_of(node.value.id)
            is_array = array is not None and not is_table(array.type)
            return array if is_array else self.chosen(self.peek(node.value), lambda side: side != NONE)
        if held is not None:
            self.let_items_out(node.value.id)
        if held is not None and isinstance(held.type, Lst) and held.type.backward:
            return held
        item = self.item_to_look_at(node.value, False)
        return self.chosen(self.looked_at(node.value) if item is None else item, lambda side: side != NONE)

    def _element(self, node, value, index):
        if value.type.array:
            return self.element_of_array(value, index)
        if heaps.is_text_of(self.where.file):
            self.converter.is_slow_at = "calls functions of heapq and bisect with lists of other things than numbers and tuples of them"
        found = self.looked_up(node, index) if isinstance(node.value, ast.Name) else None
        if found is not None:
            return found
        return self.element_of_backward(node, value, index) if value.type.backward else self.call_prelude("element", [value, index])

    def _index_into_list(self, key):
        key = self.chosen(key, lambda side: side == INT) if isinstance(key.type, Union) else key
        is_one = isinstance(key.type, Tens) and not key.type.dims and key.type.dtype in ("u8", "i32", "i64")
        if not is_one and not (self.numeric(key.type) and self.kind_of(key.type) is not float):
            self.fail(f"expected an integer as an index into a list or a tuple, found {key.type}")
        return key

    def _part(self, value, part):
        if isinstance(value.type, Lst):
            return self._part_of_list(value, part)
        ends = [None if end is None else self.eval(end).type for end in (part.lower, part.upper, part.step)]
        if any(end is not None and not is_number(end) and end != NONE for end in ends):
            self.refuse("expected a part with ends that are known before the run; write the numbers, or use a list")
        key = slice(*(None if end is None else end.value for end in ends))
        if isinstance(value.type, Tup):
            return self.tuple_of(self.items(value)[key])
        self.refuse(f"a part of {value.type} cannot be converted; take it outside of the function")

    def _part_of_list(self, value, part):
        start, stop, step = (Value(NONE) if end is None else self.eval(end) for end in (part.lower, part.upper, part.step))
        step = Const(1) if step.type == NONE else step.type
        if not is_number(step) or type(step.value) is not int or step.value == 0:
            self.refuse("expected a part of a list with a step that is known before the run, and not 0; write the number")
        if step.value < 0 and (start.type != NONE or stop.type != NONE):
            self.refuse("a part of a list with ends and a step below 0 cannot be converted; take the part, and then [::-1] of it")
        if step.value < 0:
            made = self.call_prelude("backward", [self.part_of_array(value, start, stop) if value.type.array else value])
        elif value.type.array:
            made = self.part_of_array(value, start, stop)
        elif stop.type == NONE and not self.converter.lets_lists_out:
            made = self.call_prelude("rest_from", [value, start])
        else:
            made = self.call_prelude("part", [value, start, stop])
        return self.as_new(made if abs(step.value) == 1 else self.call_prelude("at_steps", [made, Value(Const(abs(step.value)))]))

    # New objects.

    def construct(self, cls, args, named):
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            values = self._bound_to(cls, cls.__new__, args, named)
            return self.tuple_of([values[name] for name in cls._fields], cls)
        if cls is collections.defaultdict:
            return self.default_dict(args, named)
        if not is_data_class(cls):
            advice = ADVICE_BY_CLASS.get(cls, "make it outside of the function, or use a dataclass")
            self.refuse(f"an object of '{cls.__name__}' cannot be made in a graph; {advice}")
        after = getattr(cls, "__post_init__", None)
        if after is not None and not self.has_plain_post_init(cls) or type(cls).__call__ is not type.__call__ or cls.__new__ is not object.__new__:
            self.refuse(f"'{cls.__name__}' does more than set its fields when it is made; "
                        "make it outside of the function, or in a function that sets them")
        if dataclasses.is_dataclass(cls) and _is_generated(cls.__init__):
            fields = self._bound_to(cls, cls.__init__, args, named)
            fields = {field.name: fields[field.name] for field in dataclasses.fields(cls) if field.name in fields} | fields
            if after is not None:
                return self.made_with_post_init(cls, fields)
        elif self.does_more_than_set(cls):
            return self.made_by_init(cls, args, named)
        else:
            fields = self.fields_of_init(cls, cls.__init__, args, named)
        return self.own_new(cls, fields)

    def _bound_to(self, cls, function, args, named):
        try:
            bound = inspect.signature(cls).bind(*args, **named)
        except TypeError as error:
            self.refuse(f"{cls.__name__}(): {error}; give it the arguments that its fields need")
        factories = {f.name: f.default_factory for f in dataclasses.fields(cls)
                     if f.default_factory is not dataclasses.MISSING} if dataclasses.is_dataclass(cls) else {}
        values = {}
        for name, parameter in bound.signature.parameters.items():
            if name in bound.arguments:
                values[name] = bound.arguments[name]
            elif name in factories:
                if factories[name] is not list:
                    self.refuse(f"{cls.__name__}(): the default of '{name}' cannot be converted; give the argument")
                values[name] = self.default(Lst(NEVER, True))
            else:
                values[name] = self.constant_value(parameter.default, name)
        return values

    def made(self, cls, fields):
        converter = self.converter
        converter.makes_objects = True
        converter.constructed.add(cls)
        for name, field in fields.items():
            if isinstance(field.type, (Func, Sink)) or came_in(field.type):
                self.refuse(f"{cls.__name__}(): field '{name}' cannot hold {field.type}; give it to functions as an argument")
        fields = {name: self.shared(field) for name, field in fields.items()}
        known = {name: converter.found_field(cls, name, unrooted(value.type)) for name, value in fields.items()}
        number = self.variant_of(cls)
        laid_out = converter.laid_out.get(cls, ())
        if number == 0 or list(laid_out) != list(fields):
            if set(converter.read.get(cls, ())) - set(fields):
                extra = ", ".join(sorted(set(converter.read[cls]) - set(fields)))
                self.refuse(f"objects of '{cls.__name__}' have fields that making one does not set: {extra}; "
                            "set all fields when the object is made")
            converter.read[cls] = dict.fromkeys(fields, True)  # objects have their attributes in this order
            converter.changed = True
            return Value(Objs(frozenset([cls])), (self.graph.constant(0, converter.object_type),))
        ids = []
        try:
            for name in laid_out:
                ids += self.coerce(fields[name], known[name]).ids
            return Value(Objs(frozenset([cls])), (self.graph.make(converter.object_type, number, ids or [self.constant(0, "i64")]),))
        except _core.ProgramError:
            # The layout of this round is not that of the fields that are known by now.
            converter.changed = True
            return Value(Objs(frozenset([cls])), (self.graph.constant(0, converter.object_type),))

    # Lists.

    def eval_List(self, node):
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return self._list_with_stars(node)
        values = [self.eval(item) for item in node.elts]
        return own_rows(self.list_of(values, ("list", id(node))), node.elts)

    def _list_with_stars(self, node):
        """Joins lists."""
        made = self.default(Lst(NEVER, True))
        for item in node.elts:
            part = self.as_list(item.value) if isinstance(item, ast.Starred) else self.list_of([self.eval(item)], None)
            if isinstance(part.type, Tup):
                part = self.list_of(self.items(part), None)
            made = self.call_prelude("joined", [made, part])
        return self.as_new(made)

    @staticmethod
    def as_new(value):
        """A list that was just made: nobody else refers to it."""
        return Value(Lst(value.type.element, True), value.ids) if isinstance(value.type, Lst) else value

    def copied(self, value):
        """A list of the same elements. They lie in the same cells where nobody sees it: cells never change."""
        return self.as_new(self.call_prelude("collected", [value]) if self.converter.lets_lists_out else self.forward(value))

    def list_of(self, values, key):
        values = [self.shared(value) for value in values]
        element = NEVER
        for value in values:
            element = join(element, general(value.type))
        made = self.default(Lst(element, True))
        for value in reversed(values):
            made = self.cons(self.coerce(value, element), made)
        return made

    def cons(self, head, rest):
        """A list that begins with the head. `rest` is an empty one, or has elements of the type of the head."""
        element = join(rest.type.element, head.type)
        type_ = Lst(element, rest.type.fresh, rest.type.backward)
        if element != rest.type.element:
            if rest.type.element is not NEVER:
                self.converter.changed = True  # another round will know what the rest holds
            rest = self.default(type_)
        kind = self.converter.list_type(element)
        return Value(type_, (self.graph.make(kind, CONS, [self.boxed(self.coerce(head, element)), rest.ids[0]]),))

    def boxed(self, value):
        if len(value.ids) == 1:
            return value.ids[0]
        kind = self.converter.element_type(value.type)
        before = self.boxes.get((value.ids, str(kind)))
        return self.graph.make(kind, 1, list(value.ids)) if before is None else before

    def head(self, value):
        head = self.graph.field(value.ids[0], CONS, 0)
        element = value.type.element
        count = len(self.converter.graph_types(element))
        if count == 1:
            return Value(element, (head,))
        ids = tuple(self.graph.field(head, 1, i) for i in range(count))
        if count > 0:
            self.boxes[ids, str(self.converter.element_type(element))] = head
        return Value(element, ids)

    def tail(self, value):
        return Value(value.type, (self.graph.field(value.ids[0], CONS, 1),))

    def is_empty(self, value):
        return self.op("eq", self.graph.variant(value.ids[0]), self.constant(NIL, "i64"))

    def forward(self, value):
        value = self.without_array(value)
        return self.turned(value) if isinstance(value.type, Lst) and value.type.backward else value

    @staticmethod
    def mirrored(value):
        """The list as it lies in memory: one whose last element comes first, read as another list."""
        return Value(Lst(value.type.element, value.type.fresh), value.ids)

    def turned(self, value, onto=None):
        """The list with its elements in the other order in memory: the same list. `onto`: one of such an order, with the elements behind its own."""
        type_ = value.type
        to = Lst(type_.element, type_.fresh, not type_.backward) if onto is None else onto.type
        if type_.element is NEVER:
            return Value(to, value.ids) if onto is None else onto

        def build(frame, values):
            rest, made = values

            def more():
                instance = frame.converter.instance(("turn",), "turn", [type_, to], build)
                return frame.call_instance(instance, [frame.tail(rest), frame.cons(frame.head(rest), made)])
            return frame.either(frame.is_empty(rest), lambda: made, more, to)
        return self._made_of_list(("turn",), [type_, to], build, to, [value, self.default(to) if onto is None else onto])

    def recast(self, value, element):
        """A list that nobody else refers to, which may be a copy, as one of elements of a wider type."""
        type_, to = value.type, Lst(element, value.type.fresh, value.type.backward)

        def build(frame, values):
            def more():
                instance = frame.converter.instance(("recast", to), "recast", [type_], build)
                return frame.cons(frame.coerce(frame.head(values[0]), element), frame.call_instance(instance, [frame.tail(values[0])]))
            return frame.either(frame.is_empty(values[0]), lambda: frame.default(to), more, to)
        return self._made_of_list(("recast", to), [type_], build, to, [value])

    def _made_of_list(self, key, types, build, to, values):
        """What a function of the graph makes of a list, of a type that is known before the function is."""
        instance = self.converter.instance(key, key[0], types, build)
        self.converter.assume(("result", instance.key), to)
        if instance.result is NEVER:
            self.converter.changed = True
            return self.default(to)
        return self.call_instance(instance, values)


def _is_generated(function):
    """Whether a dataclass made the method."""
    return getattr(getattr(function, "__code__", None), "co_filename", "") == "<string>"
