// Programs of the repository with tokens changed at random: each is a program, or an error with its place.
// What is a program runs, within its budgets.
//
// HIATON_PROGRAMS=1000000 HIATON_SEED=7 test_engine --gtest_filter=MutatedPrograms.*
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <regex>

#include "engine/small_values.h"
#include "hiaton/engine.h"
#include "hiaton/lang.h"
#include "lang/reading_steps.h"
#include "properties/random_choices.h"
#include "sized.h"
#include "tests_dir.h"

namespace hiaton {
namespace {

const std::filesystem::path kRepository = tests_dir() / "..";
constexpr uint64_t kMutated = sized_programs(5'000, 500);

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
  for (const std::filesystem::path& file : files) all.push_back(pieces_of(file_text(file)));
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

/// Whether its learned parameters have few elements: to draw those of a table of a wrong size takes longer
/// than all other programs together.
bool has_small_parameters(const Program& program) {
  double elements = 0;
  for (const graph::Parameter& parameter : program.graph().parameters()) {
    double own = 1;
    for (const Dim& dim : parameter.type.shape) own *= static_cast<double>(dim.size);
    elements += own;
  }
  return elements < 1e6;
}

/// What becomes of a run with small values that are drawn at random.
enum class End : uint8_t { Results, Fault, NoArguments };

/// Runs the program with tight budgets: it ends in time, and leaves nothing behind.
End run_within_budgets(const Program& program, uint64_t seed, Executor executor) {
  if (!has_small_parameters(program)) return End::NoArguments;
  std::mt19937_64 random(seed);
  SmallValues values(random);
  std::vector<Value> arguments;
  for (const EntryParameter& parameter : program.parameters()) {
    const std::optional<Value> argument = values.of(parameter.type);
    if (!argument) return End::NoArguments;
    arguments.push_back(*argument);
  }
  const std::vector<Value> parameters = initial_parameters(program.graph().parameters(), seed);
  RunStats stats;
  RunOptions options{.executor = executor,
                     .max_frames = 20'000,
                     .max_bytes = uint64_t{64} << 20,
                     .timeout = std::chrono::milliseconds(50),
                     .stats = &stats,
                     .parameters = parameters,
                     .print = [](std::string_view) {},
                     .checks_counts = true};
  const auto begin = std::chrono::steady_clock::now();
  End end = End::Results;
  try {
    EXPECT_EQ(program.run(arguments, options).values.size(), program.results().size());
  } catch (const RunError& error) {
    EXPECT_STRNE(error.what(), "");
    end = End::Fault;
  } catch (const ProgramError& error) {  // of sizes of arguments that do not go together
    EXPECT_STRNE(error.what(), "");
    return End::NoArguments;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(sized(20, 120)));
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  EXPECT_EQ(stats.values_live_at_end, 0u);
  return end;
}

TEST(MutatedPrograms, AreProgramsOrErrorsWithAPlace) {
  const std::vector<std::vector<std::string>> all = programs();
  ASSERT_GT(all.size(), 40u);
  const std::regex place("^[^ ]+:[0-9]+:[0-9]+: error: .+");
  const uint64_t first = properties::from_environment("HIATON_SEED", 0);
  const uint64_t count = properties::from_environment("HIATON_PROGRAMS", kMutated);
  uint64_t legal = 0;
  std::map<End, uint64_t> ends;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = Mutations(seed).mutated(all);
    std::string message;
    try {
      const ir::Module module = lang::parse(std::make_shared<Source>("program.hia", text));
      ++legal;
      if (!module.find("main")) continue;
      const Program program = Program::from_module(module);
      ++ends[run_within_budgets(program, seed, seed % 2 == 0 ? Executor::Production : Executor::Flow)];
      ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << text;
    } catch (const ProgramError& error) {
      message = error.what();
      ASSERT_TRUE(std::regex_search(message, place)) << "seed " << seed << "\n" << message << "\n" << text;
    }
  }
  EXPECT_GT(legal, count / 100);
  EXPECT_LT(legal, count);
  EXPECT_GT(ends[End::Results], count / 200);
  EXPECT_GT(ends[End::Fault], 0u);
}

}  // namespace
}  // namespace hiaton
