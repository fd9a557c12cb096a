"""The types that functions of the prelude were found to have in earlier conversions. A later one begins with them, and drafts none of
them again. Where one does not hold, as for every type that is assumed, a round finds out."""

import ast
import dataclasses
import functools

from hiaton.function import prelude
from hiaton.function.source import tree_of
from hiaton.function.statements import UNBOUND
from hiaton.function.types import NEVER, NUMBERS, Const, Func, Type

_MOST = 20_000  # instances that are remembered
_MOST_LEVELS = 1000  # smaller numbers in keys are no identities
_PLAIN = (*NUMBERS, str, bytes, type(None))
_remembered = {}  # by what conversions differ in and the key of an instance: the pairs of what was assumed there, and its type


class EarlierTypes:
    """The part of a converter that remembers them."""

    def recall(self, key):
        """Assumes of an instance what earlier conversions have found."""
        found = _remembered.get((*self._differences(), key), ())
        for what, type_ in found:
            self.assumed.setdefault(what, type_)
        if found == ((("result", key), NEVER),):
            self.giving_nothing.add(key)

    def remember(self):
        """What the last round has found of functions of the prelude."""
        found = {key: [(("result", key), self.found.get(("result", key), NEVER))] for key in self.of_prelude.keys() - self.giving_taken_out}
        for what, type_ in self.found.items():
            if what[0] == "branch" and what[1] in found:
                found[what[1]].append((what, type_))
        if len(_remembered) + len(found) > _MOST:
            _remembered.clear()
        for key, pairs in found.items():
            name, pairs = (*self._differences(), key), tuple(pairs)
            if _remembered.get(name) == pairs:
                continue
            places = key[:-1], tuple(what[2:] for what, _ in pairs)
            if _is_known(places, self.of_prelude[key]) and _lasts(key) and _lasts(tuple(type_ for _, type_ in pairs)):
                _remembered[name] = pairs

    def _differences(self):
        """What the types depend on besides those of the arguments."""
        return self.lays_out, self.has_tensors, self.keeps_places, self.may_leave, self.profile is None


def _lasts(value):
    """Whether to remember it keeps nothing of a program alive."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(_lasts, value))
    if isinstance(value, Const):
        return type(value.value) in _PLAIN or value.value is UNBOUND or _is_of_module(value.value)
    if isinstance(value, Func):
        return False
    if isinstance(value, Type):
        return all(_lasts(getattr(value, field.name)) for field in dataclasses.fields(value))
    return value.__module__ == "builtins" if isinstance(value, type) else type(value) in _PLAIN


def _is_known(places, function):
    """Whether the identities in it are those of a function of the prelude and of its tree, which live as long as the module. None: what
    helps with values of some types has no text, and none of them."""
    known = _identities_of(function) if _is_of_module(function) else ()
    return all(type(one) is not int or one < _MOST_LEVELS or one in known for one in _parts_of(places))


def _is_of_module(function):
    names = getattr(function, "__globals__", None)
    return prelude.holds(names) and names.get(function.__name__) is function


@functools.cache
def _identities_of(function):
    return frozenset((id(function), id(function.__code__), *map(id, ast.walk(tree_of(function)))))


def _parts_of(places):
    for part in places:
        if isinstance(part, (tuple, frozenset)):
            yield from _parts_of(part)
        else:
            yield part
