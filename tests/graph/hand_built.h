// Graphs built by hand, as the rules of the static tagged graph have them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "hiaton/error.h"
#include "hiaton/graph.h"

namespace hiaton::graph::testing {

inline const OpDef& op_named(std::string_view name) {
  const OpDef* op = catalog().find(name);
  if (op == nullptr) throw InternalError("no such operation");
  return *op;
}

/// What the loader says about a saved graph; empty where it takes it.
inline std::string load_error(const std::string& text) {
  try {
    from_json(text, "f.json");
    return "";
  } catch (const ProgramError& error) {
    return error.what();
  }
}

/// fact(3) + 5, as in the paper's figure 3.
struct Fact {
  GraphBuilder builder;
  FunctionId main = builder.add_function("main");
  FunctionId fact = builder.add_function("fact");
  CallSite outer, inner;
  NodeId outer_call, inner_call;
  OutPort n, is_one, less, product, outer_return, inner_return, result, sum;
  GraphBuilder::Sides sides;
  NodeId output;

  Fact() {
    n = builder.merge(DType::I64);
    builder.add_param("n", n);
    is_one = builder.op(op_named("eq"), {n, builder.constant(int64_t{1})});
    sides = builder.switch_on(n, is_one);
    less = builder.op(op_named("sub"), {sides.when_false, builder.constant(int64_t{1})});
    inner = builder.add_site(fact);
    inner_call = builder.call(inner, less);
    inner_return = builder.return_from(inner, DType::I64);
    product = builder.op(op_named("mul"), {sides.when_false, inner_return});
    result = builder.merge(DType::I64, {sides.when_true, product});
    builder.add_result(result);

    builder.in_function(main);
    outer = builder.add_site(fact);
    outer_call = builder.call(outer, builder.constant(int64_t{3}));
    outer_return = builder.return_from(outer, DType::I64);
    sum = builder.op(op_named("add"), {outer_return, builder.constant(int64_t{5})});
    output = builder.output(sum);

    builder.add_input(n, {outer_call});
    builder.add_input(n, {inner_call});
  }
};

/// 0, 1, 2, ... while less than the input: the last number.
struct Counter {
  GraphBuilder builder;
  FunctionId main = builder.add_function("main");
  OutPort limit = builder.input("limit", DType::I64);
  LoopId loop = builder.add_loop();
  OutPort enter = builder.enter(loop, builder.constant(int64_t{0}));
  OutPort merge = builder.merge(DType::I64, {enter});
  OutPort entered_limit = builder.enter(loop, limit, true);
  OutPort goes_on = builder.op(op_named("lt"), {merge, entered_limit});
  GraphBuilder::Sides sides = builder.switch_on(merge, goes_on);
  OutPort more = builder.op(op_named("add"), {sides.when_true, builder.constant(int64_t{1})});
  OutPort next = builder.next_iteration(loop, more);
  OutPort exit = builder.exit(loop, sides.when_false);
  NodeId output = builder.output(exit);

  Counter() { builder.add_input(merge, next); }
};

/// What finish() says; empty if it accepts the graph.
inline std::string findings_of(GraphBuilder& builder) {
  try {
    builder.finish();
    return "";
  } catch (const ProgramError& error) {
    return error.what();
  }
}

inline void expect_finding(GraphBuilder& builder, const std::string& expected) {
  const std::string found = findings_of(builder);
  EXPECT_NE(found.find(expected), std::string::npos) << "expected: " << expected << "\nfound: " << found;
}

}  // namespace hiaton::graph::testing
