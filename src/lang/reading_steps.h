// The steps in which a program is read: the lexer makes tokens of the text, the parser (parser.h) finds the
// declarations in them, the checker makes typed functions.
#pragma once

#include "hiaton/ir.h"
#include "lang/diagnostics.h"
#include "lang/operations.h"
#include "lang/symbols.h"
#include "lang/syntax.h"
#include "lang/token.h"

namespace hiaton::lang {

/// The lexer. The text must be UTF-8. What cannot be read is reported and becomes one Error token.
TokenList lex(const Source& source, Symbols& symbols, Diagnostics& diagnostics);

/// The checker. Declares the functions, then reads and checks one body after the other. The module is only
/// meaningful where nothing was found.
ir::Module check(const std::shared_ptr<const Source>& source, const TokenList& tokens, const Symbols& symbols,
                 Operations& operations, const ParseOptions& options, Diagnostics& diagnostics);

}  // namespace hiaton::lang
