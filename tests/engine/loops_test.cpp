// Loops of programs with tensors, data values and gradients: where they stay loops in the graph, and what
// runs of them give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/all_ways.h"
#include "hiaton/hiaton.h"

namespace hiaton {
namespace {

/// In all ways, also as a saved graph, and never by the reference rules where another way is asked for.
void expect_like_the_reference(const std::string& text, const std::vector<Value>& arguments) {
  const Program program = Program::from_text("test.hia", text);
  const std::vector<Value> expected = program.run(arguments, {.executor = Executor::Reference}).values;
  const Program saved = Program::from_graph(graph::from_json(graph::to_json(program.graph()), "saved.json"));
  for (RunOptions way : all_ways()) {
    for (const Program* each : {&program, &saved}) {
      const RunResult found = each->run(arguments, way);
      EXPECT_EQ(found.values, expected) << text;
      EXPECT_EQ(found.stats.fallback, "") << text;
    }
  }
}

std::vector<std::string> functions_with_loops(const Program& program) {
  std::vector<std::string> names;
  for (const graph::Loop& loop : program.graph().loops()) {
    names.push_back(program.graph()[loop.function].name);
  }
  return names;
}

TEST(Loops, OverTensorsAndDataGiveWhatTheReferenceGives) {
  for (const int64_t n : {0, 1, 6}) {
    expect_like_the_reference(
        "fn main(n: i64) -> f32[3] = with x = [1f32, 2, 3] for i in 0..n do\n"
        "  if i % 2 == 0 then (with y = x for j in 0..i do y * 0.5 + x) else x - 1.0\n",
        {Value(n)});
    expect_like_the_reference(
        "fn main(n: i64) -> List[i64] = with xs: List[i64] = Nil for i in 0..n do Cons(i * n, xs)\n",
        {Value(n)});
  }
}

TEST(Loops, StayInTheGraphWhereNoGradientReachesThem) {
  const std::string text =
      "fn f(x: f64[2], n: i64) -> f64 = sum(with y = x for i in 0..n do y * 1.5, axes=[0])\n"
      "fn g(x: f64[2], n: i64) -> f64[2] =\n"
      "  with y = x for k in 0..n do with z = y for i in 0..k do z * 1.01 + 0.1\n"
      "fn main(n: i64) -> (f64[2], f64[2]) = (g([1, 2], n), grad(f)([1, 2], n))\n";
  CompileOptions options;
  options.simplify = passes::SimplifyOptions::none();
  EXPECT_THAT(functions_with_loops(Program::from_text("test.hia", text, options)),
              testing::ElementsAre("g", "g"));
  for (const int64_t n : {0, 1, 4}) expect_like_the_reference(text, {Value(n)});
}

TEST(Loops, ShowTheLastIterationInTheChainOfAnError) {
  const Program program = Program::from_text("test.hia",
                                             "fn f(h: i64[2], n: i64) -> i64[2] =\n"
                                             "  with x = h for i in 0..n do x / (3 - i)\n"
                                             "fn main(n: i64) -> i64[2] = f([1000, 2000], n) + 1\n");
  for (const Executor executor : {Executor::Flow, Executor::Production}) {
    try {
      program.run({Value(int64_t{5})}, {.executor = executor});
      ADD_FAILURE() << "no error";
    } catch (const RunError& error) {
      EXPECT_EQ(error.fault(), Fault::DivisionByZero);
      EXPECT_THAT(error.message(),
                  testing::StartsWith("test.hia:2:33: error: division by zero: [166, 333] / 0"));
      if (executor == Executor::Production) {  // direct code has the loop in the frame of its function
        ASSERT_EQ(error.chain().size(), 1u) << error.what();
        continue;
      }
      ASSERT_EQ(error.chain().size(), 2u) << error.what();
      EXPECT_EQ(error.chain()[0].function, "main_loop");
      EXPECT_THAT(error.chain()[0].arguments, testing::Contains("n = 5"));
      EXPECT_EQ(error.chain()[0].call_place, "test.hia:2:3");
      EXPECT_EQ(error.chain()[1].function, "main");
    }
  }
}

}  // namespace
}  // namespace hiaton
