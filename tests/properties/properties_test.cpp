// Random programs: every executor and every simplification gives the same results and the same faults.
//
// HIATON_PROGRAMS=1000000 HIATON_SEED=7 test_properties --gtest_filter=RandomPrograms.*
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "properties/check.h"
#include "properties/generate.h"
#include "properties/shrink.h"

namespace hiaton::properties {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr uint64_t kPrograms = 1'000;
#else
constexpr uint64_t kPrograms = 20'000;
#endif

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

/// Shrinking must not take for ever what a defect makes run for ever.
Program shrunk(const Program& program) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  return shrink(program, [&](const Program& candidate) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    const Verdict verdict = check(candidate);
    return !verdict.wrong.empty() && !verdict.over_budget;
  });
}

std::string report(const Program& program, const Verdict& verdict) {
  const Program small = verdict.over_budget ? program : shrunk(program);
  std::string arguments;
  for (const Value& value : small.arguments) arguments += fmt::format(" {}", to_string(value));
  return fmt::format(
      "seed {}: {}\nshrunk to\n\n{}\nwith the arguments{}: {}\n(run it alone: HIATON_SEED={} "
      "HIATON_PROGRAMS=1)",
      program.seed, verdict.wrong, ir::print(small.module), arguments, check(small).wrong, program.seed,
      program.seed);
}

TEST(RandomPrograms, AgreeInEveryExecutorAndSimplification) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kPrograms);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Program program = generate(seed);
    const Verdict verdict = check(program);
    ASSERT_TRUE(verdict.wrong.empty()) << report(program, verdict);
  }
}

}  // namespace
}  // namespace hiaton::properties
