// The end of a run in the executors that keep everything in one object.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hiaton/run.h"

namespace hiaton::exec {

/// Runs `run`, looks at what is left with `look`, and lets go of everything; the statistics are there also
/// where the run ends with an error.
template <class Run, class Look>
RunResult run_counted(Run& run, const RunOptions& options, Look look) {
  const auto finish = [&] {
    RunStats stats = run.finish();
    if (options.stats != nullptr) *options.stats = stats;
    return stats;
  };
  std::vector<Value> values;
  try {
    values = run.run();
    look();
  } catch (...) {
    finish();
    throw;
  }
  return {std::move(values), finish()};
}

/// Runs by the reference rules what the production executor should have run, and tells the reason.
template <class Run>
RunResult run_with_fallback(const RunOptions& options, const std::string& reason, Run run) {
  const auto tell = [&] {
    if (options.stats != nullptr) options.stats->fallback = reason;
  };
  try {
    RunResult result = run();
    result.stats.fallback = reason;
    tell();
    return result;
  } catch (...) {
    tell();
    throw;
  }
}

}  // namespace hiaton::exec
