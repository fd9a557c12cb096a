// What must hold for every program.
#pragma once

#include <chrono>
#include <string>

#include "properties/generate.h"

namespace hiaton::properties {

struct Verdict {
  std::string wrong;         ///< what does not hold; empty for a good program
  bool over_budget = false;  ///< it ran too long to tell: not a program of ours, but shrinking makes such
};

/// Verifies, prints and parses, lowers, saves and loads, and runs the program in every way, each for at most
/// `timeout`. (Watching the time costs each run a thread: programs that end by construction go without.)
Verdict check(const Program& program, std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());

}  // namespace hiaton::properties
