// What the expanding executor copies: for each function and each loop the nodes it consists of, with the
// state they begin in.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "hiaton/value.h"

namespace hiaton::exec {

/// A node in a copy.
struct CopiedNode {
  uint32_t pending = 0;  ///< inputs, data and control, that have not come
  bool dead = false;     ///< a dead token came
  bool started = false;  ///< it fires, or has fired
};

/// A function body, or one iteration of a loop. An Enter stands in what is around its loop, an Exit in the
/// loop.
struct Blueprint {
  std::vector<CopiedNode> nodes;
  std::vector<Value> operands;  ///< operands of all nodes; what is under every tag is already there
};

class Blueprints {
 public:
  /// `options`: those of the run; they have the values of the program's parameters.
  Blueprints(const graph::Graph& graph, const RunOptions& options);

  struct Location {
    static constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();
    uint32_t blueprint = kNowhere;  ///< kNowhere for Input and for Const under every tag
    uint32_t node = 0;              ///< index in Blueprint::nodes
    uint32_t operands = 0;          ///< index in Blueprint::operands of its first operand
  };

  const Location& of(graph::NodeId node) const { return locations_[node.index()]; }
  const Blueprint& operator[](uint32_t index) const { return blueprints_[index]; }
  uint32_t index_of(graph::FunctionId function) const { return function.value; }
  uint32_t index_of(graph::LoopId loop) const { return function_count_ + loop.value; }
  /// The nodes whose inputs are all Const under every tag. They fire once, in the copy of the program.
  const std::vector<graph::NodeId>& at_start() const { return at_start_; }

 private:
  uint32_t home_of(graph::NodeId node) const;
  void add(graph::NodeId node, const RunOptions& options);

  const graph::Graph& graph_;
  uint32_t function_count_;
  std::vector<Blueprint> blueprints_;
  std::vector<Location> locations_;
  std::vector<graph::NodeId> at_start_;
};

}  // namespace hiaton::exec
