// How calls between processes fail, and how a run with such calls ends.
#include <utility>

#include "exec/direct/run/remote_messages.h"
#include "exec/direct/run/sent_calls.h"

namespace hiaton::exec::direct {

void SentCalls::drop(Taken* taken) {
  if (taken->before != nullptr) taken->before->behind = taken->behind;
  (taken->behind != nullptr ? taken->behind->before : newest_) = taken->before;
  ::operator delete(taken);
}

/// How a stretch of interpretation has ended.
void SentCalls::settle(Outcome outcome) {
  switch (outcome) {
    case Outcome::Parked:
    case Outcome::Sends:
      if (outcome == Outcome::Sends) send_call();
      if (worker().calls.is_on()) worker().calls.end_stretch();
      return;
    case Outcome::Halted:
      if (worker().frame != main_root_) return return_results();
      break;
    case Outcome::Stopped:
    case Outcome::Failed:
      break;
  }
  if (failure_ != nullptr) {
    worker().unwind();
    std::rethrow_exception(failure_);
  }
  owner_.settle(outcome);
}

void SentCalls::fail(Fault fault) {
  worker().fault = fault;
  owner_.settle(Outcome::Failed);
}

/// The call of another process that the frame works for; null where it works for the program.
SentCalls::Taken* SentCalls::call_around(const Frame* frame) {
  while (plan_.opcode(frame->resume) != Opcode::Halt) frame = frame->parent;
  return frame->parent == main_root_ ? nullptr : &taken_with(frame->parent);
}

void SentCalls::report(const RunError& error, const Frame* frame, const Instruction* pc) {
  const Taken* around = frame == nullptr ? nullptr : call_around(frame);
  const Name to = around == nullptr ? Name{0, kNoSentCall} : around->name;
  if (transport_.self() == 0 && around == nullptr) {
    owner_.take_error(error);
    has_error_ = true;
    return;
  }
  // The program, which ends the chain here, is not around the call: instead of it goes what the call got. The
  // caller knows the rest.
  std::vector<CallRecord> chain = error.chain();
  uint64_t length = error.chain_length();
  if (around != nullptr && !is_of_program(around->function) && !chain.empty()) {
    chain.back() = owner_.outermost_call(frame, pc, graph::FunctionId(around->function));
    --length;
  }
  has_reported_ = true;
  net::ByteWriter body;
  write_error(RunError(error, error.message(), std::move(chain), length), body);
  send(to, Kind::Fault, 0, body);
  transport_.flush();
}

void SentCalls::take_fault(Name name, net::ByteReader& in) {
  const RunError error = read_error(in);
  in.require_end();
  if (name.number == kNoSentCall) {
    report(error, nullptr, nullptr);
  } else {
    const Waiting& place = waiting(name, in);
    if (is_of_program(place.function)) {
      owner_.take_error(error);
      has_error_ = true;
    } else {
      report(owner_.with_calls_around(error, place.frame, place.pc), place.frame, place.pc);
    }
  }
  state_.stop();
}

/// Calls that were sent count as come back; what waits for the worker will not run.
void SentCalls::unwind_all() {
  for (const Waiting& place : waiting_) {
    if (place.frame != nullptr) unwind(place.frame, place.anchor, place.pc);
  }
  for (const Runnable& one : runnable_) unwind(one.frame, one.anchor, one.pc);
  for (const Free& one : free_) {
    if (worker().arrive(one.frame, *one.group)) unwind(one.frame, worker().anchor, one.group->joined);
  }
}

void SentCalls::unwind(Frame* frame, Frame* anchor, const Instruction* pc) {
  worker().anchor = anchor;
  worker().frame = frame;
  worker().pc = pc;
  worker().unwind();
}

/// The results, and the arguments that are held.
std::size_t SentCalls::slots_of_root(uint32_t function) const {
  const SentFunction& callee = plan_.sent[function];
  return callee.result_types.size() + (codecs_[function].holds_arguments ? callee.argument_types.size() : 0);
}

void SentCalls::visit_slots(const std::function<void(std::span<const Slot>)>& visit) const {
  visit(free_arguments_);
  for (Taken* taken = newest_; taken != nullptr; taken = taken->before)
    visit({root_of(*taken)->slots, slots_of_root(taken->function)});
}

void SentCalls::finish(RunStats& stats) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  budget_.give_bytes(std::exchange(counted_bytes_, 0));
  stats.remote_calls = calls_taken_;
  stats.remote_bytes = bytes_sent_;
  if (transport_.self() != 0) {
    net::ByteWriter body;
    write_stats(stats, body);
    send({0, 0}, Kind::Done, 0, body);
    return transport_.flush();
  }
  while (others_.count() < transport_.size() - 1) {
    poll();
    transport_.flush();
    transport_.wait(kSentLook);
  }
  others_.add_to(stats);
}

}  // namespace hiaton::exec::direct
