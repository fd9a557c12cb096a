// How a worker gives calls to others and runs theirs: the messages of messages.h.
//
// A worker that has nothing to do asks (Team::ask). Who is busy sees that after some items, and gives the
// OLDEST call that is ready and that nothing has begun, the largest of those worth it: it stands at the
// bottom of the stack of what is ready. Only a worker without examples of its own left asks, so a run of many
// examples, which keeps all workers busy, gives none.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "exec/flow/run/flow_worker.h"

namespace hiaton::exec::flow {
namespace {

/// Looking at what others want takes as long as a part of an item.
constexpr uint32_t kFiresAnExchange = 32;

}  // namespace

/// What others send, until the run is over.
void Worker::work_for_others() {
  send_all();
  while (true) {
    std::vector<Message> mail = team_->rest(number_, true);
    if (mail.empty()) break;
    deliver(mail);
    drain();
    send_all();
  }
  if (team_->is_stopping()) throw Stopped();
}

/// Whether something came.
bool Worker::exchange() {
  if (processes_ != nullptr) return exchange_with_processes();
  fires_to_exchange_ = kFiresAnExchange;
  if (team_->is_stopping()) throw Stopped();
  send_all();
  team_->show(number_, frames_, ready_.size() > 1);
  if (team_->is_asked()) give_calls();
  if (!team_->has_mail(number_)) return false;
  std::vector<Message> mail = team_->take_mail(number_);
  deliver(mail);
  return !mail.empty();
}

/// Before its batches: calls while there are some, for who has begun few of them has less to do in the end.
bool Worker::ask_for_calls() {
  constexpr std::chrono::microseconds kPatience{100};
  if (team_ == nullptr) return ask_processes();
  const bool has_examples = started_.size() < examples_.size();
  if (has_examples || !team_->are_parts_taken() || !team_->has_more(number_, frames_)) return false;
  team_->ask(number_);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!team_->has_mail(number_) && team_->has_more(number_, frames_) && !team_->is_stopping() &&
         std::chrono::steady_clock::now() < end) {
  }
  team_->withdraw(number_);
  return exchange();
}

// Calls that go out -----------------------------------------------------------------------------------------

void Worker::give_calls() {
  if (!team_->are_parts_taken()) return;
  while (const std::optional<std::size_t> oldest = oldest_worth_giving()) {
    const std::optional<uint32_t> to = team_->take_asking();
    if (!to) return;
    give_ready(*oldest, *to);
  }
}

/// Gives a call that is ready, by its place there.
void Worker::give_ready(std::size_t place, uint32_t to) {
  const auto [frame, item] = ready_[place];
  ready_.erase(place);
  const Call& call = function(frame).calls[item->index];
  try {
    give_call(frame, call, call.callee, to);
  } catch (const OverBudget&) {
    end(frame, Fault::MaxBytes);
  }
  finish_call(frame, *item);
}

Worth Worker::worth_of_ready(std::size_t place) const {
  const Ready& ready = ready_[place];
  if (ready.item->kind != ItemKind::Call) return Worth::Nothing;
  return function(ready.frame).calls[ready.item->index].worth;
}

/// Whether there is more than one, of those that are looked at.
bool Worker::has_several_worth_giving() const {
  std::size_t found = 0;
  for (std::size_t i = 0; i < std::min(ready_.size(), kMostToLookAt) && found < 2; ++i)
    found += worth_of_ready(i) != Worth::Nothing;
  return found > 1;
}

/// Its place in what is ready.
std::optional<std::size_t> Worker::oldest_worth_giving() const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < std::min(ready_.size(), kMostToLookAt); ++i) {
    const Worth worth = worth_of_ready(i);
    if (worth == Worth::Growth) return i;
    if (worth == Worth::Work && !found) found = i;
  }
  return found;
}

void Worker::give_call(Frame* frame, const Call& call, uint32_t function, uint32_t to) {
  std::vector<SentValue> arguments = arguments_of(frame, call);
  if (free_remote_calls_.empty()) {
    const auto slot = static_cast<uint32_t>(remote_calls_.size());
    remote_calls_.emplace_back().slot = slot;
    free_remote_calls_.push_back(slot);
  }
  RemoteCall& remote = remote_calls_[free_remote_calls_.back()];
  free_remote_calls_.pop_back();
  remote.function = kElsewhere;
  remote.caller = frame;
  remote.caller_site = call.site;
  remote.worker = static_cast<uint16_t>(to);
  remote.callee = function;
  remote.received = remote.expected = 0;
  layout(frame).child(frame, call.site) = &remote;
  ++frame->children;
  Message message{.kind = Message::Kind::Call,
                  .name = {static_cast<uint16_t>(number_), remote.generation, remote.slot},
                  .phase = 0,
                  .call = &call,
                  .caller_function = frame->function,
                  .function = function,
                  .values = std::move(arguments)};
  if (processes_ != nullptr) ++under_way_[function];
  if (track_ != nullptr) {
    message.arrow = team_ != nullptr ? options_->trace->new_arrow() : arrow_of(message.name);
    track_->start_arrow(message.arrow);
  }
  send(to, std::move(message));
  if (processes_ == nullptr) send_all();  // processes get what goes together at once
}

bool Worker::give_to_somebody(Frame* frame, const Call& call) {
  if (call.forwarded > 0) return false;
  if (processes_ != nullptr) {
    give_call(frame, call, call.callee, processes_->somebody_else());
    return true;
  }
  if (!team_->are_parts_taken()) return false;
  const std::optional<uint32_t> to = team_->somebody_else(number_);
  if (to) give_call(frame, call, call.callee, *to);
  return to.has_value();
}

/// Sends the arguments of a later phase.
void Worker::send_arguments(Frame* frame, const Call& call, const RemoteCall& remote) {
  send(remote.worker, {.kind = Message::Kind::Call,
                       .name = {static_cast<uint16_t>(number_), remote.generation, remote.slot},
                       .phase = call.phase,
                       .call = &call,
                       .caller_function = frame->function,
                       .function = remote.callee,
                       .values = arguments_of(frame, call)});
}

std::vector<SentValue> Worker::arguments_of(Frame* frame, const Call& call) {
  const Function& callee = plan_.functions[call.callee];
  std::vector<SentValue> arguments;
  arguments.reserve(call.arguments.size());
  for (const Move& move : call.arguments)
    arguments.emplace_back(callee.slots[move.to], fetch_to_send(frame, move.from));
  return arguments;
}

/// Returns the value with a reference of its own, which another worker may hold. What goes to another process
/// is written by this one.
Cell Worker::fetch_to_send(Frame* frame, const Source& source) const {
  if (source.from == Source::From::Slot) {
    const FrameLayout& own = layout(frame);
    const Cell cell = source.last ? own.take(frame, source.index) : own.share(frame, source.index);
    return processes_ == nullptr ? for_another_thread(cell) : cell;
  }
  const bool is_constant = source.from == Source::From::Constant;
  return cell_of(is_constant ? plan_.constants[source.index] : options_->parameters[source.index]);
}

/// The results of a phase, to the worker of the caller.
void Worker::send_results(Frame* frame, const Return& result) {
  auto& caller = *static_cast<RemoteCaller*>(frame->parent);
  ++caller.returns;
  const Function& body = plan_.functions[caller.caller_function];
  const SitePhase& phase = body.sites[frame->site].phases[result.phase];
  Message message{.kind = Message::Kind::Return,
                  .name = caller.name,
                  .phase = result.phase,
                  .caller_function = caller.caller_function,
                  .caller_site = frame->site};
  for (std::size_t i = 0; i < phase.slots.size(); ++i) {
    if (phase.slots[i])
      message.values.emplace_back(body.slots[*phase.slots[i]], fetch_to_send(frame, result.results[i]));
  }
  send(caller.name.caller, std::move(message));
}

/// A call that ran here for another worker is over: the last of its results says so, if they are not gone.
void Worker::end_call_of_another(RemoteCaller* caller) {
  if (!outbox_.empty()) {
    Message& last = outbox_.back().message;
    if (last.kind == Message::Kind::Return && last.name.bits() == caller->name.bits()) {
      last.over = true;
      last.returns = caller->returns;
    }
  }
  if (outbox_.empty() || !outbox_.back().message.over ||
      outbox_.back().message.name.bits() != caller->name.bits()) {
    send(caller->name.caller,
         {.kind = Message::Kind::Return, .name = caller->name, .over = true, .returns = caller->returns + 1});
  }
  callers_.erase(caller->name.bits());
  free_callers_.push_back(caller);
}

void Worker::send(uint32_t to, Message message) {
  outbox_.push_back({to, std::move(message)});
}

/// In their order.
void Worker::send_all() {
  if (processes_ != nullptr) {
    send_all_to_processes();
  } else {
    for (Sent& sent : outbox_) team_->send(sent.to, std::span(&sent.message, 1));
  }
  outbox_.clear();
}

// What comes in ---------------------------------------------------------------------------------------------

void Worker::deliver(std::span<Message> mail) {
  for (Message& message : mail) {
    if (message.kind == Message::Kind::Call) {
      take_call(message);
    } else {
      take_results(message);
    }
  }
}

/// The arguments of a phase have come.
void Worker::take_call(Message& message) {
  const Call& call = *message.call;
  const Function& callee = plan_.functions[message.function];
  const bool has_phases = callee.param_items.size() > 1;
  RemoteCaller* caller = nullptr;
  if (message.phase == 0) {
    if (free_callers_.empty()) {
      free_callers_.push_back(all_callers_.emplace_back(std::make_unique<RemoteCaller>()).get());
    }
    caller = free_callers_.back();
    free_callers_.pop_back();
    caller->parent = nullptr;
    caller->function = kElsewhere;
    caller->unfinished = 0;
    caller->children = 1;
    caller->name = message.name;
    caller->returns = 0;
    caller->caller_function = message.caller_function;
    if (has_phases) callers_.emplace(message.name.bits(), caller);
    try {
      caller->callee = pools_[message.function].make();
    } catch (const OverBudget&) {
      end(caller, Fault::MaxBytes);
    }
    Frame* frame = caller->callee;
    frame->parent = caller;
    frame->function = message.function;
    frame->site = call.site;
    frame->label =
        static_cast<uint32_t>(plan_.functions[message.caller_function].sites[call.site].site.index());
    frame->root = 0;
    ++frames_;
    ++calls_;
    ++steals_;
    if (track_ != nullptr)
      draw_gift(message.function, team_ != nullptr ? message.arrow : arrow_of(message.name));
  } else {
    const auto known = callers_.find(message.name.bits());
    if (known == callers_.end()) return early_.push_back(std::move(message));  // it has overtaken the first
    caller = known->second;
  }
  Frame* frame = caller->callee;
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    layout(frame).store(frame, call.arguments[i].to, message.values[i].take());
  if (message.phase == 0) watch(frame);
  become_ready(frame, callee.items[call.params]);
  if (message.phase > 0) {
    --frame->unfinished;
    if (is_over(frame)) free(frame);
  } else if (has_phases && !early_.empty()) {
    take_early_phases(message.name);
  }
}

/// Takes the later phases of a call whose first one has come.
void Worker::take_early_phases(ReturnName name) {
  for (std::size_t i = 0; i < early_.size();) {
    if (early_[i].name.bits() != name.bits()) {
      ++i;
      continue;
    }
    Message message = std::move(early_[i]);
    early_.erase(early_.begin() + static_cast<std::ptrdiff_t>(i));
    take_call(message);
  }
}

/// The results of a phase have come.
void Worker::take_results(Message& message) {
  RemoteCall& remote = remote_calls_[message.name.slot];
  HIATON_CHECK(remote.generation == message.name.generation);
  Frame* caller = remote.caller;
  const Function& body = function(caller);
  if (message.phase != Message::kNoPhase) {
    const SitePhase& phase = body.sites[remote.caller_site].phases[message.phase];
    std::size_t next = 0;
    for (const std::optional<uint32_t>& slot : phase.slots) {
      if (slot) layout(caller).store(caller, *slot, message.values[next++].take());
    }
    if (phase.returned) become_ready(caller, body.items[*phase.returned]);
  }
  ++remote.received;
  if (message.over) remote.expected = message.returns;
  if (remote.received != remote.expected) return;
  end_remote_call(remote);
}

void Worker::end_remote_call(RemoteCall& remote) {
  Frame* caller = remote.caller;
  ++remote.generation;
  remote.caller = nullptr;
  free_remote_calls_.push_back(remote.slot);
  if (processes_ != nullptr) --under_way_[remote.callee];
  --caller->children;
  if (is_over(caller)) free(caller);
}

void Worker::forget_others() {
  team_ = nullptr;
  processes_ = nullptr;
  under_way_.assign(plan_.functions.size(), 0);
  turns_.assign(plan_.copies.size(), 0);
  fires_to_exchange_ = 1;
  remote_calls_.clear();
  free_remote_calls_.clear();
  callers_.clear();
  free_callers_.clear();
  all_callers_.clear();
  early_.clear();
  outbox_.clear();
}

}  // namespace hiaton::exec::flow
