#!/usr/bin/env bash
# Builds Hiaton and shows it: a program with its graph, a run on one and two workers, a recursive model that learns
# from trees, and the speeds in short.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/install.sh

say() { printf '\n== %s\n' "$*"; }
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

# quietly COMMAND...: shows its output only where it fails.
quietly() {
  local output
  output="$("$@" 2>&1)" || { echo "$output" >&2; return 1; }
}

install_missing to_build
say "Building (build/release)"
quietly cmake --preset release
quietly cmake --build --preset release --target hiaton benchmark_programs
export PATH="$PWD/build/release/tools:$PATH"

say "A recursive program, its result, and the one static graph it runs as"
show cat examples/fact.hia
show hiaton run examples/fact.hia --n=3
show hiaton graph examples/fact.hia
show hiaton graph examples/fact.hia --format=svg --out build/fact.svg
echo "(a drawing of the same graph: build/fact.svg)"

say "Recursion on one worker and on two"
show hiaton run examples/fib.hia --n=30 --stats --workers=1
show hiaton run examples/fib.hia --n=30 --stats --workers=2

say "A recursive model, written for one tree, trained on 20,000 in batches (models/treelstm.hia)"
rm -rf build/listops
show hiaton train models/treelstm.hia --epochs=14 --lr=0.002 --schedule=linear --workers=2 --out build/listops
show hiaton predict build/listops --generate 2
echo "(the learning curve: build/listops/curve.svg)"

say "Speeds, in short (benchmarks/run prints the whole table)"
benchmarks/run --short --build build/release
