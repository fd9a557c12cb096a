// Open runs of random programs give what runs give that have all arguments at once, in every executor.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hiaton/engine.h"
#include "hiaton/passes.h"
#include "properties/generate.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties::open_runs {
namespace {

constexpr uint64_t kPrograms = sized_programs(2'000, 200);

struct Found {
  Fault fault = Fault::None;
  std::vector<Value> values;  ///< that have come before the fault
};

std::vector<std::pair<std::string, RunOptions>> ways_to_open() {
  RunOptions reference, flow, unbatched, two, shared;
  reference.executor = Executor::Reference;
  flow.executor = Executor::Flow;
  unbatched.batching = false;
  two.workers = 2;
  shared.executor = Executor::Flow;
  shared.workers = 3;
  shared.share_every_call = true;
  return {{"reference", reference}, {"production", {}},   {"flow", flow},
          {"unbatched", unbatched}, {"two workers", two}, {"every call shared", shared}};
}

Found run_at_once(const hiaton::Program& program, const std::vector<Value>& arguments) {
  try {
    return {Fault::None, program.run(arguments, {.executor = Executor::Reference}).values};
  } catch (const RunError& error) {
    return {error.fault(), {}};
  }
}

/// Phase by phase, each after the results of the one before.
Found run_open(const hiaton::Program& program, const std::vector<Value>& arguments, RunOptions options) {
  RunStats stats;
  options.stats = &stats;
  Found found;
  try {
    OpenRun run = program.open({}, options);
    std::size_t argument = 0;
    for (const Phase& phase : run.phases()) {
      const bool is_to_wait = phase.results > 0 && phase.params > 0;
      if (is_to_wait) {
        EXPECT_THROW(run.wait(found.values.size()), ProgramError);
      }
      for (const std::size_t end = argument + phase.params; argument < end; ++argument)
        run.feed(argument, arguments[argument]);
      for (const std::size_t end = found.values.size() + phase.results; found.values.size() < end;)
        found.values.push_back(run.wait(found.values.size()));
    }
    run.finish();
  } catch (const RunError& error) {
    found.fault = error.fault();
  }
  EXPECT_EQ(stats.fallback, "");
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  return found;
}

/// An open run may give results before the fault of a later phase.
void expect_alike(const Found& found, const Found& expected, std::size_t results) {
  ASSERT_EQ(found.fault, expected.fault);
  if (expected.fault != Fault::None) return;
  ASSERT_EQ(found.values.size(), results);
  ASSERT_TRUE(std::ranges::equal(found.values, expected.values, same));
}

/// How many programs ran, of how many in several phases.
struct Count {
  uint64_t all = 0;
  uint64_t in_phases = 0;
};

void compare(const ir::Module& module, const std::vector<Value>& arguments, uint64_t seed, Count& count) {
  const auto program = hiaton::Program::from_graph(passes::lower(module));
  const Found expected = run_at_once(program, arguments);
  ++count.all;
  if (program.open().phases().size() > 1) ++count.in_phases;
  std::size_t number = 0;
  for (const auto& [name, options] : ways_to_open()) {
    const bool starts_threads = options.workers > 1;
    if (starts_threads && (seed + number++) % 8 != 0) continue;
    SCOPED_TRACE(fmt::format("seed {}, {}", seed, name));
    ASSERT_NO_FATAL_FAILURE(
        expect_alike(run_open(program, arguments, options), expected, program.results().size()));
  }
}

TEST(RandomOpenRuns, GiveWhatRunsGive) {
  const uint64_t tries = from_environment("HIATON_PROGRAMS", kPrograms);
  const uint64_t first = from_environment("HIATON_SEED", 0);
  Count count;
  for (uint64_t seed = first; seed < first + tries; ++seed) {
    const Program program = generate(seed);
    if (program.danger == Danger::Any) continue;
    ASSERT_NO_FATAL_FAILURE(compare(program.module, program.arguments, seed, count));
  }
  EXPECT_GT(count.in_phases, count.all / 20);
}

/// The gradients of the results come when the rest of the run is over, and nothing is computed twice.
TEST(RandomOpenRuns, TakeTheGradientsOfTheirResultsLater) {
  const uint64_t tries = from_environment("HIATON_PROGRAMS", kPrograms);
  Count count;
  for (uint64_t seed = from_environment("HIATON_SEED", 0); count.all < tries; ++seed) {
    const Program program = generate(seed);
    if (program.danger == Danger::Any) continue;
    const std::optional<ir::Module> module =
        with_gradient(program.module, ir::GradientForm::Kind::ValueAndVjp);
    if (!module) continue;
    std::vector<Value> arguments = program.arguments;
    Random random(seed);
    const ir::Function& main = (*module)[*module->find("main")];
    while (arguments.size() < main.params.size()) {
      const double weight = random.between(-8, 8) / 4.0;
      const bool is_double = main.params[arguments.size()].type.dtype == DType::F64;
      arguments.push_back(is_double ? Value(weight) : Value(static_cast<float>(weight)));
    }
    ASSERT_NO_FATAL_FAILURE(compare(*module, arguments, seed, count));
  }
  EXPECT_GT(count.in_phases, count.all / 2);
}

}  // namespace
}  // namespace hiaton::properties::open_runs
