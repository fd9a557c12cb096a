// Programs of the repository with tokens changed at random: each is a program, or an error with its place.
//
// HIATON_PROGRAMS=1000000 HIATON_SEED=7 test_engine --gtest_filter=MutatedPrograms.*
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>

#include "hiaton/engine.h"
#include "hiaton/lang.h"
#include "lang/lexer.h"
#include "properties/environment.h"
#include "sized.h"
#include "tests_dir.h"

namespace hiaton {
namespace {

const std::filesystem::path kRepository = tests_dir() / "..";
constexpr uint64_t kMutated = sized_programs(20'000, 1'000);

/// The tokens of a program as they are written, each with what stands before it.
std::vector<std::string> pieces_of(const std::string& text) {
  const Source source("program.hia", text);
  lang::Symbols symbols;
  lang::Diagnostics diagnostics;
  std::vector<std::string> pieces;
  std::size_t written = 0;
  for (const lang::Token& token : lang::lex(source, symbols, diagnostics).tokens) {
    const std::size_t end = token.span.end;
    pieces.push_back(text.substr(written, end - written));
    written = end;
  }
  return pieces;
}

std::vector<std::vector<std::string>> programs() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"examples", "models", "benchmarks/programs"}) {
    for (const auto& file : std::filesystem::directory_iterator(kRepository / folder)) {
      if (file.path().extension() == ".hia") files.push_back(file.path());
    }
  }
  std::ranges::sort(files);
  std::vector<std::vector<std::string>> all;
  for (const std::filesystem::path& file : files) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    all.push_back(pieces_of(text.str()));
  }
  return all;
}

class Mutations {
 public:
  explicit Mutations(uint64_t seed) : random_(seed) {}

  /// A program of `all` in which up to three tokens are left out, doubled, exchanged, or taken from
  /// elsewhere.
  std::string mutated(const std::vector<std::vector<std::string>>& all) {
    std::vector<std::string> pieces = any_of(all);
    for (uint64_t i = 1 + below(3); i > 0 && pieces.size() > 1; --i) {
      const std::size_t at = below(pieces.size());
      switch (below(4)) {
        case 0:
          pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 1:
          pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(at), pieces[at]);
          break;
        case 2:
          std::swap(pieces[at], pieces[below(pieces.size())]);
          break;
        default:
          pieces[at] = any_of(any_of(all));
      }
    }
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    return text;
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }
  template <class T>
  const T& any_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

  std::mt19937_64 random_;
};

TEST(MutatedPrograms, AreProgramsOrErrorsWithAPlace) {
  const std::vector<std::vector<std::string>> all = programs();
  ASSERT_GT(all.size(), 40u);
  const std::regex place("^[^ ]+:[0-9]+:[0-9]+: error: .+");
  const uint64_t first = properties::from_environment("HIATON_SEED", 0);
  const uint64_t count = properties::from_environment("HIATON_PROGRAMS", kMutated);
  uint64_t legal = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = Mutations(seed).mutated(all);
    std::string message;
    try {
      const ir::Module module = lang::parse(std::make_shared<Source>("program.hia", text));
      ++legal;
      if (module.find("main")) Program::from_module(module);
    } catch (const ProgramError& error) {
      message = error.what();
      ASSERT_TRUE(std::regex_search(message, place)) << "seed " << seed << "\n" << message << "\n" << text;
    }
  }
  EXPECT_GT(legal, count / 100);
  EXPECT_LT(legal, count);
}

}  // namespace
}  // namespace hiaton
