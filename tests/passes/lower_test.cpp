// Every construct of the language, lowered.
#include "lower_support.h"

namespace hiaton::passes {
namespace {

using namespace testing;

/// The node that a Const waits for; invalid if none.
OutPort trigger_of(const Graph& graph, OutPort constant) {
  const Node& node = graph[constant.node];
  EXPECT_EQ(node.kind, NodeKind::Const);
  return node.controls.empty() ? OutPort{} : node.controls[0];
}

TEST(Lower, NeedsTheFunctionToStartAt) {
  ir::Module module =
      lang::parse(std::make_shared<Source>("t.hia", "fn f(x: i64) -> i64 = x\nfn g(x: i64) -> i64 = x\n"));
  try {
    lower(module);
    FAIL() << "expected an error";
  } catch (const ProgramError& error) {
    EXPECT_STREQ(error.what(), "t.hia: expected a function 'main' to start at, found only: f, g");
  }
  module.entry = *module.find("g");
  EXPECT_EQ(lower(module).functions()[0].name, "g");
}

TEST(Lower, SaysThatAnEmptyModuleHasNoFunctions) {
  try {
    lower(ir::Module{});
    FAIL() << "expected an error";
  } catch (const ProgramError& error) {
    EXPECT_STREQ(error.what(), "expected a function 'main' to start at, found no function");
  }
}

TEST(Lower, LeavesOutWhatMainDoesNotReach) {
  const Graph graph = lowered(R"(
fn unused(x: i64) -> i64 = used(x)
fn used(x: i64) -> i64 = x + 1
fn main(x: i64) -> i64 = used(x))");
  ASSERT_EQ(graph.functions().size(), 2u);
  EXPECT_EQ(graph.functions()[1].name, "used");
  EXPECT_EQ(graph[graph.functions()[1].params[0].node].inputs.size(), 1u);
}

TEST(Lower, KeepsNamesSpansAndPlacements) {
  const Graph graph = lowered(
      "fn f(x: i64) -> i64 on \"process:1\" = x + 1\n"
      "fn main(x: i64) -> i64 =\n  let y = on \"process:2\" (x * 2)\n  f(y)\n");
  EXPECT_EQ(graph.functions()[1].placement, "process:1");
  ASSERT_NE(graph.source(), nullptr);
  const NodeId product = nodes_in(graph, "main", NodeKind::Op).at(0);
  EXPECT_EQ(graph[product].placement, "process:2");
  EXPECT_EQ(graph[product].name, "y");
  EXPECT_EQ(graph.source()->text(graph[product].span), "*");
  EXPECT_EQ(graph.source()->text(graph.sites()[0].span), "f(y)");
  EXPECT_EQ(graph.functions()[0].param_names, std::vector<std::string>{"x"});
}

// Constants

TEST(LowerConstants, OperandsBesideAValueNeedNoTrigger) {
  const Graph graph = lowered("fn f(x: i64) -> i64 = x + 1\nfn main(x: i64) -> i64 = f(x)\n");
  EXPECT_EQ(count(graph, NodeKind::Const), 1u);
  EXPECT_EQ(count_control_edges(graph), 1u) << "the call's only";
}

TEST(LowerConstants, AResultOfAFunctionIsStartedByItsFirstParameter) {
  const Graph graph = lowered("fn f(x: i64) -> i64 = 7\nfn main(x: i64) -> i64 = f(x)\n");
  const graph::Function& f = graph.functions()[1];
  EXPECT_EQ(trigger_of(graph, f.results[0]), f.params[0]);
}

TEST(LowerConstants, OnlyOneOperandOfAnOperationOnConstantsIsStarted) {
  const Graph graph = lowered("fn f(x: i64) -> i64 = 2 * 3\nfn main(x: i64) -> i64 = f(x)\n");
  const graph::Function& f = graph.functions()[1];
  const Node& product = graph[f.results[0].node];
  EXPECT_EQ(trigger_of(graph, product.inputs[0]), f.params[0]);
  EXPECT_FALSE(trigger_of(graph, product.inputs[1]).node.valid());
}

TEST(LowerConstants, EachConstantArgumentIsStarted) {
  const Graph graph = lowered(R"(
fn f(x: i64, y: i64) -> i64 = x + y
fn g(x: i64) -> i64 = f(x, 1) + f(2, 3)
fn main(x: i64) -> i64 = g(x))");
  const NodeId g = graph.functions()[2].params[0].node;
  std::size_t started = 0;
  for (NodeId id : nodes_in(graph, "g", NodeKind::Const)) {
    EXPECT_EQ(trigger_of(graph, {id}).node, g);
    ++started;
  }
  EXPECT_EQ(started, 3u);
}

TEST(LowerConstants, MainStartsByItself) {
  const Graph graph = lowered("fn f(x: i64) -> i64 = x\nfn main() -> (i64, i64) = (f(3) + 2 * 2, 5)\n");
  for (NodeId id : nodes_in(graph, "main", NodeKind::Const)) EXPECT_TRUE(graph[id].controls.empty());
}

TEST(LowerConstants, OneConstantServesAllItsUses) {
  const Graph graph = lowered("fn main(x: i64) -> i64 =\n  let k = 3\n  if x > k then x * k else x - k\n");
  EXPECT_EQ(count(graph, NodeKind::Const), 1u);
  EXPECT_EQ(count(graph, NodeKind::Switch), 1u) << "a constant passes no Switch";
}

// Functions

TEST(LowerFunctions, OneWithoutParametersIsStartedByABool) {
  const Graph graph = lowered(
      "fn seven() -> i64 = 3 + 4\nfn f(x: i64) -> i64 = x + seven()\nfn main(x: i64) -> i64 = f(x)\n");
  const graph::Function& seven = graph.functions()[1];
  EXPECT_TRUE(seven.triggered);
  ASSERT_EQ(seven.params.size(), 1u);
  EXPECT_EQ(graph[seven.params[0].node].type, Type(DType::Bool));
  const Node& call = graph[graph[seven.params[0].node].inputs[0].node];
  EXPECT_EQ(graph[call.inputs[0].node].constant, Value(true));
  EXPECT_EQ(trigger_of(graph, call.inputs[0]), graph.functions()[2].params[0]);
}

TEST(LowerFunctions, AMainThatIsCalledGetsAProgramAroundIt) {
  const Graph graph = lowered("fn main(n: i64) -> i64 = if n <= 0 then 0 else main(n - 1) + 1\n");
  ASSERT_EQ(graph.functions().size(), 2u);
  EXPECT_EQ(graph.functions()[0].name, "program");
  EXPECT_EQ(graph.functions()[0].param_names, std::vector<std::string>{"n"});
  EXPECT_EQ(graph.functions()[1].name, "main");
  EXPECT_EQ(graph[graph.functions()[1].params[0].node].inputs.size(), 2u);
  EXPECT_EQ(nodes_in(graph, "program", NodeKind::Call).size(), 1u);
}

TEST(LowerFunctions, AMainWithoutParametersThatIsCalled) {
  const Graph graph =
      lowered("fn f(n: i64) -> i64 = if n <= 0 then 0 else main()\nfn main() -> i64 = f(0)\n");
  EXPECT_EQ(graph.functions()[0].name, "program");
  EXPECT_EQ(graph.functions()[1].name, "main");
  EXPECT_TRUE(graph.functions()[1].triggered);
}

TEST(LowerFunctions, AParameterMayBeTheResult) {
  const Graph graph = lowered("fn f(x: i64) -> i64 = x\nfn main(x: i64) -> i64 = f(x)\n");
  EXPECT_EQ(graph.functions()[1].results[0], graph.functions()[1].params[0]);
}

// If

TEST(LowerIf, EachCapturedValuePassesOneSwitchForBothBranches) {
  const Graph graph = lowered("fn main(p: bool, x: i64, y: i64) -> i64 = if p then x + y else x * x - y\n");
  EXPECT_EQ(count(graph, NodeKind::Switch), 2u);
  EXPECT_EQ(count(graph, NodeKind::Merge), 1u);
}

TEST(LowerIf, EachResultIsAMerge) {
  const Graph graph =
      lowered("fn main(p: bool, x: i64, y: i64) -> (i64, i64) = if p then (x, y) else (y, x)\n");
  EXPECT_EQ(count(graph, NodeKind::Switch), 2u);
  EXPECT_EQ(count(graph, NodeKind::Merge), 2u);
}

TEST(LowerIf, AConstantOfABranchIsStartedByTheFirstCapturedValue) {
  const Graph graph = lowered("fn main(p: bool, x: i64, y: i64) -> i64 = if p then x + y else 4\n");
  const Node& merge = graph[nodes_in(graph, "main", NodeKind::Merge).at(0)];
  const OutPort trigger = trigger_of(graph, merge.inputs[1]);
  EXPECT_EQ(trigger.port, 1u);
  EXPECT_EQ(graph[trigger.node].name, "x");
}

TEST(LowerIf, WithoutCapturedValuesThePredicateStartsBothBranches) {
  const Graph graph = lowered("fn main(p: bool) -> i64 = if p then 1 else 2\n");
  ASSERT_EQ(count(graph, NodeKind::Switch), 1u);
  const NodeId pivot = nodes_in(graph, "main", NodeKind::Switch)[0];
  EXPECT_EQ(graph[pivot].inputs[0], graph[pivot].inputs[1]);
  const Node& merge = graph[nodes_in(graph, "main", NodeKind::Merge).at(0)];
  EXPECT_EQ(trigger_of(graph, merge.inputs[0]), (OutPort{pivot, 0}));
  EXPECT_EQ(trigger_of(graph, merge.inputs[1]), (OutPort{pivot, 1}));
}

TEST(LowerIf, AConstantFromOutsideIsStartedByTheBranch) {
  const Graph graph = lowered("fn main(p: bool, x: i64) -> i64 =\n  let k = 3\n  if p then k else x\n");
  const Node& merge = graph[nodes_in(graph, "main", NodeKind::Merge).at(0)];
  EXPECT_EQ(trigger_of(graph, merge.inputs[0]).port, 0u);
}

TEST(LowerIf, ConstantPredicates) {
  const Graph in_main = lowered("fn main(x: i64) -> i64 = if true then x else 0\n");
  EXPECT_EQ(count(in_main, NodeKind::Switch), 1u);
  const Graph in_function =
      lowered("fn f(x: i64) -> i64 = if true then 1 else 2\nfn main(x: i64) -> i64 = f(x)\n");
  const NodeId pivot = nodes_in(in_function, "f", NodeKind::Switch).at(0);
  EXPECT_EQ(trigger_of(in_function, in_function[pivot].inputs[0]), in_function.functions()[1].params[0]);
}

TEST(LowerIf, IfsByOnePredicateCanBeToldApart) {
  const Graph graph = lowered(
      "fn main(p: bool, x: i64) -> i64 = (if p then x else 0) + (if p then x else 1) + (if p then x else "
      "2)\n");
  const std::vector<NodeId> switches = nodes_in(graph, "main", NodeKind::Switch);
  ASSERT_EQ(switches.size(), 3u);
  EXPECT_EQ(count_ops(graph, "identity"), 2u);
  EXPECT_NE(graph[switches[0]].inputs[1], graph[switches[1]].inputs[1]);
  EXPECT_NE(graph[switches[1]].inputs[1], graph[switches[2]].inputs[1]);
}

TEST(LowerIf, AnIfInsideAnIfByTheSamePredicate) {
  const Graph graph = lowered("fn main(p: bool, x: i64) -> i64 = if p then (if p then x else 1) else 2\n");
  EXPECT_EQ(count_ops(graph, "identity"), 0u) << "inside, the predicate is another value: the Switch's";
  EXPECT_EQ(count(graph, NodeKind::Switch), 3u);
}

TEST(LowerIf, CallsInABranchAreStartedByTheBranch) {
  const Graph graph = lowered("fn f(x: i64) -> i64 = x\nfn main(p: bool) -> i64 = if p then f(3) else 1\n");
  const Node& call = graph[nodes_in(graph, "main", NodeKind::Call).at(0)];
  EXPECT_EQ(trigger_of(graph, call.inputs[0]).port, 0u);
}

// Loops

constexpr const char* kSum = R"(
fn main(n: i64) -> i64 =
  let (i, sum) = with i = 0, sum = 0 while i < n do (i + 1, sum + i)
  sum
)";

TEST(LowerLoop, StateVariablesGoRound) {
  const Graph graph = lowered(kSum);
  ASSERT_EQ(graph.loops().size(), 1u);
  const graph::Loop& loop = graph.loops()[0];
  EXPECT_EQ(loop.enters.size(), 3u) << "i, sum and n";
  EXPECT_EQ(loop.nexts.size(), 2u);
  EXPECT_EQ(loop.exits.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto readers = graph.consumers({loop.enters[i]});
    ASSERT_EQ(readers.size(), 1u);
    const Node& merge = graph[readers[0].node];
    EXPECT_EQ(merge.inputs, (std::vector{OutPort{loop.enters[i]}, OutPort{loop.nexts[i]}}));
    const OutPort leaving = graph[loop.exits[i]].inputs[0];
    EXPECT_EQ(graph[leaving.node].kind, NodeKind::Switch);
    EXPECT_EQ(leaving.port, 1u);
    EXPECT_EQ(graph[leaving.node].inputs[0].node, readers[0].node);
  }
}

TEST(LowerLoop, ValuesFromOutsideEnterAsConstants) {
  const Graph graph = lowered(kSum);
  const graph::Loop& loop = graph.loops()[0];
  EXPECT_TRUE(graph[loop.enters[2]].loop_constant);
  EXPECT_FALSE(graph[loop.enters[0]].loop_constant);
  EXPECT_EQ(count(graph, NodeKind::Switch), 2u) << "n is used by the condition only: no Switch";
}

TEST(LowerLoop, ValuesFromOutsidePassASwitchToTheBody) {
  const Graph graph = lowered("fn main(n: i64, k: i64) -> i64 = with i = 0 while i < n do i + k + n\n");
  EXPECT_EQ(graph.loops()[0].enters.size(), 3u);
  EXPECT_EQ(count(graph, NodeKind::Switch), 3u) << "i, and k and n to the body";
  const Node& sum = graph[nodes_in(graph, "main", NodeKind::Op).at(1)];
  EXPECT_EQ(graph[sum.inputs[1].node].kind, NodeKind::Switch);
  EXPECT_EQ(sum.inputs[1].port, 0u);
}

TEST(LowerLoop, AConstantNextStateIsStartedByTheBody) {
  const Graph graph = lowered("fn main(b: bool) -> bool = with go = b while go do false\n");
  const Node& next = graph[graph.loops()[0].nexts[0]];
  const OutPort trigger = trigger_of(graph, next.inputs[0]);
  EXPECT_EQ(graph[trigger.node].kind, NodeKind::Switch);
  EXPECT_EQ(trigger.port, 0u);
}

TEST(LowerLoop, ConstantStatesOfALoopInAFunctionAreStartedByTheParameter) {
  const Graph graph =
      lowered("fn f(n: i64) -> i64 = with i = 0 while i < n do i + 1\nfn main(n: i64) -> i64 = f(n)\n");
  const Node& enter = graph[graph.loops()[0].enters[0]];
  EXPECT_EQ(trigger_of(graph, enter.inputs[0]), graph.functions()[1].params[0]);
}

TEST(LowerLoop, InnerLoopsKnowTheirParents) {
  const Graph graph = lowered(R"(
fn main(n: i64) -> i64 =
  with a = 0 for i in 0..n do
    with b = a for j in 0..i do
      with c = b for k in 0..j do c + 1
)");
  ASSERT_EQ(graph.loops().size(), 3u);
  EXPECT_FALSE(graph.loops()[0].parent.valid());
  EXPECT_EQ(graph.loops()[1].parent, graph::LoopId(0));
  EXPECT_EQ(graph.loops()[2].parent, graph::LoopId(1));
}

TEST(LowerLoop, AValueUsedInAnIfInALoopInAnIfPassesEachBoundaryOnce) {
  const Graph graph = lowered(R"(
fn main(p: bool, x: i64, n: i64) -> i64 =
  if p then
    with a = 0 for i in 0..n do
      if a > i then a + x * x else a - x * x
  else x
)");
  std::size_t switches_of_x = 0;
  std::size_t enters_of_x = 0;
  for (const Node& node : graph.nodes()) {
    if (node.name != "x") continue;
    switches_of_x += node.kind == NodeKind::Switch ? 1 : 0;
    enters_of_x += node.kind == NodeKind::Enter ? 1 : 0;
  }
  EXPECT_EQ(enters_of_x, 1u);
  EXPECT_EQ(switches_of_x, 3u) << "outer if, loop body, inner if";
}

TEST(LowerLoop, ACallInALoopIsInTheLoop) {
  const Graph graph =
      lowered("fn f(x: i64) -> i64 = x + 1\nfn main(n: i64) -> i64 = with a = 0 for i in 0..n do f(a)\n");
  const graph::Site& site = graph.sites()[0];
  EXPECT_EQ(graph.loop_of(site.calls[0]), graph::LoopId(0));
  EXPECT_EQ(graph.loop_of(site.returns[0]), graph::LoopId(0));
}

TEST(LowerLoop, AnIfByTheConditionOfItsLoopHasItsOwnPredicate) {
  const Graph graph =
      lowered("fn main(b: bool) -> bool = with go = b while (if go then go else false) do false\n");
  EXPECT_EQ(graph.loops().size(), 1u);
}

TEST(Lower, ShortCircuitLogicIsAnIf) {
  const Graph graph = lowered("fn main(x: i64) -> bool = x != 0 and 10 / x > 1\n");
  EXPECT_EQ(count(graph, NodeKind::Merge), 1u);
  EXPECT_GE(count(graph, NodeKind::Switch), 1u);
}

TEST(Lower, DeadCodeStays) {
  const Graph graph = lowered("fn main(x: i64) -> i64 =\n  let unused = 1 / x\n  x\n");
  EXPECT_EQ(count_ops(graph, "div"), 1u);
}

}  // namespace
}  // namespace hiaton::passes
