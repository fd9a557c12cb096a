#include "exec/flow/run/process_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exec/fault.h"
#include "exec/flow/run/flow_worker.h"
#include "exec/flow/run/received_values.h"
#include "exec/place_program.h"
#include "tensor/memory.h"

namespace hiaton::exec::flow {
namespace {

ReturnName name_of_bits(uint64_t bits) {
  return {static_cast<uint16_t>(bits >> 48), static_cast<uint16_t>(bits >> 32), static_cast<uint32_t>(bits)};
}

std::vector<SlotKind> kinds_of_arguments(const Plan& plan, const Call& call) {
  std::vector<SlotKind> kinds;
  for (const Move& move : call.arguments) kinds.push_back(plan.functions[call.callee].slots[move.to]);
  return kinds;
}

std::vector<SlotKind> kinds_of_results(const Function& caller, const SitePhase& phase) {
  std::vector<SlotKind> kinds;
  for (const std::optional<uint32_t>& slot : phase.slots) {
    if (slot) kinds.push_back(caller.slots[*slot]);
  }
  return kinds;
}

/// In the place of its slot; tensors are not copied.
net::ValueCodec::Written to_write(const SentValue& value) {
  if (value.kind() != SlotKind::Tensor) return {.slot = value.cell().slot};
  return {.slot = {}, .dims = value.cell().dims(), .elements = value.cell().elements()};
}

void require_phase(const net::ByteReader& in, const Site& site, uint64_t phase) {
  if (phase > site.phases.size())
    in.fail(fmt::format("expected one of {} phases, found number {}", site.phases.size(), phase));
}

/// The name of one more message of the same kind.
ReturnName next_name(net::ByteReader& in, ReturnName before) {
  const uint64_t slot = in.compact();
  const uint64_t generation = in.compact();
  if (slot > UINT32_MAX || generation > UINT16_MAX)
    in.fail(fmt::format("expected the name of a call, found slot {}, generation {}", slot, generation));
  return {before.caller, static_cast<uint16_t>(generation), static_cast<uint32_t>(slot)};
}

}  // namespace

CallCodecs::CallCodecs(const Plan& plan, CallsThatLeave calls) {
  for (const Function& function : plan.functions) {
    std::vector<Codec>& arguments = arguments_.emplace_back(function.calls.size());
    std::vector<std::vector<Codec>>& results = results_.emplace_back(function.sites.size());
    for (std::size_t i = 0; i < function.calls.size(); ++i) {
      const Call& call = function.calls[i];
      const bool leaves = calls == CallsThatLeave::Placed ? call.is_sent : !call.is_direct;
      if (!leaves) continue;
      std::vector<Type> types;
      for (const Move& move : call.arguments)
        types.push_back(plan.functions[call.callee].slot_types[move.to]);
      arguments[i].emplace(types);
      const std::vector<SitePhase>& phases = function.sites[call.site].phases;
      if (!results[call.site].empty()) continue;
      for (const SitePhase& phase : phases) {
        types.clear();
        for (const std::optional<uint32_t>& slot : phase.slots) {
          if (slot) types.push_back(function.slot_types[*slot]);
        }
        results[call.site].emplace_back().emplace(types);
      }
    }
  }
}

int group_size(const RunOptions& options) {
  return processes_of_each(std::max(1, options.replicas), options.processes->size());
}

ProcessCalls::ProcessCalls(const Plan& plan, const CallCodecs& codecs, CallsThatLeave calls,
                           std::span<const Value> arguments, const RunOptions& options)
    : CommonRun(*options.processes),
      plan_(plan),
      codecs_(codecs),
      calls_(calls),
      shares_every_call_(calls == CallsThatLeave::Shared && options.share_every_call &&
                         options.processes->size() > 1),
      arguments_(arguments),
      first_of_group_(options.processes->self() / group_size(options) * group_size(options)),
      asked_(static_cast<std::size_t>(options.processes->size())) {}

// What goes out ---------------------------------------------------------------------------------------------

bool ProcessCalls::go_together(const Message& a, const Message& b) {
  if (a.kind != b.kind || a.caller_function != b.caller_function) return false;
  if (a.kind == Message::Kind::Call) return a.call == b.call && a.function == b.function;
  return a.caller_site == b.caller_site && a.phase == b.phase && a.over == b.over && a.returns == b.returns;
}

void ProcessCalls::send(uint32_t to, std::span<const Message* const> messages) {
  const Message& first = *messages[0];
  const bool is_call = first.kind == Message::Kind::Call;
  const net::ValueCodec* codec = nullptr;  // null: there are no values
  body_.clear();
  if (is_call) {
    const auto call = static_cast<uint32_t>(first.call - plan_.functions[first.caller_function].calls.data());
    body_.compact(first.caller_function);
    body_.compact(call);
    body_.compact(first.function);
    body_.compact(messages.size());
    codec = &codecs_.arguments(first.caller_function, call);
  } else {
    const bool has_results = first.phase != Message::kNoPhase;
    body_.compact(has_results ? first.phase + 1 : 0);
    body_.compact(first.over ? first.returns : 0);
    body_.compact(messages.size());
    if (has_results) codec = &codecs_.results(first.caller_function, first.caller_site, first.phase);
  }
  for (const Message* const message : messages) {
    if (message != &first) {
      body_.compact(message->name.slot);
      body_.compact(message->name.generation);
    }
    written_.clear();
    for (const SentValue& value : message->values) written_.push_back(to_write(value));
    if (codec != nullptr) codec->write_borrowed(written_, body_);
  }
  transport().send_written(
      static_cast<int>(to),
      {.channel = kChannel, .aux = aux(is_call ? kCall : kReturn), .name = first.name.bits()}, body_);
  ++sent_;
  bytes_sent_ += sizeof(net::Header) + body_.size();
}

bool ProcessCalls::ask(uint64_t frames) {
  bool has_asked = false;
  body_.clear();
  body_.compact(frames);
  for (std::size_t to = 0; to < asked_.size(); ++to) {
    const bool is_known = asked_[to] && (*asked_[to] == 0 || frames > 0);
    if (to == CommonRun::self() || is_known) continue;
    transport().send(static_cast<int>(to), {.channel = kChannel, .aux = aux(kAsk)}, body_.bytes());
    ++sent_;
    asked_[to] = frames;
    has_asked = true;
  }
  if (has_asked) transport().flush();
  return has_asked;
}

std::optional<uint32_t> ProcessCalls::take_asking(uint64_t frames) {
  const auto found = find_asking(frames);
  if (found == asking_.end()) return std::nullopt;
  const uint32_t process = found->process;
  asking_.erase(found);
  return process;
}

void ProcessCalls::take_ask(net::ByteReader& in, int from) {
  const uint64_t frames = in.compact();
  in.require_end();
  const auto known = std::ranges::find(asking_, static_cast<uint32_t>(from), &Asking::process);
  if (known == asking_.end()) return asking_.push_back({static_cast<uint32_t>(from), frames});
  known->frames = frames;
}

uint32_t ProcessCalls::somebody_else() {
  const auto others = static_cast<uint32_t>(transport().size() - 1);
  const uint32_t other = next_other_++ % others;
  return other < static_cast<uint32_t>(self()) ? other : other + 1;
}

bool ProcessCalls::look(Worker& worker) {
  worker_ = &worker;
  transport().flush();
  const uint64_t before = taken_;
  poll();
  rethrow();
  if (has_failed() || has_ended()) throw Stopped();
  worker.send_all();
  return taken_ != before;
}

bool ProcessCalls::wait_for_work(Worker& worker) {
  worker_ = &worker;
  const bool has_work = CommonRun::wait_for_work();
  rethrow();
  return has_work;
}

void ProcessCalls::wait_for_end(Worker& worker) {
  worker_ = &worker;
  while (CommonRun::wait_for_work()) {
  }
}

void ProcessCalls::rethrow() {
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

bool ProcessCalls::has_work() const {
  if (thrown_ != nullptr) return true;
  worker_->send_all();
  return worker_->has_work();
}

void ProcessCalls::require_time() {
  const Fault fault = worker_->poll_time();
  if (fault != Fault::None) throw worker_->error_without_place(fault);
}

void ProcessCalls::report(const RunError& error, std::optional<ReturnName> around) {
  if (around) return fail(error, around->caller, around->bits());
  fail(error);
}

// What comes in ---------------------------------------------------------------------------------------------

void ProcessCalls::take(int from, uint8_t kind, const net::Header& header,
                        std::span<const std::byte> payload) {
  if (thrown_ != nullptr) return;
  const std::string& sender = transport().name(from);
  net::ByteReader in(payload, sender);
  const ReturnName name = name_of_bits(header.name);
  try {
    if (kind == kAsk && shares_calls()) return take_ask(in, from);
    if (kind != kCall && kind != kReturn)
      in.fail(fmt::format("expected a kind of message, found number {}", kind));
    if (kind == kCall && name.caller != from)
      in.fail("expected the name of a call of the sender, found another");
    if (kind == kCall) asked_[static_cast<std::size_t>(from)].reset();
    kind == kCall ? take_calls(in, name) : take_returns(in, from, name);
  } catch (const OverBudget&) {
    thrown_ = std::make_exception_ptr(worker_->error_without_place(Fault::MaxBytes));
  } catch (...) {  // the transport goes on
    thrown_ = std::current_exception();
  }
}

void ProcessCalls::take(Message& message) {
  ++taken_;
  if (message.kind == Message::Kind::Call && message.phase == 0) ++calls_taken_;
  worker_->take_message(message);
}

/// How many messages are one. The name of each further one takes some bytes.
uint64_t ProcessCalls::read_count(net::ByteReader& in) {
  const uint64_t count = in.compact();
  if (count == 0 || count > in.left() + 1)
    in.fail(fmt::format("expected the number of messages that are one, found {}", count));
  return count;
}

void ProcessCalls::take_calls(net::ByteReader& in, ReturnName name) {
  Message message = read_call(in);
  const uint64_t count = read_count(in);
  const auto number =
      static_cast<uint32_t>(message.call - plan_.functions[message.caller_function].calls.data());
  ReceivedValues values(codecs_.arguments(message.caller_function, number),
                        kinds_of_arguments(plan_, *message.call), count, worker_->blocks(), in);
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0) name = next_name(in, name);
    message.name = name;
    values.read(message.values);
    take(message);
  }
  in.require_end();
}

void ProcessCalls::take_returns(net::ByteReader& in, int from, ReturnName name) {
  const uint64_t phase = in.compact();
  const uint64_t returns = in.compact();
  const uint64_t count = read_count(in);
  const RemoteCall& first = remote_call(in, from, name);
  const uint32_t function = first.caller->function;
  const uint32_t site = first.caller_site;
  Message message{.kind = Message::Kind::Return, .name = {}};
  message.over = returns > 0;
  message.returns = static_cast<uint32_t>(returns);
  std::optional<ReceivedValues> values;
  if (phase > 0) {
    const Function& body = plan_.functions[function];
    require_phase(in, body.sites[site], phase);
    message.phase = static_cast<uint32_t>(phase - 1);
    values.emplace(codecs_.results(function, site, message.phase),
                   kinds_of_results(body, body.sites[site].phases[message.phase]), count, worker_->blocks(),
                   in);
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0) name = next_name(in, name);
    const RemoteCall& call = remote_call(in, from, name);
    if (values && (call.caller->function != function || call.caller_site != site))
      in.fail("expected the results of calls of one site, found those of another one");
    if (returns > 0)
      require_phase(in, plan_.functions[call.caller->function].sites[call.caller_site], returns - 1);
    message.name = name;
    if (values) values->read(message.values);
    take(message);
  }
  in.require_end();
}

/// All but its name and its arguments.
Message ProcessCalls::read_call(net::ByteReader& in) const {
  const uint64_t caller = in.compact();
  const uint64_t number = in.compact();
  const uint64_t function = in.compact();
  const bool is_known = caller < plan_.functions.size() && number < plan_.functions[caller].calls.size();
  const Call* call = is_known ? &plan_.functions[caller].calls[number] : nullptr;
  const bool leaves = call != nullptr && (shares_calls() ? !call->is_direct : call->is_sent);
  if (!leaves)
    in.fail(fmt::format("expected a call that leaves its process, found number {} of function {}", number,
                        caller));
  if (!can_run(*call, function))
    in.fail(fmt::format("expected the number of a function of process {}, found {}", self(), function));
  return {.kind = Message::Kind::Call,
          .name = {},
          .phase = call->phase,
          .call = call,
          .caller_function = static_cast<uint32_t>(caller),
          .function = static_cast<uint32_t>(function)};
}

/// Whether this process may be sent the call, as one of the function.
bool ProcessCalls::can_run(const Call& call, uint64_t function) const {
  if (shares_calls()) return function == call.callee;
  const std::vector<uint32_t>& copies = plan_.copies[call.callee];
  const bool is_callee =
      copies.empty() ? function == call.callee : std::ranges::find(copies, function) != copies.end();
  return is_callee && home_of(static_cast<uint32_t>(function)) == self();
}

const RemoteCall& ProcessCalls::remote_call(net::ByteReader& in, int from, ReturnName name) const {
  const RemoteCall* call = name.caller == self() ? worker_->find_remote_call(name) : nullptr;
  if (call == nullptr || call->worker != from)
    in.fail(fmt::format("expected the name of a call that was sent there, found {}", name.bits()));
  return *call;
}

void ProcessCalls::take_fault(const RunError& error, uint64_t bits) {
  if (bits == kNoCall) return fail(error);
  const ReturnName name = name_of_bits(bits);
  const RemoteCall* call = name.caller == self() ? worker_->find_remote_call(name) : nullptr;
  if (call == nullptr) return fail(error);
  report(worker_->with_calls_around(error, *call), Worker::call_around(call->caller));
}

}  // namespace hiaton::exec::flow
