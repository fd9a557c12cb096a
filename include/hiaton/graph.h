// The static tagged graph: the one cyclic graph that a program is lowered to. It never changes while it runs.
//
// Tokens travel along its edges with a tag, a list of call-site labels and iteration numbers `i : t`,
// innermost first. What each node does with a token `<t, d>` (d may be a hiaton, "dead"):
//
//   Call_i <t,d> = <i:t,d>     Return_i <i:t,d> = <t,d>, any other tag: no output
//   Enter  <t,d> = <0:t,d>     Exit     <n:t,d> = <t,d>     NextIteration <n:t,d> = <n+1:t,d>
//   Switch (<t,d>, <t,p>) = (<t,d>, dead) if p, else (dead, <t,d>): port 0 is the true side
//   Merge: the live input; dead only if all are dead
//   Const: without control edges, a token under every tag; with one, fires when that token comes
//   Op:    fires when every input holds a token of the same tag; dead if any input is dead
//
// Control edges start a Const, or run from the Call nodes of a call site to its Return nodes; nowhere else. A
// dead token does not enter a function or a loop: a Call that gets one makes the Return nodes of its call
// site dead (the control edges from Call to Return), an Enter makes the Exit nodes of its loop dead. A
// constant Enter gives its token to every iteration. NextIteration stops dead tokens, and an Exit those of
// all iterations but the last. Output takes tokens of the empty tag. A node whose inputs are all Const
// without control edges fires once, under the empty tag.
//
// A graph may be split between processes (src/partition/partition.h). Its parts have two nodes more:
//
//   Send   <t,d>: sends <t,d>, d dead or not, along its channel; no output
//   Recv   fires under t when both the token of its control edge and what was sent under t have come; dead if
//          either is
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/initializer.h"
#include "hiaton/op.h"
#include "hiaton/phase.h"
#include "hiaton/shared_string.h"
#include "hiaton/small_vector.h"
#include "hiaton/source.h"
#include "hiaton/strong_id.h"
#include "hiaton/type.h"
#include "hiaton/value.h"

#pragma GCC visibility push(default)
namespace hiaton::graph {

using NodeId = StrongId<struct GraphNodeKind>;
using FunctionId = StrongId<struct GraphFunctionKind>;
using CallSite = StrongId<struct CallSiteKind>;  ///< the label i of Call_i and Return_i
using LoopId = StrongId<struct LoopKind>;
using ParameterId = StrongId<struct ParameterKind>;

enum class NodeKind : uint8_t {
  Input,          ///< a parameter of the program; no inputs
  Output,         ///< a result of the program; one input
  Const,          ///< no data inputs
  Op,             ///< an operation of the catalogue
  Call,           ///< one argument of a call; one input
  Return,         ///< one result of a call; one input
  Merge,          ///< any number of inputs
  Accumulate,     ///< adds its inputs to the gradient of a parameter; no outputs
  Switch,         ///< inputs: data, predicate; outputs: true side, false side
  Enter,          ///< one variable or constant of a loop; one input
  Exit,           ///< one result of a loop; one input
  NextIteration,  ///< one input
  Send,           ///< to another process; one input, no outputs
  Recv,           ///< from another process; no inputs, one control edge that brings the tags
};

/// "Call", "NextIteration", ...
std::string_view name_of(NodeKind kind);

/// One output of a node.
struct OutPort {
  NodeId node;
  uint32_t port = 0;

  friend auto operator<=>(const OutPort&, const OutPort&) = default;
};

/// One data input of a node.
struct InPort {
  NodeId node;
  uint32_t port = 0;

  friend auto operator<=>(const InPort&, const InPort&) = default;
};

using OutPorts = SmallVector<OutPort, 2>;

struct Node {
  NodeKind kind;
  OutPorts inputs{};                   ///< data edges, by input port
  SmallVector<OutPort, 1> controls{};  ///< control edges: only order and deadness count, not the value
  Type type{};                         ///< the type of every output; for Output, of the input
  FunctionId function{};               ///< the body it stands in; a Call or Return stands in the caller's
  int32_t parameter = -1;  ///< Const: its value is this parameter of the program; Accumulate: whose gradient
  const OpDef* op = nullptr;  ///< Op
  Attributes attributes{};    ///< Op, Accumulate, and a Const that chooses a copy (turns.h)
  Value constant{};           ///< Const
  CallSite site{};            ///< Call, Return
  LoopId loop{};              ///< Enter, Exit, NextIteration
  /// Which parameter (Input, Call), result (Output, Return), variable (Enter, Exit) or channel (Send, Recv).
  uint32_t index = 0;
  bool loop_constant = false;  ///< Enter: the same value in every iteration
  SharedString name{};         ///< a name for people; may be empty
  Span span{};
  SharedString placement{};  ///< where it is to run; empty: anywhere

  std::size_t output_count() const {
    if (kind == NodeKind::Output || kind == NodeKind::Accumulate || kind == NodeKind::Send) return 0;
    return kind == NodeKind::Switch ? 2 : 1;
  }
};

/// A body, which stands in the graph once.
struct Function {
  std::string name;
  std::vector<std::string> param_names;
  std::vector<OutPort> params;  ///< the Merge (in the first function, the Input) of each parameter
  std::vector<OutPort> results;
  bool triggered = false;     ///< it has no parameters of its own: params[0] is a bool that only starts it
  std::vector<Phase> phases;  ///< empty: one phase
  Span span;
  std::string placement;
};

/// A learned tensor that the bodies see: a Const holds it under every tag.
struct Parameter {
  std::string name;
  Type type;  ///< fixed dimensions
  Initializer initial{};
  std::string placement{};  ///< where it is, and the operations that read it; empty: everywhere
};

/// One textual call.
struct Site {
  FunctionId caller;
  FunctionId callee;
  std::vector<NodeId> calls;    ///< by argument
  std::vector<NodeId> returns;  ///< by result
  Span span;
};

struct Loop {
  FunctionId function;
  std::vector<NodeId> enters;
  std::vector<NodeId> exits;
  std::vector<NodeId> nexts;
  Span span;
  LoopId parent{};  ///< the loop it stands in, if any; found by finish()
};

/// Immutable once built. Node indices are stable and dense.
class Graph {
 public:
  const std::shared_ptr<const Source>& source() const { return source_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Function>& functions() const { return functions_; }
  const std::vector<Site>& sites() const { return sites_; }
  const std::vector<Loop>& loops() const { return loops_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const Node& operator[](NodeId id) const { return nodes_[id.index()]; }
  const Function& operator[](FunctionId id) const { return functions_[id.index()]; }
  const Site& operator[](CallSite id) const { return sites_[id.index()]; }
  const Loop& operator[](LoopId id) const { return loops_[id.index()]; }

  /// The first function is the program. Nothing calls it.
  FunctionId main() const { return FunctionId(0); }
  /// The Input nodes, by parameter of the program.
  const std::vector<NodeId>& inputs() const { return inputs_; }
  /// The Output nodes, by result of the program.
  const std::vector<NodeId>& outputs() const { return outputs_; }
  /// Who reads this output through a data edge. A Switch has two outputs, all others one.
  std::span<const InPort> consumers(OutPort from) const { return consumers_.of(from); }
  /// Who waits for this output through a control edge.
  std::span<const NodeId> control_consumers(OutPort from) const { return control_consumers_.of(from); }
  /// Whether it is what one process has of a graph: only together with the parts of the others it runs.
  bool is_part() const { return is_part_; }
  /// The innermost loop whose iterations are in the tags of the tokens that this node makes; invalid outside
  /// loops and for a Const without control edges.
  LoopId loop_of(NodeId node) const { return loop_of_[node.index()]; }

 private:
  friend class GraphBuilder;
  friend class PhasedProgram;
  Graph() = default;
  void index_readers();

  /// For each output of each node, in one array: who reads it.
  template <class Reader>
  struct Readers {
    static constexpr std::size_t kPorts = 2;
    std::vector<uint32_t> starts;  ///< by node * kPorts + port, and one more
    std::vector<Reader> all;

    std::span<const Reader> of(OutPort from) const {
      const std::size_t slot = from.node.index() * kPorts + from.port;
      return std::span(all).subspan(starts[slot], starts[slot + 1] - starts[slot]);
    }
  };

  std::shared_ptr<const Source> source_;
  std::vector<Node> nodes_;
  std::vector<Function> functions_;
  std::vector<Site> sites_;
  std::vector<Loop> loops_;
  std::vector<Parameter> parameters_;
  std::vector<NodeId> inputs_;
  std::vector<NodeId> outputs_;
  Readers<InPort> consumers_;
  Readers<NodeId> control_consumers_;
  std::vector<LoopId> loop_of_;
  bool is_part_ = false;
};

/// Makes a graph by hand or from a pass. Nodes go into the function that add_function or in_function named
/// last. Nothing is checked before finish(), except where said.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::shared_ptr<const Source> source = nullptr);

  /// The first function is the program.
  FunctionId add_function(std::string name, Span span = {});
  void in_function(FunctionId id);
  CallSite add_site(FunctionId callee, Span span = {});
  LoopId add_loop(Span span = {});

  /// The next parameter of the program: an Input, declared as parameter of the current function.
  OutPort input(std::string name, Type type);
  /// The next result of the program: an Output; `from` becomes a result of the current function.
  NodeId output(OutPort from);
  OutPort constant(Value value);
  /// A constant of this type. A data value needs it: it does not tell its type.
  OutPort constant(Value value, Type type);
  /// Declares the next learned tensor of the program: its number.
  std::size_t add_parameter(std::string name, Type type, Initializer initial = {},
                            std::string placement = {});
  /// A learned tensor, under every tag.
  OutPort parameter(std::size_t number);
  NodeId accumulate(std::size_t parameter, Accumulation how, OutPorts inputs);
  OutPort op(const OpDef& op, OutPorts inputs, Type type, Attributes attributes = {});
  /// Type checked by the operation's own rule. Throws ProgramError.
  OutPort op(const OpDef& op, OutPorts inputs);
  OutPort merge(Type type, OutPorts inputs = {});
  void add_input(OutPort merge, OutPort from);
  struct Sides {
    OutPort when_true;
    OutPort when_false;
  };
  Sides switch_on(OutPort data, OutPort predicate);
  OutPort enter(LoopId loop, OutPort from, bool loop_constant = false);
  OutPort exit(LoopId loop, OutPort from);
  OutPort next_iteration(LoopId loop, OutPort from);
  /// The next argument of the call site, in order.
  NodeId call(CallSite site, OutPort argument);
  /// The next result of the call site, in order: `from` is the callee's result. finish() connects a Return
  /// that was given no valid `from` to the result that the callee has by then, and adds the control edges
  /// from the site's Call nodes.
  OutPort return_from(CallSite site, OutPort from, Type type);
  OutPort return_from(CallSite site, Type type) { return return_from(site, OutPort{}, std::move(type)); }
  void add_control(NodeId to, OutPort from);
  /// Appends a node as it is; only its `index` is set, to its place in its call site, loop or program. With a
  /// Send or Recv, the graph is a part.
  NodeId add(Node node);

  /// Declares the next parameter of the current function: its Merge.
  void add_param(std::string name, OutPort value);
  /// Declares the next result of the current function.
  void add_result(OutPort value);
  /// The current function has no parameters of its own; the one it has, a bool, only starts it.
  void set_triggered();

  /// Throws ProgramError where there is none (also all above that take an id).
  Node& node(NodeId id);
  Node& node(OutPort port) { return node(port.node); }
  Function& function(FunctionId id);
  std::size_t node_count() const { return graph_.nodes_.size(); }
  /// Room for about this many nodes: only saves time.
  void reserve(std::size_t nodes) { graph_.nodes_.reserve(nodes); }

  /// Freezes and validates. Throws ProgramError that lists every node that breaks a rule, and the rule.
  Graph finish();

 private:
  Site& site(CallSite id);
  Loop& loop(LoopId id);
  Type type_of(OutPort port) const;
  void connect_returns();
  std::size_t arguments_before_result(const Site& site, std::size_t result) const;

  Graph graph_;
  FunctionId current_;
};

/// What is wrong with a graph, one message each; empty for a legal graph. finish() and from_json() call it.
std::vector<std::string> validate(const Graph& graph);

/// The graph, whose program has the phases in which it can take its parameters and give its results, both in
/// their order: as many as there are results that wait for fewer parameters than a later one. The last one
/// may have no results.
Graph in_phases(const Graph& graph);

/// One line a node: `%12 = Call_3(%4) : i64  # fib`.
std::string to_text(const Graph& graph);

/// What a picture shows. A function whose body is left out is one box at each of its calls.
struct DrawOptions {
  std::vector<std::string> only{};       ///< functions to draw; empty: all
  std::vector<std::string> collapsed{};  ///< functions to leave out
  bool legend = false;
  bool roomy = false;  ///< more space between the nodes, for what is shown on the edges
};
/// For Graphviz: functions as labelled boxes, labels on Call and Return, control edges dashed, the backward
/// phase of gradients in a colour of its own. Node %12 has the id n12, its first input the id e12_0, its
/// first control edge c12_0. Throws ProgramError where the options name a function that there is not.
std::string to_dot(const Graph& graph, const DrawOptions& options = {});
/// The picture that Graphviz makes of to_dot(). Throws ProgramError where its program `dot` is not installed.
std::string to_svg(const Graph& graph, const DrawOptions& options = {});
/// What one process has of a graph, and how pictures show it: a box with Send and Recv nodes, which edges
/// join with those of the others; red is what is copied to make tags.
struct DrawnPart {
  const Graph& graph;
  std::string title;
  std::vector<bool> is_of_state_machine;  ///< by node
};
/// Node %12 of the second part has the id p1_n12. Each Recv has its Send in one of the parts.
std::string to_dot(std::span<const DrawnPart> parts, const DrawOptions& options = {});
std::string to_svg(std::span<const DrawnPart> parts, const DrawOptions& options = {});
/// The saved form; load() reads it back to an equal graph. Throws ProgramError for a part.
std::string to_json(const Graph& graph);
/// The longest saved form that files are read for, in bytes.
inline constexpr std::size_t kMaxSavedBytes = std::size_t{256} << 20;
/// Throws ProgramError that says what is wrong and where.
Graph from_json(std::string_view text, const std::string& file_name);

}  // namespace hiaton::graph
#pragma GCC visibility pop
