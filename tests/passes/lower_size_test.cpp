// Graphs grow with their programs, not faster; and depth of nesting costs no C++ stack.
#include "hiaton/builder.h"
#include "lower_support.h"

namespace hiaton::passes {
namespace {

using namespace testing;

TEST(LowerSize, ManyFunctions) {
  constexpr std::size_t kCount = 50000;
  std::string text = "fn g0(x: i64) -> i64 = x\n";
  for (std::size_t i = 1; i < kCount; ++i)
    text += "fn g" + std::to_string(i) + "(x: i64) -> i64 = g" + std::to_string(i - 1) + "(x)\n";
  text += "fn main(x: i64) -> i64 = g" + std::to_string(kCount - 1) + "(x)\n";
  const Graph graph = lowered(text);
  EXPECT_EQ(graph.functions().size(), kCount + 1);
  EXPECT_EQ(graph.nodes().size(), 3 * kCount + 2) << "a Merge, a Call and a Return each";
}

TEST(LowerSize, ManyCallsOfOneFunction) {
  constexpr std::size_t kCount = 20000;
  std::string text = "fn f(x: i64) -> i64 = x\nfn main(x: i64) -> i64 =\n";
  for (std::size_t i = 0; i < kCount; ++i) text += "  let x = f(x)\n";
  const Graph graph = lowered(text + "  x\n");
  EXPECT_EQ(graph.nodes().size(), 2 * kCount + 3);
}

TEST(LowerSize, ManyLets) {
  constexpr std::size_t kCount = 100000;
  std::string text = "fn main(x: i64) -> i64 =\n";
  for (std::size_t i = 0; i < kCount; ++i) text += "  let x = x + 1\n";
  const Graph graph = lowered(text + "  x\n");
  EXPECT_EQ(graph.nodes().size(), 2 * kCount + 2)
      << "a constant and an operation each, and the program's ends";
}

/// kDepth nested ifs, all of whose levels use kCount values from outside.
TEST(LowerSize, NestedIfsWithManyCapturedValues) {
  constexpr int kDepth = 500;
  constexpr std::size_t kCount = 100;
  ModuleBuilder program;
  std::vector<ir::ValueInfo> params;
  for (std::size_t i = 0; i < kCount; ++i) params.push_back({DType::I64, "x" + std::to_string(i)});
  const FunctionRef main = program.declare("main", params, {DType::I64});
  program.define(main, [&](FunctionBuilder& f) -> Vars {
    const auto sum = [&] {
      Var total = f.param(0);
      for (std::size_t i = 1; i < kCount; ++i) total = total + f.param(i);
      return total;
    };
    std::vector<ir::BlockId> thens;
    std::vector<Var> conditions;
    for (int level = 0; level < kDepth; ++level) {
      conditions.push_back(f.param(0) > f.param(1));
      thens.push_back(f.begin_block({}));
    }
    Vars result = sum();
    for (int level = kDepth - 1; level >= 0; --level) {
      f.end_block(thens[level], result);
      const ir::BlockId otherwise = f.begin_block({});
      f.end_block(otherwise, sum());
      result = f.finish_if(conditions[level], thens[level], otherwise);
    }
    return result;
  });
  const Graph graph = lower(program.finish());
  EXPECT_EQ(count(graph, NodeKind::Switch), kDepth * kCount) << "one for each level and value";
  EXPECT_EQ(count(graph, NodeKind::Merge), std::size_t{kDepth});
}

/// The same value in one branch after another passes one Switch for each if, whatever the number of uses.
TEST(LowerSize, ManyIfsBesideEachOther) {
  constexpr std::size_t kCount = 5000;
  std::string text = "fn main(x: i64) -> i64 =\n";
  for (std::size_t i = 0; i < kCount; ++i) text += "  let x = if x > 0 then x + x else x - x\n";
  const Graph graph = lowered(text + "  x\n");
  EXPECT_EQ(count(graph, NodeKind::Switch), kCount);
}

/// Far deeper than the language allows: the pass keeps its own stack.
TEST(LowerSize, BlocksNestedVeryDeeply) {
  constexpr int kDepth = 50000;
  ModuleBuilder program;
  const FunctionRef main = program.declare("main", {ir::ValueInfo{DType::Bool, "p"}}, {DType::Bool});
  program.define(main, [&](FunctionBuilder& f) -> Vars {
    std::vector<ir::BlockId> thens;
    for (int level = 0; level < kDepth; ++level) thens.push_back(f.begin_block({}));
    Vars result = f.param(0);
    for (int level = kDepth - 1; level >= 0; --level) {
      f.end_block(thens[level], result);
      const ir::BlockId otherwise = f.begin_block({});
      f.end_block(otherwise, f.param(0));
      result = f.finish_if(f.param(0), thens[level], otherwise);
    }
    return result;
  });
  const Graph graph = lower(std::move(program.module()));
  EXPECT_EQ(count(graph, NodeKind::Switch), std::size_t{kDepth});
}

TEST(LowerSize, LoopsNestedDeeply) {
  constexpr int kDepth = 300;
  std::string text = "fn main(n: i64, x: i64) -> i64 =\n  ";
  for (int i = 0; i < kDepth; ++i) text += "with a = x for i in 0..n do ";
  const Graph graph = lowered(text + "a + x\n");
  EXPECT_EQ(graph.loops().size(), std::size_t{kDepth});
  EXPECT_LT(graph.nodes().size(), std::size_t{kDepth} * 25);
}

}  // namespace
}  // namespace hiaton::passes
