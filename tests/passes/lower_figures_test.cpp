// The graphs of fact and fib against the paper: figure 3 and the algorithm of section 3.
#include "lower_support.h"

namespace hiaton::passes {
namespace {

using namespace testing;

constexpr const char* kFact = R"(
fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1)
fn main() -> i64 = fact(3) + 5
)";

constexpr const char* kFib = R"(
fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)
fn main(n: i64) -> i64 = fib(n)
)";

/// The paper's algorithm, step by step, for any program.
void expect_calls_as_in_the_paper(const Graph& graph) {
  std::vector<std::size_t> calls_of(graph.functions().size());
  for (std::size_t i = 0; i < graph.sites().size(); ++i) {
    const graph::Site& site = graph.sites()[i];
    const graph::Function& callee = graph[site.callee];
    ++calls_of[site.callee.index()];
    // "m identical nodes all labeled with CALL_i, each one corresponding to one of the m formal parameters"
    ASSERT_EQ(site.calls.size(), callee.params.size());
    for (std::size_t k = 0; k < site.calls.size(); ++k) {
      const Node& call = graph[site.calls[k]];
      EXPECT_EQ(call.kind, NodeKind::Call);
      EXPECT_EQ(call.site.index(), i);
      EXPECT_EQ(call.inputs.size(), 1u) << "each has only one input";
      // "direct the output edge of each CALL_i node to the input of the corresponding MERGE node"
      const auto readers = graph.consumers({site.calls[k]});
      ASSERT_EQ(readers.size(), 1u);
      EXPECT_EQ(OutPort{readers[0].node}, callee.params[k]);
      // "an extra output edge to each CALL_i connecting it with its corresponding RETURN_i node"
      const auto waiting = graph.control_consumers({site.calls[k]});
      EXPECT_EQ(std::vector<NodeId>(waiting.begin(), waiting.end()), site.returns);
    }
    ASSERT_EQ(site.returns.size(), callee.results.size());
    for (std::size_t k = 0; k < site.returns.size(); ++k) {
      EXPECT_EQ(graph[site.returns[k]].kind, NodeKind::Return);
      EXPECT_EQ(graph[site.returns[k]].inputs, std::vector{callee.results[k]});
    }
  }
  for (std::size_t f = 1; f < graph.functions().size(); ++f) {
    // "replace each input node by a MERGE node", fed by all n calls
    for (OutPort param : graph.functions()[f].params) {
      EXPECT_EQ(graph[param.node].kind, NodeKind::Merge);
      EXPECT_EQ(graph[param.node].inputs.size(), calls_of[f]);
    }
  }
}

TEST(LowerFigures, FactHasTheNodesOfFigure3) {
  const Graph graph = lowered(kFact);
  EXPECT_EQ(count(graph, NodeKind::Call), 2u);
  EXPECT_EQ(count(graph, NodeKind::Return), 2u);
  EXPECT_EQ(count(graph, NodeKind::Merge), 2u) << "the parameter's and the conditional's";
  EXPECT_EQ(count(graph, NodeKind::Switch), 1u);
  EXPECT_EQ(count(graph, NodeKind::Const), 4u) << "3, 5, and 1 twice";
  EXPECT_EQ(count(graph, NodeKind::Op), 4u);
  EXPECT_EQ(count_ops(graph, "eq"), 1u);
  EXPECT_EQ(count_ops(graph, "sub"), 1u);
  EXPECT_EQ(count_ops(graph, "mul"), 1u);
  EXPECT_EQ(count_ops(graph, "add"), 1u);
  EXPECT_EQ(count(graph, NodeKind::Output), 1u);
  EXPECT_EQ(graph.nodes().size(), 16u);
}

TEST(LowerFigures, FactHasTheEdgesOfFigure3) {
  const Graph graph = lowered(kFact);
  EXPECT_EQ(count_control_edges(graph), 2u) << "one from each CALL to its RETURN";
  EXPECT_EQ(count_data_edges(graph), 2u + 2u        // into the CALLs and RETURNs
                                         + 2u + 2u  // into the MERGEs
                                         + 2u       // into the SWITCH
                                         + 8u       // into ==, -, *, +
                                         + 1u);     // into the output
  expect_calls_as_in_the_paper(graph);
}

TEST(LowerFigures, FactIsWiredAsFigure3) {
  const Graph graph = lowered(kFact);
  const graph::Function& fact = graph.functions()[1];
  const OutPort n = fact.params[0];
  const NodeId steer = nodes_in(graph, "fact", NodeKind::Switch).at(0);
  EXPECT_EQ(graph[steer].inputs[0], n);
  const Node& equal = graph[graph[steer].inputs[1].node];
  EXPECT_EQ(equal.op->name.value, "eq");
  EXPECT_EQ(equal.inputs[0], n);
  const Node& result = graph[fact.results[0].node];
  ASSERT_EQ(result.kind, NodeKind::Merge);
  EXPECT_EQ(result.inputs[0], (OutPort{steer, 0})) << "then: n itself";
  const Node& product = graph[result.inputs[1].node];
  ASSERT_EQ(product.op->name.value, "mul");
  EXPECT_EQ(product.inputs[0], (OutPort{steer, 1}));
  const Node& returned = graph[product.inputs[1].node];
  ASSERT_EQ(returned.kind, NodeKind::Return);
  EXPECT_EQ(returned.inputs[0], fact.results[0]);
  const Node& call = graph[returned.controls[0].node];
  const Node& less = graph[call.inputs[0].node];
  ASSERT_EQ(less.op->name.value, "sub");
  EXPECT_EQ(less.inputs[0], (OutPort{steer, 1}));
  EXPECT_EQ(call.site, returned.site);
  EXPECT_EQ(graph::to_text(graph).find("Call_2"), std::string::npos);
}

TEST(LowerFigures, FibHasOneBodyForThreeCalls) {
  const Graph graph = lowered(kFib);
  expect_calls_as_in_the_paper(graph);
  EXPECT_EQ(graph.functions().size(), 2u);
  EXPECT_EQ(graph.sites().size(), 3u);
  EXPECT_EQ(count(graph, NodeKind::Call), 3u);
  EXPECT_EQ(count(graph, NodeKind::Return), 3u);
  EXPECT_EQ(count(graph, NodeKind::Merge), 2u);
  EXPECT_EQ(count(graph, NodeKind::Switch), 1u);
  EXPECT_EQ(count(graph, NodeKind::Op), 4u) << "<=, -, -, +";
  EXPECT_EQ(count(graph, NodeKind::Const), 4u) << "1 of the condition, 1 of the branch, 1 and 2 to subtract";
  EXPECT_EQ(count(graph, NodeKind::Input), 1u);
  EXPECT_EQ(count(graph, NodeKind::Output), 1u);
  EXPECT_EQ(count_control_edges(graph), 3u + 1u) << "CALL to RETURN, and the branch that starts its 1";
  EXPECT_EQ(count_data_edges(graph), 3u + 3u + 3u + 2u + 2u + 8u + 1u);
}

TEST(LowerFigures, CallsWithSeveralArgumentsAndResultsAreAsInThePaper) {
  expect_calls_as_in_the_paper(lowered(R"(
fn divmod(a: i64, b: i64) -> (i64, i64) = if a < b then (0, a) else
  let (q, r) = divmod(a - b, b)
  (q + 1, r)
fn even(n: i64) -> bool = if n == 0 then true else odd(n - 1)
fn odd(n: i64) -> bool = if n == 0 then false else even(n - 1)
fn main(n: i64) -> (i64, i64, bool) =
  let (q, r) = divmod(n, 7)
  let (q2, r2) = divmod(q, r + 1)
  (q2, r2, even(n)))"));
}

}  // namespace
}  // namespace hiaton::passes
