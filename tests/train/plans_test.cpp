// What the plans of the models say of memory: buffers of a region serve one value at a time, and the backward
// path lets go of what it has read.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "exec/flow/plan.h"
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

/// What a view is a view of.
flow::Source whole(const flow::Region& region, flow::Source source) {
  while (source.from == flow::Source::From::Step &&
         region.steps[source.index].code == flow::Step::Code::View) {
    source = region.steps[source.index].operands[0];
  }
  return source;
}

TEST_P(EveryPlan, HasBuffersThatServeOneValueAtATime) {
  std::size_t reads = 0;
  for (const flow::Region& region : plan_.regions) {
    if (!region.batched) continue;
    std::vector<std::string> holds(region.buffers.size());  // by buffer: the value that stands in it
    std::map<std::string, uint32_t> buffer_of;
    const auto put = [&](const std::string& value, std::optional<uint32_t> buffer) {
      if (!buffer) return;
      holds[*buffer] = value;
      buffer_of[value] = *buffer;
    };
    for (std::size_t i = 0; i < region.steps.size(); ++i) {
      const flow::Step& step = region.steps[i];
      for (const flow::Gather& input : step.gathers) put("slot " + std::to_string(input.slot), input.buffer);
      put("step " + std::to_string(i), step.buffer);
      for (const flow::Source& operand : step.operands) {
        const flow::Source read = whole(region, operand);
        const bool slot = read.from == flow::Source::From::Slot;
        if (!slot && read.from != flow::Source::From::Step) continue;
        const std::string value = (slot ? "slot " : "step ") + std::to_string(read.index);
        EXPECT_TRUE(!slot || buffer_of.contains(value)) << region.name << ": " << value << " is not gathered";
        if (!buffer_of.contains(value)) continue;
        EXPECT_EQ(holds[buffer_of[value]], value) << region.name;
        ++reads;
      }
    }
  }
  EXPECT_GT(reads, 10);
}

TEST_P(EveryPlan, KeepsTheOrderOfBatchesThatMakeMostOfWhatItReads) {
  std::size_t orders = 0;
  for (const flow::Region& region : plan_.regions) {
    if (!region.order) continue;
    ++orders;
    const auto makes = [&](const flow::Region& maker) {
      return maker.function == region.function && maker.batched && (maker.recursive || !region.recursive) &&
             std::ranges::any_of(maker.steps,
                                 [&](const flow::Step& step) { return step.slot == region.order; });
    };
    EXPECT_EQ(std::ranges::count_if(plan_.regions, makes), 1) << region.name;
    EXPECT_TRUE(std::ranges::count(region.inputs, *region.order) == 1) << region.name;
  }
  EXPECT_EQ(orders == 0, std::string(GetParam()) == "treernn") << "its tensors are narrow";
}

TEST_P(EveryPlan, HasNoWaitThatAnotherImplies) {
  for (const flow::Function& function : plan_.functions) {
    const auto is_join = [](const flow::Item& item) { return item.kind == flow::ItemKind::Join; };
    for (const flow::Item& first : function.items) {
      for (uint32_t second : first.wakes) {
        if (is_join(first) || is_join(function.items[second])) continue;
        for (uint32_t third : function.items[second].wakes) {
          EXPECT_EQ(std::ranges::count(first.wakes, third), 0) << "it waits for " << second << " as well";
        }
      }
    }
  }
}

TEST_P(EveryPlan, ReturnsFromTheSidesOfAMatchAtTheEnd) {
  if (!model_.can_predict() || std::string(GetParam()) == "td_treelstm") return;
  const flow::Plan plan = flow::compile(model_.predict_program().graph(), OverflowMode::Wrap);
  std::size_t sides = 0;
  for (const flow::Function& function : plan.functions) {
    for (const flow::Item& item : function.items) {
      if (item.kind == flow::ItemKind::Return && function.returns[item.index].place > 0) ++sides;
    }
  }
  EXPECT_GE(sides, 2u);
}

TEST_P(EveryPlan, LetsGoOfTensorsOnTheWayBackAlone) {
  std::size_t gone = 0;
  for (const flow::Function& function : plan_.functions) {
    for (const flow::Item& item : function.items) {
      gone += item.releases.size();
      for (uint32_t slot : item.releases) EXPECT_EQ(function.slots[slot], flow::SlotKind::Tensor);
      if (item.kind == flow::ItemKind::Return && function.returns[item.index].phase == 0) {
        EXPECT_TRUE(item.releases.empty()) << "the first phase keeps what later ones read";
      }
    }
    const auto look = [&](const flow::Source& source) {
      if (!source.last) return;
      ++gone;
      EXPECT_EQ(std::ranges::count(function.params, source.index), 0) << "messages show arguments";
    };
    for (const flow::Call& call : function.calls) {
      for (const flow::Move& move : call.arguments) look(move.from);
    }
    for (const flow::Join& join : function.joins) {
      for (const flow::Move& move : join.moves) look(move.from);
    }
    for (const flow::Return& result : function.returns) {
      for (const flow::Source& source : result.results) look(source);
    }
  }
  EXPECT_GT(gone, 10);
}

}  // namespace
}  // namespace hiaton::train
