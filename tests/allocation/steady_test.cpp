// Thousands of runs in one process hold no more memory than the first ones.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "allocation/failing_allocations.h"
#include "engine/tree_model.h"
#include "hiaton/hiaton.h"

namespace hiaton::testing {
namespace {

using namespace tree_model;

#if defined(HIATON_SANITIZED)
constexpr int kRuns = 1'000;
constexpr bool kMemoryIsKept = true;  // a sanitizer keeps freed memory for a while
#else
constexpr int kRuns = 10'000;
constexpr bool kMemoryIsKept = false;
#endif

/// Memory of this process that is in use, in bytes.
int64_t resident() {
  int64_t all = 0;
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> all >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

/// Runs `run` some thousand times, after a tenth of that to warm up. What every run leaves behind shows in
/// each quarter of the runs; what workers keep for the most that they ever need at once, which depends on how
/// they meet, comes in some quarters and then no more.
void expect_steady(const auto& run) {
  constexpr int64_t kFew = 64;  // such as what the C library keeps for threads
  constexpr int64_t kBytes = int64_t{2} << 20;
  for (int i = 0; i < kRuns / 10; ++i) run();
  int64_t fewest_live = std::numeric_limits<int64_t>::max();
  int64_t fewest_bytes = std::numeric_limits<int64_t>::max();
  for (int quarter = 0; quarter < 4; ++quarter) {
    const int64_t live = live_allocations();
    const int64_t bytes = resident();
    for (int i = 0; i < kRuns / 4; ++i) run();
    fewest_live = std::min(fewest_live, live_allocations() - live);
    fewest_bytes = std::min(fewest_bytes, resident() - bytes);
  }
  EXPECT_LE(fewest_live, kFew);
  if (!kMemoryIsKept) {
    EXPECT_LE(fewest_bytes, kBytes);
  }
}

class ManyRuns : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Workers, ManyRuns, ::testing::Values(1, 2));

TEST_P(ManyRuns, OfScalarsDoNotGrow) {
  const Program program =
      Program::from_text("fib.hia",
                         "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)\n"
                         "fn main(n: i64) -> i64 = fib(n)\n");
  RunOptions options;
  options.workers = GetParam();
  expect_steady([&] { ASSERT_EQ(program.run({Value(int64_t{8})}, options).values[0], Value(int64_t{34})); });
}

TEST_P(ManyRuns, OfStepsOfLearningDoNotGrow) {
  const Model model = Model::from_text("tree.hia", kTreeModel);
  const std::string first = step(model, GetParam());
  expect_steady([&] { ASSERT_EQ(step(model, GetParam()), first); });
}

TEST(ManyRuns, ThatFailDoNotGrow) {
  const Program program = Program::from_text(
      "div.hia",
      "fn f(xs: List[i64], n: i64) -> i64 = if n == 0 then 1 / n else 1 + f(Cons(n, xs), n - 1)\n"
      "fn main(n: i64) -> i64 = f(Nil, n)\n");
  expect_steady([&] { ASSERT_THROW(program.run({Value(int64_t{5})}), RunError); });
}

}  // namespace
}  // namespace hiaton::testing
