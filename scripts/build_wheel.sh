# Builds the wheel of the Python package; test_python.sh and wheel.sh source it, in the root of the repository.
# HIATON_PYTHON: the Python to build it for, where that is not python3, as HIATON_PYTHON=python3.13.
# Exit status 77: what this needs from PyPI cannot be had.

python="${HIATON_PYTHON:-python3}"
suffix="${HIATON_PYTHON:+_$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')}"
work="build/python_package$suffix"
tools="$work/tools"        # kept: what builds the wheel
fresh="$work/environment"  # made anew
pip=(-m pip --disable-pip-version-check --quiet)
network=(--retries 1 --timeout 30)

skip() {
  echo "skipped: $*"
  exit 77
}

# Installs packages of PyPI beside what builds the wheel.
add_tools() {
  "$tools/bin/python" "${pip[@]}" install "${network[@]}" "$@" || skip "PyPI cannot be reached"
}

# Sets `wheel` to the path of the new wheel.
build_wheel() {
  mkdir -p "$work"
  if ! "$tools/bin/python" -c "import nanobind, scikit_build_core" 2>/dev/null; then
    "$python" -m venv "$tools"
    mapfile -t requirements < <("$python" -c 'import tomllib
for line in tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"]: print(line)')
    add_tools "${requirements[@]}"
  fi
  rm -rf "$work/wheels"
  # The library is compiled as the preset release compiles it, in a folder as deep as that of the preset: so ccache has
  # all of it where that build went before.
  "$tools/bin/python" "${pip[@]}" wheel . --no-deps --no-build-isolation --check-build-dependencies \
    -Cbuild-dir="build/wheel$suffix" -Ccmake.define.CMAKE_CXX_COMPILER=c++ -w "$work/wheels"
  wheel="$(echo "$work"/wheels/hiaton-*.whl)"
}

# Makes the environment anew, with a wheel and what else is named.
install_fresh() {
  rm -rf "$fresh"
  "$python" -m venv "$fresh"
  "$fresh/bin/python" "${pip[@]}" install "${network[@]}" "$@" || skip "PyPI cannot be reached"
}
