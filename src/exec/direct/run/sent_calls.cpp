#include "exec/direct/run/sent_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/check.h"
#include "exec/direct/run/interpret.h"
#include "exec/direct/run/remote_messages.h"

namespace hiaton::exec::direct {
namespace {

/// A process that has a copy of a function sends a call of it to another one while that has fewer of its
/// calls, and else runs it itself.
constexpr uint32_t kFewUnderWay = 2;
/// Header::aux: the number of the run, above the kind of message.
constexpr uint32_t kBitsOfSentKind = 4;
constexpr uint32_t kMostSentRuns = ~uint32_t{0} >> kBitsOfSentKind;
/// Where so many calls are under way, the worker waits for results before it begins more of its own.
constexpr std::size_t kMostUnderWay = 4096;
/// A worker that computes looks so often at what has come.
constexpr std::chrono::milliseconds kTick{2};
/// A worker that begins calls of its own looks after so many of them at the latest: a look may take longer
/// than a short call.
constexpr uint32_t kCallsBetweenLooks = 16;
constexpr std::chrono::milliseconds kLongestSleep{100};
/// A process that could begin more calls, but has not the memory for what they send, waits so long for
/// others.
constexpr std::chrono::milliseconds kHeldBack{1};
/// A value takes so many times the bytes of its message, at most.
constexpr uint64_t kBytesForEachSent = 8;
constexpr uint64_t kMostWaitingBytes = uint64_t{1} << 18;
constexpr std::size_t kMostSentBytes = std::size_t{1} << 30;

net::RunCells cells_for(Worker& worker) {
  return {worker.cells, worker.tensors == nullptr ? nullptr : &worker.tensors->cells};
}

}  // namespace

SentCalls::SentCalls(net::Transport& transport, RunState& state, const Plan& plan, Budget& budget,
                     const Frame* main_root, Owner& owner)
    : transport_(transport),
      run_(transport.next_run() & kMostSentRuns),
      state_(state),
      plan_(plan),
      budget_(budget),
      room_(budget.free_bytes()),
      main_root_(main_root),
      owner_(owner),
      under_way_in_(plan.sent.size()),
      turns_(plan.sent.size()) {
  for (const SentFunction& sent : plan.sent) {
    const bool is_called = sent.entry != nullptr;
    const std::vector<Type> none;
    bool holds = false;
    for (std::size_t i = 0; i < sent.argument_types.size(); ++i)
      holds = holds || (!sent.argument_types[i].is_scalar() && !sent.is_taken_over[i]);
    codecs_.push_back({net::ValueCodec(is_called ? sent.argument_types : none),
                       net::ValueCodec(is_called ? sent.result_types : none), holds});
  }
}

SentCalls::~SentCalls() {
  while (newest_ != nullptr) drop(newest_);
}

// --- The worker ---

void SentCalls::run(const std::function<Outcome()>& start) {
  ticks_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      never.wait_for(lock, stop, kTick, [] { return false; });
      worker().poll.store(true);
    }
  });
  try {
    if (transport_.self() == 0) settle(start());
    while (!is_over()) {
      if (!run_next()) wait_for_others();
    }
    if (fault_ != Fault::None) {
      worker().frame = nullptr;
      worker().fault = fault_;
      owner_.settle(Outcome::Failed);
    }
    if (transport_.self() == 0) {
      // An error in a call of another process comes back from there.
      while (state_.stopping.load() && has_reported_ && !has_error_) {
        transport_.flush();
        transport_.wait(kSentLook);
        poll();
      }
      has_ended_ = true;
      const uint64_t failed = state_.stopping.load() ? 1 : 0;
      for (int i = 1; i < transport_.size(); ++i) send({i, failed}, Kind::End, 0, {});
    }
    transport_.flush();
    while (!has_ended_) {
      transport_.wait(kSentLook);
      poll();
      transport_.flush();
    }
  } catch (...) {
    failure_ = std::current_exception();
    state_.stop();
  }
  ticks_ = {};
  if (state_.stopping.load()) unwind_all();
}

/// False: there is nothing to do. Others may wait for what was sent, so that leaves before this process looks
/// for what they send.
bool SentCalls::run_next() {
  if (runnable_.empty() && free_.empty()) transport_.flush();
  if (runnable_.empty() && (free_.empty() || begun_since_look_ >= kCallsBetweenLooks)) poll();
  if (!runnable_.empty()) {
    const Runnable next = runnable_.front();
    runnable_.pop_front();
    worker().anchor = next.anchor;
    if (worker().calls.is_on()) draw(next);
    settle(interpret(worker(), next.frame, next.pc));
    return true;
  }
  if (free_.empty() || under_way_ >= kMostUnderWay || (under_way_ > 0 && holds_back())) return false;
  ++begun_since_look_;
  settle(run_free());
  return true;
}

void SentCalls::wait_for_others() {
  transport_.flush();
  const auto has_work = [&] { return !runnable_.empty() || is_over(); };
  const auto work_has_come = [&] {
    poll();
    return has_work();
  };
  if (spinning_.look(work_has_come)) return;
  if (!refused_.empty()) {
    send_refused();
    transport_.flush();
  }
  if (under_way_ > 0 && holds_back()) {
    transport_.wait(kHeldBack);
    poll();
    if (has_work() || must_wait()) return;
  }
  // The others may wait for what this process has not begun yet.
  if (!free_.empty()) return settle(run_free());
  transport_.wait(kLongestSleep);
}

void SentCalls::look() {
  is_looking_ = true;
  try {
    transport_.flush();
    poll();
  } catch (...) {
    failure_ = std::current_exception();
    state_.stop();
  }
  is_looking_ = false;
}

bool SentCalls::is_short(std::size_t bytes) const {
  return budget_.free_bytes() < room_ / 4 + kBytesForEachSent * bytes;
}

/// Others have to take what was sent before more is: they do, when they have nothing else to do. What is
/// under way may come back all at once, and is to fit into the budget then.
bool SentCalls::must_wait() const {
  return refused_under_way_ > 0 || counted_bytes_ > kMostWaitingBytes || under_way_bytes_ > room_ / 4;
}

/// What waits to be sent becomes part of the budget, or the run fails.
void SentCalls::count_waiting() {
  const uint64_t waits = transport_.waiting_bytes() + refused_bytes_;
  if (waits == counted_bytes_) return;
  if (waits < counted_bytes_) {
    budget_.give_bytes(counted_bytes_ - waits);
  } else if (!budget_.take_bytes(waits - counted_bytes_)) {
    fault_ = Fault::MaxBytes;
    return state_.stop();
  }
  counted_bytes_ = waits;
}

void SentCalls::draw(const Runnable& next) {
  if (next.begins == nullptr) return worker().calls.go_on(next.pc);
  const std::size_t arguments = plan_.sent[next.begins->function].argument_types.size();
  const Name& name = next.begins->name;
  worker().calls.begin_sent(next.pc, {next.frame->slots, arguments}, arrow_of(name.process, name.number));
}

/// Both processes know the name of the call. A file has no arrows above 2^53, so of a name its low bits
/// count: two arrows are the same only where a process has begun a million calls in between.
uint64_t SentCalls::arrow_of(int caller, uint64_t name) const {
  constexpr int kBits = 20;
  constexpr uint64_t kLow = (uint64_t{1} << kBits) - 1;
  constexpr uint64_t kOfSentCalls = uint64_t{1} << 51;
  constexpr uint64_t kCallers = 1024;
  const uint64_t generation = name >> 32;
  return kOfSentCalls | static_cast<uint64_t>(caller) % kCallers << 2 * kBits | (generation & kLow) << kBits |
         (name & kLow);
}

// --- Calls of this process ---

const Instruction* SentCalls::entry_here(std::size_t function) const {
  const std::vector<uint32_t>& copies = plan_.sent[function].copies;
  const Instruction* own = nullptr;
  for (std::size_t i = 0; i < copies.size() && copies.size() > 1; ++i) {
    const SentFunction& copy = plan_.sent[copies[i]];
    if (copy.home == transport_.self()) {
      own = copy.entry;
    } else if (under_way_in_[copies[i]] < kFewUnderWay) {
      return nullptr;
    }
  }
  return own;
}

/// Chooses, among the copies on other processes, the one with the fewest calls of this process under way, the
/// next one in turn where several have as few.
uint32_t SentCalls::choose_copy(std::size_t function) {
  const std::vector<uint32_t>& copies = plan_.sent[function].copies;
  if (copies.size() == 1) return copies[0];
  std::size_t best = copies.size();
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const std::size_t at = (turns_[function] + i) % copies.size();
    if (plan_.sent[copies[at]].home == transport_.self()) continue;
    if (best == copies.size() || under_way_in_[copies[at]] < under_way_in_[copies[best]]) best = at;
  }
  turns_[function] = best + 1;
  return copies[best];
}

void SentCalls::send_call() {
  Worker& own = worker();
  Frame* const frame = own.frame;
  const auto function = static_cast<uint32_t>(own.pc->number);
  const SentFunction& callee = plan_.sent[function];
  const net::ValueCodec& codec = codecs_[function].arguments;
  try {
    body_.clear();
    codec.write_slots({frame->slots, callee.argument_types.size()}, body_);
    waiting_.resize(std::max<std::size_t>(waiting_.size(), names_.next_place() + 1));
  } catch (const std::bad_alloc&) {
    return fail(own.pool.memory_fault());
  }
  if (body_.bytes().size() > kMostSentBytes) {
    own.unwind();
    throw ProgramError(fmt::format(
        "expected at most 1 GiB of arguments for a call to another process, found {} bytes for process {}",
        body_.bytes().size(), callee.home));
  }
  for (std::size_t i = 0; i < callee.is_taken_over.size(); ++i) {
    if (callee.is_taken_over[i]) codec.release_slot(cells_for(own), i, frame->slots[i]);
  }
  const uint32_t copy = choose_copy(function);
  const uint64_t name = names_.take();
  Waiting& waits = waiting_[*names_.place_of(name)];
  waits.frame = frame;
  waits.anchor = std::exchange(own.anchor, nullptr);
  waits.pc = own.pc;
  waits.function = copy;
  waits.bytes = body_.bytes().size();
  under_way_bytes_ += waits.bytes;
  ++under_way_;
  ++under_way_in_[copy];
  send({plan_.sent[copy].home, name}, Kind::Call, copy, body_);
  count_waiting();
  if (own.calls.is_on()) own.calls.send(arrow_of(transport_.self(), name));
  own.anchor = waits.anchor;
  free_calls();
  own.anchor = nullptr;
}

/// The calls that could be stolen from the worker become its work, the oldest last.
void SentCalls::free_calls() {
  Worker& own = worker();
  for (uint32_t i = 0; i < own.fork_end; ++i) {
    const ForkEntry& entry = own.forks[i];
    uint64_t& slot = entry.frame->slots[entry.group->join_slot].bits;
    if (slot == 0) slot = reinterpret_cast<uint64_t>(new JoinRecord{1, entry.end, own.anchor});
    auto* const record = reinterpret_cast<JoinRecord*>(slot);
    for (uint32_t call = entry.end; call-- > entry.started;) {
      for (const Argument& argument : entry.group->calls[call].arguments)
        argument.pass(entry.frame->slots, &free_arguments_.emplace_back());
      free_.push_back({entry.frame, entry.group, call});
      record->pending.fetch_add(1, std::memory_order_relaxed);
    }
    record->end = entry.started;
  }
  own.forget_forks();
}

Outcome SentCalls::run_free() {
  Worker& own = worker();
  const Free next = free_.back();
  free_.pop_back();
  const Group::Call& call = next.group->calls[next.call];
  const std::size_t first = free_arguments_.size() - call.arguments.size();
  Frame* const callee = own.start_chain(next.frame, call.resume, call.entry[-1].d);
  if (callee == nullptr) {
    state_.stop();
    own.fault = own.pool.failure();
    own.stop_at(own.arrive(next.frame, *next.group) ? next.frame : nullptr, *next.group);
    return Outcome::Failed;
  }
  std::copy_n(free_arguments_.begin() + static_cast<std::ptrdiff_t>(first), call.arguments.size(),
              callee->slots);
  free_arguments_.resize(first);
  if (own.calls.is_on()) own.calls.begin_aside(call.entry, {callee->slots, call.arguments.size()});
  return interpret(own, callee, call.entry);
}

SentCalls::Waiting& SentCalls::waiting(Name name, net::ByteReader& in) {
  const std::optional<uint32_t> place = names_.place_of(name.number);
  if (!place || plan_.sent[waiting_[*place].function].home != name.process)
    in.fail(fmt::format("expected the name of a call that was sent there, found {}", name.number));
  return waiting_[*place];
}

void SentCalls::free_place(Waiting& place) {
  place.frame = nullptr;
  note_taken(place);
  names_.give_back(static_cast<uint32_t>(&place - waiting_.data()));
  --under_way_;
  under_way_bytes_ -= place.bytes;
  --under_way_in_[place.function];
}

// --- Messages ---

void SentCalls::send(Name to, Kind kind, uint32_t function, const net::ByteWriter& body) {
  bytes_sent_ += body.bytes().size() + sizeof(net::Header);
  const uint32_t aux = run_ << kBitsOfSentKind | static_cast<uint32_t>(kind);
  transport_.send(to.process, {.channel = function, .aux = aux, .name = to.number}, body.bytes());
}

void SentCalls::poll() {
  begun_since_look_ = 0;
  transport_.poll([this](int from, const net::Header& header, std::span<const std::byte> payload) {
    take(from, header, payload);
  });
  count_waiting();
}

void SentCalls::take(int from, const net::Header& header, std::span<const std::byte> payload) {
  const uint32_t number = header.aux & ((1u << kBitsOfSentKind) - 1);
  if (header.aux >> kBitsOfSentKind != run_) return;
  const std::string& sender = transport_.name(from);
  net::ByteReader in(payload, sender);
  const Name name{from, header.name};
  if (number > static_cast<uint32_t>(Kind::Done))
    in.fail(fmt::format("expected a kind of message, found number {}", number));
  const auto kind = static_cast<Kind>(number);
  if (kind == Kind::Done) return others_.take(from, plan_.regions, in);
  if (has_ended_) return;
  if (kind == Kind::Fault) return take_fault(name, in);
  if (kind == Kind::End) {
    has_ended_ = true;
    return header.name != 0 ? state_.stop() : state_.finished.store(true);
  }
  if (is_over()) return;
  try {
    if (kind == Kind::Call || kind == Kind::Again) {
      if (!may_take_call(is_short(payload.size()), is_busy())) {
        net::ByteWriter arguments;
        arguments.raw(payload.data(), payload.size());
        return send(name, Kind::Refuse, header.channel, arguments);
      }
      if (kind == Kind::Again) send(name, Kind::Taken, 0, {});
      take_call(name, header.channel, in);
    } else if (kind == Kind::Refuse) {
      take_refusal(name, waiting(name, in), payload);
    } else if (kind == Kind::Taken) {  // its results may be here already
      if (names_.place_of(name.number)) note_taken(waiting(name, in));
    } else {
      take_return(name, in);
    }
  } catch (const std::bad_alloc&) {
    fault_ = worker().pool.memory_fault();
    state_.stop();
  }
}

void SentCalls::take_call(Name name, uint32_t function, net::ByteReader& in) {
  if (function >= plan_.sent.size() || plan_.sent[function].entry == nullptr ||
      plan_.sent[function].home != transport_.self())
    in.fail(fmt::format("expected the number of a function of process {}, found {}", transport_.self(),
                        function));
  const SentFunction& callee = plan_.sent[function];
  const Codecs& codecs = codecs_[function];
  Worker& own = worker();
  const std::size_t arguments = callee.argument_types.size();
  void* const memory = ::operator new(sizeof(Taken) + frame_bytes(slots_of_root(function)));
  auto* const taken = new (memory) Taken{name, function, newest_, nullptr};
  if (newest_ != nullptr) newest_->behind = taken;
  newest_ = taken;
  Frame* const anchor = own.anchor;  // of what the worker runs while it looks
  Frame* const frame = own.start_chain(root_of(*taken), plan_.halt, callee.entry[-1].d);
  Frame* const chain = std::exchange(own.anchor, anchor);
  if (frame == nullptr) {
    fault_ = own.pool.failure();
    return state_.stop();
  }
  runnable_.push_back({frame, chain, callee.entry, taken});
  codecs.arguments.read_slots(in, cells_for(own), {frame->slots, arguments});
  in.require_end();
  if (codecs.holds_arguments) std::copy_n(frame->slots, arguments, held_by(*taken));
  ++calls_taken_;
}

void SentCalls::take_return(Name name, net::ByteReader& in) {
  Waiting& place = waiting(name, in);
  codecs_[place.function].results.read_slots(
      in, cells_for(worker()), {place.frame->slots, plan_.sent[place.function].result_types.size()});
  in.require_end();
  runnable_.push_back({place.frame, place.anchor, place.pc + 1, nullptr});
  free_place(place);
  if (!refused_.empty() && refused_.front().to.process == name.process) send_refused();
}

void SentCalls::take_refusal(Name name, Waiting& place, std::span<const std::byte> arguments) {
  if (!std::exchange(place.is_refused, true)) ++refused_under_way_;
  Refused& call = refused_.emplace_back();
  call.to = name;
  call.function = place.function;
  call.arguments.raw(arguments.data(), arguments.size());
  refused_bytes_ += arguments.size();
}

void SentCalls::note_taken(Waiting& place) {
  if (std::exchange(place.is_refused, false)) --refused_under_way_;
}

/// The one that waits the longest.
void SentCalls::send_refused() {
  const Refused call = std::move(refused_.front());
  refused_.pop_front();
  refused_bytes_ -= call.arguments.bytes().size();
  send(call.to, Kind::Again, call.function, call.arguments);
}

/// The call of another process at Worker::frame has returned.
void SentCalls::return_results() {
  Worker& own = worker();
  Taken& taken = taken_with(own.frame);
  const SentFunction& function = plan_.sent[taken.function];
  const Codecs& codecs = codecs_[taken.function];
  const std::span<const Slot> results(own.frame->slots, function.result_types.size());
  const net::RunCells cells = cells_for(own);
  try {
    body_.clear();
    codecs.results.write_slots(results, body_);
  } catch (const std::bad_alloc&) {
    own.leave_chain();
    own.frame = nullptr;
    return fail(own.pool.memory_fault());
  }
  for (std::size_t i = 0; i < results.size(); ++i) codecs.results.release_slot(cells, i, results[i]);
  for (std::size_t i = 0; codecs.holds_arguments && i < function.is_taken_over.size(); ++i) {
    if (!function.is_taken_over[i]) codecs.arguments.release_slot(cells, i, held_by(taken)[i]);
  }
  own.leave_chain();
  send(taken.name, Kind::Return, 0, body_);
  drop(&taken);
}

}  // namespace hiaton::exec::direct
