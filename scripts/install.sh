#!/usr/bin/env bash
# Installs what Hiaton's scripts need and the machine lacks. Works on a bare Debian 12, as root or with sudo.
# Run it alone, or source it and call install_missing: for all scripts, or "install_missing to_build" for scripts/demo.sh alone.

hiaton_packages=(
  g++ cmake ninja-build ccache          # to build
  libfmt-dev libcli11-dev nlohmann-json3-dev
  libdnnl-dev                           # convolutions
  libopenmpi-dev openmpi-bin libmpich-dev mpich  # several machines: both are plug-ins
  libgtest-dev libgmock-dev libbenchmark-dev  # tests and micro benchmarks
  libtbb-dev libopenblas-serial-dev ocaml-nox  # peers in the benchmarks
  graphviz                              # hiaton graph --format=svg
  pkg-config                            # finds the two MPIs
  python3 python3-venv                  # tests from outside, and the runner of the benchmarks
  python3-dev python3-pip               # the Python package
)
hiaton_test_packages=(
  chromium                              # pages of hiaton watch; some 400 MB
  iproute2                              # networks with delays
  qemu-user                             # machines with fewer instructions
  dpkg-dev file doxygen                 # the installed library and the Debian package
  clang-format clang-tidy clang libclang-rt-14-dev  # the last two: fuzzing
  lld                                   # links sanitized programs faster; not needed
)

is_installed() {
  [[ "$(dpkg-query -W -f='${Status}' "$1" 2>/dev/null)" == "install ok installed" ]]
}

as_root() {
  if [[ "$(id -u)" == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "error: installing packages needs root or sudo" >&2
    return 1
  fi
}

# install_missing [to_build]: what all scripts need, or what it takes to build all and to run the demo.
install_missing() {
  local wanted=("${hiaton_packages[@]}")
  [[ "${1-}" == to_build ]] || wanted+=("${hiaton_test_packages[@]}")
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "warning: this is no Debian; install these or their like yourself: ${wanted[*]}" >&2
    return 0
  fi
  local missing=() package
  for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  [[ ${#missing[@]} == 0 ]] && return 0
  echo "== Installing ${missing[*]}"
  as_root apt-get -qq update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends -o Dpkg::Use-Pty=0 \
      "${missing[@]}" >/dev/null
}

if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then
  set -euo pipefail
  install_missing
fi
