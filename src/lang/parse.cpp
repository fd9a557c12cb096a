#include <fmt/format.h>

#include "base/utf8.h"
#include "hiaton/lang.h"
#include "lang/heads.h"
#include "lang/reading_steps.h"

namespace hiaton::lang {
namespace {

/// One finding is enough: what is no text has no further meaning.
void require_utf8(const std::shared_ptr<const Source>& source) {
  const std::string_view text = source->text();
  const std::size_t readable = utf8_prefix(text);
  if (readable == text.size()) return;
  const auto begin = static_cast<uint32_t>(readable);
  const auto byte = static_cast<unsigned char>(text[readable]);
  throw ProgramError(
      source, {{{begin, begin + 1}, fmt::format("expected UTF-8 text, found the byte 0x{:02x}", byte)}});
}

void require_text(const std::shared_ptr<const Source>& source) {
  if (source->text().size() > kMaxProgramBytes) {
    throw ProgramError(fmt::format("{}: expected a program of at most {} MiB, found one of {} bytes",
                                   source->name(), kMaxProgramBytes >> 20, source->text().size()));
  }
  require_utf8(source);
}

}  // namespace

ir::Module parse(const std::shared_ptr<const Source>& program, const ParseOptions& options) {
  const std::shared_ptr<const Source> source = with_imports(program);
  require_text(source);
  Diagnostics diagnostics;
  Symbols symbols;
  Operations operations(symbols);
  const TokenList tokens = lex(*source, symbols, diagnostics);
  ir::Module module = check(source, tokens, symbols, operations, options, diagnostics);
  if (!diagnostics.empty()) throw ProgramError(source, diagnostics.take(), kMaxShownErrors);
  return module;
}

std::map<std::string, int64_t> declared_sizes(const std::shared_ptr<const Source>& program,
                                              const ParseOptions& options) {
  const std::shared_ptr<const Source> source = with_imports(program);
  require_text(source);
  Diagnostics findings;
  Symbols symbols;
  const Operations operations(symbols);
  const TokenList tokens = lex(*source, symbols, findings);
  DataTypes types;
  Declarations declarations(*source, symbols, types, options, findings);
  read_heads(*source, tokens, symbols, declarations, findings);
  std::map<std::string, int64_t> sizes;
  declarations.for_each_size([&](std::string_view name, const Size& size) {
    if (size.value) sizes.emplace(name, *size.value);
  });
  return sizes;
}

}  // namespace hiaton::lang
