"""What two processes gain, beside what two runs of one process side by side get done: less than two where the second core is not
free."""

import statistics

from printing import missed, ratio, show_ratio, show_time

HEADERS = ["1 process", "2 processes", "speedup", "side by side", "share"]


def gain(seconds, bar, two="2", runs=2):
    """Of columns of seconds, those of one process, of two together, and of a pair side by side, which does the work of so many runs
    of one process."""
    speedups = [one / together for one, together in zip(seconds["1"], seconds[two])]
    capacities = [runs * one / pair for one, pair in zip(seconds["1"], seconds["pair"])]
    share = ratio(speedups, capacities)
    return {"1 process": statistics.median(seconds["1"]), "2 processes": statistics.median(seconds[two]),
            "speedup": statistics.median(speedups), "side by side": statistics.median(capacities), "share": share, "bar": bar,
            "missed": missed(share >= bar)}


def cells(row):
    """Below HEADERS."""
    return [show_time(row["1 process"]), show_time(row["2 processes"]), show_ratio(row["speedup"]), show_ratio(row["side by side"]),
            show_ratio(row["share"])]
