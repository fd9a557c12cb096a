// How processes find out that none of them has anything left to do, and that no message is under way.
//
// Process 0 asks all in waves; each answers, at a moment when it has nothing to do, how many messages it has
// sent and how many it has handled. All is over when the messages sent according to one wave are as many as
// were handled according to the wave before it (Mattern, "Algorithms for distributed termination detection",
// 1987): what was handled then had been sent then, so nothing was under way between the two and nobody could
// begin anew. A single wave is not enough: it sees processes at different moments, and a message that one has
// handled but not yet sent in the eyes of the wave makes up for one that is still under way.
//
//   process 0                                    others
//     next_wave() -> k            -> k ->          asked(k)
//     take(0's own report)                         answer(...), when there is nothing to do
//     take(report): all over?    <- report <-
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace hiaton::net {

struct EndingReport {
  uint32_t wave = 0;
  uint64_t sent = 0;
  uint64_t handled = 0;

  friend auto operator<=>(const EndingReport&, const EndingReport&) = default;
};

/// What process 0 does.
class EndingWaves {
 public:
  explicit EndingWaves(int processes) : processes_(processes) {}

  /// To be called when process 0 has nothing to do. Gives the number of the wave to send to all others, once
  /// the last one is complete; process 0 reports to it too, at the same moment.
  std::optional<uint32_t> next_wave() {
    if (missing_ > 0) return std::nullopt;
    missing_ = processes_;
    handled_before_ = handled_;
    sent_ = handled_ = 0;
    return ++wave_;
  }
  /// Returns whether all is over. A report that no wave waits for is a breach of the protocol: `is_expected`
  /// tells.
  bool take(const EndingReport& report) {
    sent_ += report.sent;
    handled_ += report.handled;
    return --missing_ == 0 && wave_ > 1 && sent_ == handled_before_;
  }
  bool is_expected(const EndingReport& report) const { return missing_ > 0 && report.wave == wave_; }

  friend auto operator<=>(const EndingWaves&, const EndingWaves&) = default;

 private:
  int processes_;
  int missing_ = 0;  ///< reports to the wave under way
  uint32_t wave_ = 0;
  uint64_t sent_ = 0;
  uint64_t handled_ = 0;
  uint64_t handled_before_ = 0;
};

/// What the others do.
class EndingAnswers {
 public:
  void asked(uint32_t wave) { asked_ = wave; }
  /// To be called when this process has nothing to do. Gives the report to send, once a wave.
  std::optional<EndingReport> answer(uint64_t sent, uint64_t handled) {
    if (asked_ == answered_) return std::nullopt;
    answered_ = asked_;
    return EndingReport{answered_, sent, handled};
  }

  friend auto operator<=>(const EndingAnswers&, const EndingAnswers&) = default;

 private:
  uint32_t asked_ = 0;
  uint32_t answered_ = 0;
};

}  // namespace hiaton::net
