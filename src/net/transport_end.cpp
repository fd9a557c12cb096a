// How processes that have nothing left to do end together.
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
    control_all(Kind::Wave, body);
    finish_wave({*wave, sent_, handled_});
  }
}

bool Transport::try_end() {
  const std::lock_guard lock(mutex_);
  throw_if_failed();
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
