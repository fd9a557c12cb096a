"""Changes of lists that a function made and that nobody else refers to: the name stands for another list from then on."""

import ast
import builtins
import contextlib
import inspect

from hiaton.function import heaps
from hiaton.function.array_uses import OF_EMPTINESS, is_computed_index, is_element
from hiaton.function.liveness import names_read_behind
from hiaton.function.own_trees import is_field
from hiaton.function.scopes import CHANGES, assigned, body_of, changed, lent_names, nodes_below
from hiaton.function.recasts import are_recast
from hiaton.function.types import NEVER, NONE, Const, Lst, Mapping, Objs, Sink, Tup, Value, is_number, join

# Methods by name: what makes the other list, and how many arguments there are.
_CHANGES = {"insert": ("inserted", 2), "remove": ("without", 1), "reverse": ("backward", 0)}

_COMPARISONS = {operator for operator, _ in OF_EMPTINESS}
_FEW = 8  # To compare the length with so small a number, it is counted to the next one.


def _changed_in_length(root):
    """The names of lists to which it adds elements or from which it takes some."""
    calls = [node.func for node in nodes_below(body_of(root)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return {func.value.id for func in calls if func.attr in ("append", "extend", "insert", "pop", "remove") and isinstance(func.value, ast.Name)}


def _set_by_index(root):
    """The names of lists of which it sets elements at computed indices."""
    set_there = [node for node in nodes_below(body_of(root)) if is_element(node) and not isinstance(node.ctx, ast.Load) and is_computed_index(node.slice)]
    return {node.value.id for node in set_there if isinstance(node.value, ast.Name)}


def _uses_of_list(node, name):
    """How often an expression or a simple statement uses a list in another way than by list.pop(..), list[i], len(list) and, as a
    statement, list.append(..): these look at it when they are there, and nothing that is computed before keeps it."""
    if isinstance(node, ast.Name):
        return node.id == name
    is_own = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", None) == name
    is_looked_at = isinstance(node, ast.Call) and getattr(node.func, "id", None) == "len" or isinstance(node, ast.Subscript)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and getattr(node.value.func, "attr", None) == "append":
        return sum(_uses_of_list(part, name) for part in node.value.args)
    if is_own and node.func.attr == "pop":
        return sum(_uses_of_list(part, name) for part in node.args)
    if is_looked_at and not any(isinstance(part, ast.Call) for part in nodes_below([node]) if part is not node):
        return 0
    return sum(_uses_of_list(part, name) for part in ast.iter_child_nodes(node))


class Lists:
    def compared_length(self, node):
        """len(xs) == 0, len(xs) > 2 and their like, of a list, which is not counted to its end then; None where it is something else."""
        call, number, operator = node.left, node.comparators[0], type(node.ops[0]).__name__
        is_call = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "len"
        is_few = isinstance(number, ast.Constant) and type(number.value) is int and 0 <= number.value <= _FEW
        if not is_call or not is_few or operator not in _COMPARISONS or len(call.args) != 1 or call.keywords:
            return None
        if isinstance(call.args[0], ast.Starred) or self.eval(call.func).type != Const(builtins.len):
            return None
        if self.range_bounds(call.args[0]) is not None or self.own_name(call.args[0]) is not None:
            return None
        value = self.chosen(self.looked_at(call.args[0]))
        of_empty = OF_EMPTINESS.get((operator, number.value)) if isinstance(value.type, Lst) else None
        if of_empty is not None:
            is_filled = self.truth(value)
            return self.truth_value(self.negated(is_filled) if of_empty else is_filled)
        is_counted = isinstance(value.type, Lst) and not value.type.array and value.type.element is not NEVER
        length = self.call_prelude("count_to", [self.mirrored(value), Value(Const(number.value + 1))]) if is_counted else self.builtin_len(value)
        return self.compare(operator, length, Value(Const(number.value)))

    def own(self, name, value, node, may_be_sink=False):
        """The list that a name stands for, as one of cells, if nobody else refers to it."""
        if not value.type.fresh:
            self.ask_to_lend(name, may_be_sink)
            self.refuse(f"'{name}' is a list that others may refer to; build a new one and give it back", node)
        return self.cells_of(name)

    def moved(self, node):
        """What an assignment gives of which the value is a name, or a tuple of names, that stand for lists and that nobody reads behind it: the
        lists stay ones that nobody else refers to. None where it is something else."""
        sources = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        names = [source.id for source in sources if isinstance(source, ast.Name)]
        if len(names) < len(sources) or len(set(names)) < len(names) or len(node.targets) > 1 or not any(
                self.is_changeable(name) or self.is_own(name) for name in names):
            return None
        targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else [node.targets[0]]
        read_behind = names_read_behind(self.where.tree, node)
        if read_behind is None or len(targets) != len(sources) or not all(isinstance(target, ast.Name) for target in targets):
            return None
        is_swap = set(names) == {target.id for target in targets}  # each gets another one: fields of objects too, which others may read behind
        is_moved = [(is_swap if is_field(name) else name not in read_behind) and (self.is_changeable(name) or self.is_own(name)) for name in names]
        values = [self.packed(name) if moves else self.name_value(name) for name, moves in zip(names, is_moved)]
        return self.tuple_of(values) if isinstance(node.value, ast.Tuple) else values[0]

    def assign_parts(self, targets, value):
        """The elements of a list, of which there must be as many as targets; a star takes the rest."""
        stars = [number for number, target in enumerate(targets) if isinstance(target, ast.Starred)]
        if stars and stars[0] + 1 < len(targets):
            self.refuse("what stands behind '*' cannot be taken from a list whose length the run tells; "
                        "take it by its index from the end", targets[0])
        items = self.elements(value, stars[0] if stars else len(targets), bool(stars))
        for target, item in zip(targets, items):
            self.assign(target.value if isinstance(target, ast.Starred) else target, item)

    def elements(self, value, count, takes_rest=False):
        """The elements of a list, of which there must be so many; `takes_rest`: or more, and a list of these comes last."""
        left, items = self.forward(value), []
        for _ in range(count):
            if left.type.element is NEVER:
                self.fail("a list with fewer elements than names")
            self.require_variant(left.ids[0], "a list with fewer elements than names")
            items.append(self.head(left))
            left = self.tail(left)
        if takes_rest:
            return [*items, self.as_new(self.call_prelude("collected", [left]))]
        self.require(self.is_empty(left), "a list with more elements than names")
        return items

    def append(self, name, node):
        """name.append(x), of a list that nobody else refers to; None where it is something else."""
        value = self.env.get(name)
        if value is None or not isinstance(value.type, Lst) or len(node.args) != 1:
            return None
        if not value.type.array or not value.type.fresh:
            self.own(name, value, node, True)
        item = self.eval(node.args[0])
        item = self.held(item if isinstance(item.type, Lst) else self.shared(item))
        if name not in self.env:
            self.refuse(f"'{name}' is a list of an object that is put somewhere by what is appended; compute that on a line before", node)
        if self.grown_array(name, [item]):
            self.note_append(name)
            return Value(NONE)
        value = self.cells_of(name) if self.is_array(name) else self.env[name]  # the item may be taken out of the same list
        if isinstance(item.type, Lst):
            item = self.forward(item)
            item = Value(Lst(item.type.element), item.ids)
        if value.type.element is NEVER:
            value = self.default(Lst(item.type, True, True))
        element = join(value.type.element, item.type)
        if element != value.type.element:
            value = self._with_elements_of(value, element, item, node)
        item = self.coerce(item, element)
        value = value if value.type.backward else self.turned(value)
        self.bind(name, self.cons(item, value))
        self.note_append(name)
        return Value(NONE)

    def _with_elements_of(self, value, element, item, node):
        """A list that nobody else refers to, for an item of another type: of objects of more classes, or tensors of other sizes."""
        same = self.converter.graph_types(element) == self.converter.graph_types(value.type.element)
        if same and isinstance(element, Objs):
            return Value(Lst(element, True, value.type.backward), value.ids)
        if not are_recast(value.type.element, item.type):
            self.refuse(f"expected elements of one type, found {value.type.element} and {item.type}; convert the elements", node)
        return self.recast(value, element)

    def extend(self, name, items, node):
        """name.extend(items), of a list that nobody else refers to; None where it is something else."""
        value = self.env.get(name)
        if value is None or not isinstance(value.type, Lst):
            return None
        if isinstance(items.type, (Lst, Tup)) and self.extended_array(name, items):
            return Value(NONE)
        value = self.own(name, value, node, True)
        if isinstance(items.type, Tup):
            items = self.list_of(self.items(items), None)
        if not isinstance(items.type, Lst):
            self.refuse(f"expected a list or a tuple, found {items.type}; give list(...) of it", node)
        if items.type.element is NEVER:
            return Value(NONE)
        if value.type.element is NEVER:
            value = self.default(Lst(items.type.element, True, True))
        if value.type.element == items.type.element:
            self.bind(name, self.turned(self.forward(items), value if value.type.backward else self.turned(value)))
        else:
            self.bind(name, self.joined(value, items))
        return Value(NONE)

    def extend_by_sum(self, node):
        """xs = xs + items, of a list that nobody else refers to, which is extended then. Whether it is that."""
        name, value = getattr(node.targets[0], "id", None), node.value
        is_sum = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and getattr(value.left, "id", None) == name is not None
        held = self.env.get(name) if is_sum and len(node.targets) == 1 else None
        if held is None or not isinstance(held.type, Lst) or not held.type.fresh \
                or name in changed(value.right) | lent_names(self.where.tree).keys():
            return False
        items = self.eval(value.right)
        held = self.env.get(name)  # the items may have put it somewhere
        if held is not None and held.type.fresh and isinstance(items.type, Lst):
            self.extend(name, items, node)
        else:
            self.bind(name, self.binary("Add", self.name_value(name), items))
        return True

    def joined(self, left, right):
        """A new list of the elements of both. It ends with the cells of the second, where it does not begin with them."""
        if left.type.element != right.type.element or left.type.element is NEVER:
            return self.as_new(self.call_prelude("joined", [self.forward(left), self.forward(right)]))
        to = Lst(left.type.element, True)
        right = Value(to if right.type.fresh else Lst(to.element), self.forward(right).ids)

        def in_front():
            made = self.turned(left, right) if left.type.backward else self.call_prelude("joined_onto", [left, right])
            return Value(to, made.ids)
        return self.either(self.is_empty(left), lambda: self.as_new(self.call_prelude("collected", [right])), in_front, to)

    def operands(self, node):
        """Both operands: lists of names are looked at, when both have been computed, where the right one does not change the left one."""
        def is_name_of_list(one):
            return isinstance(one, ast.Name) and self.is_list(one.id) and (one is node.right or one.id not in assigned(node.right))

        def looked_at(one):
            held = self.env[one.id]
            return held if held.type.backward and not self.owns_items(one.id) else self.peek(one)
        left, right = (None if is_name_of_list(one) else self.eval(one) for one in (node.left, node.right))
        return looked_at(node.left) if left is None else left, looked_at(node.right) if right is None else right

    def items_to_add(self, node):
        """What a list is extended by: items that are computed one by one are added one by one."""
        if isinstance(node, ast.List) and not any(isinstance(item, ast.Starred) for item in node.elts):
            return self.tuple_of(self.eval_many(node.elts))
        return self.computed_ahead(node, lambda: self.as_list(node)) if self.is_lazy(node) else self.as_list(node)

    def popped(self, node):
        """name.pop() or name.pop(0), of a list that nobody else refers to; None where it is something else."""
        is_pop = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("pop", "setdefault")
        if is_pop and not node.keywords and isinstance(node.func.value, (ast.Call, ast.Subscript)):
            return self.popped_of_item(node) if node.func.attr == "pop" else None
        if not is_pop or not isinstance(node.func.value, ast.Name) or node.keywords:
            return None
        name = node.func.value.id
        value = self.env.get(name)
        if value is not None and isinstance(value.type, Mapping):
            return self.popped_of_mapping(name, node)
        if value is None or not isinstance(value.type, Lst) or node.func.attr != "pop":
            return None
        value = value if value.type.array and value.type.fresh else self.own(name, value, node)
        place = self.eval(node.args[0]).type if node.args else Const(-1)
        if value.type.array and is_number(place) and place.value == -1:
            return self.popped_of_array(name)
        value = self.cells_of(name)
        if not is_number(place) or not isinstance(place.value, int) or place.value not in (0, -1):
            self.refuse("list.pop can only be converted for the first and the last element; delete others by 'del'", node)
        if value.type.element is NEVER:
            self.fail("pop from an empty list")
        if value.type.backward != (place.value == -1):
            value = self.turned(value)
        self.require_variant(value.ids[0], "pop from an empty list")
        self.bind(name, self.tail(value))
        return self.head(value)

    def popped_inside(self, node):
        """The same call where it is a part of an expression: what stands there is computed in its order, and sees the change."""
        name = node.func.value.id
        around = self.statement
        parts = [around.test] if isinstance(around, (ast.If, ast.While)) else [around]
        is_simple = isinstance(around, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.If, ast.While))
        if self.on_sides or not is_simple or sum(map(_uses_of_list, parts, [name])) > 0:
            self.refuse(f"'{name}.{node.func.attr}' inside of this expression cannot be converted; give what it takes out a name, on a line of its own", node)
        return self.popped(node)

    def change_list(self, node):
        """Of a statement name.method(...): whether it changed a list."""
        if not isinstance(node.func, ast.Attribute):
            return False
        if node.func.attr in ("append", "extend") and len(node.args) == 1 and not node.keywords and self._grow_sink(node):
            return True
        if node.func.attr in CHANGES and isinstance(node.func.value, (ast.Subscript, ast.Call)) and self.change_in_item(node):
            return True
        if node.func.attr in CHANGES and isinstance(node.func.value, (ast.Attribute, ast.Subscript, ast.Call)):
            self.ask_for_own_holder(node.func.value)
        if not isinstance(node.func.value, ast.Name):
            return False
        name, method = node.func.value.id, node.func.attr
        if self.change_mapping(name, method, node):
            return True
        value = self.env.get(name)
        if value is None or not isinstance(value.type, Lst):
            return False
        if method == "append" and len(node.args) == 1:
            self.append(name, node)
            return True
        if method == "extend" and len(node.args) == 1:
            if self.extend(name, self.items_to_add(node.args[0]), node) is None:
                self.refuse(f"'{name}' is a list of an object that is put somewhere by what is added; compute that on a line before", node)
            return True
        if method == "pop":
            return self.popped(node) is not None
        if method not in (*_CHANGES, "clear", "sort"):
            return False
        if name in changed(*node.args):
            self.refuse(f"an argument of this call of '{method}' changes the same list; compute it on a line before", node)
        value = value if method == "clear" and value.type.fresh else self.own(name, value, node)
        if method == "sort":
            named = self.eval_named_for_call(node)
            key, is_reverse = named.pop("key", Value(NONE)), named.pop("reverse", Value(Const(False)))
            if node.args or named:
                self.refuse("this call of 'sort' cannot be converted; give it 'key' and 'reverse'", node)
            made = self.in_order(self.forward(value), key, self.truth_value(self.truth(is_reverse)))
        elif method == "clear" and not node.args and not node.keywords:
            made = self.default(Lst(NEVER, True))
        elif method in _CHANGES and len(node.args) == _CHANGES[method][1] and not node.keywords:
            made = self.call_prelude(_CHANGES[method][0], [self.forward(value), *(self.eval(arg) for arg in node.args)])
        else:
            self.refuse(f"this call of '{method}' cannot be converted; build a new list", node)
        self.bind(name, self.as_new(made))
        return True

    # Lists of the caller.

    def _grow_sink(self, node):
        """Of a statement list.append(x) or list.extend(items): whether it is a list of the caller, which then grows when the run is
        over."""
        found = self._list_before(node.func.value)
        if found is not None and id(found) not in self.converter.appended:
            self.converter.appended[id(found)] = found
            self.converter.changed = True
            self.fail()
        if found is None and not isinstance(getattr(self.env.get(getattr(node.func.value, "id", None)), "type", None), Sink):
            return False
        held = self.eval(node.func.value)
        if node.func.attr == "append":
            self.append_to(held, self.eval(node.args[0]), node)
            return True
        if not hasattr(node, "hiaton_loop"):
            item = f"item@{id(node)}"
            append = ast.Call(ast.Attribute(node.func.value, "append", ast.Load()), [ast.Name(item, ast.Load())], [])
            node.hiaton_loop = ast.For(ast.Name(item, ast.Store()), node.args[0], [ast.Expr(append)], [])
            for part in ast.walk(node.hiaton_loop):
                if not hasattr(part, "lineno"):
                    ast.copy_location(part, node)
        self.run_here([node.hiaton_loop])
        return True

    def _list_before(self, node):
        """The list that a name or an attribute stands for, where it was there before the call and is no argument; "
          "None: it is not."""
        found = None
        if isinstance(node, ast.Name) and node.id not in self.env and node.id not in self.where.locals \
                and self.place_of_variable(node.id) is None:
            cell = self.where.cells.get(node.id)
            with contextlib.suppress(ValueError):
                found = self.where.globals.get(node.id) if cell is None else cell.cell_contents
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            holder = self.peek(node.value)
            if isinstance(holder.type, Const) and self.place_of(holder, node.attr) is None:
                found = inspect.getattr_static(holder.type.value, node.attr, None)
        return found if type(found) is list and self.converter.may_write else None

    def ask_for_sink(self, number):
        """A list that is an argument of the graph is appended to: from the next round on, it is not read."""
        if not self.converter.may_write or number in self.converter.sinks:
            return
        self.converter.sinks.add(number)
        self.converter.changed = True
        self.fail()

    def set_element(self, target, value, element):
        """name[index] = element."""
        if isinstance(target.slice, ast.Slice):
            self._set_part(target, element)
            return
        if heaps.is_text_of(self.where.file):
            self.converter.is_slow_at = "calls functions of heapq, which are written in C,"
        is_alike = join(value.type.element, element.type) == value.type.element
        if value.type.array and value.type.fresh and is_alike:
            changed = self.with_element(value, self._index_of(target), self.coerce(element, value.type.element))
            self.bind(target.value.id, changed)
            return
        value = self.own(target.value.id, value, target)
        if value.type.element is NEVER:
            self.fail("an index into an empty list")
        element = self.shared(element)
        element = self.coerce(element, value.type.element) if is_alike else element
        index = self._index_of(target)
        if is_alike and value.type.backward and is_number(index.type) and index.type.value < 0:
            made = self.call_prelude("with_item", [self.mirrored(value), Value(Const(~index.type.value)), element])
            self.bind(target.value.id, Value(value.type, made.ids))
            return
        self.note_slow_change(target.value.id)
        made = self.call_prelude("replaced" if is_alike else "replaced_by_other", [self.forward(value), index, element])
        self.bind(target.value.id, self.as_new(made))

    def note_slow_change(self, name):
        """A list is laid out anew or copied, where a loop, or a function that is called with it, both changes its length and sets elements at
        computed indices: each turn or call takes a time that grows with the list."""
        tree = self.where.tree if name in lent_names(self.where.tree) else None if self.loop is None else self.loop.node
        if tree is not None and name in _changed_in_length(tree) & _set_by_index(tree):
            self.converter.is_slow_at = self.converter.is_slow_at or f"sets elements of lists that also grow or shrink, as '{name}',"

    def delete_element(self, target):
        """del name[index]."""
        value = self.env.get(getattr(target.value, "id", None))
        if isinstance(target.value, (ast.Subscript, ast.Call)) and self.delete_in_item(target):
            return
        if value is not None and isinstance(value.type, Mapping):
            self.delete_key(target.value.id, self.eval(target.slice), target)
            return
        if value is None or not isinstance(value.type, Lst):
            self.ask_for_own_holder(target)
            self.refuse("a change of an object cannot be converted; make a new one", target)
        if isinstance(target.slice, ast.Slice):
            self._set_part(target, None)
            return
        value = self.own(target.value.id, value, target)
        if value.type.element is NEVER:
            self.fail("an index into an empty list")
        made = self.call_prelude("shortened", [self.forward(value), self._index_of(target)])
        self.bind(target.value.id, self.as_new(made))

    def _set_part(self, target, items):
        """name[start:stop] = items, or del name[start:stop] where there are none."""
        name, part = target.value.id, target.slice
        if name in changed(part):
            self.refuse(f"an end of this part of '{name}' changes the same list; compute it on a line before", target)
        value = self.forward(self.own(name, self.env[name], target))
        if part.step is not None:
            self.refuse("a change of a part of a list with a step cannot be converted; set the elements in a loop", target)
        if items is not None and isinstance(items.type, Tup):
            items = self.list_of(self.items(items), None)
        if items is not None and not isinstance(items.type, Lst):
            self.refuse(f"expected a list or a tuple, found {items.type}; give list(...) of it", target)
        start, stop = (Value(NONE) if end is None else self.eval(end) for end in (part.lower, part.upper))
        made = self.call_prelude("before_part", [value, start])
        if items is not None:
            made = self.joined(made, self.shared(items))
        self.bind(name, self.joined(made, self.call_prelude("behind_part", [value, start, stop])))

    def _index_of(self, target):
        return self.operand(self.eval(target.slice))
