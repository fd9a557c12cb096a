#include "passes/liveness.h"

#include <algorithm>

namespace hiaton::passes {

using ir::NodeKind;

Liveness::Liveness(const ir::Function& function, const Effects& effects)
    : function_(function),
      origins_(function.values.size()),
      owners_(function.blocks.size()),
      around_(function.nodes.size()),
      nodes_(function.nodes.size(), false),
      first_result_(function.nodes.size(), 0),
      values_(function.values.size(), false) {
  find_origins(function);
  need_roots(effects);
  follow();
  need_some_result_of_each();
  follow();
}

void Liveness::find_origins(const ir::Function& function) {
  for (std::size_t i = 0; i < function.nodes.size(); ++i) {
    const ir::Node& node = function.nodes[i];
    first_result_[i] = results_.size();
    if (!node.blocks.empty()) results_.resize(results_.size() + node.results.size(), false);
    for (std::size_t k = 0; k < node.results.size(); ++k) {
      origins_[node.results[k].index()] = {ir::NodeId(i), k};
    }
    for (const ir::BlockId block : node.blocks) {
      owners_[block.index()] = ir::NodeId(i);
      const ir::ValueIds& params = function[block].params;
      for (std::size_t k = 0; k < params.size(); ++k) origins_[params[k].index()] = {ir::NodeId(i), k};
    }
  }
  for (std::size_t i = 0; i < function.blocks.size(); ++i) {
    for (const ir::NodeId node : function.blocks[i].nodes) around_[node.index()] = owners_[i];
  }
}

void Liveness::need_roots(const Effects& effects) {
  if (!function_.body.valid()) return;
  for (const ir::ValueId result : function_[function_.body].results) need(result);
  const Definitions definitions(function_);
  for (std::size_t i = 0; i < function_.nodes.size(); ++i) {
    if (effects.may_fail_or_diverge(definitions, function_.nodes[i])) need(ir::NodeId(i));
  }
}

/// A branch or loop that is only there because something in it may fail still has to give something. Needing
/// such a result may make more nodes needed, which then have results of their own.
void Liveness::need_some_result_of_each() {
  for (std::size_t i = 0; i < function_.nodes.size(); ++i) {
    const ir::Node& node = function_.nodes[i];
    const bool gives_something = !node.blocks.empty() && !node.results.empty();
    if (nodes_[i] && gives_something && !has_needed_result(i)) need_result(ir::NodeId(i), 0);
  }
}

void Liveness::need(ir::ValueId value) {
  if (values_[value.index()]) return;
  values_[value.index()] = true;
  to_follow_.push_back(value);
}

void Liveness::need(ir::NodeId id) {
  for (; id.valid() && !nodes_[id.index()]; id = around_[id.index()]) {
    nodes_[id.index()] = true;
    const ir::Node& node = function_[id];
    if (node.kind == NodeKind::Op || node.kind == NodeKind::Call) {
      for (const ir::ValueId operand : node.operands) need(operand);
    }
    if (node.kind == NodeKind::If) need(node.operands[0]);
    if (node.kind == NodeKind::While) need(function_[node.blocks[0]].results[0]);
  }
}

void Liveness::need_result(ir::NodeId id, std::size_t index) {
  const std::size_t result = first_result_[id.index()] + index;
  if (results_[result]) return;
  results_[result] = true;
  const ir::Node& node = function_[id];
  if (node.kind == NodeKind::If) {
    need(function_[node.blocks[0]].results[index]);
    need(function_[node.blocks[1]].results[index]);
  } else {
    need(node.operands[index]);
    need(function_[node.blocks[1]].results[index]);
  }
}

void Liveness::follow() {
  while (!to_follow_.empty()) {
    const Origin origin = origins_[to_follow_.back().index()];
    to_follow_.pop_back();
    if (!origin.node.valid()) continue;
    need(origin.node);
    if (!function_[origin.node].blocks.empty()) need_result(origin.node, origin.index);
  }
}

bool Liveness::has_needed_result(std::size_t node) const {
  const auto begin = results_.begin() + static_cast<std::ptrdiff_t>(first_result_[node]);
  const auto end = begin + static_cast<std::ptrdiff_t>(function_.nodes[node].results.size());
  return std::find(begin, end, true) != end;
}

bool Liveness::needs_all() const {
  const auto all = [](const std::vector<bool>& needed) {
    return std::find(needed.begin(), needed.end(), false) == needed.end();
  };
  return all(nodes_) && all(results_);
}

std::vector<std::size_t> Liveness::needed_results(const ir::Node& node) const {
  const std::size_t first = first_result_[index_of(node)];
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    if (results_[first + i]) indices.push_back(i);
  }
  return indices;
}

}  // namespace hiaton::passes
