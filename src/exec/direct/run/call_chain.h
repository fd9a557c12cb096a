// What a run of direct code tells of the place where it ended.
#pragma once

#include <optional>
#include <vector>

#include "exec/direct/run/direct_worker.h"
#include "exec/frame_chain.h"

namespace hiaton::exec::direct {

/// What stands in a slot. A data value has a reference of its own then, which must go while the run lives.
Value value_in(const Type& type, Slot slot);

/// A frame of direct code, and where it stands.
struct FramePosition {
  const Frame* frame;
  const Instruction* pc;
};

/// The calls around a frame, read off its parents.
class DirectChain : public FrameChain<FramePosition> {
 public:
  /// `frame` may be null: no calls.
  DirectChain(const graph::Graph& graph, const Plan& plan, const Frame* frame, const Instruction* pc);

  bool at_call() const override { return is_call(at()); }
  graph::CallSite site() const override { return site_of(at()); }
  graph::FunctionId function() const override { return plan_.body_at(at().pc).function; }
  /// None for a data value that has been handed on.
  std::vector<std::optional<Value>> arguments() const override;

 private:
  FramePosition around(const FramePosition& position) const override;
  /// The frame of a task is not that of a call: it belongs to its parent's.
  bool is_part(const FramePosition& position) const override;
  bool is_call(const FramePosition& position) const;
  graph::CallSite site_of(const FramePosition& position) const;

  const graph::Graph& graph_;
  const Plan& plan_;
};

/// The calls around a place in one machine or process, then the call that they are in, which another one
/// made, then the calls around that.
class LinkedChain : public CallChain {
 public:
  /// `inner`: none where somebody else knows those calls, and the arguments of the call. `site`: not valid
  /// where there is no such call, but a task of the function around it, or nothing inside of it. `outer` must
  /// live as long.
  LinkedChain(std::optional<DirectChain> inner, graph::CallSite site, CallChain& outer);

  void rewind() override;
  bool at_call() const override { return is_inside_ || outer_.at_call(); }
  void go_outward() override;
  graph::CallSite site() const override;
  graph::FunctionId function() const override;
  std::vector<std::optional<Value>> arguments() const override;

 private:
  bool is_in_inner_call() const { return inner_ && inner_->at_call(); }

  std::optional<DirectChain> inner_;
  const graph::CallSite site_;
  CallChain& outer_;
  bool is_inside_;
};

/// What the instruction that failed, which came from `node`, read. It has not written its result.
std::vector<Value> operands_of_failed(const graph::Graph& graph, const Worker& worker, graph::NodeId node);

}  // namespace hiaton::exec::direct
