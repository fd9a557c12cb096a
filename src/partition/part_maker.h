// Makes the part of one process.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hiaton/graph.h"
#include "partition/alive.h"
#include "partition/partition.h"

namespace hiaton::partition {

/// The channels of a partition, by what goes along them and to whom.
class Channels {
 public:
  /// The number of the channel, which is new where nobody has asked for it. `carries_values`: the reader
  /// needs the value.
  uint32_t number_of(graph::OutPort of, int from, int to, bool carries_values);
  std::vector<Channel>& all() { return all_; }

 private:
  std::vector<Channel> all_;
  std::map<std::pair<graph::OutPort, int>, uint32_t> numbers_;
};

class PartMaker {
 public:
  PartMaker(const PlacedGraph& placed, AliveTokens& alive, Channels& channels, int self);

  /// The nodes of this process, with a Recv for what others give them.
  void add_nodes();
  /// What makes the tags of the Recv nodes.
  void add_state_machines();
  /// The other end of the channel `number`.
  graph::NodeId add_send(uint32_t number, const Channel& channel);
  Part finish();

 private:
  graph::NodeId add(graph::Node node, graph::NodeId origin = {});
  graph::NodeId add_kind(graph::NodeKind kind, graph::FunctionId function, graph::OutPorts inputs);
  void add_node(graph::NodeId id);
  void connect(graph::NodeId id);
  void add_heads();

  graph::FunctionId function_here(graph::FunctionId placed);
  graph::CallSite site_here(graph::CallSite placed);
  graph::LoopId loop_here(graph::LoopId placed);
  /// The port at which this process has the output.
  graph::OutPort here(graph::OutPort of, bool carries_values = true);
  graph::OutPort receive(graph::OutPort of, bool carries_values);
  graph::OutPort constant_here(graph::NodeId constant);

  bool is_home(graph::FunctionId placed) const { return placed_.homes[placed.index()] == self_; }
  int process_of(graph::NodeId node) const { return placed_.processes[node.index()]; }
  graph::NodeId head_of(graph::LoopId loop) const;
  graph::NodeId variable_of(graph::NodeId enter) const;
  bool is_here(graph::LoopId loop) const { return process_of(head_of(loop)) == self_; }

  /// A token under each tag of the context.
  graph::OutPort tags_of(const Context& context);
  graph::OutPort start_constant();
  graph::OutPort start();
  graph::OutPort loop_tags(graph::LoopId loop);
  /// A bool that is alive as the expression says.
  graph::OutPort token(AliveId id);
  graph::OutPort make_token(AliveId id);
  graph::OutPort token_of_all(const Context& context);
  graph::OutPort token_of_input(graph::NodeId node, const Context& context);
  void feed_function(graph::FunctionId placed);
  void feed_loop(graph::LoopId placed);

  const PlacedGraph& placed_;
  const graph::Graph& graph_;
  AliveTokens& alive_;
  Channels& channels_;
  const int self_;
  graph::GraphBuilder builder_;
  std::vector<graph::NodeId> nodes_;    ///< by node of the placed graph; invalid where it is not here
  std::vector<graph::NodeId> origins_;  ///< by node of this part
  std::map<graph::FunctionId, graph::FunctionId> functions_;
  std::map<graph::CallSite, graph::CallSite> sites_;
  std::vector<graph::CallSite> site_origins_;
  std::map<graph::LoopId, graph::LoopId> loops_;
  std::vector<graph::LoopId> loop_origins_;
  std::map<uint32_t, graph::NodeId> received_;  ///< by channel
  std::map<graph::FunctionId, graph::OutPort>
      copied_heads_;  ///< the parameter of a function that is not at home
  std::map<graph::LoopId, graph::OutPort> copied_variables_;  ///< the variable of a loop that is elsewhere
  std::map<AliveId, graph::OutPort> tokens_;
  std::map<std::pair<AliveId, graph::OutPort>, graph::NodeId> switches_;
  std::map<Context, graph::OutPort> full_tokens_;
  graph::OutPort start_constant_{};
  graph::OutPort start_{};
  std::vector<graph::FunctionId> functions_to_feed_;
  std::vector<graph::LoopId> loops_to_feed_;
};

}  // namespace hiaton::partition
