// Runs that are drawn: the same results, and slices that close, whoever ran what. What the files say is
// tested from outside, in tests/end_to_end/traces.py.
#include "hiaton/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exec/production.h"
#include "exec/programs.h"
#include "exec/stealing.h"

namespace hiaton::exec::testing {
namespace {

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Trace, DrawnRunsGiveTheSameResultsAndFaults) {
  for (const ProgramCase& program : programs()) {
    const graph::Graph graph = graph_of(program.text);
    for (const int workers : {1, 2, 8}) {
      Trace trace;
      RunOptions options;
      options.trace = &trace;
      try {
        const RunResult result = run({Executor::Production, workers}, graph, program.arguments, options);
        EXPECT_EQ(program.fault, Fault::None) << program.name;
        EXPECT_EQ(result.values, program.expected) << program.name;
        EXPECT_EQ(result.stats.frames_live_at_end, 0u) << program.name;
      } catch (const RunError& error) {
        EXPECT_EQ(error.fault(), program.fault) << program.name;
      }
      EXPECT_TRUE(nlohmann::json::accept(trace.to_json())) << program.name;
    }
  }
}

struct Stolen {
  std::string_view text;
  int64_t argument;
  int64_t expected;
};

class Steals : public ::testing::TestWithParam<Stolen> {};

TEST_P(Steals, AreArrows) {
  const graph::Graph graph = graph_of(GetParam().text);
  PlanCache plans;
  RunOptions options;
  options.workers = 4;
  uint64_t steals = 0;
  for (int i = 0; wants_another_run(i, kRepeats / 10, steals, options); ++i) {
    Trace trace;
    options.trace = &trace;
    const std::vector<Value> arguments{GetParam().argument};
    const RunResult result = run_production(graph, arguments, options, plans);
    ASSERT_EQ(result.values[0], Value(GetParam().expected));
    const std::string json = trace.to_json();
    ASSERT_EQ(count_of(json, R"("ph":"s")"), result.stats.steals);
    ASSERT_EQ(count_of(json, R"("ph":"f")"), result.stats.steals);
    ASSERT_EQ(count_of(json, R"("cat":"stolen call")"), result.stats.steals);
    steals += result.stats.steals;
  }
  EXPECT_GT(steals, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Trace, Steals,
    ::testing::Values(Stolen{kFib, 18, 4181},
                      Stolen{"fn down(n: i64) -> i64 = if n <= 0 then 0 else 1 + down(n - 1)\n"
                             "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
                             "  if i % 2 == 0 then acc + down(i) else acc\n",
                             100, 2450},
                      Stolen{
                          "fn down(n: i64) -> i64 = if n <= 0 then 0 else 1 + down(n - 1)\n"
                          "fn main(n: i64) -> i64 =\n"
                          "  (if n > 2 then down(n * 300) else 0) + (if n > 3 then down(n * 200) else 0)\n",
                          9, 4500}));

TEST(Trace, ARunThatIsNotDrawnHasNoInstructionForIt) {
  const graph::Graph graph = graph_of(kFib);
  std::string reason;
  for (const bool traced : {false, true}) {
    const std::shared_ptr<const direct::Plan> plan =
        direct::compile(graph, {.forking = true, .traced = traced}, reason);
    EXPECT_EQ(to_text(*plan, graph).find("BeginCall") != std::string::npos, traced);
  }
}

TEST(Trace, ShowsNumbersAndTheTypesOfOtherArguments) {
  const graph::Graph graph = graph_of(
      "data Tree = Leaf(n: i64) | Node(l: Tree, r: Tree)\n"
      "fn total(t: Tree, x: f64[m], s: str, c: bool) -> i64 =\n"
      "  match t\n"
      "    Leaf(n) -> n + length(s) + size(x, axis=0)\n"
      "    Node(l, r) -> total(l, x, s, c) + total(r, x, s, c)\n"
      "fn main(n: i64) -> i64 = total(Node(Leaf(n), Leaf(2)), [0.5, 1.5], \"text\", n == 0)\n");
  Trace trace;
  RunOptions options;
  options.trace = &trace;
  run({Executor::Production, 1}, graph, std::vector<Value>{int64_t{1}}, options);
  const std::string json = trace.to_json();
  EXPECT_EQ(count_of(json, "\"total(Tree, f64[m], str, false)\""), 2u) << json;
  EXPECT_EQ(count_of(json, "\"t\":\"Tree\""), 2u) << json;
}

TEST(Trace, KeepsTheFirstAndCountsTheOthers) {
  Trace trace({.most_events = 2});
  Trace::Track& track = trace.track("work");
  const Trace::KindId kind = trace.kind({"slice", "test", {{"number", DType::I64}}});
  for (int64_t i = 0; i < 5; ++i) {
    track.begin(kind)[0].i64 = i;
    track.begin(kind)[0].i64 = 10 + i;
    track.end();
    track.end()[0].i64 += 100;
  }
  EXPECT_EQ(trace.dropped(), 8u);
  const std::string json = trace.to_json();
  EXPECT_EQ(count_of(json, R"("ph":"X")"), 2u);
  EXPECT_NE(json.find(R"("number":100)"), std::string::npos);
  EXPECT_NE(json.find(R"("number":10})"), std::string::npos);
}

TEST(Trace, CountersAddUpOverTracks) {
  Trace trace;
  trace.worker(0).count(3, 100);
  trace.worker(1).count(4, 200);
  trace.worker(0).count(0, 0);
  trace.worker(1).count(0, 0);
  std::vector<uint64_t> frames;
  const nlohmann::json json = nlohmann::json::parse(trace.to_json());
  for (const nlohmann::json& event : json["traceEvents"]) {
    if (event["ph"] == "C" && event["name"] == "frames") frames.push_back(event["args"]["frames"]);
  }
  EXPECT_EQ(frames, (std::vector<uint64_t>{3, 7, 4, 0}));
}

TEST(Trace, NamesAndValuesThatJsonDoesNotTakeAsTheyAre) {
  Trace trace;
  Trace::Track& track = trace.track("a \"track\"\n");
  const Trace::KindId kind = trace.kind({"a\\b", "test", {{"x", DType::F64}, {"yes", DType::Bool}}, 2});
  Slot* fields = track.begin(kind);
  fields[0] = make_slot(std::numeric_limits<double>::quiet_NaN());
  fields[1] = make_slot(true);
  track.end();
  const nlohmann::json slice = nlohmann::json::parse(trace.to_json())["traceEvents"][3];
  EXPECT_EQ(slice["name"], "a\\b(nan, true)");
  EXPECT_EQ(slice["args"]["x"], "nan");
  EXPECT_EQ(slice["args"]["yes"], true);
}

}  // namespace
}  // namespace hiaton::exec::testing
