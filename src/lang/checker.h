// The syntax tree to typed functions.
#pragma once

#include "hiaton/ir.h"
#include "lang/diagnostics.h"
#include "lang/operations.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// Resolves names, gives types to literals and builds the module. What is wrong is reported, one finding a
/// cause; the module is only meaningful where nothing was found.
ir::Module check(std::shared_ptr<const Source> source, const Syntax& syntax, const TokenList& tokens,
                 const Symbols& symbols, const Operations& operations, Diagnostics& diagnostics);

}  // namespace hiaton::lang
