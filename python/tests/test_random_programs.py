"""Random programs: plain Python says what is right. HIATON_PROGRAMS: how many; HIATON_SEED: from which one on."""

import collections
import concurrent.futures
import contextlib
import copy
import functools
import importlib
import io
import linecache
import multiprocessing
import os
import re
import resource
import signal
import traceback
import warnings

import random_array_programs
import random_item_programs
import random_mapping_programs
import random_object_programs
import random_programs

import hiaton as hia
from hiaton import testing
from hiaton.function import profile

COUNT = int(os.environ.get("HIATON_PROGRAMS", 2000))
FIRST = int(os.environ.get("HIATON_SEED", 1))
CALLS = 6
LONGEST = 10_000  # bits of an integer that is written in decimal digits
PART = 25  # programs that one process runs in a row
MOST_BYTES = 3 << 30
MOST_SECONDS = 2  # of the processor, for a call of plain Python
PROFILED = 5  # one in so many has a profile of its first call, and assumes all that this tells


def loaded(text, name):
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"__name__": name}
    exec(compile(text, name, "exec"), names)
    return names


class TooLong(BaseException):
    """Plain Python has not come to an end within MOST_SECONDS."""


@contextlib.contextmanager
def limited():
    """Within it, what needs more than MOST_SECONDS raises TooLong."""

    def stop(*_):
        raise TooLong

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def outcome(function, args):
    """What becomes of a call, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        found = result(function, args)
    told = found if found[0] == "raises" else found[:1]  # the shape tells what it gives
    return *told, shape((found, args)), output.getvalue()


def shape(value, seen=None):
    """What it consists of, and which parts that may change are one object."""
    seen = {} if seen is None else seen
    if isinstance(value, int) and value.bit_length() > LONGEST:
        return hex(value)
    if not isinstance(value, (list, tuple, dict, set)) and (isinstance(value, type) or not hasattr(value, "__dict__")):
        return value
    if isinstance(value, tuple):
        return type(value).__name__, [shape(part, seen) for part in value]
    if id(value) in seen:
        return seen[id(value)]
    seen[id(value)] = f"object {len(seen)}"
    if isinstance(value, list):
        return seen[id(value)], "list", [shape(part, seen) for part in value]
    if isinstance(value, dict):
        return seen[id(value)], "dict", [(repr(key), shape(item, seen)) for key, item in value.items()]
    if isinstance(value, set):  # in an order of its own
        return seen[id(value)], "set", sorted(map(repr, value))
    return seen[id(value)], type(value).__name__, {name: shape(part, seen) for name, part in vars(value).items()}


def text_of(outcome):
    """Python does not write integers that are too long; in the shape these stand otherwise."""
    try:
        return repr(outcome)
    except ValueError:
        return repr((outcome[0], *outcome[-2:]))


def result(function, args):
    try:
        return "gives", function(*args)
    except RecursionError:
        return "raises", "RecursionError"
    except Exception as error:
        # No name here stands for the traceback, which would keep alive what the function held, as all memory there is.
        *_, line = (line for _, line in traceback.walk_tb(error.__traceback__))
        return "raises", type(error), str(error), line


class Failing:
    """A graph whose runs fail when all is done."""

    def __init__(self, core):
        self.core = core

    def call(self, values):
        self.core.call(values)
        raise hia.RunError("assumption failed")


@contextlib.contextmanager
def failing(function, fails):
    """Where it fails, no graph of the function gives a result, and plain Python must find everything as it was."""
    graphs = function._graphs if fails else []
    cores = [graph.core for graph in graphs]
    for graph, core in zip(graphs, cores):
        graph.core = Failing(core)
    try:
        yield
    finally:
        for graph, core in zip(graphs, cores):
            graph.core = core


def run_programs(kind, seeds):
    """What became of the programs with these seeds, of a module that makes some. Raises AssertionError where one differs from plain Python."""
    seen, kind = collections.Counter(), importlib.import_module(kind)
    # A program may ask for more memory than there is, and raises MemoryError then, instead of being killed.
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    profile.LEAST_VISITS = profile.LEAST_LOOPS = profile.LEAST_CALLS = 1
    testing.converts_all = True
    for seed in seeds:
        text = kind.Programs(seed).text()
        name = f"<random program {seed}>"
        plain_names, names = loaded(text, name), loaded(text, name)
        plain, graph = plain_names["main"], hia.function(names["main"], profile=seed % PROFILED == 0)
        try:
            for call in range(CALLS):
                args = kind.arguments(seed * 1000 + call)
                try:
                    with limited():
                        expected = outcome(plain, copy.deepcopy(args))
                except TooLong:
                    seen["too long for plain Python"] += 1
                    break
                with warnings.catch_warnings(), failing(graph, call == seed % CALLS):
                    warnings.simplefilter("ignore", hia.FallbackWarning)
                    found = outcome(graph, args)
                if expected[0] == found[0] == "raises" and expected[1] == found[1] and expected[1] in ("RecursionError", MemoryError):
                    break  # what was set until then depends on how deep the recursion could go, or on the memory
                assert (text_of(found), names["g0"], names["log"]) == (text_of(expected), plain_names["g0"], plain_names["log"]), (
                    f"program {seed}, call {call}: expected {text_of(expected)}, found {text_of(found)}\n{text}\n{graph.report()}")
                seen[expected[0]] += 1
                seen["prints"] += bool(expected[-1])
                seen["sets"] += bool(graph._graphs) and graph._graphs[0].states is not None
        finally:
            linecache.cache.pop(name)
        seen["assumes what its profile tells"] += any(g.speculated for g in graph._graphs)
        seen["calls of graphs"] += sum(g.hits for g in graph._graphs)
        seen["converted"] += graph._refused is None
        if graph._refused:
            seen[re.sub(r"\d+", "", graph._refused.split(": ", 1)[-1])[:50]] += 1
    return seen


def run_in_parts(kind, count):
    seeds = range(FIRST, FIRST + count)
    parts = [seeds[start:start + PART] for start in range(0, count, PART)]
    seen = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(functools.partial(run_programs, kind.__name__), parts):
            seen += found
    print(dict(seen))
    return seen


def test_programs_that_look_up_lists_give_what_python_gives():
    count = COUNT // 8
    seen = run_in_parts(random_array_programs, count)
    assert seen["converted"] > 0.5 * count, seen
    assert seen["calls of graphs"] > 0.3 * seen["gives"], seen


def test_programs_with_dicts_and_sets_give_what_python_gives():
    count = COUNT // 8
    seen = run_in_parts(random_mapping_programs, count)
    assert seen["converted"] > 0.3 * count, seen
    assert seen["calls of graphs"] > 0.2 * seen["gives"], seen


def test_programs_that_change_items_of_dicts_give_what_python_gives():
    count = COUNT // 20
    seen = run_in_parts(random_item_programs, count)
    assert seen["converted"] > 0.3 * count, seen
    assert seen["calls of graphs"] > 0.2 * seen["gives"], seen


def test_programs_that_change_objects_give_what_python_gives():
    count = COUNT // 10
    seen = run_in_parts(random_object_programs, count)
    assert seen["converted"] > 0.5 * count, seen
    assert seen["calls of graphs"] > 0.3 * seen["gives"], seen


def test_random_programs_give_what_python_gives():
    seen = run_in_parts(random_programs, COUNT)
    assert seen["too long for plain Python"] <= 1 + COUNT / 200, seen
    assert seen["converted"] > 0.6 * COUNT, seen
    assert seen["calls of graphs"] > 0.4 * seen["gives"], seen  # of which one in six was made to fail
    assert seen["prints"] > 0.1 * seen["gives"], seen
    assert seen["sets"] > 0.5 * COUNT, seen
    assert seen["assumes what its profile tells"] > 0.2 * COUNT / PROFILED, seen
