#include "exec/direct/run/remote_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "exec/direct/run/interpret.h"
#include "exec/direct/run/remote_messages.h"

namespace hiaton::exec::direct {
namespace {

constexpr uint64_t kNoCall = ~uint64_t{0};
/// Header::aux: the number of the run, above the kind of message.
constexpr uint32_t kBitsOfKind = 4;
constexpr uint32_t kMostRuns = ~uint32_t{0} >> kBitsOfKind;
/// How long the agent sleeps while the workers of its process have work.
constexpr std::chrono::microseconds kNap{500};
constexpr std::chrono::microseconds kLook{100};
constexpr std::chrono::microseconds kShortestPause{100};
constexpr std::chrono::milliseconds kLongestPause{5};
/// So many calls of a function are given before it is judged by what they brought.
constexpr uint64_t kCallsToJudge = 4;
constexpr int kLeastWorth = 2;
/// The other process has as much to do with a message as this one.
constexpr int kSides = 2;

}  // namespace

RemoteCalls::RemoteCalls(net::Transport& transport, RunState& state, const Plan& plan, FrameBudget& budget,
                         Owner& owner)
    : transport_(transport),
      run_(transport.next_run() & kMostRuns),
      state_(state),
      plan_(plan),
      owner_(owner),
      agent_(state, plan, budget, nullptr),
      met_(static_cast<std::size_t>(transport.size())),
      next_victim_(transport.self()) {
  agent_.steals_for = this;
  for (const Group& group : plan.groups)
    group_numbers_.emplace(&group, static_cast<uint32_t>(group_numbers_.size()));
}

RemoteCalls::~RemoteCalls() = default;

// --- For workers ---

/// On the thread of a worker that the agent has asked and waits for.
bool RemoteCalls::may_give(const Group::Call& call) const {
  if (!call.can_be_sent || state_.shares_every_call) return call.can_be_sent;
  const auto worth = worth_.find(call.entry);
  return worth == worth_.end() || worth->second.calls < kCallsToJudge ||
         worth->second.took >= kLeastWorth * worth->second.cost;
}

void RemoteCalls::want() {
  if (!is_wanted_.exchange(true)) wakes_.notify_one();
}

std::optional<Outcome> RemoteCalls::run_waiting(Worker& worker) {
  Waiting one;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    one = waiting_.front();
    waiting_.pop_front();
    waiting_count_.fetch_sub(1, std::memory_order_relaxed);  // says only whether it is worth looking
  }
  if (one.taken == nullptr) {
    worker.anchor = one.anchor;
    return interpret(worker, one.frame, one.pc);
  }
  TakenCall& taken = *one.taken;
  taken.began = Clock::now();
  Frame* callee = worker.start_chain(root_of(taken), plan_.halt, taken.call->entry[-1].d);
  if (callee == nullptr) {
    worker.frame = nullptr;
    worker.fault = worker.pool.failure();
    return Outcome::Failed;
  }
  std::ranges::copy(taken.arguments, callee->slots);
  return interpret(worker, callee, taken.call->entry);
}

bool RemoteCalls::take_results(Worker& worker) {
  const std::lock_guard lock(mutex_);
  const auto taken =
      std::ranges::find_if(taken_, [&](TakenCall& one) { return root_of(one) == worker.frame; });
  if (taken == taken_.end()) return false;
  Result& result = results_.emplace_back(Result{taken->name, {}});
  result.body.number(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - taken->began).count());
  for (std::size_t i = 0; i < taken->call->results; ++i) result.body.number(worker.frame->slots[i].bits);
  worker.leave_chain();
  worker.frame = nullptr;
  taken_.erase(taken);
  is_wanted_.store(true);
  wakes_.notify_one();
  return true;
}

// --- The agent ---

void RemoteCalls::serve() {
  try {
    while (!is_over()) {
      step();
      if (!is_over()) wait();
    }
    if (is_first()) {
      // An error in a call of another process comes back from there.
      while (state_.stopping.load() && has_reported_.load() && !has_error_.load()) {
        step();
        transport_.wait(kLook);
      }
      has_ended_ = true;
      const uint64_t failed = state_.stopping.load() ? 1 : 0;
      for (int i = 1; i < transport_.size(); ++i) send({i, failed}, Kind::End, {});
      transport_.flush();
    }
    while (!has_ended_) {
      step();
      if (!has_ended_) transport_.wait(kLook);
    }
  } catch (...) {
    failure_ = std::current_exception();
    state_.stop();
  }
  if (state_.stopping.load()) unwind_all();
}

void RemoteCalls::step() {
  transport_.poll([this](int from, const net::Header& header, std::span<const std::byte> payload) {
    take(from, header, payload);
  });
  if (!has_ended_) {
    send_results();
    send_errors();
    answer_asked();
    ask_if_idle();
  }
  transport_.flush();
}

/// Where all workers have work, the other processes can wait a little.
void RemoteCalls::wait() {
  if (state_.idle.load() > 0) return transport_.wait(kLook);
  if (state_.shares_every_call) return std::this_thread::yield();
  std::unique_lock lock(mutex_);
  is_wanted_.store(false);
  wakes_.wait_for(lock, kNap, [this] { return is_wanted_.load() || !results_.empty() || !errors_.empty(); });
}

void RemoteCalls::send(Name to, Kind kind, const net::ByteWriter& body) {
  send_in(run_, to, kind, body);
}

void RemoteCalls::send_in(uint32_t run, Name to, Kind kind, const net::ByteWriter& body) {
  bytes_sent_ += body.bytes().size() + sizeof(net::Header);
  const uint32_t aux = run << kBitsOfKind | static_cast<uint32_t>(kind);
  transport_.send(to.process, {.aux = aux, .name = to.number}, body.bytes());
}

void RemoteCalls::take(int from, const net::Header& header, std::span<const std::byte> payload) {
  const std::string sender = "message from " + transport_.name(from);
  net::ByteReader in(payload, sender);
  const Name name{from, header.name};
  const uint32_t number = header.aux & ((1u << kBitsOfKind) - 1);
  if (number > static_cast<uint32_t>(Kind::Done))
    in.fail(fmt::format("expected a kind of message, found number {}", number));
  const auto kind = static_cast<Kind>(number);
  const uint32_t run = header.aux >> kBitsOfKind;
  if (run != run_) {
    if (run == ((run_ + 1) & kMostRuns) && kind == Kind::Ask) send_in(run, {from, 0}, Kind::Refuse, {});
    return;
  }
  if (kind == Kind::Done) return take_done(in);
  if (has_ended_) return;
  switch (kind) {
    case Kind::Ask:
      return take_question(from);
    case Kind::Refuse:
      return refused();
    case Kind::Gift:
      return take_gift(name, in);
    case Kind::Return:
      return take_return(name, in);
    case Kind::Fault:
      return take_fault(name, in);
    case Kind::End:
      has_ended_ = true;
      if (header.name != 0) return state_.stop();
      return state_.finished.store(true);
    case Kind::Done:
      return;
  }
}

void RemoteCalls::send_results() {
  std::vector<Result> results;
  {
    const std::lock_guard lock(mutex_);
    results.swap(results_);
  }
  for (const Result& result : results) send(result.to, Kind::Return, result.body);
}

void RemoteCalls::send_errors() {
  std::vector<Report> reports;
  {
    const std::lock_guard lock(mutex_);
    reports.swap(errors_);
  }
  for (const Report& report : reports) {
    net::ByteWriter body;
    write_error(report.error, body);
    send(report.to, Kind::Fault, body);
  }
}

void RemoteCalls::report(const RunError& error, const Frame* frame) {
  const Name to = frame == nullptr ? Name{0, kNoCall} : name_of_call_around(frame);
  if (is_first() && to.number == kNoCall) {
    owner_.take_error(error);
    has_error_.store(true);
    return;
  }
  // What the giver adds begins with the call itself; the program is not around it here.
  std::vector<CallRecord> chain = error.chain();
  if (to.number != kNoCall && !chain.empty()) chain.pop_back();
  const uint64_t length = error.chain_length() - (to.number != kNoCall ? 1 : 0);
  has_reported_.store(true);
  const std::lock_guard lock(mutex_);
  errors_.push_back({RunError(error.fault(), error.message(), std::move(chain), length), to});
  is_wanted_.store(true);
  wakes_.notify_one();
}

RemoteCalls::Name RemoteCalls::name_of_call_around(const Frame* frame) {
  while (plan_.opcode(frame->resume) != Opcode::Halt) frame = frame->parent;
  const std::lock_guard lock(mutex_);
  for (TakenCall& one : taken_) {
    if (root_of(one) == frame->parent) return one.name;
  }
  return {0, kNoCall};
}

// --- Giving ---

void RemoteCalls::take_question(int from) {
  asked_.push_back(from);
  asked_count_.fetch_add(1);
  if (met_[static_cast<std::size_t>(from)]) return;
  met_[static_cast<std::size_t>(from)] = true;
  met_count_.fetch_add(1);
}

void RemoteCalls::answer_asked() {
  const auto workers = static_cast<int>(state_.workers.size());
  for (; !asked_.empty(); asked_.pop_front()) {
    const bool has_given = give(asked_.front());
    if (!has_given && state_.shares_every_call && state_.idle.load() < workers) return;  // it will have one
    if (!has_given) send({asked_.front(), 0}, Kind::Refuse, {});
    asked_count_.fetch_sub(1);
  }
}

/// False: no worker has a call to give.
bool RemoteCalls::give(int to) {
  state_.idle.fetch_add(1);  // who gives counts the thief out
  const bool has_call = std::ranges::any_of(
      state_.workers, [this](const std::unique_ptr<Worker>& worker) { return agent_.ask(*worker); });
  if (!has_call) {
    state_.idle.fetch_sub(1);
    return false;
  }
  const Clock::time_point begin = Clock::now();
  const Worker::Gift& gift = agent_.gift_;
  const Group::Call& call = gift.group->calls[gift.call];
  const uint64_t name = next_name_++;
  net::ByteWriter body;
  body.compact(group_numbers_.at(gift.group));
  body.compact(gift.call);
  for (std::size_t i = 0; i < call.arguments.size(); ++i) body.number(agent_.passed[i].bits);
  Given& given = given_[name];
  given = {gift.frame, gift.group, gift.call, to};
  send({to, name}, Kind::Gift, body);
  transport_.flush();
  given.cost = Clock::now() - begin;
  return true;
}

RemoteCalls::Given& RemoteCalls::given(Name name, net::ByteReader& in) {
  const auto found = given_.find(name.number);
  if (found == given_.end() || found->second.to != name.process)
    in.fail(fmt::format("expected the name of a call that was given there, found {}", name.number));
  return found->second;
}

void RemoteCalls::take_return(Name name, net::ByteReader& in) {
  const Clock::time_point begin = Clock::now();
  const Given one = given(name, in);
  const Group::Call& call = one.group->calls[one.call];
  const auto took = in.number<int64_t>();
  Slot* results = &one.frame->slots[call.resume[-1].d];
  for (std::size_t i = 0; i < call.results; ++i) results[i].bits = in.number<uint64_t>();
  in.require_end();
  given_.erase(name.number);
  if (agent_.arrive(one.frame, *one.group)) {
    put_waiting({one.frame, one.group->joined, std::exchange(agent_.anchor, nullptr), nullptr}, true);
  }
  Worth& worth = worth_[call.entry];
  ++worth.calls;
  worth.took += std::chrono::nanoseconds(took);
  worth.cost += kSides * (one.cost + (Clock::now() - begin));
}

/// The frame that waits for the call belongs to nobody else until this process has come back to it.
void RemoteCalls::take_fault(Name name, net::ByteReader& in) {
  const RunError error = read_error(in);
  in.require_end();
  if (name.number == kNoCall) {
    report(error, nullptr);
  } else {
    const Given& one = given(name, in);
    report(owner_.with_calls_around(error, one.frame, one.group->calls[one.call]), one.frame);
  }
  state_.stop();
}

// --- Taking ---

void RemoteCalls::ask_if_idle() {
  const int others = transport_.size() - 1;
  if (asks_ || others == 0 || is_over() || state_.idle.load() <= waiting_count_.load()) return;
  if (Clock::now() < asks_again_) return;
  next_victim_ = (next_victim_ + 1) % transport_.size();
  if (next_victim_ == transport_.self()) next_victim_ = (next_victim_ + 1) % transport_.size();
  send({next_victim_, 0}, Kind::Ask, {});
  asks_ = true;
}

/// When all have refused, they are asked again after a while: each time costs them.
void RemoteCalls::refused() {
  asks_ = false;
  if (++refusals_ % (transport_.size() - 1) != 0) return;
  if (state_.shares_every_call) return;
  pause_ = std::clamp<Clock::duration>(2 * pause_, kShortestPause, kLongestPause);
  asks_again_ = Clock::now() + pause_;
}

void RemoteCalls::take_gift(Name name, net::ByteReader& in) {
  const uint64_t group = in.compact();
  const uint64_t number = in.compact();
  if (group >= plan_.groups.size() || number >= plan_.groups[group].calls.size() ||
      !plan_.groups[group].calls[number].can_be_sent) {
    in.fail(fmt::format("expected a call of this program, found call {} of group {}", number, group));
  }
  const Group::Call& call = plan_.groups[group].calls[number];
  TakenCall taken{name,
                  &call,
                  std::vector<Slot>(call.arguments.size()),
                  std::vector<Slot>(frame_bytes(call.results) / sizeof(Slot)),
                  {}};
  for (Slot& argument : taken.arguments) argument.bits = in.number<uint64_t>();
  in.require_end();
  asks_ = false;
  refusals_ = 0;
  pause_ = {};
  ++calls_taken_;
  TakenCall* kept = nullptr;
  {
    const std::lock_guard lock(mutex_);
    kept = &taken_.emplace_back(std::move(taken));
  }
  put_waiting({nullptr, nullptr, nullptr, kept}, false);
}

void RemoteCalls::put_waiting(const Waiting& one, bool first) {
  const std::lock_guard lock(mutex_);
  if (first) {
    waiting_.push_front(one);
  } else {
    waiting_.push_back(one);
  }
  waiting_count_.fetch_add(1, std::memory_order_relaxed);  // says only whether it is worth looking
}

// --- The end ---

/// Calls that were given count as come back; what waits for a worker will not run.
void RemoteCalls::unwind_all() {
  for (const auto& [name, one] : given_) {
    if (agent_.arrive(one.frame, *one.group)) unwind(one.frame, one.group->joined);
  }
  given_.clear();
  std::deque<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.swap(waiting_);
    waiting_count_.store(0);
  }
  for (const Waiting& one : waiting) {
    if (one.taken != nullptr) continue;
    agent_.anchor = one.anchor;
    unwind(one.frame, one.pc);
  }
}

void RemoteCalls::unwind(Frame* frame, const Instruction* pc) {
  agent_.frame = frame;
  agent_.pc = pc;
  agent_.unwind();
}

void RemoteCalls::finish(RunStats& stats) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  stats.remote_calls = calls_taken_;
  stats.remote_bytes = bytes_sent_;
  if (!is_first()) {
    net::ByteWriter body;
    write_stats(stats, body);
    send({0, 0}, Kind::Done, body);
    return transport_.flush();
  }
  while (done_ < transport_.size() - 1) {
    step();
    transport_.wait(kLook);
  }
  add_stats(others_, stats);
}

void RemoteCalls::take_done(net::ByteReader& in) {
  RunStats stats;
  stats.regions = plan_.regions;
  read_stats(stats, in);
  in.require_end();
  ++done_;
  add_stats(stats, others_);
}

}  // namespace hiaton::exec::direct
