"""Instances: the functions of the graph that are made of one function of Python, a loop or a rest, one for each combination of
types that it is called with."""

import functools

from hiaton.function.errors import ConversionError
from hiaton.function.frame import scalar_type
from hiaton.function.names import plain_name
from hiaton.function.reasons import Call
from hiaton.function.source import place
from hiaton.function.statements import build_function
from hiaton.function.types import NEVER, Dct, Func, Lst, Mapping, NewObj, Store, Tup, Union, join, of_any_size

MOST_INSTANCES = 400
MOST_OF_ONE = 40
MOST_SIZES = 8  # of tensors with which a function calls itself; if there are more, one is made for all
MOST_DRAFTS = 8
MOST_OPENED = 8  # ways to leave sizes open, of one function
DEEPEST_TYPE = 12
GROWS = "expected types that do not grow from call to call; hold what grows in depth in objects of a class"
_LONGEST_TYPE = 100  # that a message shows


def _shown(type_):
    text = str(type_)
    return text if len(text) <= _LONGEST_TYPE else f"{text[:_LONGEST_TYPE]}..."


class Instance:
    """One function of the module."""

    def __init__(self, number, name, types, result):
        self.number = number
        self.name = name
        self.types = types
        self.result = result


class Instances:
    def known_type(self, what, unless=NEVER):
        """The type that it was found to have so far; `unless`: where none was found. The round depends on it."""
        self.asked.add(what)
        return self.assumed.get(what, unless)

    def assume(self, what, found):
        """Takes into account that it has this type too: the type of all that was found."""
        before = self.known_type(what)
        self.found[what] = join(self.found.get(what, NEVER), found)
        known = join(before, found)
        if known != before:
            if size_of(known) > DEEPEST_TYPE:
                raise ConversionError(f"{place(self.function)}: {GROWS}, found {_shown(known)}")
            self.assumed[what] = known
            self.changed = True
        return known

    def instance_of(self, function, types, is_entry=False):
        """The instance of a function of Python, which has a parameter for each type."""
        self.guard_code(function)
        kind = "recomputed" if getattr(function, "__hiaton_recompute__", False) and not is_entry else "function"
        return self.instance((kind, id(function.__code__), id(function)), function.__name__, types,
                             lambda frame, values: build_function(frame, function, values), is_entry, parameters_of(function),
                             self.shown_name(function, types))

    def instance(self, key, name, types, build, is_entry=False, parameters=(), shown=None):
        """`parameters`: what people call them; `shown`: what messages call the function. The instance may be one for tensors of
        any size."""
        like = (*key, tuple(map(of_any_size, types)))
        types = self._with_open_sizes(like, types)
        key = (*key, types)
        self.called_from.setdefault(key, Call(self.defining, shown, self.place, self.user_place))
        if key in self.instances:
            self.called_again.add(key)
            return self.instances[key]
        self.counts[key[:2]] += 1
        if len(self.instances) >= MOST_INSTANCES or self.counts[key[:2]] > MOST_OF_ONE:
            raise ConversionError(f"{place(self.function)}: '{name}' is called with too many combinations of types, the last one "
                                  f"({', '.join(map(str, types))}); call it with fewer")
        for type_ in types:
            if size_of(type_) > DEEPEST_TYPE:
                raise ConversionError(f"{place(self.function)}: '{name}': {GROWS}, found {_shown(type_)}")
        self.recall(key)
        result = self.known_type(("result", key))
        if result is NEVER and not is_entry and key not in self.drafted and key not in self.giving_nothing:
            self.sizes[like].append(types)
            result = self._drafted(key, lambda known: self._declared(key, name, types, known, False, parameters), build)
            self.sizes[like].pop()
        made = self._declared(key, name, types, result, is_entry, parameters)
        self.waiting.append((made, build))
        return made

    def _drafted(self, key, declared, build):
        """The type that drafts of an instance give, with which callers go on: so most types are known after one round. One that calls
        itself is drafted until it gives what it is taken to give."""
        self.drafted.add(key)
        self.changed = True
        known = NEVER
        for _ in range(MOST_DRAFTS):
            self.called_again.discard(key)
            before = known
            self._define(declared(known), build)
            known = self.known_type(("result", key))
            if known == before or key not in self.called_again:
                break
        return known

    def gradient_instance(self, number, by):
        """The number of the function that gives the results of an instance and its gradients by some parameters."""
        if (number, by) not in self.gradient_instances:
            self.gradient_instances[number, by] = self.builder.declare_gradient(number, list(by))
        return self.gradient_instances[number, by]

    def _with_open_sizes(self, like, types):
        """The types without those sizes that differ from call to call inside of each other: a tensor that grows has a new size in
        each. Calls that differ in other sizes keep these, as those that grow tensors of so many columns and of others."""
        around, opened = self.sizes[like], self.any_size.setdefault(like, [])
        known = next((one for one in opened if all(map(_holds, one, types))), None)
        if known is None and len(around) >= MOST_SIZES:
            known = functools.reduce(_joined, around, tuple(types))
            opened[:] = [known, *opened] if len(opened) < MOST_OPENED else [functools.reduce(_joined, opened, known)]
            self.changed = True
        return tuple(types) if known is None else known

    def _declared(self, key, name, types, result, is_entry, names):
        parameters = {}
        for number, type_ in enumerate((*types, *self.followed_types())):
            known = names[number] if number < min(len(names), len(types)) else ""
            known = plain_name(known) if known.isidentifier() else f"a{number}"
            kinds = self.graph_types(type_)
            for part, kind in enumerate(kinds):
                own = known if len(kinds) == 1 else f"{known}_{part}"
                parameters[f"{own}_a{number}" if own in parameters else own] = kind
        if is_entry and not parameters:
            parameters["a0"] = scalar_type("i64")
        parameters = list(parameters.items())
        name = self.entry if is_entry and self.entry else plain_name(name)
        if name == self.entry and not is_entry:
            name += "_"
        number = self.builder.declare(name, parameters, self.graph_types(result) or [scalar_type("i64")],
                                      key[0] == "recomputed")
        made = Instance(number, name, types, result)
        made.key = key
        self.instances[key] = made
        return made


def parameters_of(function):
    """The names of the parameters of a function of Python."""
    code = function.__code__
    return code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]


def _joined(some, others):
    return tuple(map(join, some, others))


def _holds(opened, type_):
    """Whether values of the type can be handed to what is made for another one, of open sizes. A list of the graph cannot: its
    elements are of the type that it says."""
    if isinstance(opened, (Store, Mapping)):
        return isinstance(type_, type(opened)) and type_.key in (opened.key, NEVER) and type_.value in (opened.value, NEVER)
    if isinstance(opened, Lst):
        return isinstance(type_, Lst) and type_.element in (opened.element, NEVER)
    if isinstance(opened, (Tup, Dct, NewObj)) and isinstance(type_, type(opened)) and len(opened.items) == len(type_.items):
        return all(map(_holds, opened.items, type_.items))
    return join(opened, type_) == opened


def size_of(type_):
    """How many levels a type has: endless ones are refused."""
    if isinstance(type_, (Tup, Dct, NewObj)):
        return 1 + max(map(size_of, type_.items), default=0)
    if isinstance(type_, Lst):
        return 1 + size_of(type_.element)
    if isinstance(type_, (Store, Mapping)):
        return 1 + max(size_of(type_.key), size_of(type_.value))
    if isinstance(type_, Func):
        return 1 + max((size_of(one) for _, one in type_.captured), default=0)
    if isinstance(type_, Union):
        return max(map(size_of, type_.sides))
    return 1
