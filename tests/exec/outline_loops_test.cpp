// Loops of graphs that no program text gives, as the flow machine runs them: as calls of functions that call
// themselves.
#include "exec/outline_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/hand_built.h"
#include "exec/programs.h"
#include "hiaton/error.h"
#include "sized.h"

namespace hiaton::exec::testing {
namespace {

using Values = std::vector<Value>;

Type vector_type(DType dtype) {
  return tensor_type(dtype, {3});
}

Value number(int64_t value) {
  return value;
}

Value floats(std::initializer_list<float> elements) {
  Tensor tensor(DType::F32, {static_cast<int64_t>(elements.size())});
  std::copy(elements.begin(), elements.end(), tensor.mutable_data<float>());
  return tensor;
}

Value integers(std::initializer_list<int64_t> elements) {
  Tensor tensor(DType::I64, {static_cast<int64_t>(elements.size())});
  std::copy(elements.begin(), elements.end(), tensor.mutable_data<int64_t>());
  return tensor;
}

/// A loop that is built variable by variable: `with v = first, ... while more(v, ...) do next(v, ...)`.
class HandLoop {
 public:
  explicit HandLoop(Hand& hand) : hand_(hand), id_(hand.add_loop()) {}

  OutPort variable(OutPort first, Type type = DType::I64) {
    const OutPort enter = hand_.enter(id_, first);
    hand_.node(enter).type = type;
    merges_.push_back(hand_.merge(type, {enter}));
    return merges_.back();
  }
  OutPort constant(OutPort value) { return hand_.enter(id_, value, true); }
  /// The variables where the body runs.
  std::vector<OutPort> body(OutPort more) {
    more_ = more;
    std::vector<OutPort> values;
    for (OutPort merge : merges_) {
      sides_.push_back(hand_.switch_on(merge, more));
      values.push_back(sides_.back().when_true);
    }
    return values;
  }
  OutPort in_body(OutPort value) { return hand_.switch_on(value, more_).when_true; }
  void next(std::size_t variable, OutPort value) {
    hand_.add_input(merges_[variable], hand_.next_iteration(id_, value));
  }
  OutPort exit(std::size_t variable) { return hand_.exit(id_, sides_[variable].when_false); }

 private:
  Hand& hand_;
  LoopId id_;
  OutPort more_;
  std::vector<OutPort> merges_;
  std::vector<GraphBuilder::Sides> sides_;
};

/// with i = 0, x = x while i < n do (i + 1, x * 0.5 + y)
Graph tensors_in_a_loop() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const OutPort x = hand.input("x", vector_type(DType::F32));
  const OutPort y = hand.input("y", vector_type(DType::F32));
  HandLoop loop(hand);
  const OutPort i = loop.variable(hand.constant(number(0)));
  loop.variable(x, vector_type(DType::F32));
  const OutPort limit = loop.constant(n);
  const OutPort added = loop.constant(y);
  const std::vector<OutPort> now = loop.body(hand.apply("lt", {i, limit}));
  const OutPort half = hand.apply("mul", {now[1], hand.constant(floats({0.5, 0.5, 0.5}))});
  loop.next(1, hand.apply("add", {half, loop.in_body(added)}));
  loop.next(0, hand.add1(now[0]));
  hand.output(loop.exit(1));
  hand.output(loop.exit(0));
  return hand.finish();
}

/// with i = 0, x = x while i < n do (i + 1, with j = 0, y = x while j < i do (j + 1, y + x))
Graph nested_loops() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const OutPort x = hand.input("x", vector_type(DType::F32));
  HandLoop outer(hand);
  const OutPort i = outer.variable(hand.constant(number(0)));
  outer.variable(x, vector_type(DType::F32));
  const std::vector<OutPort> now = outer.body(hand.apply("lt", {i, outer.constant(n)}));
  HandLoop inner(hand);
  const OutPort j = inner.variable(hand.constant_after(now[0], number(0)));
  inner.variable(now[1], vector_type(DType::F32));
  const OutPort limit = inner.constant(now[0]);
  const OutPort added = inner.constant(now[1]);
  const std::vector<OutPort> inside = inner.body(hand.apply("lt", {j, limit}));
  inner.next(0, hand.add1(inside[0]));
  inner.next(1, hand.apply("add", {inside[1], inner.in_body(added)}));
  outer.next(0, hand.add1(now[0]));
  outer.next(1, inner.exit(1));
  hand.output(outer.exit(1));
  return hand.finish();
}

/// if p then (with i = 0, x = x while i < n do (i + 1, x + x)) else x * x, in a function that main calls.
Graph loop_in_a_branch() {
  Hand hand;
  hand.add_function("main");
  const OutPort p = hand.bool_input("p");
  const OutPort n = hand.int_input("n");
  const OutPort x = hand.input("x", vector_type(DType::F32));
  const FunctionId f = hand.add_function("f");
  const OutPort of_p = hand.param("p", DType::Bool);
  const OutPort of_n = hand.param("n");
  const OutPort of_x = hand.param("x", vector_type(DType::F32));
  const auto n_sides = hand.switch_on(of_n, of_p);
  const auto x_sides = hand.switch_on(of_x, of_p);
  HandLoop loop(hand);
  loop.variable(x_sides.when_true, vector_type(DType::F32));
  const OutPort i = loop.variable(hand.constant_after(n_sides.when_true, number(0)));
  const std::vector<OutPort> now = loop.body(hand.apply("lt", {i, loop.constant(n_sides.when_true)}));
  loop.next(0, hand.apply("add", {now[0], now[0]}));
  loop.next(1, hand.add1(now[1]));
  const OutPort squares = hand.apply("mul", {x_sides.when_false, x_sides.when_false});
  hand.add_result(hand.merge(vector_type(DType::F32), {loop.exit(0), squares}));
  hand.in_function(graph::FunctionId(0));
  const CallSite site = hand.add_site(f);
  hand.argument(site, p, of_p);
  hand.argument(site, n, of_n);
  hand.argument(site, x, of_x);
  hand.output(hand.return_from(site, vector_type(DType::F32)));
  return hand.finish();
}

/// with i = n, x = x while i > -1 do (i - 1, x / i): fails in the iteration of 0.
Graph fault_in_a_loop(std::shared_ptr<const Source> source = nullptr) {
  Hand hand;
  static_cast<GraphBuilder&>(hand) = GraphBuilder(std::move(source));
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const OutPort x = hand.input("x", vector_type(DType::I64));
  HandLoop loop(hand);
  const OutPort i = loop.variable(n);
  hand.node(i).name = "i";
  loop.variable(x, vector_type(DType::I64));
  const std::vector<OutPort> now = loop.body(hand.apply("gt", {i, hand.constant(number(-1))}));
  loop.next(0, hand.apply("sub", {now[0], hand.constant(number(1))}));
  const OutPort divisor = hand.op(*catalog().find("broadcast_to"), {now[0]}, vector_type(DType::I64), {3});
  loop.next(1, hand.apply("div", {now[1], divisor}));
  hand.output(loop.exit(1));
  return hand.finish();
}

/// while true do x + 1
Graph endless_loop() {
  Hand hand;
  hand.add_function("main");
  HandLoop loop(hand);
  loop.variable(hand.input("x", vector_type(DType::F32)), vector_type(DType::F32));
  const std::vector<OutPort> now = loop.body(hand.constant(true));
  loop.next(0, hand.apply("add", {now[0], hand.constant(floats({1, 1, 1}))}));
  hand.output(loop.exit(0));
  return hand.finish();
}

std::vector<RunOptions> flow_ways() {
  std::vector<RunOptions> ways;
  for (const Executor executor : {Executor::Production, Executor::Flow}) {
    for (const int workers : {1, 2}) {
      if (!has_to_run(workers)) continue;
      for (const bool batching : {true, false}) {
        ways.push_back({.executor = executor, .workers = workers, .batching = batching});
      }
    }
  }
  return ways;
}

/// Whether loops over small tensors run in direct code, in the frame of their function.
bool is_direct(const RunOptions& way) {
  return way.executor == Executor::Production;
}

void expect_like_the_reference(const Graph& graph, const Values& arguments) {
  const Values expected = run(Mode{Executor::Reference}, graph, arguments).values;
  const Graph saved = graph::from_json(graph::to_json(graph), "saved.json");
  for (const Graph* each : {&graph, &saved}) {
    for (const RunOptions& way : flow_ways()) {
      const RunResult found = exec::run(*each, arguments, way);
      EXPECT_EQ(found.values, expected);
      EXPECT_EQ(found.stats.fallback, "");
      EXPECT_EQ(found.stats.frames_live_at_end, 0u);
    }
  }
}

std::optional<RunError> error_of(const Graph& graph, const Values& arguments, const RunOptions& options) {
  try {
    exec::run(graph, arguments, options);
  } catch (const RunError& error) {
    return error;
  }
  return std::nullopt;
}

Graph outlined(const Graph& graph) {
  std::string reason;
  std::optional<Graph> made = outline_loops(
      graph, [](FunctionId) { return true; }, reason);
  EXPECT_EQ(reason, "");
  return std::move(made).value();
}

TEST(OutlineLoops, OfTensorsGiveWhatTheReferenceGives) {
  for (const int64_t n : {0, 1, 2, 7}) {
    expect_like_the_reference(tensors_in_a_loop(), {n, floats({1, 2, 3}), floats({0.25, 0, -1})});
  }
}

TEST(OutlineLoops, InsideEachOther) {
  for (const int64_t n : {0, 1, 2, 5}) expect_like_the_reference(nested_loops(), {n, floats({1, 2, 3})});
}

TEST(OutlineLoops, InABranchThatIsTakenOrNot) {
  for (const bool p : {true, false}) {
    for (const int64_t n : {0, 3}) expect_like_the_reference(loop_in_a_branch(), {p, n, floats({1, 2, 3})});
  }
}

TEST(OutlineLoops, AreWithoutLoopsAndCallThemselves) {
  const Graph graph = outlined(nested_loops());
  EXPECT_TRUE(graph.loops().empty());
  ASSERT_EQ(graph.functions().size(), 3u);
  EXPECT_EQ(graph.functions()[1].name, "main_loop");
  EXPECT_EQ(graph.functions()[2].name, "main_loop2");
  ASSERT_EQ(graph.sites().size(), 4u);
  EXPECT_EQ(graph.sites()[1].caller, graph.sites()[1].callee);
  EXPECT_EQ(graph.functions()[graph.sites()[2].caller.index()].name, "main_loop") << "the inner loop";
  EXPECT_EQ(graph.sites()[3].caller, graph.sites()[3].callee);
}

TEST(OutlineLoops, LeaveTheNumbersOfOperationsFunctionsAndCallSites) {
  const Graph graph = loop_in_a_branch();
  const Graph made = outlined(graph);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (graph.nodes()[i].op == nullptr) continue;
    EXPECT_EQ(made.nodes()[i].op, graph.nodes()[i].op) << i;
    EXPECT_EQ(made.nodes()[i].type, graph.nodes()[i].type) << i;
  }
  for (std::size_t i = 0; i < graph.functions().size(); ++i) {
    EXPECT_EQ(made.functions()[i].name, graph.functions()[i].name);
  }
  EXPECT_EQ(made.sites()[0].callee, graph.sites()[0].callee);
}

TEST(OutlineLoops, OfFunctionsThatAreNotChosenStay) {
  std::string reason;
  const Graph graph = graph_of(
      "fn f(n: i64) -> i64 = with a = 1 while a < n do with b = a while b < 9 do b * 2\n"
      "fn main(n: i64) -> i64 = (with a = 0 while a < n do a + 1) + f(n)\n");
  const auto is_f = [&](FunctionId id) { return graph[id].name == "f"; };
  const std::optional<Graph> made = outline_loops(graph, is_f, reason);
  ASSERT_TRUE(made.has_value()) << reason;
  ASSERT_EQ(made->loops().size(), 1u);
  EXPECT_EQ((*made)[made->loops()[0].function].name, "main");
  for (const Mode& mode : all_modes()) {
    EXPECT_EQ(run(mode, *made, {number(7)}).values,
              run(Mode{Executor::Reference}, graph, {number(7)}).values);
  }
}

TEST(OutlineLoops, OfEveryProgramOfTheTableGiveWhatItSays) {
  for (const ProgramCase& program : programs()) {
    if (program.fault != Fault::None) continue;
    const Graph graph = graph_of(program.text);
    for (const RunOptions& way : flow_ways()) {
      const RunResult found = exec::run(graph, program.arguments, way);
      EXPECT_EQ(found.values, program.expected) << program.name;
      EXPECT_EQ(found.stats.fallback, "") << program.name;
    }
  }
}

TEST(OutlineLoops, WithTwoVariablesOfOneEnter) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const LoopId loop = hand.add_loop();
  const OutPort enter = hand.enter(loop, n);
  const OutPort a = hand.merge(DType::I64, {enter});
  const OutPort b = hand.merge(DType::I64, {enter});
  const OutPort more = hand.apply("lt", {a, hand.constant(number(10))});
  const auto a_sides = hand.switch_on(a, more);
  const auto b_sides = hand.switch_on(b, more);
  hand.add_input(b, hand.next_iteration(loop, hand.apply("mul", {b_sides.when_true, a_sides.when_true})));
  hand.add_input(a, hand.next_iteration(loop, hand.add1(a_sides.when_true)));
  hand.output(hand.exit(loop, b_sides.when_false));
  const Graph graph = hand.finish();
  for (const int64_t start : {7, 10}) expect_like_the_reference(graph, {start});
}

TEST(OutlineLoops, WithTwoVariablesOfOneNextIteration) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const LoopId loop = hand.add_loop();
  const OutPort a = hand.merge(DType::I64, {hand.enter(loop, n)});
  const OutPort b = hand.merge(DType::I64, {hand.enter(loop, hand.constant(number(5)))});
  const OutPort limit = hand.enter(loop, n, true);
  const OutPort more = hand.apply("lt", {hand.apply("add", {a, b}), hand.constant(number(100))});
  const auto a_sides = hand.switch_on(a, more);
  const auto b_sides = hand.switch_on(b, more);
  const OutPort sum = hand.apply("add", {a_sides.when_true, b_sides.when_true});
  const OutPort next =
      hand.next_iteration(loop, hand.apply("add", {sum, hand.switch_on(limit, more).when_true}));
  hand.add_input(a, next);
  hand.add_input(b, next);
  hand.output(hand.exit(loop, b_sides.when_false));
  hand.output(hand.exit(loop, a_sides.when_false));
  const Graph graph = hand.finish();
  for (const int64_t start : {1, 7, 100}) expect_like_the_reference(graph, {start});
}

TEST(OutlineLoops, OfNodesThatStandInNoOrder) {
  // What a node reads is built after it.
  Hand hand;
  hand.add_function("main");
  const OutPort x = hand.input("x", vector_type(DType::F32));
  const OutPort sum = hand.op(*catalog().find("add"), {x, x}, vector_type(DType::F32), {});
  const NodeId output = hand.output(sum);
  const OutPort twice = hand.apply("add", {x, x});
  const OutPort product = hand.apply("mul", {twice, x});
  hand.node(sum).inputs = {twice, product};
  EXPECT_EQ(hand.node(output).inputs[0], sum);
  expect_like_the_reference(hand.finish(), {floats({1, 2, 3})});
}

TEST(OutlineLoops, NameTheOperationThatFailsAndTheIteration) {
  const Graph graph = fault_in_a_loop();
  const Values arguments{number(2), integers({100, 200, 300})};
  const std::optional<RunError> expected = error_of(graph, arguments, {.executor = Executor::Reference});
  ASSERT_TRUE(expected.has_value());
  for (const RunOptions& way : flow_ways()) {
    const std::optional<RunError> found = error_of(graph, arguments, way);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->fault(), Fault::DivisionByZero);
    // The same number, for the graph is the one that was given; its function is that of the loop.
    const std::string message = expected->message();
    const std::size_t name = message.find(" of main");
    ASSERT_NE(name, std::string::npos) << message;
    EXPECT_EQ(found->message().substr(0, name + 8), message.substr(0, name + 8));
    if (is_direct(way)) {
      ASSERT_EQ(found->chain().size(), 1u) << found->what();
      continue;
    }
    ASSERT_EQ(found->chain().size(), 2u) << found->what();
    EXPECT_EQ(found->chain()[0].function, "main_loop");
    EXPECT_THAT(found->chain()[0].arguments, ::testing::ElementsAre("i = 0", "v2 = [50, 100, 150]"));
    EXPECT_EQ(found->chain()[1].function, "main");
  }
}

TEST(OutlineLoops, WithoutEndEndByTheirBudget) {
  const Graph graph = endless_loop();
  for (RunOptions way : flow_ways()) {
    RunStats stats;
    way.stats = &stats;
    way.max_frames = 100;
    way.timeout = std::chrono::milliseconds(30);
    const std::optional<RunError> found = error_of(graph, {floats({1, 2, 3})}, way);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->fault(), Fault::Timeout);
    EXPECT_THAT(found->what(),
                ::testing::HasSubstr(is_direct(way) ? "it was in main;" : "it was in main_loop"));
    EXPECT_EQ(stats.fallback, "");
  }
}

TEST(OutlineLoops, ThatDoNotNestRunByTheReferenceRules) {
  // A variable with two ways to its next value.
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const LoopId loop = hand.add_loop();
  const OutPort x = hand.merge(DType::I64, {hand.enter(loop, n)});
  const auto go = hand.switch_on(x, hand.apply("ne", {x, hand.constant(number(1))}));
  const OutPort rest = hand.apply("rem", {go.when_true, hand.constant(number(2))});
  const auto parity = hand.switch_on(go.when_true, hand.apply("eq", {rest, hand.constant(number(0))}));
  const OutPort half = hand.apply("div", {parity.when_true, hand.constant(number(2))});
  const OutPort triple = hand.add1(hand.apply("mul", {parity.when_false, hand.constant(number(3))}));
  hand.add_input(x, hand.next_iteration(loop, half));
  hand.add_input(x, hand.next_iteration(loop, triple));
  hand.output(hand.exit(loop, go.when_false));
  const Graph graph = hand.finish();
  for (const RunOptions& way : flow_ways()) {
    const RunResult found = exec::run(graph, Values{number(27)}, way);
    EXPECT_EQ(found.values, Values{number(1)});
    EXPECT_EQ(found.stats.fallback, "a loop variable is not the Merge of one Enter and one NextIteration");
  }
}

}  // namespace
}  // namespace hiaton::exec::testing
