"""What functions of heapq and bisect do, in the Python that is converted in their place. Heaps lie as those of Python do, item by item."""

import bisect
import heapq

from hiaton.function.scopes import lent_names, note_lent
from hiaton.function.source import tree_of
from hiaton.function.types import Const, Value


def _rise(heap, first, place):
    """Moves an item towards the first one, past those that are larger."""
    item = heap[place]
    while place > first and item < heap[(place - 1) // 2]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = item


def _sink(heap, first):
    """Moves an item to a leaf, along the smaller ones below it, and from there to its place."""
    item, place = heap[first], first
    while 2 * place + 1 < len(heap):
        below = 2 * place + 1
        if below + 1 < len(heap) and not heap[below] < heap[below + 1]:
            below += 1
        heap[place] = heap[below]
        place = below
    heap[place] = item
    _rise(heap, first, place)


def heappush(heap, item):
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def heappop(heap):
    last = heap.pop()
    if len(heap) == 0:
        return last
    least = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return least


def heapreplace(heap, item):
    least = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return least


def heappushpop(heap, item):
    if len(heap) == 0 or not heap[0] < item:
        return item
    return heapreplace(heap, item)


def heapify(heap):
    for place in range(len(heap) // 2 - 1, -1, -1):
        _sink(heap, place)


def nsmallest(n, items, key=None):
    return sorted(items, key=key)[:max(n, 0)]


def nlargest(n, items, key=None):
    return sorted(items, key=key, reverse=True)[:max(n, 0)]


def bisect_left(items, x, lo=0, hi=None, *, key=None):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(items) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if (items[middle] if key is None else key(items[middle])) < x:
            lo = middle + 1
        else:
            end = middle
    return lo


def bisect_right(items, x, lo=0, hi=None, *, key=None):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(items) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if x < (items[middle] if key is None else key(items[middle])):
            end = middle
        else:
            lo = middle + 1
    return lo


_IN_PYTHON = {id(getattr(module, function.__name__)): function for module, functions in (
    (heapq, (heappush, heappop, heapreplace, heappushpop, heapify, nsmallest, nlargest)), (bisect, (bisect_left, bisect_right))) for function in functions}


def in_python(callee):
    """What is called: of a function of Python's library, what is converted in its place. Who calls one that changes a heap lends it that."""
    target = callee.type.value if isinstance(callee.type, Const) else None
    if id(target) not in _IN_PYTHON:
        return callee
    function = _IN_PYTHON[id(target)]
    tree = tree_of(function)
    if tree.args.args[0].arg == "heap" and "heap" not in lent_names(tree):
        note_lent(tree, "heap", False)
    return Value(Const(function))


def is_text_of(file):
    return file == __file__
