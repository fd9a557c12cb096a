// The run of one part of a split graph.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/partitioned.h"
#include "exec/reference_run.h"
#include "net/transport.h"
#include "net/values.h"
#include "partition/partition.h"

namespace hiaton::exec {

/// What the processes of a run have in common.
struct PartitionedProgram {
  const graph::Graph& graph;  ///< the graph that was split
  const partition::Partition& partition;
  std::span<const Value> arguments;
  std::vector<net::ValueCodec> codecs;  ///< by channel

  /// The call site and the loop in the graph that was split.
  graph::CallSite site(int process, graph::CallSite here) const;
  graph::LoopId loop(int process, graph::LoopId here) const;
  /// The label with the numbers of the placed graph, which are the same in all processes.
  TagLabel common(int process, const TagLabel& here) const;
};

/// By channel: how its values are written.
std::vector<net::ValueCodec> codecs_of(const partition::Partition& partition);

class ProcessRun : public ReferenceRun {
 public:
  /// `others` are the runs of all processes, by number, as far as they are in this one; what is there is
  /// there before the first step.
  ProcessRun(const PartitionedProgram& program, int self, const PartitionedRunOptions& options,
             std::span<const Value> arguments, ReferenceBudget& budget, net::Transport& transport,
             const std::vector<std::unique_ptr<ProcessRun>>& others);

  void on_message(const net::Header& header, std::span<const std::byte> payload);
  std::vector<WaitingNode> waiting() const override;
  RunStats finish() override;
  uint64_t tokens_sent() const { return tokens_sent_; }
  /// The arguments of the innermost call of a tag, by its labels with common numbers, innermost first.
  std::vector<std::optional<Value>> arguments_of(std::span<const TagLabel> labels);

 protected:
  void send(graph::NodeId id, const Tag& tag, const Value& value, bool dead) override;
  void receive(graph::NodeId id, const Tag& tag, bool dead) override;
  TagLabel in_whole_graph(const TagLabel& here) const override { return program_.common(self_, here); }
  bool is_copy(graph::CallSite site) const override;
  RunError refusal(graph::NodeId id, const Tag& tag, std::span<const Value> operands,
                   Fault fault) const override;
  RunError over_budget(const Tag& tag, Fault fault) const override;

 private:
  class Chain;

  /// What a Recv has under a tag: either, until it has both.
  struct Waiting {
    graph::NodeId recv;
    bool dead = false;
    std::optional<Tag> tag{};      ///< the token of the control edge
    std::optional<Value> value{};  ///< the message
  };

  const partition::Part& part() const;
  RunError of_this_process(const RunError& error) const;
  std::string key_of(uint32_t channel, const Tag& tag) const;
  void finish_receive(const std::string& key);
  TagLabel here(const TagLabel& common) const;

  const PartitionedProgram& program_;
  const PartitionedRunOptions& partitioned_;
  const int self_;
  net::Transport& transport_;
  const std::vector<std::unique_ptr<ProcessRun>>& others_;
  std::unordered_map<std::string, Waiting> waiting_;   ///< by channel and tag
  std::unordered_map<uint32_t, uint32_t> sites_here_;  ///< by call site of the placed graph
  std::unordered_map<uint32_t, uint32_t> loops_here_;
  uint64_t tokens_sent_ = 0;
  uint64_t bytes_sent_ = 0;
};

}  // namespace hiaton::exec
