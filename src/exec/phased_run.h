// What an executor does for an open run.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hiaton/run.h"
#include "hiaton/value.h"

namespace hiaton::exec {

/// The run of a program whose arguments come phase by phase. One thread at a time uses it, which may be
/// another one each time.
class PhasedRun {
 public:
  virtual ~PhasedRun() = default;

  /// Takes the arguments of the phases that come next, by phase, and does all that can be done with them.
  /// Throws RunError; the run is to be closed then.
  virtual void go_on(std::span<const std::vector<Value>> phases) = 0;
  /// By number. Those of phases that have not come are without meaning.
  virtual std::span<const Value> results() const = 0;
  virtual std::size_t results_to_come() const = 0;
  /// Lets go of all that the run holds. `has_ended`: all phases have come, and none failed.
  virtual RunStats close(bool has_ended) = 0;
};

}  // namespace hiaton::exec
