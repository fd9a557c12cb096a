#include <algorithm>

#include "exec/direct/compile/emit.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {
namespace {

SentFunction describe(const EmitContext& context, FunctionId id) {
  const Graph& graph = context.graph;
  SentFunction sent{.home = context.options.homes[id.index()]};
  for (OutPort param : graph[id].params) {
    const std::size_t number = sent.argument_types.size();
    const bool is_counted = !graph[param.node].type.is_scalar();
    sent.argument_types.push_back(graph[param.node].type);
    sent.is_taken_over.push_back(is_counted && !context.ownership.is_borrowed(id, number));
  }
  for (OutPort result : graph[id].results) sent.result_types.push_back(graph[result.node].type);
  for (FunctionId copy : context.options.copies_of(id)) sent.copies.push_back(copy.value);
  if (sent.copies.empty()) sent.copies.push_back(id.value);
  return sent;
}

void emit_sent_call(EmitContext& context, FunctionId id) {
  Plan& plan = context.plan;
  const SentFunction& sent = plan.sent[id.index()];
  const std::size_t slots = std::max(sent.argument_types.size(), sent.result_types.size());
  Plan::Body body{.function = id,
                  .part = Plan::Body::Part::Sent,
                  .begin = append_instruction(plan, Opcode::Header),
                  .slots = static_cast<uint16_t>(slots)};
  plan.code[body.begin].d = body.slots;
  const uint32_t send = append_instruction(plan, Opcode::SendCall);
  plan.code[send].number = id.index();
  if (sent.result_types.size() == 1) {
    append_instruction(plan, Opcode::Return1);
  } else {
    plan.return_lists.emplace_back();
    for (std::size_t i = 0; i < sent.result_types.size(); ++i)
      plan.return_lists.back().slots.push_back(static_cast<uint16_t>(i));
    plan.code[append_instruction(plan, Opcode::ReturnN)].returns = &plan.return_lists.back();
  }
  body.end = static_cast<uint32_t>(plan.code.size());
  plan.bodies.push_back(body);
}

}  // namespace

void emit_sent_calls(EmitContext& context) {
  const PlanOptions& options = context.options;
  if (options.homes.empty()) return;
  const Graph& graph = context.graph;
  for (std::size_t f = 0; f < graph.functions().size(); ++f)
    context.plan.sent.push_back(describe(context, FunctionId(f)));
  std::vector<bool> is_emitted(graph.functions().size(), false);
  for (std::size_t s = 0; s < graph.sites().size(); ++s) {
    const FunctionId callee = graph.sites()[s].callee;
    if (!options.is_sent(graph, CallSite(s)) || is_emitted[callee.index()]) continue;
    is_emitted[callee.index()] = true;
    emit_sent_call(context, callee);
  }
  if (options.homes[graph.main().index()] != 0) emit_sent_call(context, graph.main());
}

}  // namespace hiaton::exec::direct
