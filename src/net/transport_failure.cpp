// How a process learns that it, or another one, cannot go on, and how all learn it.
#include <fmt/format.h>

#include <mutex>

#include "net/transport.h"

namespace hiaton::net {

/// The first failure counts. Process 0 tells the others.
void Transport::note_failure(const Failure& failure) {
  if (failure_) return;
  failure_ = failure;
  failure_->time = link_.now();
  if (self_ != 0) return;
  ByteWriter body;
  body.number(static_cast<uint8_t>(failure.is_lost ? 1 : 0));
  body.text(failure.message);
  control_all(Kind::Failure, body);
}

/// Notes a failure that this process has found, and tells process 0, which tells the others.
void Transport::fail_all(const std::string& message) {
  if (failure_) return;
  note_failure({message, false, self_ == 0});
  if (self_ == 0) return;
  ByteWriter body;
  body.number(uint8_t{0});
  body.text(message);
  control(0, Kind::Failure, body);
}

void Transport::lose(int process, const std::string& reason) {
  const std::string who = process < 0 ? "a process" : name(process);
  note_failure({fmt::format("{} was killed or cannot be reached: {}", who, reason), true,
                self_ == 0 || (process == 0 && self_ == 1), process == 0});
}

ProcessFailure Transport::as_error(const Failure& failure) {
  return {failure.message, failure.is_reported_here, failure.is_lost, failure.is_first_lost};
}

void Transport::throw_if_failed() {
  if (!failure_) return;
  failure_->is_known = true;
  throw as_error(*failure_);
}

std::optional<ProcessFailure> Transport::take_over_failure(std::chrono::nanoseconds after) {
  const std::lock_guard lock(mutex_);
  if (!failure_ || !failure_->is_lost || failure_->is_known || link_.now() - failure_->time < after)
    return std::nullopt;
  const ProcessFailure taken = as_error(*failure_);
  failure_->is_known = true;
  failure_->is_reported_here = false;
  return taken;
}

void Transport::fail(const std::string& message) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    fail_all(self_ == 0 ? message : fmt::format("{} ({})", message, name(self_)));
  } catch (...) {
    // The others notice that this process says nothing any more.
  }
}

bool Transport::has_thrown_failure() const {
  const std::lock_guard lock(mutex_);
  return failure_ && failure_->is_known;
}

}  // namespace hiaton::net
