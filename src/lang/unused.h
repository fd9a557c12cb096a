// Generic functions that nothing uses: what is wrong in them for any types.
#pragma once

#include <functional>
#include <memory>
#include <unordered_set>

#include "lang/diagnostics.h"
#include "lang/operations.h"
#include "lang/symbols.h"
#include "lang/syntax.h"
#include "lang/token.h"

namespace hiaton::lang {

/// Reports what is wrong in the bodies of these functions, which are named by their first tokens, whatever
/// their type parameters stand for: an unknown name, a wrong number of arguments, a condition that is no
/// truth value. What may be right for some types is not reported. The program itself must be readable.
void report_in_unused(const std::shared_ptr<const Source>& source, const TokenList& tokens,
                      const Symbols& symbols, const Operations& operations, const ParseOptions& options,
                      const std::unordered_set<std::size_t>& unused, Diagnostics& diagnostics);

}  // namespace hiaton::lang
