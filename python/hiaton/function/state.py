"""State: attributes of objects that a function sets. The graph gives their last values, and they are written when the run is over.

An attribute of which the graph knows whose it is, of an argument or of an object that was there before, is a *place*: a value that
the functions of the graph hand on to each other. Attributes of other objects can only be set where the graph does not read
them: these are written down in the order of the run.
"""

import dataclasses
import inspect
import types

from hiaton.function.dicts import came_in
from hiaton.function.errors import Unreached
from hiaton.function.observe import Observer
from hiaton.function.own_trees import with_fields
from hiaton.function.places import MISSING, PRINTED, Place
from hiaton.function.prints import Printing, has_own_text, is_print
from hiaton.function.types import (BOOL, NEVER, Const, Dct, Func, Lst, Mapping, Objs, Opaque, Sink, Tup, Union, Value, join)

@dataclasses.dataclass(frozen=True)
class Root(Objs):
    """The object that is the argument with this number."""

    number: int = 0


def unrooted(type_):
    """The type for values that are kept, of which nobody knows which argument they are."""
    if isinstance(type_, Root):
        return Objs(type_.classes, type_.none)
    if isinstance(type_, Tup):
        return Tup(tuple(map(unrooted, type_.items)), type_.cls)
    if isinstance(type_, Dct):
        return Dct(type_.keys, tuple(map(unrooted, type_.items)), type_.fresh, type_.made)
    if isinstance(type_, Lst):
        return Lst(unrooted(type_.element), type_.fresh, type_.backward)
    if isinstance(type_, Mapping):
        return dataclasses.replace(type_, value=unrooted(type_.value))
    if isinstance(type_, Union):
        return Union(tuple(map(unrooted, type_.sides)))
    return type_


def _is_of(place, holder):
    """Whether it is of a constant: also a variable of a module."""
    return place.holder is holder or isinstance(holder, types.ModuleType) and place.holder is vars(holder)


class State:
    """The part of a frame that concerns state."""

    def state_names(self):
        return [f"state@{number}" for number in range(len(self.converter.places))]

    def carries_state(self):
        return bool(self.converter.places) and "state@0" in self.env

    def state_values(self):
        return [self.held(self.env[name]) for name in self.state_names()]

    def drop_state(self):
        """It was handed on to what gives the result of this path."""
        if self.converter.places:
            for name in self.state_names():
                self.env.pop(name, None)

    def with_state(self, value):
        """What a function gives: its result, the state that it leaves, and the lists that it was lent."""
        lists = self.lists_to_give_back()
        if not self.carries_state() and not lists:
            return value
        value = self.tuple_of([value, *(self.state_values() if self.carries_state() else ()), *lists])
        self.drop_state()
        return value

    def take_state(self, values):
        for name, value in zip(self.state_names(), values):
            self.env[name] = value

    def state_types(self):
        converter = self.converter
        return [converter.known_type(("state", key)) if place.is_log else
                Tup((BOOL, converter.known_type(("state", key)))) for key, place in converter.places.items()]

    def begin_state(self, values):
        """At the beginning of the graph: what the places hold before the call."""
        values = iter(values)
        for name, (key, place) in zip(self.state_names(), self.converter.places.items()):
            if place.is_log:
                known = self.converter.assume(("state", key), Lst(NEVER, True, True))
                self.env[name] = self.default(known)
                continue
            before = self.converter.observed.get(key, NEVER)
            known = self.converter.assume(("state", key), before)
            value = self.default(known) if key in self.converter.missing else self.coerce(next(values), known)
            self.env[name] = self.tuple_of([self.held(Value(Const(False))), value])

    def needs_state(self, what):
        """This function reads or sets a place: it must be handed the state."""
        if self.carries_state():
            return
        code = id(self.where.function.__code__)
        if code in self.converter.stateful and self.element_of is not None:
            self.converter.in_order.add(id(self.element_of))
            self.converter.changed = True
            self.fail()
        if code in self.converter.stateful:
            if self.converter.no_logs and not self.converter.places:
                cls, name = min(self.converter.no_logs, key=str)
                self._refuse_to_set(Place(name, cls), None)
            self.refuse(f"'{what}' cannot be used in a function that is defined inside, "
                        "where the graph writes down what is printed and "
                        "set; take that function out of the one around it")
        self.converter.stateful.add(code)
        self.converter.changed = True
        self.fail()

    def place_of(self, value, name):
        """The place that an attribute of the value is; None: none."""
        for place in self._all_places():
            if place.name == name and not place.is_log and (
                    value.type.number == place.number if isinstance(value.type, Root) else
                    isinstance(value.type, Const) and _is_of(place, value.type.value)):
                return place
        return None

    def place_of_variable(self, name):
        """The same of a variable of the module or of a function around."""
        holder = self.where.cells.get(name, self.where.globals)
        for place in self._all_places():
            if place.name == name and place.holder is holder and place.kind != "attribute":
                return place
        return None

    def _all_places(self):
        return (*self.converter.places.values(), *self.converter.new_places.values())

    def is_new(self, place):
        """Whether this round has found it. The state does not hold it before the next one: the round goes on to find more
        places, without what is set there, as far as it is not read."""
        return place.key in self.converter.new_places

    def read_place(self, place):
        if self.is_new(place):
            raise Unreached
        self.converter.read_of_roots.add((place.cls, place.name))
        self.needs_state(place.name)
        flag, value = self.items(self.env[self._state_name(place)])
        if place.key in self.converter.missing:
            self.require(flag.ids[0], f"'{place.name}' has no value yet")
        return value

    def _state_name(self, place):
        return f"state@{list(self.converter.places).index(place.key)}"

    def notes_read(self, value, cls, name):
        """The field is read: of any object of this class, or of one that is an argument."""
        (self.converter.read_of_roots if isinstance(value.type, Root) else self.converter.read_anywhere).add((cls, name))

    def is_settled(self, path):
        """Whether what is known of the path holds for good: no attribute on it is ever set."""
        return not any(place.name in path[1:] for place in self.converter.places.values())

    # Statements that set attributes.

    def set_attribute(self, target, value, holder=None):
        holder, name = self.eval(target.value) if holder is None else holder, target.attr
        if isinstance(holder.type, (Objs, Union)):
            holder = self.operand(holder)
        self.ask_for_own(holder.type)
        self.ask_for_own_holder(target)
        if not self.converter.may_write:
            self.refuse("a change of an object cannot be converted; make a new one and give it back", target)
        value = self.held(self.shared(value))
        self._check_written(value, name, target)
        place = self._place_to_set(holder, name, target)
        if self.is_new(place):
            return
        self.needs_state(name)
        if place.is_log:
            self._log(place, [holder, value])
        else:
            self._set(place, value)

    def set_variable(self, name, value):
        """A name that is declared as `global` or `nonlocal`."""
        if not self.converter.may_write:
            self.refuse(f"'{name}' is a variable of the module or of the function around; give its value back")
        value = self.held(self.shared(value))
        self._check_written(value, name, self.node)
        place = self.place_of_variable(name)
        if place is None:
            kind = "cell" if name in self.where.cells else "global"
            place = Place(name, kind, holder=self.where.cells.get(name, self.where.globals), kind=kind)
            self._new_place(place, self.node)
        if self.is_new(place):
            return
        self.needs_state(name)
        self._set(place, value)

    def _set(self, place, value):
        known = self.converter.assume(("state", place.key), unrooted(value.type))
        self.env[self._state_name(place)] = self.tuple_of([self.held(Value(Const(True))), self.coerce(value, known)])

    def _log(self, place, values):
        entry = self.held(self.tuple_of(values))
        entry = Value(unrooted(entry.type), entry.ids)
        state = self._state_name(place)
        before = self.env[state]
        known = self.converter.assume(("state", place.key), Lst(entry.type, True, True))
        if known.element != before.type.element:
            before = self.default(known)
        self.env[state] = self.cons(self.coerce(entry, known.element), before)

    def printed(self, node):
        """Whether it is a statement `print(...)`, which is written down."""
        if not is_print(node) or not self.converter.may_write or self.eval(node.value.func).type != Const(print):
            return False
        if PRINTED.key not in self.converter.places:
            self._new_place(PRINTED, node)
            return True
        self.needs_state("print")
        printings = self.converter.printings
        if id(node) not in printings:
            printings[id(node)] = len(printings), Printing(node)
        number, printing = printings[id(node)]
        values = [self.held(self.printable(leaf)) for leaf in printing.leaves]
        for value in values:
            if not has_own_text(value.type):
                self.refuse(f"expected numbers, texts, tensors, tuples and lists of them behind 'print', found {value.type}; "
                            "print its parts", node)
        self._log(PRINTED, [self.known(number), *values])
        return True

    def append_to(self, list_, value, target):
        """Writes down that a list of the caller grows by a value."""
        value = self.held(self.shared(value))
        self._check_written(value, "an element of the list", target)
        held = list_.type.held
        place = Place("append", list, list_.type.number, held.value if held else None, "list")
        if place.key not in self.converter.places:
            self._new_place(place, target)
            return
        self.needs_state("append")
        self._log(self.converter.places[place.key], [value])

    def _check_written(self, value, name, target):
        if isinstance(value.type, (Func, Opaque, Sink)) or came_in(value.type) or (
                isinstance(value.type, Const) and not isinstance(value.type.value, (str, type(None)))):
            self.refuse(f"'{name}' cannot be set to {value.type} by a graph; "
                        "give the value back, and set it outside of the function", target)

    def _place_to_set(self, holder, name, target):
        converter, type_ = self.converter, holder.type
        if isinstance(type_, Const):
            place = self.place_of(holder, name)
            if place is None:
                self._check_settable(type_.value, type(type_.value), name, target)
                return self._new_place(Place(name, type(type_.value), holder=type_.value), target)
            return self._unless_read(place, target)
        if not isinstance(type_, Objs) or len(type_.classes) != 1:
            self.refuse(f"an attribute of {type_} cannot be set by a graph; "
                        "give the value back, and set it outside of the function", target)
        cls, = type_.classes
        if converter.reads_are_stale:
            converter.changed = True
        log = Place(name, cls)
        if not converter.is_read(cls, name):
            if log.key in converter.places:
                return log
            self._check_settable(None, cls, name, target)
            return self._new_place(log, target)
        if log.key in converter.places:
            converter.no_logs.add((cls, name))
            converter.changed = True
            self.fail()
        if not isinstance(type_, Root):
            self._ask_for_roots(cls)
            self._refuse_to_set(log, target)
        place = self.place_of(holder, name)
        if place is None:
            self._check_settable(None, cls, name, target)
            return self._new_place(Place(name, cls, type_.number), target)
        return self._unless_read(place, target)

    def _ask_for_roots(self, cls):
        """Arguments of the class are objects whose attributes the graph follows, from the next round on."""
        converter = self.converter
        candidates = {number for number, one in enumerate(converter.types)
                      if isinstance(one, Objs) and one.classes == {cls} and not one.none}
        if candidates - converter.roots:
            converter.roots |= candidates
            converter.has_new_places = converter.changed = True
        if converter.changed:
            self.fail()

    def _unless_read(self, place, target):
        converter = self.converter
        if (place.cls, place.name) in converter.read_before and not converter.reads_are_stale:
            if not converter.changed:
                converter.not_set.add((place.cls, place.name))
        if (place.cls, place.name) in converter.not_set:
            self._refuse_to_set(place, target)
        return place

    def _refuse_to_set(self, place, target):
        self.ask_for_own(Objs(frozenset([place.cls])), False)
        if place.cls in self.converter.changing:
            self.refuse(f"'{place.name}' of a '{place.cls.__name__}' is set where something else may refer to the object; set it before the object is "
                        "put into a list, another object or another name, or make a new one", target)
        self.refuse(f"'{place.name}' of a '{place.cls.__name__}' is set, and read of objects that may be the same one; "
                    "give its value back, or hand the object over as an argument of the function", target)

    def _new_place(self, place, target):
        """The place, which the state holds from the next round on."""
        converter = self.converter
        if not place.is_log:
            found = place.read(converter.args)
            if found is MISSING:
                converter.missing.add(place.key)
            else:
                observed = join(converter.state_types.get(place.key, NEVER), Observer(converter.fields).type_of(found))
                if isinstance(observed, (Opaque, Const)) and observed != Const(None) or came_in(observed):
                    self.refuse(f"'{place.name}' holds {observed}, which a graph cannot set; give the new value back", target)
                converter.observed[place.key] = observed
        converter.new_places[place.key] = place
        converter.stateful.add(id(converter.with_own_names(converter.function).__code__))
        converter.has_new_places = converter.changed = True
        return place

    def _check_settable(self, holder, cls, name, target):
        static = inspect.getattr_static(cls, name, None)
        if name.startswith("__") and not name.endswith("__"):
            self.refuse(f"'{name}' is a name of its class alone, which a graph cannot set; give it a name without '__'", target)
        is_plain = cls.__setattr__ is object.__setattr__ and not isinstance(holder, (type, types.ModuleType, types.FunctionType))
        if not is_plain or hasattr(type(static), "__set__") and not isinstance(static, types.MemberDescriptorType):
            self.refuse(f"'{cls.__name__}' does more than set a field where '{name}' is set; "
                        "set it outside of the function", target)

    # Branches.

    def with_changes_of_sides(self, names, condition, then, otherwise, key):
        """A branch one of whose sides may set something, or change a list: both give what the names stand for behind them."""
        writes = ("writes", self.key, key)
        before = {name: self.env[name] for name in with_fields(names, self.env)}

        def go_back():
            for name in filter(self.is_own, names):
                self.forget(name)
            self.env.update(before)
        if writes not in self.converter.writing and not self.side_lists:
            def watched(side):
                def run():
                    self.left_state = None
                    try:
                        value = side()
                    finally:
                        left = self.left_state or {name: self.env.get(name) for name in names}
                        self.left_state = None
                        go_back()
                    if None not in left.values() and any(left[name] is not before[name] for name in names):
                        self.converter.writing.add(writes)
                        self.converter.changed = True
                    return value
                return run
            return self.joined_sides(condition, watched(then), watched(otherwise), key)

        def giving(side):
            def run():
                self.left_state = None
                try:
                    value = side()
                    left = self.left_state or {name: self.packed(name) if name in self.env else None for name in names}
                finally:
                    self.left_state = None
                    go_back()
                return self.tuple_of([value, *(self.held(left[name] or self.packed(name)) for name in names)])
            return run
        made = self.joined_sides(condition, giving(then), giving(otherwise), ("with state", *key))
        if not isinstance(made.type, Tup) or len(made.type.items) != len(names) + 1:
            self.converter.changed = True
            self.fail()
        value, *left = self.items(made)
        for name, held in zip(names, left):
            self.set_name(name, held)
        return value
