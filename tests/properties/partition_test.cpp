// Random programs, placed at random on 1 to 4 processes: split, they give the results or the fault of the
// reference executor on the program as it is, in whatever order processes work and messages arrive; and
// nothing is left over in any process. So do the parts that the reference executor runs, and what the
// processes of the production executor send each other: calls, phase by phase where there are gradients.
//
// HIATON_PROGRAMS=1000000 HIATON_SEED=7 test_properties --gtest_filter=RandomPlacements.*
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>

#include "exec/partitioned.h"
#include "exec/plan_cache.h"
#include "exec/reference.h"
#include "exec/run_graph.h"
#include "hiaton/lang.h"
#include "hiaton/passes.h"
#include "net/disordered.h"
#include "properties/differentiable.h"
#include "properties/generate.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kScalarPrograms = sized_programs(2800, 60);
constexpr uint64_t kGradientPrograms = sized_programs(2000, 60);
constexpr uint64_t kTensorGradientPrograms = sized_programs(60, 6);
constexpr uint64_t kOtherPrograms = sized_programs(100, 6);  ///< how many of each kind; these take longer
/// One of so many programs runs with each number of processes, scalar ones in both overflow modes.
constexpr uint64_t kThorough = 3;
/// One of so many programs runs by the production executor of each number of processes, the others of one.
constexpr uint64_t kAllCounts = 5;
constexpr int kMostProcesses = 4;
constexpr net::Delivery kOrders[] = {net::Delivery::InOrder, net::Delivery::LastFirst, net::Delivery::Random,
                                     net::Delivery::StarvedOne, net::Delivery::Bursts};

/// The place of functions that have copies.
constexpr const char* kCopied = "copied";

/// A third of functions, expressions, calls and learned parameters go somewhere, some functions to several
/// processes.
ir::Module placed_at_random(ir::Module module, Random& random) {
  const auto place = [&]() -> std::string {
    if (!random.percent(33)) return "";
    return random.percent(20) ? "somewhere" : fmt::format("process:{}", random.below(kMostProcesses));
  };
  for (ir::Parameter& parameter : module.parameters) parameter.placement = place();
  for (ir::Function& function : module.functions) {
    function.placement = random.percent(10) ? kCopied : place();
    for (ir::Node& node : function.nodes) {
      // A call is on one process, with all its phases.
      node.placement = node.kind == ir::NodeKind::Resume ? std::string(function[node.of].placement) : place();
    }
  }
  return module;
}

/// Copies are on two or three processes.
partition::Places places_at_random(const graph::Graph& graph, int processes, Random& random) {
  partition::Places places{.processes = processes};
  const bool has_copies = std::ranges::any_of(
      graph.functions(), [](const graph::Function& function) { return function.placement == kCopied; });
  if (!has_copies) return places;
  std::vector<int>& copies = places.named[kCopied];
  const auto first = static_cast<int>(random.below(static_cast<uint64_t>(processes)));
  for (int i = 0; i < std::min(processes, random.percent(50) ? 2 : 3); ++i)
    copies.push_back((first + i) % processes);
  return places;
}

struct Ending {
  std::vector<Value> values;
  std::string fault;
  std::string defect;
  uint64_t messages = 0;  ///< between processes
};

template <class Run>
Ending ending_of(RunOptions& options, Run run) {
  RunStats stats;
  options.stats = &stats;
  options.checks_counts = true;
  Ending ending;
  try {
    ending.values = run(ending);
  } catch (const RunError& error) {
    ending.fault = name_of(error.fault());
  } catch (const std::exception& error) {
    ending.defect = error.what();
  }
  if (stats.frames_live_at_end != 0) ending.defect += "frames are left over";
  ending.messages = stats.remote_tokens + 2 * stats.remote_calls;  // a call is answered
  return ending;
}

Ending run_whole(const graph::Graph& graph, const std::vector<Value>& arguments, RunOptions options) {
  return ending_of(options, [&](Ending& ending) {
    std::vector<exec::WaitingNode> leftovers;
    std::vector<Value> values = exec::run_reference(graph, arguments, options, &leftovers).values;
    if (!leftovers.empty()) ending.defect = "nodes still wait";
    return values;
  });
}

Ending run_split(const graph::Graph& graph, const partition::Partition& parts,
                 const std::vector<Value>& arguments, const RunOptions& run,
                 const exec::PartitionedOrder& order) {
  exec::PartitionedRunOptions options{.run = run, .order = order};
  return ending_of(options.run, [&](Ending& ending) {
    std::vector<exec::PartLeftover> leftovers;
    std::vector<Value> values = exec::run_partitioned(graph, parts, arguments, options, &leftovers).values;
    for (const exec::PartLeftover& left : leftovers)
      ending.defect += fmt::format("%{} of process {} still waits; ", left.node.node.index(), left.process);
    return values;
  });
}

/// By the production executor of so many processes.
Ending run_sent(const graph::Graph& graph, const std::vector<Value>& arguments, const RunOptions& run,
                int processes, net::Delivery delivery, uint32_t seed) {
  Ending first;
  const auto links = net::disordered_links(processes, delivery, seed);
  net::act_in_processes(links, [&](net::Transport& transport) {
    RunOptions options = run;
    options.processes = &transport;
    exec::PlanCache plans;
    Ending own = ending_of(options, [&](Ending& ending) {
      std::vector<Value> values = exec::run(graph, arguments, options, plans).values;
      if (options.stats->values_live_at_end != 0) ending.defect = "values are left over";
      return values;
    });
    if (!own.defect.empty()) throw ProgramError(own.defect);  // which ends the others
    if (transport.self() == 0) first = std::move(own);
  });
  return first;
}

std::string wrong(const Ending& expected, const Ending& found, bool one_kind_of_fault) {
  if (!found.defect.empty()) return found.defect;
  const bool faults_agree =
      one_kind_of_fault ? expected.fault == found.fault : expected.fault.empty() == found.fault.empty();
  if (!faults_agree) return fmt::format("expected '{}', found '{}'", expected.fault, found.fault);
  const bool are_same = std::equal(expected.values.begin(), expected.values.end(), found.values.begin(),
                                   found.values.end(), same);
  if (are_same) return "";
  const auto shown = [](const std::vector<Value>& values) {
    std::string text;
    for (const Value& value : values) text += " " + (value.is_data() ? "a data value" : to_string(value));
    return text;
  };
  return fmt::format("expected the values{}, found{}", shown(expected.values), shown(found.values));
}

/// What is done to a module before it is lowered.
using PreparePlaced = std::function<ir::Module(const ir::Module&)>;

/// The passes take placed modules as others.
PreparePlaced some_pass(uint64_t seed, OverflowMode overflow) {
  if (seed % 3 == 0) return [](const ir::Module& module) { return passes::loops_to_calls(module); };
  if (seed % 3 == 1) return [](const ir::Module& module) { return module; };
  return [overflow](const ir::Module& module) { return passes::simplify(module, {.overflow = overflow}); };
}

bool is_thorough(uint64_t seed) {
  return seed / 3 % kThorough == 0;
}

/// What programs without faults have sent in both forms, all together.
struct SentMessages {
  uint64_t literal = 0;
  uint64_t production = 0;
};

/// Runs the module as it is, and placed at random in several ways and orders, on each number of processes or
/// on one. Counts messages where `sent` is given.
void check_placements(const ir::Module& module, const PreparePlaced& prepare,
                      const std::vector<Value>& arguments, uint64_t seed, bool one_kind_of_fault,
                      OverflowMode overflow = OverflowMode::Wrap, std::span<const Value> parameters = {},
                      bool on_all_counts = true, SentMessages* sent = nullptr) {
  SCOPED_TRACE(fmt::format("HIATON_SEED={} HIATON_PROGRAMS=1", seed));
  Random random(seed);
  RunOptions options;
  options.parameters = parameters;
  options.overflow = overflow;
  const Ending expected = run_whole(passes::lower(prepare(module)), arguments, options);
  ASSERT_EQ(expected.defect, "");
  const graph::Graph graph = passes::lower(prepare(placed_at_random(module, random)));
  const int chosen = 2 + static_cast<int>(seed % 3);
  for (int processes = 1; processes <= kMostProcesses; ++processes) {
    if (!on_all_counts && processes != chosen) continue;
    std::string what;
    try {
      const partition::Places places = places_at_random(graph, processes, random);
      options.places = places.named;
      const partition::Partition parts = partition::split(graph, places);
      const exec::PartitionedOrder order{kOrders[(seed + static_cast<uint64_t>(processes)) % 5],
                                         1 + random.next() % 1'000'000};
      const Ending split = run_split(graph, parts, arguments, options, order);
      what = wrong(expected, split, one_kind_of_fault);
      if (processes == 1) {
        EXPECT_TRUE(parts.channels.empty());
      } else if (what.empty() && (seed % kAllCounts == 0 || processes == chosen)) {
        const Ending found =
            run_sent(graph, arguments, options, processes, order.delivery, seed & UINT32_MAX);
        what = wrong(expected, found, one_kind_of_fault);
        if (!what.empty()) what = "by the production executor: " + what;
        if (sent != nullptr && expected.fault.empty()) {
          sent->literal += split.messages;
          sent->production += found.messages;
        }
      }
    } catch (const std::exception& error) {
      what = error.what();
    }
    ASSERT_EQ(what, "") << graph::to_text(graph) << processes << " processes";
  }
}

TEST(RandomPlacements, OfScalarProgramsChangeNothing) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kScalarPrograms);
  SentMessages sent;
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const Program program = generate(seed);
    const bool one_kind = program.danger != Danger::Any;
    if (is_thorough(seed) || seed % 2 == 0)
      check_placements(program.module, some_pass(seed, OverflowMode::Wrap), program.arguments, seed, one_kind,
                       OverflowMode::Wrap, {}, is_thorough(seed));
    if (is_thorough(seed) || seed % 2 == 1)
      check_placements(program.module, some_pass(seed, OverflowMode::Trap), program.arguments, seed, false,
                       OverflowMode::Trap, {}, is_thorough(seed), &sent);
  }
  // A single program may send more where a value goes from one process that is not its home to another one,
  // and where nobody reads what a placed operation gives: its end is reported all the same.
  EXPECT_LE(sent.production, sent.literal);
}

TEST(RandomPlacements, OfProgramsOnDataTypesChangeNothing) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kOtherPrograms);
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const std::string text = random_data_program(seed, static_cast<FieldsOf>(seed % 3));
    const ir::Module module = lang::parse(std::make_shared<const Source>("random.hia", text));
    check_placements(module, some_pass(seed, OverflowMode::Wrap),
                     {Value(int64_t{3}), Value(static_cast<int64_t>(seed))}, seed, false);
  }
}

TEST(RandomPlacements, OfProgramsWithLearnedParametersChangeNothing) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kOtherPrograms);
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const Differentiable program = generate_differentiable(seed);
    if (program.text.find("grad") != std::string::npos) continue;  // it would need its gradients derived
    const std::string text = program.program(false) +
                             fmt::format("fn main({}) -> f64 = loss({})\n", program.params, program.names);
    const ir::Module module = lang::parse(std::make_shared<const Source>("random.hia", text));
    const graph::Graph graph = passes::lower(module);
    std::vector<Type> types;
    for (graph::NodeId input : graph.inputs()) types.push_back(graph[input].type);
    check_placements(module, some_pass(seed, OverflowMode::Wrap), random_arguments(types, seed), seed, false,
                     OverflowMode::Wrap, initial_parameters(graph.parameters(), seed));
  }
}

TEST(RandomPlacements, OfProgramsWithGradientsChangeNothing) {
  const uint64_t count = from_environment("HIATON_PROGRAMS", kGradientPrograms);
  uint64_t tried = 0;
  for (uint64_t seed = from_environment("HIATON_SEED", 1); tried < count && !testing::Test::HasFailure();
       ++seed) {
    const Program program = generate(seed);
    if (program.danger == Danger::Any) continue;
    if (!with_gradient(program.module)) continue;
    ++tried;
    check_placements(
        program.module, [](const ir::Module& module) { return *with_gradient(module); }, program.arguments,
        seed, false, OverflowMode::Wrap, {}, is_thorough(seed));
  }
}

/// Numbers, vectors, lists and trees, in batches; gradients of gradients too.
TEST(RandomPlacements, OfTensorProgramsWithGradientsChangeNothing) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kTensorGradientPrograms);
  const PreparePlaced prepare = [](const ir::Module& module) {
    return passes::add_gradients(passes::loops_to_calls_for_gradients(module, std::nullopt));
  };
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const std::string text = generate_differentiable(seed).with_main(seed % 2 == 0);
    const ir::Module module = lang::parse(std::make_shared<const Source>("random.hia", text));
    const graph::Graph graph = passes::lower(prepare(module));
    std::vector<Type> types;
    for (graph::NodeId input : graph.inputs()) types.push_back(graph[input].type);
    check_placements(module, prepare, random_arguments(types, seed), seed, false, OverflowMode::Wrap,
                     initial_parameters(graph.parameters(), seed), is_thorough(seed));
  }
}

}  // namespace
}  // namespace hiaton::properties
