#!/usr/bin/env bash
# Builds the wheel of the Python package, installs it into a fresh virtual environment, and runs python/tests there.
# Exit status 77: what this needs from PyPI cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/build_wheel.sh

build_wheel
install_fresh "$wheel[test]"
"$fresh/bin/python" -m pytest -q -p no:cacheprovider "$@"
