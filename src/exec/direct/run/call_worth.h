// Whether calls are worth giving to other processes: what those of one function or task have cost and
// brought.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hiaton::exec::direct {

/// What is known of the calls of one function or task that one process has given to others.
///
/// A call has brought the time that it ran there. It has cost the time that the giver took to write and send
/// its arguments and to take its results, or, where that is longer, the time that the other process took for
/// its part of that; twice this, for both sides.
class CallWorth {
 public:
  using Clock = std::chrono::steady_clock;

  /// A call whose arguments take so many bytes is about to be given. False: no message holds so much.
  bool holds(std::size_t bytes) {
    is_large_ = is_large_ || bytes > kLargeBytes;
    is_too_large_ = is_too_large_ || bytes > kMostBytes;
    return bytes <= kMostBytes;
  }
  /// A call that has been given: how long that took the giver, and when it was done.
  struct Given {
    Clock::duration cost{0};
    Clock::time_point at{};
  };
  void given(const Given& call) {
    ++under_way_;
    cost_under_way_ += kSides * call.cost;
    given_at_ += call.at.time_since_epoch();
  }
  /// The call has come back at the time `now`. It ran for `took`; to take its results took the giver so long,
  /// and the other process took `shipping` for its part.
  void came_back(const Given& call, Clock::time_point now, Clock::duration taking, Clock::duration took,
                 Clock::duration shipping) {
    --under_way_;
    cost_under_way_ -= kSides * call.cost;
    given_at_ -= call.at.time_since_epoch();
    ++calls_;
    took_ += took;
    away_ += now - call.at;
    cost_ += kSides * std::max(call.cost + taking, shipping);
  }
  /// Whether another one is to be given, in a run that has lasted for `elapsed` at the time `now`. The calls
  /// that have come back may have been small by chance, or the machine did something else meanwhile. So where
  /// they were not worth it, one is tried again now and then.
  bool is_worth(Clock::duration elapsed, Clock::time_point now) const {
    if (is_too_large_) return false;
    return was_worth(now) || (under_way_ == 0 && kPartInVain * (away_ - took_ + cost_) <= elapsed);
  }

 private:
  /// What is under way has taken at least as long as it is there. That is longer than it runs, but it will be
  /// known soon.
  bool was_worth(Clock::time_point now) const {
    if (calls_ >= kCallsToJudge) return took_ >= kLeastWorth * cost_;
    if (!is_large_) return true;
    const Clock::duration running = under_way_ * now.time_since_epoch() - given_at_;
    return took_ + running >= kLeastWorth * (cost_ + cost_under_way_);
  }

  /// So many calls are given before they are judged by what they brought.
  static constexpr uint64_t kCallsToJudge = 4;
  static constexpr int kLeastWorth = 2;
  /// Calls whose arguments take so much are judged while the first of them are under way.
  static constexpr std::size_t kLargeBytes = std::size_t{1} << 18;
  /// What any link takes as one packet.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  /// What is given in vain takes at most one part in so many of the time.
  static constexpr int kPartInVain = 100;
  /// The other process has as much to do with a message as this one.
  static constexpr int kSides = 2;

  Clock::duration cost_{0};
  Clock::duration took_{0};
  Clock::duration away_{0};  ///< from when they were given to when they came back
  uint64_t calls_ = 0;
  bool is_large_ = false;      ///< the arguments of one of them make a large message
  bool is_too_large_ = false;  ///< no message holds the arguments of one
  // The calls that have not come back yet.
  Clock::duration cost_under_way_{0};
  Clock::duration given_at_{0};  ///< the sum of their times
  int64_t under_way_ = 0;
};

}  // namespace hiaton::exec::direct
