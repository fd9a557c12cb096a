// Random programs on data types, with and without tensors: the values or the error of the reference, for any
// number of workers, with stealing at every chance, and nothing is left over in the end.
//
// HIATON_PROGRAMS=1000000 HIATON_SEED=7 test_properties --gtest_filter=*RandomDataPrograms.*
#include "properties/data_programs.h"

#include <gtest/gtest.h>

#include "hiaton/hiaton.h"
#include "properties/environment.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kEnoughForFaults = 1'000;  ///< of so many programs some end with a fault
#if defined(HIATON_SANITIZED) || !defined(NDEBUG)
constexpr uint64_t kDataPrograms = 100;
#else
constexpr uint64_t kDataPrograms = 1'000;
#endif

struct End {
  std::vector<Value> values;
  Fault fault = Fault::None;

  friend bool operator==(const End&, const End&) = default;
};

End end_of(const hiaton::Program& program, const std::vector<Value>& arguments, RunOptions options) {
  RunStats stats;
  options.stats = &stats;
  End end;
  try {
    end.values = program.run(arguments, options).values;
  } catch (const RunError& error) {
    end.fault = error.fault();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  EXPECT_EQ(stats.values_live_at_end, 0u);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  return end;
}

std::vector<RunOptions> ways_to_run(uint64_t seed, bool has_tensors) {
  std::vector<RunOptions> ways{{.workers = 1}};
  for (const int workers : {1, 2, 8}) {
    RunOptions way{.workers = workers, .share_every_call = workers > 1};
    way.parallel_iterations = static_cast<int>(2 + seed % 4);
    way.batching = !has_tensors;
    ways.push_back(way);
  }
  if (has_tensors) {
    ways.push_back({.workers = 2, .batching = false});
    ways.push_back({.executor = Executor::Flow});
    ways.push_back({.workers = 2});
  }
  return ways;
}

class RandomDataPrograms : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Fields, RandomDataPrograms, testing::Bool(),
                         [](const auto& info) { return info.param ? "WithTensors" : "WithoutTensors"; });

TEST_P(RandomDataPrograms, RunLikeTheReference) {
  const bool has_tensors = GetParam();
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kDataPrograms);
  uint64_t faults = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = random_data_program(seed, has_tensors);
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1\n" + text);
    CompileOptions how;
    if (seed % 8 == 0) how.simplify = passes::SimplifyOptions::none();
    const hiaton::Program program = hiaton::Program::from_text("random.hia", text, how);
    for (const int64_t turns : {1, 7}) {
      const std::vector<Value> arguments{Value(turns), Value(static_cast<int64_t>(seed))};
      const End expected = end_of(program, arguments, {.executor = Executor::Reference});
      faults += expected.fault == Fault::None ? 0 : 1;
      for (const RunOptions& way : ways_to_run(seed, has_tensors)) {
        ASSERT_EQ(end_of(program, arguments, way), expected) << way.workers << " workers";
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  if (count >= kEnoughForFaults) {
    EXPECT_GT(faults, 0u);
  }
}

}  // namespace
}  // namespace hiaton::properties
