"""Calls that two processes share over a network that delays: each in a network namespace of its own, and between these a line that
takes as long as one between machines."""

import contextlib
import json

from contenders import Run, measure
from gains import HEADERS, cells, gain
from printing import show_ratio, show_time
from two_hosts import HOSTS, Refused, TwoNetworks, run_on

BARS = {0.0005: 0.94, 0.010: 0.91}  # by round trip in seconds: of what two runs side by side get done


def measure_delayed(processes, programs, rounds, scratch):
    """The rows, and why there are none."""
    if not processes.has_mpi:
        return [], "skipped: shared calls over a line that delays: there is no Open MPI"
    try:
        return [row for program in programs for row in delayed_rows(processes, program, rounds, scratch)], None
    except Refused as refused:
        return [], f"skipped: shared calls over a line that delays: {refused}"


def delayed_rows(processes, program, rounds, scratch):
    """All columns take turns, so that the lines of both delays stand beside the same runs of one process."""
    columns = {"1": lambda: processes.run(program), "pair": lambda: processes.side_by_side(program)}
    for round_trip in BARS:
        columns[round_trip] = lambda round_trip=round_trip: run_over_a_line(processes, program, round_trip, scratch)
    seconds = measure(columns, rounds, program.label())
    return [{"program": program.label(), "round trip": round_trip, **gain(seconds, bar, two=round_trip)}
            for round_trip, bar in BARS.items()]


def run_over_a_line(processes, program, round_trip, scratch):
    with contextlib.closing(TwoNetworks(scratch, delay_s=round_trip / 2)) as networks:
        return Run(json.loads(run_on(networks, processes.words(program, HOSTS), processes.variables)))


def table(rows):
    return (["shared calls over a line", "round trip", *HEADERS, "bar", ""],
            [[row["program"], show_time(row["round trip"]), *cells(row), show_ratio(row["bar"]), row["missed"]] for row in rows])
