// Concurrent runs, repeated.
#pragma once

#include "exec/programs.h"
#include "sized.h"

namespace hiaton::exec::testing {

/// How often a concurrent test runs: a race shows itself in one run of many. Sanitizers watch each run more
/// closely, and slow it down.
constexpr int kRepeats = sized<int>(1000, 30);

/// Whether a test that wants calls to be stolen goes on after `runs` runs. A run may be over before thieves
/// come, on a fast machine or a busy one: where the first `at_least` had no steals, those after them share
/// every call.
inline bool wants_another_run(int runs, int at_least, uint64_t steals, RunOptions& options) {
  constexpr int kRunsThatShare = 100;
  options.share_every_call = runs >= at_least;
  return runs < at_least || (steals == 0 && runs < at_least + kRunsThatShare);
}

constexpr std::string_view kFib =
    "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)\n"
    "fn main(n: i64) -> i64 = fib(n)\n";

/// What a run that must fail says, and what it counted.
struct Failure {
  RunError error{Fault::None, ""};
  RunStats stats;
};

inline Failure failure_of(const graph::Graph& graph, const std::vector<Value>& arguments, int workers,
                          RunOptions options = {}) {
  Failure failure;
  options.stats = &failure.stats;
  try {
    run(Mode{Executor::Production, workers}, graph, arguments, options);
    ADD_FAILURE() << "the run gave a result";
  } catch (const RunError& error) {
    failure.error = error;
  }
  return failure;
}

}  // namespace hiaton::exec::testing
