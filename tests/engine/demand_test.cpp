// Demand-driven evaluation: what is not asked for is not computed, and what is asked for is computed once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/checked_run.h"
#include "engine/run_error.h"
#include "sized.h"

namespace hiaton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Demand : public testing::TestWithParam<Executor> {
 protected:
  static RunOptions options() {
    return {.executor = GetParam(), .evaluation = Evaluation::DemandDriven, .max_frames = 100'000};
  }
  /// By result, as text.
  static std::vector<std::string> results(const std::string& text, const std::vector<Value>& arguments) {
    const Program program = Program::from_text("test.hia", text);
    const RunResult result = run(program, arguments, options());
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < result.values.size(); ++i)
      texts.push_back(to_string(result.values[i], program.results()[i]));
    return texts;
  }
  static RunError error(const std::string& text, const std::vector<Value>& arguments) {
    RunStats stats;
    RunOptions own = options();
    own.stats = &stats;
    own.checks_counts = true;
    const RunError error = error_of(Program::from_text("test.hia", text), arguments, own);
    EXPECT_EQ(stats.frames_live_at_end, 0u);
    EXPECT_EQ(stats.values_live_at_end, 0u);
    return error;
  }
};

constexpr const char* kFac = R"(
fn fac(x: i64, y: i64) -> i64 = if x <= 1 then 1 else fac(x - 1, fac(x, y))
fn main(x: i64, y: i64) -> i64 = fac(x, y) + 1)";

TEST_P(Demand, LeavesOutAnArgumentThatNobodyAsksFor) {
  EXPECT_THAT(results(kFac, {int64_t{2}, int64_t{2}}), ElementsAre("2"));
  EXPECT_THAT(results(kFac, {int64_t{900}, int64_t{2}}), ElementsAre("2"));
}

TEST(DataDriven, EndsAnEndlessArgumentByItsBudget) {
  const Program program = Program::from_text("test.hia", kFac);
  for (const Executor executor : {Executor::Production, Executor::Reference}) {
    const RunOptions options{.executor = executor, .max_frames = 10'000};
    EXPECT_EQ(fault_of(program, {int64_t{2}, int64_t{2}}, options), Fault::MaxFrames);
  }
}

TEST_P(Demand, EndsAnEndlessDemandByItsBudget) {
  const RunError endless =
      error("fn f(n: i64) -> i64 = f(n + 1) + 1\nfn main(n: i64) -> i64 = f(n)", {int64_t{0}});
  EXPECT_EQ(endless.fault(), Fault::MaxFrames);
  EXPECT_THAT(endless.message(), HasSubstr("what grew is f"));
  RunOptions brief = options();
  brief.timeout = std::chrono::milliseconds(20);
  const Program spins =
      Program::from_text("test.hia", "fn main(n: i64) -> i64 =\n  let i = with i = n while i >= 0 do i\n  i");
  EXPECT_EQ(fault_of(spins, {int64_t{0}}, brief), Fault::Timeout);
}

TEST_P(Demand, DoesNotFailWhereAValueIsNotAskedFor) {
  EXPECT_THAT(results(R"(
fn first(a: i64, b: i64) -> i64 = a
fn both(n: i64) -> (i64, i64) = (n, 1 / (n - n))
fn main(n: i64) -> (i64, i64, i64, bool) =
  let unused = 1 / (n - n)
  let (a, b) = both(n)
  let c = 7 / (n - n)
  (first(n, 1 / (n - n)), a, if n > 0 then 1 else c, n < 0 and c > 0))",
                      {int64_t{3}}),
              ElementsAre("3", "3", "1", "false"));
  const RunError division =
      error("fn first(a: i64, b: i64) -> i64 = a\nfn main(n: i64) -> i64 = first(1 / n, n)", {int64_t{0}});
  EXPECT_EQ(division.fault(), Fault::DivisionByZero);
  EXPECT_THAT(division.message(), HasSubstr("1 / 0"));
}

TEST_P(Demand, ComputesEachValueOnce) {
  // 2^60 calls where a value is computed each time that it is asked for.
  EXPECT_THAT(results(R"(
fn twice(x: i64) -> i64 = x + x
fn tower(n: i64, x: i64) -> i64 = if n == 0 then x else tower(n - 1, twice(x))
fn late(use: bool, n: i64, x: i64) -> i64 = if use then tower(n, x) else 0
fn fibs(n: i64) -> (i64, i64) =
  if n == 0 then (1, 1) else
    let (a, b) = fibs(n - 1)
    (a + b, a)
fn main(n: i64) -> (i64, i64) =
  let (a, b) = fibs(n)
  (late(n > 0, n, 10 / n), a))",
                      {int64_t{60}}),
              ElementsAre("0", "4052739537881"));
}

constexpr const char* kStreams = R"(
fn naturals(n: i64) -> List[i64] = Cons(n, naturals(n + 1))
fn without(p: i64, xs: List[i64]) -> List[i64] =
  match xs
    [x, ..rest] -> if x % p == 0 then without(p, rest) else Cons(x, without(p, rest))
    [] -> []
fn sieve(xs: List[i64]) -> List[i64] =
  match xs
    [p, ..rest] -> Cons(p, sieve(without(p, rest)))
    [] -> []
fn taken(n: i64, xs: List[i64]) -> List[i64] =
  if n == 0 then [] else match xs
    [x, ..rest] -> Cons(x, taken(n - 1, rest))
    [] -> []
fn at(n: i64, xs: List[i64]) -> i64 =
  match xs
    [x, ..rest] -> if n == 0 then x else at(n - 1, rest)
    [] -> -1
fn length_of(xs: List[i64], n: i64) -> i64 =
  match xs
    [_, ..rest] -> length_of(rest, n + 1)
    [] -> n
)";

TEST_P(Demand, ComputesAsMuchOfAnEndlessListAsIsAskedFor) {
  EXPECT_THAT(results(std::string(kStreams) +
                          "fn main(n: i64) -> (List[i64], i64) = (taken(n, sieve(naturals(2))), at(99, "
                          "sieve(naturals(2))))",
                      {int64_t{10}}),
              ElementsAre("[2, 3, 5, 7, 11, 13, 17, 19, 23, 29]", "541"));
}

TEST_P(Demand, HasRoomForLongChainsOfWhatIsSuspended) {
  const char* text = R"(
fn count(n: i64, x: i64, use: bool) -> i64 =
  if n == 0 then (if use then x else 0) else count(n - 1, 100 / x + 1, use)
fn main(n: i64, use: bool) -> i64 = count(n, 7, use))";
  EXPECT_THAT(results(text, {int64_t{30'000}, true}), ElementsAre("7"));
  EXPECT_THAT(results(text, {int64_t{30'000}, false}), ElementsAre("0"));
}

TEST_P(Demand, LeavesNothingBehindWhereASuspendedValueFails) {
  const RunError failed = error(R"(
fn count(n: i64, x: i64) -> List[i64] = Cons(x, if n == 0 then [] else count(n - 1, 100 / (x - 1)))
fn main(n: i64) -> List[i64] = count(n, 101))",
                                {int64_t{3}});
  EXPECT_EQ(failed.fault(), Fault::DivisionByZero);
}

TEST(DemandInDirectCode, HoldsNoMoreThanWhatIsStillToBeAskedFor) {
  const Program program =
      Program::from_text("test.hia", std::string(kStreams) + "fn main(n: i64) -> i64 = at(n, naturals(0))");
  const RunResult result =
      run(program, {int64_t{1'000'000}}, {.evaluation = Evaluation::DemandDriven, .max_bytes = 4'000'000});
  EXPECT_EQ(result.values[0].as<int64_t>(), 1'000'000);
  EXPECT_LT(result.stats.frames_live_most, 10u);
}

TEST(DemandInDirectCode, ComputesStrictArgumentsAtOnce) {
  // A suspension for each call would be hundreds of calls more.
  const Program program = Program::from_text("test.hia",
                                             R"(
fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)
fn main(n: i64) -> i64 = fib(n))");
  const std::vector<Value> arguments{int64_t{15}};
  EXPECT_EQ(run(program, arguments, {.evaluation = Evaluation::DemandDriven}).stats.calls,
            run(program, arguments).stats.calls);
}

TEST(DemandInDirectCode, LeavesTheTypesOfTheModuleAsTheyAre) {
  const std::string text = std::string(kStreams) + "fn main(n: i64) -> List[i64] = taken(n, naturals(0))";
  const Program first = Program::from_text("test.hia", text);
  const Program second = Program::from_module(*first.module());
  const std::size_t types = first.module()->data_types.all().size();
  for (const Program& program : {first, second}) {
    const RunResult result = run(program, {int64_t{2}}, {.evaluation = Evaluation::DemandDriven});
    EXPECT_EQ(to_string(result.values[0], program.results()[0]), "[0, 1]");
  }
  EXPECT_EQ(first.module()->data_types.all().size(), types);
}

TEST(DemandInDirectCode, LongChainsOfBranchesDoNotBecomeATower) {
  std::string text =
      "fn g(a: i64, b: i64) -> i64 = if a > 0 then a else b\nfn main(a: i64, b: i64) -> i64 =\n";
  std::string last = "b";
  for (int i = 0; i < sized<int>(2'100, 200); ++i) {
    const std::string next = "x" + std::to_string(i);
    text += "  let " + next + " = if a > " + std::to_string(i) + " then g(" + last + ", a / b) else b / 1\n";
    last = next;
  }
  const Program program = Program::from_text("test.hia", text + "  " + last);
  const RunResult result = run(program, {int64_t{5}, int64_t{7}}, {.evaluation = Evaluation::DemandDriven});
  EXPECT_EQ(result.values[0].as<int64_t>(), 7);
}

TEST(DemandInDirectCode, RunsTensorsByTheReferenceRulesAndSaysSo) {
  const Program program = Program::from_text("test.hia", "fn main(x: f64[2]) -> f64[2] = x + x");
  RunStats stats;
  program.run({Value(Tensor(DType::F64, {2}))}, {.evaluation = Evaluation::DemandDriven, .stats = &stats});
  EXPECT_THAT(stats.fallback, HasSubstr("it is demand-driven and has tensors"));
}

TEST_P(Demand, DoesNotComputeTheElementsOfAListForItsLength) {
  EXPECT_THAT(
      results(std::string(kStreams) + "fn main(n: i64) -> (i64, i64) = (length_of([1 / n, 2 / n], 0), "
                                      "length_of(taken(1000, naturals(0)), 0))",
              {int64_t{0}}),
      ElementsAre("2", "1000"));
}

TEST_P(Demand, TakesDataFromOutsideAndGivesAllOfItsResults) {
  EXPECT_THAT(
      results(R"(
data Tree = Leaf(value: i64) | Node(left: Tree, right: Tree)
fn map_tree(t: Tree, d: i64) -> Tree =
  match t
    Leaf(x) -> Leaf(100 / (x - d))
    Node(l, r) -> Node(map_tree(r, d), map_tree(l, d))
fn leftmost(t: Tree) -> i64 = match t Leaf(x) -> x Node(l, _) -> leftmost(l)
fn main(t: Tree, d: i64) -> (Tree, i64, Tree) = (map_tree(t, 0), leftmost(map_tree(t, d)), t))",
              {parse_value(Program::from_text("t.hia",
                                              "data Tree = Leaf(value: i64) | Node(left: Tree, right: "
                                              "Tree)\nfn main(t: Tree) -> Tree = t")
                               .parameters()[0]
                               .type,
                           "Node(Node(Leaf(1), Leaf(2)), Leaf(4))"),
               int64_t{1}}),
      ElementsAre("Node(Leaf(25), Node(Leaf(50), Leaf(100)))", "33",
                  "Node(Node(Leaf(1), Leaf(2)), Leaf(4))"));
}

TEST_P(Demand, KnowsFunctionsAsValues) {
  EXPECT_THAT(results(R"(
fn pick(n: i64, m: i64) -> fn(i64) -> i64 = if n > 0 then fn(x) -> x + 1 else fn(x) -> x / m
fn apply_to(f: fn(i64) -> i64, x: i64) -> i64 = f(x)
fn constant(x: i64) -> i64 = 5
fn main(n: i64) -> (i64, i64, List[i64]) =
  let f = pick(n, 1 / (n - n))
  (f(n), apply_to(constant, 1 / (n - n)), map(fn(x) -> x * n, [1, 2])))",
                      {int64_t{3}}),
              ElementsAre("4", "5", "[3, 6]"));
}

TEST_P(Demand, LeavesOutWhatALoopDoesNotNeed) {
  EXPECT_THAT(results(R"(
fn main(n: i64) -> (i64, i64) =
  let (i, sum, bad) = with i = 0, sum = 0, bad = 1 while i < n do (i + 1, sum + i, bad / (n - n))
  let total = with t = 0 for k in 0..n do t + k * sum
  (sum, total))",
                      {int64_t{50}}),
              ElementsAre("1225", "1500625"));
}

TEST_P(Demand, PrintsWhenAValueIsAskedFor) {
  std::vector<std::string> lines;
  RunOptions own = options();
  own.print = [&](std::string_view line) { lines.emplace_back(line); };
  const Program program = Program::from_text("test.hia", R"(
fn pick(p: bool, a: str, b: str) -> str = if p then a + a else b
fn main(p: bool) -> str = pick(p, print("a"), print("b")))");
  EXPECT_EQ(run(program, {true}, own).values[0].string(), "aa");
  EXPECT_THAT(lines, ElementsAre("a"));
}

TEST_P(Demand, RefusesWhatHasNoMeaning) {
  const Program program = Program::from_text("test.hia", kFac);
  const std::vector<Value> arguments{int64_t{2}, int64_t{2}};
  RunOptions own = options();
  for (const Executor executor : {Executor::Flow, Executor::Expanding}) {
    own.executor = executor;
    EXPECT_THROW(program.run(arguments, own), ProgramError);
  }
  own = options();
  Gradients gradients({});
  own.gradients = &gradients;
  EXPECT_THROW(program.run(arguments, own), ProgramError);
}

INSTANTIATE_TEST_SUITE_P(Executors, Demand, testing::Values(Executor::Reference, Executor::Production),
                         [](const auto& info) {
                           return info.param == Executor::Reference ? "Reference" : "Production";
                         });

}  // namespace
}  // namespace hiaton
