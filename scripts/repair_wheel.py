#!/usr/bin/env python3
"""Makes of the wheel of the Python package one that holds the libraries that it needs: repair_wheel.py WHEEL FOLDER.

auditwheel puts into a wheel what its modules name. oneDNN is loaded by its name when a convolution runs, so the module names it only
while auditwheel looks, and the library keeps its name beside the module. MPI stays outside: it belongs to the launcher.
"""

import ctypes
import ctypes.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(sys.executable).parent
NOT_BUNDLED = ["libmpi.so.*", "libmpich.so.*"]


def python(*words):
    environment = os.environ | {"PATH": f"{TOOLS}:{os.environ['PATH']}"}
    subprocess.run([sys.executable, "-m", *map(str, words)], check=True, env=environment)


def patchelf(*words):
    return subprocess.run([TOOLS / "patchelf", *words], check=True, capture_output=True, text=True).stdout


def unpacked(wheel, folder):
    python("wheel", "unpack", wheel, "--dest", folder)
    return next(folder.iterdir())


def packed(files, folder):
    folder.mkdir(parents=True, exist_ok=True)
    python("wheel", "pack", files, "--dest-dir", folder)
    return next(folder.glob("*.whl"))


def onednn():
    """(its name, its file)"""
    name = ctypes.util.find_library("dnnl")
    if name is None:
        sys.exit("error: expected the library of oneDNN, found none; scripts/install.sh installs it")
    ctypes.CDLL(name)
    maps = pathlib.Path("/proc/self/maps").read_text().splitlines()
    return name, os.path.realpath(next(line.split()[-1] for line in maps if "/libdnnl.so" in line))


def add_onednn(wheel, work, name, library):
    files = unpacked(wheel, work / "before")
    module, = files.glob("hiaton/_core.*.so")
    patchelf("--add-needed", name, module)
    shutil.copy(library, files / "hiaton" / name)
    return packed(files, work / "with_onednn")


def connect_onednn(wheel, work, name, to):
    """oneDNN finds its own libraries by the names that auditwheel gave them, and the module names it no more."""
    files = unpacked(wheel, work / "after")
    module, = files.glob("hiaton/_core.*.so")
    patchelf("--remove-needed", name, module)
    library = files / "hiaton" / name
    for needed in patchelf("--print-needed", library).split():
        for bundled in files.glob(f"hiaton.libs/{needed.split('.')[0]}-*"):
            patchelf("--replace-needed", needed, bundled.name, library)
    patchelf("--set-rpath", "$ORIGIN/../hiaton.libs", library)
    return packed(files, to)


def main(wheel, to):
    name, library = onednn()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        wheel = add_onednn(wheel, work, name, library)
        excluded = [word for pattern in NOT_BUNDLED for word in ("--exclude", pattern)]
        python("auditwheel", "repair", *excluded, "--wheel-dir", work / "repaired", wheel)
        connect_onednn(next((work / "repaired").glob("*.whl")), work, name, to)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
