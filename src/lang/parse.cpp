#include <limits>

#include "hiaton/lang.h"
#include "lang/checker.h"
#include "lang/lexer.h"
#include "lang/parser.h"

namespace hiaton::lang {

ir::Module parse(std::shared_ptr<const Source> source) {
  if (source->text().size() >= std::numeric_limits<uint32_t>::max()) {
    throw ProgramError(source->name() + ": expected a program of less than 4 GiB");
  }
  Diagnostics diagnostics;
  Symbols symbols;
  const Operations operations(symbols);
  const TokenList tokens = lex(*source, symbols, diagnostics);
  const Syntax syntax = parse_tokens(*source, tokens, symbols, operations, diagnostics);
  ir::Module module = check(source, syntax, tokens, symbols, operations, diagnostics);
  if (!diagnostics.empty()) throw ProgramError(source, diagnostics.take(), kMaxShownErrors);
  return module;
}

}  // namespace hiaton::lang
