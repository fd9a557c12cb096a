// Runs the parts of a split graph, each by the rules of the reference executor, over a simulated network.
//
// The literal form of a partition: tokens carry their whole tag along the channels, dead ones too. It is what
// other distributed forms are compared with, and agrees with the reference executor on the graph that was
// split.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "exec/fault.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "net/simulated.h"
#include "partition/partition.h"

namespace hiaton::exec {

/// A token that went along a channel.
struct CrossingEvent {
  const partition::Channel& channel;
  uint32_t number;            ///< the number of the channel
  std::vector<uint64_t> tag;  ///< as the graph that was split has it, innermost first
  Value value;                ///< without meaning where dead, or where the channel carries none
  bool dead;
};

/// In which order processes work and packets arrive.
struct PartitionedOrder {
  net::Delivery delivery = net::Delivery::InOrder;
  uint64_t seed = 0;  ///< 0: the processes take turns
};

struct PartitionedRunOptions {
  RunOptions run;  ///< budgets are those of all processes together; its on_token is not called
  PartitionedOrder order;
  std::function<void(const CrossingEvent&)> on_crossing{};  ///< in the order in which tokens are sent
  /// Every token that a node of a process makes, and every one that a Send lets go, under its tag there.
  std::function<void(int process, const TokenEvent&)> on_token{};
  bool names_hosts = false;      ///< errors name the host of a process
  uint32_t aux_of_messages = 0;  ///< net::Header::aux of tokens
};

/// What is left over in a process. Its nodes are those of the process's part.
struct PartLeftover {
  int process;
  WaitingNode node;
};

/// `graph` is the one that was split: errors speak of it.
///
/// Throws ProgramError and RunError as run().
RunResult run_partitioned(const graph::Graph& graph, const partition::Partition& partition,
                          std::span<const Value> arguments, const PartitionedRunOptions& options,
                          std::vector<PartLeftover>* leftovers = nullptr);

}  // namespace hiaton::exec
