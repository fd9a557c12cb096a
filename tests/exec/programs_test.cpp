// The table of programs, run by every executor.
#include "exec/programs.h"

#include "exec/reference.h"

namespace hiaton::exec::testing {
namespace {

class Programs : public ::testing::TestWithParam<std::tuple<Mode, ProgramCase>> {};

TEST_P(Programs, GiveTheExpectedValuesOrFault) {
  const auto& [mode, program] = GetParam();
  RunStats stats;
  RunOptions options;
  options.stats = &stats;
  try {
    EXPECT_EQ(run(mode, program.text, program.arguments, options), program.expected);
    EXPECT_EQ(program.fault, Fault::None);
  } catch (const RunError& error) {
    EXPECT_EQ(error.fault(), program.fault) << error.what();
  }
  EXPECT_EQ(stats.frames_live_at_end, 0u);
}

INSTANTIATE_TEST_SUITE_P(EveryExecutor, Programs,
                         ::testing::Combine(::testing::ValuesIn(all_modes()),
                                            ::testing::ValuesIn(programs())),
                         [](const auto& info) {
                           return ::testing::PrintToString(std::get<0>(info.param)) + "_" +
                                  std::get<1>(info.param).name;
                         });

class Leftovers : public ::testing::TestWithParam<ProgramCase> {};

TEST_P(Leftovers, NoTokenIsLeftOver) {
  const graph::Graph graph = graph_of(GetParam().text);
  if (GetParam().fault != Fault::None) return;
  std::vector<WaitingNode> leftovers;
  run_reference(graph, GetParam().arguments, {}, &leftovers);
  for (const WaitingNode& left : leftovers) ADD_FAILURE() << describe(graph, left.node);
}

TEST_P(Leftovers, NoCopyIsLeftOver) {
  if (GetParam().fault != Fault::None) return;
  std::size_t copies = 0;
  run_expanding(graph_of(GetParam().text), GetParam().arguments, {}, &copies);
  EXPECT_EQ(copies, 0u);
}

INSTANTIATE_TEST_SUITE_P(OfPrograms, Leftovers, ::testing::ValuesIn(programs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hiaton::exec::testing
