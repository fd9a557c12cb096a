// How a large launch of a kernel is cut for threads that have nothing to do.
//
// A cut changes no bit: it goes between elements of a result that do not need each other. Only threads that
// idle help, so launches of a run whose workers are all busy stay whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace hiaton::kernels {

// Sanitizers run small tensors: their launches are to be cut too.
#if defined(HIATON_SANITIZED)
inline constexpr int64_t kWorthHelp = int64_t{1} << 9;
inline constexpr int64_t kWorthWaking = int64_t{1} << 9;
#else
/// Less than that takes less time than it takes to share it with a thread that looks for work.
inline constexpr int64_t kWorthHelp = int64_t{1} << 19;
/// Less than that takes less time than it takes to wake another thread.
inline constexpr int64_t kWorthWaking = int64_t{1} << 21;
#endif

/// The threads that help a run with its launches. May be used by several threads.
class LaunchHelpers {
 public:
  virtual ~LaunchHelpers() = default;
  /// How many threads would help now with a launch of so much work, at least kWorthHelp; a hint.
  virtual int idle(int64_t work) = 0;
  /// Calls work(0), ... work(count - 1), each once, on this thread and on those that idle; returns when all
  /// have returned. They do not throw.
  virtual void run(std::size_t count, const std::function<void(std::size_t)>& work) = 0;
};

/// While it lives, `helpers` help with the launches of its thread; null: nobody does.
class HelpedLaunches {
 public:
  explicit HelpedLaunches(LaunchHelpers* helpers);
  HelpedLaunches(const HelpedLaunches&) = delete;
  HelpedLaunches& operator=(const HelpedLaunches&) = delete;
  ~HelpedLaunches();

 private:
  LaunchHelpers* const before_;
};

/// Who helps with what this thread does; null: nobody.
LaunchHelpers* launch_helpers();

/// Whether there is someone to help with this launch. `work`: about how many multiply-adds it takes; what
/// goes through memory takes some 16 for each element.
bool is_worth_cutting(int64_t work);

inline constexpr int64_t kWorkOfElement = 16;
/// Launches on fewer elements stay whole.
inline constexpr int64_t kLeastElements = kWorthHelp / kWorkOfElement;

/// Calls f(begin, end) for ranges that make up [0, size), each a multiple of `step` but for the last one, on
/// this thread and on those that idle; f(0, size) where nobody does or `work`, that of all, is small. Throws
/// what one of the calls threw, when all have ended.
void in_ranges(int64_t size, int64_t step, int64_t work,
               const std::function<void(int64_t begin, int64_t end)>& f);

/// The same for elements that go through memory, where `f` may be any function: a call of small size costs no
/// more than that of `f`. Ranges begin at multiples of 64 elements.
template <class F>
void in_element_ranges(int64_t size, const F& f) {
  constexpr int64_t kStep = 64;
  if (size < kLeastElements) [[likely]]
    return f(int64_t{0}, size);
  in_ranges(size, kStep, kWorkOfElement * size, [&f](int64_t begin, int64_t end) { f(begin, end); });
}

}  // namespace hiaton::kernels
