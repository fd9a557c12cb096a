// Examples beside what was written for the same in the language of commit 7d29325: tests/lang/before. That
// each of both gives the same values is shown by tests/end_to_end/known_values.py.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "lang/reading_steps.h"
#include "tests_dir.h"

namespace hiaton {
namespace {

const std::filesystem::path kRoot = tests_dir() / "..";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream.good()) << file;
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Comments are none.
std::size_t token_count(const std::filesystem::path& file) {
  const Source source(file.filename().string(), text_of(file));
  lang::Symbols symbols;
  lang::Diagnostics diagnostics;
  const std::size_t count = lang::lex(source, symbols, diagnostics).tokens.size();
  EXPECT_TRUE(diagnostics.empty()) << file;
  return count - 1;  // the last one is the end
}

std::set<std::filesystem::path> programs_before() {
  std::set<std::filesystem::path> names;
  for (const auto& file : std::filesystem::directory_iterator(kRoot / "tests/lang/before")) {
    names.insert(file.path().filename());
  }
  return names;
}

TEST(TokenCounts, EachProgramHasAQuarterLessThanBefore) {
  const std::set<std::filesystem::path> names = programs_before();
  ASSERT_EQ(names.size(), 12u);
  for (const std::filesystem::path& name : names) {
    const std::size_t now = token_count(kRoot / "examples" / name);
    const std::size_t before = token_count(kRoot / "tests/lang/before" / name);
    EXPECT_LE(4 * now, 3 * before) << name << ": " << now << " tokens, before " << before;
  }
}

TEST(TokenCounts, StandInTheDocuments) {
  const std::string page = text_of(kRoot / "docs/examples.md");
  std::size_t rows = 0;
  for (std::size_t at = page.find(" | [before]("); at != std::string::npos;
       at = page.find(" | [before](", at + 1))
    ++rows;
  EXPECT_EQ(rows, programs_before().size());
  for (const std::filesystem::path& name : programs_before()) {
    const std::size_t now = token_count(kRoot / "examples" / name);
    const std::size_t before = token_count(kRoot / "tests/lang/before" / name);
    const std::string row =
        fmt::format(" | {} | {} | {:.0f} % | [before](../tests/lang/before/{}) |\n", now, before,
                    100.0 * static_cast<double>(now) / static_cast<double>(before), name.string());
    EXPECT_NE(page.find(row), std::string::npos)
        << "expected a row of docs/examples.md that ends with" << row;
  }
}

}  // namespace
}  // namespace hiaton
