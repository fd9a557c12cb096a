// A plan, pass by pass: flow_passes.h says what each needs and what it promises.
#include <utility>

#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {

Structure structure_of(const graph::Graph& graph, const std::vector<bool>& direct) {
  for (const graph::Loop& loop : graph.loops()) {
    if (!direct[loop.function.index()]) throw Unsupported{"it has loops"};
  }
  std::vector<bool> functions = direct;
  functions.flip();
  try {
    return find_blocks(graph, std::move(functions));
  } catch (const Unstructured& found) {
    throw Unsupported{found.reason};
  }
}

Plan compile(const graph::Graph& graph, OverflowMode overflow) {
  return compile(graph, std::vector<bool>(graph.functions().size(), false), overflow);
}

Plan compile(const graph::Graph& graph, const std::vector<bool>& direct, OverflowMode overflow) {
  return compile(graph, nullptr, direct, overflow);
}

Plan compile(const HomedGraph& homed, const std::vector<bool>& direct, OverflowMode overflow) {
  return compile(homed.graph, &homed, direct, overflow);
}

Plan compile(const graph::Graph& graph, const HomedGraph* homed, const std::vector<bool>& direct,
             OverflowMode overflow) {
  Plan plan;
  plan.functions.resize(graph.functions().size());
  const Structure structure = structure_of(graph, direct);
  std::vector<std::vector<graph::NodeId>> nodes(graph.functions().size());
  for (graph::NodeId id : structure.order) nodes[graph[id].function.index()].push_back(id);
  BodyTables tables(graph);
  for (std::size_t f = 0; f < nodes.size(); ++f) {
    plan.functions[f].id = graph::FunctionId(f);
    if (!direct[f])
      compile_body(graph, structure, graph::FunctionId(f), std::move(nodes[f]), overflow, tables, plan);
  }
  bind_calls(direct, plan);
  if (homed != nullptr) place_functions(*homed, plan);
  order_updates(graph, plan);
  sink_returns(plan);
  reduce_dependencies(plan);
  number_counters(plan);
  choose_fast_steps(graph, plan);
  prioritize_regions(plan);
  choose_orders(plan);
  find_tail_calls(graph, structure, plan);
  weigh_calls(plan);
  find_last_uses(graph, plan);
  mark_results(graph, plan);
  share_buffers(graph, plan);
  place_slots(plan);
#if !defined(NDEBUG)
  verify(graph, plan);
#endif
  return plan;
}

void bind_calls(const std::vector<bool>& direct, Plan& plan) {
  for (Function& function : plan.functions) {
    for (Call& call : function.calls) {
      const Function& callee = plan.functions[call.callee];
      call.is_direct = direct[call.callee];
      if (call.is_direct) continue;  // its arguments go by their numbers
      for (Move& move : call.arguments) move.to = callee.params[move.to];
      call.params = callee.param_items[call.params];
    }
  }
}

}  // namespace hiaton::exec::flow
