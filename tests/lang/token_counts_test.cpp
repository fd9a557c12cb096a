// Examples beside the same programs without type parameters, functions as values, strings, fields, slices and
// a library (tests/lang/before). That both give the same values is shown by tests/end_to_end/known_values.py.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/file_bytes.h"
#include "lang/reading_steps.h"
#include "tests_dir.h"

namespace hiaton {
namespace {

/// Comments are none.
std::size_t token_count(const std::filesystem::path& file) {
  const Source source(file.filename().string(), read_file(file.string()));
  lang::Symbols symbols;
  lang::Diagnostics diagnostics;
  const std::size_t count = lang::lex(source, symbols, diagnostics).tokens.size();
  EXPECT_TRUE(diagnostics.empty()) << file;
  return count - 1;  // the last one is the end
}

std::set<std::filesystem::path> programs_before() {
  std::set<std::filesystem::path> names;
  for (const auto& file : std::filesystem::directory_iterator(tests_dir() / "lang/before")) {
    names.insert(file.path().filename());
  }
  return names;
}

TEST(TokenCounts, EachProgramHasAQuarterLessThanBefore) {
  const std::set<std::filesystem::path> names = programs_before();
  ASSERT_EQ(names.size(), 12u);
  for (const std::filesystem::path& name : names) {
    const std::size_t now = token_count(tests_dir() / ".." / "examples" / name);
    const std::size_t before = token_count(tests_dir() / "lang/before" / name);
    EXPECT_LE(4 * now, 3 * before) << name << ": " << now << " tokens, before " << before;
  }
}

}  // namespace
}  // namespace hiaton
