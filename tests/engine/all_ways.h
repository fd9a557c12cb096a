// Programs whose results are known, in every executor.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hiaton/hiaton.h"
#include "sized.h"

namespace hiaton {

/// Every executor, and every number of workers that this build sees something in.
inline std::vector<RunOptions> all_ways() {
  std::vector<RunOptions> ways{{.executor = Executor::Reference}, {.executor = Executor::Expanding}};
  for (const int workers : {1, 2}) {
    for (const bool batching : {true, false}) ways.push_back({.workers = workers, .batching = batching});
    ways.push_back({.executor = Executor::Flow, .workers = workers});
  }
  for (const int workers : {2, 3}) {
    ways.push_back({.workers = workers, .batching = workers == 2, .share_every_call = true});
  }
  std::erase_if(ways, [](const RunOptions& way) { return !has_to_run(way.workers); });
  return ways;
}

/// The way whose results all others must have. The reference executor is one thread, and slowest of all with
/// the thread sanitizer: there it is one worker.
inline RunOptions expected_way() {
  return {.executor = has_to_run(1) ? Executor::Reference : Executor::Production};
}

/// Where a program ends with results, these are the same when they are computed on demand.
inline std::vector<RunOptions> all_ways_to_results() {
  std::vector<RunOptions> ways = all_ways();
  if (!has_to_run(1)) return ways;
  for (const Executor executor : {Executor::Reference, Executor::Production})
    ways.push_back({.executor = executor, .evaluation = Evaluation::DemandDriven});
  return ways;
}

/// Runs the program with and without simplifications; learned parameters have their first values.
inline void expect_in_all_ways(const std::string& text, const std::vector<Value>& arguments,
                               const std::vector<Value>& expected) {
  for (const bool simplify : {true, false}) {
    CompileOptions options;
    if (!simplify) options.simplify = passes::SimplifyOptions::none();
    const Program program = Program::from_text("test.hia", text, options);
    const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
    for (RunOptions way : all_ways_to_results()) {
      way.parameters = learned;
      EXPECT_EQ(program.run(arguments, way).values, expected) << text;
    }
  }
}

}  // namespace hiaton
