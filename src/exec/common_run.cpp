#include "exec/common_run.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

namespace hiaton::exec {
namespace {

constexpr std::chrono::microseconds kCommonSleep{200};

}  // namespace

bool CommonRun::wait_for_work() {
  const auto is_done = [this] {
    if (!has_ended_) poll();
    return has_ended_ || (!has_failed_ && has_work());
  };
  if (!is_done()) {
    transport_.flush();
    bool done = !has_failed_ && spinning_.look(is_done);
    for (; !done; done = is_done()) rest();
  }
  if (!has_ended_) return true;
  transport_.flush();
  return false;
}

/// Nothing is left to do here, unless something comes.
void CommonRun::rest() {
  transport_.flush();
  if (is_first()) {
    if (!has_failed_) {
      try {
        require_time();
      } catch (const RunError& error) {
        return fail(error);
      }
      begin_wave();
    }
  } else if (const auto report = has_failed_ ? std::nullopt : answers_.answer(sent(), handled_)) {
    // A process that has failed reports nothing any more: messages may overtake each other, and without its
    // report process 0 cannot find that all is over before it has the error.
    net::ByteWriter body;
    body.number(report->wave);
    body.number(report->sent);
    body.number(report->handled);
    send(0, Kind::Report, body);
    transport_.flush();
  }
  if (!has_ended_) transport_.wait(kCommonSleep);
}

void CommonRun::begin_wave() {
  const std::optional<uint32_t> wave = waves_.next_wave();
  if (!wave) return;
  net::ByteWriter body;
  body.number(*wave);
  send_all(Kind::Wave, body);
  if (waves_.take({*wave, sent(), handled_})) end(false);
  transport_.flush();
}

/// At process 0: nobody has anything left to do, or one has failed.
void CommonRun::end(bool failed) {
  if (has_ended_) return;
  net::ByteWriter body;
  body.number(static_cast<uint8_t>(failed));
  send_all(Kind::End, body);
  has_ended_ = true;
  has_failed_ = has_failed_ || failed;
}

void CommonRun::fail(const RunError& error, int to, uint64_t name) {
  has_failed_ = true;
  if (is_first() && to == 0) {
    if (!error_) error_ = error;
    return end(true);
  }
  net::ByteWriter body;
  direct::write_error(error, body);
  send(to, Kind::Fault, body, name);
  transport_.flush();
}

void CommonRun::add_up(RunStats& stats) {
  if (!has_ended_) return;  // the connection has failed, or this process, and nobody ends the run
  if (!is_first()) {
    net::ByteWriter body;
    direct::write_stats(stats, body);
    send(0, Kind::Done, body);
    transport_.flush();
    return held_.put_back(transport_);
  }
  regions_ = stats.regions;
  while (others_.count() < transport_.size() - 1) {
    poll();
    transport_.flush();
    transport_.wait(kCommonSleep);
  }
  others_.add_to(stats);
  held_.put_back(transport_);
}

void CommonRun::send(int to, Kind kind, const net::ByteWriter& body, uint64_t name) {
  transport_.send(to, {.channel = kChannel, .aux = aux(static_cast<uint8_t>(kind)), .name = name},
                  body.bytes());
}

void CommonRun::send_all(Kind kind, const net::ByteWriter& body) {
  for (int i = 0; i < transport_.size(); ++i) {
    if (i != transport_.self()) send(i, kind, body);
  }
}

void CommonRun::poll() {
  transport_.poll([this](int from, const net::Header& header, std::span<const std::byte> payload) {
    take_any(from, header, payload);
  });
}

void CommonRun::take_any(int from, const net::Header& header, std::span<const std::byte> payload) {
  const uint32_t run = header.aux >> kBitsOfCommonKind;
  if (run == 0) held_.hold(from, header, payload);
  if (run != number_) return;
  const auto kind = static_cast<uint8_t>(header.aux & ((1u << kBitsOfCommonKind) - 1));
  if (kind >= kFirstOwnKind) {
    ++handled_;
    if (!has_failed_ && !has_ended_) take(from, kind, header, payload);
    return;
  }
  const std::string sender = "a message from " + transport_.name(from);
  net::ByteReader in(payload, sender);
  switch (static_cast<Kind>(kind)) {
    case Kind::Wave:
      return answers_.asked(in.number<uint32_t>());
    case Kind::Report: {
      net::EndingReport report;
      report.wave = in.number<uint32_t>();
      report.sent = in.number<uint64_t>();
      report.handled = in.number<uint64_t>();
      in.require_end();
      if (has_ended_) return;
      if (!waves_.is_expected(report)) in.fail("expected a report that was asked for, found another");
      if (waves_.take(report)) end(false);
      return transport_.flush();
    }
    case Kind::Fault:
      if (!has_ended_) take_fault(direct::read_error(in), header.name);
      return;
    case Kind::End:
      has_ended_ = true;
      has_failed_ = has_failed_ || in.number<uint8_t>() != 0;
      return;
    case Kind::Done:
      return others_.take(from, regions_, in);
  }
  in.fail(fmt::format("expected a kind of message, found number {}", kind));
}

}  // namespace hiaton::exec
