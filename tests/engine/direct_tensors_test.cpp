// Tensors in direct code: runs without batches. Results and errors are those of the reference, references are
// counted on every way out, and nobody sees a tensor change.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "engine/run_error.h"
#include "sized.h"

namespace hiaton {
namespace {

constexpr const char* kFibText =
    "fn fib(n: i64, x: f32[2]) -> f32[2] = if n <= 1 then x else fib(n - 1, x) + fib(n - 2, x)\n"
    "fn main(n: i64, x: f32[2]) -> f32[2] = fib(n, x)\n";

Value tensor(std::string_view text, DType dtype = DType::F32) {
  return parse_value(Type(dtype, {unknown_dim()}), text);
}

/// The run, and that nothing of it is left over.
std::vector<Value> run_directly(const Program& program, const std::vector<Value>& arguments,
                                RunOptions options) {
  RunStats stats;
  options.stats = &stats;
  options.checks_counts = true;
  const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
  options.parameters = learned;
  std::vector<Value> values = program.run(arguments, options).values;
  EXPECT_EQ(stats.values_live_at_end, 0u);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  EXPECT_EQ(stats.fallback, "");
  for (const RegionStats& region : stats.regions) EXPECT_EQ(region.launches, 0u) << "it ran in flow";
  return values;
}

/// Runs the program with and without simplifications, for any number of workers; the arguments stay as they
/// are.
void expect_direct_like_the_reference(const std::string& text, const std::vector<Value>& arguments) {
  for (const bool simplify : {true, false}) {
    CompileOptions options;
    if (!simplify) options.simplify = passes::SimplifyOptions::none();
    const Program program = Program::from_text("test.hia", text, options);
    const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
    std::vector<std::string> before;
    for (const Value& argument : arguments) {
      if (!argument.is_data()) before.push_back(to_string(argument));
    }
    const std::vector<Value> expected =
        program.run(arguments, {.executor = Executor::Reference, .parameters = learned}).values;
    for (const int workers : {1, 2, 8}) {
      if (!has_to_run(workers)) continue;
      for (const OverflowMode overflow : {OverflowMode::Wrap, OverflowMode::Trap}) {
        EXPECT_EQ(run_directly(
                      program, arguments,
                      {.workers = workers, .overflow = overflow, .count_regions = true, .batching = false}),
                  expected)
            << workers << " workers\n"
            << text;
      }
    }
    std::size_t checked = 0;
    for (const Value& argument : arguments) {
      if (!argument.is_data()) {
        EXPECT_EQ(to_string(argument), before[checked++]);
      }
    }
  }
}

TEST(DirectTensors, OfARecursion) {
  for (int64_t n = 0; n < 18; ++n) expect_direct_like_the_reference(kFibText, {Value(n), tensor("[1, 2]")});
}

/// Behind the call and the loop, which may run at the same time, the list is taken apart, and what both were
/// given is released.
TEST(DirectTensors, OfAListThatIsTakenApartBehindCallsThatRunAtTheSameTime) {
  expect_direct_like_the_reference(
      "fn step(a: f32[2], b: f32[2]) -> f32[2] = sin(a)\n"
      "fn inner(x: List[f32], c: f32[2]) -> f32[2] = sin(c)\n"
      "fn outside(x: List[f32], c: f32[2]) -> f32[2] = inner(x, c)\n"
      "fn f(xs: List[f32[2]]) -> f32[2] =\n"
      "  match xs\n"
      "    Nil -> [0.5, 0.5]\n"
      "    Cons(x, rest) ->\n"
      "      let looped = with v: f32[2] = x + x for i in 0..2 do tanh(fold(step, x, xs))\n"
      "      outer(x, outside(Cons[f32](1.25, Nil[f32]), x))[0] + looped\n"
      "fn main(x: f32[2]) -> f32[2] = f(Cons(x, Nil))\n",
      {tensor("[1, 2]")});
}

TEST(DirectTensors, OfShapesThatOnlyTheRunKnows) {
  const std::string text =
      "fn halves(x: f64[_]) -> f64[_] =\n"
      "  if size(x, axis=0) <= 1 then x * 2\n"
      "  else\n"
      "    let pairs = reshape(x, shape=[-1, 2])\n"
      "    concat(halves(take(pairs, axis=1, index=0)), halves(take(pairs, axis=1, index=1) + 1), axis=0)\n"
      "fn main(x: f64[_], y: f64[_, _]) -> (f64[_], f64[_, _], f64) =\n"
      "  (halves(x), matmul(y, transpose(y)) * x[0], sum(reshape(y, shape=[-1])))\n";
  const Value matrix =
      parse_value(Type(DType::F64, {unknown_dim(), unknown_dim()}), "[[1, 2, 3], [4, 5, 6]]");
  expect_direct_like_the_reference(text, {tensor("[1, 2, 3, 4, 5, 6, 7, 8]", DType::F64), matrix});
}

TEST(DirectTensors, ThatAreResultsAndArguments) {
  expect_direct_like_the_reference(
      "fn main(x: f32[_]) -> (f32[_], f32[_], f32[1, _]) = (x, x, reshape(x, shape=[1, -1]))\n",
      {tensor("[1, 2, 3]")});
  expect_direct_like_the_reference(
      "fn main(x: f32[_]) -> (f32[_], f32[3, 1]) = let y = x + x\n"
      "  (y, reshape(y, shape=[3, 1]))\n",
      {tensor("[1, 2, 3]")});
  Value kept;
  {
    const Program program =
        Program::from_text("test.hia", "fn main(x: f32[_]) -> f32[_, 1] = reshape(x * 2, shape=[-1, 1])\n");
    kept = run_directly(program, {tensor("[1, 2]")}, {.batching = false})[0];
  }
  EXPECT_EQ(to_string(kept), "[[2.0], [4.0]]");
  std::thread([value = std::move(kept)]() mutable { value = Value(); }).join();
}

TEST(DirectTensors, InLoopsAndBranches) {
  const std::string text =
      "fn step(x: f32[2], i: i64) -> f32[2] = if i % 3 == 0 then x else if i % 3 == 1 then x * 0.5 else [1, "
      "2]\n"
      "fn main(n: i64, x: f32[2]) -> (f32[2], f32[2], f32) =\n"
      "  let (a, b) = with a = x, b = x + 1 for i in 0..n do (b, if i % 2 == 0 then a + b else step(a, "
      "i))\n"
      "  let c = with c = 0f32 for i in 0..n do c + sum(step(a, i))\n"
      "  (a, with d = b while sum(d) < 100 do d * d + 2, c)\n";
  for (const int64_t n : {0, 1, 2, 5, 30})
    expect_direct_like_the_reference(text, {Value(n), tensor("[1, 2]")});
}

TEST(DirectTensors, InDataValuesAndLists) {
  const std::string text =
      "data Tree = Leaf(x: f32[2]) | Node(left: Tree, right: Tree, x: f32[2])\n"
      "fn grown(n: i64, x: f32[2]) -> Tree =\n"
      "  if n == 0 then Leaf(x) else Node(grown(n - 1, x + 1), grown(n - 1, x), x * 2)\n"
      "fn value(t: Tree) -> f32[2] = match t\n"
      "  Leaf(x) -> x\n"
      "  Node(l, r, x) -> value(l) * 0.5 + value(r) - x\n"
      "fn flipped(t: Tree) -> Tree = match t\n"
      "  Leaf(x) -> Leaf(-x)\n"
      "  Node(l, r, x) -> Node(flipped(r), flipped(l), x)\n"
      "fn last(xs: List[f32[2]], otherwise: f32[2]) -> f32[2] = match xs\n"
      "  Nil -> otherwise\n"
      "  Cons(x, rest) -> last(rest, x)\n"
      "fn main(n: i64, x: f32[2]) -> (f32[2], f32[2], Tree, f32[2]) =\n"
      "  let t = grown(n, x)\n"
      "  let u = flipped(t)\n"
      "  (value(t), value(u), u, last([x, value(t), x + x], x))\n";
  for (const int64_t n : {0, 1, 7}) expect_direct_like_the_reference(text, {Value(n), tensor("[1, 2]")});
}

TEST(DirectTensors, WithLearnedParameters) {
  expect_direct_like_the_reference(
      "param w: f32[2, 2] = normal(0.5)\n"
      "param bias: f32[1] = normal(0.5)\n"
      "fn net(n: i64, x: f32[2]) -> f32[2] =\n"
      "  if n <= 0 then w[0] else tanh(matmul(net(n - 1, x) + net(n - 2, x), w) + bias)\n"
      "fn main(n: i64, x: f32[2]) -> (f32[2], f32[2, 2], f32[1]) = (net(n, x), w, bias)\n",
      {Value(int64_t{8}), tensor("[1, 2]")});
}

/// The address of the empty field is an argument behind the parameters of the function, where no learned
/// parameter of the program may stand.
TEST(DirectTensors, WithLearnedParametersInTailCallsModuloConstructor) {
  expect_direct_like_the_reference(
      "param w: f32[2] = normal(0.5)\n"
      "fn scaled(xs: List[f32[2]]) -> List[f32[2]] = match xs\n"
      "  Nil -> Nil\n"
      "  Cons(x, rest) -> Cons(x * w, scaled(rest))\n"
      "fn made(n: i64, x: f32[2]) -> List[f32[2]] = if n == 0 then [w] else Cons(x + f32(n), made(n - 1, "
      "x))\n"
      "fn main(n: i64, x: f32[2]) -> List[f32[2]] = scaled(made(n, x))\n",
      {Value(int64_t{20}), tensor("[1, 2]")});
}

/// A value that moves to another worker takes along tensors, and views, that others refer to.
TEST(DirectTensors, InDataValuesThatMoveToAnotherWorker) {
  const Program program = Program::from_text(
      "test.hia",
      "data Tree = Leaf(x: i64[2]) | Node(left: Tree, right: Tree)\n"
      "fn grown(n: i64, x: i64[2]) -> Tree =\n"
      "  if n == 0 then Leaf(x)\n"
      "  else Node(grown(n - 1, x), grown(n - 1, reshape(reshape(x, shape=[1, 2]), shape=[2])))\n"
      "fn changed(t: Tree, k: i64) -> Tree = match t\n"
      "  Leaf(x) -> Leaf((x + k) % 1000)\n"
      "  Node(l, r) -> if k % 3 == 0 then Node(r, changed(l, k + 1)) else Node(changed(l, k + 1), changed(r, "
      "k))\n"
      "fn value(t: Tree) -> i64[2] = match t\n"
      "  Leaf(x) -> x\n"
      "  Node(l, r) -> (value(l) * 3 + value(r)) % 1000\n"
      "fn main(n: i64, x: i64[2]) -> i64[2] = value(changed(changed(grown(n, x + 1), 1), n))\n");
  const std::vector<Value> arguments{Value(int64_t{9}), tensor("[1, 2]", DType::I64)};
  const std::vector<Value> expected = run_directly(program, arguments, {.batching = false});
  EXPECT_EQ(expected, program.run(arguments, {.executor = Executor::Reference}).values);
  for (int i = 0; i < 10; ++i) {
    for (const int workers : {2, 8}) {
      for (const bool all : {false, true}) {
        EXPECT_EQ(run_directly(program, arguments,
                               {.workers = workers, .batching = false, .share_every_call = all}),
                  expected);
      }
    }
  }
}

TEST(DirectTensors, FaultsAreThoseOfTheReference) {
  const std::string text =
      "fn deep(n: i64, x: i64[_], y: i64[_]) -> i64[_] =\n"
      "  if n == 0 then x / y else deep(n - 1, x + 1, y) + deep(n - 1, x, y - 1)\n"
      "fn main(n: i64, x: i64[_], y: i64[_], at: i64) -> (i64[_], i64) = (deep(n, x, y), x[at])\n";
  const Program program = Program::from_text("test.hia", text);
  const Value x = tensor("[6, 7]", DType::I64);
  const std::vector<std::vector<Value>> all{
      {Value(int64_t{3}), x, tensor("[2, 3]", DType::I64), Value(int64_t{0})},
      {Value(int64_t{2}), x, tensor("[9, 9, 9]", DType::I64), Value(int64_t{0})},
      {Value(int64_t{2}), x, tensor("[9, 9]", DType::I64), Value(int64_t{7})},
  };
  for (const std::vector<Value>& arguments : all) {
    const RunError expected = error_of(program, arguments, {.executor = Executor::Reference});
    ASSERT_NE(expected.fault(), Fault::None);
    for (const int workers : {1, 2, 8}) {
      RunStats stats;
      const RunError found =
          error_of(program, arguments,
                   {.workers = workers, .stats = &stats, .batching = false, .checks_counts = true});
      EXPECT_EQ(found.fault(), expected.fault());
      if (workers == 1) {
        EXPECT_EQ(found.message(), expected.message());
      }
      EXPECT_EQ(stats.values_live_at_end, 0u);
      EXPECT_EQ(stats.frames_live_at_end, 0u);
    }
  }
}

TEST(DirectTensors, BudgetsEndARunAnywhere) {
  const Program program = Program::from_text(
      "test.hia",
      "fn all(n: i64, x: f32[_]) -> List[f32[_]] = if n == 0 then Nil else Cons(x + f32(n), all(n - 1, x))\n"
      "fn total(xs: List[f32[_]], so_far: f32) -> f32 = match xs\n"
      "  Nil -> so_far\n"
      "  Cons(x, rest) -> total(rest, so_far + sum(x))\n"
      "fn main(n: i64, x: f32[_]) -> f32 = total(all(n, x), 0) + total(all(n, x), 0)\n");
  const std::vector<Value> arguments{Value(int64_t{3000}), tensor("[1, 2, 3]")};
  int ended = 0;
  for (const int workers : {1, 2}) {
    for (uint64_t bytes = 1 << 10; bytes < (1 << 23); bytes *= 2) {
      RunStats stats;
      const RunError error = error_of(program, arguments,
                                      {.workers = workers,
                                       .max_bytes = bytes,
                                       .stats = &stats,
                                       .batching = false,
                                       .checks_counts = true});
      if (error.fault() != Fault::None) {
        EXPECT_EQ(error.fault(), Fault::MaxBytes) << error.what();
        ++ended;
      }
      EXPECT_EQ(stats.values_live_at_end, 0u);
      EXPECT_EQ(stats.frames_live_at_end, 0u);
    }
  }
  EXPECT_GE(ended, 8);
}

TEST(DirectTensors, AnOperandThatNobodyNeedsIsTheResult) {
  const Program program = Program::from_text(
      "test.hia", "fn main(n: i64, x: f32[_]) -> f32[_] = with h = x * 2 for _ in 0..n do tanh(h + h) - h\n");
  constexpr int64_t kSize = sized(1 << 20, 1 << 14);
  const Value large(Tensor(DType::F32, {kSize}));
  for (const int64_t n : {3, 300}) {
    RunStats stats;
    run_directly(program, {Value(n), large}, {.batching = false});
    program.run({{Value(n), large}}, {.stats = &stats, .batching = false});
    EXPECT_LE(stats.bytes, 3 * 4 * kSize + (1 << 16)) << n;
  }
}

TEST(DirectTensors, StolenCallsCountRight) {
  const Program program = Program::from_text("test.hia", kFibText);
  const std::vector<Value> arguments{Value(int64_t{17}), tensor("[1, 2]")};
  const std::vector<Value> expected = run_directly(program, arguments, {.batching = false});
  for (int i = 0; i < sized(30, 5); ++i) {
    for (const int workers : {2, 3, 8}) {
      EXPECT_EQ(run_directly(program, arguments, {.workers = workers, .batching = false}), expected);
    }
  }
}

/// Whether a run, or one of so many examples, has launches: it is in flow.
bool is_in_flow(const std::string& text, const std::vector<Value>& arguments, int workers,
                std::size_t examples = 1) {
  const Program program = Program::from_text("test.hia", text);
  const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
  RunStats stats;
  program.run_all(std::vector(examples, arguments),
                  {.workers = workers, .count_regions = true, .stats = &stats, .parameters = learned});
  return std::ranges::any_of(stats.regions, [](const RegionStats& one) { return one.launches > 0; });
}

TEST(DirectTensors, RunWhereNothingIsGainedByBatches) {
  const std::vector<Value> arguments{Value(int64_t{4}), tensor("[1, 2]")};
  for (const int workers : {1, 2}) {
    // Calls that can be shared, also of many examples.
    EXPECT_FALSE(is_in_flow(kFibText, arguments, workers));
    EXPECT_FALSE(is_in_flow(kFibText, arguments, workers, 20));
    // One chain has only one example.
    const std::string chain =
        "fn main(n: i64, x: f32[2]) -> f32[2] = with h = x for _ in 0..n do tanh(h + 0.5)\n";
    EXPECT_FALSE(is_in_flow(chain, arguments, workers));
    EXPECT_TRUE(is_in_flow(chain, arguments, workers, 20));
    // Products, where all instances have one operand together.
    const std::string product =
        "fn cell(n: i64, x: f32[2], w: f32[2, 2]) -> f32[2] =\n"
        "  if n <= 0 then x else tanh((cell(n - 1, x, w) + cell(n - 2, x, w)) @ w)\n";
    EXPECT_FALSE(is_in_flow(product + "fn main(n: i64, x: f32[2]) -> f32[2] = cell(n, x, outer(x, x))\n",
                            arguments, workers));
    EXPECT_TRUE(
        is_in_flow("param w: f32[2, 2] = normal(1)\n"
                   "fn main(n: i64, x: f32[2]) -> f32[2] = if n <= 0 then x else tanh(x @ w)\n",
                   arguments, workers));
    EXPECT_TRUE(
        is_in_flow("fn main(n: i64, x: f32[2]) -> f32[2] = x @ [[1f32, 2], [3, 4]]\n", arguments, workers));
    // Large launches, which several workers share.
    EXPECT_TRUE(is_in_flow("fn main(n: i64, x: f32[2]) -> f32 = sum(broadcast_to(sum(x), shape=[200000]))\n",
                           arguments, workers));
    EXPECT_EQ(is_in_flow("fn main(n: i64, x: f32[_]) -> f32[_] = tanh(x)\n", arguments, workers),
              workers > 1);
  }
}

TEST(DirectTensors, ProgramsOfSeveralPhasesRunInFlow) {
  const Program program =
      Program::from_text("test.hia",
                         "fn f(n: i64, x: f32[2]) -> f32 = if n == 0 then sum(x * x) else f(n - 1, x * 0.5)\n"
                         "fn main(n: i64, x: f32[2]) -> f32[2] = grad(f)(n, x)\n");
  RunStats stats;
  const std::vector<Value> arguments{Value(int64_t{4}), tensor("[1, 2]")};
  const std::vector<Value> values =
      program.run(arguments, {.count_regions = true, .stats = &stats, .batching = false}).values;
  EXPECT_EQ(values, program.run(arguments, {.executor = Executor::Reference}).values);
  EXPECT_EQ(stats.fallback, "");
  EXPECT_TRUE(std::ranges::any_of(stats.regions, [](const RegionStats& one) { return one.launches > 0; }));
}

/// Large enough that idle workers take parts of its launches.
constexpr int64_t kLargeSize = sized(300'000, 600);

TEST(LargeLaunches, InDirectCodeHaveTheBitsOfOneWorker) {
  const char* text =
      "fn numbers(n: i64) -> i64[_] = if n == 1 then [0] else let half = numbers(n / 2) concat(half, half + "
      "n / "
      "2, axis=0)\n"
      "fn turned(x: f64[_], by: f64, depth: i64) -> f64[_] =\n"
      "  if depth == 0 then tanh(x * by) * cos(x) + sin(x * x)\n"
      "  else\n"
      "    let pairs = reshape(x, shape=[-1, 2])\n"
      "    let a = turned(take(pairs, axis=1, index=0), by, depth - 1)\n"
      "    let b = turned(take(pairs, axis=1, index=1), by + 1.0, depth - 1)\n"
      "    concat(a - b, a / (b * b + 1.0), axis=0)\n"
      "fn main(n: i64, by: f64) -> (f64[_], f64[_], bool[_], f64) =\n"
      "  let i = numbers(n)\n"
      "  let x = f64(i * 7919 % 1009) / 1009.0\n"
      "  let table = reshape(x, shape=[-1, 4])\n"
      "  let scaled = reshape(table * [1.0, 0.5, 2.0, 3.0] + slice(table, axis=1, start=0, length=1), "
      "shape=[-1])\n"
      "  (turned(x, by, 2), scaled, x > 0.5, sum(x))\n";
  const Program program = Program::from_text("large.hia", text);
  int64_t size = 1;
  while (size < kLargeSize) size *= 2;
  const std::vector<Value> arguments{Value(size), Value(0.25)};
  const std::vector<Value> alone = run_directly(program, arguments, {.workers = 1, .batching = false});
  for (const int workers : {2, 4}) {
    for (int turn = 0; turn < 5; ++turn)
      EXPECT_EQ(run_directly(program, arguments, {.workers = workers, .batching = false}), alone);
  }
}

/// The first element that fails decides, also where another thread finds a later one first.
TEST(LargeLaunches, HaveTheFaultOfTheFirstElement) {
  CompileOptions trapping;
  trapping.simplify.overflow = OverflowMode::Trap;
  const Program program = Program::from_text(
      "large.hia",
      "fn numbers(n: i64) -> i64[_] = if n == 1 then [0] else let half = numbers(n / 2) concat(half, half + "
      "n / "
      "2, axis=0)\n"
      "fn main(n: i64, a: i64, b: i64) -> i64[_] =\n"
      "  let i = numbers(n)\n"
      "  where(i == a, i * 0 - 9223372036854775807 - 1, i) / where(i == a, i * 0 - 1, i - b)\n",
      trapping);
  int64_t size = 1;
  while (size < kLargeSize) size *= 2;
  for (const auto& [a, b, expected] : {std::tuple(size / 3, 2 * size / 3, Fault::Overflow),
                                       {2 * size / 3, size / 3, Fault::DivisionByZero}}) {
    for (const int workers : {1, 2, 4}) {
      if (!has_to_run(workers)) continue;
      RunOptions options{.workers = workers, .batching = false};
      EXPECT_EQ(error_of(program, {Value(size), Value(a), Value(b)}, options).fault(), expected);
    }
  }
}

}  // namespace
}  // namespace hiaton
