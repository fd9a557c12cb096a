// Who works on which piece of a list. Process 0 has the list and deals ranges of it out to those who ask,
// itself too; the results come back in any order.
//
//   process 0                                  another process
//     next() -> range, or over   <- ask <-       begin(): asks some times, so that the next range is
//                              -> range ->       there when one is done
//     done(range)             <- results <-      finished(): which asks for another one
//                               -> over ->       is_over(): when every question has its answer
//
// No order between messages is relied on: "over" may overtake a range.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <optional>

namespace hiaton::net {

struct Range {
  std::size_t begin = 0;
  std::size_t count = 0;

  friend auto operator<=>(const Range&, const Range&) = default;
};

/// What process 0 knows.
class Dealer {
 public:
  /// Deals `size` things out, `most` at once.
  Dealer(std::size_t size, std::size_t processes, std::size_t most)
      : size_(size), processes_(processes), most_(most) {}

  /// Nothing where all has been dealt out. The ranges get smaller towards the end, so that all processes end
  /// at about the same time.
  std::optional<Range> next() {
    if (dealt_ == size_) return std::nullopt;
    const std::size_t count = std::clamp((size_ - dealt_) / (4 * processes_), std::size_t{1}, most_);
    const Range range{dealt_, std::min(count, size_ - dealt_)};
    dealt_ += range.count;
    return range;
  }
  void done(const Range& range) { done_ += range.count; }
  bool all_done() const { return done_ == size_; }

  friend auto operator<=>(const Dealer&, const Dealer&) = default;

 private:
  std::size_t size_;
  std::size_t processes_;
  std::size_t most_;
  std::size_t dealt_ = 0;
  std::size_t done_ = 0;
};

/// What another process knows.
class DealtTo {
 public:
  /// Returns how many times to ask.
  int begin(int asks) {
    open_ = asks;
    return asks;
  }
  /// A range, or "over", has come.
  void answered() { --open_; }
  /// The results of a range go out, which asks for another one.
  void finished() { ++open_; }
  /// Nothing more will come. Where ranges are still waiting here, they are worked on first.
  bool is_over() const { return open_ == 0; }

  friend auto operator<=>(const DealtTo&, const DealtTo&) = default;

 private:
  int open_ = 0;  ///< questions without an answer
};

}  // namespace hiaton::net
