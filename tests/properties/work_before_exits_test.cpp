// Random programs whose loops compute something between their predicate and their Exits, which no program
// text does: production gives what the reference gives, and runs none of them by the reference rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "exec/run_graph.h"
#include "hiaton/graph.h"
#include "hiaton/op.h"
#include "hiaton/passes.h"
#include "properties/generate.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties::before_exits {
namespace {

using graph::Graph;
using graph::GraphBuilder;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

constexpr uint64_t kLoopPrograms = sized_programs(2'000, 400);

/// Puts an operation, and for some a branch around another one, before each Exit of a number.
class WorkBeforeExits {
 public:
  explicit WorkBeforeExits(const Graph& graph) : graph_(graph), builder_(graph.source()) {}

  /// Nothing where the graph has no such Exit.
  std::optional<Graph> run() {
    declare();
    nodes_ = graph_.nodes();
    for (const graph::Loop& loop : graph_.loops()) {
      for (const NodeId exit : loop.exits) change(loop, exit);
    }
    if (changed_ == 0) return std::nullopt;
    for (Node& node : nodes_) builder_.add(std::move(node));
    return builder_.finish();
  }

 private:
  void declare() {
    for (const graph::Parameter& parameter : graph_.parameters())
      builder_.add_parameter(parameter.name, parameter.type, parameter.initial, parameter.placement);
    for (const graph::Function& function : graph_.functions())
      builder_.function(builder_.add_function(function.name)) = function;
    for (const graph::Site& site : graph_.sites()) {
      builder_.in_function(site.caller);
      builder_.add_site(site.callee, site.span);
    }
    for (const graph::Loop& loop : graph_.loops()) {
      builder_.in_function(loop.function);
      builder_.add_loop(loop.span);
    }
  }

  OutPort add(Node node) {
    node.function = function_;
    nodes_.push_back(std::move(node));
    return {NodeId(nodes_.size() - 1)};
  }
  OutPort op(std::string_view name, OutPort a, OutPort b, const Type& type) {
    return add({.kind = NodeKind::Op, .inputs = {a, b}, .type = type, .op = catalog().find(name)});
  }

  void change(const graph::Loop& loop, NodeId exit) {
    const Type& type = graph_[exit].type;
    const OutPort value = graph_[exit].inputs[0];
    if (type != Type(DType::I64) || graph_[value.node].kind != NodeKind::Switch) return;
    function_ = loop.function;
    // Another value that leaves the loop, where there is one.
    OutPort other = value;
    for (const NodeId beside : loop.exits) {
      const OutPort from = graph_[beside].inputs[0];
      if (graph_[beside].type == type && graph_[from.node].kind == NodeKind::Switch) other = from;
    }
    OutPort made = op("max", value, other, type);
    if (++changed_ % 2 == 0) {
      const OutPort limit = add({.kind = NodeKind::Const, .type = type, .constant = Value(int64_t{10})});
      const OutPort is_small = op("lt", made, limit, Type(DType::Bool));
      const NodeId sides = add({.kind = NodeKind::Switch, .inputs = {made, is_small}, .type = type}).node;
      const OutPort larger = op("max", {sides, 0}, limit, type);
      made = add({.kind = NodeKind::Merge, .inputs = {larger, OutPort{sides, 1}}, .type = type});
    }
    nodes_[exit.index()].inputs = {made};
  }

  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<Node> nodes_;
  graph::FunctionId function_;
  std::size_t changed_ = 0;
};

struct End {
  Fault fault = Fault::None;
  RunResult result{};
};

End end_of(const Graph& graph, const std::vector<Value>& arguments, const RunOptions& options) {
  try {
    return {Fault::None, exec::run(graph, arguments, options)};
  } catch (const RunError& error) {
    return {error.fault(), {}};
  }
}

TEST(WorkBeforeExits, RunsInProductionAndGivesWhatTheReferenceGives) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kLoopPrograms);
  uint64_t changed = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Program program = generate(seed);
    const std::optional<Graph> graph = WorkBeforeExits(passes::lower(program.module)).run();
    if (!graph) continue;
    ++changed;
    RunOptions options;
    options.executor = Executor::Reference;
    const End expected = end_of(*graph, program.arguments, options);
    options.executor = Executor::Production;
    for (const int workers : {1, 2}) {
      for (const bool batching : {true, false}) {
        options.workers = workers;
        options.batching = batching;
        options.share_every_call = seed % 4 == 0;
        const End found = end_of(*graph, program.arguments, options);
        ASSERT_EQ(found.fault == Fault::None, expected.fault == Fault::None) << "seed " << seed;
        ASSERT_EQ(found.result.stats.fallback, "") << "seed " << seed;
        ASSERT_EQ(found.result.values.size(), expected.result.values.size()) << "seed " << seed;
        for (std::size_t i = 0; i < found.result.values.size(); ++i)
          ASSERT_EQ(to_string(found.result.values[i]), to_string(expected.result.values[i]))
              << "seed " << seed;
      }
    }
  }
  if (count >= 100) {
    EXPECT_GT(changed, count / 20);
  }
}

}  // namespace
}  // namespace hiaton::properties::before_exits
