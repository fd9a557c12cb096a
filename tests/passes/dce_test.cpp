#include "passes/support.h"

namespace hiaton::passes {
namespace {

void expect_dropped(const std::string& before, const std::string& after,
                    OverflowMode overflow = OverflowMode::Wrap) {
  expect_equal(drop_dead(parse(before), overflow), parse(after), before);
}

std::string with_helpers(const std::string& main) {
  return "fn main(a: i64, b: i64) -> i64 = " + main +
         "\nfn harmless(n: i64) -> i64 = n * 3\n"
         "fn failing(n: i64) -> i64 = 3 / n\n"
         "fn calls_failing(n: i64) -> i64 = harmless(failing(n))\n"
         "fn looping(n: i64) -> i64 = with i = n while i < 3 do i + 1\n"
         "fn even(n: i64) -> bool = if n == 0 then true else odd(n - 1)\n"
         "fn odd(n: i64) -> bool = if n == 0 then false else even(n - 1)\n";
}

std::string just_main(const std::string& body) {
  return "fn main(a: i64, b: i64) -> i64 = " + body;
}

bool calls(const ir::Module& module, const std::string& callee) {
  for (const ir::Node& node : module[*module.find("main")].nodes) {
    if (node.kind == ir::NodeKind::Call && module[node.callee].name == callee) return true;
  }
  return false;
}

TEST(DropDead, WhatNobodyNeedsGoes) {
  expect_dropped(just_main("let u = a * b let v = u + 1 a"), just_main("a"));
  expect_dropped(just_main("let u = if a < b then a else b a"), just_main("a"));
  expect_dropped(just_main("let u = a / 2 let v = a % 7 a"), just_main("a"));
}

TEST(DropDead, WhatMayFailStays) {
  for (const char* failing :
       {"let u = a / b a", "let u = a % b a", "let u = i64(f64(a)) a", "let u = a / 0 a"}) {
    expect_dropped(just_main(failing), just_main(failing));
  }
}

TEST(DropDead, OverflowIsAFaultOnlyWhereItTraps) {
  expect_dropped(just_main("let u = a * b a"), just_main("let u = a * b a"), OverflowMode::Trap);
  expect_dropped(just_main("let u = a / -1 a"), just_main("let u = a / -1 a"), OverflowMode::Trap);
  expect_dropped(just_main("let u = a / 2 a"), just_main("a"), OverflowMode::Trap);
}

TEST(DropDead, CallsGoOnlyIfTheCalleeCanNeitherFailNorDiverge) {
  const auto keeps = [](const std::string& callee, const std::string& body) {
    return calls(drop_dead(parse(with_helpers(body)), OverflowMode::Wrap), callee);
  };
  EXPECT_FALSE(keeps("harmless", "let u = harmless(a) a"));
  EXPECT_TRUE(keeps("failing", "let u = failing(a) a"));
  EXPECT_TRUE(keeps("calls_failing", "let u = calls_failing(a) a"));
  EXPECT_TRUE(keeps("looping", "let u = looping(a) a"));
  EXPECT_TRUE(keeps("even", "let u = even(a) a"));
}

TEST(DropDead, FunctionsThatMainDoesNotReachGo) {
  const ir::Module module = drop_dead(parse(with_helpers("if odd(a) then 1 else 2")), OverflowMode::Wrap);
  EXPECT_EQ(module.functions.size(), 3u);
  EXPECT_TRUE(module.find("even"));
  EXPECT_TRUE(module.find("odd"));
  EXPECT_NO_THROW(ir::verify(module));
}

TEST(DropDead, AModuleWithoutMainKeepsItsFunctions) {
  const ir::Module module =
      drop_dead(parse("fn f(n: i64) -> i64 = n\nfn g(n: i64) -> i64 = n"), OverflowMode::Wrap);
  EXPECT_EQ(module.functions.size(), 2u);
}

TEST(DropDead, ResultsOfBranchesGoOneByOne) {
  expect_dropped(just_main("let (u, v) = if a < b then (a * 2, b * 3) else (a, b) v"),
                 just_main("if a < b then b * 3 else b"));
}

TEST(DropDead, ABranchStaysForWhatMayFailInIt) {
  expect_dropped(just_main("let u = if a < b then let w = a / b let x = a * b 1 else 2 a"),
                 just_main("let u = if a < b then let w = a / b 1 else 2 a"));
}

TEST(DropDead, VariablesOfLoopsGoThatFeedOnlyThemselves) {
  expect_dropped(just_main("let (i, u, s) = with i = 0, u = b, s = a while i < b do (i + 1, u * 2, s + i) s"),
                 just_main("let (i, s) = with i = 0, s = a while i < b do (i + 1, s + i) s"));
  const std::string counts_only = just_main("let i = with i = 0 while i < b do i + 1 a");
  expect_dropped(counts_only, counts_only);
}

}  // namespace
}  // namespace hiaton::passes
