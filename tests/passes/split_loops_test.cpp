// split_loops: the graph that it makes, and what it leaves as it is.
#include <gmock/gmock.h>

#include "hiaton/graph.h"
#include "passes/support.h"

namespace hiaton::passes {
namespace {

ir::Module split(ir::Module module) {
  return split_loops(std::move(module), OverflowMode::Trap);
}

const std::string kWork =
    "param W: f64[3, 3] = normal(1.0)\n"
    "fn work(x: f64[3], n: i64) -> f64[3] = if n == 0 then x else tanh(work(x, n - 1) @ W)\n";

TEST(SplitLoops, MakesTwoPhases) {
  const ir::Module module =
      split(parse(kWork + "fn total(a: f64[3], xs: List[f64[3]]) -> f64[3] =\n"
                          "  match xs\n"
                          "    Nil -> a\n"
                          "    Cons(x, rest) -> total(a * a + work(x, 2), rest)\n"
                          "fn main(xs: List[f64[3]]) -> f64[3] = total(zeros(3), xs)\n"));
  EXPECT_NO_THROW(ir::verify(module));
  const std::string text = graph::to_text(lower(module));
  EXPECT_THAT(text, ::testing::HasSubstr(R"(function total_ahead(xs = %23, a = %24) -> (%44):
  %23 = Merge(%4, %36) : List[f64[3]]  # xs
  %24 = Merge(%5, %42) : f64[3]  # a
  %25 = variant(%23) : i64
  %26 = Const 0 : i64
  %27 = eq(%25, %26) : bool
  %28 = Switch(%23, %27) : List[f64[3]]  # xs
  %29 = Const true after %28.true : bool
  %30 = field(%28.false, variant=1, field=0) : f64[3]
  %31 = field(%28.false, variant=1, field=1) : List[f64[3]]
  %32 = Const 2 after %28.false : i64
  %33 = Call_2(%30) : f64[3]  # work.x
  %34 = Call_2(%32) : i64  # work.n
  %35 = Return_2(%22) after %33, %34 : f64[3]  # work
  %36 = Call_3(%31) : List[f64[3]]  # total_ahead.xs
  %37 = Const true after %28.false : bool
  %38 = Merge(%29, %37) : bool
  %39 = Switch(%24, %27) : f64[3]  # a
  %40 = mul(%39.false, %39.false) : f64[3]
  %41 = add(%40, %35) : f64[3]
  %42 = Call_3(%41) : f64[3]  # total_ahead.a
  %43 = Return_3(%44) after %36, %42 : f64[3]  # total_ahead
  %44 = Merge(%39.true, %43) : f64[3]
)"));
}

TEST(SplitLoops, CallersDoNotWaitForTheFirstAccumulator) {
  const ir::Module module =
      split(parse(kWork + "fn total(a: f64[3], xs: List[f64[3]]) -> f64[3] =\n"
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
  const std::size_t begin = text.find("function main(");
  const std::string main = text.substr(begin, text.find("\n\nfunction ", begin) - begin);
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
  return !ir::equal(split(before), before);
}
void expect_not_split(const std::string& program) {
  EXPECT_FALSE(is_split(program)) << program;
}

TEST(SplitLoops, SplitsTheProgramItself) {
  EXPECT_TRUE(
      is_split("fn main(a: f64[3], n: i64) -> f64[3] =\n"
               "  if n == 0 then a else main(a + work(ones(3), n), n - 1)\n"));
}

TEST(SplitLoops, SplitsLoopsThatWork) {
  const std::string loop =
      "fn main(a: f64[3], n: i64) -> f64[3] = with total = a for i in 0..n do total / 2 + ";
  const ir::Module module = split(parse(kWork + loop + "work(ones(3), i)\n"));
  EXPECT_NO_THROW(ir::verify(module));
  EXPECT_THAT(graph::to_text(lower(module)), ::testing::HasSubstr("function main_loop_ahead("));
  expect_not_split("fn cheap(x: f64[3], n: i64) -> f64[3] = if n == 0 then x else tanh(cheap(x, n - 1))\n" +
                   loop + "cheap(ones(3), i)\n");
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

const std::string kTree = "data Tree = Leaf(x: f64[3]) | Node(left: Tree, right: Tree)\n";
std::string encode_tree(const std::string& of_node, const std::string& between = "",
                        const std::string& found = "both") {
  return kTree +
         "fn encode(t: Tree, all: List[f64[3]]) -> (f64[3], List[f64[3]]) =\n"
         "  match t\n"
         "    Leaf(x) -> (x, Cons(x, all))\n"
         "    Node(left, right) ->\n"
         "      let (a, before) = encode(left, all)\n"
         "      let (b, both) = encode(right, before)\n" +
         between + "      let h = " + of_node + "\n      (h, Cons(h, " + found +
         "))\n"
         "fn main(t: Tree) -> (f64[3], List[f64[3]]) = encode(t, [])\n";
}

using Phases = std::vector<Phase>;
Phases phases_of(const ir::Module& module, const std::string& function) {
  const ir::Function& found = module[module.function_named(function)];
  return {found.phases.begin(), found.phases.end()};
}

TEST(SplitLoops, GivesWhatNeedsNoAccumulatorInTheFirstPhase) {
  const ir::Module module = split(parse(kWork + encode_tree("tanh((a + b) @ W)")));
  EXPECT_NO_THROW(ir::verify(module));
  const ir::Function& split = module[module.function_named("encode_ahead")];
  EXPECT_EQ(phases_of(module, "encode_ahead"), (Phases{{1, 1}, {1, 1}}));
  EXPECT_FALSE(split.results[0].is_data());  // the vector comes first
  EXPECT_TRUE(split.results[1].is_data());
}

TEST(SplitLoops, SplitsRecursionsThatCountWhereIntegersWrapAround) {
  const ir::Module module = parse(kWork + kTree +
                                  "fn encode(t: Tree, count: i64) -> (f64[3], i64) =\n"
                                  "  match t\n"
                                  "    Leaf(x) -> (x, count + 1)\n"
                                  "    Node(left, right) ->\n"
                                  "      let (a, before) = encode(left, count)\n"
                                  "      let (b, both) = encode(right, before)\n"
                                  "      (tanh((a + b) @ W), both + 1)\n"
                                  "fn main(t: Tree) -> (f64[3], i64) = encode(t, 0)\n");
  EXPECT_EQ(phases_of(split_loops(module, OverflowMode::Wrap), "encode_ahead"), (Phases{{1, 1}, {1, 1}}));
  EXPECT_TRUE(ir::equal(split_loops(module, OverflowMode::Trap), module));
}

TEST(SplitLoops, SplitsRecursionsThatGoOverTheirListAgain) {
  EXPECT_TRUE(is_split(kTree + "fn joined(a: List[f64[3]], b: List[f64[3]]) -> List[f64[3]] =\n"
                               "  match a\n"
                               "    Nil -> b\n"
                               "    Cons(first, rest) -> Cons(first, joined(rest, b))\n"
                               "fn encode(t: Tree, all: List[f64[3]]) -> (f64[3], List[f64[3]]) =\n"
                               "  match t\n"
                               "    Leaf(x) -> (x, Cons(x, all))\n"
                               "    Node(left, right) ->\n"
                               "      let (a, of_left) = encode(left, all)\n"
                               "      let (b, of_right) = encode(right, of_left)\n"
                               "      (tanh((a + b) @ W), joined(of_left, of_right))\n"
                               "fn main(t: Tree) -> (f64[3], List[f64[3]]) = encode(t, [])\n"));
}

/// `added` takes the list from call to call, and gives it back beside a sum that needs nothing of it.
std::string encode_by_added(const std::string& with_list) {
  return encode_tree("tanh(sum @ W)", "      let (sum, found) = added([a, b], zeros(3), both)\n", "found") +
         "fn added(xs: List[f64[3]], sum: f64[3], all: List[f64[3]]) -> (f64[3], List[f64[3]]) =\n"
         "  match xs\n"
         "    Nil -> (sum, all)\n"
         "    Cons(x, rest) -> added(rest, sum / 2 + x, " +
         with_list + ")\n";
}

TEST(SplitLoops, SplitsFunctionsOnTheWayOfTheAccumulator) {
  const ir::Module module = split(parse(kWork + encode_by_added("Cons(x, all)")));
  EXPECT_NO_THROW(ir::verify(module));
  EXPECT_EQ(phases_of(module, "encode_ahead"), (Phases{{1, 1}, {1, 1}}));
  EXPECT_EQ(phases_of(module, "added_ahead"), (Phases{{2, 1}, {1, 1}}));
}

TEST(SplitLoops, LeavesAllWhereAFunctionOnTheWayMustStay) {
  expect_not_split(encode_by_added("Cons(x * fold(fn(s, y) -> f64(1 / i64(sum(y))), 1.0, all), all)"));
}

TEST(SplitLoops, LeavesRecursionsThatMultiplyNoMatrices) {
  expect_not_split(encode_tree("tanh(a + b)"));
}

TEST(SplitLoops, LeavesRecursionsThatMultiplyWhatTheyHandOn) {
  expect_not_split(kTree +
                   "fn encode(t: Tree, s: f64[3]) -> f64[3] =\n"
                   "  match t\n"
                   "    Leaf(x) -> tanh((x + s) @ W)\n"
                   "    Node(left, right) -> encode(right, encode(left, s))\n"
                   "fn main(t: Tree) -> f64[3] = encode(t, zeros(3))\n");
}

TEST(SplitLoops, SplitsRecursionsOverChildren) {
  EXPECT_TRUE(
      is_split("data Tree = Tree(x: f64[3], children: List[Tree])\n"
               "fn encode(t: Tree, all: List[f64[3]]) -> (f64[3], List[f64[3]]) =\n"
               "  let (sum, found) = encode_all(t.children, all)\n"
               "  let h = tanh((t.x + sum) @ W)\n"
               "  (h, Cons(h, found))\n"
               "fn encode_all(ts: List[Tree], all: List[f64[3]]) -> (f64[3], List[f64[3]]) =\n"
               "  match ts\n"
               "    Nil -> (zeros(3), all)\n"
               "    Cons(first, rest) ->\n"
               "      let (h, found) = encode(first, all)\n"
               "      let (sum, both) = encode_all(rest, found)\n"
               "      (h + sum, both)\n"
               "fn main(t: Tree) -> (f64[3], List[f64[3]]) = encode(t, [])\n"));
}

TEST(SplitLoops, SplitsLoopsOverCallsOfWhatIsSplit) {
  const std::string over =
      "fn over(ts: List[Tree], all: List[f64[3]]) -> List[f64[3]] =\n"
      "  match ts\n"
      "    Nil -> all\n"
      "    Cons(t, rest) ->\n"
      "      let (_, more) = encode(t, all)\n"
      "      over(rest, more)\n";
  const ir::Module module = split(parse(kWork + encode_tree("tanh((a + b) @ W)") + over));
  EXPECT_NO_THROW(ir::verify(module));
  EXPECT_EQ(phases_of(module, "encode_ahead"), (Phases{{1, 1}, {1, 1}}));
  EXPECT_EQ(phases_of(module, "over_ahead"), (Phases{{1, 0}, {1, 1}}));
}

/// Nodes with two children or many: functions for a node and for its children, which call each other and
/// themselves.
std::string encode_groups(const std::string& of_children) {
  return "data Tree = Leaf(x: f64[3]) | Pair(left: Tree, right: Tree) | Many(children: List[Tree])\n"
         "fn encode(t: Tree, all: List[f64[3]]) -> (f64[3], List[f64[3]]) =\n"
         "  match t\n"
         "    Leaf(x) -> (x, Cons(x, all))\n"
         "    Pair(left, right) ->\n"
         "      let (a, before) = encode(left, all)\n"
         "      let (b, both) = encode(right, before)\n"
         "      (a + b, Cons(tanh((a + b) @ W), both))\n"
         "    Many(children) ->\n"
         "      let (sum, found) = encode_all(children, all)\n"
         "      (tanh(sum @ W), Cons(sum, found))\n"
         "fn encode_all(ts: List[Tree], all: List[f64[3]]) -> (f64[3], List[f64[3]]) =\n"
         "  match ts\n"
         "    Nil -> (zeros(3), all)\n"
         "    Cons(first, rest) ->\n"
         "      let (h, found) = encode(first, all)\n"
         "      let (sum, both) = encode_all(rest, found)\n" +
         of_children + "fn main(t: Tree) -> (f64[3], List[f64[3]]) = encode(t, [])\n";
}

TEST(SplitLoops, SplitsFunctionsThatCallEachOtherAndThemselves) {
  const ir::Module module = split(parse(kWork + encode_groups("      (h + sum, both)\n")));
  EXPECT_NO_THROW(ir::verify(module));
  EXPECT_EQ(phases_of(module, "encode_ahead"), (Phases{{1, 1}, {1, 1}}));
  EXPECT_EQ(phases_of(module, "encode_all_ahead"), (Phases{{1, 1}, {1, 1}}));
}

TEST(SplitLoops, LeavesGroupsThatMultiplyWhatTheyHandOn) {
  expect_not_split(encode_groups("      (fold(fn(s, x) -> s + x, h, both) @ W + sum, both)\n"));
}

TEST(SplitLoops, GivesAccumulatorsPhasesOfTheirOwnWhereOneComesLater) {
  const ir::Module module = split(
      parse(kWork +
            "data Tree = Tree(x: f64[3], children: List[Tree])\n"
            "fn encode(t: Tree, all: List[f64[3]]) -> (f64[3], List[f64[3]]) =\n"
            "  let (found, sum) = encode_all(t.children, all, t.x)\n"
            "  let h = tanh(sum @ W)\n"
            "  (h, Cons(h, found))\n"
            "fn encode_all(ts: List[Tree], all: List[f64[3]], sum: f64[3]) -> (List[f64[3]], f64[3]) =\n"
            "  match ts\n"
            "    Nil -> (all, sum)\n"
            "    Cons(first, rest) ->\n"
            "      let (h, found) = encode(first, all)\n"
            "      encode_all(rest, found, sum / 2 + h)\n"
            "fn main(t: Tree) -> (f64[3], List[f64[3]]) = encode(t, [])\n"));
  EXPECT_NO_THROW(ir::verify(module));
  const ir::Function& split = module[module.function_named("encode_all_ahead")];
  EXPECT_EQ(phases_of(module, "encode_all_ahead"), (Phases{{1, 0}, {1, 1}, {1, 1}}));
  EXPECT_FALSE(split.params[1].type.is_data());  // the sum comes before the list
  EXPECT_FALSE(split.results[0].is_data());
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
