"""Which names the text of a function sets, reads, and reads of the function around."""

import ast
import functools

_FUNCTIONS = (ast.FunctionDef, ast.Lambda)
_WITHOUT_NODES = frozenset(("ctx", "id", "attr", "arg", "kind", "type_comment"))


@functools.cache
def _fields_of_nodes(kind):
    """The fields in which a kind of syntax tree may hold others, but for whether a name is read or set."""
    return () if kind is ast.Constant else tuple(field for field in kind._fields if field not in _WITHOUT_NODES)


def nodes_below(nodes, also_inside=False):
    """All nodes below, but for those of functions defined inside, and but for whether names are read or set; `also_inside`: also
    those inside."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        if not also_inside and isinstance(node, _FUNCTIONS):
            continue
        for field in _fields_of_nodes(type(node)):
            child = getattr(node, field, None)
            if type(child) is list:
                pending += [one for one in child if isinstance(one, ast.AST)]
            elif isinstance(child, ast.AST):
                pending.append(child)


def found_below(node, what, find):
    """What is found below a node, found once."""
    found = getattr(node, what, None)
    if found is None:
        found = frozenset(find(node))
        setattr(node, what, found)
    return found


def _with_owners(name):
    """A name, and, where it is that of a field of an object, those of the object; see own_trees.py."""
    yield name
    while "." in name[1:]:
        name = name.rpartition(".")[0]
        yield name


CHANGES = ("append", "extend", "pop", "insert", "remove", "clear", "reverse", "sort", "add", "discard", "update", "setdefault")


def _root_of(node):
    """What an expression is an element of, or an element of an element."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _find_changed(root):
    for node in nodes_below([root]):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            holder = _root_of(node.value)
            if isinstance(holder, ast.Name):
                yield from _with_owners(holder.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield from _with_owners(node.target.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES \
                and isinstance(_root_of(node.func.value), ast.Name):
            yield from _with_owners(_root_of(node.func.value).id)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and "." in node.id:
            yield from _with_owners(node.id)
        for name in calls_change(node):
            yield from _with_owners(name)


def changed(*nodes):
    """The names of lists and dicts that may be changed."""
    return set().union(*(found_below(node, "hiaton_changed", _find_changed) for node in nodes))


def iterated_names(node):
    """The names of lists and dicts that a loop over the expression goes over."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return set().union(*map(iterated_names, node.args)) if node.func.id not in ("range", "len") else set()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return iterated_names(node.func.value)
    return set()


def viewed_names(node):
    """Those of dicts and sets that a loop over the expression goes over as they are, and not a list made of them before."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("enumerate", "zip", "reversed", "map", "filter", "iter"):
        return set().union(*map(viewed_names, node.args))
    is_view = isinstance(node, ast.Call) and getattr(node.func, "attr", None) in ("items", "keys", "values")
    return viewed_names(node.func.value) if is_view else set()


def calls_change(node):
    """The names of lists and objects that a call may change, as far as conversions have found out."""
    return getattr(node, "hiaton_changes", frozenset())


def lent_names(tree):
    """The lists that a function changes and gives back, as far as conversions have found out: whether they are only appended to, by name
    of a parameter or of a list of the function around."""
    return getattr(tree, "hiaton_lent", {})


_notes = [0]


def number_of_notes():
    """How often it was noted in some tree what a call or a function changes: conversions begin anew where there is more."""
    return _notes[0]


def note_lent(tree, name, grows):
    tree.hiaton_lent = {**lent_names(tree), name: grows}
    _notes[0] += 1


_KEPT_NOTES = ("hiaton_changes", "hiaton_keeps_results", "hiaton_lent", "hiaton_is_tried", "hiaton_is_run", "hiaton_item", "hiaton_dropped", "hiaton_array_names",
               "hiaton_items_out", "hiaton_no_arrays", "hiaton_own_objects", "hiaton_with_own_objects")


def note_changes(root, call, names):
    """A call changes the lists of these names, and so does what was made of it. What was found out below `root`, the tree of the function
    of Python, is found out anew; the old trees are kept, since conversions under way know them by their identity."""
    place = place_of(call)
    same = [] if place is None else [node for node in ast.walk(root) if isinstance(node, type(call)) and place_of(node) == place]
    for node in [call, *same]:
        node.hiaton_changes = calls_change(node) | names
    dropped = getattr(root, "hiaton_dropped", [])
    for node in ast.walk(root):
        for what in [name for name in vars(node) if name.startswith("hiaton_") and name not in _KEPT_NOTES]:
            dropped.append(vars(node).pop(what))
    root.hiaton_dropped = dropped
    _notes[0] += 1


def place_of(node):
    """Where it begins and ends in the text; None: it was made by a conversion, and stands nowhere."""
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) if hasattr(node, "end_lineno") else None


def items_let_out(tree, node):
    """The names of dicts of which a loop of a function lets items out, as far as conversions have found out."""
    place = place_of(node)
    return {name for loop, name in getattr(tree, "hiaton_items_out", ()) if loop == place}


def note_items_let_out(tree, node, name):
    """Gives whether that is news."""
    is_new = name not in items_let_out(tree, node)
    tree.hiaton_items_out = getattr(tree, "hiaton_items_out", frozenset()) | {(place_of(node), name)}
    return is_new


def _find_assigned(root):
    yield from _find_changed(root)
    yield from _find_set(root)


def _find_set(root):
    for node in nodes_below([root]):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.split(".")[0]


def set_names(nodes):
    """The names that are given values, but for changes of what they stand for."""
    return {name for node in nodes for name in _find_set(node)}


def assigned(*nodes):
    return set().union(*(found_below(node, "hiaton_assigned", _find_assigned) for node in nodes))


def _find_read(root):
    for node in nodes_below([root], True):
        if isinstance(node, ast.Name):
            yield from _with_owners(node.id)
        for name in calls_change(node):
            yield from _with_owners(name)


def read_names(nodes):
    return set().union(*(found_below(node, "hiaton_read", _find_read) for node in nodes))


def declared_names(node):
    """Those of `global` and `nonlocal`."""
    kinds = (ast.Global, ast.Nonlocal)
    return found_below(node, "hiaton_declared", lambda node: (name for one in nodes_below(body_of(node)) if isinstance(one, kinds)
                                                              for name in one.names))


def _find_read_anywhere(tree):
    yield from declared_names(tree)
    for node in nodes_below(body_of(tree)):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            yield from read_names([node])
        elif isinstance(node, (ast.Try, ast.TryStar)):
            yield from read_names([*node.handlers, *node.finalbody])


def read_anywhere(tree):
    """The names that a function may read at any place: those that functions defined inside read, or handlers."""
    return found_below(tree, "hiaton_read_anywhere", _find_read_anywhere)


def body_of(node):
    return [node.body] if isinstance(node, ast.Lambda) else node.body


def parameters_of(node):
    args = node.args
    found = [*args.posonlyargs, *args.args, *([args.vararg] if args.vararg else []), *args.kwonlyargs]
    return [arg.arg for arg in found]


def nonlocal_names(node):
    """The names of the function around that a function defined inside sets, as it says by `nonlocal`."""
    return found_below(node, "hiaton_nonlocal", lambda node: (name for one in nodes_below(body_of(node)) if isinstance(one, ast.Nonlocal)
                                                              for name in one.names))


def names_set_inside(tree):
    """The names that functions defined somewhere inside of it set by `nonlocal`."""
    return found_below(tree, "hiaton_set_inside", lambda tree: (name for one in nodes_below(body_of(tree), True)
                                                                if isinstance(one, ast.Nonlocal) for name in one.names))


def _find_own(node):
    return {*parameters_of(node), *(name for one in body_of(node) for name in _find_set(one))} - nonlocal_names(node)


def own_names(node):
    """The names that a function defined inside has itself."""
    return found_below(node, "hiaton_own", _find_own)


def _of_others(names, tree):
    """Those of the names that a function defined inside does not have itself, nor as fields of objects that are its own."""
    own = own_names(tree)
    return {name for name in names if own.isdisjoint(_with_owners(name))}


def refused_in(node):
    """What a function that is defined inside cannot have."""
    kinds = (ast.Global, ast.Yield, ast.YieldFrom, ast.Await)
    return found_below(node, "hiaton_refused", lambda node: (n for n in nodes_below(body_of(node), True) if isinstance(n, kinds)))


def functions_inside(tree):
    """The trees of all functions that are defined somewhere inside of a function."""
    return found_below(tree, "hiaton_functions_inside", lambda tree: (node for node in nodes_below(body_of(tree), True)
                                                                      if isinstance(node, (ast.FunctionDef, ast.Lambda))))


def _find_set_once(tree):
    """The names that a function sets at one place alone."""
    counts = dict.fromkeys(parameters_of(tree), 1)
    for node in nodes_below(tree.body):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            counts[node.id] = counts.get(node.id, 0) + 1
        elif isinstance(node, ast.FunctionDef):
            counts[node.name] = counts.get(node.name, 0) + 1
    return (name for name, count in counts.items() if count == 1)


def names_set_once(tree):
    """The names that a function sets at one place alone, as a parameter or by a statement."""
    return frozenset() if isinstance(tree, ast.Lambda) else found_below(tree, "hiaton_set_once", _find_set_once)


def functions_in(scope, tree):
    """The names that stand for one function defined inside from the beginning to the end: by name, its tree and the scope that
    it is defined in."""
    if isinstance(tree, ast.Lambda):
        return {}
    found = {}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            found[statement.name] = (statement, scope)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.value, ast.Lambda) \
                and isinstance(statement.targets[0], ast.Name):
            found[statement.targets[0].id] = (statement.value, scope)
    set_once = names_set_once(tree)
    return {name: function for name, function in found.items() if name in set_once}


def _find_free(node):
    names = set()
    for part in nodes_below(body_of(node)):
        names |= calls_change(part)
        if isinstance(part, ast.Name):
            names.add(part.id)
        elif isinstance(part, (ast.FunctionDef, ast.Lambda)):
            names |= _free_names(part) | read_names([default for default in [*part.args.defaults, *part.args.kw_defaults] if default])
    return _of_others(names, node)


def _free_names(node):
    """What it reads that it does not set itself, nor functions that are defined inside of it."""
    return found_below(node, "hiaton_free", _find_free)


def needed_names(scope, node):
    """The names of the function around that it reads itself, or by functions that it calls; and the names of these."""
    names, functions, pending = set(), set(), [node]
    while pending:
        for name in _free_names(pending.pop()):
            known = scope.functions.get(name)
            if known is None:
                names.add(name)
            elif name not in functions:
                functions.add(name)
                pending.append(known[0])
    return names, functions


def names_changed_outside(scope, node):
    """The names of lists and dicts of the function around that it changes itself, or by functions that it calls, and those that it sets."""
    trees = [node, *(scope.functions[name][0] for name in needed_names(scope, node)[1])]
    return set().union(*(_of_others(changed(*body_of(tree)) | nonlocal_names(tree), tree) for tree in trees))


def _find_given(tree):
    returned = [node.value for node in nodes_below(body_of(tree)) if isinstance(node, ast.Return)]
    names = {node.id if isinstance(node, ast.Name) else None for node in returned}
    if len(names) == 1 and None not in names and always_leaves(body_of(tree)):
        yield names.pop()


def list_that_it_gives(tree):
    """The name whose value a function gives on every path that it returns on; None: there is none."""
    return next(iter(found_below(tree, "hiaton_given", _find_given)), None) if isinstance(tree, ast.FunctionDef) else None


def always_leaves(statements):
    """Whether nothing comes behind the statements."""
    for statement in statements:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return True
        if isinstance(statement, ast.If) and always_leaves(statement.body) and always_leaves(statement.orelse):
            return True
    return False
