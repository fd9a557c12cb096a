#include "passes/needs.h"

#include <algorithm>

#include "passes/call_graph.h"

namespace hiaton::passes {

Needs::Needs(const ir::Module& module) : module_(module) {
  for (const ir::Function& function : module.functions) strict_.emplace_back(function.params.size(), true);
  const CallGraph calls = call_graph(module);
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::FunctionId id : calls.bottom_up) {
      const ir::Function& function = module[id];
      const ir::Block& body = function[function.body];
      const std::vector<bool> needed = of(id, body.nodes, body.results);
      for (std::size_t i = 0; i < function.params.size(); ++i) {
        if (needed[body.params[i].index()] || !strict_[id.index()][i]) continue;
        strict_[id.index()][i] = false;
        changed = true;
      }
    }
  }
}

std::vector<bool> Needs::of(ir::FunctionId function, std::span<const ir::NodeId> nodes,
                            std::span<const ir::ValueId> results) const {
  std::vector<bool> needed(module_[function].values.size(), false);
  for (const ir::ValueId result : results) needed[result.index()] = true;
  collect(module_[function], nodes, needed);
  return needed;
}

void Needs::collect(const ir::Function& function, std::span<const ir::NodeId> nodes,
                    std::vector<bool>& needed) const {
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const ir::Node& node = function[nodes[n]];
    const bool is_needed =
        std::ranges::any_of(node.results, [&](ir::ValueId result) { return needed[result.index()]; });
    if (!is_needed) continue;
    if (node.kind == ir::NodeKind::Call) {
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        if (strict_[node.callee.index()][i]) needed[node.operands[i].index()] = true;
      }
      continue;
    }
    if (node.kind == ir::NodeKind::Op && node.op->role == Role::Make) continue;
    for (const ir::ValueId operand : node.operands) needed[operand.index()] = true;
    if (node.kind != ir::NodeKind::If) continue;
    std::vector<bool> sides[2];
    for (int side = 0; side < 2; ++side) {
      const ir::Block& block = function[node.blocks[side]];
      sides[side].assign(needed.size(), false);
      for (const ir::ValueId result : block.results) sides[side][result.index()] = true;
      collect(function, block.nodes, sides[side]);
    }
    for (std::size_t i = 0; i < needed.size(); ++i) needed[i] = needed[i] || (sides[0][i] && sides[1][i]);
  }
}

}  // namespace hiaton::passes
