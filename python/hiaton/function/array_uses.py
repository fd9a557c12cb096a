"""What the text of a loop or a function does with lists by their names: whether it looks elements up by index, and what else."""

import ast

from hiaton.function.scopes import body_of, found_below, nodes_below

# Comparisons of the length of a list with a number that only ask whether it is empty: whether they hold where it is.
OF_EMPTINESS = {("Eq", 0): True, ("NotEq", 0): False, ("Gt", 0): False, ("LtE", 0): True, ("Lt", 1): True, ("GtE", 1): False}


def _nodes_of(root):
    """All nodes below a loop or in a function."""
    return nodes_below(body_of(root) if isinstance(root, (ast.FunctionDef, ast.Lambda)) else [root])


def is_element(node):
    """Whether it is an element of something, xs[i]."""
    return isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice)


def is_computed_index(index):
    """Whether an index may be another one from turn to turn."""
    return not isinstance(index, ast.Constant) and not (isinstance(index, ast.UnaryOp) and isinstance(index.operand, ast.Constant))


def _find_looked_up(root):
    for node in _nodes_of(root):
        if is_element(node):
            holder, is_computed = node.value, is_computed_index(node.slice)
            if is_element(holder):
                holder, is_computed = holder.value, is_computed or is_computed_index(holder.slice)
            if isinstance(holder, ast.Name) and is_computed:
                yield holder.id
        elif isinstance(node, (ast.For, ast.While)):
            yield from _gone_over_while_growing(node)


def _gone_over_while_growing(loop):
    """The names of lists that loops inside a loop go over, while it adds to them elsewhere."""
    over = [node for node in nodes_below(loop.body) if isinstance(node, ast.For) and isinstance(node.iter, ast.Name)]
    if over:
        grown = {name for name, change in _changes(loop) if not isinstance(change, ast.Name)}
        for node in over:
            if node.iter.id in grown and not any(node.iter.id in resized(one) for one in node.body):
                yield node.iter.id


def looked_up(node):
    """The names of lists that it looks up at computed places, xs[i] or rows[i][j], itself or by functions that it calls, as far as
    conversions have found out."""
    return found_below(node, "hiaton_looked_up", _find_looked_up) | getattr(node, "hiaton_array_names", frozenset())


def note_looked_up(node, name):
    """Something that is called there looks the list up. Gives whether that is news."""
    is_new = name not in looked_up(node)
    node.hiaton_array_names = getattr(node, "hiaton_array_names", frozenset()) | {name}
    return is_new


def _changes(root):
    """Where names get other values, or lists other lengths: the names, and the nodes that do it."""
    for node in _nodes_of(root):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id, node
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and (
                isinstance(node.ctx, ast.Del) or isinstance(node.ctx, ast.Store) and isinstance(node.slice, ast.Slice)):
            yield node.value.id, node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            yield node.func.value.id, node


def resized(node):
    """The names that get other values, or lists of another length."""
    return found_below(node, "hiaton_resized", lambda root: {name for name, _ in _changes(root)})


def _is_at_end(change):
    """Whether something that changes the length of a list does so at its end."""
    if isinstance(change, ast.AugAssign):
        return isinstance(change.op, ast.Add)
    if not isinstance(change, ast.Call) or change.keywords:
        return False
    arguments = [ast.unparse(argument) for argument in change.args]
    return (change.func.attr, len(arguments)) in (("append", 1), ("extend", 1), ("clear", 0)) or change.func.attr == "pop" and arguments in ([], ["-1"])


def _find_set_anew(root):
    changes = list(_changes(root))
    targets = {id(change.target) for _, change in changes if isinstance(change, ast.AugAssign)}
    return {name for name, change in changes if not _is_at_end(change) and id(change) not in targets}


def set_anew(node):
    """The names that get other values, or lists of another length in another way than by a change at their end."""
    return found_below(node, "hiaton_set_anew", _find_set_anew)


def goes_over_row(loop):
    """Whether a loop goes over an element of a list, of which nothing in it changes the length."""
    return is_element(loop.iter) and isinstance(loop.iter.value, ast.Name) and loop.iter.value.id not in resized(loop)


def _find_taken_apart(root):
    nodes = list(_nodes_of(root))
    looked_at = {id(node.value) for node in nodes if is_element(node)}
    looked_at |= {id(node.args[0]) for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "len" and node.args}
    looked_at |= {id(node.iter) for node in nodes if isinstance(node, ast.For) and goes_over_row(node)}
    for node in nodes:
        if is_element(node) and isinstance(node.value, ast.Name) and id(node) not in looked_at:
            yield node.value.id


def taken_apart(node):
    """The names of lists of which it takes or sets elements as a whole, for something else than an element of them, their length, or a loop over
    them: where these are lists, others refer to them then."""
    return found_below(node, "hiaton_taken_apart", _find_taken_apart)


def calls_itself(tree):
    """Whether a function calls one of its name."""
    name = getattr(tree, "name", None)
    return bool(found_below(tree, "hiaton_calls_itself", lambda tree: {
        name for node in _nodes_of(tree) if isinstance(node, ast.Call) and name in (
            getattr(node.func, "id", None), getattr(node.func, "attr", None))}))


def read_as_lists(tree):
    """The names that a function reads for something else than elements and lengths, where they are parameters, or in the middle of loops and
    branches, as far as conversions have found out."""
    return getattr(tree, "hiaton_no_arrays", frozenset())


def note_read_as_lists(tree, names):
    tree.hiaton_no_arrays = read_as_lists(tree) | names
