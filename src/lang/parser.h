// Tokens to a syntax tree.
#pragma once

#include "lang/diagnostics.h"
#include "lang/operations.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// Reads all functions; what is wrong is reported and becomes a Broken expression, or a function whose
/// signature was not read.
Syntax parse_tokens(const Source& source, const TokenList& tokens, const Symbols& symbols,
                    const Operations& operations, Diagnostics& diagnostics);

}  // namespace hiaton::lang
