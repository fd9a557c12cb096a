"""Which names may still be read behind a loop before they get another value: what a loop has to give."""

import ast

from hiaton.function.own_trees import owners_of
from hiaton.function.scopes import body_of, calls_change, iterated_names, lent_names, nodes_below, read_anywhere, read_names


def names_outside(tree, node):
    """The names that may be read behind a loop in the tree of a function before they get another value. Of a node that stands
    nowhere in the tree: those that are read in it, but not below the node."""
    if not hasattr(node, "hiaton_outside") and not hasattr(tree, "hiaton_has_live_names"):
        tree.hiaton_has_live_names = True
        _Liveness(tree).statements(body_of(tree), frozenset(), _Leaving())
    if not hasattr(node, "hiaton_outside"):
        inside = {id(one) for one in nodes_below([node], True)}
        node.hiaton_outside = set().union(*(_names_of(one) for one in nodes_below([tree], True) if id(one) not in inside))
    return node.hiaton_outside | lent_names(tree).keys()


def names_read_behind(tree, node):
    """The names that may be read behind an assignment, but for those that it gives values; None where it stands nowhere in the tree."""
    names_outside(tree, node)
    found = getattr(node, "hiaton_read_behind", None)
    return None if found is None else found | lent_names(tree).keys()


def names_needed(tree, node):
    """The names that a turn of a loop may read before it gives them values."""
    if not hasattr(node, "hiaton_needed"):
        liveness = _Liveness(tree, is_noting=False)
        node.hiaton_needed = liveness.turn(node, frozenset(), _Leaving()) | (liveness.anywhere & read_names([node]))
    return node.hiaton_needed


def _names_of(node):
    """The names that a syntax tree reads itself, and those of the objects whose fields it reads or sets."""
    is_name = isinstance(node, ast.Name)
    names = {*calls_change(node), *([node.id] if is_name and not isinstance(node.ctx, ast.Store) else ())}
    return names.union(*map(owners_of, [*names, *([node.id] if is_name else ())]))


class _Leaving:
    """What is live where `break` and `continue` lead."""

    def __init__(self, behind=frozenset(), again=frozenset()):
        self.behind = behind
        self.again = again


class _Liveness:
    """Goes from the end to the beginning, and notes at each loop, as `hiaton_outside`, what is live behind it. A name that
    functions defined inside read, or handlers, counts as read from anywhere."""

    def __init__(self, tree, is_noting=True):
        self.is_noting = is_noting
        self.anywhere = read_anywhere(tree)
        self.gone_over = frozenset()  # names of lists that loops around go over: Python looks at them before each turn

    def statements(self, statements, live, leaving):
        for statement in reversed(statements):
            live = self.statement(statement, live, leaving)
        return live

    def statement(self, node, live, leaving):
        """What is live before a statement behind which `live` is."""
        method = getattr(self, f"before_{type(node).__name__}", None)
        return live | read_names([node]) if method is None else method(node, live, leaving)

    def before_Assign(self, node, live, leaving):
        given = set().union(*map(_names_given, node.targets))
        others = [target for target in node.targets if not _names_given(target)]
        if self.is_noting:
            node.hiaton_read_behind = live - given | self.anywhere | self.gone_over
        return live - given | read_names([node.value, *others])

    def before_Return(self, node, live, leaving):
        return frozenset(read_names([node]))

    before_Raise = before_Return

    def before_Break(self, node, live, leaving):
        return leaving.behind

    def before_Continue(self, node, live, leaving):
        return leaving.again

    def before_If(self, node, live, leaving):
        return read_names([node.test]) | self.statements(node.body, live, leaving) | self.statements(node.orelse, live, leaving)

    def before_For(self, node, live, leaving):
        around, self.gone_over = self.gone_over, self.gone_over | iterated_names(node.iter)
        live = self.turn(node, live, leaving)
        self.gone_over = around
        return read_names([node.iter]) | live

    def before_While(self, node, live, leaving):
        return self.turn(node, live, leaving)

    def turn(self, node, live, leaving):
        """What is live before a turn of a loop."""
        if self.is_noting:
            node.hiaton_outside = set(live | self.anywhere)
        given = _names_given(node.target) if isinstance(node, ast.For) else set()
        again = self.statements(node.orelse, live, leaving)
        if not given:
            again = again | read_names([node.target if isinstance(node, ast.For) else node.test])
        while True:
            body = self.statements(node.body, again, _Leaving(live, again)) - given
            if body <= again:
                return again
            again = again | body

    def before_With(self, node, live, leaving):
        return self.statements(node.body, live, leaving) | read_names(node.items)

    def before_Try(self, node, live, leaving):
        live = self.statements(node.orelse, self.statements(node.finalbody, live, leaving), leaving)
        return self.statements(node.body, live, leaving)

    before_TryStar = before_Try

    def before_Match(self, node, live, leaving):
        made = live | read_names([node.subject])
        for case in node.cases:
            made = made | self.statements(case.body, live, leaving) | read_names([case.pattern, *([case.guard] if case.guard else [])])
        return made


def _names_given(target):
    """The names that the target gives values, if it is one or a tuple of some."""
    if isinstance(target, ast.Starred):
        return _names_given(target.value)
    if isinstance(target, ast.Name):
        return set() if "." in target.id[1:] else {target.id}
    if not isinstance(target, (ast.Tuple, ast.List)):
        return set()
    parts = list(map(_names_given, target.elts))
    return set().union(*parts) if all(parts) else set()
