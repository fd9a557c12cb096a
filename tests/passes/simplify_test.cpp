#include <fmt/format.h>

#include "passes/support.h"

namespace hiaton::passes {
namespace {

TEST(Simplify, PassesBuildOnEachOther) {
  expect_equal(
      simplify(parse("fn is_small(n: i64) -> bool = n * 1 < 10 and n > -10\n"
                     "fn pick(n: i64, wanted: bool) -> i64 = if wanted == true then n else 1 / n\n"
                     "fn main(a: i64) -> i64 = if is_small(a) then pick(a, true) else pick(a, 1 > 2)")),
      simplify(parse("fn main(a: i64) -> i64 = if if a < 10 then a > -10 else false then a else 1 / a"),
               {.inline_small = false}),
      "");
}

TEST(Simplify, NothingIsDoneThatIsSwitchedOff) {
  const std::string program =
      "fn unreached(n: i64) -> i64 = n\n"
      "fn small(n: i64) -> i64 = n * 1\n"
      "fn main(a: i64) -> i64 = let u = a + a if a < 3 and a + a > 2 + 3 then small(a) else a + a";
  const ir::Module module = parse(program);
  expect_equal(simplify(module, SimplifyOptions::none()), module, program);
}

TEST(Simplify, ConditionsThatMergingShowsToBeTheSameAreDecidedOnce) {
  expect_equal(
      simplify(
          parse("fn main(a: i64, b: i64) -> i64 =\n"
                "  if not (a / b > 3) then b\n"
                "  else (let n = (if a / b > 3 then 1 else 0) (if n == 1 then main(a - 1, b) else a / n))")),
      simplify(parse("fn main(a: i64, b: i64) -> i64 = if not (a / b > 3) then b else main(a - 1, b)")), "");
}

TEST(Simplify, MainKeepsItsSignature) {
  const ir::Module module = simplify(parse("fn main(a: i64, b: f32) -> (i64, f32) = (1, 2.0)"));
  const ir::Function& main = module[*module.find("main")];
  ASSERT_EQ(main.params.size(), 2u);
  EXPECT_EQ(main.params[1].name, "b");
  EXPECT_EQ(main.results, (std::vector<Type>{DType::I64, DType::F32}));
}

TEST(Simplify, ASecondTimeChangesNothing) {
  const ir::Module once = simplify(parse(
      "fn f(n: i64, m: i64) -> i64 = with s = n for i in 0..m do if i < n and n > m then s + i else s * i\n"
      "fn main(a: i64) -> i64 = f(a, 3) + f(3, a) + 0 * a"));
  expect_equal(simplify(once), once, "");
}

TEST(Simplify, LongChainsOfCallsAndDeepNestingAreNoDanger) {
  std::string text = "fn g0(n: i64) -> i64 = n / 3\n";
  for (int i = 1; i < 50'000; ++i) {
    text += fmt::format("fn g{}(n: i64) -> i64 = g{}(n + 1)\n", i, i - 1);
  }
  text += "fn main(a: i64) -> i64 = g49999(a) + ";
  for (int i = 0; i < 900; ++i) text += fmt::format("if a < {} then a else ", i);
  text += "0";
  EXPECT_NO_THROW(ir::verify(simplify(parse(text))));
}

}  // namespace
}  // namespace hiaton::passes
