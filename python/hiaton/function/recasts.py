"""Types of elements that lists which are made anew may be given."""

from hiaton.function.types import NEVER, Const, Func, Lst, Mapping, Union, of_any_size


def stands_as(some, others):
    """Whether what stands in a graph for a value of the one type stands for the same as one of the other type, where both have the
    same types there: it tells by a number of which side of a union it is, and of constants nothing."""
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
