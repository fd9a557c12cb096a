"""Functions of itertools, where something goes over what they give: there they give lists."""

import ast
import itertools
import operator

from hiaton.function.scopes import changed
from hiaton.function.types import Const, Value

_COMBINED = {  # by function: the one of the prelude, and how many lists this takes
    itertools.pairwise: ("neighbors", 1), itertools.product: ("pairs", 2), itertools.chain.from_iterable: ("flattened", 1)}
_FUNCTIONS = (*_COMBINED, itertools.chain, itertools.accumulate, itertools.repeat, itertools.combinations)


def gives_iterator(target):
    """Whether it is one of these functions."""
    return any(target == known for known in _FUNCTIONS)


class Iterators:
    def iterator_maker(self, node):
        """The function of itertools that an expression calls; None: it is something else."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
            return None
        if isinstance(node.func, ast.Attribute) and not isinstance(self.peek(node.func.value, True).type, Const):
            return None
        callee = self.eval(node.func)
        return callee.type.value if isinstance(callee.type, Const) and gives_iterator(callee.type.value) else None

    def is_lazy(self, node):
        """Whether an expression gives items each of which is computed when somebody asks for it."""
        if isinstance(node, ast.GeneratorExp) or self.iterator_maker(node) is not None:
            return True
        callee = self.eval(node.func).type if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        return isinstance(callee, Const) and any(callee.value is one for one in (map, filter, zip, enumerate, reversed))

    def computed_ahead(self, node, compute):
        """What `compute` gives: all items of such an expression, which are computed before anybody asks for them. So this may set and
        change nothing that is seen in between, or where nobody asks for all."""
        changing = changed(node, *([node.hiaton_list] if hasattr(node, "hiaton_list") else []))
        names = [*self.state_names(), *(name for name in changing if self.is_lendable(name))]
        before = {name: self.env.get(name) for name in names}
        made = compute()
        if any(self.env.get(name) is not held for name, held in before.items()):
            self.refuse(f"'{ast.unparse(node)}' sets or changes something whenever it is asked for an item; make a list of it first, or "
                        "write a loop", node)
        return made

    def list_of_iterator(self, target, node):
        """What a call of it gives, as a list."""
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        made = None
        if not any(isinstance(argument, ast.Starred) for argument in node.args):
            made = self.computed_ahead(node, lambda: self._made_by(target, node.args, named))
        if made is None:
            self.refuse(f"this call of itertools.{target.__name__} cannot be converted; write a comprehension", node)
        return self.as_new(made)

    def _made_by(self, target, args, named):
        """None where no list is made of such arguments."""
        if target is itertools.accumulate:
            return self._accumulated(*args, **named) if 1 <= len(args) <= 2 and named.keys() <= {"initial"} else None
        if named:
            return None
        if target is itertools.chain and args:
            made = self._listed(args[0])
            for part in args[1:]:
                made = self.call_prelude("joined", [made, self._listed(part)])
            return made
        if target is itertools.repeat and len(args) == 2:
            return self.call_prelude("repeated_item", [self.eval(part) for part in args])
        if target is itertools.combinations and len(args) == 2 and self.eval(args[1]).type == Const(2):
            return self.call_prelude("pairs_in_order", [self._listed(args[0])])
        name, count = _COMBINED.get(target, (None, -1))
        return self.call_prelude(name, [self._listed(part) for part in args]) if len(args) == count else None

    def _accumulated(self, items, function=None, initial=None):
        items = self._listed(items)
        function = Value(Const(operator.add)) if function is None else self.eval(function)
        if initial is None:
            return self.call_prelude("accumulated", [function, items])
        return self.call_prelude("accumulated_from", [function, items, self.eval(initial)])

    def _listed(self, node):
        return self.whole_list(self.as_list(node), node)
