#!/usr/bin/env bash
# Builds the wheel of the Python package, installs it into a fresh virtual environment, and runs python/tests there.
# Exit status 77: what this needs from PyPI cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=build/python_package
tools="$work/tools"        # kept: what builds the wheel
fresh="$work/environment"  # made anew
pip=(-m pip --disable-pip-version-check --quiet)
network=(--retries 1 --timeout 30)

skip() {
  echo "skipped: $*"
  exit 77
}

mkdir -p "$work"
if ! "$tools/bin/python" -c "import nanobind, scikit_build_core" 2>/dev/null; then
  python3 -m venv "$tools"
  mapfile -t requirements < <(python3 -c 'import tomllib
for line in tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"]: print(line)')
  "$tools/bin/python" "${pip[@]}" install "${network[@]}" "${requirements[@]}" || skip "PyPI cannot be reached"
fi
rm -rf "$work/wheels" "$fresh"
# The library is compiled as the preset release compiles it, in a folder as deep as that of the preset: so ccache has
# all of it where that build went before.
"$tools/bin/python" "${pip[@]}" wheel . --no-deps --no-build-isolation --check-build-dependencies \
  -Cbuild-dir=build/wheel -Ccmake.define.CMAKE_CXX_COMPILER=c++ -w "$work/wheels"
wheel="$(echo "$work"/wheels/hiaton-*.whl)"
python3 -m venv "$fresh"
"$fresh/bin/python" "${pip[@]}" install "${network[@]}" "$wheel[test]" || skip "PyPI cannot be reached"
"$fresh/bin/python" -m pytest -q -p no:cacheprovider "$@"
