"""Elements of lists by their index in loops: each `xs[i]` goes on from the element that it found in the turn before."""

import ast

from hiaton.function.scopes import assigned
from hiaton.function.types import INT, NEVER, NONE, Const, Func, Lst, Sink, Tens, Value

_OTHER_BODIES = (ast.For, ast.While, ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Each is two values that every turn of the loop hands on.
_MOST_LOOKUPS = 6


def _lookups_below(nodes):
    """The subscripts of names that a loop evaluates itself."""
    for node in nodes:
        if isinstance(node, _OTHER_BODIES):
            continue
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load) \
                and not isinstance(node.slice, (ast.Slice, ast.Constant, ast.UnaryOp)):
            yield node
        yield from _lookups_below(ast.iter_child_nodes(node))


def _lookups_of(loop):
    """Those of lists that the loop leaves as they are."""
    if not hasattr(loop, "hiaton_lookups"):
        changed = assigned(loop)
        found = _lookups_below([*loop.body, loop.test] if isinstance(loop, ast.While) else loop.body)
        loop.hiaton_lookups = [node for node in found if node.value.id not in changed]
    return loop.hiaton_lookups


def _is_append(statement):
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append" \
        and isinstance(call.func.value, ast.Name)


def _growing_in(loop):
    """The lists that a loop looks up and changes in no other way than by appending, in each turn that comes there."""
    if not hasattr(loop, "hiaton_growing"):
        appended = {statement.value.func.value.id for statement in loop.body if _is_append(statement)}
        others = set().union(*(assigned(statement) for statement in loop.body if not _is_append(statement)), assigned(loop.target)
                             if isinstance(loop, ast.For) else ())
        loop.hiaton_growing = sorted(appended & {node.value.id for node in _lookups_below(loop.body)} - others)
    return loop.hiaton_growing


def _may_be_looked_up(type_):
    return isinstance(type_, Lst) and not type_.array and type_.element is not NEVER and _is_plain(type_.element)


def _is_plain(type_):
    if isinstance(type_, Lst):
        return _is_plain(type_.element)
    parts = (*getattr(type_, "items", ()), *getattr(type_, "sides", ()))
    return not isinstance(type_, (Tens, Func, Sink)) and all(map(_is_plain, parts))


class Lookups:
    def begin_lookups(self, loop):
        """Adds to the state of a loop the places in lists that its lookups go on from. Not where tensors are computed: their turns
        would wait for each other."""
        if not self.converter.keeps_places or self.converter.has_tensors:
            return
        for name in _growing_in(loop.node):
            value = self.env.get(name)
            if value is not None and isinstance(value.type, Lst) and not value.type.array and _is_plain(value.type.element):
                self.env[f"{loop.hidden}.length.{name}"] = Value(INT, self.held(self.call_prelude("count", [self.mirrored(value)])).ids)
        whole = {}
        for number, node in enumerate(_lookups_of(loop.node)[:_MOST_LOOKUPS]):
            value = self.env.get(node.value.id)
            if value is not None and _may_be_looked_up(value.type) and self.array_of(node.value.id) is None:
                name = f"{loop.hidden}.at.{number}"
                if node.value.id not in whole:
                    whole[node.value.id] = Value(Lst(value.type.element), self.forward(value).ids)
                self.env[f"{name}.items"] = whole[node.value.id]
                self._set_place(name, self.held(Value(Const(0))), whole[node.value.id])

    def _known_length(self, name):
        """The name of what counts how long a list has grown; None: nothing does."""
        found = None if self.loop is None else f"{self.loop.hidden}.length.{name}"
        return found if found in self.env else None

    def note_append(self, name):
        length = self._known_length(name)
        if length is not None:
            self.env[length] = Value(INT, (self.op("add", self.env[length].ids[0], self.constant(1, "i64")),))

    def element_of_backward(self, node, items, index):
        """An element of a list of which the last item comes first."""
        name = self._known_length(getattr(node.value, "id", None))
        length = Value(NONE) if name is None else self.env[name]
        return self.call_prelude("element_of_backward", [self.mirrored(items), index, length])

    def _set_place(self, name, at, rest):
        self.env[name], self.env[f"{name}.rest"] = Value(INT, at.ids), rest

    def _place_of_lookup(self, node):
        """The name of the place that a lookup of the loop goes on from; None: the loop keeps none."""
        lookups = _lookups_of(self.loop.node)[:_MOST_LOOKUPS] if self.loop is not None else []
        names = (f"{self.loop.hidden}.at.{number}" for number, one in enumerate(lookups) if one is node)
        return next((name for name in names if name in self.env), None)

    def places_found_in(self, nodes):
        """The names of what lookups in the sides of a branch find."""
        if self.loop is None:
            return []
        names = [name for name in map(self._place_of_lookup, _lookups_below(nodes)) if name is not None]
        return [*names, *(f"{name}.rest" for name in names)]

    def looked_up(self, node, index):
        """An element of a list from where the turn before has found one; None: the loop keeps no place."""
        name = self._place_of_lookup(node)
        if name is None or not self.numeric(index.type):
            return None
        items = self.env[f"{name}.items"]
        at = self.call_prelude("from_begin", [items, Value(INT, (self.as_kind(index, int),))])
        rest = self.call_prelude("rest_at", [items, self.env[f"{name}.rest"], self.env[name], at])
        self._set_place(name, at, rest)
        return self.head(rest)
