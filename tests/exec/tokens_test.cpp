// The tokens that the reference executor makes, with their tags.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "exec/hand_built.h"
#include "exec/programs.h"
#include "exec/reference.h"
#include "tests_dir.h"

namespace hiaton::exec::testing {
namespace {

/// The tokens of a run as "<[tag], value> from kind", in the order in which they were made.
std::vector<std::string> tokens_of(const Graph& graph, const std::vector<Value>& arguments) {
  std::vector<std::string> tokens;
  RunOptions options;
  options.on_token = [&](const TokenEvent& event) {
    const graph::Node& node = graph[event.from.node];
    const std::string_view maker = node.op != nullptr ? node.op->name.value : graph::name_of(node.kind);
    tokens.push_back(fmt::format("<[{}], {}> {}{}", fmt::join(event.tag, ", "),
                                 event.dead ? "*" : to_string(event.value), maker,
                                 node.output_count() == 2 ? fmt::format(".{}", event.from.port) : ""));
  };
  run_reference(graph, arguments, options);
  return tokens;
}

using Tokens = std::vector<std::string>;

TEST(Tokens, ACallPutsItsLabelInFrontOfTheTagAndAReturnTakesItOff) {
  const Graph graph = graph_of("fn half(n: i64) -> i64 = n / 2 fn main(n: i64) -> i64 = half(half(n))");
  EXPECT_EQ(tokens_of(graph, {int64_t{8}}),
            (Tokens{"<[], 8> Input", "<[0], 8> Call", "<[0], 8> Merge", "<[0], 4> div", "<[], 4> Return",
                    "<[1], 4> Call", "<[1], 4> Merge", "<[1], 2> div", "<[], 2> Return"}));
}

TEST(Tokens, AConditionSendsDeadTokensDownTheOtherBranch) {
  const Graph graph = graph_of("fn main(n: i64) -> i64 = if n > 3 then n + 1 else -n");
  EXPECT_EQ(tokens_of(graph, {int64_t{8}}),
            (Tokens{"<[], 8> Input", "<[], true> gt", "<[], 8> Switch.0", "<[], *> Switch.1", "<[], 9> add",
                    "<[], *> neg", "<[], 9> Merge"}));
}

TEST(Tokens, ADeadCallEntersNothingAndItsReturnIsDead) {
  const Graph graph =
      graph_of("fn f(n: i64) -> i64 = n / 0 fn main(n: i64) -> i64 = if n > 3 then n else f(n)");
  EXPECT_EQ(tokens_of(graph, {int64_t{8}}), (Tokens{"<[], 8> Input", "<[], true> gt", "<[], 8> Switch.0",
                                                    "<[], *> Switch.1", "<[], 8> Merge", "<[], *> Return"}));
}

TEST(Tokens, ALoopCountsItsIterationsInTheTag) {
  const Graph graph = graph_of("fn main(n: i64) -> i64 = with x = n while x < 3 do x + 1");
  EXPECT_EQ(
      tokens_of(graph, {int64_t{2}}),
      (Tokens{"<[], 2> Input", "<[0], 2> Enter", "<[0], 2> Merge", "<[0], true> lt", "<[0], 2> Switch.0",
              "<[0], *> Switch.1", "<[0], 3> add", "<[1], 3> NextIteration", "<[1], 3> Merge",
              "<[1], false> lt", "<[1], *> Switch.0", "<[1], 3> Switch.1", "<[1], *> add", "<[], 3> Exit"}));
}

TEST(Tokens, ADeadEnterMakesTheExitDead) {
  const Graph graph =
      graph_of("fn main(n: i64) -> i64 = if n > 3 then n else with x = n while x < 3 do x + 1");
  EXPECT_EQ(tokens_of(graph, {int64_t{8}}), (Tokens{"<[], 8> Input", "<[], true> gt", "<[], 8> Switch.0",
                                                    "<[], *> Switch.1", "<[], 8> Merge", "<[], *> Exit"}));
}

TEST(Tokens, TagsNestCallsAndIterations) {
  const Graph graph = graph_of(
      "fn f(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + n fn main(n: i64) -> i64 = f(f(n))");
  bool seen = false;
  for (const std::string& token : tokens_of(graph, {int64_t{2}})) {
    seen = seen || token == "<[3, 1], 12> Merge";
  }
  EXPECT_TRUE(seen) << "f(4) sums 4 + 4 + 4 before its iteration 3, in the call with label 1";
}

TEST(Tokens, AnIterationMadeBeforeALoopConstantCameGetsItToo) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  OutPort late = hand.int_input("late");
  for (int i = 0; i < 30; ++i) late = hand.add1(late);
  const LoopId loop = hand.add_loop();
  const OutPort i = hand.merge(DType::I64, {hand.enter(loop, n)});
  const OutPort more = hand.apply("lt", {i, hand.constant(int64_t{3})});
  const auto sides = hand.switch_on(i, more);
  hand.add_input(i, hand.next_iteration(loop, hand.add1(sides.when_true)));
  const OutPort constant = hand.enter(loop, late, true);
  hand.output(hand.exit(loop, hand.switch_on(constant, more).when_false));
  const Tokens tokens = tokens_of(hand.finish(), {int64_t{0}, int64_t{0}});
  for (int iteration = 0; iteration <= 3; ++iteration) {
    const std::string token = fmt::format("<[{}], 30> Enter", iteration);
    EXPECT_EQ(std::count(tokens.begin(), tokens.end(), token), 1) << token;
  }
  const auto last_next = std::find(tokens.begin(), tokens.end(), "<[3], 3> NextIteration");
  const auto constant_came = std::find(tokens.begin(), tokens.end(), "<[0], 30> Enter");
  EXPECT_LT(last_next, constant_came);
}

/// The rows of the table of tokens in docs/reference.md, without what they explain.
Tokens documented_tokens() {
  std::ifstream page(tests_dir() / "../docs/reference.md");
  Tokens rows;
  for (std::string line; std::getline(page, line);) {
    const std::string start = fmt::format("| {} | `<[", rows.size() + 1);
    if (line.starts_with(start)) rows.push_back(line.substr(0, line.rfind(" | ")));
  }
  return rows;
}

TEST(Tokens, TheTableInTheDocumentationIsARun) {
  const Graph graph = graph_of(
      "fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1)\n"
      "fn main(n: i64) -> i64 = fact(n) + 5\n");
  Tokens rows;
  RunOptions options;
  options.on_token = [&](const TokenEvent& event) {
    const graph::Node& node = graph[event.from.node];
    const std::string side = node.output_count() < 2 ? "" : event.from.port == 0 ? ".true" : ".false";
    rows.push_back(fmt::format("| {} | `<[{}], {}>` | %{}{} {}", rows.size() + 1, fmt::join(event.tag, ", "),
                               event.dead ? "*" : to_string(event.value), event.from.node.index(), side,
                               node.op != nullptr ? node.op->name.value : graph::name_of(node.kind)));
  };
  run_reference(graph, std::vector<Value>{int64_t{3}}, options);
  EXPECT_EQ(documented_tokens(), rows);
}

TEST(Tokens, APartnerThatNeverComesIsReportedAsLeftOver) {
  Hand hand;
  const graph::FunctionId main = hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const auto sides = hand.switch_on(n, hand.bool_input("p"));
  const graph::FunctionId f = hand.add_function("f");
  const OutPort a = hand.param("a");
  const OutPort b = hand.param("b");
  const OutPort sum = hand.apply("add", {a, b});
  hand.add_result(sum);
  hand.in_function(main);
  const CallSite site = hand.add_site(f);
  hand.argument(site, n, a);
  hand.argument(site, sides.when_true, b);
  hand.output(hand.merge(DType::I64, {hand.return_from(site, DType::I64), sides.when_false}));
  const Graph graph = hand.finish();
  std::vector<WaitingNode> leftovers;
  EXPECT_EQ(run_reference(graph, std::vector<Value>{int64_t{5}, false}, {}, &leftovers).values,
            std::vector<Value>{int64_t{5}});
  ASSERT_EQ(leftovers.size(), 1u);
  EXPECT_EQ(leftovers[0].node, sum.node);
  EXPECT_EQ(leftovers[0].tag, std::vector<uint64_t>{0});
  EXPECT_EQ(leftovers[0].missing, 1u);
}

}  // namespace
}  // namespace hiaton::exec::testing
