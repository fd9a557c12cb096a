// Random programs: every executor and every simplification gives the same results and the same faults.
//
// HIATON_PROGRAMS=1000000 HIATON_SEED=7 test_properties --gtest_filter=RandomPrograms.*
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "properties/check.h"
#include "properties/generate.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kRandomPrograms = sized_programs(2'000, 240);

/// Small programs may lack what made the first one end, so they get little time each.
Program shrunk(const Program& program) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  return shrink(program, [&](const Program& candidate) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    const Verdict verdict = check(candidate, std::chrono::seconds(1));
    return !verdict.wrong.empty() && !verdict.over_budget;
  });
}

/// Ends the process with the seed of a program that an executor never finishes.
class Watchdog {
 public:
  ~Watchdog() {
    stopping_ = true;
    thread_.join();
  }
  void begin(uint64_t seed) { seed_ = seed; }
  void end() { seed_ = kNothing; }

 private:
  void watch() {
    constexpr int kMostSeconds = 60;
    uint64_t watched = kNothing;
    for (int seconds = 0; !stopping_; ++seconds) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      if (watched != seed_ || watched == kNothing) seconds = 0;
      watched = seed_;
      if (seconds < kMostSeconds) continue;
      fmt::print(stderr, "the program of seed {} does not end\n", watched);
      std::abort();
    }
  }

  static constexpr uint64_t kNothing = static_cast<uint64_t>(-1);

  std::atomic<uint64_t> seed_{kNothing};
  std::atomic<bool> stopping_{false};
  std::thread thread_{[this] { watch(); }};
};

std::string report(const Program& program, const Verdict& verdict) {
  const Program small = verdict.over_budget ? program : shrunk(program);
  std::string arguments;
  for (const Value& value : small.arguments) arguments += fmt::format(" {}", to_string(value));
  return fmt::format(
      "seed {}: {}\nshrunk to\n\n{}\nwith the arguments{}: {}\n(run it alone: HIATON_SEED={} "
      "HIATON_PROGRAMS=1)",
      program.seed, verdict.wrong, ir::print(small.module), arguments,
      check(small, std::chrono::seconds(1)).wrong, program.seed, program.seed);
}

TEST(RandomPrograms, AgreeInEveryExecutorAndSimplification) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kRandomPrograms);
  Watchdog watchdog;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    watchdog.begin(seed);
    const Program program = generate(seed);
    const Verdict verdict = check(program);
    if (!verdict.wrong.empty()) watchdog.end();
    ASSERT_TRUE(verdict.wrong.empty()) << report(program, verdict);
  }
}

}  // namespace
}  // namespace hiaton::properties
