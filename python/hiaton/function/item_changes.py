"""Changes of lists, dicts and sets that are items of a dict which owns them: the item gets a hidden name, is changed as what a name stands for, and
is put back.

    groups[k].append(x)         item = groups[k]; item.append(x); groups[k] = item
"""

import ast

from hiaton.function.array_uses import is_element
from hiaton.function.default_dicts import has_first_number
from hiaton.function.scopes import CHANGES, body_of, changed, found_below, nodes_below
from hiaton.function.types import NEVER, Lst, Mapping, Value, is_owned


def is_set_default(node):
    """Whether it is d.setdefault(key, item)."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "setdefault" and len(node.args) == 2 and not node.keywords


def _holder(node):
    """What an expression is an item of; None: it is none."""
    return node.value if is_element(node) else node.func.value if is_set_default(node) else None


def _find_changed_items(tree):
    for node in nodes_below(body_of(tree), True):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
            item = node.func.value
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            item = node.value
        elif isinstance(node, ast.AugAssign) and isinstance(node.value, (ast.Dict, ast.List, ast.ListComp, ast.Set, ast.SetComp)):
            item = node.target
        else:
            continue
        holder = _holder(item)
        while holder is not None:
            item, holder = holder, _holder(holder)
            if isinstance(item, ast.Name):
                yield item.id


def names_of_changed_items(tree):
    """The names of what has items, some of which a function changes where they lie."""
    return found_below(tree, "hiaton_changed_items", _find_changed_items)


def _keys(node):
    return [node.slice] if is_element(node) else node.args


class ItemChanges:
    def is_changeable_item(self, node):
        """Whether an expression is d[key] or d.setdefault(key, item), of a dict whose items are lists, dicts or sets."""
        nodes = []
        while _holder(node) is not None:
            nodes.append(node)
            node = _holder(node)
        type_ = getattr(self.env.get(getattr(node, "id", None)), "type", None)
        for _ in nodes:
            if type_ is NEVER:
                return True
            if not isinstance(type_, Mapping) or type_.cls is set or type_.value is NEVER and has_first_number(type_.cls):
                return False
            type_ = type_.value
        return bool(nodes) and (type_ is NEVER or isinstance(type_, (Lst, Mapping)))

    dict_with_changed_items = None  # the tree of one that is assigned to a name, and whose items the function changes

    def note_dict_with_changed_items(self, node):
        """At an assignment."""
        is_one = isinstance(node.value, (ast.Dict, ast.DictComp)) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        if is_one and node.targets[0].id in names_of_changed_items(self.where.tree):
            self.dict_with_changed_items = node.value

    def change_item(self, node, change):
        """Changes the item that an expression stands for. `change` takes the hidden name."""
        self.converter.is_slow_at = "changes the lists, dicts and sets that lie in dicts"
        holder = _holder(node)
        if isinstance(holder, ast.Name):
            self._change_item_of(holder.id, node, change)
        else:
            self.change_item(holder, lambda name: self._change_item_of(name, node, change))

    def _change_item_of(self, name, node, change):
        if name in changed(*_keys(node)):
            self.refuse(f"'{ast.unparse(node)}' changes '{name}' before it is looked up; compute that on a line before", node)
        key = self.eval(_keys(node)[0])
        if is_set_default(node):
            self.set_default(name, key, node.args[1], node)
        else:
            self.set_first_item(name, key)
        value = self.own_mapping(name, node)
        found = self.find_item(value, key)
        if found is None:
            self.fail("no such key")
        self.require(found[0], "no such key")
        if not value.type.owns:
            self.refuse(f"'{ast.unparse(node)}' is {_named(value.type.value)} that others may refer to; make it where it becomes an item, and do not "
                        "give it another name before its last change", node)
        hidden = f"item@{id(node)}"
        before, item = self.env[name], Value(value.type.value, found[1]().ids)
        self.env[hidden] = item
        change(hidden)
        made, now = self.env.get(hidden), self.env.get(name)
        if now is None or now != before or made is None or not is_owned(made.type):
            self.refuse(f"what is computed for this change of '{ast.unparse(node)}' changes '{name}', or refers to an item; compute it on a line before",
                        node)
        self.forget(hidden)
        if made != item:
            self.bind(name, self.with_item_there(now, key, made))

    def set_default(self, name, key, item, node):
        """name.setdefault(key, item), of which nobody uses what it gives."""
        item = self._kept(self.eval_owned(item), item)
        self.set_where_missing(name, key, lambda: item, ("setdefault", id(node)))

    def set_where_missing(self, name, key, make, place):
        """Sets what `make` gives where a dict does not have the key."""
        value = self.own_mapping(name, self.node)
        found = self.find_item(value, key)

        def changed_one():
            return self.with_key(value, key, make())
        self.bind(name, changed_one() if found is None else self.joined_sides(found[0], lambda: value, changed_one, place))

    # Statements.

    def change_in_item(self, node):
        """Of a statement item.method(...): whether it changed an item of a dict."""
        if not self.is_changeable_item(node.func.value):
            return False

        def change(name):
            call = _cached(node, lambda: ast.Call(ast.Attribute(ast.Name(name, ast.Load()), node.func.attr, ast.Load()), node.args, node.keywords))
            if not self.change_list(call):
                self.refuse(f"this call of '{node.func.attr}' cannot be converted; give what it is about a name", node)
        self.change_item(node.func.value, change)
        return True

    def popped_of_item(self, node):
        """What item.pop(...) gives, of an item of a dict; None: it is something else."""
        if not self.is_changeable_item(node.func.value):
            return None
        found = []
        self.change_item(node.func.value, lambda name: found.append(self.popped(_cached(node, lambda: ast.Call(
            ast.Attribute(ast.Name(name, ast.Load()), "pop", ast.Load()), node.args, [])))))
        if found[0] is None:
            self.refuse("this call of 'pop' cannot be converted; give what it is about a name", node)
        return found[0]

    def augment_item(self, node):
        """Of a statement item[key] += value or item += value: whether it changed an item of a dict."""
        def with_target(target):
            return ast.AugAssign(target, node.op, node.value)
        if self.is_changeable_item(node.target.value):
            self.change_item(node.target.value, lambda name: self.do_AugAssign(
                _cached(node, lambda: with_target(ast.Subscript(ast.Name(name, ast.Load()), node.target.slice, ast.Store())))))
            return True
        if self.is_changeable_item(node.target):
            self.change_item(node.target, lambda name: self.do_AugAssign(_cached(node, lambda: with_target(ast.Name(name, ast.Store())))))
            return True
        return False

    def set_in_item(self, target, value):
        """Of item[key] = value: whether it changed an item of a dict."""
        if not self.is_changeable_item(target.value):
            return False
        self.change_item(target.value, lambda name: self.set_item(_of_name(target, name), value))
        return True

    def delete_in_item(self, target):
        """The same of del item[key]."""
        if not self.is_changeable_item(target.value):
            return False
        self.change_item(target.value, lambda name: self.delete_element(_of_name(target, name)))
        return True


def _of_name(target, name):
    return _cached(target, lambda: ast.Subscript(ast.Name(name, ast.Load()), target.slice, target.ctx))


def _cached(node, make):
    """A syntax tree that stands for another one."""
    if not hasattr(node, "hiaton_of_item"):
        node.hiaton_of_item = ast.copy_location(make(), node)
        for part in ast.walk(node.hiaton_of_item):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, node)
    return node.hiaton_of_item


def _named(type_):
    return f"a {type_.cls.__name__}" if isinstance(type_, Mapping) else "a list"
