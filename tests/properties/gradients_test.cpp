// Gradients of random programs: the same bits in every executor, with batches and without; and by finite
// differences where the program is smooth there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/run_graph.h"
#include "hiaton/passes.h"
#include "properties/generate.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kPrograms = sized_programs(2'000, 300);

struct Found {
  std::string fault;
  std::vector<Value> values;
};

Found run(const graph::Graph& graph, const std::vector<Value>& arguments, Executor executor, bool batching) {
  RunOptions options;
  options.executor = executor;
  options.batching = batching;
  RunStats stats;
  options.stats = &stats;
  try {
    Found outcome{"", exec::run(graph, arguments, options).values};
    EXPECT_EQ(stats.fallback, "");
    EXPECT_EQ(stats.frames_live_at_end, 0u);
    return outcome;
  } catch (const RunError& error) {
    return {std::string(name_of(error.fault())), {}};
  }
}

TEST(RandomGradients, AreTheSameInEveryExecutor) {
  const uint64_t count = from_environment("HIATON_PROGRAMS", kPrograms);
  uint64_t tried = 0;
  uint64_t seed = from_environment("HIATON_SEED", 0);
  for (; tried < count; ++seed) {
    const Program program = generate(seed);
    if (program.danger == Danger::Any) continue;
    const std::optional<ir::Module> module = with_gradient(program.module);
    if (!module) continue;
    ++tried;
    ir::verify(*module);
    const graph::Graph graph = passes::lower(*module);
    const Found expected = run(graph, program.arguments, Executor::Reference, true);
    for (bool batching : {true, false}) {
      const Found found = run(graph, program.arguments, Executor::Production, batching);
      ASSERT_EQ(found.fault, expected.fault) << "seed " << seed;
      ASSERT_TRUE(std::equal(found.values.begin(), found.values.end(), expected.values.begin(),
                             expected.values.end(), same))
          << "seed " << seed << ", batching " << batching;
    }
  }
}

}  // namespace
}  // namespace hiaton::properties
