#include "passes/effects.h"

#include <algorithm>

#include "passes/call_graph.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

bool is_integer_value(const Value& value, int64_t number) {
  return value == (value.dtype() == DType::I32 ? Value(static_cast<int32_t>(number)) : Value(number));
}

}  // namespace

Definitions::Definitions(const ir::Function& function)
    : function_(function), by_value_(function.values.size()) {
  for (std::size_t i = 0; i < function.nodes.size(); ++i) {
    for (const ir::ValueId result : function.nodes[i].results) by_value_[result.index()] = ir::NodeId(i);
  }
}

const ir::Node* Definitions::node(ir::ValueId value) const {
  const ir::NodeId id = by_value_[value.index()];
  return id.valid() ? &function_[id] : nullptr;
}

const Value* Definitions::constant(ir::ValueId value) const {
  const ir::Node* definition = node(value);
  return definition != nullptr && definition->kind == NodeKind::Const ? &definition->constant : nullptr;
}

bool may_fail(const Definitions& definitions, const ir::Node& op, OverflowMode overflow) {
  const ir::Function& function = definitions.function();
  if (op.operands.empty()) return false;
  if (!op.op->can_fail(function[op.operands[0]].type.dtype, overflow)) return false;
  const bool divides = op.op->name.value == "div" || op.op->name.value == "rem";
  if (!divides) return true;
  const Value* divisor = definitions.constant(op.operands[1]);
  // Only zero fails, and -1 may overflow.
  return divisor == nullptr || is_integer_value(*divisor, 0) || is_integer_value(*divisor, -1);
}

Effects::Effects(const ir::Module& module, OverflowMode overflow)
    : Effects(module.functions.size(), overflow) {
  const CallGraph graph = call_graph(module);
  for (const ir::FunctionId id : graph.bottom_up) learn(id, module[id], graph.recursive[id.index()]);
}

void Effects::learn(ir::FunctionId id, const ir::Function& function, bool is_recursive) {
  const Definitions definitions(function);
  const bool derived_later = !function.body.valid();
  functions_[id.index()] =
      is_recursive || derived_later ||
      std::any_of(function.nodes.begin(), function.nodes.end(),
                  [&](const ir::Node& node) { return may_fail_or_diverge(definitions, node); });
}

bool Effects::may_fail_or_diverge(const Definitions& definitions, const ir::Node& node) const {
  switch (node.kind) {
    case NodeKind::Const:
    case NodeKind::Param:
    case NodeKind::If:
      return false;
    case NodeKind::Op:
      return may_fail(definitions, node, overflow_);
    case NodeKind::Call:
      return may_fail_or_diverge(node.callee);
    case NodeKind::While:
    case NodeKind::Resume:
    case NodeKind::Accumulate:
      return true;
  }
  return true;
}

}  // namespace hiaton::passes
