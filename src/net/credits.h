// How many packets one process may send another before that one has handled some: the receiver's memory is
// bounded, whatever the sender does.
//
//   sender                                    receiver
//     may_send(1)?  sent(1)      -> packet ->   ... handles it: handled(1)
//     returned(n)                <- credits <-  take_owed(), with whatever packet goes there next, or, where
//                                               must_return(), with one that holds nothing else
//
// A packet that holds nothing but credits needs none: at most two of them are under way from one process to
// another, since each returns half of the window. No order between packets is relied on.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

namespace hiaton::net {

/// What a process may still send to another one, and what it owes that one.
class Credits {
 public:
  /// Both sides have the same window. The weight of a packet is at most half of it.
  explicit Credits(uint32_t window) : window_(window), left_(window) {}

  bool may_send(uint32_t weight) const { return left_ >= weight; }
  void sent(uint32_t weight) { left_ -= weight; }
  /// Returns false where these are more than have been used: the other side breaks the protocol.
  [[nodiscard]] bool returned(uint32_t credits) {
    if (credits > window_ - left_) return false;
    left_ += credits;
    return true;
  }

  void handled(uint32_t weight) { owed_ += weight; }
  bool must_return() const { return owed_ >= (window_ + 1) / 2; }
  uint32_t take_owed() { return std::exchange(owed_, 0); }

  friend auto operator<=>(const Credits&, const Credits&) = default;

 private:
  uint32_t window_;
  uint32_t left_;
  uint32_t owed_ = 0;
};

}  // namespace hiaton::net
