#include "passes/body_copier.h"

namespace hiaton::passes {

void BodyCopier::map(std::span<const ir::ValueId> values, const Vars& copies) {
  for (std::size_t i = 0; i < values.size(); ++i) map(values[i], copies[i]);
}

std::vector<Var> BodyCopier::mapped(std::span<const ir::ValueId> values) const {
  std::vector<Var> vars;
  vars.reserve(values.size());
  for (ir::ValueId value : values) vars.push_back(mapped(value));
  return vars;
}

void BodyCopier::copy_nodes(ir::BlockId block) {
  for (ir::NodeId id : from_[block].nodes) {
    begin(from_[id]);
    visit(id);
    for (ir::ValueId result : from_[id].results) {
      if (!from_[result].name.empty()) to_.named(mapped(result), from_[result].name);
    }
  }
}

ir::BlockId BodyCopier::copy_block(ir::BlockId block) {
  std::vector<Type> types;
  for (ir::ValueId param : from_[block].params) types.push_back(from_[param].type);
  const ir::BlockId copy = to_.begin_block(types);
  map(from_[block].params, to_.block_params(copy));
  copy_nodes(block);
  to_.end_block(copy, Vars(mapped(from_[block].results)));
  return copy;
}

void BodyCopier::copy(ir::NodeId id) {
  const ir::Node& node = from_[id];
  switch (node.kind) {
    case ir::NodeKind::Const:
      return map(node.results[0], to_.constant(node.constant, from_[node.results[0]].type));
    case ir::NodeKind::Param:
      return map(node.results[0], to_.parameter(static_cast<std::size_t>(node.attributes[0])));
    case ir::NodeKind::Op:
      return map(node.results[0],
                 to_.op(*node.op, mapped(node.operands), node.attributes, &from_[node.results[0]].type));
    case ir::NodeKind::Call:
      map(node.results, to_.call(callee_of(id), arguments_of(id)));
      nodes_[id.index()] = to_.last_node();
      return;
    case ir::NodeKind::Resume:
      return map(node.results, to_.resume(mapped(node.of), node.phase, mapped(node.operands)));
    case ir::NodeKind::Accumulate:
      return to_.accumulate(static_cast<std::size_t>(node.attributes[0]),
                            static_cast<Accumulation>(node.attributes[1]), mapped(node.operands));
    case ir::NodeKind::If: {
      const ir::BlockId then = copy_block(node.blocks[0]);
      const ir::BlockId otherwise = copy_block(node.blocks[1]);
      begin(node);
      map(node.results, node.of.valid() ? to_.finish_if_again(mapped(node.of), then, otherwise)
                                        : to_.finish_if(mapped(node.operands[0]), then, otherwise));
      nodes_[id.index()] = to_.last_node();
      return;
    }
    case ir::NodeKind::While: {
      const ir::BlockId condition = copy_block(node.blocks[0]);
      const ir::BlockId body = copy_block(node.blocks[1]);
      begin(node);
      return map(node.results, to_.finish_while(Vars(mapped(node.operands)), condition, body));
    }
  }
}

}  // namespace hiaton::passes
