#include <gtest/gtest.h>

#include <string>

#include "passes/simplifications.h"
#include "properties/check.h"
#include "properties/generate.h"

namespace hiaton::properties {
namespace {

std::size_t node_count(const ir::Module& module) {
  std::size_t count = 0;
  for (const ir::Function& function : module.functions) count += function.nodes.size();
  return count;
}

bool has_operation(const Program& program, std::string_view name) {
  for (const ir::Function& function : program.module.functions) {
    for (const ir::Node& node : function.nodes) {
      if (node.kind == ir::NodeKind::Op && node.op->name.value == name) return true;
    }
  }
  return false;
}

bool has_kind(const Program& program, ir::NodeKind kind) {
  for (const ir::Function& function : program.module.functions) {
    for (const ir::Node& node : function.nodes) {
      if (node.kind == kind) return true;
    }
  }
  return false;
}

/// Shrinks the first programs that have something, looking for nothing else.
template <class Has>
void expect_shrinks_to(std::size_t most_nodes, const Has& has) {
  int shrunk = 0;
  for (uint64_t seed = 1; shrunk < 10; ++seed) {
    Program program = generate(seed);
    passes::drop_unreachable(program.module);
    if (!has(program)) continue;
    ++shrunk;
    const Program small = shrink(program, has);
    EXPECT_TRUE(has(small));
    EXPECT_NO_THROW(ir::verify(small.module));
    EXPECT_LE(node_count(small.module), most_nodes) << "seed " << seed << "\n" << ir::print(small.module);
    EXPECT_LE(small.module.functions.size(), 2u) << "seed " << seed << "\n" << ir::print(small.module);
  }
}

TEST(Shrinking, LeavesOnlyTheOperationThatMatters) {
  expect_shrinks_to(4, [](const Program& program) { return has_operation(program, "atan2"); });
}

TEST(Shrinking, LeavesOnlyTheLoopThatMatters) {
  expect_shrinks_to(5, [](const Program& program) { return has_kind(program, ir::NodeKind::While); });
}

TEST(Shrinking, LeavesOnlyTheCallThatMatters) {
  expect_shrinks_to(5, [](const Program& program) { return has_kind(program, ir::NodeKind::Call); });
}

TEST(Shrinking, EveryStepIsALegalProgram) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    shrink(generate(seed), [](const Program& candidate) {
      EXPECT_NO_THROW(ir::verify(candidate.module)) << ir::print(candidate.module);
      EXPECT_EQ(candidate.arguments.size(), candidate.module[*candidate.module.find("main")].params.size());
      return true;
    });
  }
}

}  // namespace
}  // namespace hiaton::properties
