"""Loops that are left early: the elements up to there are found first, so that the work on them runs in batches.

    for t in trees:                    kept, left_at = [], 0
        total += loss(t)               for t in trees:
        if t.label < 0:                    if t.label < 0:
            return total, t                    left_at = 1
        count += 1                             kept.append((t, 1))
        if t.label == 9:                       break
            last = t                       if t.label == 9:
            break                              left_at = 2
        total += 1                             kept.append((t, 2))
                                               break
                                           kept.append((t, 0))
                                       for t, end in kept:
                                           total += loss(t)
                                           if end != 1:
                                               count += 1
                                               if end == 2:
                                                   last = t
                                               else:
                                                   total += 1
                                       if left_at == 1:
                                           t = kept[-1][0]
                                           return total, t

The last element is not kept where nothing is done with it: where turns begin with the condition, and nobody asks for it behind.
"""

import ast

from hiaton.function.liveness import names_outside
from hiaton.function.scopes import assigned, calls_change, nodes_below, read_names
from hiaton.function.splits import Splitting, functions_in_scope, key_of, leaves_loop, place_at, split_of


def left_early(node, frame):
    """Statements that do the same as the loop, without a way out of the loop that has the work; None: it stays as it is."""
    if hasattr(node, "hiaton_is_split") or not leaves_loop(node.body, (ast.Break, ast.Return)) or frame.carries_state():
        return None
    functions = functions_in_scope(frame)
    if not hasattr(node, "hiaton_left_early"):
        node.hiaton_left_early = {}
    key = key_of(functions), frozenset(assigned(*node.body) & frame.env.keys())
    if key not in node.hiaton_left_early:
        node.hiaton_left_early[key] = _LeftEarly(node, frame, functions).made()
    return node.hiaton_left_early[key]


class _Exit:
    """`if test: ...; break`, or with `return`. `before`: the statements between it and the exit before; `inside`: those of the
    last turn; `behind`: those that come when the loop is over; `keeps`: whether something is done with the last element."""

    def __init__(self, before, test, statements):
        self.before = before
        self.test = test
        gives = isinstance(statements[-1], ast.Return)
        self.inside = [] if gives else statements[:-1]
        self.behind = statements if gives else []
        self.keeps = True


def _parts_of(body):
    """The exits of a body, and the statements behind the last one; None where it is left in another way."""
    exits, current = [], []
    for statement in body:
        sides = (statement.body, statement.orelse) if isinstance(statement, ast.If) else ((), ())
        ends = [bool(side) and isinstance(side[-1], (ast.Break, ast.Return)) for side in sides]
        if not any(ends):
            current.append(statement)
            continue
        test, (left, others) = statement.test, sides
        if not ends[0]:
            test, left, others = ast.copy_location(ast.UnaryOp(ast.Not(), test), test), others, left
        exits.append(_Exit(current, test, left))
        current = list(others)
    plain = [part for one in exits for part in (*one.before, *one.inside, *one.behind[:-1])]
    if leaves_loop(plain, (ast.Break, ast.Return, ast.Continue)) or leaves_loop(current, (ast.Break, ast.Return)):
        return None
    return exits, current


class _LeftEarly:
    def __init__(self, node, frame, functions):
        self.node = node
        self.frame = frame
        self.splitting = Splitting(node, frame, functions)
        self.hidden = f"@{id(node)}"
        self.early = []  # statements that give names what the conditions ask for

    def made(self):
        parts = _parts_of(self.node.body)
        if parts is None or not self.splitting.has_plain_elements() or not self._are_known_first(parts[0]):
            return None
        exits, tail = parts
        behind = read_names([part for one in exits for part in one.behind])
        if (behind & self.splitting.assigned) - self.frame.env.keys():
            return None  # a name that only a turn gives a value
        targets, outside = self.splitting.targets, names_outside(self.frame.where.tree, self.node)
        outside = outside | read_names(self.node.orelse)
        for number, one in enumerate(exits):
            asked = read_names(one.behind) if one.behind else outside
            one.keeps = bool(one.inside or targets & asked or any(other.before for other in exits[:number + 1]))
        loop = self._loop(exits, tail, outside | behind - targets)
        if split_of(loop, self.frame) is None:
            return None
        tells = bool(self.node.orelse) or any(one.behind for one in exits)
        made = [*self._beginning(tells), self._finding(exits, tells), loop]
        for number, one in enumerate(exits, 1):
            if one.behind:
                last = ast.Subscript(self._name("kept"), ast.UnaryOp(ast.USub(), ast.Constant(1)), ast.Load())
                element = ast.Subscript(last, ast.Constant(0), ast.Load())
                again = [ast.Assign([self.node.target], element)] if targets & read_names(one.behind) else []
                made.append(ast.If(self._is("left_at", number), [*again, *one.behind], []))
        if self.node.orelse:
            made.append(ast.If(self._is("left_at", 0), self.node.orelse, []))
        for one in made:
            place_at(one, self.node)
        return made

    def _are_known_first(self, exits):
        """Whether what the conditions ask has nothing to do with the turns before."""
        splitting = self.splitting
        names = set(splitting.targets)
        for one in exits:
            for statement in one.before:
                if splitting.is_of_one_turn(statement, []) and not splitting.is_worth_it(statement.value) \
                        and not read_names([statement.value]) & splitting.functions_that_read(names):
                    given = assigned(statement)
                    self.early.append(statement)
                    names |= given
                    splitting.dependent = splitting.dependent - given
            if not splitting.is_independent(one.test) or read_names([one.test]) & splitting.functions_that_read(names):
                return False
        tests = [*(one.test for one in exits), *(statement.value for statement in self.early)]
        needed = read_names(tests)
        self.early = [one for one in self.early if assigned(one) & needed]
        return not any(isinstance(part, ast.Lambda) for part in nodes_below(tests))

    def _name(self, name, context=ast.Load):
        return ast.Name(name + self.hidden, context())

    def _is(self, name, number):
        return ast.Compare(self._name(name), [ast.Eq()], [ast.Constant(number)])

    def _beginning(self, tells):
        made = [ast.Assign([self._name("kept", ast.Store)], ast.List([], ast.Load()))]
        return [*made, ast.Assign([self._name("left_at", ast.Store)], ast.Constant(0))] if tells else made

    def _finding(self, exits, tells):
        """The loop that finds the elements. Its names are its own: those of the loop have their values behind it."""
        own = {name: name + self.hidden for name in self.splitting.targets.union(*map(assigned, self.early))}
        element = _renamed(self.node.target, own, ast.Load())
        has_ends = any(one.keeps for one in exits)

        def keep(number):
            kept = ast.Tuple([self._name("element"), ast.Constant(number)], ast.Load()) if has_ends else element
            return ast.Expr(ast.Call(ast.Attribute(self._name("kept"), "append", ast.Load()), [kept], []))

        body, early, is_named = [], list(self.early), False
        for number, one in enumerate(exits, 1):
            while early and early[0] in one.before:
                body.append(_renamed(early.pop(0), own))
            if one.keeps and not is_named:  # what the conditions from here on tell about it is no matter of its type
                body.append(ast.Assign([self._name("element", ast.Store)], element))
                is_named = True
            told = [ast.Assign([self._name("left_at", ast.Store)], ast.Constant(number))] if tells else []
            body.append(ast.If(_renamed(one.test, own), [*told, *([keep(number)] if one.keeps else []), ast.Break()], []))
        find = ast.For(_renamed(self.node.target, own), self.node.iter, [*body, keep(0)], [])
        find.hiaton_is_split = True
        find.hiaton_outside = {name + self.hidden for name in ("kept", "left_at")}
        return find

    def _loop(self, exits, tail, outside):
        """The loop over the elements that were found."""
        body, target = tail, self.node.target
        if any(one.keeps for one in exits):
            target = ast.Tuple([target, self._name("end", ast.Store)], ast.Store())
        for number, one in reversed(list(enumerate(exits, 1))):
            if one.inside:
                body = [ast.If(self._is("end", number), one.inside, body)]
            elif one.keeps and body:
                body = [ast.If(ast.Compare(self._name("end"), [ast.NotEq()], [ast.Constant(number)]), body, [])]
            body = [*one.before, *body]
        loop = ast.For(target, self._name("kept"), body or [ast.Pass()], [])
        loop.hiaton_outside = outside
        place_at(loop, self.node)
        return loop


def _renamed(node, names, context=None):
    """A copy with other names, without what was found out about the original. `context`: of all names and tuples in it."""
    if isinstance(node, list):
        return [_renamed(one, names, context) for one in node]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.expr_context):
        return context or node
    made = type(node)(**{field: _renamed(held, names, context) for field, held in ast.iter_fields(node)})
    if isinstance(made, ast.Name):
        made.id = names.get(made.id, made.id)
    if calls_change(node):
        made.hiaton_changes = frozenset(names.get(name, name) for name in calls_change(node))
    return ast.copy_location(made, node)
