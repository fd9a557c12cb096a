"""What the patterns of `match` ask of a value, and imports: names of modules are known before the run."""

import ast
import sys

from hiaton.function.own_trees import is_field
from hiaton.function.types import Const, Dct, Lst, Mapping, Tup, Union, Value

# A pattern `cls(x)` of one of these classes gives x the whole value.
_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


class Patterns:
    def eval_SequenceTest(self, node):
        value = self.eval(node.subject)
        return self.truth_value(self._is_sequence(value, node))

    def _is_sequence(self, value, node):
        if isinstance(value.type, Union):
            found = False
            for number in range(len(value.type.sides)):
                inner = self._is_sequence(self.side(value, number), node)
                here = self.op("eq", value.ids[0], self.constant(number, "i64"))
                found = self.any_of(found, self.all_of(here, inner))
            return found
        if isinstance(value.type, Tup):
            count = len(value.type.items)
            return count >= node.count if node.at_least else count == node.count
        if isinstance(value.type, Lst):
            length = self.builtin_len(value).ids[0]
            return self.op("ge" if node.at_least else "eq", length, self.constant(node.count, "i64"))
        return False

    def eval_MappingTest(self, node):
        value = self.eval(node.subject)
        if isinstance(value.type, Union):
            value = self.chosen(value)
        return Value(Const(isinstance(value.type, Dct) or isinstance(value.type, Mapping) and value.type.cls is not set))

    def eval_PatternItem(self, node):
        path = self.path_of(node)
        if path is not None and path in self.env:
            return self.env[path]
        name = self.item_name(node)
        return self.eval(node.subject) if name is None else self.attribute(self.eval(node.subject), name)

    def item_name(self, node):
        """The attribute that stands at this place of the pattern; None: the whole value."""
        cls = self.eval(node.cls).type
        if not isinstance(cls, Const) or not isinstance(cls.value, type):
            self.refuse("expected a class in a pattern; name the class", node.cls)
        if cls.value in _WHOLE and node.number == 0:
            return None
        names = getattr(cls.value, "__match_args__", ())
        if node.number >= len(names):
            self.fail(f"'{cls.value.__name__}' has {len(names)} attributes by their place in a pattern, found more")
        return names[node.number]

    def do_Import(self, node):
        for alias in node.names:
            module = self._module(alias.name, node)
            if alias.asname is None:
                module = self._module(alias.name.split(".")[0], node)
            self.bind(alias.asname or alias.name.split(".")[0], self.known(module))

    def do_ImportFrom(self, node):
        if node.level:
            self.refuse("an import of a neighbour cannot be converted; import it at the top of the file", node)
        module = self._module(node.module, node)
        for alias in node.names:
            if not hasattr(module, alias.name):
                self.refuse(f"'{node.module}' has no '{alias.name}'; import what there is", node)
            found = getattr(module, alias.name)
            self.converter.guard("attribute", module, alias.name, found)
            self.bind(alias.asname or alias.name, self.constant_value(found, alias.name))

    def _module(self, name, node):
        if name not in sys.modules:
            self.refuse(f"'{name}' is not imported yet; import it at the top of the file", node)
        self.converter.guard("item", sys.modules, name, sys.modules[name])
        return sys.modules[name]

    def do_Delete(self, node):
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                self.delete_element(target)
                continue
            if not hasattr(target, "id"):
                self.refuse("a change of an object cannot be converted; make a new one", node)
            if is_field(target.id):
                self.refuse(f"the attribute '{target.id}' cannot be deleted in a graph; set it to None", node)
            if target.id not in self.env:
                self.fail(f"'{target.id}' has no value here")
            self.forget(target.id)

    def do_Global(self, node):
        pass

    do_Nonlocal = do_Global
