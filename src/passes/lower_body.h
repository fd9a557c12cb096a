#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/ir.h"
#include "passes/captures.h"

namespace hiaton::passes {

/// What lower() knows of the whole program while it lowers one body after the other.
struct Program {
  const ir::Module& module;
  graph::GraphBuilder& builder;
  std::vector<graph::FunctionId> functions;  ///< by function of the module; invalid where not reached
  std::vector<graph::NodeId> calls;          ///< every Call node
  std::vector<graph::FunctionId> callees;    ///< what each of `calls` calls
};

/// The Call and Return nodes of one call: the results.
graph::OutPorts lower_call(Program& program, graph::FunctionId callee,
                           std::span<const graph::OutPort> arguments, std::span<const Type> results,
                           Span span);

/// Lowers the body of one function into the builder's current function.
class BodyLowering {
 public:
  /// `params`: where the parameters come from. `pivot`: a value that has a token whenever the body runs, by
  /// which constants are triggered; invalid for the body of the program, which runs once.
  BodyLowering(Program& program, const ir::Function& function, std::span<const graph::OutPort> params,
               graph::OutPort pivot);

  /// The results of the function.
  graph::OutPorts run();

 private:
  enum class Role : uint8_t { Body, Then, Else, Condition, LoopBody };

  /// A block that is being lowered.
  struct Scope {
    Role role;
    ir::BlockId block;
    graph::OutPort pivot{};  ///< invalid: not needed (Body of the program) or not made yet (Then, Else)
    std::size_t next = 0;    ///< node
  };

  struct OpenIf {
    const ir::Node* node;
    graph::OutPort predicate;
    graph::OutPorts outside{};                              ///< by capture
    SmallVector<graph::GraphBuilder::Sides, 1> switches{};  ///< by capture
    graph::GraphBuilder::Sides pivots{};
    graph::OutPorts then_results{};
  };

  /// What later Ifs of the family need of the first.
  struct Steered {
    graph::OutPort predicate;
    graph::GraphBuilder::Sides pivots;
  };

  struct OpenLoop {
    const ir::Node* node;
    graph::LoopId loop;
    graph::OutPorts merges{};  ///< by state variable
    SmallVector<graph::GraphBuilder::Sides, 1> switches{};
    graph::OutPorts outside{};  ///< by capture of the condition block
    graph::OutPorts entered{};  ///< by capture of the body block
  };

  void lower_node(const ir::Node& node);
  void lower_op(const ir::Node& node);
  void lower_call_node(const ir::Node& node);
  void lower_resume(const ir::Node& node);
  void lower_accumulate(const ir::Node& node);
  void open_if(const ir::Node& node);
  void open_loop(const ir::Node& node);
  void close_block();
  void close_then();
  void close_else();
  void close_condition();
  void close_loop_body();

  /// Where the value is in the current scope; a constant as a token under every tag.
  graph::OutPort at(ir::ValueId value);
  /// Where the value has a token exactly when the current scope runs: a constant is triggered.
  graph::OutPort live(ir::ValueId value);
  graph::OutPorts live(std::span<const ir::ValueId> values);
  graph::OutPort live_constant(const Value& value, const ir::Node& origin);
  graph::OutPort constant_node(const ir::Node& origin);
  graph::OutPort constant(const Value& value, const ir::Node& origin, graph::OutPort trigger);
  /// A value to steer one If or loop by, and no other.
  graph::OutPort predicate(ir::ValueId value, bool must_be_live, const ir::Node& steered);
  /// Whether constants need no trigger in the current scope.
  bool runs_once() const { return scopes_.size() == 1 && !scopes_.back().pivot.node.valid(); }
  graph::OutPort pivot();
  void bind(std::span<const ir::ValueId> values, std::span<const graph::OutPort> ports);
  graph::OutPort mark(graph::OutPort port, const ir::Node& origin, const SharedString& name);
  const SharedString& name_of(ir::ValueId value) const { return function_[value].name; }

  Program& program_;
  graph::GraphBuilder& builder_;
  const ir::Function& function_;
  const Captures captures_;
  std::vector<graph::OutPort> ports_;                     ///< by value: where it is in the current scope
  std::vector<const ir::Node*> constants_;                ///< by value: its Const node, if it is one
  std::unordered_set<uint64_t> steering_;                 ///< outputs that steer an If or loop already
  std::unordered_map<const ir::Node*, Steered> steered_;  ///< by If
  std::unordered_map<const ir::Node*, graph::CallSite> sites_;  ///< by Call of a function with several phases
  std::vector<Scope> scopes_;  ///< innermost last; explicit, so that nesting needs no C++ stack
  std::vector<OpenIf> ifs_;
  std::vector<OpenLoop> loops_;
  graph::OutPorts results_;
};

}  // namespace hiaton::passes
