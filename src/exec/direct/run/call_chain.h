// What a run of direct code tells of the place where it ended.
#pragma once

#include "exec/direct/run/worker.h"
#include "exec/fault.h"

namespace hiaton::exec::direct {

/// What stands in a slot. A data value has a reference of its own then, which must go while the run lives.
Value value_in(const Type& type, Slot slot);

/// The calls around a frame, read off its parents.
class DirectChain : public CallChain {
 public:
  /// `frame` may be null: no calls.
  DirectChain(const graph::Graph& graph, const Plan& plan, const Frame* frame, const Instruction* pc);

  void rewind() override;
  bool at_call() const override;
  /// Whether there is no frame at all: the run ended before it had one.
  bool is_empty() const { return innermost_.frame == nullptr; }
  void go_outward() override;
  graph::CallSite site() const override;
  /// Whose frame it is.
  graph::FunctionId function() const { return plan_.body_at(now_.pc).function; }
  /// None for a data value that has been handed on.
  std::vector<std::optional<Value>> arguments() const override;

 private:
  struct Position {
    const Frame* frame;
    const Instruction* pc;
  };
  void leave_tasks();

  const graph::Graph& graph_;
  const Plan& plan_;
  const Position innermost_;
  Position now_;
};

/// The calls around one that was given to another process, that call first, whose arguments the other process
/// knows.
class GivenChain : public CallChain {
 public:
  GivenChain(const graph::Graph& graph, const Plan& plan, const Frame* frame, const Group::Call& call);

  void rewind() override;
  bool at_call() const override { return is_at_given_ || outer_.at_call(); }
  void go_outward() override;
  graph::CallSite site() const override { return is_at_given_ ? site_ : outer_.site(); }
  std::vector<std::optional<Value>> arguments() const override;

 private:
  graph::CallSite site_;  ///< none: it was given as a task, which belongs to the function around it
  DirectChain outer_;
  bool is_at_given_;
};

/// What the instruction that failed, which came from `node`, read. It has not written its result.
std::vector<Value> operands_of_failed(const graph::Graph& graph, const Worker& worker, graph::NodeId node);

}  // namespace hiaton::exec::direct
