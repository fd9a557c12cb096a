"""Random programs: plain Python says what is right. HIATON_PROGRAMS: how many; HIATON_SEED: from which one on."""

import collections
import copy
import linecache
import os
import warnings

import random_programs

import hiaton as hia

COUNT = int(os.environ.get("HIATON_PROGRAMS", 500))
FIRST = int(os.environ.get("HIATON_SEED", 1))
CALLS = 6


def loaded(text, name):
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"__name__": name}
    exec(compile(text, name, "exec"), names)
    return names


def outcome(function, args):
    try:
        return "gives", function(*args)
    except RecursionError:
        return "raises", "RecursionError"
    except Exception as error:
        place = error.__traceback__
        while place.tb_next is not None:
            place = place.tb_next
        return "raises", type(error), str(error), place.tb_lineno


def test_random_programs_give_what_python_gives():
    seen = collections.Counter()
    for seed in range(FIRST, FIRST + COUNT):
        text = random_programs.Programs(seed).text()
        name = f"<random program {seed}>"
        names = loaded(text, name)
        plain, graph = names["main"], hia.function(names["main"])
        try:
            for call in range(CALLS):
                args = random_programs.arguments(seed * 1000 + call)
                expected = outcome(plain, copy.deepcopy(args))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", hia.FallbackWarning)
                    found = outcome(graph, args)
                assert repr(found) == repr(expected), (
                    f"program {seed}, call {call}{args}: expected {expected}, found {found}\n{text}\n{graph.report()}")
                seen[expected[0]] += 1
        finally:
            linecache.cache.pop(name)
        hits = sum(g.hits for g in graph._graphs)
        seen["calls of graphs"] += hits
        seen["converted"] += graph._refused is None
        if graph._refused:
            seen[graph._refused.split(": ", 1)[-1][:50]] += 1
    print(dict(seen))
    assert seen["converted"] > 0.6 * COUNT, seen
    assert seen["calls of graphs"] > 0.5 * (seen["gives"]), seen
