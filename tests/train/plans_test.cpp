// What the plans of the models say of memory: buffers of a region serve one value at a time, and the backward
// path lets go of what it has read.
#include <gtest/gtest.h>

#include <filesystem>

#include "exec/flow_plan.h"
#include "hiaton/model.h"

namespace hiaton::train {
namespace {

namespace flow = exec::flow;

class EveryPlan : public ::testing::TestWithParam<const char*> {
 protected:
  EveryPlan()
      : model_(Model::from_file(std::filesystem::path(HIATON_TESTS_DIR) / ".." / "models" /
                                (std::string(GetParam()) + ".hia"))),
        plan_(flow::compile(model_.training_program().graph(), OverflowMode::Wrap)) {}

  const Model model_;
  const flow::Plan plan_;
};

INSTANTIATE_TEST_SUITE_P(Models, EveryPlan,
                         ::testing::Values("treernn", "rntn", "treelstm", "childsum", "td_treelstm", "lstm"),
                         [](const auto& info) { return info.param; });

TEST_P(EveryPlan, HasBuffersThatServeOneValueAtATime) {
  for (const flow::Region& region : plan_.regions) {
    if (!region.batched) continue;
    std::vector<std::string> holds(region.buffers.size());  // by buffer: the value that stands in it
    std::vector<std::string> places(plan_.functions[region.function].slots.size());
    for (std::size_t i = 0; i < region.steps.size(); ++i) {
      const flow::Step& step = region.steps[i];
      for (const flow::Gather& input : step.gathers) {
        places[input.slot] = "gathered";
        if (input.buffer) holds[*input.buffer] = "slot " + std::to_string(input.slot);
      }
      if (step.buffer) holds[*step.buffer] = "step " + std::to_string(i);
      for (const flow::Source& operand : step.operands) {
        const std::string index = std::to_string(operand.index);
        if (operand.from == flow::Source::From::Step && region.steps[operand.index].buffer) {
          EXPECT_EQ(holds[*region.steps[operand.index].buffer], "step " + index) << region.name;
        }
        if (operand.from != flow::Source::From::Slot) continue;
        EXPECT_EQ(places[operand.index], "gathered") << region.name;
        for (const flow::Step& other : region.steps) {
          for (const flow::Gather& input : other.gathers) {
            if (input.slot == operand.index && input.buffer) {
              EXPECT_EQ(holds[*input.buffer], "slot " + index) << region.name;
            }
          }
        }
      }
    }
  }
}

TEST_P(EveryPlan, LetsGoOfTensorsOnTheWayBackAlone) {
  std::size_t releases = 0;
  for (const flow::Function& function : plan_.functions) {
    for (const flow::Item& item : function.items) {
      releases += item.releases.size();
      for (uint32_t slot : item.releases) EXPECT_EQ(function.slots[slot], flow::SlotKind::Tensor);
      if (item.kind == flow::ItemKind::Return && function.returns[item.index].phase == 0) {
        EXPECT_TRUE(item.releases.empty()) << "the first phase keeps what later ones read";
      }
    }
  }
  EXPECT_GT(releases, 10);
}

}  // namespace
}  // namespace hiaton::train
