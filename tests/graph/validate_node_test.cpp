// The rules that each node and edge must keep by itself. A legal graph is broken in one way, and the message
// says which node and what was expected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hand_built.h"

namespace hiaton::graph {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST(Validate, NoFunction) {
  GraphBuilder builder;
  expect_finding(builder, "expected a first function, which is the program; found none");
}

TEST(Validate, InputThatIsNotConnected) {
  Fact fact;
  fact.builder.node(fact.less).inputs[1] = {};
  expect_finding(fact.builder, "sub in 'fact': input 1 is not connected");
}

TEST(Validate, InputFromANodeThatIsNotThere) {
  Fact fact;
  fact.builder.node(fact.less).inputs[1] = {NodeId(1000)};
  expect_finding(fact.builder, "input 1 comes from node %1000; there are 16 nodes");
}

TEST(Validate, InputFromAnOutputThatIsNotThere) {
  Fact fact;
  fact.builder.node(fact.sum).inputs[0].port = 1;
  expect_finding(fact.builder, "input 0 comes from output 1 of %12 Return_1 in 'main', which has 1 outputs");
}

TEST(Validate, InputFromAnOutputNode) {
  Fact fact;
  fact.builder.node(fact.sum).inputs[0] = {fact.output};
  expect_finding(fact.builder, "which has 0 outputs");
}

TEST(Validate, WrongNumberOfInputs) {
  Fact fact;
  fact.builder.node(fact.sides.when_true).inputs.pop_back();
  expect_finding(fact.builder, "Switch in 'fact': expected 2 inputs, found 1");
}

TEST(Validate, MergeWithoutInputs) {
  Fact fact;
  fact.builder.node(fact.result).inputs.clear();
  expect_finding(fact.builder, "Merge in 'fact': expected at least 1 input, found none");
}

TEST(Validate, InputNodeWithAnInput) {
  Counter counter;
  counter.builder.node(counter.limit).inputs = {counter.limit};
  expect_finding(counter.builder, "Input 'limit' in 'main': expected 0 inputs, found 1");
}

TEST(Validate, ControlEdgeFromNowhere) {
  Fact fact;
  const OutPort one = fact.builder.constant(int64_t{1});
  fact.builder.add_control(one.node, {NodeId(1000)});
  expect_finding(fact.builder, "control edge 0 comes from node %1000");
}

TEST(Validate, ControlEdgeToAnOperation) {
  Fact fact;
  fact.builder.add_control(fact.sum.node, fact.outer_return);
  expect_finding(fact.builder, "control edges lead to Const, Return and Recv nodes only");
}

TEST(Validate, TwoControlEdgesToAConstant) {
  Fact fact;
  const OutPort one = fact.builder.constant(int64_t{1});
  fact.builder.add_control(one.node, fact.sum);
  fact.builder.add_control(one.node, fact.outer_return);
  expect_finding(fact.builder, "expected at most 1 control edge, found 2");
}

TEST(Validate, OperationNodeWithoutAnOperation) {
  Fact fact;
  fact.builder.node(fact.sum).op = nullptr;
  expect_finding(fact.builder, "expected an operation, found none");
}

TEST(Validate, NodeOfNoFunction) {
  Fact fact;
  fact.builder.node(fact.sum).function = FunctionId(9);
  expect_finding(fact.builder, "expected a function that it stands in, found none");
}

TEST(Validate, NodeMadeBeforeAnyFunction) {
  GraphBuilder builder;
  builder.merge(DType::I64);
  builder.add_function("main");
  expect_finding(builder, "%0 Merge: expected a function that it stands in, found none");
}

TEST(Validate, CallOfNoSite) {
  Fact fact;
  fact.builder.node(fact.inner_call).site = CallSite(9);
  expect_finding(fact.builder, "expected a call site, found none");
}

TEST(Validate, CallOfTheWrongSite) {
  Fact fact;
  fact.builder.node(fact.inner_call).site = fact.outer;
  expect_finding(fact.builder, "it says that it is number 0 of its kind");
}

TEST(Validate, EnterOfNoLoop) {
  Counter counter;
  counter.builder.node(counter.enter).loop = LoopId();
  expect_finding(counter.builder, "Enter in 'main': expected a loop, found none");
}

TEST(Validate, SiteWhoseNodeIsNoCall) {
  Fact fact;
  fact.builder.node(fact.inner_call).kind = NodeKind::Merge;
  expect_finding(fact.builder, "expected a node of kind Call, as one of the nodes of call site 0");
}

TEST(Validate, LoopNodesInAnotherFunction) {
  Counter counter;
  const FunctionId other = counter.builder.add_function("other");
  counter.builder.node(counter.more).function = other;
  counter.builder.node(counter.next).function = other;
  expect_finding(counter.builder, "loop 0 stands in another function");
}

TEST(Validate, OutputOutsideOfMain) {
  Fact fact;
  fact.builder.in_function(fact.fact);
  fact.builder.output(fact.result);
  expect_finding(fact.builder,
                 "expected it in the first function, which is the program; found it in function 'fact'");
}

TEST(Validate, PlaceOutsideOfTheText) {
  GraphBuilder builder(std::make_shared<Source>("a.hia", "short"));
  builder.add_function("main", {0, 100});
  expect_finding(builder, "its place in the text, 0 to 100, lies outside the text of 5 bytes");
}

// Types

TEST(Validate, PredicateThatIsNotBool) {
  Fact fact;
  fact.builder.node(fact.sides.when_true).inputs[1] = fact.n;
  expect_finding(fact.builder, "input 1, the predicate: expected bool, found i64 from %0");
}

TEST(Validate, MergeOfAnotherType) {
  Fact fact;
  fact.builder.node(fact.result).inputs[0] = fact.is_one;
  expect_finding(fact.builder, "Merge in 'fact': input 0: expected i64, found bool from %2");
}

TEST(Validate, ArgumentOfAnotherTypeThanTheParameter) {
  Fact fact;
  fact.builder.node(fact.inner_call).type = DType::F64;
  expect_finding(fact.builder, "Call_0 in 'fact': input 0: expected f64, found i64");
  Fact again;
  again.builder.node(again.inner_call).type = DType::F64;
  expect_finding(again.builder, "Merge in 'fact': input 1: expected i64, found f64");
}

TEST(Validate, ReturnOfAnotherTypeThanTheResult) {
  Fact fact;
  fact.builder.node(fact.outer_return).type = DType::I32;
  expect_finding(fact.builder, "Return_1 in 'main': input 0: expected i32, found i64");
}

TEST(Validate, OperationOnTypesThatItDoesNotTake) {
  Fact fact;
  fact.builder.node(fact.sum).inputs[1] = fact.builder.constant(0.5);
  expect_finding(fact.builder, "add in 'main':");
}

TEST(Validate, ConstantOfAnotherType) {
  Fact fact;
  const OutPort one = fact.builder.constant(int64_t{1});
  fact.builder.node(one).type = DType::F32;
  expect_finding(fact.builder, "expected the type of its constant, i64, found f32");
}

TEST(Validate, LoopVariableThatChangesItsType) {
  Counter counter;
  counter.builder.node(counter.next).type = DType::F64;
  expect_finding(counter.builder, "NextIteration in 'main': input 0: expected f64, found i64");
}

/// What finish() says of a program that adds to the gradient of a table f32[4, 3] what its inputs give.
std::string finding_of_accumulate(Accumulation how, const std::vector<Type>& inputs) {
  GraphBuilder builder;
  builder.add_function("main");
  const std::size_t table = builder.add_parameter("E", tensor_type(DType::F32, {4, 3}));
  std::vector<OutPort> given;
  for (const Type& type : inputs) given.push_back(builder.input("x" + std::to_string(given.size()), type));
  builder.output(builder.parameter(table));
  builder.accumulate(table, how, given);
  return findings_of(builder);
}

TEST(Validate, GradientsOfAnotherSizeThanTheParameter) {
  const Type numbers = tensor_type(DType::I64, {2});
  EXPECT_EQ(finding_of_accumulate(Accumulation::Dense, {tensor_type(DType::F32, {4, 3})}), "");
  EXPECT_THAT(finding_of_accumulate(Accumulation::Dense, {tensor_type(DType::F32, {9, 3})}),
              HasSubstr("Accumulate in 'main': input 0: expected f32[4, 3], found f32[9, 3]"));
  EXPECT_EQ(finding_of_accumulate(Accumulation::Rows, {numbers, tensor_type(DType::F32, {2, 3})}), "");
  EXPECT_EQ(finding_of_accumulate(Accumulation::Rows, {DType::I64, tensor_type(DType::F32, {3})}), "");
  EXPECT_THAT(finding_of_accumulate(Accumulation::Rows, {numbers, tensor_type(DType::F32, {2, 5})}),
              HasSubstr("input 1: expected f32[2, 3], found f32[2, 5]"));
  EXPECT_THAT(finding_of_accumulate(Accumulation::Rows, {DType::F32, tensor_type(DType::F32, {3})}),
              HasSubstr("expected row numbers (i64) and a parameter that has rows, found f32"));
}

TEST(Validate, ProductsOfAnotherSizeThanTheParameter) {
  const auto rows = [](int64_t size) { return tensor_type(DType::F32, {2, size}); };
  EXPECT_EQ(finding_of_accumulate(Accumulation::Outer, {rows(4), rows(3)}), "");
  EXPECT_EQ(finding_of_accumulate(Accumulation::Outer,
                                  {tensor_type(DType::F32, {4}), tensor_type(DType::F32, {3})}),
            "");
  EXPECT_THAT(finding_of_accumulate(Accumulation::Outer, {rows(5), rows(3)}),
              HasSubstr("input 0: expected f32[2, 4], found f32[2, 5]"));
  EXPECT_THAT(finding_of_accumulate(Accumulation::Outer, {rows(4), tensor_type(DType::F32, {3})}),
              HasSubstr("input 1: expected f32[2, 3], found f32[3]"));
}

}  // namespace
}  // namespace hiaton::graph
