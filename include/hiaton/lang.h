// The language: program text to typed functions. docs/language.md describes it.
#pragma once

#include <memory>

#include "hiaton/ir.h"
#include "hiaton/source.h"

namespace hiaton::lang {

/// How deep expressions may stand inside each other: parentheses, calls, branches (also those of `else if`),
/// loops, prefix operators.
inline constexpr int kMaxNesting = 1000;

/// How many findings a ProgramError of `parse` shows; it says how many more there are.
inline constexpr int kMaxShownErrors = 20;

/// Reads and checks a whole program. Functions stand in the order of the text. Throws ProgramError with every
/// finding of one go; whether there is a `main` is left to whoever runs the program.
ir::Module parse(const std::shared_ptr<const Source>& source);

}  // namespace hiaton::lang
