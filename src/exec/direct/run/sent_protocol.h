// What the calls between processes agree on, apart from how they run.
//
//   caller                                            callee
//     names.take()                 -> Call, name ->     may_take_call(): it runs; else
//     keeps it, and sends it       <- Refuse, name <-     it goes back, with its arguments
//     later                        -> Again, name ->   may_take_call(), as before
//                                  <- Taken, name <-     it runs; may come after its results
//     names.give_back()            <- Return, name <-   it has run
//
// A process whose memory is short sends calls back as long as it has anything else to do: so its own calls
// end first, and those who send to it hold what they send, and send no more until they know that it was
// taken. With nothing else to do it takes them, since what it waits for may wait for them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace hiaton::exec::direct {

/// Names of calls under way: a place in a table, and how often it was used. No order of messages is relied
/// on.
class CallNames {
 public:
  /// A name that no other call has had.
  uint64_t take() {
    const uint32_t place = first_free_;
    if (place == places_.size()) places_.push_back({.next_free = place + 1});
    first_free_ = places_[place].next_free;
    places_[place].is_taken = true;
    return uint64_t{places_[place].generation} << 32 | place;
  }
  /// The place of a call under way: below size(), and of no other one. Nothing for any other number.
  std::optional<uint32_t> place_of(uint64_t name) const {
    const uint64_t place = name & UINT32_MAX;
    if (place >= places_.size()) return std::nullopt;
    const Entry& found = places_[static_cast<std::size_t>(place)];
    if (!found.is_taken || found.generation != name >> 32) return std::nullopt;
    return static_cast<uint32_t>(place);
  }
  /// The call at the place is over.
  void give_back(uint32_t place) {
    places_[place].is_taken = false;
    ++places_[place].generation;
    places_[place].next_free = first_free_;
    first_free_ = place;
  }
  std::size_t size() const { return places_.size(); }
  /// The place of the next name; where it is size(), the table is about to grow.
  uint32_t next_place() const { return first_free_; }

  friend auto operator<=>(const CallNames&, const CallNames&) = default;

 private:
  struct Entry {
    uint32_t generation = 0;
    uint32_t next_free = 0;
    bool is_taken = false;

    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  std::vector<Entry> places_;
  uint32_t first_free_ = 0;  ///< as many as places_: none
};

/// Whether a process takes a call that it is sent. `is_short`: of memory; `is_busy`: it has other work that
/// can go on.
inline bool may_take_call(bool is_short, bool is_busy) {
  return !is_short || !is_busy;
}

}  // namespace hiaton::exec::direct
