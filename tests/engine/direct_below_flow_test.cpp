// Which functions of a program run in direct code where others run in batches, and tensors that go from one
// to the other: values and errors are those of the reference, and nothing is left over.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "engine/checked_run.h"
#include "engine/run_error.h"
#include "sized.h"

namespace hiaton {
namespace {

Value row_of(std::string_view text) {
  return parse_value(Type(DType::F64, {unknown_dim()}), text);
}

/// A program as it is written: its small functions stay functions.
Program as_written(const std::string& text) {
  CompileOptions options;
  options.simplify = passes::SimplifyOptions::none();
  return Program::from_text("test.hia", text, options);
}

/// The functions that run items and launches.
std::set<std::string> functions_in_flow(const Program& program, const std::vector<Value>& arguments,
                                        RunOptions options, std::size_t examples = 1) {
  const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
  RunStats stats;
  options.count_regions = true;
  options.stats = &stats;
  options.parameters = learned;
  program.run_all(std::vector(examples, arguments), options);
  std::set<std::string> found;
  for (const RegionStats& region : stats.regions) {
    if (region.launches > 0) found.insert(region.function);
  }
  return found;
}

/// In each way to run it, with batches and without; the arguments stay as they are.
void expect_the_reference_above_and_below(const std::string& text, const std::vector<Value>& arguments) {
  for (const Program& program : {Program::from_text("test.hia", text), as_written(text)}) {
    const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
    const std::vector<Value> expected =
        program.run(arguments, {.executor = Executor::Reference, .parameters = learned}).values;
    for (RunOptions way : worker_ways()) {
      way.parameters = learned;
      for (const bool batching : {true, false}) {
        way.batching = batching;
        for (int i = 0; i < 2; ++i) EXPECT_EQ(run(program, arguments, way).values, expected) << text;
      }
      way.batching = true;
      for (const std::vector<Value>& values : program.run_all(std::vector(3, arguments), way)) {
        EXPECT_EQ(values, expected) << text;
      }
    }
  }
}

// The product with a constant gains from batches, so that main is in flow.
constexpr const char* kTurned = "fn turned(x: f64[2]) -> f64[2] = x @ [[0f64, 1], [-1, 0]]\n";

const std::string kFibOfTurned = std::string(kTurned) +
                                 "fn fib(n: i64, x: f64[2]) -> f64[2] =\n"
                                 "  if n <= 1 then x else fib(n - 1, x) + fib(n - 2, x)\n"
                                 "fn main(n: i64, x: f64[2]) -> f64[2] = turned(fib(n, turned(x)))\n";

TEST(DirectBelowFlow, TensorsGoThereAndBack) {
  for (const int64_t n : {0, 1, 9})
    expect_the_reference_above_and_below(kFibOfTurned, {Value(n), row_of("[1, 2]")});
}

TEST(DirectBelowFlow, EachFunctionIsDecidedByItself) {
  const Program program = as_written(kFibOfTurned);
  const std::vector<Value> arguments{Value(int64_t{9}), row_of("[1, 2]")};
  for (const int workers : {1, 2}) {
    for (const std::size_t examples : {1, 20}) {
      EXPECT_EQ(functions_in_flow(program, arguments, {.workers = workers}, examples),
                std::set<std::string>{"turned"});
    }
  }
  RunStats stats;
  program.run(arguments, {.stats = &stats});
  EXPECT_LE(stats.frames_live_most, 8u) << "fib takes no frames of flow";
}

TEST(DirectBelowFlow, LearnedParametersAreReadInDirectCode) {
  const std::string text = std::string(kTurned) +
                           "param s: f64[1] = normal(0.5)\n"
                           "param t: f64[1] = normal(0.5)\n"
                           "fn total(n: i64) -> f64 =\n"
                           "  if n <= 1 then s[0] * t[0] else total(n - 1) + total(n - 2)\n"
                           "fn main(n: i64, x: f64[2]) -> (f64[2], f64[1]) = (turned(x) * total(n), s)\n";
  const std::vector<Value> arguments{Value(int64_t{9}), row_of("[1, 2]")};
  expect_the_reference_above_and_below(text, arguments);
  const std::set<std::string> flow = functions_in_flow(as_written(text), arguments, {});
  EXPECT_EQ(flow, (std::set<std::string>{"turned", "main"}));
}

TEST(DirectBelowFlow, GradientsLeaveTheOtherFunctionsDirect) {
  const std::string text =
      "fn fib(n: i64, x: f64[2]) -> f64[2] =\n"
      "  if n <= 1 then x else fib(n - 1, x) + fib(n - 2, x)\n"
      "fn norm(x: f64[2]) -> f64 = if x[0] > 100 then 0 else sum(x * x)\n"
      "fn main(n: i64, x: f64[2]) -> f64[2] = fib(n, grad(norm)(x) + 1)\n";
  const std::vector<Value> arguments{Value(int64_t{9}), row_of("[1, 2]")};
  expect_the_reference_above_and_below(text, arguments);
  for (const bool batching : {true, false}) {
    const std::set<std::string> flow = functions_in_flow(as_written(text), arguments, {.batching = batching});
    EXPECT_FALSE(flow.contains("fib"));
    EXPECT_FALSE(flow.empty());
  }
}

/// What has few instances in a batch is direct where it is called seldom, and what has many is not.
TEST(DirectBelowFlow, OperationsThatBatchStayInFlow) {
  const std::string text = std::string(kTurned) +
                           "fn damped(x: f64[2]) -> f64[2] = if x[0] > 1 then tanh(x) else x * 0.5\n"
                           "fn cell(n: i64, x: f64[2]) -> f64[2] =\n"
                           "  if n <= 0 then x else damped(turned(cell(n - 1, x) + cell(n - 2, x)))\n"
                           "fn chain(n: i64, x: f64[2]) -> f64[2] =\n"
                           "  if n <= 0 then x else chain(n - 1, tanh(x + 0.5))\n"
                           "fn main(n: i64, x: f64[2]) -> f64[2] = cell(n, x) + chain(n, x)\n";
  const std::vector<Value> arguments{Value(int64_t{6}), row_of("[1, 2]")};
  expect_the_reference_above_and_below(text, arguments);
  const std::set<std::string> cells{"cell", "damped", "turned", "main"};
  std::set<std::string> all = cells;
  all.insert("chain");
  for (const int workers : {1, 2}) {
    EXPECT_EQ(functions_in_flow(as_written(text), arguments, {.workers = workers}), cells);
    EXPECT_EQ(functions_in_flow(as_written(text), arguments, {.workers = workers}, 20), all);
  }
}

TEST(DirectBelowFlow, ValuesOfEveryKindGoThereAndBack) {
  const std::string text =
      std::string(kTurned) +
      "data Tree = Leaf(x: f64[2]) | Node(left: Tree, right: Tree, x: f64[2])\n"
      "fn grown(n: i64, x: f64[2]) -> Tree =\n"
      "  if n == 0 then Leaf(x) else Node(grown(n - 1, x + 1), grown(n - 1, x), x * 2)\n"
      "fn value(t: Tree) -> f64[2] = match t\n"
      "  Leaf(x) -> x\n"
      "  Node(l, r, x) -> value(l) * 0.5 + value(r) - x\n"
      "fn shapes(n: i64, x: f64[2]) -> (f64[2], f64[2, 1], f64[1, 2], f64) =\n"
      "  if n == 0 then (x, reshape(x, shape=[2, 1]), reshape(x * 2, shape=[1, 2]), x[1])\n"
      "  else\n"
      "    let (a, b, c, d) = shapes(n - 1, x)\n"
      "    let (e, _, _, _) = shapes(n - 1, x + 1)\n"
      "    (e, reshape(a, shape=[2, 1]), c, d)\n"
      "fn main(n: i64, x: f64[2]) -> (Tree, f64[2], f64[2], f64[2, 1], f64[1, 2], f64) =\n"
      "  let t = grown(n, turned(x))\n"
      "  let (a, b, c, d) = shapes(n, turned(value(t)))\n"
      "  (t, turned(value(t)), a, b, c, d)\n";
  for (const int64_t n : {0, 1, 5}) expect_the_reference_above_and_below(text, {Value(n), row_of("[1, 2]")});
  Value kept;
  {
    const Program program = Program::from_text("test.hia", text);
    kept = run(program, {Value(int64_t{2}), row_of("[1, 2]")}).values[3];
  }
  EXPECT_EQ(kept.type().shape.size(), 2u);
  std::thread([value = std::move(kept)]() mutable { value = Value(); }).join();
}

TEST(DirectBelowFlow, FaultsAreThoseOfTheReference) {
  const Program program = as_written(
      "fn deep(n: i64, x: f64[2], at: i64) -> f64[2] =\n"
      "  if n == 0 then x + x[at] else deep(n - 1, x + 1, at) + deep(n - 1, x, at)\n"
      "fn main(n: i64, x: f64[2], at: i64) -> f64[2] = matmul(deep(n, x, at), [[1f64, 2], [3, 4]])\n");
  const Value x = row_of("[6, 7]");
  const std::vector<Value> wrong{Value(int64_t{3}), x, Value(int64_t{7})};
  const std::vector<Value> right{Value(int64_t{3}), x, Value(int64_t{1})};
  const RunError expected = error_of(program, wrong, {.executor = Executor::Reference});
  ASSERT_NE(expected.fault(), Fault::None);
  const std::vector<Value> values = program.run(right, {.executor = Executor::Reference}).values;
  for (const RunOptions& way : worker_ways()) {
    const RunError found = error_of(program, wrong, way);
    EXPECT_EQ(found.fault(), expected.fault());
    EXPECT_EQ(found.chain().size(), expected.chain().size());
    if (way.workers == 1) {
      EXPECT_EQ(found.message(), expected.message());
    }
    EXPECT_EQ(run(program, right, way).values, values) << "after an error";
  }
}

/// Results that leave direct code are the caller's: they do not use up the budget of direct code, and what
/// goes when nobody refers to them any more is what was counted when they came.
TEST(DirectBelowFlow, ResultsAreCountedOnce) {
  const Program program = Program::from_text(
      "test.hia",
      "param w: f64[64, 64] = normal(0.1)\n"
      "fn fib(n: i64, x: f64[64]) -> f64[64] = if n <= 1 then x * 0.5 else fib(n - 1, x) + fib(n - 2, x)\n"
      "fn often(n: i64, x: f64[64]) -> f64[64] = if n == 0 then x else often(n - 1, fib(2, x @ w))\n"
      "fn all(n: i64, x: f64[64]) -> List[f64[64]] = if n == 0 then Nil else Cons(x @ w, all(n - 1, x))\n"
      "fn main(n: i64, m: i64, x: f64[64]) -> List[f64[64]] = all(m, often(n, x))\n");
  const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
  const Value x(Tensor(DType::F64, {64}));
  constexpr uint64_t kBytes = sized(uint64_t{8}, uint64_t{2}) << 20;
  const Value calls(sized<int64_t>(60'000, 15'000));
  const Value too_many(sized<int64_t>(20'000, 5'000));
  for (const int workers : {1, 2}) {
    if (!has_to_run(workers)) continue;
    const RunOptions way{.workers = workers, .max_bytes = kBytes, .parameters = learned};
    EXPECT_EQ(fault_of(program, {calls, Value(int64_t{2}), x}, way), Fault::None);
    EXPECT_EQ(fault_of(program, {calls, too_many, x}, way), Fault::MaxBytes);
  }
}

/// What direct code and flow hold together is what the budget is for.
TEST(DirectBelowFlow, TheBudgetIsThatOfBoth) {
  const std::string text =
      "param w: f64[64, 64] = normal(0.1)\n"
      "fn all(n: i64, x: f64[64]) -> List[f64[64]] = if n == 0 then Nil else Cons(x @ w, all(n - 1, x))\n"
      "fn numbers(m: i64) -> List[i64] = if m == 0 then Nil else Cons(m, numbers(m - 1))\n"
      "fn depth(m: i64) -> i64 = if m == 0 then 0 else depth(m - 1) * 2 + 1\n"
      "fn above(n: i64, m: i64, x: f64[64]) -> f64[64] =\n"
      "  if n == 0 then x @ w * f64(depth(m)) else above(n - 1, m, x) @ w + 1\n"
      "fn held(n: i64, m: i64, x: f64[64]) -> (List[f64[64]], List[i64]) = (all(n, x), numbers(m))\n"
      "fn main(n: i64, m: i64, of_frames: bool, x: f64[64]) -> (List[f64[64]], List[i64], f64[64]) =\n"
      "  if of_frames then (Nil, Nil, above(n, m, x))\n"
      "  else\n"
      "    let (xs, ns) = held(n, m, x)\n"
      "    (xs, ns, x)\n";
  const auto end = [&](int64_t n, int64_t m, bool of_frames, RunOptions way, uint64_t* bytes = nullptr) {
    const Program program = Program::from_text("test.hia", text);  // what earlier runs hold is no part of it
    const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
    RunStats stats;
    way.parameters = learned;
    way.stats = &stats;
    const std::vector<Value> arguments{Value(n), Value(m), Value(of_frames), Value(Tensor(DType::F64, {64}))};
    const Fault fault = error_of(program, arguments, way).fault();
    if (bytes != nullptr) *bytes = stats.bytes;
    return fault;
  };
  constexpr int64_t kTensors = 10'000;
  constexpr int64_t kNumbers = 400'000;
  constexpr int64_t kDeep = 20'000;
  for (const int workers : {1, 2}) {
    if (!has_to_run(workers)) continue;
    RunOptions way{.workers = workers};
    uint64_t of_flow = 0;
    uint64_t of_direct = 0;
    EXPECT_EQ(end(kTensors, 1, false, way, &of_flow), Fault::None);
    EXPECT_EQ(end(1, kNumbers, false, way, &of_direct), Fault::None);
    way.max_bytes = std::max(of_flow, of_direct) + std::min(of_flow, of_direct) / 2;
    EXPECT_EQ(end(kTensors, 1, false, way), Fault::None);
    EXPECT_EQ(end(1, kNumbers, false, way), Fault::None);
    EXPECT_EQ(end(kTensors, kNumbers, false, way), Fault::MaxBytes);
    RunOptions framed{.workers = workers, .max_frames = kDeep * 3 / 2};
    EXPECT_EQ(end(kDeep, 1, true, framed), Fault::None);
    EXPECT_EQ(end(1, kDeep, true, framed), Fault::None);
    EXPECT_EQ(end(kDeep, kDeep, true, framed), Fault::MaxFrames);
  }
}

}  // namespace
}  // namespace hiaton
