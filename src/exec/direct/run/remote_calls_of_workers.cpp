// What the workers of a process do about calls that come from other processes or go there.
#include <algorithm>
#include <new>
#include <utility>

#include "exec/direct/run/interpret.h"
#include "exec/direct/run/remote_calls.h"

namespace hiaton::exec::direct {
namespace {

net::RunCells cells_of(Worker& worker) {
  return {worker.cells, worker.tensors == nullptr ? nullptr : &worker.tensors->cells};
}

}  // namespace

/// Calls that may print stay in process 0: lines come from there, in the order of what depends on them.
bool RemoteCalls::is_worth(const Group::Call& call) const {
  if (plan_.prints[plan_.body_at(call.entry).function.index()]) return false;
  if (state_.shares_every_call) return true;
  const auto found = worth_.find(call.entry);
  const Clock::time_point now = Clock::now();
  return found == worth_.end() || found->second.is_worth(now - begin_, now);
}

bool RemoteCalls::write_call(const ForkEntry& entry, Worker& giver) {
  const Clock::time_point begin = Clock::now();
  const uint32_t number = entry.end - 1;
  const Group::Call& call = entry.group->calls[number];
  const std::span<Slot> passed(agent_.passed.data(), call.arguments.size());
  for (std::size_t i = 0; i < passed.size(); ++i) call.arguments[i].pass(entry.frame->slots, &passed[i]);
  try {
    const Codecs& codecs = codecs_of(call);
    gift_.clear();
    gift_.compact(group_numbers_.at(entry.group));
    gift_.compact(number);
    codecs.arguments.write_slots(passed, gift_);
    if (!worth_[call.entry].holds(gift_.bytes().size())) return false;
    for (std::size_t i = 0; i < passed.size(); ++i) {
      if (call.is_taken_over[i]) codecs.arguments.release_slot(cells_of(giver), i, passed[i]);
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
  writing_ = Clock::now() - begin;
  return true;
}

const RemoteCalls::Codecs& RemoteCalls::codecs_of(const Group::Call& call) {
  const auto known = codecs_.find(&call);
  if (known != codecs_.end()) return known->second;
  Codecs codecs{net::ValueCodec(call.argument_types), net::ValueCodec(call.result_types)};
  return codecs_.emplace(&call, std::move(codecs)).first->second;
}

void RemoteCalls::want() {
  if (!is_wanted_.load(std::memory_order_relaxed)) wake();
}

void RemoteCalls::wait_for_work(std::chrono::nanoseconds most) {
  std::unique_lock lock(mutex_);
  has_work_.wait_for(lock, most, [this] { return !waiting_.empty(); });
}

std::optional<Outcome> RemoteCalls::run_waiting(Worker& worker) {
  Waiting one;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    one = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_count_.fetch_sub(1, std::memory_order_relaxed);  // says only whether it is worth looking
  }
  if (const auto* frame = std::get_if<Continuation>(&one)) return go_on_with(worker, *frame);
  if (const auto* returned = std::get_if<Returned>(&one)) return take_results(worker, *returned);
  return run_taken(worker, *std::get<TakenCall*>(one));
}

Outcome RemoteCalls::go_on_with(Worker& worker, const Continuation& one) {
  worker.anchor = one.anchor;
  if (state_.stopping.load()) return worker.stop_at(one.frame, *one.group);
  return interpret(worker, one.frame, one.group->joined);
}

/// Reads all of a message from another process. Halted: that is done. Where it is not what it should be, the
/// agent will say so.
template <class Read>
Outcome RemoteCalls::read_message(Worker& worker, int from, std::span<const std::byte> message, Read read) {
  try {
    const std::string sender = "message from " + transport_.name(from);
    net::ByteReader in(message, sender);
    read(in);
    in.require_end();
    return Outcome::Halted;
  } catch (const std::bad_alloc&) {
    worker.fault = worker.pool.memory_fault();
    return Outcome::Failed;
  } catch (const ProgramError&) {
    const std::lock_guard lock(mutex_);
    malformed_ = std::current_exception();
    return Outcome::Stopped;
  }
}

void RemoteCalls::rethrow_malformed() {
  const std::lock_guard lock(mutex_);
  if (malformed_ != nullptr) std::rethrow_exception(malformed_);
}

Outcome RemoteCalls::take_results(Worker& worker, const Returned& returned) {
  Frame* const frame = returned.call.frame;
  const Group* const group = returned.call.group;
  const Group::Call& call = group->calls[returned.call.call];
  const Outcome outcome = read_message(worker, returned.call.to, returned.message, [&](net::ByteReader& in) {
    const std::span<Slot> results(&frame->slots[call.resume[-1].d], call.result_types.size());
    returned.codecs->results.read_slots(in, cells_of(worker), results);
  });
  if (outcome != Outcome::Halted) {
    state_.stop();  // before the others of the group can go on without the results
    worker.stop_at(worker.arrive(frame, *group) ? frame : nullptr, *group);
    return outcome;
  }
  if (!worker.arrive(frame, *group)) return Outcome::Parked;
  return state_.stopping.load() ? worker.stop_at(frame, *group) : interpret(worker, frame, group->joined);
}

Outcome RemoteCalls::run_taken(Worker& worker, TakenCall& taken) {
  const Clock::time_point begin = Clock::now();
  worker.frame = nullptr;
  const Outcome outcome = read_message(worker, taken.name.process, taken.message, [&](net::ByteReader& in) {
    taken.codecs->arguments.read_slots(in, cells_of(worker), taken.arguments);
  });
  if (outcome != Outcome::Halted) return outcome;
  taken.message = {};
  taken.began = Clock::now();
  taken.reading = taken.began - begin;
  Frame* callee = worker.start_chain(root_of(taken), plan_.halt, taken.call->entry[-1].d);
  if (callee == nullptr) {
    worker.fault = worker.pool.failure();
    return Outcome::Failed;
  }
  std::ranges::copy(taken.arguments, callee->slots);
  if (worker.calls.is_on()) worker.calls.begin_sent(taken.call->entry, taken.arguments, taken.arrow);
  return interpret(worker, callee, taken.call->entry);
}

Outcome RemoteCalls::end_taken(Worker& worker) {
  TakenCall* taken = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::ranges::find_if(taken_, [&](TakenCall& one) { return root_of(one) == worker.frame; });
    if (found == taken_.end()) return Outcome::Halted;
    taken = &*found;
  }
  const Clock::time_point end = Clock::now();
  const auto in_nanoseconds = [](Clock::duration time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  };
  const net::RunCells cells = cells_of(worker);
  const std::span<const Slot> results(worker.frame->slots, taken->call->result_types.size());
  Result result{taken->name, {}};
  try {
    result.body.number(in_nanoseconds(end - taken->began));
    const std::size_t shipping = result.body.bytes().size();
    result.body.number(int64_t{0});
    taken->codecs->results.write_slots(results, result.body);
    for (std::size_t i = 0; i < results.size(); ++i)
      taken->codecs->results.release_slot(cells, i, results[i]);
    for (std::size_t i = 0; i < taken->arguments.size(); ++i) {
      if (!taken->call->is_taken_over[i])
        taken->codecs->arguments.release_slot(cells, i, taken->arguments[i]);
    }
    result.body.number_at(shipping, in_nanoseconds(taken->reading + (Clock::now() - end)));
  } catch (const std::bad_alloc&) {
    worker.leave_chain();
    worker.frame = nullptr;
    worker.fault = worker.pool.memory_fault();
    return Outcome::Failed;
  }
  worker.leave_chain();
  worker.frame = nullptr;
  {
    const std::lock_guard lock(mutex_);
    taken_.remove_if([&](const TakenCall& one) { return &one == taken; });
    results_.push_back(std::move(result));
  }
  wake();
  return Outcome::Parked;
}

}  // namespace hiaton::exec::direct
