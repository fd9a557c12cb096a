// Checks of our own invariants: a failure is a defect of Hiaton, never of a program.
#pragma once

#include <fmt/format.h>

#include "hiaton/error.h"

namespace hiaton {

[[noreturn]] inline void fail_invariant(const char* condition, const char* file, int line) {
  throw InternalError(
      fmt::format("internal error: {} does not hold at {}:{}; please report it", condition, file, line));
}

}  // namespace hiaton

/// Evaluates the condition in every build; throws InternalError, with the condition and the place, where it
/// does not hold.
#define HIATON_CHECK(condition) \
  ((condition) ? void(0) : ::hiaton::fail_invariant(#condition, __FILE__, __LINE__))
