// The nested structure that is found in a graph, and the legal graphs that have none: these run by the
// reference rules.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "exec/direct/compile/direct_passes.h"
#include "exec/hand_built.h"
#include "exec/programs.h"

namespace hiaton::exec::direct::testing {
using namespace exec::testing;

namespace {

/// The items of a block on one line, those inside in brackets: "mul call+call if(add|) loop(lt|add)".
class StructureText {
 public:
  StructureText(const Graph& graph, const Structure& structure) : graph_(graph), structure_(structure) {}

  std::string of(BlockId id) const {
    if (!id.valid()) return "";
    std::string text;
    const std::vector<Item>& items = structure_[id].items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool joined = i > 0 && items[i].kind == Item::Kind::Call &&
                          items[i - 1].kind == Item::Kind::Call && items[i].group == items[i - 1].group;
      if (i > 0) text += joined ? "+" : " ";
      text += of(items[i]);
    }
    return text;
  }

 private:
  std::string of(const Item& item) const {
    switch (item.kind) {
      case Item::Kind::Op:
        return std::string(graph_[NodeId(item.index)].op->name.value);
      case Item::Kind::Call:
        return graph_[graph_[CallSite(item.index)].callee].name;
      case Item::Kind::Conditional: {
        const Conditional& conditional = structure_.conditionals[item.index];
        return fmt::format("if({}|{})", of(conditional.sides[0]), of(conditional.sides[1]));
      }
      case Item::Kind::Loop: {
        const LoopShape& loop = structure_.loops[item.index];
        return fmt::format("loop({}|{})", of(loop.condition), of(loop.body));
      }
    }
    return {};
  }

  const Graph& graph_;
  const Structure& structure_;
};

std::string structure_of(const Graph& graph, std::size_t function = 0) {
  std::string reason;
  const auto structure = find_structure(graph, reason);
  if (!structure) return "none: " + reason;
  return StructureText(graph, *structure).of(structure->bodies[function]);
}

std::string structure_of(std::string_view text) {
  return structure_of(graph_of(text));
}

TEST(Structure, OfAnIf) {
  EXPECT_EQ(structure_of("fn main(n: i64) -> i64 = if n < 3 then n * 2 else n - 1"), "lt if(mul|sub)");
}

TEST(Structure, OfNestedIfs) {
  EXPECT_EQ(structure_of("fn main(n: i64) -> i64 = if n < 3 then (if n < 1 then n + 1 else n) else n - 1"),
            "lt if(lt if(add|)|sub)");
}

TEST(Structure, OfIfsThatShareAPredicateKeepsThemApart) {
  EXPECT_EQ(structure_of("fn main(n: i64) -> i64 = let p = n > 2 let a = if p then n + 1 else 1\n"
                         "let b = if p then 10 else a * n a - b"),
            "gt if(add|) if(|mul) sub");
}

TEST(Structure, OfALoop) {
  EXPECT_EQ(
      structure_of("fn main(n: i64) -> (i64, i64) = with i = 0, acc = 1 while i < n do (i + 1, acc * 2)"),
      "loop(lt|add mul)");
}

TEST(Structure, OfALoopInALoop) {
  EXPECT_EQ(
      structure_of("fn main(n: i64) -> i64 = with a = 1 while a < n do with b = a while b < 9 do b * 2"),
      "loop(lt|loop(lt|mul))");
}

TEST(Structure, OfALoopInAnIfInALoop) {
  EXPECT_EQ(structure_of("fn main(n: i64) -> i64 = with a = n while a > 1 do\n"
                         "if a % 2 == 0 then (with b = a while b > 9 do b / 2) else a - 3"),
            "loop(gt|rem eq if(loop(gt|div)|sub))");
}

constexpr std::string_view kCallee = "fn f(n: i64) -> i64 = n\n";

TEST(Structure, PutsCallsThatDoNotNeedEachOtherTogether) {
  EXPECT_EQ(structure_of(std::string(kCallee) + "fn main(n: i64) -> i64 = f(n) + f(n * 2) * f(n - 1)"),
            "mul sub f+f+f mul add");
  EXPECT_EQ(structure_of(std::string(kCallee) + "fn main(n: i64) -> i64 = f(f(n)) - f(2 + n)"),
            "add f+f f sub");
}

TEST(Structure, MakesNoGroupOfCallsInDifferentIfs) {
  EXPECT_EQ(
      structure_of(std::string(kCallee) + "fn main(n: i64) -> i64 =\n"
                                          "(if n > 1 then f(n) else n) - (if n > 2 then f(n + 1) else n)"),
      "gt gt if(f|) if(add f|) sub");
}

TEST(Structure, PutsTheIfThatGivesTheResultsLastSoThatItsCallsAreTailCalls) {
  EXPECT_EQ(
      structure_of(std::string(kCallee) +
                   "fn main(n: i64) -> i64 = let p = n > 1 let unused = f(n) if p then f(n + 1) else n"),
      "gt f if(add f|)");
}

// --- Legal graphs that have no structure ---

struct Refusal {
  std::string name;
  std::function<Graph()> build;
  std::string reason;
  std::vector<std::vector<Value>> arguments;

  friend std::ostream& operator<<(std::ostream& out, const Refusal& refusal) { return out << refusal.name; }
};

Graph merge_of_three() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const auto outer = hand.switch_on(n, hand.bool_input("p"));
  const auto q = hand.switch_on(hand.bool_input("q"), graph::OutPort{hand.node(outer.when_true).inputs[1]});
  const auto inner = hand.switch_on(outer.when_true, q.when_true);
  hand.output(hand.merge(
      DType::I64, {hand.add1(inner.when_true), hand.apply("neg", {inner.when_false}), outer.when_false}));
  return hand.finish();
}

Graph merge_over_crossing_branches() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const OutPort p = hand.bool_input("p");
  const OutPort not_p = hand.apply("not", {p});
  const auto one = hand.switch_on(n, p);
  const auto two = hand.switch_on(n, not_p);
  hand.output(hand.merge(DType::I64, {hand.add1(one.when_true), hand.apply("neg", {two.when_true})}));
  return hand.finish();
}

Graph merge_of_an_unguarded_value() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const auto sides = hand.switch_on(n, hand.apply("lt", {n, n}));
  hand.output(hand.merge(DType::I64, {hand.add1(sides.when_true), hand.apply("neg", {n})}));
  return hand.finish();
}

Graph values_of_two_branches() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const OutPort p = hand.bool_input("p");
  const OutPort q = hand.bool_input("q");
  const auto by_p = hand.switch_on(n, p);
  const auto by_q = hand.switch_on(n, q);
  hand.apply("add", {by_p.when_true, by_q.when_true});
  hand.output(hand.merge(DType::I64, {by_p.when_true, by_p.when_false}));
  return hand.finish();
}

Graph result_inside_a_branch() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  hand.output(hand.add1(hand.switch_on(n, hand.bool_input("p")).when_true));
  return hand.finish();
}

Graph operation_before_an_exit() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const LoopId loop = hand.add_loop();
  const OutPort i = hand.merge(DType::I64, {hand.enter(loop, hand.constant(int64_t{0}))});
  const OutPort limit = hand.enter(loop, n, true);
  const auto sides = hand.switch_on(i, hand.apply("lt", {i, limit}));
  hand.add_input(i, hand.next_iteration(loop, hand.add1(sides.when_true)));
  hand.output(hand.exit(loop, hand.apply("neg", {sides.when_false})));
  return hand.finish();
}

/// The predicate stands outside of the branch in which it switches a value.
Graph switch_by_an_outer_predicate() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const OutPort p = hand.bool_input("p");
  const OutPort q = hand.bool_input("q");
  const auto by_q = hand.switch_on(n, q);
  const auto by_p = hand.switch_on(by_q.when_true, p);
  const OutPort joined = hand.merge(DType::I64, {hand.add1(by_p.when_true), by_p.when_false});
  hand.output(hand.merge(DType::I64, {joined, hand.apply("neg", {by_q.when_false})}));
  return hand.finish();
}

/// A call that is dead unless both branches are taken.
Graph call_over_crossing_branches() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const OutPort p = hand.bool_input("p");
  const OutPort q = hand.bool_input("q");
  const FunctionId f = hand.add_function("f");
  const OutPort a = hand.param("a");
  const OutPort b = hand.param("b");
  hand.add_result(hand.apply("add", {a, b}));
  hand.in_function(FunctionId(0));
  const auto by_p = hand.switch_on(n, p);
  const auto by_q = hand.switch_on(n, q);
  const CallSite site = hand.add_site(f);
  hand.argument(site, by_p.when_true, a);
  hand.argument(site, by_q.when_true, b);
  const OutPort result = hand.return_from(site, DType::I64);
  hand.output(hand.merge(DType::I64, {result, by_p.when_false}));
  return hand.finish();
}

/// The next value of the variable comes from a branch of the body, which is taken in every iteration.
Graph next_iteration_inside_a_branch() {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const LoopId loop = hand.add_loop();
  const OutPort i = hand.merge(DType::I64, {hand.enter(loop, hand.constant(int64_t{0}))});
  const auto sides = hand.switch_on(i, hand.apply("lt", {i, hand.enter(loop, n, true)}));
  const OutPort positive = hand.apply("gt", {sides.when_true, hand.constant(int64_t{-1})});
  const auto inner = hand.switch_on(sides.when_true, positive);
  hand.add_input(i, hand.next_iteration(loop, hand.add1(inner.when_true)));
  hand.output(hand.exit(loop, sides.when_false));
  return hand.finish();
}

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> all = {
      {"a_merge_of_three",
       merge_of_three,
       "a Merge has other than two inputs",
       {{int64_t{4}, true, true}, {int64_t{4}, true, false}, {int64_t{4}, false, true}}},
      {"a_merge_over_two_predicates",
       merge_over_crossing_branches,
       "a Merge does not join the two sides of one predicate",
       {{int64_t{4}, true}, {int64_t{4}, false}}},
      {"a_merge_of_an_unguarded_value",
       merge_of_an_unguarded_value,
       "a Merge reads a value that no Switch guards",
       {{int64_t{4}}}},
      {"an_operation_on_two_branches",
       values_of_two_branches,
       "a node reads values of branches that do not nest",
       {{int64_t{4}, true, true}, {int64_t{4}, false, true}}},
      {"a_result_inside_a_branch",
       result_inside_a_branch,
       "a result stands inside a branch",
       {{int64_t{4}, true}}},
      {"a_call_over_two_predicates",
       call_over_crossing_branches,
       "the arguments of a call come from different branches",
       {{int64_t{4}, true, true}, {int64_t{4}, false, true}}},
      {"a_next_value_inside_a_branch",
       next_iteration_inside_a_branch,
       "a NextIteration does not read the true side of its loop's predicate",
       {{int64_t{4}}, {int64_t{0}}}},
  };
  return all;
}

class Refusals : public ::testing::TestWithParam<Refusal> {};

INSTANTIATE_TEST_SUITE_P(Graphs, Refusals, ::testing::ValuesIn(refusals()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Refusals, SayWhy) {
  EXPECT_EQ(structure_of(GetParam().build()), "none: " + GetParam().reason);
}

TEST(Structure, OfAnOperationBeforeAnExitIsThatOfACall) {
  const Graph graph = operation_before_an_exit();
  EXPECT_EQ(structure_of(graph), "none: an Exit does not read a Switch");
  for (const int64_t n : {4, 0}) {
    for (const int workers : {1, 2}) {
      const auto result = run(Mode{Executor::Production, workers}, graph, {n});
      EXPECT_EQ(result.values, run(Mode{Executor::Reference}, graph, {n}).values);
      EXPECT_EQ(result.stats.fallback, "");
    }
  }
}

TEST_P(Refusals, RunByTheReferenceRules) {
  const Graph graph = GetParam().build();
  for (const std::vector<Value>& arguments : GetParam().arguments) {
    const auto expected = run(Mode{Executor::Reference}, graph, arguments);
    for (int workers : {1, 2}) {
      const auto result = run(Mode{Executor::Production, workers}, graph, arguments);
      EXPECT_EQ(result.values, expected.values);
      EXPECT_NE(result.stats.fallback.find(GetParam().reason), std::string::npos) << result.stats.fallback;
    }
  }
}

TEST_P(Refusals, RunByTheReferenceRulesInFlowToo) {
  const Graph graph = GetParam().build();
  for (const std::vector<Value>& arguments : GetParam().arguments) {
    const auto expected = run(Mode{Executor::Reference}, graph, arguments);
    const auto result = run(Mode{Executor::Flow}, graph, arguments);
    EXPECT_EQ(result.values, expected.values);
    EXPECT_NE(result.stats.fallback, "");
  }
}

TEST(Structure, MayHaveASwitchByAnOuterPredicate) {
  const Graph graph = switch_by_an_outer_predicate();
  for (const bool p : {true, false}) {
    for (const bool q : {true, false}) {
      const std::vector<Value> arguments{int64_t{4}, p, q};
      const auto expected = run(Mode{Executor::Reference}, graph, arguments);
      for (const Executor executor : {Executor::Production, Executor::Flow}) {
        const auto result = run(Mode{executor}, graph, arguments);
        EXPECT_EQ(result.values, expected.values) << p << q;
        EXPECT_EQ(result.stats.fallback, "");
      }
    }
  }
}

TEST(Structure, IsFoundInEveryProgramOfTheTable) {
  for (const ProgramCase& program : programs()) {
    EXPECT_EQ(structure_of(program.text).substr(0, 5) == "none:", false) << program.name;
  }
}

}  // namespace
}  // namespace hiaton::exec::direct::testing
