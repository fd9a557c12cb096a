// How long another process has said nothing. Process 0 and each other one tell each other that they live; the
// others do not watch each other, so that what they send for it grows with their number alone.
#pragma once

#include <algorithm>
#include <chrono>

namespace hiaton::net {

/// What one process knows of another one that it watches.
class Silence {
 public:
  using Time = std::chrono::nanoseconds;

  /// Watches a process that spoke `now`. It is lost when it has said nothing for longer than `longest`.
  Silence(Time longest, Time now) : longest_(longest), heard_(now), sent_(now) {}

  /// Packets that waited while this process did not run may be noted in any order.
  void heard(Time now) { heard_ = std::max(heard_, now); }
  void sent(Time now) { sent_ = now; }
  /// Whether something must be sent there, so that it does not take this process for lost. Several signs of
  /// life fit into the time, for one may be late.
  bool must_send(Time now) const { return now - sent_ >= longest_ / 5; }
  bool is_lost(Time now) const { return now - heard_ > longest_; }
  Time lasts(Time now) const { return now - heard_; }

  /// Whether a process that looked last at `before`, and looks again `now`, did not run in between: it was
  /// stopped, or its machine slept. It has heard nobody because of that, so what it watches has all its time
  /// again.
  static bool was_asleep(Time longest, Time before, Time now) {
    return now - before > std::max<Time>(longest / 2, std::chrono::seconds(1));
  }

 private:
  Time longest_;
  Time heard_;
  Time sent_;
};

}  // namespace hiaton::net
