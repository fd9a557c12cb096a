"""For tests of converted functions: assumptions that fail, and graphs that nobody needs."""

import contextlib

converts_all = False  # whether also those become graphs that plain Python runs faster
failing = None  # the number of the assumption that fails in graphs that are made now


@contextlib.contextmanager
def fail_assumption(number):
    """In graphs that are made inside, the assumption with this number, from 1 on, never holds: plain Python runs the calls that
    come to it. It shows that a function leaves all as Python does, wherever its graph is left."""
    global failing
    before, failing = failing, number
    try:
        yield
    finally:
        failing = before
