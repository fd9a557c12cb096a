// What a worker does where several processes run the calls of a program.
#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "exec/flow/run/flow_worker.h"
#include "tensor/data_references.h"

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

/// What has come fires in its order: tensors that came together are read together.
bool Worker::exchange_with_processes() {
  fires_to_exchange_ = kFiresALook;
  send_all();
  const std::size_t were_ready = ready_.size();
  const bool has_come = processes_->look(*this);
  ready_.fire_in_order_from(were_ready);
  if (processes_->is_asked()) give_calls_to_processes();
  return has_come;
}

/// What others send, until the run is over.
void Worker::work_for_processes() {
  if (processes_->shares_calls()) processes_->ask(0);
  while (processes_->wait_for_work(*this)) {
    ready_.fire_in_order_from(0);
    drain();
    if (processes_->shares_calls()) processes_->ask(0);
  }
  if (processes_->has_failed()) throw Stopped();
}

/// Before its batches, once for each call that the others have given: one that has begun few frames has less
/// to do in the end. What comes later than that is taken between two batches.
bool Worker::ask_processes() {
  constexpr std::chrono::microseconds kPatience{200};
  if (processes_ == nullptr || !processes_->shares_calls() || started_.size() < examples_.size())
    return false;
  if (choose() == nullptr || !processes_->ask(frames_)) return false;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    if (exchange_with_processes()) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// Calls to those that ask, while others stay here: whoever gives its only call has nothing to do, and what
/// it sends comes back in parts.
void Worker::give_calls_to_processes() {
  if (started_.size() < examples_.size()) return;
  while (has_several_worth_giving() && processes_->is_asked_with(frames_)) {
    const std::vector<std::size_t> places = half_of_ready();
    if (places.empty()) break;
    const uint32_t to = *processes_->take_asking(frames_);
    for (const std::size_t place : places) give_ready(place, to);
  }
  send_all();
}

/// Which of the calls that are ready are almost half of the work there, the last first: who gets them has to
/// read them before it begins. By how much is to be sent: that of a tree tells how large it is. Where one
/// call is most of it, that one fires next, and there are none. Where all are alike, it is the oldest one.
std::vector<std::size_t> Worker::half_of_ready() {
  struct Weighed {
    std::size_t place;
    uint64_t bytes;
  };
  std::vector<Weighed> all;
  uint64_t total = 0;
  const auto before = std::exchange(weighed_, {});
  for (std::size_t i = 0; i < std::min(ready_.size(), kMostToLookAt); ++i) {
    if (worth_of_ready(i) == Worth::Nothing) continue;
    const auto known = std::ranges::find(before, ready_[i], &ReadyBytes::ready);
    weighed_.push_back({ready_[i], known == before.end() ? bytes_to_send(ready_[i]) : known->bytes});
    all.push_back({i, weighed_.back().bytes});
    total += all.back().bytes;
  }
  std::ranges::stable_sort(all, std::greater(), &Weighed::bytes);
  if (all.front().bytes == all.back().bytes) return {*oldest_worth_giving()};
  if (all.front().bytes > total / 8 * 5) {
    const Ready largest = ready_[all.front().place];
    ready_.erase(all.front().place);
    ready_.push(largest);
    return {};
  }
  std::vector<std::size_t> half;
  uint64_t bytes = 0;
  for (const Weighed& one : all) {
    if (bytes + one.bytes > total * 31 / 64) continue;
    bytes += one.bytes;
    half.push_back(one.place);
  }
  if (half.empty()) half.push_back(all.back().place);
  std::ranges::sort(half, std::greater());
  return half;
}

/// About how many bytes the arguments of a call that is ready are when they are sent.
uint64_t Worker::bytes_to_send(const Ready& ready) const {
  const Call& call = function(ready.frame).calls[ready.item->index];
  uint64_t bytes = 0;
  for (const Move& move : call.arguments) {
    const Cell cell = borrow(ready.frame, move.from);
    switch (plan_.functions[call.callee].slots[move.to]) {
      case SlotKind::Scalar:
        bytes += sizeof(Slot);
        break;
      case SlotKind::Tensor:
        bytes += content_bytes(cell.owner);
        break;
      case SlotKind::Data:
        bytes += content_bytes(cell.slot.data);
        break;
    }
  }
  return bytes;
}

void Worker::send_call(Frame* frame, const Call& call, uint32_t function) {
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
