// What the plans of the models say of memory: buffers of a region serve one value at a time, and the backward
// path lets go of what it has read.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "exec/flow/compile/flow_passes.h"
#include "hiaton/model.h"
#include "tests_dir.h"

namespace hiaton::train {
namespace {

namespace flow = exec::flow;

class EveryPlan : public ::testing::TestWithParam<const char*> {
 protected:
  EveryPlan()
      : model_(Model::from_file(tests_dir() / ".." / "models" / (std::string(GetParam()) + ".hia"))),
        plan_(flow::compile(model_.training_program().graph(), OverflowMode::Wrap)) {}

  const Model model_;
  const flow::Plan plan_;
};

INSTANTIATE_TEST_SUITE_P(Models, EveryPlan,
                         ::testing::Values("treernn", "rntn", "treelstm", "childsum", "td_treelstm", "lstm"),
                         [](const auto& info) { return info.param; });

TEST_P(EveryPlan, KeepsWhatThePassesPromise) {
  EXPECT_NO_THROW(flow::verify(model_.training_program().graph(), plan_));
  const graph::Graph& predicting = model_.predict_program().graph();
  EXPECT_NO_THROW(flow::verify(predicting, flow::compile(predicting, OverflowMode::Wrap)));
}

/// What a view is a view of.
flow::Source whole(const flow::Region& region, flow::Source source) {
  while (source.from == flow::Source::From::Step &&
         region.steps[source.index].code == flow::Step::Code::View) {
    source = region.steps[source.index].operands[0];
  }
  return source;
}

/// The steps of a region as they run, and which value stands in each of its buffers.
class Buffers {
 public:
  explicit Buffers(const flow::Region& region) : region_(region), holds_(region.buffers.size()) {}

  /// How many reads of buffers there were. What is gathered together or is part of a row is that value
  /// itself.
  std::size_t run() {
    for (std::size_t begin = 0; begin < region_.steps.size(); begin += region_.steps[begin].together) {
      const std::size_t end = begin + region_.steps[begin].together;
      for (std::size_t i = begin; i < end; ++i) start(i);
      for (std::size_t i = begin; i < end; ++i) run(i);
    }
    return reads_;
  }

 private:
  using Step = flow::Step;
  using From = flow::Source::From;

  static std::string name(From from, std::size_t index) {
    return (from == From::Slot ? "slot " : "step ") + std::to_string(index);
  }

  void put(const std::string& value, std::optional<uint32_t> buffer) {
    if (!buffer) return;
    holds_[*buffer] = value;
    buffer_of_[value] = *buffer;
  }

  void start(std::size_t i) {
    const Step& step = region_.steps[i];
    for (const flow::Gather& input : step.gathers) {
      const std::string value = name(From::Slot, input.slot);
      gathered_.insert(value);
      if (step.code == Step::Code::GatherTogether) part_of_[value] = name(From::Step, i);
      put(value, input.buffer);
    }
    if (step.row) part_of_[name(From::Step, i)] = name(From::Step, *step.row);
    if (step.code == Step::Code::Row) put(name(From::Step, i), step.buffer);
  }

  void run(std::size_t i) {
    const Step& step = region_.steps[i];
    if (step.code != Step::Code::Row) put(name(From::Step, i), step.buffer);
    for (const flow::Source& operand : step.operands) {
      const flow::Source source = whole(region_, operand);
      if (source.from == From::Slot || source.from == From::Step) read(name(source.from, source.index));
    }
  }

  void read(std::string value) {
    EXPECT_TRUE(value.starts_with("step") || gathered_.contains(value)) << region_.name << ": " << value;
    if (part_of_.contains(value)) value = part_of_[value];
    if (!buffer_of_.contains(value)) return;
    EXPECT_EQ(holds_[buffer_of_[value]], value) << region_.name;
    ++reads_;
  }

  const flow::Region& region_;
  std::vector<std::string> holds_;  ///< by buffer
  std::map<std::string, uint32_t> buffer_of_;
  std::map<std::string, std::string> part_of_;
  std::set<std::string> gathered_;
  std::size_t reads_ = 0;
};

TEST_P(EveryPlan, HasBuffersThatServeOneValueAtATime) {
  std::size_t reads = 0;
  for (const flow::Region& region : plan_.regions) {
    if (region.batched) reads += Buffers(region).run();
  }
  EXPECT_GT(reads, 10);
}

TEST_P(EveryPlan, RunsLinesOfOneTypeTogether) {
  std::size_t lines = 0;
  for (const flow::Region& region : plan_.regions) {
    for (std::size_t begin = 0; begin < region.steps.size(); begin += region.steps[begin].together) {
      const std::size_t end = begin + region.steps[begin].together;
      ASSERT_LE(end, region.steps.size());
      const auto type = [&](std::size_t i) {
        return model_.training_program().graph()[region.steps[i].node].type;
      };
      for (std::size_t i = begin; i < end && end - begin > 1; ++i) {
        const flow::Step& step = region.steps[i];
        EXPECT_TRUE(step.elementwise != nullptr || step.code == flow::Step::Code::View ||
                    step.code == flow::Step::Code::Row);
        if (step.elementwise == nullptr) continue;
        ++lines;
        EXPECT_EQ(type(i), type(begin));
        EXPECT_TRUE(!step.row || (*step.row > i && *step.row < end));
      }
    }
  }
  const std::string model = GetParam();
  EXPECT_TRUE(model != "treelstm" || lines == 6 + 10 + 12 + 16)
      << "leaves and nodes, forward and backward: " << lines;
  EXPECT_GT(lines, 0u);
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

/// Whether a frame that enters one of the scopes does not enter the other.
bool exclude_each_other(const flow::Function& function, flow::ScopeId a, flow::ScopeId b) {
  std::map<graph::OutPort, bool> sides;
  for (; a != flow::kRoot; a = function.scopes[a].parent) {
    sides[function.scopes[a].predicate] = function.scopes[a].side;
  }
  for (; b != flow::kRoot; b = function.scopes[b].parent) {
    const auto found = sides.find(function.scopes[b].predicate);
    if (found != sides.end() && found->second != function.scopes[b].side) return true;
  }
  return false;
}

TEST_P(EveryPlan, PutsSlotsOfTheTwoSidesOfABranchAtTheSamePositions) {
  std::size_t shared = 0;
  for (const flow::Function& function : plan_.functions) {
    for (std::size_t i = 0; i < function.slots.size(); ++i) {
      if (function.positions[i] == flow::kNoPosition) continue;
      EXPECT_LT(function.positions[i], function.position_counts[static_cast<std::size_t>(function.slots[i])]);
      for (std::size_t k = 0; k < i; ++k) {
        if (function.slots[i] != function.slots[k] || function.positions[i] != function.positions[k])
          continue;
        ++shared;
        EXPECT_TRUE(exclude_each_other(function, function.slot_scopes[i], function.slot_scopes[k]))
            << "slots " << k << " and " << i << " of " << function.id.index();
      }
    }
  }
  EXPECT_GT(shared, 0u);
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
      if (item.kind == flow::ItemKind::Return && function.returns[item.index].scope > 0) ++sides;
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
