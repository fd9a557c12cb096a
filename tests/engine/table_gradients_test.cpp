// Gradients of recursions that fill a table in place, as dynamic programs do: each step takes the same time
// and memory in both directions, however large the table is.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/all_ways.h"
#include "hiaton/hiaton.h"

namespace hiaton {
namespace {

/// A soft edit distance: each cell reads three others, in branches, and both sequences.
const std::string kDistance =
    "fn cell(t: f64[_, _], xs: f64[_], ys: f64[_], i: i64, j: i64) -> f64 =\n"
    "  let up = if i > 0 then t[i - 1, j] else 1.0\n"
    "  let left = if j > 0 then t[i, j - 1] else 1.0\n"
    "  let both = if i > 0 and j > 0 then t[i - 1, j - 1] else 0.0\n"
    "  (xs[i] - ys[j]) * (xs[i] - ys[j]) - log(exp(-up) + exp(-left) + exp(-both))\n"
    "fn loss(xs: f64[_], ys: f64[_]) -> f64 =\n"
    "  let n = size(xs, axis=0)\n"
    "  let m = size(ys, axis=0)\n"
    "  let filled = with t: f64[_, _] = zeros(n, m) for k in 0..n * m do\n"
    "    t with [k / m, k % m] = cell(t, xs, ys, k / m, k % m)\n"
    "  filled[n - 1, m - 1]\n"
    "fn main(n: i64) -> (f64, f64[_], f64[_]) =\n"
    "  let xs = sin(f64(range(n)))\n"
    "  let ys = cos(f64(range(n + 1)) * 0.7)\n"
    "  value_and_grad(loss)(xs, ys)\n";

TEST(TableGradients, AreThoseOfTheReferenceInAllWays) {
  const Program program = Program::from_text("distance.hia", kDistance);
  for (const int64_t n : {1, 2, 5}) {
    const std::vector<Value> arguments{Value(n)};
    const std::vector<Value> expected = program.run(arguments, {.executor = Executor::Reference}).values;
    for (const RunOptions& way : all_ways()) {
      const std::vector<Value> found = program.run(arguments, way).values;
      ASSERT_EQ(found.size(), 3u);
      EXPECT_NEAR(found[0].slot().f64, expected[0].slot().f64, 1e-9);
      for (const std::size_t i : {1u, 2u}) {
        const Tensor a = found[i].tensor();
        const Tensor b = expected[i].tensor();
        ASSERT_EQ(a.size(), b.size());
        for (int64_t k = 0; k < a.size(); ++k)
          EXPECT_NEAR(a.data<double>()[k], b.data<double>()[k], 1e-9) << n << ", " << k;
      }
    }
  }
}

TEST(TableGradients, OfSeveralExamplesAtOnceAreThoseOfEach) {
  const Program program = Program::from_text("distance.hia", kDistance);
  std::vector<std::vector<Value>> examples;
  for (const int64_t n : {3, 4, 3, 3, 4, 1, 3}) examples.push_back({Value(n)});
  const std::vector<std::vector<Value>> found = program.run_all(examples);
  for (std::size_t i = 0; i < examples.size(); ++i) EXPECT_EQ(found[i], program.run(examples[i]).values) << i;
}

/// 80 megabytes would not suffice for two tables of a hundred rows if there were one for each cell.
TEST(TableGradients, TakeMemoryInProportionToTheTable) {
  const Program program = Program::from_text("distance.hia", kDistance);
  RunStats stats;
  const std::vector<Value> found =
      program.run({Value(int64_t{100})}, {.max_bytes = 40'000'000, .stats = &stats}).values;
  EXPECT_EQ(found[1].tensor().size(), 100);
}

}  // namespace
}  // namespace hiaton
