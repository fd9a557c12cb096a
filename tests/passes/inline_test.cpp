#include <fmt/format.h>

#include "passes/support.h"

namespace hiaton::passes {
namespace {

ir::Module with_bodies(const ir::Module& module) {
  return inline_small_functions(module);
}

TEST(InlineSmallFunctions, ACallBecomesTheBody) {
  expect_becomes(with_bodies,
                 "fn square(n: i64) -> i64 = n * n\n"
                 "fn main(a: i64) -> i64 = square(a + 1) - square(a)",
                 "fn main(a: i64) -> i64 = let n = a + 1 n * n - a * a");
}

TEST(InlineSmallFunctions, AllFormsOfBodiesAndSeveralResults) {
  expect_becomes(with_bodies,
                 "fn both(n: i64, m: i64) -> (i64, i64) = (m, if n < m then n / m else 7)\n"
                 "fn total(n: i64) -> i64 = with s = 0 for i in 0..n do s + i\n"
                 "fn seven() -> i64 = 7\n"
                 "fn main(a: i64) -> i64 = let (x, y) = both(a, seven()) x + y + total(a)",
                 "fn main(a: i64) -> i64 =\n"
                 "  let y = if a < 7 then a / 7 else 7\n"
                 "  7 + y + with s = 0 for i in 0..a do s + i");
}

TEST(InlineSmallFunctions, CallsInBodiesToo) {
  expect_becomes(with_bodies,
                 "fn main(a: i64) -> i64 = four(a)\n"
                 "fn four(n: i64) -> i64 = twice(twice(n))\n"
                 "fn twice(n: i64) -> i64 = n + n\n",
                 "fn main(a: i64) -> i64 = let t = a + a t + t");
}

TEST(InlineSmallFunctions, ACallOfARecursiveFunctionMoves) {
  expect_becomes(with_bodies,
                 "fn main(a: i64) -> i64 = start(a)\n"
                 "fn start(n: i64) -> i64 = down(n, 1)\n"
                 "fn down(n: i64, acc: i64) -> i64 = if n < 1 then acc else down(n - 1, acc * n)\n",
                 "fn main(a: i64) -> i64 = down(a, 1)\n"
                 "fn down(n: i64, acc: i64) -> i64 = if n < 1 then acc else down(n - 1, acc * n)\n");
}

TEST(InlineSmallFunctions, RecursionStays) {
  expect_stays(with_bodies,
               "fn main(a: i64) -> bool = even(a)\n"
               "fn even(n: i64) -> bool = if n == 0 then true else odd(n - 1)\n"
               "fn odd(n: i64) -> bool = if n == 0 then false else even(n - 1)\n");
}

TEST(InlineSmallFunctions, LargeFunctionsStay) {
  std::string large = "fn large(n: i64) -> i64 = n";
  for (int i = 0; i < 60; ++i) large += " * n";
  expect_stays(with_bodies, large + "\nfn main(a: i64) -> i64 = large(a) + large(a)");
}

TEST(InlineSmallFunctions, FunctionsThatAreComputedAgainStay) {
  expect_stays(with_bodies,
               "fn main(a: f64) -> f64 = square(a)\n"
               "fn square(x: f64) -> f64 recompute = x * x\n");
}

TEST(InlineSmallFunctions, PlacedFunctionsAndCallsStay) {
  expect_stays(with_bodies,
               "fn square(n: i64) -> i64 on \"process:1\" = n * n\n"
               "fn main(a: i64) -> i64 = square(a)");
  expect_stays(with_bodies,
               "fn square(n: i64) -> i64 = n * n\n"
               "fn main(a: i64) -> i64 = on \"process:1\" (square(a))");
}

TEST(InlineSmallFunctions, NodesPointToTheTextTheyCameFrom) {
  const ir::Module module = with_bodies(parse("fn f(n: i64) -> i64 = 3 / n\nfn main(a: i64) -> i64 = f(a)"));
  for (const ir::Node& node : module[*module.find("main")].nodes) {
    if (node.kind != ir::NodeKind::Op) continue;
    EXPECT_EQ(module.source->text(node.span), "/");
  }
}

TEST(InlineSmallFunctions, GrowthIsBounded) {
  // Each level calls the one below twice: all of it inlined would be 2^40 nodes.
  std::string text = "fn g0(n: i64) -> i64 = n + 1\n";
  for (int i = 1; i <= 40; ++i) {
    text += fmt::format("fn g{0}(n: i64) -> i64 = g{1}(n) * g{1}(n)\n", i, i - 1);
  }
  const ir::Module module = with_bodies(parse(text + "fn main(a: i64) -> i64 = g40(a)"));
  std::size_t nodes = 0;
  for (const ir::Function& function : module.functions) nodes += function.nodes.size();
  EXPECT_LT(nodes, 20'000u);
}

}  // namespace
}  // namespace hiaton::passes
