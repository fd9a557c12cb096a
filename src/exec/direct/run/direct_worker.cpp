#include "exec/direct/run/direct_worker.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/core.h"
#include "base/shared_loop.h"
#include "base/short_wait.h"
#include "exec/direct/run/interpret.h"
#include "exec/direct/run/remote_calls.h"
#include "exec/direct/run/sent_calls.h"
#include "exec/firing.h"

namespace hiaton::exec::direct {
namespace {

JoinRecord* record_of(const Frame* frame, const Group& group) {
  return reinterpret_cast<JoinRecord*>(frame->slots[group.join_slot].bits);
}

std::size_t most_arguments(const Plan& plan) {
  std::size_t most = std::size(Instruction().plus);
  for (const CallList& list : plan.call_lists) most = std::max(most, list.arguments.size());
  return most;
}

/// Waits longer each time, by a part of the time that it has waited in all: first spinning, where each worker
/// may have a core, then sleeping. Every request costs the worker that is asked, so a worker that was refused
/// must soon ask rarely. The end of a run waits for whoever sleeps, so a sleep must be short beside the run.
class Backoff {
 public:
  explicit Backoff(const RunState& state) : state_(state) {}

  void wait() {
    if (pauses_ <= kMostPauses) {
      pause(pauses_);
      pauses_ *= 2;
      return;
    }
    const Clock::duration waited = Clock::now() - start_;
    const Clock::duration sleep = std::clamp<Clock::duration>(waited / 8, kShortest, kLongest);
    if (state_.remote != nullptr) return state_.remote->wait_for_work(sleep);  // the agent needs the core
    if (waited < kSpinning && has_core_for_each()) return pause(kMostPauses);
    if (state_.launches != nullptr) return sleep_until_launch(sleep);
    std::this_thread::sleep_for(sleep);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kMostPauses = 512;  // some 10 microseconds
  static constexpr std::chrono::microseconds kSpinning{300};
  static constexpr std::chrono::microseconds kShortest{20};
  static constexpr std::chrono::microseconds kLongest{500};

  bool has_core_for_each() const {
    static const unsigned cores = std::thread::hardware_concurrency();
    return state_.workers.size() <= cores;
  }
  void pause(int times) const {
    for (int i = 0; i < times && !state_.finished.load() && !state_.stopping.load(); ++i) pause_thread();
  }

  /// To look at a flag costs nobody else anything, so it happens more often than questions to other workers.
  void sleep_until_launch(Clock::duration time) const {
    const Clock::time_point end = Clock::now() + time;
    const uint64_t round = state_.launches->round();
    do {
      std::this_thread::sleep_for(kShortest);
    } while (state_.launches->round() == round && Clock::now() < end && !state_.finished.load() &&
             !state_.stopping.load());
  }

  const RunState& state_;
  const Clock::time_point start_ = Clock::now();
  int pauses_ = 16;
};

}  // namespace

RunState::RunState() = default;
RunState::~RunState() = default;

void RunState::stop() {
  stopping.store(true);
  for (const std::unique_ptr<Worker>& worker : workers) worker->poll.store(true);
}

void RunState::stop_for(std::exception_ptr thrown) {
  {
    const std::lock_guard lock(mutex_);
    if (thrown_ == nullptr) thrown_ = std::move(thrown);
  }
  stop();
}

void RunState::throw_kept() {
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void RunState::share_launches(const Plan& plan) {
  if (workers.size() > 1 && (plan.has_data || plan.has_tensors))
    launches = std::make_unique<SharedLoop>(workers.size());
}

int HelpOfWorkers::idle(int64_t work) {
  RunState& state = worker_.state;
  if (worker_.fork_room != 0) return state.idle.load(std::memory_order_relaxed);
  if (work < kernels::kWorthWaking || !state.call_others()) return 0;
  worker_.fork_room = state.fork_room;
  return static_cast<int>(state.workers.size()) - 1;
}

void HelpOfWorkers::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  worker_.state.launches->run(count, work, [] {});
}

Worker::Worker(RunState& its_state, const Plan& its_plan, Budget& budget, DataHeap* heap,
               TensorHeap* tensor_heap)
    : fork_room(its_state.fork_room),
      pool(budget),
      calls(its_plan, pool),
      region_firings(its_plan.regions.size(), 0),
      passed(most_arguments(its_plan)),
      state(its_state),
      plan(its_plan) {
  if (tensor_heap != nullptr) tensors = std::make_unique<TensorMachine>(*tensor_heap);
  if (heap != nullptr) cells = &own_cells_.emplace(*heap, tensors == nullptr ? nullptr : &tensors->cells);
  if (tensors != nullptr) tensors->strings = cells;
}

Fault Worker::print(const DataObject* text) const {
  try {
    print_line(*options, code_points_of(text));
    return Fault::None;
  } catch (const std::bad_alloc&) {
    return Fault::OutOfMemory;
  } catch (...) {  // of the function that takes the lines
    state.stop_for(std::current_exception());
    return Fault::Interrupted;
  }
}

bool Worker::answer_poll() {
  // Sequentially consistent, as are the thief's write of request_ and then poll: either this sees the request
  // below, or the thief's poll comes after this store and is seen at the next call.
  // Where it will look again soon, the flag stays up.
  if (!state.shares_every_call && hungry <= 1) {
    poll.store(false);
    ++atomic_operations;
  }
  if (state.sent != nullptr) state.sent->look();
  if (state.stopping.load()) return false;
  if (request_.load() != nullptr) {
    Worker* thief = request_.exchange(nullptr);
    ++atomic_operations;
    if (thief != nullptr) answer_request(*thief);
  }
  if (state.shares_every_call) give_all_away();
  if (hungry > 0 && --hungry > 0) poll.store(true, std::memory_order_relaxed);  // for itself
  return true;
}

bool Worker::find_fork_room() {
  if (fork_room == 0 && state.call_others()) fork_room = state.fork_room;
  return forks_weigh < state.fork_room;
}

void Worker::give_all_away() {
  hungry = kCallsToLook;
  const auto is_asked = [this] {
    return state.idle.load() > 0 || (state.remote != nullptr && state.remote->is_asked());
  };
  ShortWait wait;
  while (fork_end > 0 && is_asked() && !state.stopping.load()) {
    Worker* thief = request_.exchange(nullptr);
    if (thief == nullptr) {
      wait.pause();
    } else if (!answer_request(*thief)) {
      return;
    }
  }
}

/// Whether a call was given away.
bool Worker::answer_request(Worker& thief) {
  if (fork_end == 0) {
    hungry = kCallsToLook;
    thief.answer_.store(Answer::Refused, std::memory_order_release);
    return false;
  }
  ForkEntry& oldest = forks[0];
  if (thief.steals_for != nullptr && !thief.steals_for->is_worth(oldest.group->calls[oldest.end - 1])) {
    thief.answer_.store(Answer::Refused, std::memory_order_release);
    return false;
  }
  JoinRecord* record = record_of(oldest.frame, *oldest.group);
  if (record == nullptr) {
    record = new (std::nothrow) JoinRecord{1, oldest.end, anchor};
    if (record == nullptr) {  // without memory for it, this worker runs the call itself
      thief.answer_.store(Answer::Refused, std::memory_order_release);
      return false;
    }
    oldest.frame->slots[oldest.group->join_slot].bits = reinterpret_cast<uint64_t>(record);
  }
  if (thief.steals_for != nullptr ? !thief.steals_for->write_call(oldest, *this)
                                  : !pass_arguments(oldest, thief)) {
    thief.answer_.store(Answer::Refused, std::memory_order_release);
    return false;
  }
  record->end = --oldest.end;
  record->pending.fetch_add(1, std::memory_order_relaxed);  // published by the release below
  state.idle.fetch_sub(1);
  atomic_operations += 2;
  thief.gift_ = {oldest.frame, oldest.group, oldest.end, calls.is_on() ? calls.give() : 0,
                 thief.gift_.copies};
  if (oldest.end == oldest.started) {  // leaves room for another one
    forks_weigh -= oldest.weight;
    std::copy(forks + 1, forks + fork_end, forks);
    --fork_end;
  }
  thief.answer_.store(Answer::Given, std::memory_order_release);
  return true;
}

/// Passes the arguments of the newest call of the entry. False: there is no memory for that; the run ends.
/// Copies stand in cells of the thief, which waits meanwhile: among cells of this worker, what one of both
/// counts would take lines of the cache from the other.
bool Worker::pass_arguments(const ForkEntry& entry, Worker& thief) {
  const Group::Call& call = entry.group->calls[entry.end - 1];
  std::array<DataObject*, DataCells::kMostHeld> copies;
  std::size_t copied = 0;
  thief.gift_.copies = nullptr;
  try {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      Slot& slot = thief.passed[i];
      call.arguments[i].pass(entry.frame->slots, &slot);
      if (call.kinds[i] == FieldKind::Tensor) TensorCells::share(slot.tensor);
      if (call.kinds[i] != FieldKind::Data || !Data::has_object(slot.data)) continue;
      if (call.is_taken_over[i]) {
        slot.data = cells->hand_over(slot.data, *thief.cells, steps_left, state.launches.get());
        continue;
      }
      DataObject* const copy = copied < copies.size() ? thief.cells->copy(slot.data) : nullptr;
      if (copy == nullptr) {
        DataCells::share(slot.data);
      } else if (copy != slot.data) {
        slot.data = copies[copied++] = copy;
      }
    }
    if (copied > 0) thief.gift_.copies = thief.cells->hold({copies.data(), copied});
    if (copied == 0 || thief.gift_.copies != nullptr) return true;
  } catch (const std::bad_alloc&) {  // the same
  }
  fault = pool.memory_fault();
  state.stop();
  return false;
}

bool Worker::arrive(Frame* target, const Group& group) {
  JoinRecord* record = record_of(target, group);
  ++atomic_operations;
  // Acquire and release: what each worker wrote into the frame before it came back is there for the last one.
  if (record->pending.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  anchor = record->anchor;
  delete record;
  target->slots[group.join_slot].bits = 0;
  return true;
}

Outcome Worker::stop_at(Frame* joined, const Group& group) {
  frame = joined;
  pc = group.joined;
  return Outcome::Stopped;
}

Frame* Worker::start_chain(Frame* parent, const Instruction* resume, uint32_t slots) {
  anchor = pool.take_anchor();
  if (anchor == nullptr) return nullptr;
  Frame* first = anchor->child->capacity < slots ? pool.insert(anchor, slots) : anchor->child;
  if (first == nullptr) {
    leave_chain();
    return nullptr;
  }
  first->parent = parent;
  first->resume = resume;
  return first;
}

void Worker::leave_chain() {
  if (calls.is_on()) calls.end_stretch();
  // An agent has no cells. It leaves chains only of runs that have failed, whose values are all forgotten.
  if (anchor->copies != nullptr && cells != nullptr) cells->release(std::exchange(anchor->copies, nullptr));
  pool.give_anchor(anchor);
  anchor = nullptr;
}

void Worker::refuse_requests() {
  if (request_.load(std::memory_order_relaxed) == nullptr) return;
  Worker* thief = request_.exchange(nullptr);
  if (thief != nullptr) thief->answer_.store(Answer::Refused, std::memory_order_release);
}

/// Whether there was one.
bool Worker::help_with_launches() const {
  bool has_helped = false;
  while (state.launches != nullptr && state.launches->help()) has_helped = true;
  return has_helped;
}

/// True: gift_ holds a call of the victim.
bool Worker::ask(Worker& victim) {
  if (!victim.busy_.load(std::memory_order_relaxed)) return false;
  answer_.store(Answer::None, std::memory_order_relaxed);
  Worker* nobody = nullptr;
  if (!victim.request_.compare_exchange_strong(nobody, this)) return false;
  victim.poll.store(true);
  // The answer comes at the victim's next call, unless its thread is not running.
  constexpr int kSpins = 1000;
  int spins = 0;
  while (true) {
    const Answer answer = answer_.load(std::memory_order_acquire);
    if (answer != Answer::None) return answer == Answer::Given;
    refuse_requests();
    help_with_launches();  // what the victim does before it answers may be one
    const bool over = state.finished.load() || state.stopping.load();
    Worker* self = this;
    // Withdrawn before the victim has seen it; otherwise its answer is about to come.
    if (over && victim.request_.compare_exchange_strong(self, nullptr)) return false;
    pause_thread();
    if (++spins == kSpins) leave_core(victim.core_);
    if (spins > kSpins) std::this_thread::yield();
  }
}

Outcome Worker::run_gift() {
  ++steals;
  const Group::Call& call = gift_.group->calls[gift_.call];
  const bool stopping = state.stopping.load();
  Frame* callee = stopping ? nullptr : start_chain(gift_.frame, call.resume, call.entry[-1].d);
  if (callee == nullptr) {  // come back without the call: the run ends
    fault = stopping ? Fault::None : pool.failure();
    state.stop();  // before the others of the group can go on without the results
    stop_at(arrive(gift_.frame, *gift_.group) ? gift_.frame : nullptr, *gift_.group);
    return stopping ? Outcome::Stopped : Outcome::Failed;
  }
  if (calls.is_on()) calls.begin_gift(call, gift_.frame->slots, gift_.arrow);
  anchor->copies = gift_.copies;
  std::copy_n(passed.begin(), call.arguments.size(), callee->slots);
  return interpret(*this, callee, call.entry);
}

Outcome Worker::begin(const std::function<Outcome()>& start) {
  const kernels::HelpedLaunches helped(state.launches == nullptr ? kernels::launch_helpers() : &help_);
  core_.store(current_core(), std::memory_order_relaxed);
  busy_.store(true);
  if (state.shares_every_call) poll.store(true);
  const Outcome outcome = start();
  if (calls.is_on()) calls.end_stretch();
  busy_.store(false);
  refuse_requests();
  return outcome;
}

void Worker::wait_for_others() const {
  constexpr std::chrono::seconds kPatience{1};  // the system may have no thread for each worker
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const auto others = static_cast<int>(state.workers.size()) - 1;
  const auto are_there = [&] {
    return state.idle.load() >= others && (state.remote == nullptr || state.remote->have_all_asked());
  };
  ShortWait wait;
  while (!are_there() && std::chrono::steady_clock::now() < end) wait.pause();
}

Outcome Worker::help() {
  while (find_work()) {
    Outcome outcome = begin([this] { return run_found(); });
    if (outcome == Outcome::Halted && state.remote != nullptr) outcome = state.remote->end_taken(*this);
    if (outcome != Outcome::Parked) return outcome;
  }
  frame = nullptr;
  return Outcome::Parked;
}

/// What find_work() has found. Another worker may have been faster.
Outcome Worker::run_found() {
  if (gift_.frame != nullptr) return run_gift();
  return state.remote->run_waiting(*this).value_or(Outcome::Parked);
}

/// False: the run is finished or stopping.
bool Worker::find_work() {
  const bool has_calls = !plan.groups.empty();
  state.idle.fetch_add(1);
  gift_.frame = nullptr;
  std::optional<Backoff> backoff(state);
  ShortWait wait;
  while (!state.finished.load() && !state.stopping.load()) {
    refuse_requests();
    if (help_with_launches()) backoff.emplace(state);
    if (state.remote != nullptr) {
      if (state.remote->has_waiting()) {
        state.idle.fetch_sub(1);
        return true;
      }
      state.remote->want();
    }
    for (const std::unique_ptr<Worker>& victim : state.workers) {
      if (has_calls && victim.get() != this && ask(*victim)) return true;
    }
    if (state.shares_every_call) {
      wait.pause();
    } else {
      backoff->wait();
    }
  }
  return false;
}

void Worker::visit_slots(const std::function<void(std::span<const Slot>)>& visit) const {
  visit(passed);
  Slot copies;
  copies.data = gift_.copies;
  visit({&copies, 1});
  pool.visit_unwound(visit);
}

void Worker::unwind() {
  forget_forks();
  Frame* f = frame;
  const Instruction* at = pc;
  while (f != nullptr) {
    const Group* group = plan.groups_at[plan.index_of(at)];
    if (group != nullptr && record_of(f, *group) != nullptr && !arrive(f, *group)) return;
    const Instruction* resume = std::exchange(f->resume, nullptr);
    f = f->parent;
    switch (plan.opcode(resume)) {
      case Opcode::Halt:
        leave_chain();
        return;
      case Opcode::StolenReturn:
        leave_chain();
        if (!arrive(f, *resume->group)) return;
        at = resume->group->joined;
        break;
      default:
        at = resume - 1;
    }
  }
}

}  // namespace hiaton::exec::direct
