// split_loops: the graph that it makes, and what it leaves as it is.
#include <gmock/gmock.h>

#include "hiaton/graph.h"
#include "passes/support.h"

namespace hiaton::passes {
namespace {

const std::string kWork =
    "param W: f64[3, 3] = normal(1.0)\n"
    "fn work(x: f64[3], n: i64) -> f64[3] = if n == 0 then x else tanh(work(x, n - 1) @ W)\n";

TEST(SplitLoops, MakesTwoPhases) {
  const ir::Module module =
      split_loops(parse(kWork + "fn total(a: f64[3], xs: List[f64[3]]) -> f64[3] =\n"
                                "  match xs\n"
                                "    Nil -> a\n"
                                "    Cons(x, rest) -> total(a * a + work(x, 2), rest)\n"
                                "fn main(xs: List[f64[3]]) -> f64[3] = total(zeros(3), xs)\n"));
  EXPECT_NO_THROW(ir::verify(module));
  const std::string text = graph::to_text(lower(module));
  EXPECT_THAT(text, ::testing::HasSubstr(R"(function total_ahead(xs = %28, a = %29) -> (%49):
  %28 = Merge(%25, %41) : List[f64[3]]  # xs
  %29 = Merge(%26, %47) : f64[3]  # a
  %30 = variant(%28) : i64
  %31 = Const 0 : i64
  %32 = eq(%30, %31) : bool
  %33 = Switch(%28, %32) : List[f64[3]]  # xs
  %34 = Const true after %33.true : bool
  %35 = field(%33.false, variant=1, field=0) : f64[3]
  %36 = field(%33.false, variant=1, field=1) : List[f64[3]]
  %37 = Const 2 after %33.false : i64
  %38 = Call_3(%35) : f64[3]  # work.x
  %39 = Call_3(%37) : i64  # work.n
  %40 = Return_3(%22) after %38, %39 : f64[3]  # work
  %41 = Call_4(%36) : List[f64[3]]  # total_ahead.xs
  %42 = Const true after %33.false : bool
  %43 = Merge(%34, %42) : bool
  %44 = Switch(%29, %32) : f64[3]  # a
  %45 = mul(%44.false, %44.false) : f64[3]
  %46 = add(%45, %40) : f64[3]
  %47 = Call_4(%46) : f64[3]  # total_ahead.a
  %48 = Return_4(%49) after %41, %47 : f64[3]  # total_ahead
  %49 = Merge(%44.true, %48) : f64[3]
)"));
}

TEST(SplitLoops, CallersDoNotWaitForTheFirstAccumulator) {
  const ir::Module module =
      split_loops(parse(kWork + "fn total(a: f64[3], xs: List[f64[3]]) -> f64[3] =\n"
                                "  match xs\n"
                                "    Nil -> a\n"
                                "    Cons(x, rest) -> total(a * a + work(x, 2), rest)\n"
                                "fn main(xs: List[f64[3]]) -> f64[3] =\n"
                                "  match xs\n"
                                "    Nil -> zeros(3)\n"
                                "    Cons(x, rest) -> total(work(x, 3), rest) + total(x, xs)\n"));
  EXPECT_NO_THROW(ir::verify(module));
  const std::string text = graph::to_text(lower(module));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("function total(")));
  const std::string main = text.substr(text.find("function main("));
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = main.find(part); at != std::string::npos; at = main.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("# total_ahead.xs"), 2u);
  EXPECT_EQ(count("# total_ahead.a"), 2u);
}

bool is_split(const std::string& program) {
  const ir::Module before = parse(kWork + program);
  return !ir::equal(split_loops(before), before);
}
void expect_not_split(const std::string& program) {
  EXPECT_FALSE(is_split(program)) << program;
}

TEST(SplitLoops, SplitsTheProgramItself) {
  EXPECT_TRUE(
      is_split("fn main(a: f64[3], n: i64) -> f64[3] =\n"
               "  if n == 0 then a else main(a + work(ones(3), n), n - 1)\n"));
}

const std::string kSyntax =
    "data Syntax = Node(kind: i64, children: List[Syntax])\n"
    "fn encode(t: Syntax) -> f64[3] =\n"
    "  match t\n"
    "    Node(kind, children) -> tanh(f64(kind) + children_of(zeros(3), children) @ W)\n"
    "fn main(t: Syntax) -> f64[3] = encode(t)\n";

TEST(SplitLoops, SplitsFoldsWhoseWorkComesBackToThem) {
  EXPECT_TRUE(is_split(kSyntax + "fn added(sum: f64[3], t: Syntax) -> f64[3] = sum / 2 + encode(t)\n"
                                 "fn children_of(sum: f64[3], all: List[Syntax]) -> f64[3] =\n"
                                 "  match all\n"
                                 "    Nil -> sum\n"
                                 "    Cons(first, rest) -> children_of(added(sum, first), rest)\n"));
}

TEST(SplitLoops, LooksThroughSeveralFunctions) {
  EXPECT_TRUE(is_split(kSyntax + "fn more(sum: f64[3], t: Syntax) -> f64[3] = sum / 2 + encode(t)\n"
                                 "fn added(sum: f64[3], t: Syntax) -> f64[3] = more(sum * 3, t)\n"
                                 "fn children_of(sum: f64[3], all: List[Syntax]) -> f64[3] =\n"
                                 "  match all\n"
                                 "    Nil -> sum\n"
                                 "    Cons(first, rest) -> children_of(added(sum, first), rest)\n"));
}

TEST(SplitLoops, LeavesFunctionsThatWorkOnTheAccumulator) {
  expect_not_split(kSyntax +
                   "fn added(sum: f64[3], t: Syntax) -> f64[3] = tanh((sum + encode(t)) @ W) @ W\n"
                   "fn children_of(sum: f64[3], all: List[Syntax]) -> f64[3] =\n"
                   "  match all\n"
                   "    Nil -> sum\n"
                   "    Cons(first, rest) -> children_of(work(added(sum, first), 2), rest)\n");
}

TEST(SplitLoops, LeavesWorkThatMultipliesNoMatrices) {
  expect_not_split(
      "fn cheap(x: f64[3], n: i64) -> f64[3] = if n == 0 then x else tanh(cheap(x, n - 1))\n"
      "fn main(a: f64[3], n: i64) -> f64[3] = if n == 0 then a else main(a + cheap(ones(3), n), n - 1)\n");
}

TEST(SplitLoops, LeavesWorkThatNeedsTheAccumulator) {
  expect_not_split("fn main(a: f64[3], n: i64) -> f64[3] = if n == 0 then a else main(work(a, n), n - 1)\n");
}

TEST(SplitLoops, LeavesConditionsOnTheAccumulator) {
  expect_not_split(
      "fn main(a: f64[3], n: i64) -> f64[3] =\n"
      "  if n == 0 or sum(a) > 100 then a else main(a + work(ones(3), n), n - 1)\n");
}

TEST(SplitLoops, LeavesWhatMayFailAfterTheWork) {
  expect_not_split(
      "fn main(a: f64[3], k: i64, n: i64) -> (f64[3], i64) =\n"
      "  if n == 0 then (a, k) else main(a + work(ones(3), n), 100 / (k - i64(sum(a))), n - 1)\n");
}

TEST(SplitLoops, LeavesWhatHasNoAccumulator) {
  expect_not_split(
      "fn main(n: i64) -> f64[3] = if n == 0 then zeros(3) else main(n - 1) + work(ones(3), n)\n");
}

TEST(SplitLoops, LeavesProgramsWithPlacements) {
  expect_not_split(
      "fn main(a: f64[3], n: i64) -> f64[3] =\n"
      "  if n == 0 then a else main(a + on \"process:1\" (work(ones(3), n)), n - 1)\n");
}

TEST(SplitLoops, LeavesWhatPrints) {
  expect_not_split(
      "fn shown(x: f64[3], n: i64) -> f64[3] = print(work(x, n))\n"
      "fn main(a: f64[3], n: i64) -> f64[3] = if n == 0 then a else main(a + shown(ones(3), n), n - 1)\n");
}

}  // namespace
}  // namespace hiaton::passes
