// Random programs on demand: the production executor ends as the reference rules say, and as data-driven
// evaluation does where that gives values. Nothing is left over in the end.
//
// HIATON_PROGRAMS=1000000 HIATON_SEED=7 test_properties --gtest_filter=RandomProgramsOnDemand.*
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "hiaton/hiaton.h"
#include "properties/generate.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kProgramsOnDemand = sized_programs(500, 60);

/// The values, or nothing where the run fails.
using Values = std::optional<std::vector<Value>>;

Values values_of(const hiaton::Program& program, const std::vector<Value>& arguments, Executor executor,
                 Evaluation evaluation) {
  RunStats stats;
  Values values;
  try {
    values = program
                 .run(arguments, {.executor = executor,
                                  .evaluation = evaluation,
                                  .max_frames = 1'000'000,
                                  .stats = &stats,
                                  .checks_counts = true})
                 .values;
  } catch (const RunError&) {
  }
  EXPECT_EQ(stats.values_live_at_end, 0u);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  EXPECT_EQ(stats.fallback, "");
  return values;
}

bool are_same(const Values& a, const Values& b) {
  if (!a || !b) return !a && !b;
  return std::equal(a->begin(), a->end(), b->begin(), b->end(), same);
}

void expect_same_on_demand(const hiaton::Program& program, const std::vector<Value>& arguments) {
  const Values data = values_of(program, arguments, Executor::Reference, Evaluation::DataDriven);
  const Values rules = values_of(program, arguments, Executor::Reference, Evaluation::DemandDriven);
  const Values production = values_of(program, arguments, Executor::Production, Evaluation::DemandDriven);
  EXPECT_TRUE(are_same(rules, production)) << rules.has_value() << " " << production.has_value();
  EXPECT_TRUE(!data || are_same(data, rules));
}

CompileOptions options_of(uint64_t seed) {
  CompileOptions options;
  const OverflowMode overflow = seed % 3 == 0 ? OverflowMode::Trap : OverflowMode::Wrap;
  options.simplify.overflow = overflow;
  if (seed % 2 == 0) options.simplify = passes::SimplifyOptions::none(overflow);
  return options;
}

template <class Try>
void for_each_seed(Try attempt) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kProgramsOnDemand);
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) attempt(seed);
}

TEST(RandomProgramsOnDemand, OfScalars) {
  for_each_seed([](uint64_t seed) {
    const Program random = generate(seed);
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1\n" + ir::print(random.module));
    expect_same_on_demand(hiaton::Program::from_module(random.module, options_of(seed)), random.arguments);
  });
}

TEST(RandomProgramsOnDemand, OfData) {
  for_each_seed([](uint64_t seed) {
    const FieldsOf fields = seed % 4 < 3 ? FieldsOf::Numbers : FieldsOf::Strings;
    const std::string text = random_data_program(seed, fields);
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1\n" + text);
    const hiaton::Program program = hiaton::Program::from_text("random.hia", text, options_of(seed));
    for (const int64_t turns : {1, 7})
      expect_same_on_demand(program, {Value(turns), Value(static_cast<int64_t>(seed))});
  });
}

}  // namespace
}  // namespace hiaton::properties
