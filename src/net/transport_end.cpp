// How processes that have nothing left to do end together.
#include <fmt/format.h>

#include <utility>

#include "net/transport.h"

namespace hiaton::net {

/// Returns whether all is over.
bool Transport::finish_wave(const EndingReport& report) {
  if (!waves_.take(report)) return false;
  ended_ = true;
  control_all(Kind::End, {});
  return true;
}

void Transport::advance_ending() {
  if (self_ != 0) {
    const std::optional<EndingReport> report = answers_.answer(sent_, handled_);
    if (!report) return;
    ByteWriter body;
    body.number(report->wave);
    body.number(report->sent);
    body.number(report->handled);
    return control(0, Kind::Report, body);
  }
  while (!ended_) {
    const std::optional<uint32_t> wave = waves_.next_wave();
    if (!wave) return;
    ByteWriter body;
    body.number(*wave);
    body.number(runs_);
    control_all(Kind::Wave, body);
    finish_wave({*wave, sent_, handled_});
  }
}

/// A process that has ended would never answer what a run that it has not begun asks it.
void Transport::compare_runs(int process) {
  const std::optional<uint32_t> theirs = peer(process).runs;
  if (!theirs || *theirs >= runs_) return;
  const auto runs = [](uint32_t count) {
    return fmt::format("{} shared {}", count, count == 1 ? "run" : "runs");
  };
  fail_all(
      fmt::format("{} has ended after {}, while {} has begun {}; every process must run the same programs, "
                  "with process 0, in the same order",
                  name(process), runs(*theirs), name(self_), runs(runs_)));
}

uint32_t Transport::next_run() {
  const std::lock_guard lock(mutex_);
  ++runs_;
  for (int i = 0; i < size_; ++i) compare_runs(i);
  throw_if_failed();
  return runs_;
}

/// Says once that this process has begun all its runs.
void Transport::want_end() {
  if (std::exchange(wants_end_, true) || self_ == 0) return;
  ByteWriter body;
  body.number(runs_);
  control(0, Kind::Leaving, body);
}

/// Process 0 alone decides when all end.
void Transport::pass_interrupt_on() {
  if (self_ == 0 || options_.interrupted == nullptr || !options_.interrupted->load()) return;
  if (!std::exchange(has_passed_interrupt_on_, true)) control(0, Kind::Interrupt, {});
}

bool Transport::try_end() {
  const std::lock_guard lock(mutex_);
  throw_if_failed();
  want_end();
  for (int i = 0; i < size_; ++i) close_open(i);
  pull();
  tick();
  throw_if_failed();
  if (!has_messages() && !ended_) advance_ending();
  return ended_;
}

void Transport::end(const OnMessage& on_message) {
  while (!try_end()) {
    if (poll(on_message) == 0) wait(std::chrono::milliseconds(1));
  }
}

void Transport::close() {
  const std::lock_guard lock(mutex_);
  const std::chrono::nanoseconds begin = link_.now();
  while (!link_.all_sent()) link_.wait({link_.now() - begin, std::chrono::milliseconds(1)});
  link_.close();
}

}  // namespace hiaton::net
