// What a function needs: the nodes that give its results, and those that may fail or never end.
#pragma once

#include <vector>

#include "hiaton/ir.h"
#include "passes/effects.h"

namespace hiaton::passes {

class Liveness {
 public:
  Liveness(const ir::Function& function, const Effects& effects);

  bool needed(const ir::Node& node) const { return nodes_[index_of(node)]; }
  /// Whether nothing would go.
  bool needs_all() const;
  /// Which results of an If, or which variables of a While, somebody reads; at least one of those there are.
  std::vector<std::size_t> needed_results(const ir::Node& node) const;

 private:
  /// Where a value comes from: the n-th result of a node or the n-th variable of a loop.
  struct Origin {
    ir::NodeId node;  ///< invalid: a parameter of the function
    std::size_t index = 0;
  };

  void find_origins(const ir::Function& function);
  void need_roots(const Effects& effects);
  void need_some_result_of_each();
  void follow();
  void need(ir::ValueId value);
  void need(ir::NodeId node);
  void need_result(ir::NodeId node, std::size_t index);
  bool has_needed_result(std::size_t node) const;
  std::size_t index_of(const ir::Node& node) const {
    return static_cast<std::size_t>(&node - function_.nodes.data());
  }

  const ir::Function& function_;
  std::vector<Origin> origins_;            ///< by value
  std::vector<ir::NodeId> owners_;         ///< by block: the node it belongs to
  std::vector<ir::NodeId> around_;         ///< by node: the node around it; invalid in the body
  std::vector<bool> nodes_;                ///< by node: needed
  std::vector<std::size_t> first_result_;  ///< by node: where its part of results_ begins
  std::vector<bool> results_;              ///< whether each result of an If and variable of a While is needed
  std::vector<ir::ValueId> to_follow_;
  std::vector<bool> values_;  ///< by value: needed
};

}  // namespace hiaton::passes
