"""Trees of functions in which attributes of some objects are names: where nobody else refers to an object, its fields are variables like others.

    self.pos += 1                       `self.pos` is a Name, and so `pos` of the object is a variable of the function
    self.stack.append(x)                `self.stack` is a Name, and its list one that nobody else refers to
"""

import ast
import collections
import dataclasses
import types
import typing

from hiaton.function.errors import ConversionError
from hiaton.function.scopes import calls_change, nodes_below, own_names, parameters_of, place_of, read_names
from hiaton.function.source import note_tree, tree_of
from hiaton.function.types import Own

_KEPT = ("hiaton_is_tried", "hiaton_is_run", "hiaton_keeps_results", "hiaton_lent", "hiaton_changes", "hiaton_array_names", "hiaton_no_arrays")


def owner_of(name):
    """Of the name of a field, that of the object."""
    return name.rpartition(".")[0]


def owners_of(name):
    """Those of the objects in which a field is, the innermost first."""
    while is_field(name):
        name = owner_of(name)
        yield name


def is_field(name):
    """Whether a name of a tree is an attribute of what another name stands for."""
    return isinstance(name, str) and not name.startswith(".") and "." in name


def without_fields(names):
    """The names but for fields of objects that are among them as a whole."""
    names = set(names)
    return [name for name in sorted(names) if not any(name.startswith(f"{other}.") for other in names)]


def with_fields(names, env):
    """The names, and those of the fields of objects that they stand for."""
    owners = tuple(f"{name}." for name in names if isinstance(getattr(env.get(name), "type", None), Own))
    return {*names, *(key for key in env if owners and isinstance(key, str) and key.startswith(owners))}


def own_names_of(tree):
    """The names whose attributes are names in the tree of a function."""
    return getattr(tree, "hiaton_own_objects", frozenset())


class InnerName(typing.NamedTuple):
    """A name of a function that is defined inside of another one, by the place of its text."""

    place: tuple
    name: str


def place_of_inner(tree):
    return (tree.lineno, tree.col_offset)


def with_own_objects(function, names):
    """The same function, in whose tree attributes of these names are names: of names of its own, and InnerNames of functions inside."""
    tree = tree_of(function)
    if not hasattr(tree, "hiaton_with_own_objects"):
        tree.hiaton_with_own_objects = {}
    known = tree.hiaton_with_own_objects
    if names not in known:
        made = _copied(tree)
        inside = frozenset(name for name in names if isinstance(name, InnerName))
        _split(made, names - inside, inside)
        _take_over_changes(made, [before for fewer, (_, before) in known.items() if fewer < names])
        shown = sorted(name.name if isinstance(name, InnerName) else name for name in names)
        known[names] = function.__code__.replace(co_name=f"{function.__code__.co_name} of {', '.join(shown)}"), made
    code, made = known[names]
    copied = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copied.__kwdefaults__, copied.__qualname__, copied.__module__ = function.__kwdefaults__, function.__qualname__, function.__module__
    vars(copied).update(vars(function))
    note_tree(copied, made)
    return copied


def _copied(node):
    """A syntax tree of its own, without what was found out of the nodes, but for notes."""
    if isinstance(node, list):
        return [_copied(one) for one in node]
    if not isinstance(node, ast.AST):
        return node
    made = type(node).__new__(type(node))  # whose fields come below
    for what, value in vars(node).items():
        if not what.startswith("hiaton_") or what in _KEPT:
            setattr(made, what, _copied(value))
    return made


def _take_over_changes(tree, trees):
    """What calls change, as far as it was found out in trees of the same text that have fewer such names."""
    changes = collections.defaultdict(frozenset)
    for node in [node for before in trees for node in _calls_of_text(before)]:
        changes[place_of(node)] |= calls_change(node)
    for node in _calls_of_text(tree):
        if changes.get(place_of(node)):
            node.hiaton_changes = calls_change(node) | changes[place_of(node)]


def _calls_of_text(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and place_of(node) is not None]


def attributes_in_order(cls):
    """The attributes that its __init__ sets, in the order in which they stand there."""
    owner = next((base for base in cls.__mro__ if "__init__" in vars(base)), None)
    init = vars(owner)["__init__"] if owner is not None else None
    if dataclasses.is_dataclass(cls) and getattr(getattr(init, "__code__", None), "co_filename", "") == "<string>":
        return [field.name for field in dataclasses.fields(cls)]
    try:
        tree = tree_of(init) if isinstance(init, types.FunctionType) else None
    except ConversionError:
        tree = None
    return list(dict.fromkeys(_attributes_set(tree, cls, owner))) if tree is not None else []


def _attributes_set(tree, cls, owner):
    first = parameters_of(tree)[0]

    def found(node):
        if isinstance(node, ast.Call) and _is_super(node) and node.func.attr == "__init__":
            above = cls.__mro__[cls.__mro__.index(owner) + 1]
            yield from attributes_in_order(above)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and getattr(node.value, "id", None) == first:
            yield node.attr
        for part in ast.iter_child_nodes(node):
            yield from found(part)
    for statement in tree.body:
        yield from found(statement)


def is_named(tree, name):
    """Whether the function does more with an object than to read and set its attributes."""
    return any(isinstance(node, ast.Name) and node.id == name or name in _changed_beside_names(node) for node in nodes_below(tree.body))


def _changed_beside_names(node):
    has_names = isinstance(node, (ast.FunctionDef, ast.Lambda)) or isinstance(node, ast.Call) and _is_super(node)
    return getattr(node, "hiaton_changes", ()) if has_names else ()


def _is_super(node):
    """Whether a call is one of a method of super()."""
    holder = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(holder, ast.Call) and getattr(holder.func, "id", None) == "super"


def _path(node):
    if isinstance(node, ast.Name):
        return [node.id]
    path = _path(node.value) if isinstance(node, ast.Attribute) else None
    return None if path is None else [*path, node.attr]


def _split(tree, names, inside):
    """Attributes of the names become names in the body of a function. `inside`: the InnerNames of functions in it."""
    splitter = _Splitter(names, (parameters_of(tree) or [None])[0], inside)
    tree.body = [splitter.visit(statement) for statement in tree.body]
    tree.hiaton_own_objects = names


class _Splitter(ast.NodeTransformer):
    def __init__(self, names, first, inside):
        self.names = names
        self.first = first
        self.inside = inside

    def visit_Attribute(self, node):
        path = _path(node)
        if path is None or path[0] not in self.names:
            return self.generic_visit(node)
        return ast.copy_location(ast.Name(".".join(path), node.ctx), node)

    def visit_Name(self, node):
        if node.id in self.names and isinstance(node.ctx, ast.Load):
            node.hiaton_changes = frozenset([node.id])  # something else refers to the object from then on
        return node

    def visit_Call(self, node):
        """What is called tells what becomes of the object that has the method, and of arguments."""
        if isinstance(node.func, ast.Attribute):
            node.func.value = self._part(node.func.value)
        else:
            node.func = self._part(node.func)
        node.args = [self._part(part) for part in node.args]
        for keyword in node.keywords:
            keyword.value = self._part(keyword.value)
        if _is_super(node) and self.first in self.names:
            node.hiaton_changes = frozenset([self.first])
        return node

    def _part(self, node):
        return node if isinstance(node, ast.Name) else self.visit(node)

    def visit_Subscript(self, node):
        """The same of what has elements, by __getitem__ and __setitem__."""
        node.value, node.slice = self._part(node.value), self.visit(node.slice)
        return node

    def visit_Compare(self, node):
        is_identity = all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops)
        if is_identity and len(node.ops) == 1:
            node.left, node.comparators = self._part(node.left), list(map(self._part, node.comparators))
            return node
        return self.generic_visit(node)

    def visit_FunctionDef(self, node):
        """Functions that are defined inside refer to the objects that they read, and may have names for objects of their own."""
        read = frozenset(self.names & (read_names([node]) - own_names(node)))
        if self.inside and isinstance(node, ast.FunctionDef):
            own = frozenset(name.name for name in self.inside if name.place == place_of_inner(node))
            node = _copied(node)  # without what was found out of the names before
            _split(node, own, self.inside)
        if read:
            node.hiaton_changes = read
        return node

    visit_Lambda = visit_FunctionDef
