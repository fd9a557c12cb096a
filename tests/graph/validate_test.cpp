// The rules between nodes: calls, contexts and cycles; and graphs that must pass. A legal graph is broken in
// one way, and the message says which node and what was expected.
#include <gtest/gtest.h>

#include "hand_built.h"

namespace hiaton::graph {
namespace {

using namespace testing;

TEST(Validate, AcceptsFact) {
  Fact fact;
  EXPECT_EQ(findings_of(fact.builder), "");
}

TEST(Validate, AcceptsALoop) {
  Counter counter;
  EXPECT_EQ(findings_of(counter.builder), "");
}

TEST(Validate, AcceptsAValueThatIsMergedFromThreeSwitches) {
  GraphBuilder builder;
  builder.add_function("main");
  const OutPort x = builder.input("x", DType::I64);
  const OutPort p = builder.input("p", DType::Bool);
  const OutPort q = builder.input("q", DType::Bool);
  const auto by_p = builder.switch_on(x, p);
  const auto q_by_p = builder.switch_on(q, p);
  const auto by_q = builder.switch_on(by_p.when_false, q_by_p.when_false);
  const OutPort doubled = builder.op(op_named("add"), {by_q.when_true, by_q.when_true});
  builder.output(builder.merge(DType::I64, {by_p.when_true, doubled, by_q.when_false}));
  EXPECT_EQ(findings_of(builder), "");
}

TEST(Validate, AcceptsOneSideOfASwitchLeftUnread) {
  GraphBuilder builder;
  builder.add_function("main");
  const OutPort x = builder.input("x", DType::I64);
  builder.output(builder.switch_on(x, builder.input("p", DType::Bool)).when_true);
  EXPECT_EQ(findings_of(builder), "");
}

TEST(Validate, AcceptsALoopWhoseConditionStandsInTheMiddle) {
  Counter counter;
  const auto skip = counter.builder.switch_on(counter.more, counter.goes_on);
  counter.builder.node(counter.next).inputs = {skip.when_true};
  EXPECT_EQ(findings_of(counter.builder), "");
}

TEST(Validate, ListsEveryFindingOfOneGo) {
  Fact fact;
  fact.builder.node(fact.product).inputs.pop_back();
  fact.builder.node(fact.sum).type = DType::F64;
  expect_finding(fact.builder, "%8 mul in 'fact': expected 2 inputs, found 1");
  Fact again;
  again.builder.node(again.product).inputs.pop_back();
  again.builder.node(again.sum).type = DType::F64;
  expect_finding(again.builder, "add in 'main': expected the result type i64, found f64");
}

TEST(Validate, NamesTheLineOfTheNode) {
  const auto source = std::make_shared<Source>("a.hia", "fn main(x: i64) -> i64 =\n  x + x\n");
  GraphBuilder builder(source);
  builder.add_function("main");
  const OutPort x = builder.input("x", DType::I64);
  const OutPort sum = builder.op(op_named("add"), {x, x});
  builder.node(sum).span = {27, 32};
  builder.node(sum).inputs.pop_back();
  builder.output(sum);
  expect_finding(builder, "(a.hia:2:3)");
}

// Calls

TEST(Validate, TooFewArguments) {
  Fact fact;
  fact.builder.in_function(fact.fact);
  fact.builder.add_param("extra", fact.builder.merge(DType::I64, {OutPort{fact.inner_call}}));
  expect_finding(fact.builder,
                 "call site 1: expected 2 Call nodes, as many as 'fact' has parameters, found 1");
}

TEST(Validate, TooManyResults) {
  Fact fact;
  fact.builder.in_function(fact.main);
  fact.builder.return_from(fact.outer, fact.result, DType::I64);
  expect_finding(fact.builder,
                 "call site 1: expected 1 Return nodes, as many as 'fact' has results, found 2");
}

TEST(Validate, CallThatDoesNotLeadToItsParameter) {
  Fact fact;
  fact.builder.node(fact.n).inputs.pop_back();
  expect_finding(fact.builder,
                 "Call_0 in 'fact': expected one reader, the Merge %0 of parameter 0 of 'fact', found 0");
}

TEST(Validate, CallThatSomethingElseReads) {
  Fact fact;
  fact.builder.node(fact.sum).inputs[0] = {fact.outer_call};
  expect_finding(fact.builder, "it reads %11 Call_1 in 'main': only the parameter of the callee does");
}

TEST(Validate, ParameterFedByAnotherNodeThanACall) {
  Fact fact;
  fact.builder.add_input(fact.n, fact.less);
  expect_finding(fact.builder,
                 "it is parameter 0: expected inputs from the Call nodes of that argument, found %5 sub");
}

TEST(Validate, ParameterThatIsNoMerge) {
  Fact fact;
  fact.builder.function(fact.fact).params[0] = fact.less;
  expect_finding(fact.builder,
                 "function 'fact': parameter 0 comes from %5: expected a Merge of the Call nodes");
}

TEST(Validate, ReturnFromAnotherValueThanTheResult) {
  Fact fact;
  fact.builder.node(fact.outer_return).inputs[0] = fact.product;
  expect_finding(fact.builder, "expected its input from %9, result 0 of 'fact', found %8");
}

TEST(Validate, ReturnThatDoesNotWaitForItsCall) {
  Fact fact;
  fact.builder.add_control(fact.outer_return.node, {fact.inner_call});
  expect_finding(fact.builder, "Return_1 in 'main': expected control edges from each Call of its call site");
}

TEST(Validate, ReturnInAnotherFunctionThanTheCaller) {
  Fact fact;
  fact.builder.node(fact.outer_return).function = fact.fact;
  expect_finding(fact.builder, "expected it in the caller of its call site, function 'main'");
}

TEST(Validate, CallOfTheProgram) {
  Fact fact;
  fact.builder.in_function(fact.fact);
  fact.builder.add_site(fact.main);
  expect_finding(fact.builder, "call site 2: nothing calls the first function: it is the program");
}

TEST(Validate, FunctionWithoutParameters) {
  Fact fact;
  fact.builder.add_function("empty");
  expect_finding(fact.builder, "function 'empty': expected at least 1 parameter");
}

TEST(Validate, TriggeredFunctionWithoutABool) {
  Fact fact;
  fact.builder.in_function(fact.fact);
  fact.builder.set_triggered();
  expect_finding(fact.builder, "function 'fact': it is triggered: expected one parameter of type bool");
}

TEST(Validate, TriggeredProgram) {
  Fact fact;
  fact.builder.in_function(fact.main);
  fact.builder.set_triggered();
  expect_finding(fact.builder, "function 'main': the program starts by itself");
}

TEST(Validate, ProgramWhoseParametersAreNotItsInputs) {
  Counter counter;
  counter.builder.function(counter.main).params.clear();
  counter.builder.function(counter.main).param_names.clear();
  expect_finding(counter.builder, "function 'main': expected the Input nodes as its parameters");
}

TEST(Validate, ProgramWhoseResultsAreNotItsOutputs) {
  Counter counter;
  counter.builder.function(counter.main).results[0] = counter.limit;
  expect_finding(counter.builder, "function 'main': expected what the Output nodes read as its results");
}

TEST(Validate, MissingNameOfAParameter) {
  Fact fact;
  fact.builder.function(fact.fact).param_names.clear();
  expect_finding(fact.builder, "function 'fact': expected 1 names of parameters, found 0");
}

TEST(Validate, ResultThatIsNoNode) {
  Fact fact;
  fact.builder.function(fact.fact).results[0] = {NodeId(1000)};
  expect_finding(fact.builder,
                 "function 'fact': result 0 comes from %1000, which is not an output of a node");
}

TEST(Validate, ResultOfAnotherFunction) {
  Fact fact;
  fact.builder.function(fact.fact).results[0] = fact.sum;
  expect_finding(fact.builder,
                 "function 'fact': result 0 comes from another function: from %14 add in 'main'");
}

// Contexts

TEST(Validate, ValueOfAnotherFunction) {
  Fact fact;
  fact.builder.node(fact.sum).inputs[1] = fact.less;
  expect_finding(
      fact.builder,
      "add in 'main': it reads %5 sub in 'fact': values pass between functions by Call and Return only");
}

TEST(Validate, ValueLeavesALoopWithoutExit) {
  Counter counter;
  counter.builder.node(counter.output).inputs[0] = counter.sides.when_false;
  counter.builder.function(counter.main).results[0] = counter.sides.when_false;
  expect_finding(counter.builder, "in loop 0: an Exit is missing");
}

TEST(Validate, ValueComesIntoALoopWithoutEnter) {
  Counter counter;
  counter.builder.node(counter.goes_on).inputs[1] = counter.limit;
  expect_finding(counter.builder, "an Enter is missing");
}

TEST(Validate, ValuesOfTwoLoopsMeet) {
  Counter counter;
  const LoopId other = counter.builder.add_loop();
  const OutPort inside = counter.builder.enter(other, counter.limit, true);
  counter.builder.node(counter.goes_on).inputs[1] = inside;
  expect_finding(counter.builder, "an Exit and an Enter are missing");
}

TEST(Validate, ExitOfAnotherLoop) {
  Counter counter;
  const LoopId other = counter.builder.add_loop();
  counter.builder.enter(other, counter.limit);
  const OutPort exit = counter.builder.exit(other, counter.sides.when_false);
  counter.builder.output(exit);
  expect_finding(counter.builder, "Exit in 'main': it reads in loop 0");
}

TEST(Validate, NextIterationThatGoesToNoMerge) {
  Counter counter;
  counter.builder.node(counter.goes_on).inputs[0] = counter.next;
  expect_finding(counter.builder, "lt in 'main': it reads %9 NextIteration in 'main': only a Merge may");
}

TEST(Validate, LoopVariableThatEntersTwice) {
  Counter counter;
  counter.builder.add_input(counter.merge, counter.builder.enter(counter.loop, counter.limit));
  expect_finding(counter.builder,
                 "Merge in 'main': it is a variable of a loop: expected one Enter that is not constant");
}

TEST(Validate, LoopVariableThatIsConstant) {
  Counter counter;
  counter.builder.node(counter.enter).loop_constant = true;
  expect_finding(counter.builder,
                 "Merge in 'main': it is a variable of a loop: expected one Enter that is not constant");
}

TEST(Validate, NextStateThatIsAConstantThatNothingStarts) {
  Counter counter;
  counter.builder.node(counter.next).inputs[0] = counter.builder.constant(int64_t{1});
  expect_finding(counter.builder,
                 "NextIteration in 'main': input from %12 Const 1 in 'main': expected a Const with a");
}

TEST(Validate, ResultInsideOfALoop) {
  Counter counter;
  counter.builder.function(counter.main).results[0] = counter.more;
  expect_finding(counter.builder,
                 "function 'main': result 0 comes from %8 add in 'main' in loop 0: an Exit is missing");
}

TEST(Validate, OperationOnConstantsOnlyInAFunction) {
  Fact fact;
  fact.builder.node(fact.less).inputs[0] = fact.builder.node(fact.less).inputs[1];
  expect_finding(fact.builder,
                 "sub in 'fact': all its inputs are constants: expected one of them with a control edge");
}

TEST(Validate, ConstantOperandsInMainAreFine) {
  GraphBuilder builder;
  builder.add_function("main");
  const OutPort one = builder.constant(int64_t{1});
  builder.output(builder.op(op_named("add"), {one, one}));
  EXPECT_EQ(findings_of(builder), "");
}

TEST(Validate, MergeOfAConstantThatNothingStarts) {
  Fact fact;
  fact.builder.in_function(fact.fact);
  fact.builder.node(fact.result).inputs[0] = fact.builder.constant(int64_t{1});
  expect_finding(fact.builder,
                 "Merge in 'fact': input from %16 Const 1 in 'fact': expected a Const with a control edge");
}

TEST(Validate, ResultThatIsAConstantThatNothingStarts) {
  Fact fact;
  fact.builder.in_function(fact.fact);
  fact.builder.function(fact.fact).results[0] = fact.builder.constant(int64_t{1});
  expect_finding(fact.builder, "it is result 0 of the function: expected a control edge that starts it");
}

TEST(Validate, ReturnWithoutInput) {
  Fact fact;
  fact.builder.node(fact.inner_return).inputs.clear();
  expect_finding(fact.builder, "Return_0 in 'fact': expected 1 input, found 0");
}

TEST(Validate, LoopThatNothingEnters) {
  GraphBuilder builder;
  builder.add_function("main");
  const LoopId loop = builder.add_loop();
  const OutPort merge = builder.merge(DType::I64);
  builder.add_input(merge, builder.next_iteration(loop, merge));
  expect_finding(builder, "it is a variable of a loop: expected one Enter that is not constant");
}

TEST(Validate, LoopsThatEnterEachOther) {
  GraphBuilder builder;
  builder.add_function("main");
  const LoopId first = builder.add_loop();
  const LoopId second = builder.add_loop();
  const OutPort there = builder.exit(first, builder.enter(first, {NodeId(3)}));
  builder.exit(second, builder.enter(second, there));
  expect_finding(builder, "stands on a cycle of 4 nodes");
}

TEST(Validate, LoopsThatEnterEachOtherFromIterationsThatNothingBegan) {
  GraphBuilder builder;
  builder.add_function("main");
  const OutPort n = builder.input("n", DType::I64);
  const LoopId first = builder.add_loop();
  const LoopId second = builder.add_loop();
  const OutPort in_second = builder.enter(second, builder.next_iteration(first, n));
  const OutPort in_first = builder.enter(first, in_second);
  builder.output(builder.op(op_named("add"), {in_first, n}));
  expect_finding(builder, "Exit");
}

TEST(Validate, LoopThatIsEnteredFromItsOwnIteration) {
  GraphBuilder builder;
  builder.add_function("main");
  const LoopId loop = builder.add_loop();
  const OutPort n = builder.input("n", DType::I64);
  builder.output(builder.exit(loop, builder.enter(loop, builder.next_iteration(loop, n))));
  expect_finding(builder, "in loop 0");
}

TEST(Validate, CallThatWaitsForItsOwnReturn) {
  Fact fact;
  fact.builder.node(fact.outer_call).inputs[0] = fact.outer_return;
  expect_finding(fact.builder, "no token can ever come to %11 Call_1 in 'main', %12 Return_1 in 'main'");
}

// Cycles

TEST(Validate, CycleWithoutNextIteration) {
  Counter counter;
  counter.builder.node(counter.merge).inputs[1] = counter.more;
  expect_finding(counter.builder,
                 "stands on a cycle of 3 nodes that goes through no NextIteration, Call or Return");
}

TEST(Validate, OperationThatReadsItself) {
  Fact fact;
  fact.builder.node(fact.sum).inputs[0] = fact.sum;
  expect_finding(fact.builder, "add in 'main': it stands on a cycle of 1 nodes");
}

TEST(Validate, CycleOfControlEdges) {
  GraphBuilder builder;
  builder.add_function("main");
  const OutPort x = builder.input("x", DType::I64);
  const OutPort one = builder.constant(int64_t{1});
  const OutPort sum = builder.op(op_named("add"), {x, one});
  builder.add_control(one.node, sum);
  builder.output(sum);
  expect_finding(builder, "stands on a cycle of 2 nodes");
}

TEST(Validate, EveryCycleIsReported) {
  GraphBuilder builder;
  builder.add_function("main");
  const OutPort x = builder.input("x", DType::I64);
  for (int i = 0; i < 2; ++i) {
    const OutPort sum = builder.op(op_named("add"), {x, x});
    builder.node(sum).inputs[1] = sum;
    builder.output(sum);
  }
  const std::string found = findings_of(builder);
  EXPECT_NE(found.find("%1 add"), std::string::npos) << found;
  EXPECT_NE(found.find("%3 add"), std::string::npos) << found;
}

TEST(Validate, EndlessRecursionIsLegal) {
  GraphBuilder builder;  // fn f(x) = f(x) + 1
  const FunctionId main = builder.add_function("main");
  const FunctionId f = builder.add_function("f");
  const OutPort x = builder.merge(DType::I64);
  builder.add_param("x", x);
  const CallSite inner = builder.add_site(f);
  builder.add_input(x, {builder.call(inner, x)});
  const OutPort one = builder.constant(int64_t{1});
  builder.add_result(builder.op(op_named("add"), {builder.return_from(inner, DType::I64), one}));
  builder.in_function(main);
  const CallSite outer = builder.add_site(f);
  builder.add_input(x, {builder.call(outer, builder.constant(int64_t{1}))});
  builder.output(builder.return_from(outer, DType::I64));
  EXPECT_EQ(findings_of(builder), "");
}

}  // namespace
}  // namespace hiaton::graph
