#!/usr/bin/env bash
# Builds Hiaton and runs everything that checks it: format, tests, sanitizers, clang-tidy. Prints what failed, and
# as its last line how many checks passed and failed; the exit status is 0 only where none failed. Tests that
# were skipped, as those that need a package from the network, are named and count as neither.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/install.sh

passed=0
failed=0
failures=()
skipped=()
jobs="$(nproc)"
logs=build/logs

say() { printf '\n== %s\n' "$*"; }

fail() {
  failed=$((failed + 1))
  failures+=("$1")
}

# check NAME COMMAND...: one check; shows the end of the output where it fails.
check() {
  local name="$1" log="$logs/${1//[ \/]/_}.log" began=$SECONDS
  shift
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "passed: $name ($((SECONDS - began)) s)"
  else
    fail "$name"
    echo "FAILED: $name"
    tail -n 60 "$log"
  fi
}

build() {
  cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs"
}

# output_of_failed_tests LOG: the end of what each of the first ten printed, without what passed. LOG is ctest's.
output_of_failed_tests() {
  awk -v longest=60 '
    function show(i) { for (i = lines > longest ? lines - longest : 0; i < lines; i++) print output[i]; lines = 0 }
    /^ *[0-9]+\/[0-9]+ Test +#|^ +Start +[0-9]+: |^[0-9]+% tests passed/ {
      show()
      failed = /\*\*\*/ && !/\*\*\*Skipped/ && ++tests <= 10
      gsub(/\.\.\.\.+/, "...")
      if (failed) print
      next
    }
    failed && !/^\[( RUN  |       OK |-----)/ { output[lines++] = $0 }
    END { show() }' "$1"
}

# tests_within LOG: how many tests the programs of GoogleTest say that they have run. LOG is ctest's.
tests_within() {
  sed -nE 's/^\[==========\] ([0-9]+) tests? from .* ran\..*/\1/p' "$1" | awk '{ sum += $1 } END { print sum + 0 }'
}

# run_tests PRESET [CTEST OPTION...]: every program of tests counts as one check.
run_tests() {
  local preset="$1" log="$logs/tests_$1.log" began=$SECONDS
  shift
  # Some wait, for a browser or for a process that is not to answer: what is compiled meanwhile takes the processor. With
  # more at a time, their threads would take turns with those of others, which costs a quarter of their time.
  ctest --preset "$preset" -j "$jobs" --timeout 600 "$@" >"$log" 2>&1
  local status=$? summary count bad left_out
  summary="$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+' "$log" | tail -n 1)"
  if [[ ! "$summary" =~ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    fail "tests $preset: ctest did not finish (status $status)"
    tail -n 60 "$log"
    return
  fi
  bad="${BASH_REMATCH[1]}" count="${BASH_REMATCH[2]}"
  mapfile -t left_out < <(sed -nE 's/^[[:space:]]+[0-9]+ - (.*) \(Skipped\).*$/\1/p' "$log")
  skipped+=("${left_out[@]/#/$preset: }")
  passed=$((passed + count - bad - ${#left_out[@]}))
  failed=$((failed + bad))
  echo "$preset: $((count - bad - ${#left_out[@]})) of $count programs passed with" \
    "$(tests_within "build/$preset/Testing/Temporary/LastTest.log") tests of GoogleTest," \
    "${#left_out[@]} skipped ($((SECONDS - began)) s)"
  if ((bad > 0)); then
    failures+=("$bad programs of tests of $preset, see $log")
    sed -n '/The following tests FAILED/,$p' "$log"
    output_of_failed_tests "$log"
  fi
}

format_is_clean() {
  find benchmarks examples include python src tests tools -name '*.h' -print0 -o -name '*.cpp' -print0 |
    xargs -0 clang-format --dry-run -Werror
}

# What clang-tidy reads: not the tests, and one of the instruction sets that a kernel is compiled for. The long ones come
# first, so that no processor is idle at the end.
tidy_sources() {
  python3 -B - <<'END'
import json, re
long = re.compile(r"/(hiaton_cli|hiaton_exec|learn_trees|hiaton_train|hiaton_lang)\.dir/")
files = [one["file"] for one in json.load(open("build/tidy/compile_commands.json"))]
files = [file for file in files if not re.search(r"/tests/|_avx2|_portable", file)]
print(*sorted(files, key=lambda file: not long.search(file)), sep="\n")
END
}

# Sources of the engine and above include a header that is made by a program. Only findings are printed, not what
# clang-tidy says about its own progress.
tidy() {
  cmake --preset tidy && cmake --build build/tidy --target hiaton_ops_header -j "$jobs" || return
  tidy_sources | xargs -d '\n' -n 1 -P "$jobs" clang-tidy -p build/tidy -quiet -extra-arg=-Wno-c99-extensions \
    -extra-arg=-Wno-unused-command-line-argument -extra-arg=-Wno-ignored-optimization-argument 2>&1 |
    sed -E '/^[0-9]+ warnings? generated|^$/d'
}

# begin NAME COMMAND...: runs a check in the background, beside what leaves a processor idle at times.
declare -A begun=() began_at=()
begin() {
  local name="$1"
  shift
  and_its_end "$logs/${name//[ \/]/_}" "$@" &
  begun["$name"]=$! began_at["$name"]=$SECONDS
}

# and_its_end LOG COMMAND...: writes down when the command has ended, too.
and_its_end() {
  local log="$1" status=0
  shift
  "$@" >"$log.log" 2>&1 || status=$?
  echo "$SECONDS" >"$log.ended_at"
  return "$status"
}

# begin_when_idle NAME COMMAND...: the same, but it works only where nothing else wants a processor: what is tested
# meanwhile, and has to be in time, does not wait for it.
begin_when_idle() {
  begin "$1" when_idle "${@:2}"
}

when_idle() {
  chrt --idle --pid 0 "$BASHPID" || renice -n 19 "$BASHPID" || true
  "$@"
}

# finish NAME: waits for a check that has begun, and counts it. Exit status 77 says that it was skipped, for the reason
# in its last line.
finish() {
  local name="$1" log="$logs/${1//[ \/]/_}.log" status=0
  wait "${begun["$name"]}" || status=$?
  local took="$(($(<"${log%.log}.ended_at") - began_at["$name"])) s" last
  last="$(tail -n 1 "$log")"
  case "$status" in
    0) passed=$((passed + 1)) && echo "passed: $name ($took)${last:+: $last}" ;;
    77) skipped+=("$name: $(tail -n 1 "$log")") && tail -n 1 "$log" ;;
    *) fail "$name" && echo "FAILED: $name" && tail -n 60 "$log" ;;
  esac
}

# test_built PRESET [CTEST OPTION...]: its tests, where it has been built.
test_built() {
  [[ "${failures[*]-}" == *"build $1"* ]] || run_tests "$@"
}

mkdir -p "$logs"
say "What the machine lacks"
check "install what builds" install_missing to_build
begin "install what tests" install_missing
# What is tested next is compiled while the tests before it run: so no processor is idle while these wait.
say "Tests: release"
check "build release" build release
finish "install what tests"
check "clang-format" format_is_clean
begin_when_idle "build asan" build asan
test_built release
say "Tests: asan"
begin "Python package" scripts/test_python.sh
finish "build asan"
begin_when_idle "build tsan" build tsan
test_built asan
finish "Python package"
say "Tests: tsan"
begin "wheel for other machines" scripts/wheel.sh
finish "build tsan"
begin_when_idle "clang-tidy" tidy
test_built tsan
finish "wheel for other machines"
say "clang-tidy, and fuzzing at the same time, 5 seconds each"
begin "fuzzers" tests/fuzz/run.sh 5
finish "clang-tidy"
finish "fuzzers"

say "Summary ($((SECONDS / 60)) min $((SECONDS % 60)) s)"
for test in "${skipped[@]+"${skipped[@]}"}"; do echo "skipped: $test"; done
for failure in "${failures[@]+"${failures[@]}"}"; do echo "FAILED: $failure"; done
echo "$passed passed, $failed failed"
((failed == 0))
