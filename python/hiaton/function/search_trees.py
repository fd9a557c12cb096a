"""Search trees in the graph, which dicts with items that are no numbers consist of: the operations of prelude_trees.py."""

from hiaton.function.key_orders import leaves_of_key
from hiaton.function.types import INT, Value

_TREE = 1  # the variant of a tree that has keys
_LEFT, _RIGHT, _SIZE, _NUMBER, _KEY = range(5)  # its fields; behind those of the key are those of the item


class SearchTrees:
    def tree_left(self, tree):
        return Value(tree.type, (self.graph.field(tree.ids[0], _TREE, _LEFT),))

    def tree_right(self, tree):
        return Value(tree.type, (self.graph.field(tree.ids[0], _TREE, _RIGHT),))

    def tree_size(self, tree):
        """How many keys it has."""
        return self.either(self.is_tree(tree), lambda: Value(INT, (self.graph.field(tree.ids[0], _TREE, _SIZE),)),
                           lambda: Value(INT, (self.constant(0, "i64"),)), INT)

    def tree_number(self, tree):
        return Value(INT, (self.graph.field(tree.ids[0], _TREE, _NUMBER),))

    def tree_key(self, tree):
        return self._fields_of_tree(tree, tree.type.key, _KEY)

    def tree_item(self, tree):
        return self._fields_of_tree(tree, tree.type.value, _KEY + len(self.converter.graph_types(tree.type.key)))

    def _fields_of_tree(self, tree, type_, at):
        count = len(self.converter.graph_types(type_))
        return Value(type_, tuple(self.graph.field(tree.ids[0], _TREE, at + i) for i in range(count)))

    def tree_node(self, left, key, item, number, right):
        """A tree of the type of its left side."""
        type_, sizes = left.type, [self.tree_size(side).ids[0] for side in (left, right)]
        size = self.op("add", self.op("add", *sizes), self.constant(1, "i64"))
        parts = [*self.coerce(key, type_.key).ids, *self.coerce(item, type_.value).ids]
        kind, = self.converter.graph_types(type_)
        return Value(type_, (self.graph.make(kind, _TREE, [left.ids[0], right.ids[0], size, self.held(number).ids[0], *parts]),))

    def is_tree(self, tree):
        """Whether it has keys: a condition."""
        return self.op("ne", self.graph.variant(tree.ids[0]), self.constant(0, "i64"))

    def keys_ordered(self, a, b):
        """Whether one key comes before another one of the same type."""
        found = False
        for x, y in reversed(list(zip(leaves_of_key(self, a), leaves_of_key(self, b)))):
            found = self.any_of(self.op("lt", x, y), self.all_of(self.op("eq", x, y), found))
        return self.truth_value(found)
