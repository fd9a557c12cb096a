#include "passes/needs.h"

#include <algorithm>
#include <iterator>

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
      const std::set<ir::ValueId> needed = of(function, body.nodes, body.results);
      for (std::size_t i = 0; i < function.params.size(); ++i) {
        if (needed.contains(body.params[i]) || !strict_[id.index()][i]) continue;
        strict_[id.index()][i] = false;
        changed = true;
      }
    }
  }
}

std::set<ir::ValueId> Needs::of(ir::FunctionId function, std::span<const ir::NodeId> nodes,
                                std::span<const ir::ValueId> results) const {
  return of(module_[function], nodes, results);
}

std::set<ir::ValueId> Needs::of(const ir::Function& function, std::span<const ir::NodeId> nodes,
                                std::span<const ir::ValueId> results) const {
  std::set<ir::ValueId> needed(results.begin(), results.end());
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const ir::Node& node = function[nodes[n]];
    if (std::ranges::none_of(node.results, [&](ir::ValueId result) { return needed.contains(result); }))
      continue;
    if (node.kind == ir::NodeKind::Call) {
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        if (strict_[node.callee.index()][i]) needed.insert(node.operands[i]);
      }
      continue;
    }
    if (node.kind == ir::NodeKind::Op && node.op->role == Role::Make) continue;
    needed.insert(node.operands.begin(), node.operands.end());
    if (node.kind != ir::NodeKind::If) continue;
    std::set<ir::ValueId> sides[2];
    for (int side = 0; side < 2; ++side) {
      const ir::Block& block = function[node.blocks[side]];
      sides[side] = of(function, block.nodes, block.results);
    }
    std::ranges::set_intersection(sides[0], sides[1], std::inserter(needed, needed.end()));
  }
  return needed;
}

}  // namespace hiaton::passes
