"""How long calls take that two processes send each other because of what is placed: one after the other, or many under way at once."""

import statistics

from printing import missed, ratio, show_bytes, show_ratio, show_time

THREADS, MEMORY, TCP = "threads", "MPI, shared memory", "MPI, TCP"  # ways in which two processes reach each other

# Seconds, where the scale is one.
ONE_CALL_BARS = {THREADS: 3e-6, MEMORY: 3e-6, TCP: 20e-6}              # of a call, one after the other
MANY_CALLS_BARS = {THREADS: 1 / 1.5e6, MEMORY: 1 / 1.5e6, TCP: None}  # of a call, with many under way
DEEP_BAR = 3     # of a factorial of a million; over TCP each level is a call one after the other
LEVEL_BAR = 300  # bytes of a level of the factorial in each process

HEADERS = ["calls of what is placed", "by", "seconds", "a call", "bar, scaled", "scale", "MPI alone", "times",
           "a level and process", "bar", ""]


def measure_placed(processes, program, kind, calls, scale_now, rounds):
    """A row for each way. MPI alone is a message of 100 bytes there and back, in turns with the program, as is the scale."""
    rows = []
    expected = processes.run(program).results
    for way in processes.ways:
        runs, messages, scales = [], [], []
        for _ in range(rounds):
            scales.append(scale_now())
            runs.append(processes.run_by(way, program, "--stats"))
            if kind != "many" and way != THREADS:
                messages.append(processes.ping_pong(way, max(1, calls // 10)))
        if any(run.results != expected for run in runs):
            raise SystemExit(f"{program.label()}: the results of two processes are others")
        seconds = [run.seconds / calls for run in runs]
        mpi = [run.seconds / run.results[0] for run in messages]
        call, scale = statistics.median(seconds), statistics.median(scales)
        bar = {"body": ONE_CALL_BARS[way], "deep": ONE_CALL_BARS[way] if way == TCP else DEEP_BAR / 1e6, "many": MANY_CALLS_BARS[way]}[kind]
        bar = bar and bar * scale
        level = max(run.stats["bytes"] for run in runs) / calls / 2 if kind != "many" else None
        clears = (bar is None or call <= bar) and (level is None or level <= LEVEL_BAR)
        rows.append({"program": program.label(), "way": way, "seconds": call * calls, "a call": call, "bar": bar, "scale": scale,
                     "MPI": statistics.median(mpi) if mpi else None, "times": ratio(seconds, mpi), "bytes of a level": level,
                     "missed": missed(clears)})
    return rows


def cells(row):
    """Below HEADERS."""
    level = row["bytes of a level"]
    return [row["program"], row["way"], show_time(row["seconds"]), show_time(row["a call"]), show_time(row["bar"]),
            show_ratio(row["scale"]), show_time(row["MPI"]), show_ratio(row["times"]),
            *(("", "") if level is None else (show_bytes(level), show_bytes(LEVEL_BAR))), row["missed"]]
