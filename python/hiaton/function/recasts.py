"""Types of elements that lists which are made anew may be given."""

from hiaton.function.types import NEVER, Func, Lst, Mapping, of_any_size


def are_recast(some, others):
    """Whether elements of the one type are made those of the other, wider one in a new list: tensors of other sizes, empty lists, and
    values that are of more types there, but for lists in them."""
    if isinstance(some, Lst) or isinstance(others, Lst):
        return isinstance(some, Lst) and isinstance(others, Lst) and some.element is NEVER or of_any_size(some) == of_any_size(others)
    return of_any_size(some) == of_any_size(others) or not _has_lists(some) and not _has_lists(others)


def _has_lists(type_):
    parts = getattr(type_, "items", getattr(type_, "sides", ()))
    return isinstance(type_, (Lst, Mapping, Func)) or any(map(_has_lists, parts))
