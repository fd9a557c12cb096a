"""Machines of 20 % of a core each: processes in control groups of their own, as many as eight on two cores, so that the curve from
one to eight can be measured in real time. Each stays on one core, as on a machine that has one: else it waits where it has used up
its share on one core and moves to the other."""

import os
import pathlib
import shutil
import statistics
import subprocess

from contenders import ROOT, TIMEOUT_S, Run, measure, run_json
from learning import Timed
from printing import missed, ratio, show_ratio, show_time

SHARE = 0.2
PERIOD_US = 10_000
COUNTS = (1, 4, 8)
BARS = {4: 0.95, 8: 0.90}  # of linear
PEER_BAR = 0.05            # less than the speed-up of the peer, at most
BATCH = 25                 # trees a process

CORES = [str(core) for core in sorted(os.sched_getaffinity(0))]

# Enters the control group of its number in the launch, without a launcher the one named, and becomes the command on one of the cores.
ENTER = ('number=${OMPI_COMM_WORLD_RANK:-$1} && cores=$2 && shift 2 && echo $$ > "$0/machine_$number/cgroup.procs" && '
         'exec taskset -c "$(echo "$cores" | cut -d, -f$((number % ' + str(len(CORES)) + ' + 1)))" "$@"')


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

    def on(self, number, words):
        """The command on the machine of this number alone."""
        return ["sh", "-c", ENTER, str(self.root), str(number), ",".join(CORES), *map(str, words)]

    def on_several(self, count, words):
        """The command as a process on each of so many machines."""
        return self.on(0, words) if count == 1 else [*self.processes.under_launcher(count), *self.on(0, words)]

    def run(self, words, count):
        return Run(run_json(self.on_several(count, words), variables=self.processes.variables))

    def train(self, learning, trees, count):
        words = learning.train_words("machines", trees, BATCH * count)
        subprocess.run(self.on_several(count, words), cwd=ROOT, env=self.processes.variables, check=True, capture_output=True,
                       timeout=TIMEOUT_S)
        return Timed(learning.trained_seconds("machines"))

    def train_side_by_side(self, learning, trees):
        """The slowest of as many trainings of one process as there are machines."""
        names = [f"machine_{number}" for number in range(max(COUNTS))]
        commands = [self.on(number, learning.train_words(name, trees, BATCH)) for number, name in enumerate(names)]
        return learning.side_by_side(commands, lambda _: max(map(learning.trained_seconds, names)))


def program_row(machines, program, rounds):
    """A machine waits for its turn of two in ten milliseconds, so times are compared, not shares of cores."""
    words = machines.processes.words(program)
    seconds = measure({str(count): (lambda count=count: machines.run(words, count)) for count in COUNTS}, rounds, program.label())
    return {"program": program.label(), **speedups_of(seconds)}


def train_row(machines, learning, trees, rounds):
    """The same trees for all, in batches that grow with the number of machines."""
    label = f"train, TreeLSTM {learning.sizes.width}, {BATCH} trees a process"
    columns = {str(count): (lambda count=count: machines.train(learning, trees, count)) for count in COUNTS}
    columns["side by side"] = lambda: machines.train_side_by_side(learning, trees)
    seconds = measure(columns, rounds, label)
    return {"program": label, **speedups_of(seconds),
            "side by side": max(COUNTS) * ratio(seconds["1"], seconds["side by side"])}


def peer_row(machines, program, peer, rounds):
    """A program and the command of a peer of it, which prints the same."""
    most = max(COUNTS)
    ours = machines.processes.words(program)
    columns = {"ours, 1": (ours, 1), "peer, 1": (peer, 1), "ours, all": (ours, most), "peer, all": (peer, most)}
    seconds = measure({name: (lambda words=words, count=count: machines.run(words, count)) for name, (words, count) in columns.items()},
                      rounds, program.label())
    speedup, of_peer = ratio(seconds["ours, 1"], seconds["ours, all"]), ratio(seconds["peer, 1"], seconds["peer, all"])
    return {"program": program.label(), "1 machine": statistics.median(seconds["ours, 1"]),
            "1 machine, peer": statistics.median(seconds["peer, 1"]), "speedup": speedup, "speedup of the peer": of_peer,
            "bar": of_peer - PEER_BAR, "missed": missed(speedup >= of_peer - PEER_BAR)}


def speedups_of(seconds):
    speedups = {count: ratio(seconds["1"], seconds[str(count)]) for count in BARS}
    return {"1 machine": statistics.median(seconds["1"]), "speedups": {str(count): speedup for count, speedup in speedups.items()},
            "bars": {str(count): bar * count for count, bar in BARS.items()},
            "missed": missed(all(speedups[count] >= bar * count for count, bar in BARS.items()))}


def measure_machines(processes, measure_rows):
    """The rows that this measures with the machines, and why there are none."""
    if processes.launcher is None:
        return [], "machines of 20 %: skipped, there is no mpirun.openmpi"
    for tool in ("sh", "taskset"):
        if shutil.which(tool) is None:
            return [], f"machines of 20 %: skipped, there is no {tool}"
    try:
        with Machines(processes) as machines:
            return measure_rows(machines), ""
    except OSError as error:
        return [], f"machines of 20 %: skipped, this machine refuses control groups ({error})"


def table(name, rows):
    """The headers and the rows of a part of the report."""
    if name == "peer on machines":
        return (["machines of 20 %, beside C++ with MPI", "1 machine", "of the peer", "8 machines", "of the peer", "bar", ""],
                [[row["program"], show_time(row["1 machine"]), show_time(row["1 machine, peer"]), show_ratio(row["speedup"]),
                  show_ratio(row["speedup of the peer"]), show_ratio(row["bar"]), row["missed"]] for row in rows])
    trains = name == "training on machines"
    return (["machines of 20 %", "1 machine", "4 machines", "bar", "8 machines", "bar", *(["8 side by side"] if trains else []), ""],
            [[row["program"], show_time(row["1 machine"]), show_ratio(row["speedups"]["4"]), show_ratio(row["bars"]["4"]),
              show_ratio(row["speedups"]["8"]), show_ratio(row["bars"]["8"]),
              *([show_ratio(row["side by side"])] if trains else []), row["missed"]] for row in rows])
