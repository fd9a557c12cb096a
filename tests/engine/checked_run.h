// Runs of direct code that leave nothing behind.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "hiaton/hiaton.h"
#include "sized.h"

namespace hiaton {

/// The run, and that no value of it is left over.
inline RunResult run(const Program& program, const std::vector<Value>& arguments, RunOptions options = {}) {
  RunStats stats;
  options.stats = &stats;
  options.checks_counts = true;
  RunResult result = program.run(arguments, options);
  EXPECT_EQ(stats.values_live_at_end, 0u);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  EXPECT_EQ(stats.fallback, "");
  result.stats = stats;
  return result;
}

/// One worker, several that take calls when they have nothing to do, and several that take all they can get.
inline std::vector<RunOptions> worker_ways() {
  std::vector<RunOptions> ways;
  if (has_to_run(1)) ways.push_back({.workers = 1});
  for (const int workers : {2, 8}) {
    ways.push_back({.workers = workers});
    ways.push_back({.workers = workers, .share_every_call = true});
  }
  return ways;
}

/// How the run ends, that nothing of it is left over, and that its counts are right where it ends by an
/// error.
inline Fault fault_of(const Program& program, const std::vector<Value>& arguments, RunOptions options) {
  RunStats stats;
  options.stats = &stats;
  options.checks_counts = true;
  Fault fault = Fault::None;
  try {
    program.run(arguments, options);
  } catch (const RunError& error) {
    fault = error.fault();
  }
  EXPECT_EQ(stats.values_live_at_end, 0u);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  return fault;
}

}  // namespace hiaton
