"""Statements that are others in disguise: `match` is a chain of `if`, `with` calls methods around its body, `try` is its body, since plain
Python runs the calls in which something is raised, and a function inside that keeps its results has a dict of them beside it."""

import ast
import copy
import itertools

BUILTIN = "@"  # ends the name of a built-in function, whatever else has that name in the function
_numbers = itertools.count()


class SequenceTest(ast.expr):
    """Whether the subject is a sequence of `count` elements, or of at least as many."""

    _fields = ("subject",)


class MappingTest(ast.expr):
    """Whether the subject is a dict."""

    _fields = ("subject",)


class PatternItem(ast.expr):
    """What the pattern `cls(...)` has at the place `number`."""

    _fields = ("subject", "cls")


class _Kept(Exception):
    """A statement stays as it is, and is refused where it would run."""


def rewritten(tree):
    """The tree of a function, in its place."""
    return ast.fix_missing_locations(_Rewriter(tree).visit(tree))


def _name(name, store=False):
    return ast.Name(name, ast.Store() if store else ast.Load())


def _builtin(name, *args):
    return ast.Call(_name(name + BUILTIN), list(args), [])


def _assigned(name, value):
    return ast.Assign([_name(name, True)], value)


def _fresh(word):
    return f"{word}@{next(_numbers)}"


class _Rewriter(ast.NodeTransformer):
    def __init__(self, tree):
        self.tree = tree

    def visit(self, node):
        made = super().visit(node)
        if made is not node and hasattr(node, "lineno"):
            for one in made if isinstance(made, list) else [made]:
                for part in ast.walk(one):
                    if not hasattr(part, "lineno"):
                        ast.copy_location(part, node)
        return made

    def visit_Match(self, node):
        self.generic_visit(node)
        try:
            return _match(node, self.tree)
        except _Kept:
            return node

    def visit_With(self, node):
        _mark_tried(node)
        self.generic_visit(node)
        body = node.body
        for item in reversed(node.items):
            is_kept = isinstance(item.context_expr, ast.Name) and not _is_set(item.context_expr.id, [item.optional_vars, *body])
            manager = item.context_expr.id if is_kept else _fresh("manager")
            entered = ast.Call(ast.Attribute(_name(manager), "__enter__", ast.Load()), [], [])
            entering = ast.Expr(entered) if item.optional_vars is None else ast.Assign([item.optional_vars], entered)
            leaving = ast.Expr(ast.Call(ast.Attribute(_name(manager), "__exit__", ast.Load()),
                                        [ast.Constant(None) for _ in range(3)], []))
            for part in ast.walk(leaving):
                ast.copy_location(part, node)
            beginning = [] if is_kept else [_assigned(manager, item.context_expr)]
            body = [*beginning, entering, *_around(body, [leaving])]
        return body

    def visit_Try(self, node):
        _mark_tried(node)
        self.generic_visit(node)
        if _leaves(node.finalbody):
            return node
        return _around([*node.body, *node.orelse], node.finalbody) or [ast.Pass()]

    visit_TryStar = visit_Try

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        return node if node is self.tree or not _may_keep_results(node) else _with_results(node)


def _may_keep_results(node):
    """Whether the only decorator may be functools.cache or functools.lru_cache, and the results can be told apart by the arguments."""
    if len(node.decorator_list) != 1 or node.args.vararg or node.args.kwarg or not (node.args.posonlyargs or node.args.args or node.args.kwonlyargs):
        return False
    maker = node.decorator_list[0].func if isinstance(node.decorator_list[0], ast.Call) else node.decorator_list[0]
    return getattr(maker, "attr", getattr(maker, "id", None)) in ("cache", "lru_cache")


def _with_results(node):
    """A function that keeps its results: a dict of them, a function that computes one, and one that looks it up before."""
    results, result, computing = _fresh("results"), _fresh("result"), _fresh(node.name)
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]

    def key():
        names = [_name(parameter.arg) for parameter in parameters]
        return names[0] if len(names) == 1 else ast.Tuple(names, ast.Load())

    def kept(context):
        return ast.Subscript(_name(results), key(), context)
    plain = ast.arguments([], [ast.arg(parameter.arg) for parameter in parameters], None, [], [], None, [])
    inner = ast.FunctionDef(computing, plain, node.body, [], None)
    found = ast.If(ast.Compare(key(), [ast.In()], [_name(results)]), [ast.Return(kept(ast.Load()))], [])
    call = ast.Call(_name(computing), [_name(parameter.arg) for parameter in parameters], [])
    keeping = [_assigned(result, call), ast.Assign([kept(ast.Store())], _name(result)), ast.Return(_name(result))]
    outer = ast.FunctionDef(node.name, node.args, [found, *keeping], node.decorator_list, None)
    outer.hiaton_keeps_results = True
    return [_assigned(results, ast.Dict([], [])), inner, outer]


def _is_set(name, nodes):
    """Whether a name may get another value somewhere below."""
    parts = [part for node in nodes if node is not None for part in ast.walk(node)]
    return any(isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Load) or isinstance(
        part, (ast.FunctionDef, ast.ClassDef)) for part in parts)


def _mark_tried(node):
    """Somebody may see what is raised where these statements print."""
    for part in ast.walk(node):
        if isinstance(part, ast.Expr):
            part.hiaton_is_tried = True


def _leaves(statements):
    return any(isinstance(part, (ast.Return, ast.Break, ast.Continue)) for one in statements for part in ast.walk(one))


def _around(body, final):
    """The statements, with others on each way out of them."""
    if not final:
        return body
    made = []
    for statement in body:
        found = _Leaving(final).visit(statement)
        made += found if isinstance(found, list) else [found]
    return [*made, *final]


class _Leaving(ast.NodeTransformer):
    def __init__(self, final, is_in_loop=False):
        self.final = final
        self.is_in_loop = is_in_loop

    def _before(self, node, *first):
        return [*first, *copy.deepcopy(self.final), node]

    def visit_Return(self, node):
        if node.value is None:
            return self._before(node)
        result = _fresh("result")
        kept = ast.copy_location(_assigned(result, node.value), node)
        return self._before(ast.copy_location(ast.Return(_name(result)), node), kept)

    def visit_Break(self, node):
        return node if self.is_in_loop else self._before(node)

    visit_Continue = visit_Break

    def visit_For(self, node):
        inside = _Leaving(self.final, True)
        node.body = [part for one in node.body for part in _listed(inside.visit(one))]
        node.orelse = [part for one in node.orelse for part in _listed(self.visit(one))]
        return node

    visit_While = visit_For

    def visit_FunctionDef(self, node):
        return node

    visit_Lambda = visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef


def _listed(made):
    return made if isinstance(made, list) else [made]


def _names_of(pattern):
    """The names that a pattern gives values."""
    found = (getattr(part, "name", None) or getattr(part, "rest", None) for part in ast.walk(pattern))
    return {name for name in found if name}


class _Replaced(ast.NodeTransformer):
    def __init__(self, values):
        self.values = values

    def visit_Name(self, node):
        return copy.deepcopy(self.values.get(node.id, node))


def _into_guards(node, tree):
    """The cases whose guard may be asked before names get values, since nobody sees whether they have: these names are only
    read in cases of this statement that give them values."""
    found = set()
    for case in node.cases:
        scoped = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.NamedExpr)
        if case.guard is None or any(isinstance(part, scoped) for part in ast.walk(case.guard)):
            continue
        names = _names_of(case.pattern)
        inside = {id(part) for other in node.cases if names <= _names_of(other.pattern) for part in ast.walk(other)}
        read = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name) and id(part) not in inside}
        if not names & read:
            found.add(case)
    return found


def _match(node, tree):
    bound = {name for case in node.cases for name in _names_of(case.pattern)}
    if isinstance(node.subject, ast.Name) and node.subject.id not in bound:
        before, subject = [], node.subject
    else:
        subject = _name(_fresh("subject"))
        before = [ast.copy_location(_assigned(subject.id, node.subject), node.subject)]
    return [*before, *_cases(node.cases, subject, _into_guards(node, tree))] or [ast.Pass()]


def _cases(cases, subject, into_guards):
    if not cases:
        return []
    case, others = cases[0], cases[1:]
    tests, bindings = _pattern(case.pattern, subject)
    binding = [ast.copy_location(_assigned(name, value), case.pattern) for name, value in bindings]
    has_guard = case.guard is not None
    if has_guard and (not bindings or case in into_guards):
        tests, has_guard = [*tests, _Replaced(dict(bindings)).visit(copy.deepcopy(case.guard))], False
    following = _cases(others, subject, into_guards)
    if not has_guard:
        return [_if(case, tests, [*binding, *case.body], following)] if tests else [*binding, *case.body]
    fits = _fresh("fits")
    chosen = _if(case, [case.guard], [_assigned(fits, ast.Constant(True)), *case.body], [])
    inside = [*binding, chosen]
    first = [_if(case, tests, inside, [])] if tests else inside
    last = [_if(case, [ast.UnaryOp(ast.Not(), _name(fits))], following, [])] if following else []
    return [_located(_assigned(fits, ast.Constant(False)), case), *first, *last]


def _located(node, case):
    for part in ast.walk(node):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, case.pattern)
    return node


def _if(case, tests, body, orelse):
    return _located(ast.If(tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests), body, orelse), case)


def _pattern(pattern, subject):
    """What must hold of the subject, and the names that get values then."""
    def of():
        return copy.deepcopy(subject)
    kind = type(pattern).__name__
    tests, bindings = [], []

    def add(part, item):
        more, names = _pattern(part, item)
        tests.extend(more)
        bindings.extend(names)
    if kind == "MatchValue":
        tests.append(ast.Compare(of(), [ast.Eq()], [pattern.value]))
    elif kind == "MatchSingleton":
        tests.append(ast.Compare(of(), [ast.Is()], [ast.Constant(pattern.value)]))
    elif kind == "MatchAs":
        if pattern.pattern is not None:
            add(pattern.pattern, subject)
        if pattern.name is not None:
            bindings.append((pattern.name, of()))
    elif kind == "MatchOr":
        sides = []
        for part in pattern.patterns:
            needed, names = _pattern(part, subject)
            if names:
                raise _Kept
            if not needed:
                return [], []
            sides.append(needed[0] if len(needed) == 1 else ast.BoolOp(ast.And(), needed))
        tests.append(ast.BoolOp(ast.Or(), sides))
    elif kind == "MatchClass":
        tests.append(_builtin("isinstance", of(), pattern.cls))
        for number, part in enumerate(pattern.patterns):
            item = PatternItem(of(), pattern.cls)
            item.number = number
            add(part, item)
        for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns):
            add(part, ast.Attribute(of(), name, ast.Load()))
    elif kind == "MatchSequence":
        _sequence(pattern, of, tests, add, bindings)
    elif kind == "MatchMapping":
        if pattern.rest is not None:
            raise _Kept
        tests.append(MappingTest(of()))
        for key, part in zip(pattern.keys, pattern.patterns):
            tests.append(ast.Compare(key, [ast.In()], [of()]))
            add(part, ast.Subscript(of(), key, ast.Load()))
    else:
        raise _Kept
    return tests, bindings


def _sequence(pattern, of, tests, add, bindings):
    parts = pattern.patterns
    stars = [number for number, part in enumerate(parts) if isinstance(part, ast.MatchStar)]
    test = SequenceTest(of())
    test.count, test.at_least = len(parts) - len(stars), bool(stars)
    tests.append(test)
    for number, part in enumerate(parts):
        if not stars or number < stars[0]:
            add(part, ast.Subscript(of(), ast.Constant(number), ast.Load()))
        elif number > stars[0]:
            add(part, ast.Subscript(of(), ast.Constant(number - len(parts)), ast.Load()))
        elif part.name is not None:
            end = number + 1 - len(parts)
            rest = ast.Slice(ast.Constant(number), ast.Constant(end) if end else None)
            bindings.append((part.name, _builtin("list", ast.Subscript(of(), rest, ast.Load()))))
