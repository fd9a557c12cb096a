"""Dicts whose keys are known before the run: a value for each key."""

import ast
import dataclasses
import enum

from hiaton.function.key_orders import key_type
from hiaton.function.known_items import MOST_KEYS
from hiaton.function.mappings import empty_mapping
from hiaton.function.own_trees import is_field
from hiaton.function.partials import is_partial
from hiaton.function.scopes import changed, read_names
from hiaton.function.types import (NEVER, NONE, NUMBERS, Const, Dct, DictView, Func, Lst, Mapping, NeverType, NewObj, Scalar, Sink, Symbol, Tens, Tup, Union,
                                   Value, sides_of)


def is_key(value):
    """Whether it may be a key of a dict that a graph knows."""
    return type(value) in (*NUMBERS, str, type(None)) or isinstance(value, enum.Enum)


def is_fresh(type_):
    """Whether it is, or is a tuple of, a list or a dict that nobody else refers to."""
    return any(map(is_fresh, type_.items)) if isinstance(type_, Tup) else getattr(type_, "fresh", False)


def makes_new(node):
    """Whether an expression gives a list, a dict or a set that it makes itself."""
    is_call = isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("dict", "list", "set")
    return is_call or isinstance(node, (ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Set, ast.SetComp))


def may_refer(type_):
    """Whether a value of the type may be, or hold, a list or a dict."""
    return not isinstance(type_, (Scalar, Sink, Tens, Symbol, Const, NeverType)) and (
        not isinstance(type_, (NewObj, Tup, Union)) or any(map(may_refer, getattr(type_, "items", getattr(type_, "sides", ())))))


def _lists_below(type_):
    """How many lists a value of the type may hold inside of each other; None: it may hold anything."""
    if isinstance(type_, Lst):
        below = _lists_below(type_.element)
        return None if below is None else below + 1
    if isinstance(type_, (NewObj, Tup, Union)):
        parts = [_lists_below(part) for part in getattr(type_, "items", getattr(type_, "sides", ()))]
        return None if None in parts else max(parts, default=0)
    return 0 if isinstance(type_, (Scalar, Sink, Tens, Symbol, Const, NeverType)) else None


def _may_hold_mapping(type_, held):
    """Whether a value of the type may be, or hold, a dict or a set. One that nobody else refers to is no other one."""
    if isinstance(type_, (Lst, Mapping)):
        is_like = isinstance(type_, Mapping) and type_.cls is held.cls and (NEVER in (type_.key, held.key) or type_.key == held.key)
        return is_like and not type_.fresh or _may_hold_mapping(type_.element if isinstance(type_, Lst) else type_.value, held)
    if isinstance(type_, (NewObj, Tup, Union)):
        return any(_may_hold_mapping(part, held) for part in getattr(type_, "items", getattr(type_, "sides", ())))
    return may_refer(type_)


def may_hold(type_, held):
    """Whether a value of the type may be, or hold, a list or a dict of another one: a list of numbers holds no list of lists, and one that lies
    in an array is that of a name alone."""
    if isinstance(type_, Lst) and type_.array and type_.fresh:
        return False
    if isinstance(held, Mapping):
        return _may_hold_mapping(type_, held)
    most, least = _lists_below(type_), _lists_below(held)
    return may_refer(type_) and (most is None or least is None or most >= least)


class Dicts:
    def eval_Dict(self, node):
        if not node.keys:
            return self.default(empty_mapping(dict))
        pairs = []
        for key, item in zip(node.keys, node.values):
            value = self._kept(self.eval(item), item) if key is not None else self._taken_apart_dict(self.eval(item), node)
            pairs.append((None if key is None else self.eval(key), value))
        has_changed_items = node is self.dict_with_changed_items and len({None if key is None else key_type(key.type) for key, _ in pairs} | {None}) == 2
        if not has_changed_items and all(isinstance(value.type, Dct) if key is None else _is_known_key(key.type) for key, value in pairs):
            found = {}
            for key, value in pairs:
                found.update(zip(value.type.keys, self.items(value)) if key is None else [(key.type.value, value)])
            return self.dict_of(found)
        made = self.default(empty_mapping(dict))
        for key, value in pairs:
            made = self.with_key(made, key, value) if key is not None else self.updated(made, value)
        return made

    def _taken_apart_dict(self, value, node):
        """What stands behind '**'."""
        if isinstance(value.type, Const) and type(value.type.value) is dict:
            value = self.known_dict(value.type.value)
        if not isinstance(value.type, (Dct, Mapping)) or getattr(value.type, "cls", dict) is not dict:
            self.refuse(f"'**' takes apart dicts, found {value.type}; write the keys out", node)
        return value

    def eval_DictComp(self, node):
        found, unknown_keys = {}, []

        def add():
            key = self.eval(node.key).type
            unknown_keys.extend([] if _is_known_key(key) else [key])
            found[None if unknown_keys else key.value] = self.eval(node.value)
        before, self.env = self.env, dict(self.env)
        try:
            with self.on_a_side():
                unknown = node if node is self.dict_with_changed_items else self.over_known_items(node.generators, add)
        finally:
            self.keep_changes(before, {part.id for each in node.generators for part in ast.walk(each.target) if isinstance(part, ast.Name)})
            self.env = before
        if unknown is not None or unknown_keys:
            made = self.dict_of_pairs(self.whole_list(self.comprehension(self._pairs_of(node)), node))
            return self.owning(made) if makes_new(node.value) else made
        return self.dict_of(found) if found else self.default(empty_mapping(dict))

    @staticmethod
    def _pairs_of(node):
        """The list of the keys and items that a dict is made of, one after the other."""
        if not hasattr(node, "hiaton_pairs"):
            made = ast.ListComp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)
            node.hiaton_pairs = ast.fix_missing_locations(ast.copy_location(made, node))
        return node.hiaton_pairs

    def dict_of(self, found):
        if len(found) > MOST_KEYS:
            self.refuse(f"a dict of more than {MOST_KEYS} keys cannot be converted; use a list")
        values = [self.held(self.shared(value)) for value in found.values()]
        ids = tuple(id_ for value in values for id_ in value.ids)
        return Value(Dct(tuple(found), tuple(value.type for value in values), True, True), ids)

    def dict_item(self, value, key):
        keys = list(value.type.keys)
        if isinstance(key.type, Const):
            if not is_key(key.type.value) or key.type.value not in keys:
                self.fail(f"no key {key.type.value!r}")
            return self.items(value)[keys.index(key.type.value)]

        def of_key(number):
            if number == len(keys):
                self.fail("no such key")
            same = self.equal(key, self.constant_value(keys[number], "a key"))
            if isinstance(same, bool):
                return self.items(value)[number] if same else of_key(number + 1)
            return self.either(same, lambda: self.items(value)[number], lambda: of_key(number + 1),
                               ("key", id(self.node), number))
        return of_key(0)

    def dict_has(self, value, key):
        if isinstance(key.type, Const):
            return is_key(key.type.value) and key.type.value in value.type.keys
        found = False
        for known in value.type.keys:
            found = self.any_of(found, self.equal(key, self.constant_value(known, "a key")))
        return found

    def item_of_known_dict(self, holder, key):
        """Of a dict that was there before the run."""
        key = self._key_to_look_up(key)
        if not _is_known_key(key.type):
            return self.dict_item(self._known_dict_to_search(holder, key), key)
        name = key.type.value
        if name not in holder:
            self.fail(f"no key {name!r}")
        return self.fixed_value("item", holder, name, holder[name], str(name))

    def _key_to_look_up(self, key):
        """A key of one type; one of several members of an Enum stays as it is."""
        return key if all(isinstance(side, Const) for side in sides_of(key.type)) else self.chosen(key)

    def _known_dict_to_search(self, holder, key):
        """A dict that was there before the run, in which the run looks up a key."""
        if len(holder) > MOST_KEYS:
            self.refuse(f"the key of a dict of more than {MOST_KEYS} keys must be known when the graph is made, found {key.type}; make "
                        "numbers of words before the call, which are indices of lists and of the rows of a tensor")
        return self.known_dict(holder)

    def known_dict_has(self, holder, key):
        key = self._key_to_look_up(key)
        if not _is_known_key(key.type):
            return self.dict_has(self._known_dict_to_search(holder, key), key)
        name = key.type.value
        self.converter.guard("has item" if name in holder else "no item", holder, name, None)
        return name in holder

    def known_dict(self, holder):
        """A dict that was there before the run, with all of its items."""
        self._known_keys(holder)
        values = [self.fixed_value("item", holder, key, holder[key], str(key)) for key in holder]
        return Value(Dct(tuple(holder), tuple(value.type for value in values)), tuple(id_ for value in values for id_ in value.ids))

    def _known_keys(self, holder):
        if not all(is_key(key) or isinstance(key, tuple) and all(map(is_key, key)) for key in holder):
            self.refuse("expected numbers, texts, None and tuples of them as the keys of a dict that is gone over or searched; hand the "
                        "dict over as an argument")
        self.converter.guard("list", holder, None, tuple(holder))
        return self.tuple_of([self.constant_value(key, "a key") for key in holder])

    def method_of_known_dict(self, holder, name, args, named):
        if name in ("items", "values", "keys", "copy") and not args and not named:
            return self.dict_method(self.known_dict(holder), name, args)
        if named or name != "get" or len(args) not in (1, 2):
            self.refuse(f"dict.{name} of a dict that is no argument cannot be converted; hand the dict over as an argument")
        key = self._key_to_look_up(args[0])
        if not _is_known_key(key.type):
            return self.dict_method(self._known_dict_to_search(holder, key), name, [key, *args[1:]])
        if self.known_dict_has(holder, key):
            return self.item_of_known_dict(holder, key)
        return args[1] if len(args) == 2 else Value(NONE)

    def dict_method(self, value, name, args):
        keys = self.tuple_of([self.constant_value(key, "a key") for key in value.type.keys], DictView)
        values = self.tuple_of(self.items(value), DictView)
        if name == "get" and len(args) in (1, 2):
            has = self.dict_has(value, args[0])
            otherwise = args[1] if len(args) == 2 else Value(NONE)
            if isinstance(has, bool):
                return self.dict_item(value, args[0]) if has else otherwise
            return self.either(has, lambda: self.dict_item(value, args[0]), lambda: otherwise, ("get", id(self.node)))
        if args or name not in ("keys", "values", "items", "copy"):
            self.refuse(f"dict.{name} cannot be converted here; make another dict with the keys written out")
        if name == "copy":
            return self.dict_of(dict(zip(value.type.keys, self.items(value))))
        if name == "items":
            return self.tuple_of([self.tuple_of(pair) for pair in zip(self.items(keys), self.items(values))], DictView)
        return keys if name == "keys" else values

    def set_item(self, target, value):
        """name[key] = value, of a list or a dict that nobody else refers to."""
        held = self.env.get(getattr(target.value, "id", None))
        replaced = {name for name in changed(target.slice) & read_names([target.value]) if is_field(name)}
        if replaced:
            self.refuse(f"'{min(replaced)}' may be changed by the index in '{ast.unparse(target)}'; compute it on a line before", target)
        if changed(target.slice) & read_names([target.value]) and not isinstance(target.slice, ast.Slice):
            self.set_item_with_keys(target, value)
            return
        if isinstance(target.value, (ast.Subscript, ast.Call)) and self.set_in_item(target, value):
            return
        if self.own_name(target.value) is not None:
            self.call_special(target.value.id, "__setitem__", [self.eval(target.slice), value], {})
            return
        if held is not None and isinstance(held.type, Lst):
            self.set_element(target, held, value)
            return
        if held is not None and isinstance(held.type, Mapping):
            self.set_in_mapping(target, value)
            return
        if isinstance(getattr(held, "type", None), Tens):
            self.refuse("a tensor never changes; make another one, as by hia.where(mask, value, x)", target)
        if isinstance(target.value, ast.Subscript):
            if self.set_in_table(target, value):
                return
            self.ask_for_own_holder(target)
            self.refuse("an element of a list inside of another list cannot be set where something else may refer to an inner list; make these "
                        "by [[...] for ...], or set the whole inner list, rows[i] = [...]", target)
        if held is None or not isinstance(held.type, Dct):
            self.ask_for_own_holder(target)
            self.ask_for_own(getattr(held, "type", None))
            self.refuse("a change of an object cannot be converted; make a new one and give it back", target)
        if not held.type.fresh:
            self.refuse(f"'{target.value.id}' is a dict that others may refer to; make a new one and give it back", target)
        key = self.eval(target.slice)
        if not _is_known_key(key.type):
            self.bind(target.value.id, self.with_key(self.as_mapping(held), key, value))
            return
        found = dict(zip(held.type.keys, self.items(held)))
        found[key.type.value] = value
        self.bind(target.value.id, self.dict_of(found))

    def shared(self, value):
        """A list or a dict that something else refers to from now on."""
        if not is_fresh(value.type):
            return value
        value = self.forward(value)
        type_ = value.type
        if isinstance(type_, NewObj):
            return self.made(type_.cls, dict(zip(type_.names, self.items(value))))
        if isinstance(type_, Tup):
            return self.tuple_of([self.shared(item) for item in self.items(value)], type_.cls)
        if isinstance(type_, Dct) and type_.fresh:
            return Value(Dct(type_.keys, type_.items, False, type_.made), value.ids)
        if isinstance(type_, Mapping):
            value = self.with_plain_items(value)
            return Value(dataclasses.replace(value.type, fresh=False), value.ids)
        return Value(Lst(type_.element), value.ids) if isinstance(type_, Lst) else value

    def iterated(self, value):
        """What a loop goes over: of a dict, its keys."""
        if isinstance(value.type, Mapping):
            return self.keys_of_mapping(value)
        if isinstance(value.type, Dct):
            return self.tuple_of([Value(Const(key)) for key in value.type.keys])
        if isinstance(value.type, Const) and type(value.type.value) is dict:
            return self._known_keys(value.type.value)
        if isinstance(value.type, Const) and isinstance(value.type.value, enum.EnumMeta):
            return self.tuple_of([Value(Const(member)) for member in value.type.value])
        if isinstance(value.type, Const) and type(value.type.value) is str:
            return self.tuple_of([Value(Const(character)) for character in value.type.value])
        return value


def _is_known_key(type_):
    return isinstance(type_, Const) and is_key(type_.value)


def _any_part(type_, test):
    parts = [*getattr(type_, "items", ()), *getattr(type_, "sides", ()), *([type_.element] if hasattr(type_, "element") else [])]
    return test(type_) or any(_any_part(part, test) for part in parts)


def came_in(type_):
    """Whether a value of the type has a dict that is an object of the caller."""
    return _any_part(type_, lambda part: isinstance(part, (Dct, Mapping)) and not part.made)


def holds_sink(type_):
    return _any_part(type_, lambda part: isinstance(part, Sink))


def holds_function(type_):
    return _any_part(type_, lambda part: isinstance(part, Func) or is_partial(part))
