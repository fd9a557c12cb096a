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
/// How long the agent sleeps while the workers of its process have work, where no message wakes it: longer
/// each time as long as none comes. Each look costs the worker that it interrupts some ten microseconds.
constexpr std::chrono::microseconds kShortestNap{200};
constexpr std::chrono::milliseconds kLongestNap{4};
constexpr std::chrono::milliseconds kSleep{100};
constexpr std::chrono::microseconds kLook{100};
constexpr std::chrono::microseconds kToFork{20};
constexpr std::chrono::microseconds kShortestPause{100};
constexpr std::chrono::milliseconds kLongestPause{5};

}  // namespace

RemoteCalls::RemoteCalls(net::Transport& transport, RunState& state, const Plan& plan, Budget& budget,
                         Owner& owner)
    : transport_(transport),
      run_(transport.next_run() & kMostRuns),
      state_(state),
      plan_(plan),
      owner_(owner),
      agent_(state, plan, budget, nullptr),
      can_be_woken_(transport.wake()),
      met_(static_cast<std::size_t>(transport.size())),
      questions_(transport.self(), transport.size()) {
  agent_.steals_for = this;
  for (const Group& group : plan.groups)
    group_numbers_.emplace(&group, static_cast<uint32_t>(group_numbers_.size()));
}

RemoteCalls::~RemoteCalls() = default;

// --- The agent ---

void RemoteCalls::serve() {
  try {
    while (!is_over()) {
      step();
      if (!is_over()) wait();
    }
    rethrow_malformed();
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
  is_wanted_.store(false);
  transport_.poll([this](int from, const net::Header& header, std::span<const std::byte> payload) {
    take(from, header, payload);
  });
  rethrow_malformed();
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
  const bool is_idle = state_.idle.load() > waiting_count_.load();
  if (state_.shares_every_call) return is_idle ? transport_.wait(kLook) : std::this_thread::yield();
  if (can_be_woken_) {
    if (!is_idle) return transport_.sleep(kSleep);
    return transport_.wait(
        questions_.is_open() ? kSleep : std::max<Clock::duration>(asks_again_ - Clock::now(), kLook));
  }
  if (is_idle) return transport_.wait(kLook);
  nap_ = std::clamp<Clock::duration>(2 * nap_, kShortestNap, kLongestNap);
  std::unique_lock lock(mutex_);
  wakes_.wait_for(lock, nap_, [this] { return is_wanted_.load(); });
}

void RemoteCalls::wake() {
  {
    const std::lock_guard lock(mutex_);  // else it could come just before the agent waits
    is_wanted_.store(true);
  }
  wakes_.notify_one();
  transport_.wake();
}

void RemoteCalls::send(Name to, Kind kind, const net::ByteWriter& body, uint32_t arrow) {
  send_in(run_, to, kind, body, arrow);
}

/// Where an arrow leads to a gift, the process is known, and the number goes with it.
void RemoteCalls::send_in(uint32_t run, Name to, Kind kind, const net::ByteWriter& body, uint32_t arrow) {
  bytes_sent_ += body.bytes().size() + sizeof(net::Header);
  const uint32_t aux = run << kBitsOfKind | static_cast<uint32_t>(kind);
  transport_.send(to.process, {.channel = arrow, .aux = aux, .name = to.number}, body.bytes());
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
  const Judgement judgement = judge_message(run, run_, (run_ + 1) & kMostRuns, kind == Kind::Ask);
  if (judgement == Judgement::Refuse) send_in(run, {from, 0}, Kind::Refuse, {});
  if (judgement != Judgement::Take) return;
  nap_ = {};
  if (kind == Kind::Done) return others_.take(from, plan_.regions, in);
  if (has_ended_) return;
  switch (kind) {
    case Kind::Ask:
      return take_question(from);
    case Kind::Refuse:
      return refused();
    case Kind::Gift:
      return take_gift(name, header.channel, in);
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

void RemoteCalls::report(const RunError& error, const Frame* frame, const Instruction* pc) {
  const TakenCall* around = frame == nullptr ? nullptr : call_around(frame);
  const Name to = around == nullptr ? Name{0, kNoCall} : around->name;
  if (is_first() && around == nullptr) {
    owner_.take_error(error);
    has_error_.store(true);
    return;
  }
  // The program, which ends the chain here, is not around the call: instead of it goes what the call got. The
  // giver knows the rest.
  std::vector<CallRecord> chain = error.chain();
  uint64_t length = error.chain_length();
  if (around != nullptr && !chain.empty()) {
    const graph::CallSite site = plan_.sites[plan_.index_of(around->call->resume - 1)];
    chain.back() = site.valid() ? owner_.outermost_call(frame, pc, site) : CallRecord();
    --length;
  }
  has_reported_.store(true);
  {
    const std::lock_guard lock(mutex_);
    errors_.push_back({RunError(error, error.message(), std::move(chain), length), to});
  }
  wake();
}

/// The call of another process that the frame works for; null where it works for the program.
RemoteCalls::TakenCall* RemoteCalls::call_around(const Frame* frame) {
  while (plan_.opcode(frame->resume) != Opcode::Halt) frame = frame->parent;
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(taken_, [&](TakenCall& one) { return root_of(one) == frame->parent; });
  return found == taken_.end() ? nullptr : &*found;
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

bool RemoteCalls::take_from_workers() {
  return std::ranges::any_of(state_.workers,
                             [this](const std::unique_ptr<Worker>& worker) { return agent_.ask(*worker); });
}

/// False: no worker has a call to give.
bool RemoteCalls::give(int to) {
  state_.idle.fetch_add(1);  // who gives counts the thief out
  bool has_call = take_from_workers();
  if (!has_call) {  // who was asked soon has one, or else it has nothing that could be given
    std::this_thread::sleep_for(kToFork);
    has_call = take_from_workers();
  }
  if (!has_call) {
    state_.idle.fetch_sub(1);
    return false;
  }
  const Clock::time_point begin = Clock::now();
  const Worker::Gift& gift = agent_.gift_;
  const uint64_t name = next_name_++;
  // Before the call is sent: where that throws, the frame that waits for the call is still to be unwound.
  Given& given = given_[name] = {gift.frame, gift.group, gift.call, to};
  send({to, name}, Kind::Gift, gift_, static_cast<uint32_t>(gift.arrow));
  gift_.clear();
  transport_.flush();
  const Clock::time_point now = Clock::now();
  given.how = {.cost = writing_ + (now - begin), .at = now};
  worth_[gift.group->calls[gift.call].entry].given(given.how);
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
  const std::chrono::nanoseconds took = read_time(in);
  const std::chrono::nanoseconds shipping = read_time(in);
  const Codecs& codecs = codecs_of(call);
  if (codecs.results.is_of_scalars()) {
    codecs.results.read_slots(in, {}, {&one.frame->slots[call.resume[-1].d], call.result_types.size()});
    in.require_end();
    given_.erase(name.number);
    if (agent_.arrive(one.frame, *one.group))
      put_waiting(Continuation{one.frame, one.group, std::exchange(agent_.anchor, nullptr)}, true);
  } else {
    const std::size_t size = in.left();
    const std::byte* results = in.take(size);
    given_.erase(name.number);
    put_waiting(Returned{one, &codecs, {results, results + size}}, true);
  }
  const Clock::time_point now = Clock::now();
  worth_[call.entry].came_back(one.how, now, now - begin, took, shipping);
}

/// The frame that waits for the call belongs to nobody else until this process has come back to it.
void RemoteCalls::take_fault(Name name, net::ByteReader& in) {
  const RunError error = read_error(in);
  in.require_end();
  if (name.number == kNoCall) {
    report(error, nullptr, nullptr);
  } else {
    const Given& one = given(name, in);
    const Group::Call& call = one.group->calls[one.call];
    report(owner_.with_calls_around(error, one.frame, call), one.frame, call.resume - 1);
  }
  state_.stop();
}

// --- Taking ---

void RemoteCalls::ask_if_idle() {
  const int others = transport_.size() - 1;
  if (questions_.is_open() || others == 0 || is_over() || state_.idle.load() <= waiting_count_.load()) return;
  if (Clock::now() < asks_again_) return;
  send({questions_.ask(), 0}, Kind::Ask, {});
}

/// When all have refused, they are asked again after a while: each time costs them.
void RemoteCalls::refused() {
  if (!questions_.refused()) return;
  if (state_.shares_every_call) return;
  pause_ = std::clamp<Clock::duration>(2 * pause_, kShortestPause, kLongestPause);
  asks_again_ = Clock::now() + pause_;
}

void RemoteCalls::take_gift(Name name, uint32_t arrow, net::ByteReader& in) {
  const uint64_t group = in.compact();
  const uint64_t number = in.compact();
  if (group >= plan_.groups.size() || number >= plan_.groups[group].calls.size()) {
    in.fail(fmt::format("expected a call of this program, found call {} of group {}", number, group));
  }
  const Group::Call& call = plan_.groups[group].calls[number];
  const std::size_t size = in.left();
  const std::byte* arguments = in.take(size);
  questions_.given();
  pause_ = {};
  ++calls_taken_;
  TakenCall taken{.name = name,
                  .call = &call,
                  .codecs = &codecs_of(call),
                  .arrow = Trace::arrow_of(name.process, arrow),
                  .message = {arguments, arguments + size},
                  .arguments = std::vector<Slot>(call.arguments.size()),
                  .root = std::vector<Slot>(frame_bytes(call.result_types.size()) / sizeof(Slot))};
  TakenCall* kept = nullptr;
  {
    const std::lock_guard lock(mutex_);
    kept = &taken_.emplace_back(std::move(taken));
  }
  put_waiting(kept, false);
}

void RemoteCalls::put_waiting(Waiting one, bool first) {
  {
    const std::lock_guard lock(mutex_);
    if (first) {
      waiting_.push_front(std::move(one));
    } else {
      waiting_.push_back(std::move(one));
    }
    waiting_count_.fetch_add(1, std::memory_order_relaxed);  // says only whether it is worth looking
  }
  has_work_.notify_one();
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
    if (const auto* frame = std::get_if<Continuation>(&one)) {
      agent_.anchor = frame->anchor;
      unwind(frame->frame, frame->group->joined);
    } else if (const auto* returned = std::get_if<Returned>(&one)) {
      const Given& call = returned->call;
      if (agent_.arrive(call.frame, *call.group)) unwind(call.frame, call.group->joined);
    }
  }
}

void RemoteCalls::unwind(Frame* frame, const Instruction* pc) {
  agent_.frame = frame;
  agent_.pc = pc;
  agent_.unwind();
}

void RemoteCalls::visit_slots(const std::function<void(std::span<const Slot>)>& visit) const {
  agent_.visit_slots(visit);
  for (const TakenCall& taken : taken_) {
    visit(taken.arguments);
    visit(taken.root);
  }
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
  while (others_.count() < transport_.size() - 1) {
    step();
    transport_.wait(kLook);
  }
  others_.add_to(stats);
}

}  // namespace hiaton::exec::direct
