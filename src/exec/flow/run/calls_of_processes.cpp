// What a worker does where functions are placed on several processes.
#include <algorithm>

#include "exec/flow/run/flow_worker.h"

namespace hiaton::exec::flow {
namespace {

/// A process that has a copy of a function sends a call of it to another one while that has fewer of its
/// calls, and else runs it itself.
constexpr uint32_t kFewSent = 2;
/// So many messages are one at most, so that who gets them can begin with them.
constexpr std::size_t kMostTogether = 1024;
/// Looking at what has come takes as long as some items.
constexpr uint32_t kFiresALook = 256;

}  // namespace

void Worker::send_all_to_processes() {
  for (std::size_t i = 0; i < outbox_.size();) {
    const uint32_t to = outbox_[i].to;
    together_.clear();
    do {
      together_.push_back(&outbox_[i].message);
      ++i;
    } while (i < outbox_.size() && outbox_[i].to == to && together_.size() < kMostTogether &&
             ProcessCalls::go_together(*together_[0], outbox_[i].message));
    processes_->send(to, together_);
  }
}

bool Worker::exchange_with_processes() {
  fires_to_exchange_ = kFiresALook;
  send_all();
  return processes_->look(*this);
}

/// What others send, until the run is over.
void Worker::work_for_processes() {
  while (processes_->wait_for_work(*this)) drain();
  if (processes_->has_failed()) throw Stopped();
}

void Worker::send_call(Frame* frame, const Call& call, uint32_t function) {
  ++under_way_[function];
  give_call(frame, call, function, static_cast<uint32_t>(processes_->home_of(function)));
}

/// The function itself, or which of its copies gets the call: the one with the fewest calls of this process
/// under way, the next one in turn where several have as few.
uint32_t Worker::choose_copy(uint32_t function) {
  const std::vector<uint32_t>& copies = plan_.copies[function];
  if (copies.empty()) return function;
  std::optional<std::size_t> best;
  std::optional<uint32_t> own;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const std::size_t at = (turns_[function] + i) % copies.size();
    if (processes_->home_of(copies[at]) == processes_->self()) {
      own = copies[at];
    } else if (!best || under_way_[copies[at]] < under_way_[copies[*best]]) {
      best = at;
    }
  }
  if (own && (!best || under_way_[copies[*best]] >= kFewSent)) return *own;
  turns_[function] = *best + 1;
  return copies[*best];
}

const RemoteCall* Worker::find_remote_call(ReturnName name) const {
  if (name.slot >= remote_calls_.size()) return nullptr;
  const RemoteCall& call = remote_calls_[name.slot];
  return call.caller != nullptr && call.generation == name.generation ? &call : nullptr;
}

std::optional<ReturnName> Worker::call_around(const Frame* frame) {
  while (frame != nullptr && frame->function != kElsewhere) frame = frame->parent;
  if (frame == nullptr) return std::nullopt;
  return static_cast<const RemoteCaller*>(frame)->name;
}

/// Both processes know the name of the call.
uint64_t Worker::arrow_of(ReturnName name) {
  constexpr uint64_t kOfSentCalls = uint64_t{1} << 51;
  constexpr uint64_t kLow = (uint64_t{1} << 20) - 1;
  constexpr uint64_t kCallers = 1024;
  return kOfSentCalls | name.caller % kCallers << 40 | uint64_t{name.generation} << 20 | (name.slot & kLow);
}

}  // namespace hiaton::exec::flow
