"""What tests of several processes have in common: launchers, the processes of a command, and models to train."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import harness
from harness import ROOT, TIMEOUT_S, CommandLineTest, hiaton

MODEL = "models/treelstm.hia"
LAUNCHERS = {"openmpi": ["mpirun.openmpi"], "mpich": ["mpiexec.mpich", "-launcher", "fork"]}
JOINED_AFTER_S = 1.2
RANKS = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_plm": "isolated", "OMPI_MCA_pml": "ob1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


TRAINING = ["--train-trees=120", "--dev-trees=20", "--batching=deterministic", "--parts=4", "--checkpoint-every=1"]


def placed_model(directory, place="table"):
    """The model with its table of words at a place."""
    text = (ROOT / MODEL).read_text(encoding="utf-8")
    table = "param E: f32[vocab, e]"
    assert table in text
    file = pathlib.Path(directory) / "placed.hia"
    file.write_text(text.replace(table, f'{table} on "{place}"'), encoding="utf-8")
    return str(file)


def parameters_in(directory):
    """Of the best epoch, without the rest of the file: the bytes do not depend on how they were computed."""
    return (pathlib.Path(directory) / "best.safetensors").read_bytes()


def lacks(mpi):
    """Why an MPI cannot be tested; None: it can."""
    plugin = pathlib.Path(harness.HIATON).parent / f"hiaton_{mpi}.so"
    if not plugin.exists():
        return f"hiaton is built without {plugin.name}"
    if shutil.which(LAUNCHERS[mpi][0]) is None:
        return f"there is no {LAUNCHERS[mpi][0]}"
    return None


def launched(mpi, processes, *words, program=None, **options):
    """A command under the launcher of the MPI itself."""
    return subprocess.run([*LAUNCHERS[mpi], "-n", str(processes), program or harness.HIATON, *words], cwd=ROOT, env=ENVIRONMENT, text=True,
                          capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, **options)


def pids_with(text):
    """Of commands whose words hold the text."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and text in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def pid_of_process(text, variable, number):
    for pid in pids_with(text):
        try:
            if f"{variable}={number}" in (pathlib.Path("/proc") / str(pid) / "environ").read_text().split("\0"):
                return pid
        except OSError:
            pass
    return None


def memories_open_in(pid):
    """How many processes there are whose packets this one reads in their memory, itself among them."""
    try:
        return (pathlib.Path("/proc") / str(pid) / "maps").read_text().count("/memfd:hiaton-packets")
    except OSError:
        return 0


class ProcessesTest(CommandLineTest):
    def model(self, *sizes):
        out = str(pathlib.Path(self.directory.name) / "model")
        done = hiaton("train", MODEL, "--train-trees=40", "--dev-trees=10", "--epochs=1", "--out", out, *sizes)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def trained(self, name, *words, model=MODEL):
        """The parameters of a training run, as bytes."""
        out = pathlib.Path(self.directory.name) / name
        new = [] if "--resume" in words else [model, *TRAINING]
        done = hiaton("train", *new, *words, "--out", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("epoch 1/"), 0 if "--resume" in words else 1, done.stderr)
        return parameters_in(out)

    def assert_one_error(self, done, *parts):
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def read_trace(self, file):
        events = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))["traceEvents"]
        names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        slices = {pid: {} for pid in names}
        for event in events:
            self.assertLessEqual(0, event.get("ts", 0))
            if event["ph"] == "X":
                slices[event["pid"]].setdefault(re.sub(r"\(.*", "", event["name"]), []).append(event)
        starts, ends = ({event["id"]: event for event in events if event["ph"] == phase} for phase in "sf")
        arrows = []
        for number in set(starts) & set(ends):
            self.assertLessEqual(starts[number]["ts"], ends[number]["ts"] + 1000)  # clocks are known to a millisecond at least
            arrows.append((starts[number]["pid"], ends[number]["pid"]))
        self.assertEqual(set(ends) - set(starts), set())
        return names, slices, arrows


class LaunchedTest(ProcessesTest):
    """Has each MPI that is there."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.end_what_is_left)

    def preloaded(self, name, text):
        """A library of C whose functions stand before those of the same name: the value of LD_PRELOAD."""
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        library = f"{self.directory.name}/{name}.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=text, text=True, check=True)
        return library

    def end_what_is_left(self):
        """A test that fails leaves no processes."""
        for pid in pids_with(self.directory.name):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # another one has ended it

    def each_mpi(self):
        tested = 0
        for mpi in LAUNCHERS:
            reason = lacks(mpi)
            if reason is None:
                tested += 1
                with self.subTest(mpi):
                    yield mpi
            else:
                print(f"skipped for {mpi}: {reason}")
        if tested == 0:
            self.skipTest("neither Open MPI nor MPICH")

    def wait_for_process(self, word, variable, number, joined=0):
        """The process of this number among those of a command that has the word, once it has joined so many processes. Where
        they may not open each other's memory, which tells that, it has joined after JOINED_AFTER_S."""
        deadline = time.monotonic() + 30
        begun = None
        while time.monotonic() < deadline:
            time.sleep(0.05)
            pid = pid_of_process(word, variable, number)
            if pid is None:
                continue
            begun = begun or time.monotonic()
            if memories_open_in(pid) >= joined or time.monotonic() - begun > JOINED_AFTER_S:
                return pid
        self.fail(f"process {number} has not begun")

    def assert_nothing_is_left(self, word):
        for _ in range(40):
            if not pids_with(word):
                break
            time.sleep(0.1)
        self.assertEqual(pids_with(word), [], "processes are left")

    def each_launcher_of_the_command(self):
        """An MPI and an environment in which `--hosts` finds it and no other one."""
        for mpi in self.each_mpi():
            programs = pathlib.Path(self.directory.name) / f"programs_of_{mpi}"
            programs.mkdir()
            for name in (LAUNCHERS[mpi][0], "orted", "hydra_pmi_proxy"):
                if shutil.which(name) is not None:
                    (programs / name).symlink_to(shutil.which(name))
            yield mpi, {**os.environ, "PATH": str(programs)}
