// The error that a run ends with.
#pragma once

#include <vector>

#include "hiaton/hiaton.h"

namespace hiaton {

/// Its fault is None where the run ends without one.
inline RunError error_of(const Program& program, const std::vector<Value>& arguments, const RunOptions& way) {
  try {
    program.run(arguments, way);
  } catch (const RunError& error) {
    return error;
  }
  return RunError(Fault::None, "no error");
}

}  // namespace hiaton
