// Which steps of flow change a tensor in place: those behind which nobody reads it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exec/flow/compile/flow_passes.h"
#include "exec/flow/compile/item_graph.h"
#include "exec/programs.h"

namespace hiaton::exec::flow {
namespace {

/// By the operations of this name in the program: whether the step takes its first operand.
std::vector<bool> takes(const std::string& op, const std::string& text) {
  const graph::Graph graph = testing::graph_of(text);
  const Plan plan = compile(graph, OverflowMode::Wrap);
  verify(graph, plan);
  std::vector<bool> found;
  for (const Region& region : plan.regions) {
    for (const Step& step : region.steps) {
      const graph::Node& node = graph[step.node];
      if (node.kind == graph::NodeKind::Op && node.op->name.value == op) found.push_back(step.takes);
    }
  }
  return found;
}

using Takes = std::vector<bool>;

TEST(Updates, TakeWhatARecursionHandsOn) {
  EXPECT_EQ(takes("set_at",
                  "fn fill(t: f32[_], k: i64) -> f32[_] =\n"
                  "  if k == 0 then t else fill(t with [k] = 1.0, k - 1)\n"
                  "fn main(t: f32[5]) -> f32[_] = fill(t, 4)\n"),
            Takes{true});
}

TEST(Updates, TakeWhatBranchesBeforeHaveRead) {
  EXPECT_EQ(takes("set_at",
                  "fn fill(t: f32[_], k: i64) -> f32[_] =\n"
                  "  if k == 0 then t else\n"
                  "    let x = if k % 2 == 0 then t[k - 1] else 1.0\n"
                  "    let y = if k % 3 == 0 then t[k - 1] else if k % 3 == 1 then t[0] else 2.0\n"
                  "    fill(t with [k] = x + y, k - 1)\n"
                  "fn main(t: f32[5]) -> f32[_] = fill(t, 4)\n"),
            Takes{true});
}

TEST(Updates, WaitForWhatElseReadsTheTensor) {
  EXPECT_EQ(takes("set_at",
                  "fn fill(t: f32[_], k: i64) -> f32 =\n"
                  "  if k == 0 then t[0] else\n"
                  "    let changed = t with [k] = 1.0\n"
                  "    t[k] + fill(changed, k - 1)\n"
                  "fn main(t: f32[5]) -> f32 = fill(t, 4)\n"),
            Takes{true});
}

TEST(Updates, TakeNothingThatIsReadBehindThem) {
  const Takes none{false};
  EXPECT_EQ(takes("set_at",
                  "fn fill(t: f32[_], k: i64) -> f32[_] =\n"
                  "  if k == 0 then t else fill(t with [k] = 1.0, k - 1) + t\n"
                  "fn main(t: f32[5]) -> f32[_] = fill(t, 4)\n"),
            none);
  EXPECT_EQ(takes("set_at",
                  "fn fill(t: f32[_], k: i64) -> f32[_] =\n"
                  "  if k == 0 then t else\n"
                  "    let changed = t with [k] = 1.0\n"
                  "    if changed[0] > 0.5 then fill(t, k - 1) else fill(changed, k - 1)\n"
                  "fn main(t: f32[5]) -> f32[_] = fill(t, 4)\n"),
            none);
}

/// Where k is 1, nothing waits for x.
TEST(Updates, TakeNothingThatABranchMayStillRead) {
  EXPECT_EQ(takes("set_at",
                  "fn fill(t: f32[_], k: i64) -> f32[_] =\n"
                  "  if k == 0 then t else\n"
                  "    let x = if k % 2 == 0 then t[k - 1] else 1.0\n"
                  "    let y = if k == 1 then 2.0 else x\n"
                  "    fill(t with [k] = y, k - 1)\n"
                  "fn main(t: f32[5]) -> f32[_] = fill(t, 4)\n"),
            Takes{false});
}

TEST(Updates, OfTheSameTensorTakeItOnce) {
  const Takes found = takes("set_at",
                            "fn fill(t: f32[_], k: i64) -> f32 =\n"
                            "  if k == 0 then t[0] else\n"
                            "    fill(t with [k] = 1.0, k - 1) + fill(t with [0] = 2.0, k - 1)\n"
                            "fn main(t: f32[5]) -> f32 = fill(t, 4)\n");
  EXPECT_LE(std::ranges::count(found, true), 1);
}

/// The arguments of a later phase may come only when the results of the one before are there.
TEST(Items, OfALaterPhaseMayFireBehindTheReturnOfTheOneBefore) {
  Function function;
  for (const auto& [kind, index] :
       {std::pair{ItemKind::Params, 0u}, {ItemKind::Return, 0u}, {ItemKind::Params, 1u}})
    function.items.push_back({.kind = kind, .index = index, .wakes = {}});
  function.items[0].wakes = {1};
  function.param_items = {0, 2};
  function.returns.push_back({.phase = 0, .results = {}});
  const ItemGraph items(function);
  EXPECT_TRUE(ItemGraph::reach({0}, items.next())[2]);
  EXPECT_FALSE(ItemGraph::reach({2}, items.before())[0]);
}

TEST(Items, AreOverBehindABranchThatTheyAreASideOf) {
  const graph::Graph graph = testing::graph_of(
      "fn main(t: f32[5], k: i64) -> f32[5] =\n"
      "  let x = if k == 2 then t[1] else 1.0\n"
      "  t with [k] = x\n");
  const Plan plan = compile(graph, OverflowMode::Wrap);
  const Function& main = plan.functions[graph.main().index()];
  const ItemGraph items(main);
  std::vector<uint32_t> regions;
  for (const Region& region : plan.regions) {
    if (region.batched) regions.push_back(region.item);
  }
  ASSERT_EQ(regions.size(), 2u);
  const bool is_first = items.is_over_at(regions[0])[regions[1]];
  EXPECT_NE(is_first, items.is_over_at(regions[1])[regions[0]]);
  const std::vector<bool> before = ItemGraph::reach({regions[1]}, items.before());
  EXPECT_FALSE(is_first && before[regions[0]])
      << "it fires for certain, but its branch may take the other side";
}

}  // namespace
}  // namespace hiaton::exec::flow
