#include "passes/effects.h"

#include "passes/call_graph.h"
#include "passes/support.h"

namespace hiaton::passes {
namespace {

bool may_fail_or_diverge(const std::string& text, const std::string& function, OverflowMode overflow) {
  const ir::Module module = parse(text);
  return Effects(module, overflow).may_fail_or_diverge(*module.find(function));
}

TEST(Effects, FailingOperationsCountUnlessAnOperandExcludesTheFault) {
  const auto of_body = [](const std::string& body, OverflowMode overflow) {
    return may_fail_or_diverge("fn f(a: i64, b: i64, x: f64) -> i64 = " + body, "f", overflow);
  };
  for (const char* harmless : {"a / 2", "a % -7", "i64(a < b)", "min(a, b)"}) {
    EXPECT_FALSE(of_body(harmless, OverflowMode::Wrap)) << harmless;
    EXPECT_FALSE(of_body(harmless, OverflowMode::Trap)) << harmless;
  }
  for (const char* overflowing : {"a + b", "a * 2", "-a", "abs(a)", "i64(i32(a))"}) {
    EXPECT_FALSE(of_body(overflowing, OverflowMode::Wrap)) << overflowing;
    EXPECT_TRUE(of_body(overflowing, OverflowMode::Trap)) << overflowing;
  }
  for (const char* failing : {"a / b", "a / 0", "a % b", "i64(x)", "if a < b then a else a / b"}) {
    EXPECT_TRUE(of_body(failing, OverflowMode::Wrap)) << failing;
  }
  EXPECT_TRUE(of_body("a / -1", OverflowMode::Trap));
}

TEST(Effects, CallersInheritAndRecursionAndLoopsMayNotEnd) {
  const std::string text =
      "fn harmless(n: i64) -> i64 = min(n, 3)\n"
      "fn calls_harmless(n: i64) -> i64 = harmless(harmless(n))\n"
      "fn calls_loop(n: i64) -> i64 = loops(n)\n"
      "fn loops(n: i64) -> i64 = with i = n while i < 3 do max(i, 3)\n"
      "fn ping(n: i64) -> i64 = pong(n)\n"
      "fn pong(n: i64) -> i64 = ping(n)\n"
      "fn calls_ping(n: i64) -> i64 = ping(n)\n";
  for (const char* function : {"harmless", "calls_harmless"}) {
    EXPECT_FALSE(may_fail_or_diverge(text, function, OverflowMode::Trap)) << function;
  }
  for (const char* function : {"loops", "calls_loop", "ping", "pong", "calls_ping"}) {
    EXPECT_TRUE(may_fail_or_diverge(text, function, OverflowMode::Wrap)) << function;
  }
}

TEST(Effects, RecursionAlongADataValueEnds) {
  const std::string text =
      "data Tree = Leaf(x: i64) | Node(left: Tree, right: Tree)\n"
      "fn turned(all: List[i64], made: List[i64]) -> List[i64] =\n"
      "  match all\n"
      "    Nil -> made\n"
      "    Cons(first, rest) -> turned(rest, Cons(first, made))\n"
      "fn below(n: i64, t: Tree) -> i64 =\n"
      "  match t\n"
      "    Leaf(x) -> max(x, n)\n"
      "    Node(Node(a, b), c) -> below(below(below(n, c), a), b)\n"
      "    Node(a, b) -> below(below(n, a), b)\n"
      "fn calls_below(t: Tree) -> i64 = below(3, t)\n"
      "fn again(all: List[i64]) -> i64 =\n"
      "  match all\n"
      "    Nil -> 0\n"
      "    Cons(first, rest) -> again(if first < 3 then rest else all)\n"
      "fn grows(a: List[i64], b: List[i64]) -> i64 =\n"
      "  match a\n"
      "    Nil -> 0\n"
      "    Cons(first, rest) -> max(grows(rest, Cons(first, b)), grows(b, rest))\n"
      "fn divides(all: List[i64]) -> i64 =\n"
      "  match all\n"
      "    Nil -> 1\n"
      "    Cons(first, rest) -> first / divides(rest)\n"
      "fn even(all: List[i64]) -> i64 =\n"
      "  match all\n"
      "    Nil -> 1\n"
      "    Cons(_, rest) -> odd(rest)\n"
      "fn odd(all: List[i64]) -> i64 =\n"
      "  match all\n"
      "    Nil -> 0\n"
      "    Cons(_, rest) -> even(rest)\n";
  for (const char* function : {"turned", "below", "calls_below"}) {
    EXPECT_FALSE(may_fail_or_diverge(text, function, OverflowMode::Trap)) << function;
  }
  for (const char* function : {"again", "grows", "divides", "even", "odd"}) {
    EXPECT_TRUE(may_fail_or_diverge(text, function, OverflowMode::Wrap)) << function;
  }
}

TEST(CallGraph, FindsCyclesAndOrdersCalleesFirst) {
  const ir::Module module = parse(
      "fn main(n: i64) -> i64 = a(n) + self(n)\n"
      "fn self(n: i64) -> i64 = self(n)\n"
      "fn a(n: i64) -> i64 = b(n) + leaf(n)\n"
      "fn b(n: i64) -> i64 = c(n)\n"
      "fn c(n: i64) -> i64 = a(n) + leaf(n)\n"
      "fn leaf(n: i64) -> i64 = n\n");
  const CallGraph graph = call_graph(module);
  const auto position = [&](const char* name) {
    const auto& order = graph.bottom_up;
    return std::find(order.begin(), order.end(), *module.find(name)) - order.begin();
  };
  const auto recursive = [&](const char* name) { return graph.recursive[module.find(name)->index()]; };
  EXPECT_EQ(graph.bottom_up.size(), 6u);
  for (const char* cyclic : {"self", "a", "b", "c"}) EXPECT_TRUE(recursive(cyclic)) << cyclic;
  for (const char* acyclic : {"main", "leaf"}) EXPECT_FALSE(recursive(acyclic)) << acyclic;
  for (const char* callee : {"a", "b", "c"}) EXPECT_LT(position("leaf"), position(callee));
  EXPECT_EQ(position("main"), 5);
  const std::vector<bool> reached = reachable(graph, *module.find("b"));
  EXPECT_FALSE(reached[module.find("main")->index()]);
  EXPECT_TRUE(reached[module.find("a")->index()]);
}

}  // namespace
}  // namespace hiaton::passes
