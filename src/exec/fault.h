// From what went wrong in a run to the RunError a person reads. Shared by all executors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "hiaton/value.h"

namespace hiaton::exec {

/// The calls around a place in a run, read one by one from the innermost outwards: a chain of ten million
/// calls need not be copied to be shown. The program itself (main) is not one of them.
class CallChain {
 public:
  virtual ~CallChain() = default;
  /// Goes to the innermost call.
  virtual void rewind() = 0;
  /// False once the cursor is past the outermost call.
  virtual bool at_call() const = 0;
  virtual void go_outward() = 0;
  virtual graph::CallSite site() const = 0;
  /// Whose arguments these are, where it may be another function than the one that was called at the site:
  /// that goes on in this one by tail calls.
  virtual graph::FunctionId function() const { return graph::FunctionId(); }
  /// By parameter of that function; none where the argument had not come.
  virtual std::vector<std::optional<Value>> arguments() const = 0;
};

/// As the program has it: the name of the function that it extends by gradients.
std::string written_name(const graph::Function& function);

/// The place in a run at which something happened.
struct RunPlace {
  const graph::Graph& graph;
  std::span<const Value> program_arguments;
  CallChain& chain;
};

/// A node waits for inputs that never come.
struct WaitingNode {
  graph::NodeId node;
  std::vector<uint64_t> tag;  ///< innermost first
  std::size_t missing = 0;    ///< how many of its inputs have not come
};

/// The id of the assumption that failed; 0 for other faults.
int64_t assumption_of(Fault fault, std::span<const int64_t> attributes);

/// What an operation that gives a `type` refused, and why: "division by zero: 7 / 0".
std::string operation_message(const OpDef& op, std::span<const int64_t> attributes, const Type& type,
                              std::span<const Value> operands, Fault fault);

/// An operation refused its operands.
RunError operation_error(const RunPlace& place, graph::NodeId failed, std::span<const Value> operands,
                         Fault fault);

/// A budget of `options` is used up, or the run was interrupted, or memory ended. Says which function (or
/// `loop`, the innermost one under way, where there is one in the innermost call) took it, and the option
/// that raises the budget.
RunError budget_error(const RunPlace& place, const RunOptions& options, Fault fault,
                      std::optional<graph::LoopId> loop = std::nullopt);

/// A call of `called` as the chain of an error shows it, but for its place. `function` is called, or what
/// that goes on in by tail calls, and `arguments` are its.
CallRecord shown_call(const graph::Graph& graph, graph::FunctionId called, graph::FunctionId function,
                      std::span<const std::optional<Value>> arguments);

/// The error of a call that another process ran, with the calls around it here, that call first. Its chain
/// ends with the call as that process knows it: without its place.
RunError with_calls_around(const RunPlace& place, const RunError& error);

/// The error, which names the process that it comes from, and its host where the processes are real ones.
RunError on_process(const RunError& error, int process, std::string_view host = {});

/// All tokens are consumed and `output` has no value. `was_dead`: it got a dead token.
RunError no_result_error(const graph::Graph& graph, graph::NodeId output, bool was_dead,
                         std::span<const WaitingNode> waiting);

/// "%12 Merge of fact at fact.hia:1:20".
std::string describe(const graph::Graph& graph, graph::NodeId node);

/// The function that people know as the program: the first one, or, where it only calls a main that calls
/// itself, that main.
graph::FunctionId find_program(const graph::Graph& graph);

}  // namespace hiaton::exec
