#include "passes/phase_analysis.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace hiaton::passes {
namespace {

using ir::NodeKind;

/// Follows dependences through a function, in its order.
class Follow {
 public:
  Follow(const ir::Function& function, const OfCall& of_call)
      : f_(function), of_call_(of_call), values_(function.values.size()) {}

  std::vector<NumberSet> from(std::span<const NumberSet> params) {
    const ir::ValueIds& ids = f_[f_.body].params;
    for (std::size_t i = 0; i < ids.size(); ++i) values_[ids[i].index()] = params[i];
    walk(f_.body, 0);
    return std::move(values_);
  }

 private:
  /// What anything in the block and what it gives depends on. `condition`: what decides whether it is
  /// reached.
  NumberSet walk(ir::BlockId block, NumberSet condition) {
    NumberSet any = 0;
    for (const ir::NodeId id : f_[block].nodes) any |= visit(f_[id], condition);
    return any | any_of(f_[block].results, values_);
  }

  NumberSet visit(const ir::Node& node, NumberSet condition) {
    const NumberSet operands = any_of(node.operands, values_) | condition;
    NumberSet inside = 0;
    for (const ir::BlockId block : node.blocks)
      inside |= walk(block, node.kind == NodeKind::If ? operands : condition);
    for (std::size_t i = 0; i < node.results.size(); ++i)
      values_[node.results[i].index()] = of_result(node, i, operands, inside) | condition;
    return operands | inside | any_of(node.results, values_);
  }

  NumberSet of_result(const ir::Node& node, std::size_t i, NumberSet operands, NumberSet inside) const {
    if (node.kind == NodeKind::Call) return of_call_(node, i, values_);
    if (node.kind == NodeKind::While) return operands | inside;
    NumberSet found = operands;
    for (const ir::BlockId block : node.blocks) found |= values_[f_[block].results[i].index()];
    return found;
  }

  const ir::Function& f_;
  const OfCall& of_call_;
  std::vector<NumberSet> values_;
};

NumberSet set_of(uint32_t number) {
  return NumberSet{1} << number;
}

/// Finds the phases of the nodes of a function.
class NodePhases {
 public:
  NodePhases(const ir::Function& function, const std::vector<uint32_t>& values, const Phasings& phasings)
      : f_(function), values_(values), phasings_(phasings), found_(function.nodes.size()) {}

  std::vector<NumberSet> find() {
    walk(f_.body, 0);
    return std::move(found_);
  }

 private:
  /// `first`: the phase in which it is known whether the block is reached.
  NumberSet walk(ir::BlockId block, uint32_t first) {
    NumberSet all = 0;
    for (const ir::NodeId id : f_[block].nodes) all |= found_[id.index()] = visit(f_[id], first);
    return all;
  }

  NumberSet visit(const ir::Node& node, uint32_t first) {
    uint32_t begin = first;
    for (const ir::ValueId operand : node.operands) begin = std::max(begin, values_[operand.index()]);
    NumberSet inside = 0;
    for (const ir::BlockId block : node.blocks) inside |= walk(block, begin);
    if (node.kind == NodeKind::If) {
      for (const ir::ValueId result : node.results) inside |= set_of(values_[result.index()]);
      return inside | set_of(begin);
    }
    if (node.kind == NodeKind::Call && phasings_[node.callee.index()].has_value()) {
      for (const uint32_t phase : phases_of_call(*phasings_[node.callee.index()], node, values_))
        inside |= set_of(std::max(first, phase));
      return inside;
    }
    for (const ir::ValueId result : node.results) begin = std::max(begin, values_[result.index()]);
    return set_of(begin);
  }

  const ir::Function& f_;
  const std::vector<uint32_t>& values_;
  const Phasings& phasings_;
  std::vector<NumberSet> found_;
};

std::vector<std::size_t> which_are(const std::vector<uint32_t>& phases, uint32_t phase) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (phases[i] == phase) found.push_back(i);
  }
  return found;
}

}  // namespace

uint32_t Phasing::count() const {
  return params.empty() ? 1 : 1 + *std::ranges::max_element(params);
}

std::vector<std::size_t> Phasing::params_of(uint32_t phase) const {
  return which_are(params, phase);
}

std::vector<std::size_t> Phasing::results_of(uint32_t phase) const {
  return which_are(results, phase);
}

std::vector<NumberSet> dependences(const ir::Function& function, std::span<const NumberSet> params,
                                   const OfCall& of_call) {
  return Follow(function, of_call).from(params);
}

NumberSet any_of(std::span<const ir::ValueId> values, const std::vector<NumberSet>& dependences) {
  NumberSet all = 0;
  for (const ir::ValueId value : values) all |= dependences[value.index()];
  return all;
}

NumberSet needed_by_phase(const Phasing& callee, uint32_t phase, const ir::Node& call,
                          const std::vector<NumberSet>& dependences) {
  NumberSet all = 0;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (callee.params[i] <= phase) all |= dependences[call.operands[i].index()];
  }
  return all;
}

std::vector<uint32_t> phases_of_call(const Phasing& callee, const ir::Node& call,
                                     const std::vector<uint32_t>& values) {
  std::vector<uint32_t> phases(callee.count());
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    uint32_t& phase = phases[callee.params[i]];
    phase = std::max(phase, values[call.operands[i].index()]);
  }
  for (std::size_t i = 1; i < phases.size(); ++i) phases[i] = std::max(phases[i], phases[i - 1]);
  return phases;
}

std::vector<NumberSet> phases_of_nodes(const ir::Function& function, const std::vector<uint32_t>& values,
                                       const Phasings& phasings) {
  return NodePhases(function, values, phasings).find();
}

}  // namespace hiaton::passes
