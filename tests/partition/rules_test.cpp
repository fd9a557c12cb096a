// The rules by which a graph is split, one by one: papers 000, sections 5.4.1 to 5.4.7, and 001, section 5.2.
#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "support.h"
#include "tests_dir.h"

namespace hiaton::partition::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr const char* kLoop =
    "fn main(n: i64) -> i64 =\n"
    "  let (a, _) = with a = 1, i = n while i > 0 do (on \"process:1\" (a * i), i - 1)\n"
    "  a\n";

std::vector<std::string> channels_of(const Split& split) {
  std::vector<std::string> names;
  for (const Channel& channel : split.parts.channels) names.push_back(name_of(split.parts, channel));
  return names;
}

/// Which part a node of the placed graph is in; it is in one alone, but for constants.
std::vector<int> parts_with(const Partition& parts, NodeId placed) {
  std::vector<int> found;
  for (std::size_t p = 0; p < parts.parts.size(); ++p) {
    const std::vector<NodeId>& nodes = parts.parts[p].nodes;
    if (std::find(nodes.begin(), nodes.end(), placed) != nodes.end()) found.push_back(static_cast<int>(p));
  }
  return found;
}

// 5.4.4: Send and Recv --------------------------------------------------------------------------------------

TEST(PartitionRules, EachNodeIsOnItsProcessAndNowhereElse) {
  const Split split(kFact, 2);
  const Graph& placed = split.parts.placed.graph;
  for (std::size_t n = 0; n < placed.nodes().size(); ++n) {
    const int process = split.parts.placed.processes[n];
    if (process == kEverywhere) continue;
    EXPECT_THAT(parts_with(split.parts, NodeId(n)), ElementsAre(process)) << "%" << n;
    const bool is_product = placed.nodes()[n].op != nullptr && placed.nodes()[n].op->name.value == "mul";
    EXPECT_EQ(process, is_product ? 1 : 0);
  }
}

TEST(PartitionRules, WhatCrossesHasOneSendAndOneRecvHoweverManyReadIt) {
  const Split split("fn main(n: i64) -> i64 = on \"process:1\" (n * n + n)\n", 2);
  EXPECT_THAT(channels_of(split), UnorderedElementsAre("add 1>0", "n 0>1"));
  for (std::size_t c = 0; c < split.parts.channels.size(); ++c) {
    const Channel& channel = split.parts.channels[c];
    const Node& send = split.part(static_cast<std::size_t>(channel.from))[channel.send];
    const Node& recv = split.part(static_cast<std::size_t>(channel.to))[channel.recv];
    EXPECT_EQ(send.kind, NodeKind::Send);
    EXPECT_EQ(recv.kind, NodeKind::Recv);
    EXPECT_EQ(send.index, c);
    EXPECT_EQ(recv.index, c);
    EXPECT_EQ(send.type, recv.type);
  }
}

TEST(PartitionRules, AControlEdgeThatCrossesCarriesNoValue) {
  const Split split("fn main(b: bool) -> i64 = if b then on \"process:1\" 1 else 2\n", 2);
  ASSERT_EQ(split.parts.channels.size(), 2u);
  const auto control = std::find_if(split.parts.channels.begin(), split.parts.channels.end(),
                                    [](const Channel& channel) { return channel.to == 1; });
  EXPECT_FALSE(control->carries_values);
  EXPECT_THAT(run(split, {Value(true)}).crossed, ElementsAre("Switch 0>1 {} alive", "Const 1>0 {} 1"));
  EXPECT_THAT(run(split, {Value(false)}).crossed, ElementsAre("Switch 0>1 {} dead", "Const 1>0 {} dead"));
}

// 5.4.1, 5.4.3, 5.4.7: state machines -----------------------------------------------------------------------

TEST(PartitionRules, FigureThirteen) {
  const Split split(kFact, 2);
  EXPECT_EQ(split.text(1), R"(function main() -> () on "process:0":
  %4 = Const true : bool
  %5 = Call_0(%4) : bool  # fact

function fact(%0) -> () on "process:0", triggered:
  %0 = Merge(%5, %8) : bool
  %1 = mul(%2, %3) : i64
  %2 = Recv_1 after %0 : i64  # n from process 0
  %3 = Recv_2 after %0 : i64  # Return from process 0
  %6 = Recv_3 after %0 : bool  # eq from process 0
  %7 = Switch(%0, %6) : bool
  %8 = Call_1(%7.false) : bool  # fact
  %9 = Send_0(%1) : i64  # mul to process 0
)");
  EXPECT_EQ(split.text(0), R"(function main(n = %0) -> (%2) on "process:0":
  %0 = Input : i64  # n
  %1 = Call_0(%0) : i64  # fact.n
  %2 = Return_0(%10) after %1 : i64  # fact
  %3 = Output(%2) : i64

function fact(n = %4) -> (%10) on "process:0":
  %4 = Merge(%1, %8) : i64  # n
  %5 = eq(%4, %11) : bool
  %6 = Switch(%4, %5) : i64  # n
  %7 = sub(%6.false, %12) : i64
  %8 = Call_1(%7) : i64  # fact.n
  %9 = Return_1(%10) after %8 : i64  # fact
  %10 = Merge(%6.true, %13) : i64
  %11 = Const 1 : i64
  %12 = Const 1 : i64
  %13 = Recv_0 after %4 : i64  # mul from process 1
  %14 = Send_1(%6.false) : i64  # n to process 1
  %15 = Send_2(%9) : i64  # Return to process 1
  %16 = Send_3(%5) : bool  # eq to process 1
)");
}

TEST(PartitionRules, FigureTwelveAControlLoop) {
  EXPECT_EQ(Split(kLoop, 2).text(1), R"(function main() -> () on "process:0":
  %0 = mul(%2, %3) : i64
  %1 = Merge(%5, %8) : bool
  %2 = Recv_1 after %1 : i64  # a from process 0
  %3 = Recv_2 after %1 : i64  # i from process 0
  %4 = Const true : bool
  %5 = Enter(%4) in loop 0 : bool
  %6 = Recv_3 after %1 : bool  # gt from process 0
  %7 = Switch(%1, %6) : bool
  %8 = NextIteration(%7.true) in loop 0 : bool
  %9 = Send_0(%0) : i64  # mul to process 0
)");
}

TEST(PartitionRules, AnotherProcessGetsNoStateMachine) {
  const Split split(kFact, 3);
  EXPECT_TRUE(split.part(2).nodes().empty());
}

TEST(PartitionRules, AFunctionThatIsNotSharedIsNotCopied) {
  const Split split(
      "fn alone(n: i64) -> i64 = if n == 0 then 0 else 1 + alone(n - 1)\n"
      "fn main(n: i64) -> i64 = on \"\" alone(n) + on \"process:1\" (n * n)\n",
      2);
  for (const graph::Function& function : split.part(1).functions()) EXPECT_NE(function.name, "alone");
  EXPECT_TRUE(nodes_of(split.part(1), NodeKind::Call).empty());
}

/// Every Recv of a program that has all kinds of tags is started by what makes the tags of its context.
TEST(PartitionRules, EveryRecvIsStartedUnderTheTagsOfItsContext) {
  const Split split(
      "fn f(n: i64) -> i64 =\n"
      "  let (a, _) = with a = 1, i = n while i > 0 do (on \"process:1\" (a * i), i - 1)\n"
      "  if a < 5 then a else on \"process:2\" (a - f(n - 1))\n"
      "fn main(n: i64) -> i64 = f(n) + on \"process:1\" (n * 2)\n",
      3);
  std::size_t found = 0;
  for (const Part& part : split.parts.parts) {
    for (NodeId recv : nodes_of(part.graph, NodeKind::Recv)) {
      ++found;
      ASSERT_EQ(part.graph[recv].controls.size(), 1u);
      const NodeId starts = part.graph[recv].controls[0].node;
      const graph::LoopId loop = part.graph.loop_of(recv);
      EXPECT_EQ(part.graph.loop_of(starts), loop);
      const bool in_program = part.graph[recv].function == part.graph.main() && !loop.valid();
      EXPECT_EQ(part.graph[starts].kind, in_program ? NodeKind::Op : NodeKind::Merge);
    }
  }
  EXPECT_EQ(found, split.parts.channels.size());
}

TEST(PartitionRules, ASwitchOfAStateMachineGetsThePredicateFromWhoComputesIt) {
  const Split split(
      "fn f(n: i64) -> i64 =\n"
      "  if on \"process:1\" (n > 3) then on \"process:2\" (n * on \"\" f(n - 1)) else n\n"
      "fn main(n: i64) -> i64 = f(n)\n",
      3);
  EXPECT_THAT(channels_of(split), ::testing::IsSupersetOf({"gt 1>0", "gt 1>2"}));
  const Graph& part = split.part(2);
  const std::vector<NodeId> switches = nodes_of(part, NodeKind::Switch);
  ASSERT_EQ(switches.size(), 1u);
  const Node& predicate = part[part[switches[0]].inputs[1].node];
  EXPECT_EQ(predicate.kind, NodeKind::Recv);
  EXPECT_EQ(name_of(split.parts, split.parts.channels[predicate.index]), "gt 1>2");
}

TEST(PartitionRules, BranchesThatChooseNoTagAreLeftOut) {
  const Split split(
      "fn f(n: i64) -> i64 =\n"
      "  let m = if n > 7 then n - 1 else n + 1\n"
      "  if m < 3 then 0 else on \"process:1\" (m * on \"\" f(m - 2))\n"
      "fn main(n: i64) -> i64 = f(n)\n",
      2);
  EXPECT_EQ(nodes_of(split.part(1), NodeKind::Switch).size(), 1u);
  EXPECT_EQ(nodes_of(split.part(1), NodeKind::Merge).size(), 1u);
  EXPECT_THAT(channels_of(split), ::testing::Not(::testing::Contains("gt 0>1")));
}

/// There are two branches, one of which has a call that the other has too, but under another condition.
TEST(PartitionRules, BranchesInBranchesAreCopiedOneInTheOther) {
  const Split split(
      "fn f(n: i64) -> i64 =\n"
      "  if n > 0 then\n"
      "    if n % 2 == 0 then on \"process:1\" (n * on \"\" f(n / 2)) else f(n - 1)\n"
      "  else 1\n"
      "fn main(n: i64) -> i64 = f(n)\n",
      2);
  const Graph& part = split.part(1);
  const std::vector<NodeId> switches = nodes_of(part, NodeKind::Switch);
  ASSERT_EQ(switches.size(), 2u);
  EXPECT_EQ(part[switches[1]].inputs[0], (OutPort{switches[0], 0}));
  EXPECT_EQ(nodes_of(part, NodeKind::Call).size(), 3u);
  EXPECT_THAT(run(split, {Value(int64_t{6})}).values, ElementsAre(Value(int64_t{12})));
}

TEST(PartitionRules, MutualRecursionHasOneStateMachineForAll) {
  const Split split(
      "fn f(n: i64) -> i64 = if n <= 0 then 1 else on \"process:1\" (n + on \"\" g(n - 1))\n"
      "fn g(n: i64) -> i64 = if n <= 0 then 3 else f(n - 2)\n"
      "fn main(n: i64) -> i64 = f(n)\n",
      2);
  std::vector<std::string> names;
  for (const graph::Function& function : split.part(1).functions()) names.push_back(function.name);
  EXPECT_THAT(names, UnorderedElementsAre("main", "f", "g"));
  EXPECT_EQ(nodes_of(split.part(1), NodeKind::Call).size(), 3u);
}

/// A call whose argument is made of two values that branches of their own decide about; what is called is
/// spread over both processes.
template <class MakeArgument>
Split decided_by_two_branches(MakeArgument make_argument) {
  graph::GraphBuilder builder;
  builder.add_function("main");
  const OutPort p = builder.input("p", DType::Bool);
  const OutPort q = builder.input("q", DType::Bool);
  const OutPort n = builder.input("n", DType::I64);
  const graph::FunctionId callee = builder.add_function("f");
  const OutPort x = builder.merge(DType::I64);
  builder.add_param("x", x);
  const OutPort product = builder.op(*catalog().find("mul"), {x, x});
  builder.node(product).placement = "process:1";
  builder.add_result(builder.op(*catalog().find("add"), {product, x}));
  builder.in_function(graph::FunctionId(0));
  const auto by_p = builder.switch_on(n, p);
  const auto by_q = builder.switch_on(n, q);
  const graph::CallSite site = builder.add_site(callee);
  const NodeId call = builder.call(site, make_argument(builder, by_p.when_true, by_q.when_true));
  builder.add_input(x, {call});
  const OutPort result = builder.return_from(site, DType::I64);
  builder.output(builder.merge(DType::I64, {result, by_p.when_false}));
  return {builder.finish(), 2};
}

std::vector<Value> run_decided(const Split& split, bool p, bool q) {
  return run(split, {Value(p), Value(q), Value(int64_t{3})}, {net::Delivery::Random, 5}).values;
}

TEST(PartitionRules, AMergeOfTwoBranchesIsCopied) {
  const Split split = decided_by_two_branches([](graph::GraphBuilder& builder, OutPort p, OutPort q) {
    return builder.merge(DType::I64, {p, q});
  });
  EXPECT_EQ(nodes_of(split.part(1), NodeKind::Switch).size(), 2u);
  EXPECT_EQ(nodes_of(split.part(1), NodeKind::Merge).size(), 2u);
  EXPECT_THAT(run_decided(split, true, false), ElementsAre(Value(int64_t{12})));
  EXPECT_THAT(run_decided(split, false, false), ElementsAre(Value(int64_t{3})));
}

TEST(PartitionRules, WhatNeedsTwoBranchesIsAsDeadAsEither) {
  const Split split = decided_by_two_branches([](graph::GraphBuilder& builder, OutPort p, OutPort q) {
    return builder.op(*catalog().find("add"), {p, q});
  });
  const std::vector<NodeId> operations = nodes_of(split.part(1), NodeKind::Op);
  EXPECT_EQ(std::count_if(operations.begin(), operations.end(),
                          [&](NodeId id) { return split.part(1)[id].op->name.value == "and"; }),
            1);
  EXPECT_THAT(run_decided(split, true, true), ElementsAre(Value(int64_t{42})));
  EXPECT_THAT(run_decided(split, false, true), ElementsAre(Value(int64_t{3})));
}

// 5.4.5, 5.4.6: deadness ------------------------------------------------------------------------------------

TEST(PartitionRules, EachChannelCarriesOneTokenForEachTagDeadOrAlive) {
  const Split split(kFact, 2);
  EXPECT_EQ(run(split, {Value(int64_t{1})}).crossed.size(), 4u);
  const Found two = run(split, {Value(int64_t{2})});
  EXPECT_EQ(two.crossed.size(), 8u);
  EXPECT_EQ(two.dead, 3u) << "n and the result to process 1, the product back, in the last call";
  const Found three = run(split, {Value(int64_t{3})});
  EXPECT_EQ(three.crossed.size(), 12u);
  EXPECT_EQ(std::set<std::string>(three.crossed.begin(), three.crossed.end()).size(), 12u);
}

/// The cells of the rows of a table in a document, without the marks of code.
std::vector<std::string> documented_tokens() {
  std::ifstream document(tests_dir() / "../docs/distribution.md");
  std::vector<std::string> tokens;
  for (std::string line; std::getline(document, line);) {
    const std::regex row(R"(\| \d+ \| (\d>\d) \| (\w+) \| `\[([^\]]*)\]` \| (\w+) \|.*)");
    std::smatch cells;
    if (!std::regex_match(line, cells, row)) continue;
    tokens.push_back(cells[2].str() + " " + cells[1].str() + " { " + cells[3].str() + " } " + cells[4].str());
  }
  return tokens;
}

TEST(PartitionRules, TheTableInTheDocumentationIsARun) {
  const std::vector<std::string> expected = documented_tokens();
  ASSERT_EQ(expected.size(), 12u);
  EXPECT_EQ(run(Split(kFact, 2), {Value(int64_t{3})}).crossed, expected);
}

TEST(PartitionRules, ADeadTokenDoesNotEnterAFunctionOnAnotherProcess) {
  const Split split(
      "fn there(n: i64) -> i64 on \"process:1\" = n + 1\n"
      "fn main(b: bool, n: i64) -> i64 = if b then there(n) else n\n",
      2);
  const Found taken = run(split, {Value(true), Value(int64_t{4})});
  EXPECT_THAT(taken.crossed, ElementsAre("n 0>1 {} 4", "Return 1>0 {} 5"));
  EXPECT_EQ(taken.stats.calls, 1u);
  const Found not_taken = run(split, {Value(false), Value(int64_t{4})});
  EXPECT_THAT(not_taken.crossed, ElementsAre("n 0>1 {} dead", "Return 1>0 {} dead"));
  EXPECT_EQ(not_taken.stats.calls, 0u);
}

TEST(PartitionRules, EachCallHasAControlEdgeToItsReturnOnTheSameProcess) {
  const Split split(
      "fn there(n: i64) -> i64 on \"process:1\" = if n > 5 then n else there(n + 1) * 2\n"
      "fn main(n: i64) -> i64 = there(n)\n",
      2);
  std::size_t found = 0;
  for (const Part& part : split.parts.parts) {
    for (NodeId id : nodes_of(part.graph, NodeKind::Return)) {
      ++found;
      const graph::Site& site = part.graph[part.graph[id].site];
      ASSERT_EQ(part.graph[id].controls.size(), site.calls.size());
      EXPECT_EQ(part.graph[id].controls[0], (OutPort{site.calls[0]}));
    }
  }
  EXPECT_EQ(found, 2u);
}

TEST(PartitionRules, ADeadLoopElsewhereGivesDeadResults) {
  const Split split(
      "fn main(b: bool, n: i64) -> i64 =\n"
      "  if b then on \"process:1\" (with i = n while i < 9 do on \"process:2\" (i + 2)) else n\n",
      3);
  EXPECT_THAT(run(split, {Value(true), Value(int64_t{4})}).values, ElementsAre(Value(int64_t{10})));
  const Found dead = run(split, {Value(false), Value(int64_t{4})});
  EXPECT_THAT(dead.values, ElementsAre(Value(int64_t{4})));
  EXPECT_EQ(dead.dead, 2u) << "into the loop, and its result";
}

TEST(PartitionRules, ALoopSendsATokenForEachIterationAndOneForItsEnd) {
  const Split split(kLoop, 2);
  for (int64_t turns : {0, 1, 3}) {
    const Found found = run(split, {Value(turns)});
    EXPECT_EQ(found.crossed.size(), 4 * static_cast<std::size_t>(turns + 1));
    EXPECT_EQ(found.dead, 3u) << "a, i and the product, in the iteration that ends it";
  }
}

}  // namespace
}  // namespace hiaton::partition::testing
