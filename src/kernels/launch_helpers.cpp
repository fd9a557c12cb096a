#include "kernels/launch_helpers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

namespace hiaton::kernels {
namespace {

#if defined(HIATON_SANITIZED)
constexpr int64_t kWorthARange = int64_t{1} << 7;
#else
/// The least work of a range: taking one costs less than a microsecond.
constexpr int64_t kWorthARange = int64_t{1} << 17;
#endif
/// Ranges for each thread: they end at about the same time, also where a thread comes late.
constexpr int64_t kRangesEach = 8;

constinit thread_local LaunchHelpers* helpers_of_thread = nullptr;

}  // namespace

HelpedLaunches::HelpedLaunches(LaunchHelpers* helpers) : before_(std::exchange(helpers_of_thread, helpers)) {}

HelpedLaunches::~HelpedLaunches() {
  helpers_of_thread = before_;
}

LaunchHelpers* launch_helpers() {
  return helpers_of_thread;
}

bool is_worth_cutting(int64_t work) {
  return work >= kWorthHelp && helpers_of_thread != nullptr && helpers_of_thread->idle(work) > 0;
}

void in_ranges(int64_t size, int64_t step, int64_t work,
               const std::function<void(int64_t begin, int64_t end)>& f) {
  LaunchHelpers* const helpers = work < kWorthHelp ? nullptr : helpers_of_thread;
  const int idle = helpers == nullptr ? 0 : helpers->idle(work);
  if (idle == 0) return f(0, size);
  const int64_t steps = (size + step - 1) / step;
  const int64_t wish = std::min((idle + 1) * kRangesEach, work / kWorthARange);
  const int64_t range = (steps + wish - 1) / wish * step;
  const int64_t count = (size + range - 1) / range;
  if (count < 2) return f(0, size);
  std::atomic<bool> has_failed{false};
  std::exception_ptr error;
  helpers->run(static_cast<std::size_t>(count), [&](std::size_t i) {
    const int64_t begin = static_cast<int64_t>(i) * range;
    try {
      f(begin, std::min(size, begin + range));
    } catch (...) {
      if (!has_failed.exchange(true)) error = std::current_exception();
    }
  });
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace hiaton::kernels
