"""How many values two processes send each other in a second for bodies that stand on both, with many instances under way."""

import statistics

from printing import missed, show_bytes, show_count, show_time

VALUES_OF_A_CALL = 2  # in the programs here a call takes one value along, and brings one back


def measure_tokens(processes, program, bars, scale_now, rounds):
    """A row for each way in which two processes reach each other; the bars stand by way, in values a second, where the scale of
    the machine is one."""
    rows = []
    expected = processes.run(program).results
    for way in processes.ways:
        scales, runs = zip(*((scale_now(), processes.run_by(way, program, "--stats")) for _ in range(rounds)))
        if any(run.results != expected for run in runs):
            raise SystemExit(f"{program.label()}: expected {expected} from two processes, found others")
        tokens = VALUES_OF_A_CALL * runs[0].stats["remote_calls"]
        rate = statistics.median(tokens / run.seconds for run in runs)
        bar = bars[way] / statistics.median(scales)
        rows.append({"program": program.label(), "way": way, "tokens": tokens, "seconds": statistics.median(run.seconds for run in runs),
                     "bytes of a token": runs[0].stats["remote_bytes"] / tokens, "tokens a second": rate, "bar": bar,
                     "missed": missed(rate >= bar)})
    return rows


def table(rows):
    return (["tokens of bodies on two processes", "by", "tokens", "bytes of a token", "seconds", "tokens a second", "bar, scaled", ""],
            [[row["program"], row["way"], show_count(row["tokens"]), show_bytes(row["bytes of a token"]), show_time(row["seconds"]),
              show_count(row["tokens a second"]), show_count(row["bar"]), row["missed"]] for row in rows])
