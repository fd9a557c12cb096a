// A loop whose calls several threads make, and how a thread waits for another one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/core.h"

namespace hiaton {

/// What a thread does between two looks at a word that another thread is about to write: leaves the
/// processor's units to its other thread for a moment, where the processor has an instruction for that; else
/// nothing, which is as right and costs some time of the other thread.
inline void pause_thread() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// One thread runs a loop; others that have nothing to do make some of its calls. Which threads these are,
/// and where they wait, is the business of who owns the loop.
///
/// A round is one `run`. Its number and how many of its calls are still to be taken are one word: who takes a
/// call knows that it belongs to the round of which `work_` and `count_` are, and that this round does not
/// end before the call. All operations are sequentially consistent.
class SharedLoop {
 public:
  /// For so many threads, with the one that runs the loop.
  explicit SharedLoop(std::size_t threads);
  SharedLoop(const SharedLoop&) = delete;
  SharedLoop& operator=(const SharedLoop&) = delete;

  /// Calls work(0), work(1), ... work(count - 1), each once, in any order, on this thread and on those that
  /// help; returns when all have returned. They must not throw. `began` is called when there is something to
  /// help with. While a round of another caller, or the one that this is a call of, is under way: makes all
  /// calls itself.
  template <class Began>
  void run(std::size_t count, const std::function<void(std::size_t)>& work, Began began) {
    if (count < 2 || !begin(count, work)) {
      for (std::size_t i = 0; i < count; ++i) work(i);
      return;
    }
    began();
    end();
  }
  /// Begins a round of such calls for those that help, while this thread does something else. False: another
  /// round is under way, and nothing has begun. `work` must live until end().
  bool begin(std::size_t count, const std::function<void(std::size_t)>& work);
  /// Makes the calls of this thread's round that nobody has taken, and returns when all have returned.
  void end();

  /// Makes a call of the round that is under way, for a thread that has not begun it: on another core than
  /// the one where it was begun, if there is one for each. False: there is none to be made.
  bool help();
  /// Changes when a round begins, when a call of it is taken and with wake(), never back to what it was.
  uint64_t round() const { return to_take_.load(); }
  bool has_core_for_each() const { return has_core_for_each_; }
  /// Returns when `round()` is not `old` any more.
  void wait_for_other_than(uint64_t old);
  /// Wakes all who wait for another round.
  void wake();

 private:
  static constexpr uint64_t kOneRound = uint64_t{1} << 32;
  static uint64_t calls_in(uint64_t round) { return round % kOneRound; }

  bool take_call();
  void wait_for_end();
  void wait_for_change(const std::atomic<uint64_t>& value, uint64_t old) const;

  const bool has_core_for_each_;
  std::atomic<uint64_t> to_take_{0};
  std::atomic<uint64_t> to_end_{0};  ///< calls that have not returned
  std::atomic<bool> is_running_{false};
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0;
  /// The core of the thread that has begun the latest round. Relaxed: it may be that of the next one.
  std::atomic<int> began_on_{kNoCore};
};

}  // namespace hiaton
