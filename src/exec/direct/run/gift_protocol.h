// What the processes that give each other calls agree on, apart from how the calls run.
//
//   thief                                       victim
//     questions.ask()          -> Ask ->          has a call that it can give, or not
//     questions.given()        <- Gift, name <-   keeps what is to go on when the call has come back
//     questions.refused()      <- Refuse <-
//                              -> Return, name -> goes on
//
// Process 0 ends a run for all, which go on to the next one at different times. So a message may come to a
// process that is in another run than the one who has sent it: each has the number of its run.
#pragma once

#include <compare>
#include <cstdint>

namespace hiaton::exec::direct {

enum class Judgement : uint8_t { Take, Refuse, Drop };

/// What becomes of a message of the run `of` that comes to a process in the run `own`. A question of the next
/// run is refused: who asks waits for an answer, and this process does not know that run yet. All other
/// messages of other runs are of runs that are over, for which nobody waits.
inline Judgement judge_message(uint32_t of, uint32_t own, uint32_t next, bool is_question) {
  if (of == own) return Judgement::Take;
  return of == next && is_question ? Judgement::Refuse : Judgement::Drop;
}

/// The questions of a process without work: one at a time, to each other process in turn.
class Questions {
 public:
  Questions(int self, int size) : self_(self), size_(size), next_(self) {}

  /// Whether an answer is still to come.
  bool is_open() const { return is_open_; }
  /// Where there are others, and no answer is still to come. Gives whom to ask.
  int ask() {
    is_open_ = true;
    next_ = (next_ + 1) % size_;
    if (next_ == self_) next_ = (next_ + 1) % size_;
    return next_;
  }
  void given() {
    is_open_ = false;
    refusals_ = 0;
  }
  /// Returns whether all others have refused, one after the other.
  bool refused() {
    is_open_ = false;
    refusals_ = (refusals_ + 1) % (size_ - 1);
    return refusals_ == 0;
  }

  friend auto operator<=>(const Questions&, const Questions&) = default;

 private:
  int self_;
  int size_;
  int next_;  ///< who was asked last
  bool is_open_ = false;
  int refusals_ = 0;  ///< in a row, since all others had refused
};

}  // namespace hiaton::exec::direct
