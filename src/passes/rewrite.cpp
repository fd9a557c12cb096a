#include "passes/rewrite.h"

#include <numeric>
#include <utility>

#include "base/check.h"

namespace hiaton::passes {
namespace {

std::vector<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

}  // namespace

ir::Function Rewriter::rewrite(const ir::Function& function) {
  if (!function.body.valid()) return function;  // a gradient that is still to be derived
  old_ = &function;
  map_.assign(function.values.size(), ir::ValueId());
  definitions_.clear();
  new_ = ir::Function{.name = function.name,
                      .params = function.params,
                      .results = function.results,
                      .phases = function.phases,
                      .span = function.span,
                      .placement = function.placement,
                      .recompute = function.recompute,
                      .body = {},
                      .nodes = {},
                      .blocks = {},
                      .values = {}};
  new_.nodes.reserve(function.nodes.size());
  new_.values.reserve(function.values.size());
  new_.body = rebuild(function.body);
  return std::move(new_);
}

ir::ValueId Rewriter::mapped(ir::ValueId old_value) const {
  const ir::ValueId value = map_[old_value.index()];
  HIATON_CHECK(value.valid());
  return value;
}

std::vector<ir::ValueId> Rewriter::mapped(std::span<const ir::ValueId> old_values) const {
  std::vector<ir::ValueId> values;
  values.reserve(old_values.size());
  for (const ir::ValueId value : old_values) values.push_back(mapped(value));
  return values;
}

void Rewriter::map(ir::ValueId old_value, ir::ValueId new_value) {
  map_[old_value.index()] = new_value;
}

const ir::Node* Rewriter::definition(ir::ValueId new_value) const {
  const ir::NodeId id = definitions_[new_value.index()];
  return id.valid() ? &new_[id] : nullptr;
}

const Value* Rewriter::constant(ir::ValueId new_value) const {
  const ir::Node* node = definition(new_value);
  return node != nullptr && node->kind == ir::NodeKind::Const ? &node->constant : nullptr;
}

ir::Node Rewriter::copy_without_blocks(const ir::Node& node) const {
  return {.kind = node.kind,
          .phase = node.phase,
          .op = node.op,
          .attributes = node.attributes,
          .constant = node.constant,
          .callee = node.callee,
          .of = node.of.valid() ? definitions_[mapped(old()[node.of].results.at(0)).index()] : ir::NodeId(),
          .operands = mapped(node.operands),
          .span = node.span,
          .placement = node.placement};
}

ir::Node Rewriter::copy(const ir::Node& node) {
  ir::Node copied = copy_without_blocks(node);
  for (const ir::BlockId block : node.blocks) copied.blocks.push_back(rebuild(block));
  return copied;
}

ir::ValueId Rewriter::new_value(const ir::ValueInfo& info, ir::NodeId definition) {
  const ir::ValueId id(new_.values.size());
  new_.values.push_back(info);
  definitions_.push_back(definition);
  return id;
}

void Rewriter::emit(ir::Node node, std::span<const ir::ValueId> old_results) {
  const ir::NodeId id(new_.nodes.size());
  for (const ir::ValueId result : old_results) {
    node.results.push_back(new_value(old()[result], id));
    map(result, node.results.back());
  }
  new_[open_block()].nodes.push_back(id);
  new_.nodes.push_back(std::move(node));
}

ir::ValueId Rewriter::emit(ir::Node node, Type type) {
  const ir::NodeId id(new_.nodes.size());
  const ir::ValueId result = new_value({std::move(type), ""}, id);
  node.results = {result};
  new_[open_block()].nodes.push_back(id);
  new_.nodes.push_back(std::move(node));
  return result;
}

ir::ValueId Rewriter::emit_constant(const Value& value, const ir::Node& instead_of, std::size_t result) {
  const Type type = value.is_data() ? old()[instead_of.results[result]].type : value.type();
  return emit({.kind = ir::NodeKind::Const,
               .constant = value,
               .span = instead_of.span,
               .placement = instead_of.placement},
              type);
}

void Rewriter::visit_nodes(ir::BlockId old_block) {
  for (const ir::NodeId node : old()[old_block].nodes) visit(old()[node]);
}

ir::BlockId Rewriter::rebuild(ir::BlockId old_block) {
  const ir::Block& block = old()[old_block];
  return rebuild(old_block, all_of(block.params.size()), all_of(block.results.size()));
}

ir::BlockId Rewriter::rebuild(ir::BlockId old_block, std::span<const std::size_t> params,
                              std::span<const std::size_t> results) {
  const ir::Block& block = old()[old_block];
  const ir::BlockId id(new_.blocks.size());
  new_.blocks.emplace_back();
  for (const std::size_t i : params) {
    const ir::ValueId param = new_value(old()[block.params[i]], ir::NodeId());
    new_[id].params.push_back(param);
    map(block.params[i], param);
  }
  open_blocks_.push_back(id);
  block_begins();
  visit_nodes(old_block);
  block_ends();
  open_blocks_.pop_back();
  for (const std::size_t i : results) new_[id].results.push_back(mapped(block.results[i]));
  return id;
}

std::vector<ir::ValueId> Rewriter::splice(const ir::Function& callee,
                                          std::span<const ir::ValueId> arguments) {
  std::vector<ir::ValueId> callee_map(callee.values.size());
  const ir::Block& body = callee[callee.body];
  for (std::size_t i = 0; i < arguments.size(); ++i) callee_map[body.params[i].index()] = arguments[i];

  const ir::Function* caller = std::exchange(old_, &callee);
  map_.swap(callee_map);
  visit_nodes(callee.body);
  std::vector<ir::ValueId> results = mapped(body.results);
  map_.swap(callee_map);
  old_ = caller;
  return results;
}

}  // namespace hiaton::passes
