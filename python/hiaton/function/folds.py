"""Built-in functions that go over something: `sum`, `sorted`, `list` and their like."""

import ast
import sys

from hiaton.function import prelude
from hiaton.function.iterations import mark_run
from hiaton.function.types import FLOAT, NEVER, NONE, Const, Lst, Scalar, Tup, Value

SUMS_ADD_WHAT_IS_LOST = sys.version_info >= (3, 12)  # to rounding, where floats are added


def _is_float(type_):
    return type_ == FLOAT or isinstance(type_, Const) and type(type_.value) is float


class Folds:
    def _one(self, node, most=1, named=()):
        if {keyword.arg for keyword in node.keywords} - set(named) or not 1 <= len(node.args) <= most:
            self.refuse(f"this call of '{ast.unparse(node.func)}' cannot be converted; "
                        "give it one list, and the arguments that the page of hia.function names", node)
        items = node.args[0]
        if getattr(node.func, "id", "") not in ("any", "all"):
            mark_run(items)
        elif self.is_lazy(items):  # they stop at the first that decides
            return self.computed_ahead(items, lambda: self.as_list(items))
        return self.as_list(items)

    def call_sum(self, node):
        items = self._one(node, 2 - len(node.keywords), ("start",))
        given = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        start = self.eval(given[0]) if given else Value(Const(0))
        if isinstance(items.type, Tup):
            return self._sum_of_few(self.items(items), start)
        if SUMS_ADD_WHAT_IS_LOST and items.type.element == FLOAT:
            return self.call_prelude("total_of_floats" if _is_float(start.type) else "total_from_first", [items, start])
        return self.call_prelude("total", [items, start])

    def _sum_of_few(self, items, total):
        lost = None
        for item in items:
            if SUMS_ADD_WHAT_IS_LOST and _is_float(total.type) and _is_float(item.type):
                total, lost = self.items(self.call_prelude("added", [total, lost or Value(Const(0.0)), item]))
            else:
                total = self.binary("Add", total, item)
        return total if lost is None else self.call_prelude("with_what_was_lost", [total, lost])

    def call_any(self, node):
        return self.call_prelude("any_true", [self._as_list_value(node)])

    def call_all(self, node):
        return self.call_prelude("all_true", [self._as_list_value(node)])

    def _as_list_value(self, node):
        return self.whole_list(self._one(node), node)

    def call_list(self, node):
        if not node.args:
            return self.default(Lst(NEVER, True))
        if isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp)):
            return self._as_list_value(node)
        return self.copied(self._as_list_value(node))

    def call_tuple(self, node):
        items = self._one(node)
        if isinstance(items.type, Tup):
            return self.tuple_of(self.items(items))
        self.refuse("a tuple whose length the run tells cannot be converted; use a list", node)

    def call_reversed(self, node):
        self.refuse("'reversed' cannot be kept; go over it in a loop, or write list(reversed(...))", node)

    def call_min(self, node):
        return self._extreme_of("smaller", "smallest", node)

    def call_max(self, node):
        return self._extreme_of("larger", "largest", node)

    def call_sorted(self, node):
        items = self.list_in(node, not any(keyword.arg == "key" for keyword in node.keywords))
        named = self.eval_named_for_call(node)
        key = named.pop("key", Value(NONE))
        if named.keys() - {"reverse"}:
            self.refuse("this call of 'sorted' cannot be converted; give it a list, 'key' and 'reverse'", node)
        is_reverse = self.truth_value(self.truth(named.get("reverse", Value(Const(False)))))
        return self.in_order(items, key, is_reverse)

    def in_order(self, items, key, is_reverse):
        """A new list of the items, sorted by what `key` gives, where it is not None."""
        if key.type == NONE and isinstance(items.type.element, Scalar):
            return self.as_new(self.call_prelude("numbers_in_order", [items, is_reverse]))
        key = Value(Const(prelude.itself)) if key.type == NONE else key
        return self.as_new(self.call_prelude("in_order", [items, key, is_reverse]))

    def list_in(self, node, in_any_order=False):
        """The only argument without a name, as a list."""
        if len(node.args) != 1:
            self.refuse(f"this call of '{ast.unparse(node.func)}' cannot be converted; "
                        "give it one list, and the arguments that the page of hia.function names", node)
        mark_run(node.args[0])
        items = (self.as_list_in_any_order if in_any_order else self.as_list)(node.args[0])
        return self.list_of(self.items(items), None) if isinstance(items.type, Tup) else self.require_list(items, node)

    def _extreme_of(self, two, many, node):
        if node.keywords:
            return self._extreme_by(many, node)
        if len(node.args) == 1:
            mark_run(node.args[0])
            return self._extreme(two, many, [self.as_list_in_any_order(node.args[0])])
        return self._extreme(two, many, [self.eval(arg) for arg in node.args])

    def _extreme_by(self, many, node):
        named = self.eval_named_for_call(node)
        key = named.pop("key", Value(NONE))
        otherwise = named.pop("default", None)
        if named:
            self.refuse(f"this call of '{ast.unparse(node.func)}' cannot be converted; "
                        "give it one list, and the arguments that the page of hia.function names", node)
        items = self.list_in(node) if len(node.args) == 1 else self.list_of([self.eval(arg) for arg in node.args], None)
        if items.type.element is NEVER:
            return self.fail("an empty list") if otherwise is None else otherwise
        if otherwise is None:
            self.require_variant(items.ids[0], "an empty list")
            otherwise = Value(NONE)
        key = Value(Const(prelude.itself)) if key.type == NONE else key
        return self.call_prelude("extreme_by", [items, key, otherwise, Value(Const(many == "largest"))])
