// The declarations of a program and the heads of its functions, so that bodies can use them in any order.
#pragma once

#include <vector>

#include "lang/declarations.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// Reads the sizes, data types and learned parameters, and the head of every function; bodies are skipped.
std::vector<FunctionHead> read_heads(const Source& source, const TokenList& tokens, const Symbols& symbols,
                                     Declarations& declarations, Diagnostics& diagnostics);

/// The head of a generic function for these type arguments; not readable where a type is wrong, which is
/// reported.
FunctionHead read_head_for(const FunctionHead& generic, TypeArguments arguments, const Source& source,
                           const TokenList& tokens, const Symbols& symbols, Declarations& declarations,
                           Diagnostics& diagnostics);

}  // namespace hiaton::lang
