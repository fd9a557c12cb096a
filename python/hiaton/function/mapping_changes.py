"""Changes of dicts whose keys the run tells, and of sets: the name stands for another one from then on. See mappings.py and lists.py."""

from hiaton.function.key_orders import key_type
from hiaton.function.mappings import empty_mapping
from hiaton.function.item_changes import names_of_changed_items
from hiaton.function.scopes import changed, viewed_names
from hiaton.function.types import NEVER, NONE, Const, Dct, Mapping, Value


class MappingChanges:
    def own_mapping(self, name, node):
        """The dict or set that a name stands for, if nobody else refers to it."""
        value = self.env[name]
        if not value.type.fresh:
            self.ask_to_lend(name, False)
            self.refuse(f"'{name}' is a {value.type.cls.__name__} that others may refer to; build a new one and give it back", node)
        return value

    def mapping_named(self, name):
        """The dict whose keys the run tells, or the set, that a name stands for; None: it stands for something else."""
        value = self.env.get(name)
        return value if value is not None and isinstance(value.type, Mapping) else None

    def refuse_changed_views(self, iterated, nodes):
        """Python ends with an error where a dict or a set gets other keys while it is gone over."""
        for name in sorted(set().union(*map(viewed_names, iterated)) & changed(*nodes)):
            held = self.mapping_named(name)
            if held is not None:
                self.refuse(f"'{name}' is a {held.type.cls.__name__} that changes while it is gone over; go over a list of it, made before", iterated[0])

    def set_in_mapping(self, target, item):
        """name[key] = item."""
        name = target.value.id
        key = self.eval(target.slice)  # which may change it
        value = self.own_mapping(name, target)
        if value.type.cls is set:
            self.fail("'set' object does not support item assignment")
        is_changed_inside = value.type.inner or name in names_of_changed_items(self.where.tree)
        if value.type.key is NEVER and isinstance(key.type, Const) and key_type(key.type) is not None and not is_changed_inside and value.type.cls is dict:
            self.bind(name, self.dict_of({key.type.value: item}))
            return
        self.bind(name, self.with_key(value, key, item))

    def delete_key(self, name, key, node):
        """del name[key], of which the key is there; gives what it had."""
        value = self.own_mapping(name, node)
        found = self.find_item(value, key)
        if found is None:
            self.fail("no such key")
        self.require(found[0], "no such key")
        item = self.taken_item(value, found)
        self.bind(name, self._without(value, key))
        return item

    def taken_item(self, value, found):
        """An item that find_item() has found, which is taken out of a dict."""
        item = found[1]()
        if not value.type.owns:
            return item
        item = Value(value.type.value, item.ids)
        return self.shared(self.plain_mapping(item) if isinstance(item.type, Mapping) else item)

    def change_mapping(self, name, method, node):
        """Of a statement name.method(...): whether it changed a dict or a set."""
        value = self.mapping_named(name)
        if value is None or node.keywords:
            return False
        is_set, count = value.type.cls is set, len(node.args)
        if method == "clear" and count == 0:
            self.own_mapping(name, node)
            self.bind(name, self.default(empty_mapping(value.type.cls)))
        elif is_set and method == "add" and count == 1:
            key = self.eval(node.args[0])
            self.bind(name, self.with_key(self.own_mapping(name, node), key, Value(NONE)))
        elif is_set and method == "remove" and count == 1:
            self.delete_key(name, self.eval(node.args[0]), node)
        elif is_set and method == "discard" and count == 1:
            self._discard(name, self.eval(node.args[0]), node)
        elif method == "update" and count == 1 and value.type.cls in (dict, set):
            self._update(name, node)
        elif not is_set and method == "setdefault" and count == 2:
            self.set_default(name, self.eval(node.args[0]), node.args[1], node)
        elif not is_set and method in ("pop", "setdefault") and count in (1, 2):
            self.popped_of_mapping(name, node)
        else:
            return False
        return True

    def _discard(self, name, key, node):
        value = self.own_mapping(name, node)
        found = self._find(value, key)
        if found is not None:
            self.bind(name, self.either(found[0], lambda: self._without(value, key), lambda: value, value.type))

    def _update(self, name, node):
        argument = node.args[0]
        if self.own_mapping(name, node).type.cls is set:
            items = self.as_set(self.as_list_in_any_order(argument))
            self.bind(name, self._set_of_two("union", self.env[name], items))
            return
        other = self.chosen(self.peek(argument))
        if not isinstance(other.type, Dct) and not (isinstance(other.type, Mapping) and other.type.cls is dict):
            self.refuse(f"dict.update with {other.type} cannot be converted; set one key after the other", node)
        self.bind(name, self.updated(self.env[name], other))

    def popped_of_mapping(self, name, node):
        """What name.pop(key), name.pop(key, otherwise) or name.setdefault(key, otherwise) gives, of a dict, which is changed; None: it is
        another method."""
        method, args = node.func.attr, node.args
        if self.env[name].type.cls is set or method not in ("pop", "setdefault") or len(args) not in (1, 2) or node.keywords:
            return None
        key = self.eval(args[0])
        if method == "pop" and len(args) == 1:
            return self.delete_key(name, key, node)
        otherwise = self.held(self.shared(self.eval(args[1]))) if len(args) == 2 else Value(NONE)
        if method == "setdefault":
            self.let_items_out(name)
        value = self.own_mapping(name, node)
        found = self.find_item(value, key)
        made = self.with_key(value, key, otherwise) if method == "setdefault" else value
        if found is None:
            self.bind(name, made)
            return otherwise
        item = self.either(found[0], lambda: self.taken_item(value, found), lambda: otherwise, (method, id(node)))
        if method == "setdefault":
            changed = self.either(found[0], lambda: self.coerce(value, made.type), lambda: self.with_key(value, key, otherwise), made.type)
        else:
            changed = self.either(found[0], lambda: self._without(value, key), lambda: value, value.type)
        self.bind(name, changed)
        return item
