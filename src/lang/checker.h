// A program's tokens to typed functions.
#pragma once

#include "hiaton/ir.h"
#include "lang/diagnostics.h"
#include "lang/operations.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// Declares the functions, then reads and checks one body after the other. The module is only meaningful
/// where nothing was found.
ir::Module check(const std::shared_ptr<const Source>& source, const TokenList& tokens, const Symbols& symbols,
                 Operations& operations, const ParseOptions& options, Diagnostics& diagnostics);

}  // namespace hiaton::lang
