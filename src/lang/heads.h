// The heads of functions: names, parameters and results, so that bodies can call in any order.
#pragma once

#include <vector>

#include "lang/diagnostics.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// Every function of the program; bodies are skipped.
std::vector<FunctionHead> read_heads(const Source& source, const TokenList& tokens, Diagnostics& diagnostics);

}  // namespace hiaton::lang
