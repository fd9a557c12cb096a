#include "exec/direct/compile/held_constants.h"

#include "exec/direct/compile/operation_kinds.h"
#include "exec/direct/direct_plan.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {
namespace {

/// Whether the value is a constant that fits into a number of this size.
template <class Number>
bool is_small(const Node& node) {
  if (!is_known(node)) return false;
  const int64_t number = node.constant.slot().i64;
  return static_cast<Number>(number) == number;
}

}  // namespace

std::array<bool, 3> held_operands(const Graph& graph, const Structure& structure, const Node& node,
                                  OverflowMode overflow) {
  if (node.inputs.size() != 2 || !fast_binary(kernel_of(graph, structure, node, overflow))) return {};
  const auto is_constant = [&](std::size_t i) { return is_known(graph[structure.origin(node.inputs[i])]); };
  return {is_constant(0) && !is_constant(1), is_constant(1), false};
}

std::vector<bool> held_arguments(const Graph& graph, const Structure& structure, const ScheduledCall& call) {
  const std::size_t count = call.arguments.size();
  std::size_t room = count > kMostPassed ? count : count == 2 || count == 3 ? 1 : 0;
  std::vector<bool> held(count, false);
  for (std::size_t i = 0; i < count && room > 0; ++i) {
    const PassedValue& passed = call.arguments[i];
    held[i] = !passed.sum.valid() && is_small<int16_t>(graph[structure.origin(passed.port)]);
    if (held[i]) --room;
  }
  return held;
}

std::optional<std::size_t> held_field(const Graph& graph, const Structure& structure, const Node& make) {
  if (make.inputs.size() > kMostFieldsNamed) return std::nullopt;
  for (std::size_t i = 0; i < make.inputs.size(); ++i) {
    if (is_small<int32_t>(graph[structure.origin(make.inputs[i])])) return i;
  }
  return std::nullopt;
}

}  // namespace hiaton::exec::direct
