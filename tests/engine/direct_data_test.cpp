// Data values in direct code: what a run keeps alive, that it counts right on every way out, and that nobody
// sees a value change.
#include <gtest/gtest.h>

#include <thread>

#include "engine/checked_run.h"
#include "sized.h"

namespace hiaton {
namespace {

constexpr const char* kLists = R"(
fn made(n: i64) -> List[i64] = if n == 0 then Nil else Cons(n % 7, made(n - 1))
fn joined(xs: List[i64], ys: List[i64]) -> List[i64] =
  match xs
    Nil -> ys
    Cons(x, rest) -> Cons(x, joined(rest, ys))
fn more(xs: List[i64]) -> List[i64] =
  match xs
    Nil -> Nil
    Cons(x, rest) -> Cons(x + 1, more(rest))
fn merged(a: List[i64], b: List[i64]) -> List[i64] =
  match a
    Nil -> b
    Cons(x, xs) ->
      match b
        Nil -> a
        Cons(y, ys) -> if x <= y then Cons(x, merged(xs, b)) else Cons(y, merged(a, ys))
fn halves(xs: List[i64], a: List[i64], b: List[i64]) -> (List[i64], List[i64]) =
  match xs
    Nil -> (a, b)
    Cons(x, rest) -> halves(rest, Cons(x, b), a)
fn sorted(xs: List[i64]) -> List[i64] =
  match xs
    Nil -> Nil
    Cons(x, rest) ->
      match rest
        Nil -> xs
        Cons(_, _) ->
          let (a, b) = halves(xs, Nil, Nil)
          merged(sorted(a), sorted(b))
fn total(xs: List[i64], weight: i64, so_far: i64) -> i64 =
  match xs
    Nil -> so_far
    Cons(x, rest) -> total(rest, weight + 1, so_far + weight * x)
)";

Program lists(const std::string& main) {
  return Program::from_text("lists.hia", kLists + main);
}

constexpr const char* kTrees = R"(
data Tree = Empty | Node(left: Tree, key: i64, right: Tree)
fn inserted(t: Tree, key: i64) -> Tree =
  match t
    Empty -> Node(Empty, key, Empty)
    Node(left, here, right) ->
      if key < here then Node(inserted(left, key), here, right)
      else if key > here then Node(left, here, inserted(right, key))
      else t
fn filled(t: Tree, n: i64, seed: i64) -> Tree =
  if n == 0 then t else filled(inserted(t, seed % 1000), n - 1, (seed * 1103515245 + 12345) % 2147483648)
fn count(t: Tree) -> i64 =
  match t
    Empty -> 0
    Node(left, _, right) -> count(left) + 1 + count(right)
fn doubled(t: Tree) -> Tree =
  match t
    Empty -> Empty
    Node(left, key, right) -> Node(doubled(left), 2 * key, doubled(right))
fn sum(t: Tree) -> i64 =
  match t
    Empty -> 0
    Node(left, key, right) -> sum(left) + key + sum(right)
)";

Program trees(const std::string& main) {
  return Program::from_text("trees.hia", kTrees + main);
}

TEST(DirectData, TailCallsModuloConstructorTakeNoFrames) {
  for (const std::string name :
       {"made(n)", "joined(made(n), made(n))", "more(made(n))", "merged(made(n), made(n))"}) {
    const Program program = lists("fn main(n: i64) -> i64 = total(" + name + ", 1, 0)");
    EXPECT_EQ(run(program, {Value(int64_t{40})}).values,
              program.run({{Value(int64_t{40})}}, {.executor = Executor::Reference}).values);
    for (const int workers : {1, 2}) {
      if (!has_to_run(workers)) continue;
      const RunResult few = run(program, {Value(int64_t{10})}, {.workers = workers});
      const RunResult many = run(program, {Value(sized<int64_t>(300'000, 60'000))}, {.workers = workers});
      EXPECT_LE(few.stats.frames_live_most, 10u) << name;
      EXPECT_LE(many.stats.frames_live_most, 10u * static_cast<uint64_t>(workers)) << name;
    }
  }
}

TEST(DirectData, ACallThatFillsAFieldGivesItsResult) {
  const std::string text =
      "data Option = None | Some(value: i64)\n"
      "fn times5(x: i64) -> i64 = x * 5\n"
      "fn least(x: i64, y: i64) -> i64 = if x < y then x - 1 else y - 1\n"
      "fn inner(n: i64) -> Option = if n < 0 then None else Some(times5(n))\n"
      "fn outer(n: i64) -> List[Option] = if n < 0 then Nil else Cons(Some(least(n, 3)), Cons(inner(n), "
      "Nil))\n"
      "fn main(n: i64) -> (Option, List[Option]) = (inner(n), outer(n))\n";
  for (const bool simplified : {true, false}) {
    CompileOptions how;
    if (!simplified) how.simplify = passes::SimplifyOptions::none();
    const Program program = Program::from_text("holes.hia", text, how);
    for (const int64_t n : {-1, 2, 4}) {
      const std::vector<Value> expected = program.run({{Value(n)}}, {.executor = Executor::Reference}).values;
      for (const RunOptions& way : worker_ways()) EXPECT_EQ(run(program, {Value(n)}, way).values, expected);
    }
  }
}

TEST(DirectData, WhatNobodyElseHoldsIsRebuiltInItsMemory) {
  const Program once = lists("fn main(n: i64) -> i64 = total(more(made(n)), 1, 0)");
  const Program often = lists("fn main(n: i64) -> i64 = total(more(more(more(more(made(n))))), 1, 0)");
  const Value n(int64_t{400'000});
  const uint64_t bytes = run(once, {n}).stats.bytes;
  EXPECT_LE(run(often, {n}).stats.bytes, bytes + (64 << 10));
  // 24 bytes an element; memory is taken from the system in larger and larger pieces.
  EXPECT_LE(bytes, 400'000u * 40 + (1 << 20));
}

TEST(DirectData, AValueThatSomebodyHoldsStaysAsItIs) {
  const Program program = trees(
      "fn main(n: i64) -> (i64, i64, i64) =\n"
      "  let t = filled(Empty, n, 42)\n"
      "  let more = inserted(t, 5000)\n"
      "  let twice = doubled(t)\n"
      "  (sum(t), sum(more) - sum(t), sum(twice) - sum(t))");
  const std::vector<Value> arguments{Value(int64_t{60})};
  const std::vector<Value> expected = program.run(arguments, {.executor = Executor::Reference}).values;
  EXPECT_EQ(expected[1], Value(int64_t{5000}));
  for (const RunOptions& way : worker_ways()) EXPECT_EQ(run(program, arguments, way).values, expected);
}

TEST(DirectData, AConstantBesideAResultTakesNoSlotOfIt) {
  const Program program =
      Program::from_text("test.hia",
                         "data Tree = Tip | Node(left: Tree, right: Tree)\n"
                         "fn f(n: i64, t: Tree) -> (Tree, i64) =\n"
                         "  if n <= 0 then (Node(t, t), 5) else\n"
                         "    let (a, x) = f(n - 1, Node(t, Tip))\n"
                         "    (Node(a, t), x)\n"
                         "fn size(t: Tree) -> i64 = match t Tip -> 1 Node(a, b) -> size(a) + size(b)\n"
                         "fn main(n: i64) -> i64 =\n"
                         "  let (t, x) = f(n, Tip)\n"
                         "  size(t) * x\n");
  const std::vector<Value> arguments{Value(int64_t{4})};
  const std::vector<Value> expected = program.run(arguments, {.executor = Executor::Reference}).values;
  for (const RunOptions& way : worker_ways()) EXPECT_EQ(run(program, arguments, way).values, expected);
}

/// A field that only its own fields are needed of is taken apart on both sides of a branch.
TEST(DirectData, FieldsOfFieldsOnOneSideOfABranch) {
  const Program program =
      Program::from_text("test.hia",
                         "data T = A | B(a: T, b: T, c: T) | C(a: T, b: T, c: T, d: T)\n"
                         "fn f(t: T, k: i64) -> T =\n"
                         "  match t\n"
                         "    B(p, C(q, _, r, s), u) -> C((if k % 2 == 0 then p else q), f(u, k + 1), s, r)\n"
                         "    _ -> t\n"
                         "fn g(t: T, k: i64) -> T =\n"
                         "  match t\n"
                         "    B(p, C(_, _, r, s), u) -> C((if k % 2 == 0 then p else A), g(u, k + 1), s, r)\n"
                         "    _ -> A\n"
                         "fn main(n: i64) -> (T, T) =\n"
                         "  let t = B(C(A, A, A, A), C(A, B(A, A, A), A, A), B(A, A, C(A, A, A, A)))\n"
                         "  (f(t, n), g(t, n))\n");
  for (const int64_t n : {0, 1}) {
    const std::vector<Value> expected = program.run({{Value(n)}}, {.executor = Executor::Reference}).values;
    for (const RunOptions& way : worker_ways()) EXPECT_EQ(run(program, {Value(n)}, way).values, expected);
  }
}

TEST(DirectData, ArgumentsAndResultsBelongToTheCaller) {
  Value grown;
  {
    const Program program = trees("fn main(t: Tree, key: i64) -> Tree = inserted(t, key)");
    grown = parse_value(program.parameters()[0].type, "Empty");
    for (int64_t key = 0; key < 200; ++key) {
      const Value before = grown;
      const std::string text = to_string(before, program.parameters()[0].type);
      grown = run(program, {before, Value(key * 37 % 199)}).values[0];
      EXPECT_EQ(to_string(before, program.parameters()[0].type), text);
    }
  }
  const Program count = trees("fn main(t: Tree) -> i64 = count(t)");
  EXPECT_EQ(run(count, {grown}).values[0], Value(int64_t{199}));
  std::thread([value = std::move(grown)]() mutable { value = Value(); }).join();
}

TEST(DirectData, NothingIsLeftWhereverARunFails) {
  // The element that is divided by stands anywhere in the list.
  const Program program = lists(
      "fn divided(xs: List[i64], at: i64) -> List[i64] =\n"
      "  match xs\n"
      "    Nil -> Nil\n"
      "    Cons(x, rest) -> Cons(x / at, divided(rest, at - 1))\n"
      "fn main(n: i64, at: i64) -> i64 =\n"
      "  let xs = sorted(made(n))\n"
      "  total(divided(xs, at), 1, 0) + total(xs, 1, 0)");
  for (const RunOptions& way : worker_ways()) {
    for (int64_t at = 0; at < 40; ++at) {
      EXPECT_EQ(fault_of(program, {Value(int64_t{40}), Value(at)}, way), Fault::DivisionByZero) << at;
    }
  }
}

TEST(DirectData, NothingIsLeftWhereverAStolenCallFails) {
  // Each leaf of a tree of calls, in turn, divides by zero; all of them hold lists that others hold as well.
  const Program program = lists(
      "fn tree(depth: i64, number: i64, bad: i64, xs: List[i64]) -> List[i64] =\n"
      "  if depth == 0 then Cons(100 / (number - bad), xs)\n"
      "  else joined(tree(depth - 1, number * 2, bad, Cons(depth, xs)), tree(depth - 1, number * 2 + 1, bad, "
      "xs))\n"
      "fn main(depth: i64, bad: i64) -> i64 = total(tree(depth, 1, bad, made(5)), 1, 0)");
  for (const RunOptions& way : worker_ways()) {
    for (int64_t bad = 16; bad < 32; ++bad) {
      EXPECT_EQ(fault_of(program, {Value(int64_t{4}), Value(bad)}, way), Fault::DivisionByZero) << bad;
    }
    EXPECT_EQ(fault_of(program, {Value(int64_t{4}), Value(int64_t{0})}, way), Fault::None);
  }
}

TEST(DirectData, NothingIsLeftWhereverTheFramesEnd) {
  const Program program = lists("fn main(n: i64) -> i64 = total(sorted(made(n)), 1, 0)");
  for (RunOptions way : worker_ways()) {
    Fault fault = Fault::MaxFrames;
    for (way.max_frames = 1; fault == Fault::MaxFrames && way.max_frames < 1000; ++way.max_frames) {
      fault = fault_of(program, {Value(int64_t{60})}, way);
    }
    EXPECT_EQ(fault, Fault::None);
  }
}

TEST(DirectData, NothingIsLeftWhereverABudgetEnds) {
  const Program program = lists("fn main(n: i64) -> i64 = total(sorted(made(n)), 1, 0)");
  for (RunOptions way : worker_ways()) {
    const std::vector<Value> few{Value(int64_t{way.share_every_call ? 500 : 10'000})};
    // Memory is taken from the system in multiples of this, so every budget that ends a run somewhere else is
    // tried.
    constexpr uint64_t kStep = uint64_t{16} << 10;
    Fault fault = Fault::MaxBytes;
    for (way.max_bytes = kStep; fault == Fault::MaxBytes && way.max_bytes < (1 << 24); way.max_bytes += kStep)
      fault = fault_of(program, few, way);
    EXPECT_EQ(fault, Fault::None);
  }
}

TEST(DirectData, StolenCallsCountRight) {
  const Program sort = lists("fn main(n: i64) -> i64 = total(sorted(made(n)), 1, 0)");
  const Program tree = trees(
      "fn main(n: i64) -> i64 =\n"
      "  let t = filled(Empty, n, 7)\n"
      "  sum(doubled(doubled(t))) + count(doubled(t)) + sum(t)");
  const std::vector<Value> arguments{Value(int64_t{3000})};
  const std::vector<Value> sorted = run(sort, arguments).values;
  const std::vector<Value> summed = run(tree, arguments).values;
  for (int i = 0; i < sized(20, 4); ++i) {
    for (const int workers : {2, 3, 8}) {
      EXPECT_EQ(run(sort, arguments, {.workers = workers}).values, sorted);
      EXPECT_EQ(run(tree, arguments, {.workers = workers}).values, summed);
    }
  }
}

TEST(DirectData, NobodyGoesOnWithoutTheResultsOfACallThatFailed) {
  const Program program = Program::from_text(
      "chains.hia",
      "data Chain = Link(value: i64, next: Chain) | End\n"
      "fn broken(n: i64) -> Chain = if n <= 0 then Link(1 / n, End) else Link(n, broken(n - 1))\n"
      "fn whole(n: i64) -> Chain = if n <= 0 then Link(1, End) else Link(n, whole(n - 1))\n"
      "fn second(chain: Chain) -> i64 =\n"
      "  match chain\n"
      "    Link(_, Link(value, _)) -> value\n"
      "    _ -> 0\n"
      "fn both(n: i64) -> i64 =\n"
      "  let left = broken(n)\n"
      "  let right = whole(2 * n)\n"
      "  second(left) + second(right)\n"
      "fn main(n: i64) -> i64 = both(n)\n");
  for (int i = 0; i < sized(500, 100); ++i) {
    const std::vector<Value> few{Value(int64_t{i % 20})};
    EXPECT_EQ(fault_of(program, few, {.workers = 2 + i % 3, .share_every_call = true}),
              Fault::DivisionByZero);
  }
}

TEST(DirectData, EveryCallCanBeStolen) {
  const Program sort = lists("fn main(n: i64) -> i64 = total(sorted(made(n)), 1, 0)");
  const Program tree = trees(
      "fn main(n: i64) -> i64 =\n"
      "  let t = filled(Empty, n, 7)\n"
      "  sum(doubled(doubled(t))) + count(doubled(t)) + sum(t)");
  for (const Program* program : {&sort, &tree}) {
    const std::vector<Value> arguments{Value(int64_t{200})};
    const std::vector<Value> expected = run(*program, arguments).values;
    for (const int workers : {2, 8}) {
      const RunResult result = run(*program, arguments, {.workers = workers, .share_every_call = true});
      EXPECT_EQ(result.values, expected);
      EXPECT_GT(result.stats.steals, 0u);
    }
  }
}

TEST(DirectData, LongListsAreFreedWithoutRecursion) {
  const Program program = lists("fn main(n: i64) -> List[i64] = more(made(n))");
  Value list = run(program, {Value(sized<int64_t>(1'000'000, 300'000))}).values[0];
  const Program measured = lists("fn main(xs: List[i64]) -> i64 = total(xs, 0, 0)");
  EXPECT_GT(run(measured, {list}).values[0].as<int64_t>(), 0);
  list = Value();
}

TEST(DirectData, ValuesOfManyFieldsAndVariants) {
  std::string fields, sum, arguments;
  for (int i = 0; i < 40; ++i) {
    fields += (i > 0 ? ", f" : "f") + std::to_string(i) + (i % 3 == 0 ? ": List[i64]" : ": i64");
    arguments += (i > 0 ? ", " : "") + std::string(i % 3 == 0 ? "Cons(n, Nil)" : "n + " + std::to_string(i));
    sum += (i > 0 ? ", a" : "a") + std::to_string(i);
  }
  const Program program = Program::from_text(
      "wide.hia",
      "data Wide = None | Wide(" + fields + ") | Other(n: i64)\n" +
          "fn made(n: i64) -> Wide = if n % 3 == 0 then None else if n % 3 == 1 then Other(n) else Wide(" +
          arguments + ")\n" + "fn value(w: Wide) -> i64 =\n  match w\n    None -> 1\n    Wide(" + sum +
          ") -> a1 + a5 + a38 + (match a3 Cons(x, _) -> x Nil -> 0)\n    Other(n) -> n\n" +
          "fn main(n: i64) -> i64 = if n == 0 then 0 else value(made(n)) + main(n - 1)");
  const std::vector<Value> arguments_of_main{Value(int64_t{30})};
  EXPECT_EQ(run(program, arguments_of_main).values,
            program.run(arguments_of_main, {.executor = Executor::Reference}).values);
}

TEST(DirectData, ConstantsAreReturnedBesideValuesThatWereJustMade) {
  const Program program = Program::from_text(
      "beside.hia",
      "fn main(n: i64) -> (i64, List[i64], i64) = if n > 3 then (1, Nil, n) else (0, Cons(n, Nil), 0)");
  for (const int64_t n : {1, 5}) {
    const std::vector<Value> arguments{Value(n)};
    EXPECT_EQ(run(program, arguments).values,
              program.run(arguments, {.executor = Executor::Reference}).values);
  }
}

TEST(DirectData, RunAllTakesTheSameWay) {
  const Program program = lists("fn main(n: i64) -> i64 = total(sorted(made(n)), 1, 0)");
  std::vector<std::vector<Value>> many;
  for (int64_t n = 0; n < sized(50, 15); ++n) many.push_back({Value(n)});
  for (const int workers : {1, 2, 30}) {
    RunStats stats;
    const auto together = program.run_all(many, {.workers = workers, .stats = &stats, .checks_counts = true});
    EXPECT_EQ(stats.values_live_at_end, 0u);
    for (std::size_t i = 0; i < many.size(); ++i) {
      EXPECT_EQ(together[i], program.run(many[i], {.executor = Executor::Reference}).values);
    }
  }
}

TEST(DirectData, RunAllHasOneTimeForAllRunsAndTellsTheFirstError) {
  const Program endless = Program::from_text("endless.hia",
                                             "fn f(n: i64) -> i64 = if n < 0 then n else f(n + 1) * 0 + n\n"
                                             "fn main(n: i64) -> i64 = f(10000000000 - n)");
  const Program divides = Program::from_text("divides.hia", "fn main(n: i64) -> i64 = 100 / (n - 7)");
  std::vector<std::vector<Value>> many;
  for (int64_t n = 0; n < 40; ++n) many.push_back({Value(n)});
  for (const int workers : {1, 2}) {
    try {
      endless.run_all(many, {.workers = workers, .timeout = std::chrono::milliseconds(50)});
      FAIL() << "expected the time to end";
    } catch (const RunError& error) {
      EXPECT_EQ(error.fault(), Fault::Timeout);
    }
    try {
      divides.run_all(many, {.workers = workers});
      FAIL() << "expected a division by zero";
    } catch (const RunError& error) {
      EXPECT_EQ(error.fault(), Fault::DivisionByZero);
    }
  }
}

TEST(DirectData, FlowCallsDirectFunctions) {
  const std::string text =
      std::string(kLists) +
      "fn main(x: f32[n], k: i64) -> (f32[n], List[i64]) =\n"
      "  let xs = sorted(made(k))\n"
      "  (x * f32(total(xs, 1, 0)) + f32(100 / k) * dot(reshape(x, shape=[2]), [1f32, 0]), more(xs))";
  const Program program = Program::from_text("mixed.hia", text);
  const std::vector<Value> arguments{parse_value(program.parameters()[0].type, "[1, 2]"), Value(int64_t{20})};
  const std::vector<Value> expected = program.run(arguments, {.executor = Executor::Reference}).values;
  for (const RunOptions& way : worker_ways()) {
    EXPECT_EQ(program.run(arguments, way).values, expected);
    EXPECT_EQ(fault_of(program, {arguments[0], Value(int64_t{0})}, way), Fault::DivisionByZero);
    EXPECT_EQ(program.run(arguments, way).values, expected) << "after an error";
  }
}

/// The product with a constant gains from batches, so that `main` is in flow.
constexpr const char* kFibBelowFlow =
    "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)\n"
    "fn main(x: f64[2], n: i64) -> f64[2] = x @ [[1, 0], [0, 1]] * f64(fib(n))";

TEST(DirectData, IdleWorkersOfFlowTakeCallsOfDirectCode) {
  const Program program = Program::from_text("mixed.hia", kFibBelowFlow);
  const Value x = parse_value(program.parameters()[0].type, "[1, 2]");
  RunStats stats;
  const RunOptions options{.workers = 2, .stats = &stats, .share_every_call = true};
  for (int i = 0; i < 1000 && stats.steals == 0; ++i) {  // the other worker may come late
    EXPECT_EQ(to_string(program.run({{x, Value(int64_t{20})}}, options).values[0]), "[10946.0, 21892.0]");
  }
  EXPECT_GT(stats.steals, 0u);
}

TEST(DirectData, RegionsBelowFlowAreCounted) {
  const Program program = Program::from_text("mixed.hia", kFibBelowFlow);
  const Value x = parse_value(program.parameters()[0].type, "[1, 2]");
  for (const int workers : {1, 2}) {
    RunStats stats;
    const RunOptions options{.workers = workers, .count_regions = true, .stats = &stats};
    program.run({{x, Value(int64_t{10})}}, options);
    EXPECT_EQ(stats.calls, 177u);
    uint64_t bodies = 0;
    uint64_t launches = 0;
    for (const RegionStats& region : stats.regions) {
      launches += region.launches;
      if (region.function == "fib" && region.name == "body") bodies += region.firings;
    }
    EXPECT_EQ(bodies, 177u);
    EXPECT_GT(launches, 0u);
  }
}

TEST(DirectData, TheTimeEndsCallsBelowFlow) {
  const Program program = Program::from_text("mixed.hia", kFibBelowFlow);
  const Value x = parse_value(program.parameters()[0].type, "[1, 2]");
  for (RunOptions way : worker_ways()) {
    way.timeout = std::chrono::milliseconds(20);
    EXPECT_EQ(fault_of(program, {x, Value(int64_t{80})}, way), Fault::Timeout);
  }
}

TEST(DirectData, AnErrorInDirectCodeTellsTheCallsOfFlowAsWell) {
  const Program program = Program::from_text(
      "mixed.hia",
      "fn f(n: i64) -> i64 = if n == 0 then 1 / n else f(n - 1) + 1\n"
      "fn g(x: f32[n], k: i64) -> f32[n] = if k == 9 then g(x, 2) + 1 else x * f32(f(k))\n"
      "fn main(x: f32[n]) -> f32[n] = g(x + 1, 2) + dot(reshape(x, shape=[2]), [1f32, 0])");
  try {
    program.run({{parse_value(program.parameters()[0].type, "[1, 2]")}}, {});
    FAIL() << "expected a division by zero";
  } catch (const RunError& error) {
    ASSERT_EQ(error.chain().size(), 5u) << error.what();
    EXPECT_EQ(error.chain()[0].function, "f");
    EXPECT_EQ(error.chain()[3].function, "g");
    EXPECT_EQ(error.chain()[4].function, "main");
  }
}

}  // namespace
}  // namespace hiaton
