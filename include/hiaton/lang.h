// The language: program text to typed functions. docs/language.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "hiaton/ir.h"
#include "hiaton/source.h"

#pragma GCC visibility push(default)
namespace hiaton::lang {

/// How deep expressions may stand inside each other: parentheses, calls, branches (also those of `else if`),
/// loops, prefix operators. A program that is nested so deep takes up to 2 MiB of the stack of the thread
/// that reads and compiles it.
inline constexpr int kMaxNesting = 1000;

/// The longest text of a program, in bytes, with all files that it imports: what is read of it takes some 350
/// times as much memory at most.
inline constexpr std::size_t kMaxProgramBytes = std::size_t{16} << 20;

/// How many findings a ProgramError of `parse` shows; it says how many more there are.
inline constexpr int kMaxShownErrors = 20;

struct ParseOptions {
  /// Values for sizes that the program declares (`size d = 128`), instead of those in the text.
  std::map<std::string, int64_t> sizes{};
};

/// The program with the files that it imports, and those that they import, which stand behind it in one text
/// (see Source). Files that stand there already are not read again. Throws ProgramError with the place of an
/// import that cannot be read, or that imports itself.
std::shared_ptr<const Source> with_imports(const std::shared_ptr<const Source>& source);

/// Reads and checks a whole program, with the files that it imports. Functions stand in the order of the
/// text, those that `map`, `fold`, `scan` and `grad` make behind them. Throws ProgramError with every finding
/// of one go, and where `options` name a size that the program does not have; whether there is a `main` is
/// left to whoever runs the program.
ir::Module parse(const std::shared_ptr<const Source>& source, const ParseOptions& options = {});

/// The sizes that a program declares, with their values. Bodies are not read, and a declaration with an error
/// is left out. Throws ProgramError where the source is no text, or `options` name other sizes.
std::map<std::string, int64_t> declared_sizes(const std::shared_ptr<const Source>& source,
                                              const ParseOptions& options = {});

}  // namespace hiaton::lang
#pragma GCC visibility pop
