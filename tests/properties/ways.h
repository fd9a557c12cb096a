// The ways to run a program, all of which must agree.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hiaton/run.h"
#include "properties/generate.h"

namespace hiaton::properties {

/// How a run ended.
struct Outcome {
  Fault fault = Fault::None;
  std::vector<Value> values;
  std::string message;  ///< of a fault, or of an error that is ours
  bool is_defect = false;

  bool is_budget() const { return fault == Fault::Timeout || fault == Fault::MaxFrames; }
};

std::string to_string(const Outcome& outcome);

/// A way to run a program: what is done to the module, then how its graph runs.
struct Way {
  std::string name;
  std::function<ir::Module(const ir::Module&, OverflowMode)> prepare;
  RunOptions options;
};

/// The first is what the others are compared with: the reference executor on the unchanged module.
const std::vector<Way>& ways();

/// Never throws. Tokens or frames that are left over are a defect.
Outcome run(const Way& way, const Program& program, OverflowMode overflow);

/// Whether one outcome may stand for the other: same values (NaN is NaN), or a fault in both; of the same
/// kind where the program can run into one kind only.
bool agree(const Outcome& a, const Outcome& b, bool one_kind_of_fault);

}  // namespace hiaton::properties
