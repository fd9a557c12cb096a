// Programs as texts, split between processes, and what goes between these.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "exec/partitioned.h"
#include "exec/reference.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"
#include "hiaton/passes.h"
#include "partition/partition.h"

namespace hiaton::partition::testing {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

/// The multiplication is done by process 1, on frames of process 0.
inline constexpr const char* kFact =
    "fn fact(n: i64) -> i64 = if n == 1 then n else on \"process:1\" (n * on \"\" fact(n - 1))\n"
    "fn main(n: i64) -> i64 = fact(n)\n";

inline Graph graph_of(const std::string& text) {
  return passes::lower(lang::parse(std::make_shared<const Source>("main.hia", text)));
}

/// A graph and its parts.
struct Split {
  Graph graph;
  Partition parts;

  Split(Graph whole, int processes)
      : graph(std::move(whole)), parts(split(graph, {.processes = processes})) {}
  Split(const std::string& text, int processes) : Split(graph_of(text), processes) {}

  const Graph& part(std::size_t process) const { return parts.parts[process].graph; }
  std::string text(std::size_t process) const { return graph::to_text(part(process)); }
};

/// The name of what a channel carries, and from where to where: "n 0>1".
inline std::string name_of(const Partition& parts, const Channel& channel) {
  const Node& node = parts.placed.graph[channel.of.node];
  const std::string what = !node.name.empty()   ? node.name.str()
                           : node.op != nullptr ? std::string(node.op->name.value)
                                                : std::string(graph::name_of(node.kind));
  return what + " " + std::to_string(channel.from) + ">" + std::to_string(channel.to);
}

/// What a run gave, and what crossed: "n 0>1 [1, 0] 3" or "... dead".
struct Found {
  std::vector<Value> values;
  std::vector<std::string> crossed;
  std::size_t dead = 0;
  RunStats stats;
};

inline Found run(const Split& split, const std::vector<Value>& arguments,
                 const exec::PartitionedOrder& order = {}, const RunOptions& run_options = {}) {
  Found found;
  exec::PartitionedRunOptions options{.run = run_options, .order = order};
  options.on_crossing = [&](const exec::CrossingEvent& event) {
    const Type& type = split.parts.placed.graph[event.channel.of.node].type;
    found.dead += event.dead ? 1 : 0;
    const std::string value = event.dead                     ? "dead"
                              : event.channel.carries_values ? to_string(event.value, type)
                                                             : "alive";
    found.crossed.push_back(name_of(split.parts, event.channel) + " " + ::testing::PrintToString(event.tag) +
                            " " + value);
  };
  std::vector<exec::PartLeftover> leftovers;
  RunResult result = exec::run_partitioned(split.graph, split.parts, arguments, options, &leftovers);
  EXPECT_TRUE(leftovers.empty()) << leftovers.size() << " nodes still wait";
  EXPECT_EQ(result.stats.frames_live_at_end, 0u);
  EXPECT_EQ(result.stats.remote_tokens, found.crossed.size());
  found.values = std::move(result.values);
  found.stats = result.stats;
  return found;
}

/// Runs on 1 to 4 processes under many orders, and gives what the program gives in one piece.
inline std::vector<Value> run_every_way(const std::string& text, const std::vector<Value>& arguments) {
  const Graph whole = graph_of(text);
  std::vector<exec::WaitingNode> leftovers;
  const std::vector<Value> expected = exec::run_reference(whole, arguments, {}, &leftovers).values;
  EXPECT_TRUE(leftovers.empty());
  for (int processes = 1; processes <= 4; ++processes) {
    const Split parts(text, processes);
    for (const net::Delivery delivery :
         {net::Delivery::InOrder, net::Delivery::LastFirst, net::Delivery::Random, net::Delivery::StarvedOne,
          net::Delivery::Bursts}) {
      for (uint64_t seed = 0; seed < 4; ++seed)
        EXPECT_EQ(run(parts, arguments, {delivery, seed}).values, expected) << processes << " processes";
    }
  }
  return expected;
}

/// The nodes of a kind, by their order.
inline std::vector<NodeId> nodes_of(const Graph& graph, NodeKind kind) {
  std::vector<NodeId> found;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    if (graph.nodes()[n].kind == kind) found.emplace_back(n);
  }
  return found;
}

}  // namespace hiaton::partition::testing
