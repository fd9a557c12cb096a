"""Statements. Each path through them ends in what follows: the end of the function, or the next turn of a loop."""

import ast
import inspect

from hiaton.function.array_uses import is_element
from hiaton.function.exits import left_early
from hiaton.function.own_trees import with_fields, without_fields
from hiaton.function.reasons import is_of_package
from hiaton.function.scopes import (always_leaves, assigned, body_of, declared_names, functions_in, lent_names, names_set_inside, names_set_once,
                                    needed_names, read_names)
from hiaton.function.source import tree_of
from hiaton.function.types import FLOAT, NEVER, NONE, Const, Dct, Lst, Mapping, Tens, Tup, Value, is_number, sides_of


class Scope:
    """The function of Python whose text is being read."""

    def __init__(self, function):
        code = function.__code__
        self.function = function
        self.file = code.co_filename
        self.tree = tree_of(function)
        self.globals = function.__globals__
        self.cells = dict(zip(code.co_freevars, function.__closure__ or ()))
        self.locals = {*code.co_varnames, *code.co_cellvars}
        self.parameters = list(inspect.signature(function, follow_wrapped=False).parameters)
        self.first = self.parameters[0] if self.parameters else None
        owner = self.cells.get("__class__")
        self.owner = owner.cell_contents if owner is not None else None
        self.key = id(function)
        self.inside = {}  # the scopes of functions defined inside, by the identity of their trees
        self.assigned = assigned(*body_of(self.tree))
        self.set_outside = self.assigned & declared_names(self.tree)
        self.functions = functions_in(self, self.tree)


def build_function(frame, function, values, is_entry=False, names=None):
    """`names`: those of the values, where there are more than parameters."""
    frame.where = frame.converter.scope_of(function, Scope)
    changed = frame.where.cells.keys() & frame.where.assigned - frame.where.set_outside
    if changed and not isinstance(frame.where.tree, ast.Lambda):
        frame.refuse(f"'{min(changed)}' is a variable of the function around, and changed; make a new one", frame.where.tree)
    names = names or frame.where.parameters
    count = len(names)
    frame.env = dict(zip(names, values[:count]))
    if id(function.__code__) in frame.converter.stateful:
        (frame.begin_state if is_entry else frame.take_state)(values[count:])
    values = values[:count]
    frame.given, frame.strict_key = values, id(function.__code__) if count == len(frame.where.parameters) else None
    tree = frame.where.tree
    if isinstance(tree, ast.Lambda):
        return frame.result(frame.eval(tree.body))
    return frame.run(tree.body, End(tree))


def leaves(nodes, kinds):
    """Whether one of the statements can leave what stands around them."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, kinds):
            return True
        if isinstance(node, ast.FunctionDef):
            continue
        if isinstance(node, (ast.For, ast.While)) and ast.Return in kinds:
            if leaves([*node.body, *node.orelse], (ast.Return,)):
                return True
            continue
        pending += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    return False


class End:
    """The end of the function."""

    def __init__(self, tree):
        self.names = frozenset(lent_names(tree))

    def go(self, frame):
        return frame.result(Value(NONE))


class Rest:
    """Statements, and what follows them. Where several paths lead here, they are a function of the graph."""

    def __init__(self, statements, following, is_shared):
        self.statements = statements
        self.following = following
        self.is_shared = is_shared and bool(statements)
        self.names = read_names(statements) | following.names

    def go(self, frame):
        if not self.is_shared:
            return frame.run(self.statements, self.following)
        names, values = frame.passed(self.names | set(frame.state_names()))
        frame.drop_state()
        where, loop, loop_key = frame.where, frame.loop, frame.loop_key

        def build(inner, given):
            inner.where, inner.loop, inner.loop_key = where, loop, loop_key
            inner.env = dict(zip(names, given))
            return inner.run(self.statements, self.following)
        key = ("rest", frame.base_key(), id(self.statements[0]), tuple(names))
        instance = frame.converter.instance(key, f"{where.function.__name__}_rest", [v.type for v in values], build,
                                            parameters=names)
        return frame.call_instance(instance, values)


class Statements:
    def run(self, statements, following):
        """Gives what the function gives that this path belongs to."""
        for number, statement in enumerate(statements):
            self.node = self.statement = statement
            rest = statements[number + 1:]
            kind = type(statement).__name__
            if kind in ("Return", "Break", "Continue", "Raise"):
                return getattr(self, f"end_{kind}")(statement)
            if kind == "If":
                return self._run_if(statement, rest, following)
            parts = left_early(statement, self) if kind == "For" and not self.owns_in(statement) else None
            if parts is not None:
                return self.run([*parts, *rest], following)
            if kind in ("For", "While"):
                made = self.run_loop(statement, rest, following)
                if made is not None:
                    return made
                continue
            method = getattr(self, f"do_{kind}", None)
            if method is None:
                self.refuse(f"'{ast.unparse(statement).splitlines()[0]}' ({kind}) cannot be converted; let plain Python run it",
                            statement)
            method(statement)
        return following.go(self)

    def base_key(self):
        """Of the function of Python and its closure: what code inside it depends on besides values."""
        return (self.where.key, self.loop_key)

    loop_key = ()
    loop = None

    def loss_of(self, value):
        """What gradients are taken of: one float; with `has_aux`, the first of a pair; before what is set and printed."""
        if self.converter.places and value.type is not NEVER:
            value, *states = self.items(value)
            return self.tuple_of([self._loss_of_result(value), *states])
        return self._loss_of_result(value)

    def _loss_of_result(self, value):
        if self.converter.has_aux and value.type is not NEVER:
            value = self.chosen(value, lambda side: isinstance(side, Tup))
            if not isinstance(value.type, Tup) or len(value.type.items) != 2:
                self.refuse(f"has_aux: expected a pair of a number and other results, found {value.type}; "
                            "give (loss, others)", self.where.tree)
            number, aux = self.items(value)
            return self.tuple_of([self._number_of_loss(number), aux])
        return self._number_of_loss(value)

    def _number_of_loss(self, value):
        def fits(side):
            return side == FLOAT or isinstance(side, Tens) and side.dtype in ("f32", "f64") and not side.dims
        if value.type is NEVER:
            return value
        value = self.chosen(value, fits)
        if not fits(value.type):
            self.refuse(f"expected a number of f32 or f64 to take gradients of, found {value.type}; "
                        "give one float, or a tensor of one", self.where.tree)
        if value.type == FLOAT and (value.ids[0] in self.taken_out or not self.converter.by_arguments):
            self.refuse("expected a tensor to take gradients of, found a float: .item() and float() take a number out of a tensor, "
                        "and gradients end there; give the tensor itself", self.where.tree)
        return value

    def result(self, value):
        value = self.held(value)
        value = self.forward(value)
        return self.with_state(value)

    def end_Return(self, node):
        if self.gives_lent_list():
            return self.result(Value(NONE))
        if node.value is None:
            return self.result(Value(NONE))
        if self.own_name(node.value) is not None and self.may_give_object(node.value.id):
            return self.result(self.packed(node.value.id))
        own = self.own_mappings_of(node.value)
        if own is not None:
            return self.result(own)
        return self.result(self.eval_owned(node.value) if isinstance(node.value, ast.Call) and self.may_give_object(None) else self.eval(node.value))

    def end_Raise(self, node):
        self.fail(f"'{_first_line(node)}'", not is_of_package(self.where.file))

    def end_Break(self, node):
        return self.loop.leave(self)

    def end_Continue(self, node):
        return self.loop.again(self)

    def passed(self, names):
        """What is handed to another function of the graph: the names that it reads and that have values, and the state
        of the loops around."""
        for name in [n for n in names if n in self.where.functions]:  # and what functions of scopes around read
            tree, scope = self.where.functions[name]
            names = names.union(*needed_names(scope, tree))
        hidden = [n for n in self.env if isinstance(n, str) and n.startswith(".")]
        names = with_fields(names, self.env)
        names = sorted(n for n in self.env if isinstance(n, str) and (n in names)) + sorted(hidden)
        values = []
        for name in names:
            values.append(self.handed(name))
        return names, values

    def handed(self, name):
        """What a name stands for, for another function of the graph. A number that is known before the run stays known where something
        in the function needs one, and no loop can change it."""
        value, tree = self.env[name], self.where.tree
        if is_number(value.type) and type(value.type.value) is int and id(self.where.function.__code__) in self.converter.fixed:
            is_set_once = name in names_set_once(tree) or not isinstance(self.where, Scope) and name not in self.where.own
            if is_set_once and name not in names_set_inside(tree_of(self.where.function)):
                return value
        return self.held(value)

    def _run_if(self, node, rest, following):
        condition, true, false = self.condition(node.test)
        condition = self.assumed_side(node, condition)
        if condition is True or condition is False:
            self.learn(true if condition else false)
            return self.run([*(node.body if condition else node.orelse), *rest], following)
        if not leaves([*node.body, *node.orelse], (ast.Return, ast.Break, ast.Continue)):
            self._join_if(node, condition, true, false)
            return self.run(rest, following)
        both = not always_leaves(node.body) and not always_leaves(node.orelse)
        after = Rest(rest, following, both)
        return self.branch(condition, true, lambda: self.run(node.body, after), false,
                           lambda: self.run(node.orelse, after), ("if", id(node)))

    def _join_if(self, node, condition, true, false):
        """A branch whose sides go on behind it: its results are the names that they give values."""
        places = self.places_found_in([*node.body, *node.orelse])
        changed = [*without_fields(assigned(*node.body, *node.orelse)), *places]
        bound = [{}, {}]

        def side(number, statements):
            def run():
                self.run_here(statements)
                bound[number].update({n: self.env[n] for n in changed if n in self.env})
                # What has no value on the other side either is looked at below: its type must hold for both.
                return self.tuple_of([self._state(n) for n in changed])
            return run
        value = self.branch(condition, true, side(0, node.body), false, side(1, node.orelse), ("join", id(node)), changed)
        if not isinstance(value.type, Tup) or len(value.type.items) != len(changed):  # more was found out about calls meanwhile
            self.converter.changed = True
            self.fail()
        for name, item in zip(changed, self.items(value)):
            if name in places:
                self.env[name] = item
            elif is_unbound(item.type):
                self.forget(name)
            else:
                self.bind(name, item)

    def _state(self, name):
        return Value(Const(UNBOUND)) if name not in self.env else self.held(self.packed(name))

    def run_here(self, statements):
        """Statements that nothing leaves: names get their values in this scope."""
        self.run(statements, _Stay())

    # Simple statements.

    def do_Pass(self, node):
        pass

    def do_Expr(self, node):
        changes = isinstance(node.value, ast.Call) and (self.printed(node) or self.change_list(node.value))
        if not isinstance(node.value, ast.Constant) and not changes:
            self.unused = node.value
            self.eval(node.value)

    def do_Assign(self, node):
        if self.extend_by_sum(node):
            return
        value = self.popped(node.value)
        self.note_dict_with_changed_items(node)
        value = self.moved(node) if value is None else value
        value = self.filled_array(node) if value is None else value
        if value is None:
            value = self._kept(self.value_for(node.targets, node.value), node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node):
        if node.value is not None:
            self.assign(node.target, self._kept(self.eval_owned(node.value), node.value))

    def do_AugAssign(self, node):
        if isinstance(node.target, ast.Subscript):
            self._change_item(node)
            return
        if isinstance(node.target, ast.Attribute):
            holder = self.eval(node.target.value)
            self.ask_for_own(holder.type)
            before = self.attribute(holder, node.target.attr)
            if isinstance(before.type, (Lst, Dct, Mapping)):
                self.ask_for_own_holder(node.target)
                self.refuse("this change of a list cannot be converted; build a new one", node)
            self.set_attribute(node.target, self.binary(type(node.op).__name__, before, self.eval(node.value)), holder)
            return
        name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        value = self.env[name.id] if self.is_array(name.id) else self.peek(name)
        if isinstance(value.type, Lst):
            if not isinstance(node.op, ast.Add):
                self.refuse("this change of a list cannot be converted; build a new one", node)
            if self.extend(node.target.id, self.items_to_add(node.value), node) is None:
                self.refuse("this change of a list cannot be converted; build a new one", node)
            return
        if isinstance(value.type, Mapping):
            self.own_mapping(node.target.id, node)
        self.bind(node.target.id, self.binary(type(node.op).__name__, value, self.eval(node.value)))

    def _change_item(self, node):
        """name[key] += value and rows[i][key] += value: each key is computed once."""
        if isinstance(node.target.slice, ast.Slice):
            self.refuse("a change of a part of a list cannot be converted; build a new list", node)
        if self.augment_item(node):
            return
        keys = [node.target.value.slice, node.target.slice] if is_element(node.target.value) else [node.target.slice]
        names = [f"key@{id(node)}_{number}" for number in range(len(keys))]
        if not hasattr(node, "hiaton_item"):
            holder = node.target.value.value if len(keys) > 1 else node.target.value
            node.hiaton_item = [_with_keys(holder, names, context(), node) for context in (ast.Load, ast.Store)]
        item, target = node.hiaton_item
        for name, key in zip(names, keys):
            self.env[name] = self.eval(key)
        if len(keys) == 1 and isinstance(node.target.value, ast.Name):
            self.set_first_item(node.target.value.id, self.env[names[0]])
        before = self.eval(item)
        if isinstance(before.type, (Lst, Dct, Mapping)):
            self.ask_for_own_holder(node.target)
            self.refuse("this change of a list cannot be converted; build a new one", node)
        self.set_item(target, self.binary(type(node.op).__name__, before, self.eval(node.value)))
        for name in names:
            del self.env[name]

    def set_item_with_keys(self, target, value):
        """name[key] = value, where the key changes what the name stands for: it is computed first."""
        keys = [target.value.slice, target.slice] if is_element(target.value) else [target.slice]
        names = [f"key@{id(target)}_{number}" for number in range(len(keys))]
        if not hasattr(target, "hiaton_item"):
            target.hiaton_item = _with_keys(target.value.value if len(keys) > 1 else target.value, names, ast.Store(), target)
        for name, key in zip(names, keys):
            self.env[name] = self.eval(key)
        self.set_item(target.hiaton_item, value)
        for name in names:
            del self.env[name]

    def _kept(self, value, node):
        """A list that was just made belongs to the name alone."""
        return value if self._gives_new(node) else self.shared(value)

    def _gives_new(self, node):
        """Whether a list that the expression gives is one to which nobody else refers."""
        if isinstance(node, ast.IfExp):
            known = self._known_test(node.test)
            return all(map(self._gives_new, (node.body, node.orelse) if known is None else (node.body,) if known else (node.orelse,)))
        is_part = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
        return isinstance(node, (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.Tuple, ast.Call, ast.BinOp)) or is_part

    def _known_test(self, test):
        """What `name is None` or `name is not None` gives, where that is known before the run; None: it is not."""
        is_one = isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and self.is_question_for_none(test)
        known = self.condition(test)[0] if is_one else None
        return known if isinstance(known, bool) else None

    def assign(self, target, value):
        if isinstance(target, ast.Name):
            self.refuse_another_list(target.id)
            self.bind(target.id, value)
            return
        if isinstance(target, (ast.Tuple, ast.List)):
            value = self.chosen(value, lambda side: isinstance(side, (Tup, Tens, Lst)))
            if isinstance(value.type, Lst):
                self.assign_parts(target.elts, value)
                return
            if isinstance(value.type, Tens) and value.type.dims and value.type.dims[0] == len(target.elts):
                value = self.rows_of(value)
            if not isinstance(value.type, Tup):
                self.refuse(f"expected a tuple to take apart, found {value.type}; give its items by index", target)
            items = self.items(value)
            stars = [number for number, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
            if stars:
                self._assign_with_star(target, stars[0], items)
                return
            if len(items) != len(target.elts):
                self.fail(f"expected {len(target.elts)} values to give names, found {len(items)}")
            for part, item in zip(target.elts, items):
                self.assign(part, item)
            return
        if isinstance(target, ast.Subscript):
            self.set_item(target, value)
            return
        self.set_attribute(target, value)

    def _assign_with_star(self, target, star, items):
        end = len(items) - (len(target.elts) - star - 1)
        if end < star:
            self.fail(f"expected at least {len(target.elts) - 1} values to give names, found {len(items)}")
        for part, item in zip(target.elts[:star], items):
            self.assign(part, item)
        self.assign(target.elts[star].value, self.list_of(items[star:end], None))
        for part, item in zip(target.elts[star + 1:], items[end:]):
            self.assign(part, item)

    def do_Assert(self, node):
        condition = self.condition(node.test)
        if condition[0] is False:
            self.fail(f"'{_first_line(node)}'", True)
        if condition[0] is not True:
            self.require(condition[0], f"'{_first_line(node)}'")
        self.learn(condition[1])


def _with_keys(holder, names, context, where):
    """holder[a][b], by names of the keys."""
    for number, name in enumerate(names, 1):
        holder = ast.Subscript(holder, ast.Name(name, ast.Load()), context if number == len(names) else ast.Load())
    return ast.fix_missing_locations(ast.copy_location(holder, where))


class _Unbound:
    def __repr__(self):
        return "no value"


UNBOUND = _Unbound()


def is_unbound(type_):
    return any(side == Const(UNBOUND) for side in sides_of(type_))


class _Stay:
    names = frozenset()

    def go(self, frame):
        return Value(NONE)


def _first_line(node):
    return ast.unparse(node).splitlines()[0]
