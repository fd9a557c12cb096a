// What must hold for every program.
#pragma once

#include <string>

#include "properties/generate.h"

namespace hiaton::properties {

struct Verdict {
  std::string wrong;         ///< what does not hold; empty for a good program
  bool over_budget = false;  ///< it ran too long to tell: not a program of ours, but shrinking makes such
};

/// Verifies, prints and parses, lowers, saves and loads, and runs the program in every way.
Verdict check(const Program& program);

}  // namespace hiaton::properties
