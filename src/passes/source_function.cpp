#include "passes/source_function.h"

namespace hiaton::passes {

SourceFunction::SourceFunction(const ir::Function& of, ir::FunctionId its_id)
    : function(of), id(its_id), definitions(of) {
  outside.resize(of.blocks.size());
  extra.resize(of.blocks.size());
  find_outside(of.body);
}

std::set<ir::ValueId> SourceFunction::uses(ir::NodeId node) const {
  std::set<ir::ValueId> used;
  for (const ir::ValueId operand : function[node].operands) {
    if (!is_constant(operand)) used.insert(operand);
  }
  for (const ir::BlockId block : function[node].blocks)
    used.insert(outside[block.index()].begin(), outside[block.index()].end());
  return used;
}

std::vector<ir::NodeId> SourceFunction::nodes_of(ir::BlockId block) const {
  std::vector<ir::NodeId> nodes = extra[block.index()];
  nodes.insert(nodes.end(), function[block].nodes.begin(), function[block].nodes.end());
  return nodes;
}

void SourceFunction::find_outside(ir::BlockId block) {
  std::set<ir::ValueId>& used = outside[block.index()];
  for (const ir::NodeId node : function[block].nodes) {
    for (const ir::BlockId inner : function[node].blocks) find_outside(inner);
    const std::set<ir::ValueId> by_node = uses(node);
    used.insert(by_node.begin(), by_node.end());
  }
  for (const ir::ValueId result : function[block].results) {
    if (!is_constant(result)) used.insert(result);
  }
  for (const ir::NodeId node : function[block].nodes) {
    for (const ir::ValueId result : function[node].results) used.erase(result);
  }
  for (const ir::ValueId param : function[block].params) used.erase(param);
}

}  // namespace hiaton::passes
