#include <algorithm>

#include "graph/labels.h"
#include "graph/validate.h"

namespace hiaton::graph {
namespace {

class CallCheck {
 public:
  CallCheck(const Graph& graph, Findings& findings) : graph_(graph), findings_(findings) {}

  void run() {
    for (std::size_t f = 0; f < graph_.functions().size(); ++f) {
      check_signature(FunctionId(f));
      if (FunctionId(f) == graph_.main()) {
        check_program();
      } else {
        check_params(FunctionId(f));
      }
    }
    for (std::size_t s = 0; s < graph_.sites().size(); ++s) check_site(CallSite(s));
  }

 private:
  void check_signature(FunctionId id) {
    const Function& function = graph_[id];
    if (function.param_names.size() != function.params.size()) {
      findings_.at(id, "expected {} names of parameters, found {}", function.params.size(),
                   function.param_names.size());
    }
    check_phases(id);
    for (std::size_t i = 0; i < function.results.size(); ++i) check_result(id, i);
  }

  void check_phases(FunctionId id) {
    const Function& function = graph_[id];
    if (function.phases.empty()) return;
    std::size_t params = 0;
    std::size_t results = 0;
    for (const Phase& phase : function.phases) {
      params += phase.params;
      results += phase.results;
    }
    if (params != function.params.size() || results != function.results.size()) {
      findings_.at(id, "its phases have {} parameters and {} results, the function has {} and {}", params,
                   results, function.params.size(), function.results.size());
    }
  }

  void check_result(FunctionId id, std::size_t index) {
    const OutPort result = graph_[id].results[index];
    const Node* node = source_of(graph_, result);
    if (node == nullptr) {
      findings_.at(id, "result {} comes from {}, which is not an output of a node", index,
                   label_of(graph_, result));
    } else if (node->function != id) {
      findings_.at(id, "result {} comes from another function: from {}", index,
                   findings_.describe(result.node));
    } else if (id != graph_.main() && is_under_every_tag(*node)) {
      findings_.at(result.node,
                   "it is result {} of the function: expected a control edge that starts it, found none",
                   index);
    }
  }

  /// The first function: Input and Output nodes instead of call sites.
  void check_program() {
    const FunctionId id = graph_.main();
    const Function& program = graph_[id];
    if (program.triggered) findings_.at(id, "the program starts by itself: expected it not to be triggered");
    if (!std::equal(program.params.begin(), program.params.end(), graph_.inputs().begin(),
                    graph_.inputs().end(),
                    [](OutPort param, NodeId input) { return param == OutPort{input}; })) {
      findings_.at(id, "expected the Input nodes as its parameters, in order");
    }
    const auto is_output_of = [&](OutPort result, NodeId output) {
      return graph_[output].inputs.empty() || graph_[output].inputs[0] == result;
    };
    if (!std::equal(program.results.begin(), program.results.end(), graph_.outputs().begin(),
                    graph_.outputs().end(), is_output_of)) {
      findings_.at(id, "expected what the Output nodes read as its results, in order");
    }
  }

  void check_params(FunctionId id) {
    const Function& function = graph_[id];
    if (function.params.empty()) {
      findings_.at(id, "expected at least 1 parameter (a bool that starts it, if it has none of its own)");
    }
    for (std::size_t i = 0; i < function.params.size(); ++i) check_param(id, i);
    if (!function.triggered) return;
    const Node* only = function.params.size() == 1 ? source_of(graph_, function.params[0]) : nullptr;
    if (only == nullptr || only->type != Type(DType::Bool)) {
      findings_.at(id, "it is triggered: expected one parameter of type bool");
    }
  }

  void check_param(FunctionId id, std::size_t index) {
    const OutPort param = graph_[id].params[index];
    const Node* merge = source_of(graph_, param);
    if (merge == nullptr || merge->kind != NodeKind::Merge) {
      findings_.at(id, "parameter {} comes from {}: expected a Merge of the Call nodes", index,
                   label_of(graph_, param));
      return;
    }
    if (merge->function != id) findings_.at(param.node, "it is a parameter of another function");
    for (OutPort input : merge->inputs) {
      const Node* call = source_of(graph_, input);
      if (call == nullptr) continue;
      const bool fits = call->kind == NodeKind::Call && call->index == index &&
                        call->site.index() < graph_.sites().size() && graph_[call->site].callee == id;
      if (!fits) {
        findings_.at(param.node,
                     "it is parameter {}: expected inputs from the Call nodes of that argument, found {}",
                     index, findings_.describe(input.node));
      }
    }
  }

  void check_site(CallSite id) {
    const Site& site = graph_[id];
    if (site.callee.index() >= graph_.functions().size()) return;
    if (site.callee == graph_.main()) {
      findings_.at(id, "nothing calls the first function: it is the program");
      return;
    }
    const Function& callee = graph_[site.callee];
    if (site.calls.size() != callee.params.size()) {
      findings_.at(id, "expected {} Call nodes, as many as '{}' has parameters, found {}",
                   callee.params.size(), callee.name, site.calls.size());
    }
    if (site.returns.size() != callee.results.size()) {
      findings_.at(id, "expected {} Return nodes, as many as '{}' has results, found {}",
                   callee.results.size(), callee.name, site.returns.size());
    }
    for (std::size_t i = 0; i < site.calls.size(); ++i) check_call(site, site.calls[i], i);
    for (std::size_t i = 0; i < site.returns.size(); ++i) check_return(site, site.returns[i], i);
  }

  void check_call(const Site& site, NodeId id, std::size_t index) {
    const Function& callee = graph_[site.callee];
    check_caller(site, id);
    if (index >= callee.params.size()) return;
    const auto readers = graph_.consumers({id});
    if (readers.size() != 1 || readers[0].node != callee.params[index].node) {
      findings_.at(id, "expected one reader, the Merge {} of parameter {} of '{}', found {}",
                   label_of(graph_, callee.params[index]), index, callee.name,
                   readers.size() == 1 ? findings_.describe(readers[0].node)
                                       : fmt::format("{} readers", readers.size()));
    }
    for (NodeId reader : graph_.control_consumers({id})) {
      if (graph_[reader].kind != NodeKind::Return || graph_[reader].site != graph_[id].site) {
        findings_.at(reader, "a control edge from {} may lead to the Return nodes of its call site only",
                     findings_.describe(id));
      }
    }
  }

  void check_return(const Site& site, NodeId id, std::size_t index) {
    const Function& callee = graph_[site.callee];
    const Node& node = graph_[id];
    check_caller(site, id);
    if (index < callee.results.size() && node.inputs.size() == 1 && node.inputs[0] != callee.results[index]) {
      findings_.at(id, "expected its input from {}, result {} of '{}', found {}",
                   label_of(graph_, callee.results[index]), index, callee.name,
                   label_of(graph_, node.inputs[0]));
    }
    const bool waits_for_calls =
        (node.controls.size() == site.calls.size() || callee.phases.size() > 1) &&
        node.controls.size() <= site.calls.size() &&
        std::equal(node.controls.begin(), node.controls.end(), site.calls.begin(),
                   [](OutPort control, NodeId call) { return control == OutPort{call}; });
    if (!waits_for_calls) {
      findings_.at(id, "expected control edges from each Call of its call site, in order");
    }
  }

  void check_caller(const Site& site, NodeId id) {
    if (graph_[id].function == site.caller) return;
    findings_.at(id, "expected it in the caller of its call site, {}", findings_.describe(site.caller));
  }

  const Graph& graph_;
  Findings& findings_;
};

}  // namespace

void check_calls(const Graph& graph, Findings& findings) {
  CallCheck(graph, findings).run();
}

}  // namespace hiaton::graph
