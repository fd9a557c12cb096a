"""Expressions, conditions, and what a condition tells of the values in it."""

import ast
import builtins
import contextlib
import types as python_types

from hiaton import _core

from hiaton.function.attributes import is_of_several
from hiaton.function.default_dicts import python_class
from hiaton.function.dicts import is_fresh
from hiaton.function.number_arrays import is_array_of
from hiaton.function.own_trees import is_field, with_fields
from hiaton.function.rewrite import BUILTIN
from hiaton.function.scopes import changed
from hiaton.function.state import Root
from hiaton.function.tables import is_table
from hiaton.function.types import (BOOL, NEVER, NONE, Const, Dct, Func, Lst, Mapping, NeverType, NewObj, Objs, Opaque, Scalar, SearchTree, Symbol, Tens,
                                   Tup, Union, Value, as_number, family, is_number)

CONVERTED = ("Constant", "Name", "Attribute", "Subscript", "BinOp", "UnaryOp", "Compare", "BoolOp", "IfExp", "Call", "Tuple", "List", "JoinedStr",
             "ListComp", "GeneratorExp", "NamedExpr", "Lambda", "SequenceTest", "MappingTest", "PatternItem", "StandsFor", "Dict", "DictComp", "Set", "SetComp")


class Expressions:
    """Each method takes a syntax tree and gives a Value."""

    def eval(self, node):
        kind = type(node).__name__
        if kind not in CONVERTED:
            self.refuse(f"'{ast.unparse(node)}' ({kind}) cannot be converted; compute it outside of the function", node)
        before, self.node = self.node, node
        try:
            made = getattr(self, f"eval_{kind}")(node)
            return self.shared(made) if isinstance(made.type, NewObj) else made
        finally:
            self.node = before

    def eval_Constant(self, node):
        return self.known(node.value)

    def eval_Name(self, node):
        return self.name_value(node.id)

    def name_value(self, name):
        if self.is_own(name):
            return self.given_away(name)
        if name in self.env:
            # Another name for a list: what is appended to it later would be seen through both.
            self.share([name])
            return self.env[name]
        where = self.where
        if is_field(name):
            return self.field_value(name)
        if name.endswith(BUILTIN):
            return Value(Const(getattr(builtins, name[:-1])))
        function = self.local_function(name)
        if function is not None:
            return function
        if name in where.locals:
            self.refuse(f"'{name}' may have no value here; give it one before")
        place = self.place_of_variable(name)
        if place is not None:
            return self.read_place(place)
        if name in where.cells:
            cell = where.cells[name]
            try:
                found = cell.cell_contents
            except ValueError:
                self.refuse(f"'{name}' has no value yet; give it one before the function is called")
            return self.fixed_value("cell", cell, None, found, name)
        if name in where.globals:
            return self.fixed_value("item", where.globals, name, where.globals[name], name)
        if hasattr(builtins, name):
            self.converter.guard("no item", where.globals, name, None)
            return Value(Const(getattr(builtins, name)))
        self.refuse(f"name '{name}' is not defined; define it before the function is called")

    def peek(self, node, keeps_items=False):
        """The value of an expression that is only looked at: a list stays one that nobody else refers to. `keeps_items`: only the length and
        the keys of a dict are asked."""
        if isinstance(node, ast.Name) and isinstance(getattr(self.env.get(node.id), "type", None), (Lst, Dct, Mapping)):
            if not keeps_items:
                self.let_items_out(node.id)
            return self.forward(self.cells_of(node.id) if is_table(self.env[node.id].type) else self.env[node.id])
        item = self.item_to_look_at(node)
        return self.eval(node) if item is None else item

    def eval_Attribute(self, node):
        path = self.path_of(node)
        if path is not None and not self.is_settled(path):
            path = None
        if path is not None and path in self.env:
            return self.env[path]
        holder = self.eval(node.value)
        if isinstance(holder.type, (Objs, Union)) and not is_of_several(holder.type):
            before, holder = holder, self.operand(holder)
            above = self.path_of(node.value)
            if above is not None and before.type != holder.type and self.is_settled(above):
                self.env[above if len(above) > 1 else above[0]] = holder
        value = self.attribute(holder, node.attr)
        if path is not None and isinstance(self.env.get(path[0], Value(NEVER)).type, (Objs, Union, Tup)):
            self.env[path] = value
        return value

    def bind(self, name, value):
        """Gives a name another value."""
        if name in self.where.set_outside:
            self.set_variable(name, value)
        else:
            self.set_name(name, value)

    def set_name(self, name, value):
        """The same, of a name of this scope; what was known of the fields and the elements of the old value is forgotten."""
        if is_field(name):
            if not self.set_field(name, value):
                return
            value = self.with_known_elements(name, value)
        if self.is_own(name):
            self.forget(name)
        value = self.taken_apart(name, value)
        for key in [k for k in self.env if isinstance(k, tuple) and k[0] == name or is_array_of(k, name)]:
            del self.env[key]
        self.held_around = {one: holder for one, holder in self.held_around.items() if one != name}
        self.env[name] = self.recapture(name, self.as_noted(name, value))

    def eval_NamedExpr(self, node):
        value = self.eval(node.value)
        self.bind(node.target.id, value)
        return self.name_value(node.target.id) if is_fresh(value.type) else value

    def eval_Tuple(self, node):
        return self.tuple_of(self.eval_many(node.elts))

    def eval_many(self, nodes):
        """Of expressions that stand beside each other; what has a star is taken apart."""
        values = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                values.append(self.eval(node))
                continue
            values += self.items_behind_star(self.eval(node.value), node)
        return values

    def eval_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return self.truth_value(self.condition(node)[0])
        return self.unary(type(node.op).__name__, self.eval(node.operand))

    def eval_BinOp(self, node):
        return self.binary(type(node.op).__name__, *self.operands(node))

    def eval_Compare(self, node):
        if len(node.ops) > 1:
            return self.truth_value(self.condition(node)[0])
        if self.own_name(node.left) is not None and self.is_question_for_other(node):
            is_same = self.own_name(node.comparators[0]) == node.left.id
            return self.truth_value(is_same == isinstance(node.ops[0], ast.Is))
        found = self.compared_length(node)
        found = self.compared_with_range(node) if found is None else found
        if found is not None:
            return found
        left = self._compared_with(node.ops[0], node.left)
        right = self._compared_with(node.ops[0], node.comparators[0])
        if self.is_changed_by(node.left, node.comparators[0], left):
            left = self._compared_with(node.ops[0], node.left)  # what stands on the right changes this very list
        return self.compare(type(node.ops[0]).__name__, left, right)

    def _compared_with(self, operator, node):
        """Of a set that is written out only the elements count, where something is looked up in it."""
        if isinstance(node, ast.Set) and isinstance(operator, (ast.In, ast.NotIn)):
            return self.tuple_of([self.eval(item) for item in node.elts])
        if isinstance(operator, (ast.Is, ast.IsNot)) and self.is_list(getattr(node, "id", None)):
            return self.cells_of(node.id)
        return self.peek_to_go_over(node) if isinstance(operator, (ast.In, ast.NotIn)) else self.peek(node)

    def eval_BoolOp(self, node):
        return self._bool_value(node, node.values)

    def _bool_value(self, node, operands):
        first = self.eval(operands[0])
        if len(operands) == 1:
            return first
        is_and = isinstance(node.op, ast.And)
        condition = self.truth(first)
        true, false = self.learned_from(operands[0])
        if condition is True or condition is False:
            return self._bool_value(node, operands[1:]) if condition == is_and else first

        def rest():
            return self._bool_value(node, operands[1:])
        if is_and:
            return self.sides(node, condition, true, rest, false, lambda: first, ("and", id(node), len(operands)))
        return self.sides(node, condition, true, lambda: first, false, rest, ("or", id(node), len(operands)))

    def eval_IfExp(self, node, evaluated=None):
        """`evaluated`: what gives the value of a side."""
        evaluated = evaluated or self.eval
        condition, true, false = self.condition(node.test)
        condition = self.assumed_side(node, condition)
        if condition is True or condition is False:
            self.learn(true if condition else false)
            return evaluated(node.body if condition else node.orelse)
        return self.sides(node, condition, true, lambda: evaluated(node.body), false, lambda: evaluated(node.orelse), ("ifexp", id(node)))

    def sides(self, node, *branch):
        """A branch inside of an expression: names that its sides set are theirs alone."""
        with self.on_a_side():
            return self.changing_on_sides(changed(node), lambda: self.branch(*branch, changed(node)))

    @contextlib.contextmanager
    def on_a_side(self):
        self.on_sides += 1
        try:
            yield
        finally:
            self.on_sides -= 1

    def branch(self, condition, true, then, false, otherwise, key, given=None):
        """A branch whose sides know what the condition tells; names that they bind are theirs alone. `given`: the names whose values they give
        back; None: nothing comes behind them."""
        referred, let_out, names, around = set(), set(), self.names_of_sides(), self.held_around
        held = around if given is None else self.held_by(key, self.names_of_lists(self.env) - with_fields(given, self.env))

        def on(learned, side):
            def run():
                before, self.env = self.env, dict(self.env)
                self.held_around = held
                try:
                    self.learn(learned)
                    return side()
                finally:
                    self.held_around = around
                    if names and all(name in self.env for name in names):
                        self.left_state = {name: self.packed(name) for name in names}
                    # Lists that something else refers to on this side.
                    referred.update(name for name, value in before.items() if is_fresh(value.type)
                                    and name in self.env and not is_fresh(self.env[name].type))
                    let_out.update(self.items_let_out_by(before))
                    self.env = before
            return run
        made = self.either(condition, on(true, then), on(false, otherwise), key)
        for name in let_out:
            self.let_items_out(name)
        self.share(referred)
        return made

    def share(self, names):
        for name in names:
            self.let_items_out(name)
            self.env[name] = self.shared_list(name)

    # Conditions: a bool that is known, or a value of the graph; with what is known on each side.

    def condition(self, node):
        """(condition, what holds where it does, what holds where it does not)."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            condition, true, false = self.condition(node.operand)
            return self.negated(condition), false, true
        if isinstance(node, ast.BoolOp):
            return self._bool_condition(node, node.values)
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return self._chain(node), [], []
        if self.is_own_that_is_true(node):
            return True, [], []
        value = self.looked_at(node)
        before, self.node = self.node, node
        try:
            return self.truth(value), *self.learned_from(node)
        finally:
            self.node = before

    def _bool_condition(self, node, operands):
        first, true, false = self.condition(operands[0])
        if len(operands) == 1:
            return first, true, false
        is_and = isinstance(node.op, ast.And)
        if first is True or first is False:
            return self._bool_condition(node, operands[1:]) if first == is_and else (first, [], [])
        more = []

        def rest():
            condition, rest_true, rest_false = self._bool_condition(node, operands[1:])
            more[:] = rest_true if is_and else rest_false
            return self.truth_value(condition)
        key = ("condition", id(node), len(operands))
        if is_and:
            value = self.sides(node, first, true, rest, false, lambda: Value(Const(False)), key)
            return self.truth(value), [*true, *more], []
        value = self.sides(node, first, true, lambda: Value(Const(True)), false, rest, key)
        return self.truth(value), [], [*false, *more]

    def _chain(self, node):
        """a < b < c: b is computed once, c only where a < b."""
        def rest(left, number):
            right = self._compared_with(node.ops[number], node.comparators[number])
            first = self.truth(self.compare(type(node.ops[number]).__name__, left, right))
            if number + 1 == len(node.ops) or first is False:
                return first
            if first is True:
                return rest(right, number + 1)
            value = self.sides(node, first, [], lambda: self.truth_value(rest(right, number + 1)), [],
                               lambda: Value(Const(False)), ("chain", id(node), number))
            return self.truth(value)
        return rest(self.eval(node.left), 0)

    def negated(self, condition):
        return not condition if isinstance(condition, bool) else self.op("not", condition)

    def truth_value(self, condition):
        """A condition as a value of Python."""
        return Value(Const(condition)) if isinstance(condition, bool) else Value(BOOL, (condition,))

    def truth(self, value):
        """bool(value): known, or a value of the graph."""
        value = as_number(value)
        type_ = value.type
        if isinstance(type_, Const):
            if is_number(type_) or type_.value is None or isinstance(type_.value, str):
                return bool(type_.value)
            if isinstance(type_.value, (type, python_types.FunctionType, python_types.BuiltinFunctionType)):
                return True
            if hasattr(type(type_.value), "__bool__") or hasattr(type(type_.value), "__len__"):
                self.refuse(f"expected a condition, found {type_}; compare it with something")
            return True
        if isinstance(type_, Scalar):
            if type_.kind is bool:
                return value.ids[0]
            zero = self.constant(0, "i64" if type_.kind is int else "f64")
            return self.op("ne", value.ids[0], zero)
        if isinstance(type_, Symbol):
            return self.op("ne", value.ids[0], self.constant(self.converter.symbol(""), "i64"))
        if isinstance(type_, Lst):
            if type_.element is NEVER:  # it is empty, as every list of nothing
                return False
            if type_.array:
                return self.op("ne", self.length_of_array(value).ids[0], self.constant(0, "i64"))
            return self.op("ne", self.graph.variant(value.ids[0]), self.constant(0, "i64"))
        if isinstance(type_, (Tup, Dct)):
            return bool(type_.items)
        if isinstance(type_, Mapping):
            return self.is_filled_mapping(value)
        if isinstance(type_, SearchTree):
            return type_.key is not NEVER and self.is_tree(value)
        if isinstance(type_, Func):
            return True
        if isinstance(type_, Tens):
            if any(size > 1 or size == 0 for size in type_.dims):
                self.fail(f"expected a condition of one element, found {type_}; hia.any(x) and hia.all(x) ask all of them")
            if any(size < 0 for size in type_.dims):
                self.refuse(f"expected a condition of one element, found {type_}; hia.any(x) and hia.all(x) ask all of them")
            if type_.dims:
                value = self.tensor_value(self.op("reshape", value.ids[0]))
            return value.ids[0] if type_.dtype == "bool" else self.op("bool", value.ids[0])
        if isinstance(type_, Objs):
            return self.truth_of_object(value)
        if isinstance(type_, Union):
            return self._union_truth(value)
        self.refuse(f"expected a condition, found {type_}; compare it with something")

    def _union_truth(self, value):
        condition = False
        for number in range(len(value.type.sides)):
            inner = self.truth(self.side(value, number))
            here = self.op("eq", value.ids[0], self.constant(number, "i64"))
            condition = self.any_of(condition, self.all_of(here, inner))
        return condition

    def all_of(self, a, b):
        for x, y in ((a, b), (b, a)):
            if isinstance(x, bool):
                return y if x else False
        return self.op("and", a, b)

    def any_of(self, a, b):
        for x, y in ((a, b), (b, a)):
            if isinstance(x, bool):
                return True if x else y
        return self.op("or", a, b)

    # What conditions tell.

    def learned_from(self, node):
        """What is known where the condition holds, and where it does not: pairs of a path and a test."""
        if isinstance(node, ast.NamedExpr):
            node = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            path = self.path_of(node.left)
            other = node.comparators[0]
            if path is not None and isinstance(other, ast.Constant) and other.value is None:
                pair = [(path, (None, True))], [(path, (None, False))]
                return pair if isinstance(node.ops[0], ast.Is) else pair[::-1]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.rstrip(BUILTIN) == "isinstance":
            path = self.path_of(node.args[0]) if len(node.args) == 2 else None
            if path is not None and self.eval(node.func).type == Const(isinstance):
                classes = self.classes_of(self.eval(node.args[1]))
                return [(path, (classes, True))], [(path, (classes, False))]
        path = self.path_of(node)
        if path is not None:
            type_ = self.read_path(path).type
            if isinstance(type_, Objs):
                return [(path, (None, False))], [(path, (None, True))]
            if isinstance(type_, Union) and NONE in type_.sides:
                return [(path, (None, False))], []
        return [], []

    def learn(self, facts):
        for path, (classes, holds) in facts:
            if not self.is_settled(path):
                continue
            value = self.narrowed(self.read_path(path), classes, holds)
            self.env[path if len(path) > 1 else path[0]] = value

    def narrowed(self, value, classes, holds):
        """The value, known to be None (classes None) or an instance of the classes, or known not to be."""
        type_ = value.type
        if isinstance(type_, Root):
            return value
        if isinstance(type_, Objs):
            if classes is None:
                return Value(NONE) if holds else Value(Objs(type_.classes), value.ids)
            hits = frozenset(c for c in type_.classes if issubclass(c, classes))
            left = Objs(hits) if holds else Objs(type_.classes - hits, type_.none)
            return Value(left, value.ids) if left.classes or left.none else value
        if isinstance(type_, Union):
            fits = [n for n, side in enumerate(type_.sides) if self._may_be(side, classes, holds)]
            if len(fits) == 1:
                return self.narrowed(self.side(value, fits[0]), classes, holds)
        return value

    def _may_be(self, side, classes, holds):
        if classes is None:
            return (side == NONE or isinstance(side, Objs) and side.none) if holds else side != NONE
        answer = self.static_instance(side, classes)
        return answer is None or answer == holds

    def is_none(self, value):
        type_ = value.type
        if isinstance(type_, Objs):
            if not type_.none or not type_.classes:
                return not type_.classes
            return self.op("eq", self.graph.variant(value.ids[0]), self.constant(0, "i64"))
        if isinstance(type_, Union):
            condition = False
            for number in range(len(type_.sides)):
                inner = self.is_none(self.side(value, number))
                if inner is not False:
                    here = self.op("eq", value.ids[0], self.constant(number, "i64"))
                    condition = self.any_of(condition, self.all_of(here, inner))
            return condition
        if isinstance(type_, (Opaque, NeverType)):
            self.chosen(value)
        return type_ == NONE

    def static_instance(self, type_, classes):
        """isinstance of a value of the type; None: the run tells."""
        if isinstance(type_, Objs):
            hits = [issubclass(c, classes) for c in type_.classes]
            if type_.none and any(hits):
                return None
            return all(hits) and bool(hits) if all(hits) or not any(hits) else None
        if isinstance(type_, Const):
            return isinstance(type_.value, classes)
        kinds = {Scalar: getattr(type_, "kind", None), Symbol: str, Lst: list, Dct: dict, Func: python_types.FunctionType,
                 Tup: getattr(type_, "cls", None), Mapping: python_class(getattr(type_, "cls", None))}
        if isinstance(type_, Tens):
            return issubclass(_core.Tensor, classes)
        return issubclass(kinds[family(type_)], classes)

    def is_instance(self, value, classes):
        type_ = value.type
        if isinstance(type_, Union):
            condition = False
            for number in range(len(type_.sides)):
                inner = self.is_instance(self.side(value, number), classes)
                here = self.op("eq", value.ids[0], self.constant(number, "i64"))
                condition = self.any_of(condition, self.all_of(here, inner))
            return condition
        if isinstance(type_, (Opaque, NeverType)):
            self.chosen(value)
        answer = self.static_instance(type_, classes)
        if answer is not None:
            return answer
        which = self.graph.variant(value.ids[0])
        condition = False
        for cls in sorted(type_.classes, key=lambda c: c.__qualname__):
            if issubclass(cls, classes):
                number = self.variant_of(cls)
                condition = self.any_of(condition, self.op("eq", which, self.constant(number, "i64")))
        return condition

    def classes_of(self, value):
        """The second argument of isinstance."""
        if isinstance(value.type, Const) and isinstance(value.type.value, type):
            return (value.type.value,)
        if isinstance(value.type, Tup):
            return tuple(c for item in self.items(value) for c in self.classes_of(item))
        self.refuse("expected a class or a tuple of classes behind isinstance; write the classes out")
