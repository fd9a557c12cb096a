#include "passes/support.h"

namespace hiaton::passes {
namespace {

ir::Module flatten_wrapping(const ir::Module& module) {
  return flatten_logic(module, OverflowMode::Wrap);
}
ir::Module flatten_trapping(const ir::Module& module) {
  return flatten_logic(module, OverflowMode::Trap);
}

std::string of_logic(const std::string& body) {
  return "fn main(a: i64, b: i64, x: f64) -> bool = " + body +
         "\nfn harmless(n: i64) -> bool = n < 3\n"
         "fn endless(n: i64) -> bool = endless(n)";
}

ir::NodeKind kind_of_result(const ir::Module& module) {
  const ir::Function& main = module[*module.find("main")];
  for (const ir::Node& node : main.nodes) {
    if (node.results[0] == main[main.body].results[0]) return node.kind;
  }
  return ir::NodeKind::Const;
}

TEST(FlattenLogic, CheapHarmlessConditionsNeedNoBranch) {
  for (const char* cheap :
       {"a < b and b < 3", "a < b or x < 0.5", "a < b and b < 3 or x > 1.0", "a < b and (b < 3 or x > 1.0)",
        "if a < b then b < 3 else false", "a < b and a % 2 == 0", "a < b and a + b < 3"}) {
    const ir::Module flat = flatten_wrapping(parse(of_logic(cheap)));
    EXPECT_NO_THROW(ir::verify(flat));
    EXPECT_EQ(kind_of_result(flat), ir::NodeKind::Op) << ir::print(flat);
    for (const ir::Node& node : flat[*flat.find("main")].nodes) EXPECT_NE(node.kind, ir::NodeKind::If);
  }
}

TEST(FlattenLogic, GivesAndAndOr) {
  const auto name_of_result = [](const char* body) {
    const ir::Module flat = flatten_wrapping(parse(of_logic(body)));
    return std::string(flat[*flat.find("main")].nodes.back().op->name.value);
  };
  EXPECT_EQ(name_of_result("a < b and b < 3"), "and");
  EXPECT_EQ(name_of_result("a < b or b < 3"), "or");
}

TEST(FlattenLogic, WhatMayFailOrNeverEndStaysBehindItsCondition) {
  for (const char* guarded :
       {"b != 0 and a / b > 1", "b == 0 or a % b > 1", "a < b and endless(a)", "a > 0 and harmless(a)",
        "a < b and i64(x) > 1", "a < b and (with i = a while i < b do i + 1) < 3"}) {
    expect_stays(flatten_wrapping, of_logic(guarded));
  }
}

TEST(FlattenLogic, OverflowCountsAsAFaultOnlyWhereItTraps) {
  expect_stays(flatten_trapping, of_logic("a < b and a + b < 3"));
}

TEST(FlattenLogic, ExpensiveConditionsStayBehindTheirCondition) {
  expect_stays(flatten_wrapping, of_logic("a < b and a * a * a * a * a * a * a * a * a * a < 3"));
}

TEST(FlattenLogic, OtherBranchesStay) {
  expect_stays(flatten_wrapping, of_logic("if a < b then b < 3 else true"));
  expect_stays(flatten_wrapping, of_logic("if a < b then b < 3 else a < 3"));
  expect_stays(flatten_wrapping, of_logic("a < b and on \"process:1\" (b < 3)"));
}

}  // namespace
}  // namespace hiaton::passes
