// What one worker draws of direct code: its stretches of work, and in them the calls that are not
// nested too deep. Only plans that are compiled for it (PlanOptions::traced) tell where calls begin and end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exec/direct/direct_plan.h"
#include "hiaton/trace.h"

namespace hiaton::exec::direct {

struct Frame;
class FramePool;

/// What slices are called, by function.
struct CallKinds {
  CallKinds(Trace& trace, const graph::Graph& graph);

  std::vector<Trace::KindId> call;
  std::vector<Trace::KindId> stolen;
  std::vector<Trace::KindId> iteration;  ///< a task of a loop, stolen
  std::vector<Trace::KindId> branch;     ///< a branch or loop as a task, stolen
  std::vector<Trace::KindId> continued;
};

class CallTrace {
 public:
  CallTrace(const Plan& plan, FramePool& pool) : plan_(plan), pool_(pool) {}

  bool is_on() const { return track_ != nullptr; }
  void turn_on(const CallKinds& kinds, Trace& trace, Trace::Track& track);

  /// The program starts here.
  void begin_program(std::span<const Value> arguments);
  /// A stolen call starts here; the arrow comes from where it was given away.
  void begin_gift(const Group::Call& call, const Slot* from, uint64_t arrow);
  /// A call of another process starts here, in a body whose arguments these are.
  void begin_sent(const Instruction* entry, std::span<const Slot> arguments, uint64_t arrow);
  /// A call that this worker had put aside starts here.
  void begin_aside(const Instruction* entry, std::span<const Slot> arguments);
  /// The oldest free call is given away: the arrow to its thief.
  uint64_t give();
  /// A call is sent away by this arrow.
  void send(uint64_t arrow) { track_->start_arrow(arrow); }
  /// The frame of this instruction goes on here, where it has not been before.
  void go_on(const Instruction* pc);
  /// The frame of the group goes on here, where it has not been before.
  void go_on(const Group& group);
  /// The stretch of work ends.
  void end_stretch();

  /// In the hot path: no more than a count where the call is too deep to be drawn.
  void begin_call(const Frame* frame, const Instruction* call) {
    ++calls_;
    if (depth_++ < limit_) [[unlikely]]
      draw_begin(frame, call);
  }
  void end_call() {
    if (--depth_ < limit_) [[unlikely]]
      draw_end();
  }

 private:
  void draw_begin(const Frame* frame, const Instruction* call);
  void draw_end();
  void begin(Trace::KindId kind, std::span<const Slot> arguments);
  void begin_body(const Plan::Body& body, std::span<const Slot> arguments);
  void end();
  graph::FunctionId function_at(const Instruction* pc) const { return plan_.body_at(pc).function; }

  int32_t depth_ = 0;  ///< calls around the running one, in this stretch
  int32_t limit_ = 0;
  uint64_t calls_ = 0;
  const Plan& plan_;
  FramePool& pool_;
  const CallKinds* kinds_ = nullptr;
  Trace* trace_ = nullptr;
  Trace::Track* track_ = nullptr;
};

}  // namespace hiaton::exec::direct
