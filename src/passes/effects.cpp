#include "passes/effects.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "hiaton/error.h"
#include "passes/call_graph.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

bool is_integer_value(const Value& value, int64_t number) {
  switch (value.dtype()) {
    case DType::U8:
      return value.as<uint8_t>() == number;
    case DType::I32:
      return value.as<int32_t>() == number;
    case DType::I64:
      return value.as<int64_t>() == number;
    default:
      return false;
  }
}

/// The sizes that symbols stand for: all alike, or each another one, far from what programs write.
class Sizes {
 public:
  explicit Sizes(std::optional<int64_t> alike) : alike_(alike) {}

  Type of(Type type) {
    for (Dim& dim : type.shape) {
      if (dim.size < 0) dim = {.size = size_of(dim), .symbol = ""};
    }
    return type;
  }

 private:
  int64_t size_of(const Dim& dim) {
    constexpr int64_t kFar = 1'000'003;
    if (alike_) return *alike_;
    if (dim == unknown_dim()) return kFar + unknown_++;
    return kFar - static_cast<int64_t>(by_symbol_.emplace(dim.symbol, by_symbol_.size() + 1).first->second);
  }

  std::optional<int64_t> alike_;
  std::map<std::string, std::size_t> by_symbol_;
  int64_t unknown_ = 0;
};

/// Whether the type rule refuses these shapes for some sizes that only the run knows: tried with none, with
/// one, and with sizes that all differ.
bool may_refuse_shapes(const ir::Function& function, const ir::Node& op) {
  const auto is_fixed_operand = [&](ir::ValueId operand) { return is_fixed(function[operand].type); };
  if (std::all_of(op.operands.begin(), op.operands.end(), is_fixed_operand)) return false;
  for (const std::optional<int64_t> alike : {std::optional<int64_t>(0), std::optional<int64_t>(1), {}}) {
    Sizes sizes(alike);
    std::vector<Type> types;
    for (const ir::ValueId operand : op.operands) types.push_back(sizes.of(function[operand].type));
    try {
      if (!is_fixed(op.op->type_rule.value({types, op.attributes, &function[op.results[0]].type})))
        return true;
    } catch (const ProgramError&) {
      return true;
    }
  }
  return false;
}

bool is_call_of(const ir::Node& node, ir::FunctionId function) {
  return node.kind == NodeKind::Call && node.callee == function;
}

/// Whether it is a field of the whole, or a field of one, and so on: less than the whole.
bool is_part_of(const Definitions& definitions, ir::ValueId value, ir::ValueId whole) {
  const auto is_field = [](const ir::Node* node) {
    return node != nullptr && node->kind == NodeKind::Op && node->op->role == Role::Field;
  };
  for (const ir::Node* node = definitions.node(value); is_field(node);) {
    if (node->operands[0] == whole) return true;
    node = definitions.node(node->operands[0]);
  }
  return false;
}

/// Whether each call of the function itself gets a part of what the function got for one of its parameters.
/// Data values are finite, so it ends.
bool descends(const Definitions& definitions, ir::FunctionId id) {
  const ir::Function& function = definitions.function();
  const ir::ValueIds& params = function[function.body].params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (std::ranges::all_of(function.nodes, [&](const ir::Node& node) {
          return !is_call_of(node, id) || is_part_of(definitions, node.operands[i], params[i]);
        }))
      return true;
  }
  return false;
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
  if (op.op->role == Role::Print || op.op->role == Role::Settle)
    return true;  // also what is printed must not be left out
  if (op.op->role == Role::String) return op.op->fails_on_elements;
  if (op.operands.empty() || op.op->fusion.value == Fusion::Data) return false;
  if (op.op->fails_on_elements || may_refuse_shapes(function, op)) return true;
  if (!op.op->can_fail(function[op.operands[0]].type.dtype, overflow)) return false;
  const std::vector<int64_t>& failing = op.op->fails_only_for;
  if (failing.empty()) return true;
  const Value* last = definitions.constant(op.operands.back());
  return last == nullptr || !last->is_scalar() ||
         std::ranges::any_of(failing, [&](int64_t number) { return is_integer_value(*last, number); });
}

Effects::Effects(const ir::Module& module, OverflowMode overflow)
    : Effects(module.functions.size(), overflow) {
  const CallGraph graph = call_graph(module);
  for (const ir::FunctionId id : graph.bottom_up) learn(id, module[id], graph.recursive[id.index()]);
}

void Effects::learn(ir::FunctionId id, const ir::Function& function, bool is_recursive) {
  const auto may = [&] {
    if (!function.body.valid()) return true;  // derived later
    const Definitions definitions(function);
    if (is_recursive && !descends(definitions, id)) return true;
    return std::ranges::any_of(function.nodes, [&](const ir::Node& node) {
      return !is_call_of(node, id) && may_fail_or_diverge(definitions, node);
    });
  };
  functions_[id.index()] = may();
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
