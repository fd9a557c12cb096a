// Each rule of ir::verify, broken by hand.
#include <gtest/gtest.h>

#include "ir/support.h"

namespace hiaton {
namespace {

using ir::BlockId;
using ir::NodeId;
using ir::ValueId;

const char* const kProgram =
    "fn f(n: i64, x: f64) -> i64 =\n"
    "  let a = n + n\n"
    "  let b = f(a, x)\n"
    "  let c = if a < b then a else b\n"
    "  with i = c while i < n do i * n\n";

/// The message after `damage` was done to the function above.
std::string after(const std::function<void(ir::Function&)>& damage) {
  ir::Module module = parse(kProgram);
  damage(module.functions[0]);
  return error_of([&] { ir::verify(module); });
}

ir::Node& node(ir::Function& f, ir::NodeKind kind) {
  for (ir::Node& candidate : f.nodes) {
    if (candidate.kind == kind) return candidate;
  }
  throw std::logic_error("no such node");
}

TEST(Verify, AcceptsWhatIsRight) {
  EXPECT_EQ(after([](ir::Function&) {}), "");
}

TEST(Verify, IgnoresNodesThatStandNowhere) {
  EXPECT_EQ(after([](ir::Function& f) { f.nodes.push_back({.kind = ir::NodeKind::Call}); }), "");
}

TEST(Verify, NamesParametersResultsAndBodyOfAFunctionGoTogether) {
  EXPECT_EQ(after([](ir::Function& f) { f.name = "if"; }),
            "function 'if': expected a name that is no keyword and no type");
  EXPECT_EQ(after([](ir::Function& f) { f.params[0].name = "a b"; }),
            "function 'f': 'a b' is no name for a parameter");
  EXPECT_EQ(after([](ir::Function& f) { f.params[1].name = "n"; }),
            "function 'f': two parameters are named 'n'");
  EXPECT_EQ(after([](ir::Function& f) { f.results.clear(); }), "function 'f': expected at least one result");
  EXPECT_EQ(after([](ir::Function& f) { f.body = BlockId(); }), "function 'f': it has no body");
  EXPECT_EQ(after([](ir::Function& f) { f.params[0].type = DType::I32; }),
            "function 'f': the parameters of its body are not its parameters");
}

TEST(Verify, AFunctionGivesTheResultsThatItDeclares) {
  EXPECT_EQ(after([](ir::Function& f) { f[f.body].results[0] = ValueId(1); }),
            "function 'f': results: expected (i64), found (f64)");
  EXPECT_EQ(after([](ir::Function& f) { f[f.body].results.clear(); }),
            "function 'f': results: expected (i64), found ()");
}

TEST(Verify, FunctionsHaveDifferentNames) {
  ir::Module module = parse(kProgram);
  module.functions.push_back(module.functions[0]);
  EXPECT_EQ(error_of([&] { ir::verify(module); }), "function 'f' is defined twice");
}

TEST(Verify, WhatIsReferredToIsThere) {
  EXPECT_EQ(after([](ir::Function& f) { f[f.body].nodes[0] = NodeId(99); }),
            "function 'f': there is no node 99");
  EXPECT_EQ(after([](ir::Function& f) { node(f, ir::NodeKind::If).blocks[0] = BlockId(99); }),
            "function 'f': there is no block 99");
  EXPECT_EQ(after([](ir::Function& f) { f.nodes[0].operands[0] = ValueId(99); }),
            "function 'f', node 0 (add): operand 0 (value 99) is not defined before it");
  EXPECT_EQ(after([](ir::Function& f) { f.nodes[0].results[0] = ValueId(99); }),
            "function 'f', node 0 (add): there is no value 99");
  EXPECT_EQ(after([](ir::Function& f) { node(f, ir::NodeKind::Call).callee = ir::FunctionId(9); }),
            "function 'f', node 1 (call): there is no such function");
  EXPECT_NE(after([](ir::Function& f) { f[f.body].results[0] = ValueId(99); }), "");
  EXPECT_NE(after([](ir::Function& f) { f[f.body].params[0] = ValueId(99); }), "");
}

TEST(Verify, DefinitionsComeBeforeUses) {
  EXPECT_EQ(after([](ir::Function& f) { std::swap(f[f.body].nodes[0], f[f.body].nodes[1]); }),
            "function 'f', node 1 (call of f): operand 0 (value 2) is not defined before it");
}

TEST(Verify, ValuesAreDefinedOnce) {
  EXPECT_EQ(after([](ir::Function& f) { f.nodes[1].results[0] = f.nodes[0].results[0]; }),
            "function 'f': value 2 is defined twice");
}

TEST(Verify, NodesAndBlocksStandInOnePlace) {
  EXPECT_EQ(after([](ir::Function& f) { f[f.body].nodes.push_back(f[f.body].nodes[0]); }),
            "function 'f', node 0 (add): it stands in two places");
  EXPECT_EQ(after([](ir::Function& f) {
              ir::Node& branch = node(f, ir::NodeKind::If);
              branch.blocks[1] = branch.blocks[0];
            }),
            "function 'f': block 1 stands in two places");
}

TEST(Verify, OperationsFitTheirRules) {
  EXPECT_EQ(after([](ir::Function& f) { f.nodes[0].op = nullptr; }),
            "function 'f', node 0 (operation): it has no operation");
  EXPECT_EQ(after([](ir::Function& f) { f.nodes[0].operands.pop_back(); }),
            "function 'f', node 0 (add): expected 2 operands, found 1");
  EXPECT_EQ(after([](ir::Function& f) { f.nodes[0].operands[1] = ValueId(1); }),
            "function 'f', node 0 (add): expected numbers of one type, found i64 and f64");
  EXPECT_EQ(after([](ir::Function& f) { f[f.nodes[0].results[0]].type = DType::F64; }),
            "function 'f', node 0 (add): result: expected (i64), found (f64)");
}

TEST(Verify, CallsFitTheCallee) {
  EXPECT_EQ(after([](ir::Function& f) { node(f, ir::NodeKind::Call).operands.pop_back(); }),
            "function 'f', node 1 (call of f): arguments: expected (i64, f64), found (i64)");
}

TEST(Verify, SidesOfABranchGiveWhatTheBranchGives) {
  EXPECT_NE(after([](ir::Function& f) { node(f, ir::NodeKind::If).operands[0] = ValueId(0); }), "");
  EXPECT_NE(after([](ir::Function& f) { node(f, ir::NodeKind::If).blocks.pop_back(); }), "");
  EXPECT_NE(after([](ir::Function& f) { node(f, ir::NodeKind::If).results.clear(); }), "");
  EXPECT_NE(after([](ir::Function& f) { f[node(f, ir::NodeKind::If).blocks[0]].results[0] = ValueId(1); }),
            "");
}

TEST(Verify, PartsOfALoopFitItsVariables) {
  EXPECT_NE(after([](ir::Function& f) { node(f, ir::NodeKind::While).operands[0] = ValueId(1); }), "");
  EXPECT_NE(after([](ir::Function& f) { node(f, ir::NodeKind::While).operands.clear(); }), "");
  EXPECT_NE(after([](ir::Function& f) { f[node(f, ir::NodeKind::While).blocks[0]].results[0] = ValueId(0); }),
            "");
  EXPECT_NE(after([](ir::Function& f) { f[node(f, ir::NodeKind::While).blocks[1]].results[0] = ValueId(1); }),
            "");
  EXPECT_NE(after([](ir::Function& f) { f[node(f, ir::NodeKind::While).blocks[1]].params.clear(); }), "");
}

TEST(Verify, ValuesOfABlockAreSeenInsideOnly) {
  EXPECT_EQ(after([](ir::Function& f) {
              const ir::Block& body = f[node(f, ir::NodeKind::While).blocks[1]];
              f[f.body].results[0] = body.results[0];
            }),
            "function 'f': a block gives value 9, which it cannot see");
}

TEST(Verify, NestingIsLimited) {
  const auto nested = [](std::size_t levels) {
    ModuleBuilder builder;
    const FunctionRef g = builder.declare("g", {{DType::Bool, "c"}}, {DType::Bool});
    builder.define(g, [&](FunctionBuilder& f) -> Vars {
      std::vector<ir::BlockId> open;
      for (std::size_t i = 0; i < levels; ++i) open.push_back(f.begin_block({}));
      Var value = f.param(0);
      for (; !open.empty(); open.pop_back()) {
        f.end_block(open.back(), value);
        const ir::BlockId otherwise = f.begin_block({});
        f.end_block(otherwise, f.param(0));
        value = f.finish_if(f.param(0), open.back(), otherwise);
      }
      return value;
    });
    return error_of([&] { builder.finish(); });
  };
  EXPECT_EQ(nested(ir::kMaxNesting), "");
  EXPECT_EQ(nested(ir::kMaxNesting + 1),
            "function 'g': expected at most 2000 branches and loops inside each other, found more");
  EXPECT_NE(nested(100'000), "");
}

}  // namespace
}  // namespace hiaton
