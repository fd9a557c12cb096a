// Memory that runs out at a chosen moment, in this test program alone.
#pragma once

#include <cstdint>

namespace hiaton::testing {

/// Which allocations fail.
enum class Shortage : uint8_t {
  Once,     ///< one allocation, as where a large piece of memory is not to be had
  Forever,  ///< it and all that follow, as where there is no memory left
};

/// While it lives, the `nth` allocation (from 1) of all threads together fails. One at a time.
class FailingAllocations {
 public:
  FailingAllocations(uint64_t nth, Shortage shortage);
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;

  /// Whether there were as many allocations as that.
  bool has_failed() const;
};

/// Pieces of memory that were allocated and not freed, but for what threads keep for their next objects: this
/// one, and those that the process keeps for runs, keep none from here on.
int64_t live_allocations();

}  // namespace hiaton::testing
