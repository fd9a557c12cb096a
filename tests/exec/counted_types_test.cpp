// Which arguments pass to another worker as they are: data values of which no reference but one is ever
// counted.
#include "exec/direct/compile/counted_types.h"

#include <gtest/gtest.h>

#include "exec/direct/direct_plan.h"
#include "exec/programs.h"

namespace hiaton::exec::direct::testing {
using namespace exec::testing;

namespace {

constexpr std::string_view kTrees = R"(
data Tree = Leaf | Node(left: Tree, right: Tree)
fn build(depth: i64) -> Tree = if depth == 0 then Leaf else Node(build(depth - 1), build(depth - 1))
fn mirror(t: Tree) -> Tree =
  match t
    Leaf -> Leaf
    Node(left, right) -> Node(mirror(right), mirror(left))
fn count(t: Tree) -> i64 =
  match t
    Leaf -> 1
    Node(left, right) -> 1 + count(left) + 2 * count(right)
fn mirrored(trees: List[Tree]) -> List[Tree] =
  match trees
    Nil -> Nil
    Cons(t, rest) -> Cons(mirror(t), mirrored(rest))
fn total(trees: List[Tree]) -> i64 =
  match trees
    Nil -> 0
    Cons(t, rest) -> count(t) + 3 * total(rest)
)";

/// One reference to each tree.
constexpr std::string_view kUnshared = "fn main(n: i64) -> i64 = count(mirror(build(n)))\n";
/// The code takes references of the list alone; its trees get theirs where it is taken apart.
constexpr std::string_view kBelowShared =
    "fn main(n: i64) -> i64 =\n"
    "  let trees = Cons(build(n), Cons(build(n), Nil))\n"
    "  total(mirrored(mirrored(trees))) + total(trees)\n";

std::string text_of(std::string_view main) {
  return std::string(kTrees) + std::string(main);
}

/// How the argument of calls of the function is counted, where other workers may take them.
std::vector<FieldKind> kinds_of(std::string_view main, std::string_view callee) {
  const graph::Graph graph = graph_of(text_of(main));
  std::string reason;
  const auto plan = compile(graph, {.forking = true}, reason);
  EXPECT_NE(plan, nullptr) << reason;
  std::vector<FieldKind> kinds;
  for (const Group& group : plan->groups) {
    for (const Group::Call& call : group.calls) {
      if (graph[plan->body_at(call.entry).function].name == callee) kinds.push_back(call.kinds.at(0));
    }
  }
  return kinds;
}

TEST(CountedTypes, ValuesOfOneReferencePassAsTheyAre) {
  EXPECT_EQ(kinds_of(kUnshared, "mirror"), std::vector(2, FieldKind::None));
  EXPECT_EQ(kinds_of(kUnshared, "count"), std::vector(2, FieldKind::None));
}

TEST(CountedTypes, FieldsOfWhatIsCountedAreCounted) {
  const std::vector<FieldKind> kinds = kinds_of(kBelowShared, "mirror");
  EXPECT_GE(kinds.size(), 2u);
  EXPECT_EQ(kinds, std::vector(kinds.size(), FieldKind::Data));
  EXPECT_EQ(kinds_of(kBelowShared, "build").at(0), FieldKind::None);
}

TEST(CountedTypes, HoldWhatIsBelow) {
  DataTypes types;
  const Type below = types.declare("Below");
  const Type above = types.declare("Above");
  const Type beside = types.declare("Beside");
  const Type with_tensor = types.declare("WithTensor");
  types.define(below, {{"Below", {{"n", DType::I64}, {"again", below}}}});
  types.define(above, {{"Empty", {}}, {"Above", {{"below", below}, {"again", above}}}});
  types.define(beside, {{"Empty", {}}, {"Beside", {{"below", below}, {"more", types.list_of(below)}}}});
  types.define(with_tensor, {{"WithTensor", {{"t", tensor_type(DType::F32, {3})}, {"again", with_tensor}}}});
  CountedTypes counted;
  for (const Type& type : {below, above, beside, types.list_of(below)}) EXPECT_FALSE(counted.contain(type));
  EXPECT_TRUE(counted.contain(with_tensor));
  counted.add(tensor_type(DType::F32, {3}));
  EXPECT_FALSE(counted.contain(below));
  counted.add(above);
  EXPECT_TRUE(counted.contain(above));
  EXPECT_TRUE(counted.contain(below)) << "a field of what is taken apart";
  EXPECT_TRUE(counted.contain(beside)) << "it refers to what is counted";
  EXPECT_FALSE(counted.contain(types.list_of(DType::I64)));
}

class Passed : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Passed, GivesTheSameWhereEveryCallIsStolen) {
  const graph::Graph graph = graph_of(text_of(GetParam()));
  const std::vector<Value> arguments{Value(int64_t{7})};
  const std::vector<Value> expected = run(Mode{Executor::Reference}, graph, arguments).values;
  for (const int workers : {2, 3, 8}) {
    for (const bool all : {true, false}) {
      for (int i = 0; i < 10; ++i) {
        RunStats stats;
        const RunOptions options{.stats = &stats, .share_every_call = all, .checks_counts = true};
        EXPECT_EQ(run(Mode{Executor::Production, workers}, graph, arguments, options).values, expected);
        EXPECT_EQ(stats.values_live_at_end, 0u);
        EXPECT_GE(stats.steals, all ? 1u : 0u);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Values, Passed, ::testing::Values(kUnshared, kBelowShared));

}  // namespace
}  // namespace hiaton::exec::direct::testing
