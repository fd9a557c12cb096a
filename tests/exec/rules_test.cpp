// Each rule of the static tagged graph alone, on graphs built by hand, in every executor.
#include <gtest/gtest.h>

#include "exec/hand_built.h"
#include "exec/programs.h"

namespace hiaton::exec::testing {
namespace {

class Rules : public ::testing::TestWithParam<Mode> {
 protected:
  std::vector<Value> run(const Graph& graph, const std::vector<Value>& arguments) {
    return testing::run(GetParam(), graph, arguments).values;
  }
  RunError error_of(const Graph& graph, const std::vector<Value>& arguments) {
    try {
      run(graph, arguments);
    } catch (const RunError& error) {
      return error;
    }
    ADD_FAILURE() << "the run gave a result";
    return {Fault::None, ""};
  }
};

INSTANTIATE_TEST_SUITE_P(EveryExecutor, Rules, ::testing::ValuesIn(all_modes()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

using Values = std::vector<Value>;

Value i64(int64_t number) {
  return number;
}

TEST_P(Rules, AnOpFiresWhenAllItsInputsHaveTokens) {
  Hand hand;
  hand.add_function("main");
  const OutPort a = hand.int_input("a");
  const OutPort b = hand.int_input("b");
  hand.output(hand.apply("sub", {a, hand.add1(hand.add1(b))}));
  EXPECT_EQ(run(hand.finish(), {i64(10), i64(3)}), Values{i64(5)});
}

TEST_P(Rules, ANodeOfConstantsFiresOnce) {
  Hand hand;
  hand.add_function("main");
  hand.output(hand.apply("mul", {hand.constant(i64(6)), hand.constant(i64(7))}));
  hand.output(hand.constant(true));
  EXPECT_EQ(run(hand.finish(), {}), (Values{i64(42), true}));
}

TEST_P(Rules, ASwitchGivesTheLiveTokenToOneSide) {
  Hand hand;
  hand.add_function("main");
  const OutPort d = hand.int_input("d");
  const auto sides = hand.switch_on(d, hand.bool_input("p"));
  hand.output(hand.merge(DType::I64, {hand.add1(sides.when_true), hand.apply("neg", {sides.when_false})}));
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {i64(5), true}), Values{i64(6)});
  EXPECT_EQ(run(graph, {i64(5), false}), Values{i64(-5)});
}

TEST_P(Rules, ASwitchMaySteerItself) {
  Hand hand;
  hand.add_function("main");
  const OutPort p = hand.bool_input("p");
  const auto sides = hand.switch_on(p, p);
  hand.output(hand.merge(DType::I64, {hand.constant_after(sides.when_true, i64(1)),
                                      hand.constant_after(sides.when_false, i64(2))}));
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {true}), Values{i64(1)});
  EXPECT_EQ(run(graph, {false}), Values{i64(2)});
}

TEST_P(Rules, AMergeTakesTheLiveOneOfManyInputs) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const auto outer = hand.switch_on(n, hand.bool_input("p"));
  const OutPort q = hand.bool_input("q");
  const auto inner = hand.switch_on(outer.when_false, q);
  hand.output(hand.merge(DType::I64, {hand.add1(outer.when_true), hand.apply("neg", {inner.when_true}),
                                      hand.apply("mul", {inner.when_false, inner.when_false})}));
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {i64(5), true, true}), Values{i64(6)});
  EXPECT_EQ(run(graph, {i64(5), false, true}), Values{i64(-5)});
  EXPECT_EQ(run(graph, {i64(5), false, false}), Values{i64(25)});
}

TEST_P(Rules, UnstructuredSwitchesMayShareAMerge) {
  Hand hand;
  hand.add_function("main");
  const OutPort a = hand.int_input("a");
  const OutPort b = hand.int_input("b");
  const OutPort p = hand.bool_input("p");
  const OutPort max = hand.merge(
      DType::I64, {hand.switch_on(a, p).when_true, hand.switch_on(b, hand.apply("not", {p})).when_true});
  hand.output(hand.add1(max));
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {i64(1), i64(2), true}), Values{i64(2)});
  EXPECT_EQ(run(graph, {i64(1), i64(2), false}), Values{i64(3)});
}

TEST_P(Rules, BranchesMayCross) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const auto first = hand.switch_on(n, hand.bool_input("p"));
  const auto second = hand.switch_on(first.when_true, hand.bool_input("q"));
  const OutPort common = hand.merge(DType::I64, {hand.add1(second.when_false), first.when_false});
  hand.output(
      hand.merge(DType::I64, {hand.apply("neg", {second.when_true}), hand.apply("mul", {common, common})}));
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {i64(3), true, true}), Values{i64(-3)});
  EXPECT_EQ(run(graph, {i64(3), true, false}), Values{i64(16)});
  EXPECT_EQ(run(graph, {i64(3), false, true}), Values{i64(9)});
}

TEST_P(Rules, ADeadOperandIsNotComputedWith) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const OutPort zero = hand.int_input("zero");
  const OutPort p = hand.bool_input("p");
  const auto sides = hand.switch_on(n, p);
  hand.output(hand.merge(DType::I64, {hand.apply("div", {sides.when_true, zero}), sides.when_false}));
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {i64(3), i64(0), false}), Values{i64(3)});
  EXPECT_EQ(error_of(graph, {i64(3), i64(0), true}).fault(), Fault::DivisionByZero);
}

TEST_P(Rules, AMergeOfDeadTokensIsDead) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const auto sides = hand.switch_on(n, hand.bool_input("p"));
  const OutPort both =
      hand.merge(DType::I64, {hand.add1(sides.when_true), hand.apply("neg", {sides.when_true})});
  hand.output(hand.merge(DType::I64, {both, sides.when_false}));
  EXPECT_EQ(run(hand.finish(), {i64(3), false}), Values{i64(3)});
}

TEST_P(Rules, AResultThatIsDeadIsNoResult) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  hand.output(hand.switch_on(n, hand.bool_input("p")).when_true);
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {i64(3), true}), Values{i64(3)});
  const RunError error = error_of(graph, {i64(3), false});
  EXPECT_EQ(error.fault(), Fault::NoResult);
  EXPECT_EQ(error.message(),
            "no result: %3 Output of main: its token is dead, no branch that gives it was taken");
}

/// f(a, b) = (a + 1, a * b): the first result needs the first argument alone.
struct Pair {
  FunctionId id;
  OutPort a, b;
};
Pair add_pair_function(Hand& hand) {
  Pair pair{hand.add_function("f"), hand.param("a"), hand.param("b")};
  hand.add_result(hand.add1(pair.a));
  hand.add_result(hand.apply("mul", {pair.a, pair.b}));
  return pair;
}

TEST_P(Rules, AResultThatNeedsSomeArgumentsIsReturnedWhenThoseHaveCome) {
  Hand hand;
  const FunctionId main = hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const Pair f = add_pair_function(hand);
  hand.in_function(main);
  const CallSite site = hand.add_site(f.id);
  hand.argument(site, n, f.a);
  const OutPort first = hand.return_from(site, DType::I64);
  const OutPort second = hand.return_from(site, DType::I64);
  hand.argument(site, first, f.b);
  hand.output(second);
  EXPECT_EQ(run(hand.finish(), {i64(6)}), Values{i64(42)});
}

TEST_P(Rules, AReturnTakesTheTokensOfItsOwnCallSite) {
  Hand hand;
  const FunctionId main = hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const Pair f = add_pair_function(hand);
  hand.in_function(main);
  for (int64_t factor : {2, 3}) {
    const CallSite site = hand.add_site(f.id);
    hand.argument(site, n, f.a);
    hand.argument(site, hand.constant(factor), f.b);
    hand.return_from(site, DType::I64);
    hand.output(hand.return_from(site, DType::I64));
  }
  EXPECT_EQ(run(hand.finish(), {i64(10)}), (Values{i64(20), i64(30)}));
}

TEST_P(Rules, ADeadArgumentMakesTheResultsDead) {
  Hand hand;
  const FunctionId main = hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const auto sides = hand.switch_on(n, hand.bool_input("p"));
  const Pair f = add_pair_function(hand);
  hand.in_function(main);
  const CallSite site = hand.add_site(f.id);
  hand.argument(site, sides.when_true, f.a);
  hand.argument(site, sides.when_true, f.b);
  const OutPort first = hand.return_from(site, DType::I64);
  const OutPort second = hand.return_from(site, DType::I64);
  hand.output(hand.merge(DType::I64, {first, sides.when_false}));
  hand.output(hand.merge(DType::I64, {sides.when_false, second}));
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {i64(5), true}), (Values{i64(6), i64(25)}));
  EXPECT_EQ(run(graph, {i64(5), false}), (Values{i64(5), i64(5)}));
}

TEST_P(Rules, ACallThatWaitsForItselfGivesNoResult) {
  Hand hand;
  const FunctionId main = hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const Pair f = add_pair_function(hand);
  hand.in_function(main);
  const CallSite site = hand.add_site(f.id);
  hand.argument(site, n, f.a);
  hand.return_from(site, DType::I64);
  const OutPort second = hand.return_from(site, DType::I64);
  hand.argument(site, second, f.b);
  hand.output(second);
  const RunError error = error_of(hand.finish(), {i64(6)});
  EXPECT_EQ(error.fault(), Fault::NoResult);
  EXPECT_NE(error.message().find("every token was consumed and none came to it"), std::string::npos);
  EXPECT_NE(error.message().find("mul of f under tag [0] for 1 more"), std::string::npos) << error.message();
}

/// while i < n: i = i + 1, from 0; what the body needs from outside comes by `constants`.
struct CountingLoop {
  CountingLoop(Hand& hand, OutPort n, OutPort start, const std::vector<OutPort>& constants = {})
      : id(hand.add_loop()) {
    i = hand.merge(DType::I64, {hand.enter(id, start)});
    more = hand.apply("lt", {i, hand.enter(id, n, true)});
    const auto sides = hand.switch_on(i, more);
    body = sides.when_true;
    for (OutPort constant : constants) {
      entered.push_back(hand.switch_on(hand.enter(id, constant, true), more).when_true);
    }
    hand.add_input(i, hand.next_iteration(id, hand.add1(body)));
    end = hand.exit(id, sides.when_false);
  }

  LoopId id;
  OutPort i;                     ///< in every iteration
  OutPort more;                  ///< the condition
  OutPort body;                  ///< i where the body runs
  std::vector<OutPort> entered;  ///< the constants where the body runs
  OutPort end;                   ///< the last i
};

TEST_P(Rules, AnExitGivesTheValueOfTheLastIteration) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  hand.output(CountingLoop(hand, n, hand.int_input("start")).end);
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {i64(7), i64(3)}), Values{i64(7)});
  EXPECT_EQ(run(graph, {i64(7), i64(9)}), Values{i64(9)});
}

TEST_P(Rules, ADeadTokenAtEnterMakesTheExitsDead) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const auto sides = hand.switch_on(n, hand.bool_input("p"));
  const CountingLoop loop(hand, sides.when_true, hand.constant_after(sides.when_true, i64(0)));
  hand.output(hand.merge(DType::I64, {loop.end, hand.apply("neg", {sides.when_false})}));
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {i64(7), true}), Values{i64(7)});
  EXPECT_EQ(run(graph, {i64(7), false}), Values{i64(-7)});
}

TEST_P(Rules, AnExitInTheMiddleOfALoopPassesTheOneLiveToken) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const CountingLoop loop(hand, n, hand.constant(i64(0)), {hand.int_input("wanted")});
  const OutPort found = hand.apply("eq", {loop.body, loop.entered[0]});
  const OutPort where = hand.exit(loop.id, hand.switch_on(loop.body, found).when_true);
  hand.output(loop.end);
  hand.output(where);
  const Graph graph = hand.finish();
  EXPECT_EQ(run(graph, {i64(20), i64(4)}), (Values{i64(20), i64(4)}));
}

TEST_P(Rules, AnExitThatWasDeadInAllIterationsIsDeadAfterTheLast) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const CountingLoop loop(hand, n, hand.constant(i64(0)));
  const OutPort never = hand.apply("lt", {loop.body, hand.constant(i64(0))});
  const OutPort exit = hand.exit(loop.id, hand.switch_on(loop.body, never).when_true);
  const OutPort dead_too = hand.add1(exit);
  hand.output(loop.end);
  hand.output(dead_too);
  const RunError error = error_of(hand.finish(), {i64(20)});
  EXPECT_EQ(error.fault(), Fault::NoResult);
  EXPECT_NE(error.message().find("its token is dead"), std::string::npos) << error.message();
}

TEST_P(Rules, TwoNextIterationsMayFeedOneVariable) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const LoopId loop = hand.add_loop();
  const OutPort x = hand.merge(DType::I64, {hand.enter(loop, n)});
  const auto go = hand.switch_on(x, hand.apply("ne", {x, hand.constant(i64(1))}));
  const OutPort rest = hand.apply("rem", {go.when_true, hand.constant(i64(2))});
  const auto parity = hand.switch_on(go.when_true, hand.apply("eq", {rest, hand.constant(i64(0))}));
  const OutPort half = hand.apply("div", {parity.when_true, hand.constant(i64(2))});
  const OutPort triple = hand.add1(hand.apply("mul", {parity.when_false, hand.constant(i64(3))}));
  hand.add_input(x, hand.next_iteration(loop, half));
  hand.add_input(x, hand.next_iteration(loop, triple));
  hand.output(hand.exit(loop, go.when_false));
  EXPECT_EQ(run(hand.finish(), {i64(27)}), Values{i64(1)});
}

TEST_P(Rules, ALoopConstantReachesIterationsMadeBeforeAndAfterItCame) {
  for (int delay : {0, 1, 3, 10, 40, 400}) {
    Hand hand;
    hand.add_function("main");
    const OutPort n = hand.int_input("n");
    OutPort late = hand.int_input("late");
    for (int i = 0; i < delay; ++i) late = hand.apply("neg", {hand.apply("neg", {late})});
    const CountingLoop loop(hand, n, hand.constant(i64(0)), {late});
    const OutPort sum = hand.merge(DType::I64, {hand.enter(loop.id, hand.constant(i64(0)))});
    const auto sides = hand.switch_on(sum, loop.more);
    const OutPort product = hand.apply("mul", {loop.body, loop.entered[0]});
    hand.add_input(sum, hand.next_iteration(loop.id, hand.apply("add", {sides.when_true, product})));
    hand.output(hand.exit(loop.id, sides.when_false));
    EXPECT_EQ(run(hand.finish(), {i64(20), i64(2)}), Values{i64(380)}) << "delay " << delay;
  }
}

TEST_P(Rules, AnOpOfLoopConstantsAloneFiresInEveryIteration) {
  Hand hand;
  hand.add_function("main");
  const OutPort n = hand.int_input("n");
  const OutPort k = hand.int_input("k");
  const LoopId loop = hand.add_loop();
  const OutPort i = hand.merge(DType::I64, {hand.enter(loop, hand.constant(i64(0)))});
  const OutPort entered_k = hand.enter(loop, k, true);
  const OutPort step = hand.apply("mul", {entered_k, entered_k});
  const auto sides = hand.switch_on(i, hand.apply("lt", {i, hand.enter(loop, n, true)}));
  const OutPort next = hand.apply("add", {sides.when_true, step});
  hand.add_input(i, hand.next_iteration(loop, next));
  hand.output(hand.exit(loop, sides.when_false));
  EXPECT_EQ(run(hand.finish(), {i64(50), i64(3)}), Values{i64(54)});
}

}  // namespace
}  // namespace hiaton::exec::testing
