"""How the benchmarks write times, ratios and tables."""

import statistics
import sys


def show_progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def ratio(above, below):
    """The median of the ratios of each round; None where a side has no times."""
    if not above or not below:
        return None
    return statistics.median(a / b for a, b in zip(above, below))


def show_time(seconds):
    if seconds is None:
        return ""
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if seconds * factor >= 1 or unit == "ns":
            return f"{seconds * factor:.3g} {unit}" if seconds * factor < 100 else f"{seconds * factor:.0f} {unit}"


def show_ratio(value):
    if value is None:
        return ""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def show_rate(value):
    if value is None:
        return ""
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def show_bytes(value):
    for unit, factor in (("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if value < 1000 * factor or unit == "GB":
            return f"{value / factor:.3g} {unit}"


def show_count(value):
    return f"{value:,.0f}"


def missed(clears):
    return "" if clears else "missed"


def print_table(headers, rows, markdown):
    cells = [headers, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    for number, row in enumerate(cells):
        aligned = [cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        print("| " + " | ".join(aligned) + " |" if markdown else "  ".join(aligned).rstrip(), flush=True)
        if number == 0 and markdown:
            print("|" + "|".join("-" * (width + 1) + ("-" if i == 0 else ":") for i, width in enumerate(widths)) + "|")
        elif number == 0:
            print("  ".join("-" * width for width in widths))
