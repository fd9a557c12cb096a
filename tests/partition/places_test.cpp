// Which processes places are, the copies of functions that come of them, and what the parts of a graph may
// do.
#include <algorithm>
#include <map>
#include <set>

#include "graph/turns.h"
#include "support.h"

namespace hiaton::partition::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PartitionPlaces, NumbersAreModuloTheProcessesAndNamesGoRoundRobin) {
  const std::string text =
      "fn main(n: i64) -> i64 =\n"
      "  on \"process:5\" (n * 2) + on \"table\" (n * 3) + on \"other\" (n * 4) + on \"table\" (n * 5)\n";
  const Split split(text, 2);
  std::vector<int> processes;
  const Graph& placed = split.parts.placed.graph;
  for (std::size_t n = 0; n < placed.nodes().size(); ++n) {
    const Node& node = placed.nodes()[n];
    if (node.op != nullptr && node.op->name.value == "mul")
      processes.push_back(split.parts.placed.processes[n]);
  }
  EXPECT_THAT(processes, ElementsAre(1, 0, 1, 0));
}

TEST(PartitionPlaces, NamesAreMapped) {
  const Graph graph = graph_of("fn main(n: i64) -> i64 = on \"table\" (n * 2)\n");
  EXPECT_TRUE(split(graph, {.processes = 3}).channels.empty());
  const Partition parts = partition::split(graph, {.processes = 3, .named = {{"table", {2}}}});
  EXPECT_EQ(parts.channels.size(), 2u);
  EXPECT_EQ(parts.channels[0].from + parts.channels[0].to, 2);
}

void expect_refused(const std::string& text, const Places& places, const std::string& message) {
  try {
    partition::split(graph_of(text), places);
    ADD_FAILURE() << "expected an error";
  } catch (const ProgramError& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(PartitionPlaces, WrongOnesAreRefused) {
  expect_refused("fn main(n: i64) -> i64 = on \"process:one\" (n * 2)\n", {.processes = 2},
                 "placement 'process:one': expected a number after 'process:', found 'one'");
  const std::string placed =
      "fn f(n: i64) -> i64 on \"calls\" = n * n\n"
      "fn main(n: i64) -> i64 = f(n) + on \"table\" (n * 2)\n";
  expect_refused(placed, {.processes = 2, .named = {{"table", {2}}}},
                 "place 'table': expected a process from 0 to 1, found 2");
  expect_refused(
      placed, {.processes = 2, .named = {{"tables", {1}}}},
      "place 'tables': expected a place of the program ('calls', 'table'), found none of this name");
  expect_refused("fn main(n: i64) -> i64 = n\n", {.processes = 2, .named = {{"table", {1}}}},
                 "place 'table': expected a program that places something, as by on \"table\", found one "
                 "that has no places");
  expect_refused(placed, {.processes = 2, .named = {{"table", {0, 1}}}},
                 "place 'table': expected one process for what is not a function, found 0+1");
  expect_refused(placed, {.processes = 2, .named = {{"calls", {1, 1}}}},
                 "place 'calls': expected each process once, found 1+1");
  const std::string on_host = "fn main(n: i64) -> i64 = on \"host:nodeb\" (n * n)\n";
  expect_refused(on_host, {.processes = 2},
                 "place 'host:nodeb': expected 'process:K', or a name that --place=NAME=K gives a process");
  expect_refused("fn main(n: i64) -> i64 = n\n", {.processes = 0}, "expected at least 1 process, found 0");
}

TEST(PartitionCopies, EachCallSiteIsOneForEachCopy) {
  const Graph graph = graph_of(
      "fn fib(n: i64) -> i64 on \"fibs\" = if n < 2 then n else fib(n - 1) + fib(n - 2)\n"
      "fn main(n: i64) -> i64 = fib(n)\n");
  const Partition parts = partition::split(graph, {.processes = 3, .named = {{"fibs", {1, 2}}}});
  const PlacedGraph& placed = parts.placed;
  std::map<int, std::multiset<int>> callees;  // by the process of the caller
  for (const graph::Site& site : placed.graph.sites())
    callees[placed.homes[site.caller.index()]].insert(placed.homes[site.callee.index()]);
  EXPECT_EQ(callees[0], (std::multiset<int>{1, 2}));
  EXPECT_EQ(callees[1], (std::multiset<int>{1, 1, 2, 2}));
  EXPECT_EQ(callees[2], (std::multiset<int>{1, 1, 2, 2}));
  EXPECT_THAT(graph::to_text(placed.graph), HasSubstr("= Turn 1 of 2 after %"));
}

/// What arguments went where in a run of the literal form: "1: 3" as often as the call went to process 1.
std::map<int, int> calls_by_process(const std::string& text, const Places& places, int64_t n) {
  const Graph graph = graph_of(text);
  const Partition parts = partition::split(graph, places);
  std::map<int, int> calls;
  exec::PartitionedRunOptions options;
  options.on_crossing = [&](const exec::CrossingEvent& event) {
    const Node& node = parts.placed.graph[event.channel.of.node];
    if (!event.dead && node.kind == NodeKind::Switch) ++calls[event.channel.to];
  };
  const std::vector<Value> arguments{Value(n)};
  std::vector<exec::PartLeftover> leftovers;
  EXPECT_EQ(exec::run_partitioned(graph, parts, arguments, options, &leftovers).values,
            exec::run_reference(graph, arguments, {}).values);
  EXPECT_TRUE(leftovers.empty());
  return calls;
}

TEST(PartitionCopies, TheCallsOfALoopTakeTurns) {
  const std::string text =
      "fn leaf(n: i64) -> i64 on \"leaves\" = n * n\n"
      "fn main(n: i64) -> i64 =\n"
      "  let (_, s) = with i = 0, s = 0 while i < n do (i + 1, s + leaf(i))\n"
      "  s\n";
  EXPECT_EQ(calls_by_process(text, {.processes = 4, .named = {{"leaves", {1, 2, 3}}}}, 30),
            (std::map<int, int>{{1, 10}, {2, 10}, {3, 10}}));
}

TEST(PartitionCopies, TheCallsOfARecursionAreSpread) {
  const std::string text =
      "fn leaf(n: i64) -> i64 on \"leaves\" = n * n\n"
      "fn walk(n: i64) -> i64 = if n == 0 then 0 else leaf(n) + walk(n - 1)\n"
      "fn main(n: i64) -> i64 = walk(n)\n";
  const std::map<int, int> calls =
      calls_by_process(text, {.processes = 3, .named = {{"leaves", {1, 2}}}}, 200);
  EXPECT_EQ(calls.at(1) + calls.at(2), 200);
  EXPECT_GT(calls.at(1), 60);
  EXPECT_GT(calls.at(2), 60);
}

TEST(PartitionPlaces, ParametersThatAProcessCannotHoldAreOnOne) {
  const Graph graph = graph_of(
      "param small: f64[2]\n"
      "param table: f64[1000, 2]\n"
      "param other: f64[400, 2] on \"other\"\n"
      "fn main(n: i64) -> f64[2] = table[n] * small + other[n]\n");
  Places places{.processes = 3, .named = {{"other", {2}}}, .most_bytes = 30'000};
  EXPECT_THAT(placed_parameters(graph, places), ::testing::Each(std::nullopt));
  places.most_bytes = 20'000;
  EXPECT_EQ(placed_parameters(graph, places),
            (std::vector<std::optional<int>>{std::nullopt, 0, std::nullopt}));
  const std::vector<NamedPlace> named = named_places(graph, places);
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[0].what + " is " + named[0].where, "place 'other' is process 2");
  EXPECT_EQ(named[1].what + " is " + named[1].where, "param 'table' of 16000 bytes is process 0");
  for (const Channel& channel : split(graph, places).channels)
    EXPECT_LT(split(graph, places).placed.graph[channel.of.node].type.shape.size(), 2u) << "a row crosses";
  places.most_bytes = 10'000;
  try {
    split(graph, places);
    ADD_FAILURE() << "expected an error";
  } catch (const ProgramError& error) {
    EXPECT_THAT(error.what(), HasSubstr("place 'auto': expected learned parameters that 3 processes of 10000 "
                                        "bytes each hold, found 16000 bytes for process 0"));
  }
}

TEST(PartitionCopies, AFunctionHasABodyForEachProcessThatMakesItsFrames) {
  const Split split(
      "fn f(n: i64) -> i64 = if n == 0 then 0 else 1 + f(n - 1)\n"
      "fn main(n: i64) -> i64 = f(n) + on \"process:1\" f(n) + on \"process:2\" f(n)\n",
      3);
  EXPECT_EQ(split.parts.placed.homes, (std::vector<int>{0, 0, 1, 2}));
  for (std::size_t process = 0; process < 3; ++process) {
    const auto& functions = split.part(process).functions();
    EXPECT_EQ(std::count_if(functions.begin(), functions.end(),
                            [](const graph::Function& function) { return function.name == "f"; }),
              1);
  }
}

TEST(PartitionCopies, ThePlacedGraphIsLegalAndGivesTheSame) {
  const Split split(
      "fn f(n: i64) -> i64 = if n == 0 then 0 else 1 + on \"process:1\" g(n - 1)\n"
      "fn g(n: i64) -> i64 = if n == 0 then 0 else 2 * on \"process:2\" f(n - 1)\n"
      "fn main(n: i64) -> i64 = f(n)\n",
      3);
  const std::vector<Value> arguments{Value(int64_t{6})};
  EXPECT_EQ(exec::run_reference(split.parts.placed.graph, arguments, {}).values,
            exec::run_reference(split.graph, arguments, {}).values);
}

TEST(PartitionCopies, NodesOfACallThatAreApartAreRefused) {
  graph::GraphBuilder builder;
  builder.add_function("main");
  const OutPort a = builder.input("a", DType::I64);
  const OutPort b = builder.input("b", DType::I64);
  const graph::FunctionId callee = builder.add_function("f");
  const OutPort x = builder.merge(DType::I64);
  const OutPort y = builder.merge(DType::I64);
  builder.add_param("x", x);
  builder.add_param("y", y);
  builder.add_result(builder.op(*catalog().find("add"), {x, y}));
  builder.in_function(graph::FunctionId(0));
  const graph::CallSite site = builder.add_site(callee);
  const NodeId first = builder.call(site, a);
  const NodeId second = builder.call(site, b);
  builder.add_input(x, {first});
  builder.add_input(y, {second});
  builder.node(second).placement = "process:1";
  builder.output(builder.return_from(site, DType::I64));
  const Graph graph = builder.finish();
  try {
    split(graph, {.processes = 2});
    ADD_FAILURE() << "expected an error";
  } catch (const ProgramError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Call of 'main': expected it on the process of its call, 0, found it "
                                        "on process 1"));
  }
}

std::string finding_of(graph::GraphBuilder& builder) {
  try {
    builder.finish();
    return {};
  } catch (const ProgramError& error) {
    return error.what();
  }
}

TEST(PartitionCopies, AChoiceBetweenCopiesNamesOneOfThem) {
  for (const auto& [turn, is_legal] :
       {std::pair(graph::Turn{1, 2}, true), std::pair(graph::Turn{2, 2}, false),
        std::pair(graph::Turn{0, 1}, false)}) {
    graph::GraphBuilder builder;
    const graph::FunctionId main = builder.add_function("main");
    const OutPort n = builder.input("n", DType::I64);
    builder.output({builder.add(graph::choice_of_copy(turn, main, n))});
    const std::string finding = finding_of(builder);
    EXPECT_EQ(finding.empty(), is_legal) << finding;
    if (is_legal) continue;
    EXPECT_THAT(finding, HasSubstr("expected no attributes, or a number, more copies"));
  }
}

TEST(PartitionCopies, OnlyACopyMayHaveNoCalls) {
  for (const std::string place : {"process:1", ""}) {
    graph::GraphBuilder builder;
    builder.add_function("main");
    builder.output(builder.input("n", DType::I64));
    const graph::FunctionId copy = builder.add_function("copy");
    builder.function(copy).placement = place;
    const OutPort x = builder.merge(DType::I64);
    builder.add_param("x", x);
    builder.add_result(x);
    EXPECT_EQ(finding_of(builder).empty(), !place.empty());
  }
}

// Parts -----------------------------------------------------------------------------------------------------

TEST(Parts, AreNeitherRunAloneNorSavedNorSplit) {
  const Split split(kFact, 2);
  EXPECT_TRUE(split.part(0).is_part());
  EXPECT_FALSE(split.graph.is_part());
  EXPECT_THROW(graph::to_json(split.part(0)), ProgramError);
  EXPECT_THROW(partition::split(split.part(0), {.processes = 2}), ProgramError);
}

TEST(Parts, ARecvWithoutControlEdgeIsNotLegal) {
  graph::GraphBuilder builder;
  const graph::FunctionId main = builder.add_function("main");
  builder.add({.kind = NodeKind::Recv, .type = DType::I64, .function = main});
  try {
    builder.finish();
    ADD_FAILURE() << "expected an error";
  } catch (const ProgramError& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected 1 control edge, which brings the tags, found 0"));
  }
}

TEST(Parts, AreDrawnABoxAProcess) {
  const Split split(kFact, 2);
  const std::vector<graph::DrawnPart> drawn{{split.part(0), "process 0", {}},
                                            {split.part(1), "process 1", {}}};
  const std::string dot = graph::to_dot(drawn);
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_process0 {\nlabel=<<B>process 0</B>>"));
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_process1 {\nlabel=<<B>process 1</B>>"));
  EXPECT_THAT(dot, HasSubstr("<B>fact</B> <I>for frames on process:0</I>")) << "also in the box of process 1";
  EXPECT_THAT(dot, HasSubstr("p1_n9 -> p0_n13 [id=channel0 "));
  EXPECT_THAT(dot, HasSubstr("p0_n14 -> p1_n2 [id=channel1 "));
}

}  // namespace
}  // namespace hiaton::partition::testing
