"""What a function does while plain Python runs it: which sides its branches and the conditions of its comprehensions take, how many
turns its loops make, and which of its arguments are always the same.

For its first calls a *twin* of the function runs instead, and of each function that it calls: the same text, with counts beside
branches and loops. The functions themselves stay as they are, so that a profile costs nothing once it is made. What was the same
all the time is assumed by the graph that is made then, and checked in each run.
"""

import __future__

import ast
import pathlib
import sysconfig
import types

from hiaton.function.errors import ConversionError
from hiaton.function.source import is_coroutine, written_tree_of

LEAST_VISITS = 20   # of a branch of which one side is assumed
LEAST_LOOPS = 3     # of one loop whose number of turns is assumed
LEAST_CALLS = 3     # with one value of an argument that is assumed
LEAST_INTEGER, MOST_INTEGER = -5, 256  # of which Python has one object each: an argument is looked at by identity
LONGEST_TEXT = 32
MOST_TURNS = 32     # of a loop that is written out
MOST_NODES = 2000   # of the syntax tree of its body, for all turns together
MOST_RELAXED = 3    # assumptions of one kind that may fail before none of the kind is made any more

_FAILED = "; assumed, and found otherwise since"
_PROBE, _TWIN = "probe@", "twin@"
_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_LOOKS_AT_FRAMES = {"locals", "vars", "dir", "eval", "exec", "globals"}
_FOREIGN = tuple(str(pathlib.Path(path).resolve()) for path in
                 (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), pathlib.Path(__file__).parents[1]))


class Place:
    """A branch or a loop of the text."""

    def __init__(self, number, file, node, is_condition):
        self.number = number
        self.file = file
        self.line = node.lineno
        self.kind = "loop" if isinstance(node, ast.For) else "branch"
        self.text = ast.unparse(node if is_condition else node.iter if self.kind == "loop" else node.test)
        self.sides = [0, 0]   # how often the first and the second side of a branch ran
        self.loops = 0        # how often the loop was run to its end
        self.turns = None     # how many turns it made each time; -1: not the same number
        self.has_failed = False

    def __str__(self):
        if self.kind == "loop":
            found = "numbers of turns that differ" if self.turns == -1 else f"{self.turns} turns each time"
            return f"{self.file}:{self.line}: the loop over '{self.text}' ran {self.loops} times: {found}"
        return f"{self.file}:{self.line}: '{self.text}' was true {self.sides[0]} times, false {self.sides[1]} times"


class Argument:
    """An argument of the function that is called: one value of each call."""

    kind = "argument"

    def __init__(self, file, line, name, value):
        self.file, self.line, self.name, self.value = file, line, name, value
        self.calls = 0
        self.is_one = is_small(value)  # whether it was the same in all calls
        self.has_failed = False

    def note(self, value):
        self.calls += 1
        self.is_one = self.is_one and is_small(value) and value is self.value

    def __str__(self):
        return f"{self.file}:{self.line}: '{self.name}' was {self.value!r} in all of {self.calls} calls"


def is_small(value):
    """Whether a call can be told to have this argument by identity alone."""
    if type(value) is int:
        return LEAST_INTEGER <= value <= MOST_INTEGER
    return type(value) is bool or type(value) is str and len(value) <= LONGEST_TEXT


def key_of(file, node, is_condition):
    """`is_condition`: of a comprehension; else a statement or an `a if b else c`."""
    return file, "condition" if is_condition else type(node).__name__, node.lineno, node.col_offset


class Profile:
    """The profile of one function, and what it calls."""

    def __init__(self, calls):
        self.calls_left = calls
        self.places = {}
        self.arguments = []
        self._probe = Probe(self)
        self._count = calls

    def run(self, function, args, named, by_name=()):
        """A call by the twin of the function. `by_name`: its arguments, as pairs."""
        self.calls_left -= 1
        if not self.arguments:
            code = function.__code__
            self.arguments = [Argument(code.co_filename, code.co_firstlineno, name, value) for name, value in by_name]
        for argument, (_, value) in zip(self.arguments, by_name):
            argument.note(value)
        try:
            return self._probe.twin(function)(*args, **named)
        finally:
            if self.calls_left <= 0:
                self._probe = Probe(self)  # without twins, and what these refer to

    def place(self, file, node, is_condition=False):
        return self.places.setdefault(key_of(file, node, is_condition), Place(len(self.places), file, node, is_condition))

    # What graphs may assume.

    def side(self, file, node, is_condition):
        """The side of a branch that alone ran, and its place; None where both did, or too seldom."""
        place = self.places.get(key_of(file, node, is_condition))
        if place is None or not self._may_assume(place) or sum(place.sides) < LEAST_VISITS or 0 not in place.sides:
            return None
        return place.sides[1] == 0, place

    def turns(self, file, node):
        """The number of turns that a loop made each time, and its place; None where it should stay a loop."""
        place = self.places.get(key_of(file, node, False))
        if place is None or not self._may_assume(place) or place.loops < LEAST_LOOPS or not 0 <= place.turns <= MOST_TURNS:
            return None
        return place.turns, place

    def argument(self, number, value):
        """The argument of this number, if it had this value each time; None: it is one of the run. A value that differs is the last
        of which anything is assumed."""
        argument = self.arguments[number] if number < len(self.arguments) else None
        if argument is None or not argument.is_one or argument.calls < LEAST_CALLS:
            return None
        argument.has_failed |= value is not argument.value
        return argument if self._may_assume(argument) else None

    def _may_assume(self, place):
        like = self.arguments if place.kind == "argument" else self.places.values()
        return not place.has_failed and sum(one.has_failed for one in like if one.kind == place.kind) < MOST_RELAXED

    def report(self):
        """Lines for `report()`."""
        if self.calls_left == self._count:
            return []
        lines = [f"  a profile of {self._count - self.calls_left} calls:"]
        for place in sorted(self.places.values(), key=lambda place: (place.file, place.line)):
            if place.loops or any(place.sides):
                lines.append(f"    {place}" + _FAILED * place.has_failed)
        lines += [f"    {one}" + _FAILED * one.has_failed for one in self.arguments if one.is_one]
        return lines


class Probe:
    """What twins call: `side` and `turns` count, `twin` gives the twin of what is called."""

    def __init__(self, profile):
        self._profile = profile
        self._places = []  # by number
        self._twins = {}   # by code and closure of a function

    def side(self, number, side):
        self._places[number].sides[side] += 1

    def test(self, number, value):
        """The truth of a condition, which is asked for once."""
        holds = bool(value)
        self._places[number].sides[not holds] += 1
        return holds

    def turns(self, number, count):
        place = self._places[number]
        place.loops += 1
        if place.turns is None:
            place.turns = count
        elif place.turns != count:
            place.turns = -1

    def twin(self, callee):
        """The twin of a function that is called; the callee itself where it has none."""
        kind = type(callee)
        if kind is types.MethodType:
            twin = self.twin(callee.__func__)
            return callee if twin is callee.__func__ else types.MethodType(twin, callee.__self__)
        if kind is not types.FunctionType:
            own = getattr(kind, "__hiaton_plain__", None)
            return callee if own is None else self.twin(callee.__wrapped__)
        key = callee.__code__, callee.__closure__ and tuple(map(id, callee.__closure__)), id(callee.__globals__)
        known = self._twins.get(key)
        if known is None:
            known = self._twins[key] = self._made(callee), callee
        made = known[0]
        if made is None:
            return callee
        made.__defaults__, made.__kwdefaults__ = callee.__defaults__, callee.__kwdefaults__
        return made

    def _made(self, function):
        """None: it has no text, or one that says too little about what it does."""
        code = function.__code__
        if is_coroutine(function) or str(pathlib.Path(code.co_filename)).startswith(_FOREIGN):
            return None
        names = {*code.co_names, *code.co_freevars}
        if names & _LOOKS_AT_FRAMES or any(name.startswith("__") and not name.endswith("__") for name in names):
            return None
        try:
            tree = written_tree_of(function)
        except ConversionError:
            return None
        tree = _Instrumented(self._profile, code.co_filename).of_function(tree)
        self._places = sorted(self._profile.places.values(), key=lambda place: place.number)
        found = _code_in(tree, code)
        if found is None or set(found.co_freevars) - {_PROBE} != set(code.co_freevars):
            return None
        cells = dict(zip(code.co_freevars, function.__closure__ or ()))
        cells[_PROBE] = types.CellType(self)
        found = _renamed(found, found.co_qualname, code.co_qualname).replace(co_firstlineno=code.co_firstlineno)
        made = types.FunctionType(found, function.__globals__, function.__name__, function.__defaults__,
                                  tuple(cells[name] for name in found.co_freevars))
        made.__kwdefaults__, made.__qualname__ = function.__kwdefaults__, function.__qualname__
        made.__module__ = function.__module__
        return made


def _code_in(tree, code):
    """The code of a function whose tree stands in a function that gives it the variables of those around."""
    around = [ast.arg(name) for name in (_PROBE, *code.co_freevars)]
    body = [tree] if isinstance(tree, ast.FunctionDef) else [ast.Expr(tree)]
    outer = ast.FunctionDef("outer@", ast.arguments([], around, None, [], [], None, []), body, [])
    module = ast.fix_missing_locations(ast.copy_location(ast.Module([ast.copy_location(outer, tree)], []), tree))
    try:
        outer = next(one for one in compile(
            module, code.co_filename, "exec", code.co_flags & _FUTURES, True).co_consts if isinstance(one, types.CodeType))
    except (SyntaxError, ValueError):
        return None
    found = [one for one in outer.co_consts if isinstance(one, types.CodeType)]
    return found[0].replace(co_name=code.co_name) if len(found) == 1 else None


def _renamed(code, before, name):
    """The code with another beginning of the names by which it and what is defined in it are shown."""
    inner = tuple(_renamed(one, before, name) if isinstance(one, types.CodeType) else one for one in code.co_consts)
    return code.replace(co_qualname=name + code.co_qualname[len(before):], co_consts=inner)


class _Instrumented(ast.NodeTransformer):
    """Puts counts beside branches, loops and calls; lines and columns stay those of the text."""

    def __init__(self, profile, file):
        self.profile = profile
        self.file = file
        self.count = 0

    def of_function(self, tree):
        if isinstance(tree, ast.Lambda):
            tree.body = self.visit(tree.body)
            return tree
        tree.name = _TWIN  # its own name is that of the original to it
        tree.decorator_list, tree.returns = [], None
        for argument in ast.walk(tree.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        # The twin is given the defaults of the function, which are values.
        tree.args.defaults = [ast.Constant(None) for _ in tree.args.defaults]
        tree.args.kw_defaults = [one and ast.Constant(None) for one in tree.args.kw_defaults]
        return self.generic_visit(tree)

    def visit_FunctionDef(self, node):
        return node  # the function that is made has a twin of its own where it is called

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef

    def visit_If(self, node):
        place = self.profile.place(self.file, node)
        self.generic_visit(node)
        for number, side in enumerate((node.body, node.orelse)):
            side.insert(0, _at(node, ast.Expr(_probed("side", ast.Constant(place.number), ast.Constant(number)))))
        return node

    def visit_IfExp(self, node):
        place = self.profile.place(self.file, node)
        self.generic_visit(node)
        for number, name in enumerate(("body", "orelse")):
            value = getattr(node, name)
            both = ast.Tuple([_probed("side", ast.Constant(place.number), ast.Constant(number)), value], ast.Load())
            setattr(node, name, _at(value, ast.Subscript(both, ast.Constant(1), ast.Load())))
        return node

    def visit_comprehension(self, node):
        places = [self.profile.place(self.file, test, True) for test in node.ifs]
        self.generic_visit(node)
        node.ifs = [_at(test, _probed("test", ast.Constant(place.number), test)) for place, test in zip(places, node.ifs)]
        return node

    def visit_For(self, node):
        if leaves_turns(node):
            return self.generic_visit(node)
        place = self.profile.place(self.file, node)
        self.generic_visit(node)
        self.count += 1
        name = f"turns@{self.count}"
        first = _at(node, ast.Assign([ast.Name(name, ast.Store())], ast.Constant(0)))
        node.body.insert(0, _at(node, ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), ast.Constant(1))))
        node.orelse.insert(0, _at(node, ast.Expr(_probed("turns", ast.Constant(place.number), ast.Name(name, ast.Load())))))
        return [first, node]

    def visit_Call(self, node):
        self.generic_visit(node)
        node.func = _at(node.func, _probed("twin", node.func))
        return node

    def visit_Match(self, node):
        """Patterns look like calls, and call nothing."""
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = case.guard and self.visit(case.guard)
            case.body = [one for statement in case.body for one in _many(self.visit(statement))]
        return node


def leaves_turns(node):
    """Whether a turn of a loop may end before its body does."""
    leaving = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom, ast.Await)
    return any(isinstance(part, leaving) for one in node.body for part in ast.walk(one))


def _probed(method, *args):
    return ast.Call(ast.Attribute(ast.Name(_PROBE, ast.Load()), method, ast.Load()), list(args), [])


def _at(node, made):
    """What was made, where the node stands."""
    for part in ast.walk(made):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return made


def _many(made):
    return made if isinstance(made, list) else [made]
