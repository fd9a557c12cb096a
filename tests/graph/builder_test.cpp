#include <gtest/gtest.h>

#include "hand_built.h"

namespace hiaton::graph {
namespace {

using namespace testing;

TEST(GraphBuilder, BuildsFactOfThePaper) {
  Fact fact;
  const Graph graph = fact.builder.finish();
  EXPECT_EQ(graph.functions().size(), 2u);
  EXPECT_EQ(graph.sites().size(), 2u);
  EXPECT_EQ(graph.inputs().size(), 0u);
  EXPECT_EQ(graph.outputs(), std::vector{fact.output});
}

TEST(GraphBuilder, FinishLeadsResultsAndControlEdgesToReturns) {
  Fact fact;
  const Graph graph = fact.builder.finish();
  const Node& result = graph[fact.inner_return.node];
  EXPECT_EQ(result.inputs, std::vector{fact.result});
  EXPECT_EQ(result.controls, std::vector{OutPort{fact.inner_call}});
  EXPECT_EQ(graph[fact.outer_return.node].controls, std::vector{OutPort{fact.outer_call}});
}

TEST(Graph, ConsumersOfEachSideOfASwitchAreKeptApart) {
  Fact fact;
  const Graph graph = fact.builder.finish();
  const auto when_true = graph.consumers(fact.sides.when_true);
  ASSERT_EQ(when_true.size(), 1u);
  EXPECT_EQ(when_true[0], (InPort{fact.result.node, 0}));
  EXPECT_EQ(graph.consumers(fact.sides.when_false).size(), 2u);
  EXPECT_EQ(graph.consumers({fact.output}).size(), 0u);
}

TEST(Graph, ControlConsumersAreTheReturnsOfTheSite) {
  Fact fact;
  const Graph graph = fact.builder.finish();
  const auto waiting = graph.control_consumers({fact.outer_call});
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0], fact.outer_return.node);
  EXPECT_TRUE(graph.control_consumers(fact.n).empty());
}

TEST(Graph, KnowsTheLoopOfEachNode) {
  Counter counter;
  const Graph graph = counter.builder.finish();
  for (OutPort inside : {counter.enter, counter.merge, counter.goes_on, counter.more, counter.next}) {
    EXPECT_EQ(graph.loop_of(inside.node), counter.loop);
  }
  EXPECT_FALSE(graph.loop_of(counter.exit.node).valid());
  EXPECT_FALSE(graph.loop_of(counter.limit.node).valid());
  EXPECT_FALSE(graph.loops()[0].parent.valid());
}

TEST(GraphBuilder, RefusesIdsOfNothing) {
  GraphBuilder builder;
  builder.add_function("main");
  const OutPort one = builder.constant(int64_t{1});
  EXPECT_THROW(builder.call(CallSite(7), one), ProgramError);
  EXPECT_THROW(builder.enter(LoopId(), one), ProgramError);
  EXPECT_THROW(builder.node(NodeId(99)), ProgramError);
  EXPECT_THROW(builder.in_function(FunctionId(3)), ProgramError);
}

TEST(GraphBuilder, ChecksOperandsByTheRuleOfTheOperation) {
  GraphBuilder builder;
  builder.add_function("main");
  const OutPort number = builder.constant(int64_t{1});
  const OutPort truth = builder.constant(true);
  EXPECT_THROW(builder.op(op_named("add"), {number, truth}), ProgramError);
  EXPECT_THROW(builder.op(op_named("add"), {number}), ProgramError);
}

TEST(GraphText, ShowsKindsInputsControlEdgesAndTypes) {
  Fact fact;
  EXPECT_EQ(to_text(fact.builder.finish()), R"(function main() -> (%14):
  %10 = Const 3 : i64
  %11 = Call_1(%10) : i64  # fact.n
  %12 = Return_1(%9) after %11 : i64  # fact
  %13 = Const 5 : i64
  %14 = add(%12, %13) : i64
  %15 = Output(%14) : i64

function fact(n = %0) -> (%9):
  %0 = Merge(%11, %6) : i64
  %1 = Const 1 : i64
  %2 = eq(%0, %1) : bool
  %3 = Switch(%0, %2) : i64
  %4 = Const 1 : i64
  %5 = sub(%3.false, %4) : i64
  %6 = Call_0(%5) : i64  # fact.n
  %7 = Return_0(%9) after %6 : i64  # fact
  %8 = mul(%3.false, %7) : i64
  %9 = Merge(%3.true, %8) : i64
)");
}

TEST(GraphText, ShowsLoopsConstantsAndPlacements) {
  Counter counter;
  counter.builder.node(counter.more).placement = "process:1";
  counter.builder.node(counter.more).name = "more";
  EXPECT_EQ(to_text(counter.builder.finish()), R"(function main(limit = %0) -> (%10):
  %0 = Input : i64  # limit
  %1 = Const 0 : i64
  %2 = Enter(%1) in loop 0 : i64
  %3 = Merge(%2, %9) : i64
  %4 = Enter(%0) in loop 0 as constant : i64
  %5 = lt(%3, %4) : bool
  %6 = Switch(%3, %5) : i64
  %7 = Const 1 : i64
  %8 = add(%6.true, %7) on "process:1" : i64  # more
  %9 = NextIteration(%8) in loop 0 : i64
  %10 = Exit(%6.false) in loop 0 : i64
  %11 = Output(%10) : i64
)");
}

TEST(GraphDot, DrawsFunctionsAndLoopsAsBoxes) {
  Counter counter;
  const std::string dot = to_dot(counter.builder.finish());
  EXPECT_NE(dot.find("subgraph cluster_function0"), std::string::npos);
  EXPECT_NE(dot.find("subgraph cluster_loop0"), std::string::npos);
}

TEST(GraphDot, LabelsCallsAndDashesControlEdges) {
  Fact fact;
  const std::string dot = to_dot(fact.builder.finish());
  for (const char* label : {"CALL₀", "CALL₁", "RETURN₀", "RETURN₁", "style=dashed"}) {
    EXPECT_NE(dot.find(label), std::string::npos) << label;
  }
}

TEST(GraphDot, ACollapsedFunctionIsABoxAtItsCalls) {
  Fact fact;
  const Graph graph = fact.builder.finish();
  const std::string dot = to_dot(graph, {.collapsed = {"fact"}});
  EXPECT_NE(dot.find("label=<fact₁>"), std::string::npos) << dot;
  EXPECT_EQ(dot.find("CALL"), std::string::npos) << "the call is one box";
  EXPECT_EQ(dot.find("Merge"), std::string::npos) << "the body of fact is left out";
  EXPECT_NE(dot.find("n10 -> s1_0"), std::string::npos) << "the argument goes in";
  EXPECT_NE(dot.find("s1_0 -> n14"), std::string::npos) << "the result comes out";
  const std::string only = to_dot(graph, {.only = {"fact"}});
  EXPECT_EQ(only.find("<B>main</B>"), std::string::npos);
  EXPECT_NE(only.find("CALL₀"), std::string::npos) << "fact calls itself";
  EXPECT_EQ(only.find("CALL₁"), std::string::npos);
}

TEST(GraphDot, RefusesFunctionsThatThereAreNot) {
  Fact fact;
  const Graph graph = fact.builder.finish();
  try {
    to_dot(graph, {.only = {"fakt"}});
    FAIL() << "no error";
  } catch (const ProgramError& error) {
    EXPECT_STREQ(error.what(), "the graph has no function 'fakt'; it has main, fact");
  }
}

TEST(GraphDot, TheLegendExplainsWhatIsThere) {
  Fact fact;
  const Graph graph = fact.builder.finish();
  const std::string dot = to_dot(graph, {.legend = true});
  EXPECT_NE(dot.find("puts the label of the call site"), std::string::npos);
  EXPECT_EQ(dot.find("count iterations"), std::string::npos) << "there is no loop";
  EXPECT_EQ(dot.find("backward"), std::string::npos) << "nor a gradient";
  EXPECT_EQ(to_dot(graph).find("legend"), std::string::npos);
}

TEST(GraphDot, NamesCannotBreakOutOfTheirLabels) {
  GraphBuilder builder;
  builder.add_function("a<b>&\"c\"");
  builder.output(builder.input("x\n<i>", DType::I64));
  const std::string dot = to_dot(builder.finish());
  EXPECT_NE(dot.find("a&lt;b&gt;&amp;&quot;c&quot;"), std::string::npos);
  EXPECT_EQ(dot.find("<i>"), std::string::npos);
}

TEST(GraphSvg, IsMadeByGraphviz) {
  Fact fact;
  const std::string svg = to_svg(fact.builder.finish());
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_NE(svg.find("fact"), std::string::npos);
}

TEST(GraphSvg, SaysWhichPackageIsMissing) {
  Fact fact;
  const Graph graph = fact.builder.finish();
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  std::string message;
  try {
    to_svg(graph);
  } catch (const ProgramError& error) {
    message = error.what();
  }
  setenv("PATH", path.c_str(), 1);
  EXPECT_NE(message.find("graphviz"), std::string::npos) << message;
}

}  // namespace
}  // namespace hiaton::graph
