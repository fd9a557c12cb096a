"""Machines of 20 % of a core each: processes in control groups of their own, as many as eight on two cores, so that the curve from
one to eight can be measured in real time."""

import os
import pathlib
import shutil
import statistics

from contenders import ROOT, Run, measure, run_json

SHARE = 0.2
PERIOD_US = 10_000
COUNTS = (1, 4, 8)
BARS = {4: 0.95, 8: 0.90}  # of linear

# Enters the control group of its number, and becomes the command.
ENTER = 'echo $$ > "$0/machine_${OMPI_COMM_WORLD_RANK:-0}/cgroup.procs" && exec "$@"'


class Machines:
    """The control groups, for as long as this is a context. Throws OSError where the machine refuses them."""

    def __init__(self, processes):
        self.processes = processes
        version_1 = pathlib.Path("/sys/fs/cgroup/cpu")
        self.is_version_1 = version_1.is_dir()
        parent = version_1 if self.is_version_1 else pathlib.Path("/sys/fs/cgroup")
        self.root = parent / f"hiaton_benchmark_{os.getpid()}"

    def __enter__(self):
        self.root.mkdir()
        try:
            if not self.is_version_1:
                (self.root / "cgroup.subtree_control").write_text("+cpu")
            for number in range(max(COUNTS)):
                self.make(self.root / f"machine_{number}")
        except OSError:
            self.__exit__()
            raise
        return self

    def make(self, group):
        group.mkdir()
        quota = int(SHARE * PERIOD_US)
        if self.is_version_1:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")

    def __exit__(self, *_):
        for group in [*self.root.glob("machine_*"), self.root]:
            group.rmdir()

    def run(self, program, count):
        words = ["sh", "-c", ENTER, str(self.root), *self.processes.words(program)]
        if count > 1:
            words = [*self.processes.under_launcher(count), *words]
        return Run(run_json(words, variables=self.processes.variables))

    def row(self, program, rounds):
        """A machine waits for its turn of two in ten milliseconds, so times are compared, not shares of cores."""
        seconds = measure({str(count): (lambda count=count: self.run(program, count)) for count in COUNTS}, rounds, program.label())
        speedups = {count: statistics.median(one / many for one, many in zip(seconds["1"], seconds[str(count)])) for count in BARS}
        missed = any(speedups[count] < bar * count for count, bar in BARS.items())
        return {"program": program.label(), "1 machine": statistics.median(seconds["1"]),
                "speedups": {str(count): speedup for count, speedup in speedups.items()},
                "bars": {str(count): bar * count for count, bar in BARS.items()}, "missed": "missed" if missed else ""}


def measure_machines(processes, programs, rounds):
    """The rows, and why there are none."""
    if processes.launcher is None:
        return [], "machines of 20 %: skipped, there is no mpirun.openmpi"
    if shutil.which("sh") is None:
        return [], "machines of 20 %: skipped, there is no sh"
    try:
        with Machines(processes) as machines:
            return [machines.row(program, rounds) for program in programs], ""
    except OSError as error:
        return [], f"machines of 20 %: skipped, this machine refuses control groups ({error})"
