"""Dicts whose items are lists, dicts or sets to which nobody else refers: such items are changed where they lie.

    groups[k].append(x)        groups = tree_with(groups, k, before(x, item of k))

Such a dict is a search tree. A list in it has its last element first, and a dict or a set in it is a search tree too, so that an item is changed
without a copy. Whoever takes an item out for more than a look makes the items ones to which others may refer: see item_changes.py. Where this
happens in a loop, the loop is noted, and begins with such items in the next round.
"""

import ast
import dataclasses

from hiaton.function.array_uses import is_element
from hiaton.function.own_trees import owners_of
from hiaton.function.scopes import body_of, changed, items_let_out, note_items_let_out
from hiaton.function.types import INT, NEVER, Lst, Mapping, SearchTree, Tup, Value, is_owned, join, kept


def raw_item(type_):
    """The type of an item as it lies in the tree."""
    if isinstance(type_, Lst):
        return Lst(type_.element)
    return Tup((store_type(type_), INT)) if isinstance(type_, Mapping) else type_


def store_type(type_):
    """The type of the tree that a dict or a set is."""
    return SearchTree(type_.key, raw_item(type_.value) if type_.owns else type_.value)


def _item_of(type_):
    """The type of an item to which nobody else refers, which was just made."""
    if isinstance(type_, Lst):
        return Lst(type_.element, True, True)
    return dataclasses.replace(type_, fresh=True, made=True, inner=True)


class OwnedItems:
    def with_new_item(self, value, item):
        """The type of the items of a dict with one more item, and this item; None: others may refer to one of them."""
        if not is_owned(item.type) or value.type.cls is set or not value.type.fresh or not (value.type.value is NEVER or value.type.owns):
            return None
        to = join(value.type.value, _item_of(item.type))
        return (to, self._as_item(item)) if is_owned(to) else None

    def _as_item(self, value):
        """A list, a dict or a set that was just made, as an item."""
        to = _item_of(value.type)
        if isinstance(to, Lst):
            value = self.without_array(value)
            return Value(to, (value if value.type.backward else self.turned(value)).ids)
        is_tree = self.converter.graph_types(value.type) == self.converter.graph_types(to)
        return Value(to, value.ids) if is_tree else self.mapping_as(value, to)

    def read_item(self, mapping, item, is_turned=True):
        """An item of a dict of this type, to be looked at."""
        if not mapping.owns:
            return item
        if isinstance(mapping.value, Lst):
            found = Value(Lst(mapping.value.element, False, True), item.ids)
            return self.forward(found) if is_turned else found
        return Value(dataclasses.replace(mapping.value, fresh=False), item.ids)

    def with_plain_items(self, value):
        """A dict or a set as one to whose items others may refer."""
        return self.with_items_as(value, dataclasses.replace(value.type, value=kept(value.type.value))) if value.type.owns else value

    def plain_mapping(self, value):
        """The same, which is no item itself."""
        value = self.with_plain_items(value)
        return self.mapping_as(value, dataclasses.replace(value.type, inner=False)) if value.type.inner else value

    def owning(self, value):
        """A dict whose items were each made for it alone, as one that owns them."""
        if not isinstance(value.type, Mapping) or not value.type.fresh or value.type.owns or not isinstance(value.type.value, (Lst, Mapping)):
            return value
        to = dataclasses.replace(value.type, value=_item_of(value.type.value))
        return self.with_items(value, to, lambda frame, item: frame._as_item(Value(dataclasses.replace(item.type, fresh=True), item.ids)))

    def with_items_as(self, value, to):
        """A dict that owns its items as one of another type."""
        def converted(frame, item):
            item = Value(value.type.value, item.ids)
            if not to.owns:
                item = frame.shared(frame.plain_mapping(item) if isinstance(item.type, Mapping) else item)
            return frame.coerce(item, to.value)
        return self.with_items(value, to, converted)

    def with_items(self, value, to, converted):
        """A dict that is a search tree, of the same keys, and of what `converted` makes of the items."""
        if value.type.key is NEVER:
            return self.default(to)
        types, where, key = [store_type(one) for one in (value.type, to)], self.where, ("items_as", value.type, to)

        def build(frame, values):
            frame.where = where
            tree, = values

            def more():
                instance = frame.converter.instance(key, "items_as", types[:1], build)
                left, right = (frame.call_instance(instance, [side(tree)]) for side in (frame.tree_left, frame.tree_right))
                item = Value(types[1].value, converted(frame, frame.tree_item(tree)).ids)
                return frame.tree_node(left, frame.tree_key(tree), item, frame.tree_number(tree), right)
            return frame.either(frame.is_tree(tree), more, lambda: frame.default(types[1]), types[1])
        made = self._made_of_list(key, types[:1], build, types[1], [self.store_of(value)])
        return Value(to, (made.ids[0], *value.ids[1:]))

    # Names.

    def owns_items(self, name):
        """Whether a name stands for a dict to whose items nobody else refers."""
        type_ = getattr(self.env.get(name), "type", None)
        return isinstance(type_, Mapping) and type_.owns

    def let_items_out(self, name):
        """Something else refers to items of the dict that a name stands for from now on."""
        if self.owns_items(name):
            self.note_let_out(name)
            self.env[name] = self.plain_mapping(self.env[name])

    def note_let_out(self, name):
        """Loops in which items of a dict get out begin with a dict to whose items others may refer."""
        nodes, loop = [self.element_of] if self.element_of is not None else [], self.loop
        while loop is not None and loop.where is self.where:
            nodes.append(loop.node)
            loop = loop.outer
        for node in nodes:
            self.converter.changed |= note_items_let_out(self.where.tree, node, name)

    def begin_items(self, node):
        """Before a loop, or a comprehension."""
        for name in sorted(items_let_out(self.where.tree, node)):
            self.let_items_out(name)

    def items_let_out_by(self, before):
        """The names of dicts of which a side of a branch has let items out. `before`: the names and their values before it."""
        return {name for name in before if isinstance(getattr(before[name], "type", None), Mapping) and before[name].type.owns
                and name in self.env and not self.owns_items(name)}

    # Items that are looked at.

    def item_to_look_at(self, node, is_turned=True):
        """The value of d[key] or d.get(key, otherwise), of which only the length, elements or keys are asked; None: it is something else, or the
        item may change before it is looked at."""
        is_get = isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "get" and len(node.args) in (1, 2) and not node.keywords
        holder = node.func.value if is_get else node.value if is_element(node) else None
        root = holder
        while is_element(root):
            root = root.value
        name = getattr(root, "id", None)
        if not self.owns_items(name) or self._may_change_here(name):
            return None
        value = self._container(holder)
        if value is None or is_get and is_owned(value.type.value) and getattr(value.type.value, "owns", False):
            return None
        key = self.eval(node.args[0] if is_get else node.slice)
        if is_get and len(node.args) == 2:
            otherwise = self.shared(self.eval(node.args[1]))
            return self._mapping_get(self._container(holder), key, otherwise)
        return self._mapping_get(value, key, None) if is_get else self.mapping_item(self._container(holder), key, is_turned)

    def _container(self, node):
        """The dict that owns its items which an expression of this kind stands for; None: it is something else."""
        if isinstance(node, ast.Name):
            return self.env[node.id] if self.owns_items(node.id) else None
        held = self._container(node.value)
        found = held is not None and isinstance(held.type.value, Mapping) and held.type.value.owns
        return self.mapping_item(held, self.eval(node.slice)) if found else None

    def _may_change_here(self, name):
        """Whether what is being read may change a dict after one of its items was found, and before that is looked at."""
        names = changed(*self._parts_read())
        return name in names or any(owner in names for owner in owners_of(name))

    def _parts_read(self):
        """The expressions of the statement that is being read which are computed before it changes anything itself."""
        node = self.statement
        if node is None and self.element_of is None and isinstance(getattr(self.loop, "node", None), ast.While):
            return [self.loop.node.test]
        if node is None:
            return [self.element_of] if self.element_of is not None else body_of(self.where.tree)
        if isinstance(node, (ast.If, ast.While)):
            return [node.test]
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return [node.value, *(part for target in targets for part in _parts_of_holder(target))]
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            call = node.value
            return [*call.args, *(keyword.value for keyword in call.keywords), *_parts_of_holder(call.func.value)]
        return [node]


def _parts_of_holder(node):
    """The keys in what is changed."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        if isinstance(node, ast.Subscript):
            yield node.slice
        node = node.value
    if not isinstance(node, ast.Name):
        yield node
