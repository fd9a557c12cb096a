// The transformation of programs to one static tagged graph (the paper's section 3):
//
//   - Number the calls of the program: each textual call is a call site with a label i.
//   - Call i of f with m arguments and k results: m nodes Call_i, one for each argument, and k nodes
//   Return_i,
//     one for each result.
//   - Each parameter of f: a Merge, fed by the Call_i of that parameter of all call sites i of f.
//   - Each result of f feeds its Return_i of all call sites i of f.
//   - A control edge from each Call_i to each Return_i of the same call site.
//
// so that each body stands in the graph once. What the bodies hold (see lower_body.cpp):
//
//   - If: each value from outside goes through one Switch, whose sides the branches read; each result is a
//     Merge of the branches' results.
//   - While: each state variable is Enter -> Merge(Enter, NextIteration) -> Switch by the condition: its true
//     side goes to the body and back by NextIteration, its false side to Exit. A value from outside comes by
//     an Enter for loop constants; to the body it also goes through a Switch by the condition.
//   - A constant gives a token under every tag. Where that would start something more often than the program
//     does (all inputs of a node constant, or the result of a body or branch), a control edge from a pivot
//     triggers it: a value that has a token exactly when the body or branch runs.
//
// The first function is the paper's graph of `result`: nothing calls it. Where the program calls its own
// main, it is a function of its own that only calls main.
#include <fmt/format.h>

#include "hiaton/error.h"
#include "hiaton/passes.h"
#include "passes/call_graph.h"
#include "passes/lower_body.h"

namespace hiaton::passes {
namespace {

using graph::OutPort;
using graph::OutPorts;

/// Which functions the program needs, and whether one of them calls its main.
struct Reached {
  std::vector<bool> functions;
  bool main_is_called = false;
};

Reached find_reached(const ir::Module& module, ir::FunctionId main) {
  const CallGraph calls = call_graph(module);
  Reached reached{.functions = reachable(calls, main)};
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (!reached.functions[i]) continue;
    for (ir::FunctionId callee : calls.callees[i]) reached.main_is_called |= callee == main;
  }
  return reached;
}

void require_bodies(const ir::Module& module, const Reached& reached) {
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (!reached.functions[i] || module.functions[i].body.valid()) continue;
    throw ProgramError(
        fmt::format("function '{}' is a gradient that is still to be derived", module.functions[i].name));
  }
}

/// Nothing that a caller passes starts the function.
bool needs_trigger(const ir::Function& function) {
  return function.params_of(0).count == 0;
}

/// The functions of the graph: the program first, the others in the order of the module.
void declare_functions(Program& program, ir::FunctionId main, const Reached& reached) {
  const auto declare = [&](std::size_t index) {
    const ir::Function& function = program.module.functions[index];
    program.functions[index] = program.builder.add_function(function.name, function.span);
    program.builder.function(program.functions[index]).placement = function.placement;
    std::vector<Phase>& phases = program.builder.function(program.functions[index]).phases;
    phases = function.phases;
    if (!phases.empty() && needs_trigger(function)) phases[0].params = 1;
  };
  if (reached.main_is_called) program.builder.add_function("program");
  declare(main.index());
  for (std::size_t i = 0; i < program.module.functions.size(); ++i) {
    if (reached.functions[i] && ir::FunctionId(i) != main) declare(i);
  }
}

OutPorts make_inputs(graph::GraphBuilder& builder, const ir::Function& main) {
  OutPorts inputs;
  for (const ir::ValueInfo& param : main.params) {
    inputs.push_back(builder.input(param.name, param.type));
    builder.node(inputs.back()).span = main.span;
  }
  return inputs;
}

void make_outputs(graph::GraphBuilder& builder, const ir::Function& main, const OutPorts& results) {
  for (OutPort result : results) builder.node(builder.output(result)).span = main.span;
}

/// About as many nodes as the graph will have, or more.
std::size_t estimate_nodes(const ir::Module& module) {
  std::size_t nodes = 0;
  for (const ir::Function& function : module.functions)
    nodes += 2 * (function.nodes.size() + function.params.size());
  return nodes;
}

/// A main that nothing calls.
void lower_main(Program& program, const ir::Function& main) {
  const OutPorts inputs = make_inputs(program.builder, main);
  make_outputs(program.builder, main, BodyLowering(program, main, inputs, OutPort{}).run());
}

/// A first function that only calls main.
void lower_call_of_main(Program& program, const ir::Function& main, graph::FunctionId callee) {
  OutPorts arguments = make_inputs(program.builder, main);
  if (arguments.empty()) arguments.push_back(program.builder.constant(Value(true)));
  make_outputs(program.builder, main, lower_call(program, callee, arguments, main.results, Span{}));
}

void lower_function(Program& program, const ir::Function& function) {
  graph::GraphBuilder& builder = program.builder;
  const auto add_param = [&](const SharedString& name, const Type& type) {
    const OutPort merge = builder.merge(type);
    builder.node(merge).name = name;
    builder.node(merge).span = function.span;
    builder.add_param(name, merge);
    return merge;
  };
  OutPort start;
  if (needs_trigger(function)) {
    start = add_param("", DType::Bool);
    if (function.params.empty()) builder.set_triggered();
  }
  OutPorts params;
  for (const ir::ValueInfo& param : function.params) params.push_back(add_param(param.name, param.type));
  if (!start.node.valid()) start = params[0];
  for (OutPort result : BodyLowering(program, function, params, start).run()) builder.add_result(result);
}

/// "Each parameter: a Merge, fed by the Call_i of all call sites."
void connect_calls(Program& program) {
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    const graph::NodeId call = program.calls[i];
    const std::size_t param = program.builder.node(call).index;
    program.builder.add_input(program.builder.function(program.callees[i]).params[param], {call});
  }
}

}  // namespace

graph::Graph lower(const ir::Module& module) {
  const ir::FunctionId main = module.entry.valid() ? module.entry : module.function_named("main");
  const Reached reached = find_reached(module, main);
  require_bodies(module, reached);
  graph::GraphBuilder builder(module.source);
  builder.reserve(estimate_nodes(module));
  Program program{module, builder, std::vector<graph::FunctionId>(module.functions.size()), {}, {}};
  for (const ir::Parameter& parameter : module.parameters)
    builder.add_parameter(parameter.name, parameter.type, parameter.initial, parameter.placement);
  declare_functions(program, main, reached);

  builder.in_function(graph::FunctionId(0));
  if (reached.main_is_called) {
    lower_call_of_main(program, module[main], program.functions[main.index()]);
  } else {
    lower_main(program, module[main]);
  }
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const graph::FunctionId function = program.functions[i];
    if (!function.valid() || function == graph::FunctionId(0)) continue;
    builder.in_function(function);
    lower_function(program, module.functions[i]);
  }
  connect_calls(program);
  return builder.finish();
}

}  // namespace hiaton::passes
