"""Whether values of one type are already values of a wider one, and whether lists of them may be made anew as lists of that type."""

from hiaton.function.types import NEVER, Const, Func, Lst, Mapping, Union, of_any_size


def stands_as(some, others):
    """Whether a graph's values for one of the first type mean the same as one of the second, given that both types have the same types
    there. The sides of a union are numbered, so other sides mean other numbers; a constant has no value that could tell it."""
    if some == others or NEVER in (some, others):
        return True
    if isinstance(some, (Union, Const)) or isinstance(others, (Union, Const)):
        return False
    if isinstance(some, Lst):
        return stands_as(some.element, others.element)
    if isinstance(some, Func):
        return all(stands_as(one, other) for (_, one), (_, other) in zip(some.captured, others.captured))
    return all(map(stands_as, getattr(some, "items", ()), getattr(others, "items", ())))


def are_recast(some, others):
    """Whether elements of the one type are made those of the other, wider one in a new list: tensors of other sizes, empty lists, and
    values that are of more types there, but for lists in them."""
    if isinstance(some, Lst) or isinstance(others, Lst):
        return isinstance(some, Lst) and isinstance(others, Lst) and some.element is NEVER or of_any_size(some) == of_any_size(others)
    return of_any_size(some) == of_any_size(others) or not _has_lists(some) and not _has_lists(others)


def _has_lists(type_):
    parts = getattr(type_, "items", getattr(type_, "sides", ()))
    return isinstance(type_, (Lst, Mapping, Func)) or any(map(_has_lists, parts))
