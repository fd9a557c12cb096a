#include "exec/direct/run/call_trace.h"

#include <algorithm>

#include "exec/direct/run/direct_frame.h"

namespace hiaton::exec::direct {
namespace {

/// Before the arguments: how many calls are nested in the slice.
constexpr std::size_t kFirstArgument = 1;

Trace::Kind kind_of(const graph::Graph& graph, const graph::Function& function, const char* category) {
  Trace::Kind kind{function.name, category, {{"calls", DType::I64}}};
  const std::size_t params = function.triggered ? 0 : function.params.size();
  for (std::size_t i = 0; i < std::min(params, Trace::kMostFields - kFirstArgument); ++i) {
    const Type& type = graph[function.params[i].node].type;
    kind.fields.push_back({function.param_names[i], type.dtype, type.is_scalar() ? "" : to_string(type)});
  }
  kind.shown = kind.fields.size() - kFirstArgument;
  return kind;
}

}  // namespace

CallKinds::CallKinds(Trace& trace, const graph::Graph& graph) {
  for (const graph::Function& function : graph.functions()) {
    call.push_back(trace.kind(kind_of(graph, function, "call")));
    stolen.push_back(trace.kind(kind_of(graph, function, "stolen call")));
    iteration.push_back(trace.kind({function.name + ", iteration", "stolen call", {{"calls", DType::I64}}}));
    branch.push_back(trace.kind({function.name + ", branch", "stolen call", {{"calls", DType::I64}}}));
    continued.push_back(trace.kind({function.name + ", continued", "continued", {{"calls", DType::I64}}}));
  }
}

void CallTrace::turn_on(const CallKinds& kinds, Trace& trace, Trace::Track& track) {
  kinds_ = &kinds;
  trace_ = &trace;
  track_ = &track;
  limit_ = trace.options().call_depth;
  pool_.track = &track;
}

void CallTrace::begin(Trace::KindId kind, std::span<const Slot> arguments) {
  Slot* fields = track_->begin(kind);
  fields[0].i64 = static_cast<int64_t>(calls_);
  const std::size_t shown = std::min(arguments.size(), Trace::kMostFields - kFirstArgument);
  std::copy_n(arguments.begin(), shown, fields + kFirstArgument);
}

void CallTrace::end() {
  track_->count(pool_.carved(), pool_.bytes());
  Slot* fields = track_->end();
  fields[0].i64 = static_cast<int64_t>(calls_) - fields[0].i64;
}

void CallTrace::begin_program(std::span<const Value> arguments) {
  Slot slots[Trace::kMostFields];
  const std::size_t count = std::min(arguments.size(), std::size(slots));
  for (std::size_t i = 0; i < count; ++i) slots[i] = arguments[i].slot();
  begin(kinds_->call[function_at(plan_.entry).index()], {slots, count});
}

void CallTrace::begin_gift(const Group::Call& call, const Slot* from, uint64_t arrow) {
  Slot slots[Trace::kMostFields];
  const std::size_t count = std::min(call.arguments.size(), std::size(slots));
  for (std::size_t i = 0; i < count; ++i) call.arguments[i].pass(from, &slots[i]);
  begin_body(plan_.body_at(call.entry), {slots, count});
  track_->finish_arrow(arrow);
}

void CallTrace::begin_body(const Plan::Body& body, std::span<const Slot> arguments) {
  switch (body.part) {
    case Plan::Body::Part::Whole:
    case Plan::Body::Part::Sent:
      begin(kinds_->stolen[body.function.index()], arguments);
      break;
    case Plan::Body::Part::Iteration:
      begin(kinds_->iteration[body.function.index()], {});
      break;
    case Plan::Body::Part::Branch:
      begin(kinds_->branch[body.function.index()], {});
      break;
  }
}

void CallTrace::begin_sent(const Instruction* entry, std::span<const Slot> arguments, uint64_t arrow) {
  begin_body(plan_.body_at(entry), arguments);
  track_->finish_arrow(arrow);
}

void CallTrace::begin_aside(const Instruction* entry, std::span<const Slot> arguments) {
  begin_body(plan_.body_at(entry), arguments);
}

uint64_t CallTrace::give() {
  const uint64_t arrow = trace_->new_arrow();
  track_->start_arrow(arrow);
  return arrow;
}

void CallTrace::go_on(const Group& group) {
  go_on(group.joined);
}

/// A worker that waited for others in its own stretch is still in it.
void CallTrace::go_on(const Instruction* pc) {
  if (!track_->has_open()) begin(kinds_->continued[function_at(pc).index()], {});
}

void CallTrace::end_stretch() {
  while (track_->has_open()) end();
  depth_ = 0;
}

void CallTrace::draw_begin(const Frame* frame, const Instruction* call) {
  const bool has_list = passes_list(plan_.opcode(call));
  const Instruction* entry = has_list ? call->calls->target : call->target;
  Slot slots[Trace::kMostFields];
  const std::size_t count = plan_.read_passed(frame->slots, call, slots);
  begin(kinds_->call[function_at(entry).index()], {slots, count});
}

/// The call of a frame that went on here began elsewhere, and has ended there.
void CallTrace::draw_end() {
  if (depth_ < 0) {
    depth_ = 0;
  } else {
    end();
  }
}

}  // namespace hiaton::exec::direct
