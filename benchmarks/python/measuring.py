"""How the benchmarks of the Python package take turns, and what they are held against."""

import pathlib
import statistics
import sys
import time

import hiaton as hia

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from printing import print_table, ratio, show_progress, show_ratio, show_time  # noqa: E402, F401


class Bench:
    """What is asked for, and the bars that were looked at."""

    def __init__(self, options, torch):
        self.options = options
        self.smoke = options.smoke
        self.rounds = 1 if options.smoke else options.rounds
        self.torch = torch  # the module, or None
        self.bars = []  # of the table that is being measured
        self.clear, self.missed = 0, []  # how many bars were cleared, and what was held against the others
        self.seconds_a_node = None  # that objects take to become data values, if that was measured

    def count(self, usual, smoke=1):
        return smoke if self.smoke else usual

    def in_turns(self, label, contenders, warm_up=True):
        """By contender: its seconds of each round. A contender is a function that gives seconds.

        A turn begins with a run that is not timed. Whoever comes after eager code pays for it else: free() leaves what eager steps
        of PyTorch or of ours gave back in lists, which the next large allocation sorts (malloc_consolidate: up to 8 ms in a step
        that takes 1.3), and the caches hold other data. A loop of training has only its own past, as the median epoch of
        `hiaton train` has."""
        found = {name: [] for name in contenders}
        for number in range(self.rounds):
            show_progress(f"{label}: round {number + 1} of {self.rounds}")
            for name, run in contenders.items():
                if warm_up and not self.smoke:
                    run()
                found[name].append(run())
        show_progress("")
        return found

    def at_most(self, what, found, bar, show=show_time):
        self.hold(what, show(found), f"at most {show(bar)}", found <= bar)

    def at_least(self, what, found, bar, show=show_ratio):
        self.hold(what, show(found), f"at least {show(bar)}", found >= bar)

    def hold(self, what, found, bar, holds):
        """What was found and the bar are texts."""
        self.bars.append([what, found, bar, "yes" if holds else "**no**"])
        if holds:
            self.clear += 1
        else:
            self.missed.append(what)

    def print_bars(self):
        """What was held against a bar since the last time."""
        if self.bars:
            table("Held against bars", ["what", "found", "bar", "holds"], self.bars)
            self.bars = []

    def print_summary(self):
        print(f"\n**{self.clear} of {self.clear + len(self.missed)} figures clear their bars**\n")
        for what in self.missed:
            print(f"- not: {what}")


def table(title, headers, rows):
    print(f"\n**{title}**\n")
    print_table(headers, rows, markdown=True)


def seconds_of(function, *args):
    begin = time.perf_counter()
    function(*args)
    return time.perf_counter() - begin


def show_share(found):
    return f"{100 * found:.1f} %"


def middle(seconds):
    return statistics.median(seconds)


def beside_python(bench, word, title, programs):
    """Programs, each a function and its arguments, as graphs and in plain Python: a table."""
    rows = []
    for function, *arguments in programs:
        graph = hia.function(function, strict=True)
        assert graph(*arguments) == function(*arguments), function
        name = function.__name__
        found = bench.in_turns(f"{word}: {name}", {"graph": lambda: seconds_of(graph, *arguments), "Python": lambda: seconds_of(function, *arguments)})
        times = ratio(found["Python"], found["graph"])
        rows.append([f"`{name}`", *(show_time(middle(seconds)) for seconds in found.values()), show_ratio(times)])
        bench.at_least(f"`{name}`, beside plain Python", times, 1)
    table(title, ["", "hia.function", "CPython", "x CPython"], rows)
