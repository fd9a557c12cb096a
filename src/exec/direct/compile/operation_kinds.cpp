#include "exec/direct/compile/operation_kinds.h"

namespace hiaton::exec::direct {

bool is_string_length(const graph::Node& node) {
  return node.op->string_look == StringLook::Length;
}

bool is_code_point(const graph::Node& node) {
  return node.op->string_look == StringLook::CodePoint;
}

bool is_tensor_operation(const graph::Graph& graph, const Structure& structure, const graph::Node& node) {
  if (is_string_length(node) || is_code_point(node)) return false;
  if (has_role(node, Role::String)) return true;
  if (node.op->fusion.value == Fusion::Data || has_role(node, Role::Identity)) return false;
  return !has_kernel(graph, structure, node) && node.op->tensor_kernel.value != nullptr;
}

}  // namespace hiaton::exec::direct
