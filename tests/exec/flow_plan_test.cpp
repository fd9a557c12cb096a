// The verifier of flow plans finds what breaks the promises of a pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "exec/flow/compile/flow_passes.h"
#include "exec/programs.h"
#include "hiaton/error.h"

namespace hiaton::exec::flow {
namespace {

using ::testing::HasSubstr;

/// A recursion over trees with branches, calls of two phases, and regions that run in batches.
graph::Graph program() {
  return testing::graph_of(
      "data Tree = Leaf(x: i64) | Node(left: Tree, right: Tree)\n"
      "param E: f32[10, 4]\n"
      "param W: f32[8, 4]\n"
      "param b: f32[4]\n"
      "fn encode(t: Tree) -> f32[4] =\n"
      "  match t\n"
      "    Leaf(x) -> E[x]\n"
      "    Node(left, right) -> tanh(concat(encode(left), encode(right), axis=0) @ W + b)\n"
      "fn loss(t: Tree) -> f32 = sum(encode(t) * encode(t))\n"
      "fn scale(n: i64, x: f32[4]) -> f32[4] = if n == 0 then x else scale(n - 1, x * x)\n"
      "fn main(t: Tree) -> f32[4] = scale(3, encode(t))\n");
}

class FlowPlans : public ::testing::Test {
 protected:
  /// What verify says of the plan after this damage; nothing: it is content.
  std::string message_after(const std::function<void(Plan&)>& damage) const {
    Plan plan = compile(program_, OverflowMode::Wrap);
    damage(plan);
    try {
      verify(program_, plan);
    } catch (const InternalError& error) {
      return error.what();
    }
    return "";
  }

  Function& recursive(Plan& plan) const {
    return *std::ranges::find_if(plan.functions,
                                 [&](const Function& each) { return program_[each.id].name == "encode"; });
  }
  static Region& batch_of(Plan& plan, std::size_t least_steps) {
    return *std::ranges::find_if(
        plan.regions, [&](const Region& each) { return each.batched && each.steps.size() >= least_steps; });
  }
  static Item& item_of(Function& function, ItemKind kind) {
    return *std::ranges::find(function.items, kind, &Item::kind);
  }

  const graph::Graph program_ = program();
};

TEST_F(FlowPlans, AsTheyAreCompiledAreRight) {
  EXPECT_EQ(message_after([](Plan&) {}), "");
}

TEST_F(FlowPlans, WithAWaitTooManyAreFound) {
  const std::string message = message_after([&](Plan& plan) {
    Function& function = recursive(plan);
    ++std::ranges::find_if(function.items, [](const Item& item) { return item.waits == 2; })->waits;
  });
  EXPECT_THAT(message, HasSubstr("flow plan of encode, item "));
  EXPECT_THAT(message, HasSubstr("expected 2 items that it waits for, found 3"));
}

TEST_F(FlowPlans, WithoutACounterAreFound) {
  EXPECT_THAT(message_after([&](Plan& plan) {
                std::ranges::find_if(recursive(plan).items, [](const Item& item) {
                  return item.waits == 2;
                })->counter = kNoCounter;
              }),
              HasSubstr("a counter just where it waits for several items"));
}

TEST_F(FlowPlans, ThatWakeItemsThatAreNotThereAreFound) {
  EXPECT_THAT(
      message_after([&](Plan& plan) { item_of(recursive(plan), ItemKind::Params).wakes.push_back(1000); }),
      HasSubstr("found number 1000"));
}

TEST_F(FlowPlans, WhoseStepsReadLaterOnesAreFound) {
  EXPECT_THAT(message_after([&](Plan& plan) {
                batch_of(plan, 2).steps[0].operands[0] = {Source::From::Step, 1};
              }),
              HasSubstr("steps that read earlier ones"));
}

TEST_F(FlowPlans, WhoseRegionsHideAnInputAreFound) {
  EXPECT_THAT(message_after([&](Plan& plan) { batch_of(plan, 1).inputs.clear(); }),
              HasSubstr("the slots that its steps read as inputs"));
}

TEST_F(FlowPlans, WhosePrioritiesGoBackAreFound) {
  EXPECT_THAT(message_after([&](Plan& plan) {
                for (Region& region : plan.regions) region.priority = 1000 - region.priority;
              }),
              HasSubstr("a priority not before that of what it waits for"));
}

TEST_F(FlowPlans, WhoseSlotsStandInEachOthersPlaceAreFound) {
  EXPECT_THAT(message_after([&](Plan& plan) {
                for (uint32_t& position : recursive(plan).positions) position = 0;
              }),
              HasSubstr("slots with a position of their own"));
}

TEST_F(FlowPlans, ThatReadSlotsWithoutAPositionAreFound) {
  EXPECT_THAT(message_after([&](Plan& plan) {
                for (uint32_t& position : recursive(plan).positions) position = kNoPosition;
              }),
              HasSubstr("positions for the slots that it reads"));
}

TEST_F(FlowPlans, ThatLetGoOfWhatTheyDoNotReadAreFound) {
  EXPECT_THAT(
      message_after([&](Plan& plan) { item_of(recursive(plan), ItemKind::Params).releases.push_back(0); }),
      HasSubstr("that it lets go of tensors that it reads"));
}

TEST_F(FlowPlans, WhoseProgramEndsByATailCallAreFound) {
  EXPECT_THAT(
      message_after([&](Plan& plan) { plan.functions[program_.main().index()].calls[0].forwarded = 1; }),
      HasSubstr("tail calls between functions of one phase only"));
}

TEST_F(FlowPlans, ThatGiveAwayTailCallsAreFound) {
  EXPECT_THAT(message_after([&](Plan& plan) {
                for (Function& function : plan.functions) {
                  for (Call& call : function.calls) {
                    if (call.forwarded > 0) call.worth = Worth::Growth;
                  }
                }
              }),
              HasSubstr("no worth of a tail call"));
}

TEST_F(FlowPlans, WhoseFramesKeepWhatStandsInABufferAreFound) {
  EXPECT_THAT(message_after([&](Plan& plan) {
                Region& region = batch_of(plan, 2);
                for (Step& step : region.steps) {
                  if (step.slot) step.buffer = 0;
                }
              }),
              HasSubstr("no buffer for what frames keep"));
}

}  // namespace
}  // namespace hiaton::exec::flow
