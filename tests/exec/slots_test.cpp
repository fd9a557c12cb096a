// Slots are right as they are assigned, and the verifier finds those that are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "exec/direct/compile/assign_slots.h"
#include "exec/scheduled.h"

namespace hiaton::exec::direct {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kFib =
    "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)\n"
    "fn main(n: i64) -> i64 = fib(n)\n";

/// The argument 7 needs a slot.
constexpr std::string_view kArguments =
    "fn f(a: i64, b: i64, c: i64, d: i64) -> i64 = if a == 0 then b + c else f(a - 1, d, b, c) * 2\n"
    "fn main(n: i64, k: i64) -> i64 = f(n, 7, k, k) + n\n";

/// Every iteration reads k.
constexpr std::string_view kLoop =
    "fn main(n: i64, k: i64) -> i64 = with acc = 1 for i in 0..n do acc * 3 + i * k\n";

struct WithSlots : Scheduled {
  explicit WithSlots(std::string_view text) : Scheduled(text) {
    assign_slots(schedule, graph, structure, *lifetimes, OverflowMode::Wrap);
  }
  std::string message() const {
    try {
      verify_slots(schedule, graph, structure);
    } catch (const InternalError& error) {
      return error.what();
    }
    return "";
  }
};

template <class What>
StatementSlots& slots_of(
    ScheduledBody& body, const std::function<bool(const What&)>& fits = [](const What&) { return true; }) {
  return first_statement<What>(body.statements, fits).slots.at(0);
}

TEST(Slots, AsTheyAreAssignedAreRight) {
  for (const std::string_view text : {kFib, kArguments, kLoop, kTrees, kLists, kBranches, kWindows}) {
    EXPECT_EQ(WithSlots(text).message(), "") << text;
  }
  for (const testing::ProgramCase& program : testing::programs()) {
    const graph::Graph graph = testing::graph_of(program.text);
    std::string reason;
    std::optional<Structure> structure = find_structure(graph, reason);
    if (!structure) continue;
    const Lifetimes lifetimes = measure(graph, *structure);
    for (const bool forking : {false, true}) {
      Schedule schedule =
          make_schedule(graph, *structure, lifetimes, Ownership(graph, *structure), {.forking = forking});
      assign_slots(schedule, graph, *structure, lifetimes, OverflowMode::Wrap);
      EXPECT_NO_THROW(verify_slots(schedule, graph, *structure)) << program.name;
    }
  }
}

TEST(Slots, OfAResultThatIsStillReadAreNotGivenAway) {
  WithSlots fib(kFib);
  std::vector<uint32_t>& results = slots_of<statements::Calls>(fib.body("fib")).values;
  ASSERT_EQ(results.size(), 2u);
  results[1] = results[0];
  EXPECT_THAT(fib.message(), HasSubstr("slots of fib (sequential): reads"));
  EXPECT_THAT(fib.message(), HasSubstr("holds something else"));
}

TEST(Slots, OfAnArgumentStayWhileOtherCallsRun) {
  WithSlots fib(kFib);
  ScheduledBody& body = fib.body("fib", true);
  slots_of<statements::Calls>(body).values[1] = body.slots.entered[0];
  EXPECT_THAT(fib.message(), HasSubstr("slots of fib (forking): reads"));
}

TEST(Slots, BehindTheEndOfTheFrameAreFound) {
  WithSlots fib(kFib);
  fib.body("fib").slots.count = 1;
  EXPECT_THAT(fib.message(), HasSubstr("is not of the frame, which has 1"));
}

TEST(Slots, OfTheJoinRecordAreNotForValues) {
  WithSlots fib(kFib);
  ScheduledBody& body = fib.body("fib");
  slots_of<statements::Calls>(body).values[0] = *body.slots.join;
  EXPECT_THAT(fib.message(), HasSubstr("is not for values"));
}

TEST(Slots, OfOperandsAreNotForConstants) {
  WithSlots program(kArguments);
  ScheduledBody& main = program.body("main");
  std::vector<uint32_t>& constants = slots_of<statements::Calls>(main).temporaries;
  ASSERT_EQ(constants.size(), 1u);
  constants[0] = main.slots.entered[1];
  EXPECT_THAT(program.message(), HasSubstr("holds something else"));
}

TEST(Slots, ThatAllIterationsReadStay) {
  WithSlots program(kLoop);
  ScheduledBody& main = program.body("main");
  const auto multiplies_k = [&](const statements::Compute& compute) {
    const graph::OutPorts& inputs = program.graph[compute.node].inputs;
    return inputs.size() == 2 &&
           program.structure.origin(inputs[1]) == program.graph[main.function].params[1].node;
  };
  slots_of<statements::Compute>(main, multiplies_k).values[0] = main.slots.entered[1];
  EXPECT_THAT(program.message(), HasSubstr("holds something else"));
}

TEST(Slots, ThatDifferFromTheSequentialFormAreFound) {
  WithSlots program(kBranches);
  ScheduledBody& body = program.body("count", true);
  const auto is_middle = [&](const statements::Compute& compute) {
    return program.lifetimes->reads[compute.node.index()] > 2;
  };
  slots_of<statements::Compute>(body, is_middle).values[0] = body.slots.count++;
  EXPECT_THAT(program.message(), HasSubstr("of the sequential form"));
}

TEST(Slots, OfAWindowStayUntilItsCallsHaveReturned) {
  WithSlots program(kWindows);
  Statement& loop =
      first_statement<statements::Loop>(program.body("main", true).statements,
                                        [](const statements::Loop& one) { return one.window != nullptr; });
  const uint32_t count = loop.slots[0].temporaries.at(0);
  for (Statement& statement : std::get<statements::Loop>(loop.what).window->rest) {
    for (StatementSlots& slots : statement.slots) {
      for (uint32_t& slot : slots.values) slot = count;
    }
  }
  EXPECT_THAT(program.message(), HasSubstr("how many calls a window has"));
}

TEST(Slots, ThatNobodyNeedsAreFound) {
  WithSlots fib(kFib);
  slots_of<statements::Calls>(fib.body("fib")).temporaries.push_back(0);
  EXPECT_THAT(fib.message(), HasSubstr("does not need all of its slots"));
}

}  // namespace
}  // namespace hiaton::exec::direct
