#!/usr/bin/env bash
# Fuzzes what reads files that other people made: programs, saved graphs, trees, checkpoints.
#
#   tests/fuzz/run.sh [SECONDS [TARGET...]]     60 seconds each, all of them; two at a time
#
# Needs the preset `asan`. Starts from the seeds in tests/fuzz/corpus and what earlier runs added in build/corpus. A
# finding is left in build/corpus/TARGET.findings, and the exit status is 1.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds="${1:-60}"
targets=("${@:2}")
((${#targets[@]})) || targets=(parse graph trees examples columns checkpoint wire)

fuzz() {
  local target="$1" found="build/corpus/$1" findings="build/corpus/$1.findings" seeds=()
  case "$target" in
    parse) seeds=(examples models benchmarks/programs) ;;
    *) seeds=("tests/fuzz/corpus/$target") ;;
  esac
  mkdir -p "$found" "$findings"
  if build/asan/tests/fuzz_"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=16384 \
    -artifact_prefix="$findings/" -print_final_stats=1 "$found" "${seeds[@]}" >"$findings/log" 2>&1; then
    echo "$target: nothing found, $(sed -n 's/^stat::number_of_executed_units: *//p' "$findings/log") inputs"
  else
    echo "$target: FOUND SOMETHING"
    tail -n 40 "$findings/log"
    return 1
  fi
}

status=0
while ((${#targets[@]})); do
  running=()
  for target in "${targets[@]:0:2}"; do
    fuzz "$target" &
    running+=($!)
  done
  for process in "${running[@]}"; do wait "$process" || status=1; done
  targets=("${targets[@]:2}")
done
exit "$status"
