// The graph that docs/graph.md builds by hand: it runs, and the document shows exactly this code.
#include <gtest/gtest.h>

#include "hiaton/engine.h"
#include "shown_code.h"

namespace hiaton {
namespace {

// Shown in docs/graph.md, from here
graph::Graph fact_by_hand() {
  using graph::OutPort;
  graph::GraphBuilder builder;
  const auto op = [&](std::string_view name, OutPort a, OutPort b) {
    return builder.op(*catalog().find(name), {a, b});
  };
  const graph::FunctionId main = builder.add_function("main");
  const graph::FunctionId fact = builder.add_function("fact");

  // The body of fact. Its parameter is a Merge, which every call of fact will feed.
  const OutPort n = builder.merge(DType::I64);
  builder.add_param("n", n);
  const OutPort one = builder.constant(int64_t{1});
  const auto [is_one, is_more] = builder.switch_on(n, op("eq", n, one));
  const graph::CallSite again = builder.add_site(fact);
  builder.add_input(n, {builder.call(again, op("sub", is_more, one))});
  const OutPort product = op("mul", is_more, builder.return_from(again, DType::I64));
  builder.add_result(builder.merge(DType::I64, {is_one, product}));

  // The program: fact(its input) + 5.
  builder.in_function(main);
  const graph::CallSite first = builder.add_site(fact);
  builder.add_input(n, {builder.call(first, builder.input("n", DType::I64))});
  const OutPort five = builder.constant(int64_t{5});
  builder.output(op("add", builder.return_from(first, DType::I64), five));
  return builder.finish();
}
// to here

TEST(GraphByHand, RunsInEveryExecutor) {
  const Program program = Program::from_graph(fact_by_hand());
  for (Executor executor : {Executor::Production, Executor::Reference, Executor::Expanding}) {
    RunOptions options;
    options.executor = executor;
    EXPECT_EQ(program.run({Value(int64_t{3})}, options).values, std::vector{Value(int64_t{11})});
  }
}

TEST(GraphByHand, IsTheOneThatTheDocumentShows) {
  expect_shown("engine/graph_by_hand_test.cpp", "graph.md");
}

}  // namespace
}  // namespace hiaton
