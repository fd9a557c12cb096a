// Text to tokens.
#pragma once

#include "lang/diagnostics.h"
#include "lang/symbols.h"
#include "lang/token.h"

namespace hiaton::lang {

/// The text must be UTF-8. What cannot be read is reported and becomes one Error token.
TokenList lex(const Source& source, Symbols& symbols, Diagnostics& diagnostics);

}  // namespace hiaton::lang
