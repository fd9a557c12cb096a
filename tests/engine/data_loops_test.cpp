// Loops that read data values, make some or hand them on, while their iterations run ahead of each other.
#include <chrono>
#include <string>

#include "engine/all_ways.h"
#include "engine/checked_run.h"
#include "sized.h"

namespace hiaton {
namespace {

constexpr const char* kShapes = R"(
data Shape = Point | Line(length: i64) | Box(a: i64, b: i64) | Group(first: Shape, second: Shape) | Turned(shape: Shape, by: i64)
fn made(n: i64) -> Shape =
  if n < 3 then Point
  else if n % 4 == 0 then Line(n)
  else if n % 4 == 1 then Box(n, n / 2)
  else if n % 4 == 2 then Group(made(n / 2), made(n - 3))
  else Turned(made(n - 1), n % 5)
fn size(s: Shape) -> i64 =
  match s
    Point -> 1
    Line(n) -> n
    Box(a, b) -> a * b
    Group(a, b) -> size(a) + 2 * size(b)
    Turned(inner, by) -> size(inner) * 3 + by
fn divided(s: Shape, by: i64) -> Shape =
  match s
    Point -> Line(100 / by)
    Line(n) -> Line(n + 100 / by)
    Group(a, b) -> Group(divided(b, by), divided(a, by))
    Turned(inner, k) -> Turned(divided(inner, by), k + 1)
    _ -> s
)";

/// Loops whose iterations read data values, make some, or hand them on: ahead of their calls, or after them.
const std::vector<std::string>& loops_with_data() {
  static const std::vector<std::string> all{
      "with s = 0 for i in 0..n do s * 3 + size(x)",
      "with s = 0 for i in 0..n do s * 3 + size(divided(x, i - bad))",
      "with s = 0 for i in 0..n do s + size(Group(x, Line(100 / (i - bad))))",
      "with s = 0 for i in 0..n do if i % 2 == 0 then s + size(divided(x, i - bad)) else s * 2",
      "size(with t = x for i in 0..n do divided(t, i - bad))",
      "size(with t = x for i in 0..n do Group(divided(x, i - bad), Line(i)))",
      "size(with t = Point for i in 0..n do match divided(x, i - bad) Group(a, _) -> a Turned(a, _) -> "
      "Group(a, a) _ -> t)",
      "let (_, t, s) = (with i = 0, t = x, s = 0 while i < n do (i + 1, Turned(x, i), s + size(divided(t, i "
      "- bad))))\n"
      "  size(t) + s",
      "let (_, t, s) = (with i = 0, t = x, s = 0 while i < n do\n"
      "    (i + 1, (match t Turned(inner, _) -> inner Group(a, b) -> Turned(b, i) _ -> x), s + "
      "size(divided(t, i - bad))))\n"
      "  size(t) + s",
      "let (_, t, u) = (with i = 0, t = x, u = Point while i < n do (i + 1, u, divided(t, i - bad)))\n"
      "  size(t) - size(u)",
  };
  return all;
}

TEST(DataLoops, LoopsRunAheadWithDataValues) {
  for (const std::string& loop : loops_with_data()) {
    SCOPED_TRACE(loop);
    const Program program = Program::from_text(
        "loops.hia", kShapes + ("fn main(n: i64, bad: i64) -> i64 =\n  let x = made(30)\n  " + loop));
    for (const int64_t n : {0, 1, 2, 3, 7, 20}) {
      if (kIsSlowBuild && n == 3) continue;
      const std::vector<Value> arguments{Value(n), Value(int64_t{-1})};
      const std::vector<Value> expected = program.run(arguments, expected_way()).values;
      for (RunOptions way : worker_ways()) {
        for (const int window : {2, 3, 10}) {
          if (kIsSlowBuild && window == 10) continue;
          way.parallel_iterations = window;
          EXPECT_EQ(run(program, arguments, way).values, expected) << loop << ", " << n << " turns";
        }
      }
    }
  }
}

TEST(DataLoops, NothingIsLeftWhereverAnIterationFails) {
  for (const std::string& loop : loops_with_data()) {
    SCOPED_TRACE(loop);
    if (loop.find("bad") == std::string::npos) continue;
    const Program program = Program::from_text(
        "loops.hia", kShapes + ("fn main(n: i64, bad: i64) -> i64 =\n  let x = made(30)\n  " + loop));
    for (RunOptions way : worker_ways()) {
      way.parallel_iterations = 4;
      for (int64_t bad = 0; bad < 10; bad += 2) {
        EXPECT_EQ(fault_of(program, {Value(int64_t{10}), Value(bad)}, way), Fault::DivisionByZero) << loop;
      }
    }
  }
}

TEST(DataLoops, IterationsWithDataValuesAreStolen) {
  for (const std::size_t loop : {0, 5, 7}) {
    const Program program = Program::from_text(
        "loops.hia",
        kShapes + ("fn main(n: i64, bad: i64) -> i64 =\n  let x = made(300)\n  " + loops_with_data()[loop]));
    RunStats stats;
    const RunOptions options{.workers = 2, .stats = &stats};
    // Where other work holds the processors, the second worker comes late.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (stats.steals == 0 && std::chrono::steady_clock::now() < end) {
      program.run({{Value(int64_t{100'000}), Value(int64_t{-1})}}, options);
    }
    EXPECT_GT(stats.steals, 0u) << loops_with_data()[loop];
  }
}

}  // namespace
}  // namespace hiaton
