"""Dicts whose keys the run tells, and sets. Where the items are numbers, or there are none, they are hash tables, and else search trees; see
key_tables.py and search_trees.py.

    memo[i, j] = x          memo = table_with(memo, (i, j), x)

As a list, one is changed by giving its name another value, where nobody else refers to it, and is lent to functions that change it; see
lists.py and lent_lists.py. Keys are ints, bools, strs, and tuples of them.
"""

import ast
import dataclasses
import functools

from hiaton.function import prelude_mappings, prelude_tables, prelude_trees
from hiaton.function.default_dicts import Counts
from hiaton.function.graph_types import items_as_list
from hiaton.function.key_orders import are_never_equal, key_type
from hiaton.function.known_items import MOST_UNROLLED
from hiaton.function.owned_items import raw_item, store_type
from hiaton.function.recasts import stands_as
from hiaton.function.scopes import changed
from hiaton.function.types import (BOOL, INT, NEVER, NONE, Const, Dct, GivenItems, KeyTable, Lst, Mapping, SearchTree, Tup, Value, general, join, kept)

_VIEWS = ("items", "keys", "values")
_OF_TWO_SETS = {"BitOr": "union", "BitAnd": "intersection", "Sub": "difference", "BitXor": "symmetric_difference"}


@functools.cache
def store_operations():
    """The functions of prelude_tables.py and prelude_trees.py that are operations of the graph: the names of the methods, by identity."""
    of_tables = ("first_slot", "next_slot", "in_slot", "has_key", "key", "item", "lookup", "entries", "size", "slots", "changed", "appended",
                 "with_slot", "distance", "counted", "empty")
    of_trees = ("left", "right", "size", "number", "key", "item", "node")
    found = {id(getattr(prelude_tables, f"table_{name}")): f"table_{name}" for name in of_tables}
    found.update((id(getattr(prelude_trees, f"tree_{name}")), f"tree_{name}") for name in of_trees)
    return {**found, id(prelude_trees.keys_ordered): "keys_ordered"}


def empty_mapping(cls):
    return Mapping(NEVER, NONE if cls is set else NEVER, cls, True)


class Mappings:
    gone_over = None      # the tree of what is gone over where it stands
    in_any_order = None   # the same where the order of what it gives does not count

    # What a dict or a set consists of.

    def store_of(self, value):
        """The hash table, or the search tree."""
        key, item = value.type.key, value.type.value
        if self.converter.lies_in_table(value.type):
            return Value(KeyTable(key, item), value.ids)
        return Value(store_type(value.type), value.ids[:1])

    def _with_store(self, value, store, following=None):
        """The dict or set with another store, to which nobody else refers. `following`: the number for the next key of a tree."""
        type_ = dataclasses.replace(value.type, fresh=True, made=True)
        is_tree = isinstance(store.type, SearchTree)
        return Value(type_, (store.ids[0], following or value.ids[1]) if is_tree else store.ids)

    def call_store(self, name, args):
        """What a function of prelude_tables.py or prelude_trees.py gives, which is told apart by `_table` or `_tree` in its name."""
        return self.call_function(getattr(prelude_tables if hasattr(prelude_tables, name) else prelude_trees, name), args, {})

    def call_mappings(self, name, args):
        return self.call_function(getattr(prelude_mappings, name), args, {})

    def _find(self, value, key, is_turned=True):
        """Where a key is: whether it is there, a condition, and what gives its item, to look at it; None: there is no such key."""
        found = self.find_item(value, key)
        return None if found is None else (found[0], lambda: self.read_item(value.type, found[1](), is_turned))

    def find_item(self, value, key):
        """The same, with the item as it lies there."""
        key = self._key_in(value, key)
        if key is None:
            return None
        if isinstance(value.type, GivenItems):
            rest = self.call_mappings("pairs_from_key", [self._pairs(value), key])
            return self.truth(rest), lambda: self.items(self.head(rest))[1]
        store = self.store_of(value)
        if isinstance(store.type, KeyTable):
            slot = self.call_store("slot_of_key", [self.table_lookup(store), key])
            return self.op("ge", slot.ids[0], self.constant(0, "i64")), lambda: self.table_item(store, self.table_entry(store, slot))
        place = self.call_store("place_in_tree", [store, key])
        return self.is_tree(place), lambda: self.tree_item(place)

    def _key_in(self, value, key):
        """A key to look up, of the type of those that are there; None: it is none of them."""
        key = self.chosen(key)
        wanted, found = value.type.key, key_type(key.type)
        if found is None:
            self._refuse_key(key.type)
        if wanted is NEVER or are_never_equal(wanted, found):
            return None
        if found != wanted:
            self.refuse(f"expected a key of the type {wanted}, as those that are there, found {key.type}; convert it")
        return self.coerce(key, wanted)

    def _refuse_key(self, type_):
        self.refuse(f"expected ints, bools, strs or tuples of them as keys which the run tells, found {type_}; give things numbers, and use these")

    def with_key(self, value, key, item):
        """The dict or set with one more key, or with another item of one."""
        key = self.chosen(key)
        found = key_type(key.type)
        if found is None:
            self._refuse_key(key.type)
        if value.type.key not in (NEVER, found):
            self.refuse(f"expected keys of one type, found {value.type.key} and {key.type}; convert them")
        new = self.with_new_item(value, item)
        if new is None:
            item = self.held(self.shared(self.forward(item)))
            value = self.as_new_mapping(value)
            new = join(value.type.value, general(item.type)), item
        to, item = Mapping(found, new[0], value.type.cls, True, inner=value.type.inner), new[1]
        value, item = self.coerce(value, to), self.coerce(item, to.value)
        store, args = self.store_of(value), [self.coerce(key, found), Value(raw_item(to.value), item.ids) if to.owns else item]
        if isinstance(store.type, KeyTable):
            return self._with_store(value, self.coerce(self.call_store("table_with", [store, *args]), store.type))
        number = Value(INT, value.ids[1:])
        made = self.coerce(self.call_store("tree_with", [store, *args, number]), store.type)
        return self._with_store(value, made, self.op("add", number.ids[0], self.constant(1, "i64")))

    def with_item_there(self, value, key, item):
        """A dict that owns its items with another one of a key that is there."""
        if item.type != value.type.value:
            return self.with_key(value, key, item)
        store = self.store_of(value)
        made = self.call_store("tree_with_item", [store, self._key_in(value, key), Value(store.type.value, item.ids)])
        return self._with_store(value, self.coerce(made, store.type))

    def _without(self, value, key):
        """The dict or set without a key that is there."""
        store = self.store_of(value)
        name = "table_without" if isinstance(store.type, KeyTable) else "tree_without"
        return self._with_store(value, self.coerce(self.call_store(name, [store, self._key_in(value, key)]), store.type))

    @staticmethod
    def _pairs(value):
        """The keys and items of a dict that an object of the caller holds."""
        return Value(items_as_list(value.type), value.ids)

    def as_new_mapping(self, value):
        """A copy, which nobody else refers to: what is in it is shared until one of both is changed."""
        if isinstance(value.type, GivenItems):
            return self.dict_of_pairs(self._pairs(value))
        value = self.with_plain_items(value)
        return Value(dataclasses.replace(value.type, fresh=True, made=True), value.ids)

    def as_mapping(self, value):
        """A dict of known keys as one whose keys the run tells."""
        return self.updated(self.default(empty_mapping(dict)), value)

    def mapping_as(self, value, to):
        """The value as one of keys and items of wider types."""
        if isinstance(value.type, Dct):
            value = self.as_mapping(value)
        if value.type.key is NEVER:
            return self.default(to)
        if isinstance(to, GivenItems):
            pairs = self._pairs(value) if isinstance(value.type, GivenItems) else self.forward(self.view_of_mapping(value, "items"))
            return Value(to, self.coerce(pairs, items_as_list(to)).ids)
        if isinstance(value.type, GivenItems):
            return Value(to, self.coerce(self.as_new_mapping(value), dataclasses.replace(to, fresh=True, made=True)).ids)
        if value.type.owns:
            return Value(to, value.ids if value.type.value == to.value else self.with_items_as(value, to).ids)
        kinds = self.converter.graph_types
        if kinds(value.type) == kinds(to) and stands_as(value.type.value, to.value):
            return Value(to, value.ids)
        if not value.type.fresh:
            self.refuse(f"expected dicts or sets of one type, found {value.type} and {to}; convert the keys and the items")
        parts = self.view_of_mapping(value, "keys" if to.cls is set else "items")
        made = self.new_mapping_by("with_keys" if to.cls is set else "with_pairs", [self.default(to), parts], to)
        return Value(to, made.ids)

    def length_of_mapping(self, value):
        if isinstance(value.type, GivenItems):
            return self.builtin_len(self._pairs(value))
        store = self.store_of(value)
        return self.table_size(store) if isinstance(store.type, KeyTable) else self.tree_size(store)

    def is_filled_mapping(self, value):
        """bool(value): a condition."""
        if value.type.key is NEVER:
            return False
        return self.op("ne", self.length_of_mapping(value).ids[0], self.constant(0, "i64"))

    def mapping_has(self, value, key):
        """key in value: a condition."""
        found = self._find(value, key)
        return False if found is None else found[0]

    def mapping_item(self, value, key, is_turned=True):
        if value.type.cls is set:
            self.fail("'set' object is not subscriptable")
        found = self._find(value, key, is_turned)
        if value.type.cls is Counts:
            return self._mapping_get(value, key, self.first_item(Counts))
        if found is None:
            self.fail("no such key")
        self.require(found[0], "no such key")
        return found[1]()

    def _mapping_get(self, value, key, otherwise):
        found = self._find(value, key)
        return otherwise if found is None else self.either(found[0], found[1], lambda: otherwise, ("get", id(self.node)))

    # What is gone over.

    def keys_of_mapping(self, value, in_any_order=False):
        """A list of the keys, in the order in which they were set first."""
        if value.type.cls is set and not in_any_order:
            self.refuse("a set has no order that a graph knows; go over sorted(...) of it")
        return self.view_of_mapping(value, "keys")

    def view_of_mapping(self, value, name):
        """A list of what dict.keys(), dict.values() or dict.items() gives."""
        if value.type.owns and name != "keys":
            value = self.with_plain_items(value)
        if value.type.key is not NEVER and isinstance(value.type, GivenItems):
            return self.call_mappings(f"{name}_of_pairs", [self._pairs(value)])
        store, part = self.store_of(value), {"keys": "keys", "values": "items", "items": "pairs"}[name]
        if value.type.key is NEVER:
            return self.default(Lst(NEVER))
        if isinstance(store.type, KeyTable):
            return self.call_store(f"{part}_of_table", [store])
        return self.call_store(f"{part}_of_entries", [self._entries(store)])

    def _entries(self, tree):
        """What is in a tree, in the order in which the keys were set first."""
        entries = Lst(Tup((INT, tree.type.key, tree.type.value)))

        def in_order():
            found = self.call_store("entries_before", [tree, self.default(entries)])
            number = Value(Const(prelude_trees.number_of_entry))
            return self.call_prelude("first_in_order", [found, self.tree_size(tree), number, Value(Const(False))])
        return self.either(self.is_tree(tree), in_order, lambda: self.default(entries), entries)

    def peek_to_go_over(self, node):
        """The value of an expression that is gone over at once: what d.items() and its like give is not kept."""
        before, self.gone_over = self.gone_over, node
        try:
            return self.peek(node, True)
        finally:
            self.gone_over = before

    def as_list_in_any_order(self, node):
        """What as_list() gives, of which the order does not count."""
        before, self.in_any_order = self.in_any_order, node
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)) and not changed(node.elt, *node.generators):
            self.in_any_order = node.generators[0].iter
        try:
            return self.as_list(node)
        finally:
            self.in_any_order = before

    def mapping_given(self, pairs):
        """A dict of the caller, of its keys and items."""
        key, item = pairs.type.element.items
        to = Mapping(key_type(key), kept(general(item)), dict, made=False)
        none = self.default(to)
        store = self.store_of(none)
        if isinstance(store.type, KeyTable):
            return Value(to, self.new_mapping_by("with_pairs", [none, pairs], to).ids)
        tree = self.coerce(self.call_store("tree_of_pairs", [pairs, store]), store.type)
        return Value(to, (*tree.ids, *self.held(self.builtin_len(pairs)).ids))

    # New dicts and sets.

    def new_mapping_by(self, name, args, to):
        """What a function of prelude_mappings.py makes: a new dict or set of this type."""
        made = self.call_mappings(name, args)
        return self.coerce(self.as_new_mapping(made) if isinstance(made.type, Mapping) else made, dataclasses.replace(to, fresh=True, made=True))

    def eval_Set(self, node):
        made = self.default(empty_mapping(set))
        for item in node.elts:
            if isinstance(item, ast.Starred):
                made = self._set_of_two("union", made, self.as_set(self.as_list_in_any_order(item.value)))
            else:
                made = self.with_key(made, self.eval(item), Value(NONE))
        return made

    def eval_SetComp(self, node):
        if not hasattr(node, "hiaton_pairs"):
            node.hiaton_pairs = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
        return self.as_set(self.as_list_in_any_order(node.hiaton_pairs))

    def call_set(self, node):
        """set(...), of what is gone over where it stands."""
        if node.keywords or len(node.args) > 1:
            self.refuse("this call of 'set' cannot be converted; give it one thing to go over", node)
        return self.as_set(self.as_list_in_any_order(node.args[0])) if node.args else self.default(empty_mapping(set))

    def call_dict(self, node):
        """dict(...), of a dict, of pairs, or of arguments by name."""
        named = {keyword.arg: self.eval(keyword.value) for keyword in node.keywords}
        if not node.args:
            return self.dict_of(named) if named else self.default(empty_mapping(dict))
        if len(node.args) > 1 or named:
            self.refuse("this call of 'dict' cannot be converted; give it one thing to go over, or arguments by name", node)
        if isinstance(node.args[0], ast.Name):
            value = self.chosen(self.peek(node.args[0]))
            if isinstance(value.type, Const) and type(value.type.value) is dict:
                value = self.known_dict(value.type.value)
            if isinstance(value.type, Dct):
                return self.dict_method(value, "copy", [])
            if isinstance(value.type, Mapping) and value.type.cls is not set:
                made = self.as_new_mapping(value)
                return Value(dataclasses.replace(made.type, cls=dict), made.ids)
        pairs = self.whole_list(self.as_list(node.args[0]), node)
        if not isinstance(pairs.type, Lst):
            self.refuse(f"a dict of {pairs.type} cannot be converted; make it of a list of pairs", node)
        return self.dict_of_pairs(pairs)

    def as_set(self, value):
        """A set of what a value gives when it is gone over: a new one."""
        value = self.chosen(value)
        if isinstance(value.type, Mapping) and value.type.cls is set:
            return self.as_new_mapping(value)
        items = self.iterated(value)
        if isinstance(items.type, Tup):
            if len(items.type.items) > MOST_UNROLLED:
                self.refuse(f"a set of more than {MOST_UNROLLED} known items cannot be converted; make it of a list")
            made = self.default(empty_mapping(set))
            for item in self.items(items):
                made = self.with_key(made, item, Value(NONE))
            return made
        if not isinstance(items.type, Lst):
            self.refuse(f"a set of {value.type} cannot be converted; make it of a list")
        return self._with_all("with_keys", self.default(empty_mapping(set)), items)

    def dict_of_pairs(self, pairs):
        """A dict of a list of keys and items."""
        return self._with_all("with_pairs", self.default(empty_mapping(dict)), pairs)

    def _with_all(self, name, made, items):
        """A dict with all pairs of a list, or a set with all of its elements, besides what it has."""
        items = self.forward(items)
        element, is_set = items.type.element, made.type.cls is set
        if element is NEVER:
            return self.as_new_mapping(made)
        if not is_set and (not isinstance(element, Tup) or len(element.items) != 2):
            self.refuse(f"expected pairs of a key and an item, found {element}; give tuples")
        key = element if is_set else element.items[0]
        if key_type(key) is None:
            self._refuse_key(key)
        to = Mapping(key_type(key), join(made.type.value, NONE if is_set else kept(general(element.items[1]))), made.type.cls, True, inner=made.type.inner)
        if made.type.key not in (NEVER, to.key):
            self.refuse(f"expected keys of one type, found {made.type.key} and {to.key}; convert them")
        made = self.coerce(self.as_new_mapping(made), to)
        return self.new_mapping_by(name, [made, items], to)

    def updated(self, value, other):
        """A dict with the items of another one."""
        if isinstance(other.type, Dct):
            for key, item in zip(other.type.keys, self.items(other)):
                value = self.with_key(value, self.known(key), item)
            return value
        return self._with_all("with_pairs", value, self.view_of_mapping(other, "items"))

    # Methods and operators.

    def mapping_method(self, value, name, args, node):
        """A method that changes nothing, of a dict or a set."""
        is_set = value.type.cls is set
        if not is_set and name == "get" and len(args) in (1, 2):
            return self._mapping_get(value, args[0], args[1] if len(args) == 2 else Value(NONE))
        if not is_set and name in _VIEWS and not args:
            if node is not self.gone_over:
                self.refuse(f"what dict.{name}() gives changes as the dict does; go over it where it is made, or make a list of it, list(...)", node)
            return self.view_of_mapping(value, name)
        if name == "copy" and not args:
            return self.as_new_mapping(value)
        if name == "most_common" and value.type.cls is Counts and len(args) < 2:
            return self.most_common(value, args)
        if is_set and name in _OF_TWO_SETS.values() and len(args) == 1:
            return self._set_of_two(name, value, self.as_set(args[0]))
        if is_set and name in ("issubset", "issuperset", "isdisjoint") and len(args) == 1:
            return self.truth_value(self._compared_sets(name, value, self.as_set(args[0])))
        self.refuse(f"{value.type.cls.__name__}.{name} cannot be converted here; methods that change a dict or a set that the function made are "
                    "statements of their own", node)

    def _set_of_two(self, name, a, b):
        """What a binary operation of sets gives: a new set."""
        def keys(value):
            return self.keys_of_mapping(value, True)
        if name == "union":
            return self._with_all("with_keys", a, keys(b))
        if NEVER in (a.type.key, b.type.key):
            is_kept = name == "symmetric_difference" or name == "difference" and a.type.key is not NEVER
            return self.as_new_mapping(a if b.type.key is NEVER else b) if is_kept else self.default(empty_mapping(set))
        if a.type.key != b.type.key:
            self.refuse(f"expected sets of one type, found {a.type} and {b.type}; convert the items")
        if name == "intersection":
            return self.new_mapping_by("keys_in_both", [keys(a), b], a.type)
        made = self.new_mapping_by("keys_in_one", [keys(a), b, self.default(empty_mapping(set))], a.type)
        return made if name == "difference" else self.new_mapping_by("keys_in_one", [keys(b), a, made], a.type)

    def _both_as_mappings(self, *values):
        return [self.as_mapping(value) if isinstance(value.type, Dct) else value for value in values]

    def binary_of_mappings(self, operator, left, right):
        """What a binary operator gives of two sets, or `|` of two dicts."""
        left, right = self._both_as_mappings(left, right)
        cls = left.type.cls
        if cls is right.type.cls is set and operator in _OF_TWO_SETS:
            return self._set_of_two(_OF_TWO_SETS[operator], left, right)
        if cls is right.type.cls is dict and operator == "BitOr":
            return self.updated(left, right)
        if dict is not cls is not set or dict is not right.type.cls is not set:
            self.refuse("operators of defaultdict and Counter cannot be converted; write a loop")
        self.fail(f"unsupported operand types: {left.type} and {right.type}")

    def _compared_sets(self, name, a, b):
        """A condition."""
        if NEVER in (a.type.key, b.type.key):
            return True if name == "isdisjoint" else self.negated(self.is_filled_mapping(a if name == "issubset" else b))
        if a.type.key != b.type.key:
            self.refuse(f"expected sets of one type, found {a.type} and {b.type}; convert the items")
        if name == "isdisjoint":
            return self.negated(self.is_filled_mapping(self._set_of_two("intersection", a, b)))
        a, b = (a, b) if name == "issubset" else (b, a)
        return self.truth(self.call_mappings("are_all_in", [self.keys_of_mapping(a, True), b]))

    def order_of_sets(self, operator, left, right):
        """<=, <, >= and > of two sets: a condition."""
        if operator in ("Gt", "GtE"):
            left, right = right, left
        is_within = self._compared_sets("issubset", left, right)
        return is_within if operator in ("LtE", "GtE") else self.all_of(is_within, self.negated(self._compared_sets("issubset", right, left)))

    def equal_mappings(self, left, right):
        """==: a condition."""
        left, right = self._both_as_mappings(left, right)
        if Counts in (left.type.cls, right.type.cls):
            self.refuse("'==' of a Counter cannot be converted; compare dict(...) of it")
        if set in (left.type.cls, right.type.cls) and left.type.cls is not right.type.cls:
            return False
        if NEVER in (left.type.key, right.type.key):
            return self.all_of(self.negated(self.is_filled_mapping(left)), self.negated(self.is_filled_mapping(right)))
        if left.type.key != right.type.key:
            self.refuse(f"'==' of {left.type} and {right.type} cannot be converted; compare their parts")
        is_set = left.type.cls is set
        name, parts = ("are_all_in", "keys") if is_set else ("are_equal_in", "items")
        same = self.op("eq", self.length_of_mapping(left).ids[0], self.length_of_mapping(right).ids[0])
        return self.truth(self.either(same, lambda: self.call_mappings(name, [self.view_of_mapping(left, parts), right]),
                                      lambda: Value(Const(False)), BOOL))
