#include "passes/support.h"

namespace hiaton::passes {
namespace {

ir::Module fold_wrapping(const ir::Module& module) {
  return fold_constants(module, OverflowMode::Wrap);
}
ir::Module fold_trapping(const ir::Module& module) {
  return fold_constants(module, OverflowMode::Trap);
}

std::string of_integers(const std::string& body) {
  return "fn main(a: i64, b: i64) -> i64 = " + body;
}
std::string of_floats(const std::string& body) {
  return "fn main(x: f64, y: f64) -> f64 = " + body;
}
std::string of_bools(const std::string& body) {
  return "fn main(p: bool, q: bool, n: i64, x: f64) -> bool = " + body;
}

TEST(Fold, ComputesOperationsOnConstants) {
  expect_becomes(fold_wrapping, of_integers("a + (2 * 3 - 10 / 4)"), of_integers("a + 4"));
  expect_becomes(fold_wrapping, of_integers("a + i64(2.75) + max(3, 8)"), of_integers("a + 2 + 8"));
  expect_becomes(fold_wrapping, of_floats("x + sqrt(16.0)"), of_floats("x + 4.0"));
  expect_becomes(fold_wrapping, of_bools("3 < 4"), of_bools("true"));
}

TEST(Fold, LeavesWhatFailsToTheRun) {
  expect_stays(fold_wrapping, of_integers("a + 1 / 0"));
  expect_stays(fold_wrapping, of_integers("a + 1 % 0"));
  expect_stays(fold_wrapping, of_integers("a + i64(nan)"));
  expect_stays(fold_wrapping, of_integers("let unused = i64(1e300) a"));
}

TEST(Fold, OverflowWrapsOrStays) {
  const std::string overflows = of_integers("a + (9223372036854775807 + 1)");
  expect_becomes(fold_wrapping, overflows, of_integers("a + -9223372036854775808"));
  expect_stays(fold_trapping, overflows);
}

TEST(Fold, KnowsConditionsOnTheSidesOfTheirBranches) {
  expect_becomes(
      fold_wrapping,
      of_integers("let p = a < b if p then (if p then a else a / b) else (if p then a / b else b)"),
      of_integers("let p = a < b if p then a else b"));
  expect_becomes(
      fold_wrapping,
      of_integers(
          "let p = a < b let q = not p if q then (if p then a / b else a) else (if q then 0 else a / b)"),
      of_integers("let p = a < b let q = not p if q then a else a / b"));
  expect_becomes(
      fold_wrapping,
      of_integers("let p = and(a < 9, b < 7) let q = a < 9 if p then (if p then a / b else b) else (if q "
                  "then b else a)"),
      of_integers("let p = and(a < 9, b < 7) let q = a < 9 if p then a / b else (if q then b else a)"));
}

TEST(Fold, KnowsWhatFollowsFromConditions) {
  const auto of_both = [](const std::string& op, const std::string& body) {
    return "fn main(p: bool, q: bool, a: i64, b: i64) -> i64 = let r = " + op + "(p, q) " + body;
  };
  expect_becomes(fold_wrapping,
                 of_both("and", "if r then (if p then a / b else b) else (if p then a else b / a)"),
                 of_both("and", "if r then a / b else (if p then a else b / a)"));
  expect_becomes(fold_wrapping,
                 of_both("or", "if r then (if q then a / b else b) else (if q then a else b / a)"),
                 of_both("or", "if r then (if q then a / b else b) else b / a"));
  // What a side knows is forgotten behind it.
  expect_stays(fold_wrapping,
               of_both("and", "let c = (if r then a / b else b / a) (if r then c else c / a)"));
}

TEST(Fold, UsesIdentitiesOfIntegers) {
  for (const char* same_as_a :
       {"a + 0", "0 + a", "a - 0", "a * 1", "1 * a", "a / 1", "-(-a)", "min(a, a)", "max(a, a)",
        "identity(a)", "i64(a)", "a + (b - b)", "a + 0 * b", "a + b * 0", "a + b % 1"}) {
    expect_becomes(fold_wrapping, of_integers(same_as_a), of_integers("a"));
  }
}

TEST(Fold, TwoShiftsAreARotation) {
  for (const char* by_9 : {"bitwise_or(bitwise_left_shift(a, 9), bitwise_logical_right_shift(a, 55))",
                           "bitwise_or(bitwise_logical_right_shift(a, 55), bitwise_left_shift(a, 9))"}) {
    expect_becomes(fold_wrapping, of_integers(by_9), of_integers("bitwise_rotate_left(a, 9)"));
  }
  expect_becomes(fold_wrapping,
                 of_integers("bitwise_or(bitwise_left_shift(a, b), bitwise_logical_right_shift(a, 64 - b))"),
                 of_integers("bitwise_rotate_left(a, b)"));
  for (const char* different :
       {"bitwise_or(bitwise_left_shift(a, 9), bitwise_logical_right_shift(a, 23))",
        "bitwise_or(bitwise_left_shift(a, 9), bitwise_logical_right_shift(b, 55))",
        "bitwise_or(bitwise_left_shift(a, 9), bitwise_right_shift(a, 55))",
        "bitwise_or(bitwise_left_shift(a, b), bitwise_logical_right_shift(a, 32 - b))",
        "bitwise_or(bitwise_left_shift(a, b), bitwise_logical_right_shift(a, 64 - a))",
        "bitwise_xor(bitwise_left_shift(a, b), bitwise_logical_right_shift(a, 64 - b))"}) {
    expect_stays(fold_wrapping, of_integers(different));
  }
}

TEST(Fold, KeepsAnOperandThatMayFail) {
  expect_equal(fold_trapping(parse(of_integers("-(-a)"))), parse(of_integers("let unused = -a a")), "-(-a)");
  expect_becomes(fold_wrapping, of_integers("0 * (a / b)"), of_integers("let unused = a / b 0"));
}

TEST(Fold, UsesForFloatsOnlyWhatIsExact) {
  for (const char* same_as_x : {"x * 1.0", "1.0 * x", "x / 1.0", "x - 0.0", "-(-x)", "min(x, x)", "f64(x)"}) {
    expect_becomes(fold_wrapping, of_floats(same_as_x), of_floats("x"));
  }
  for (const char* different :
       {"x + 0.0", "0.0 + x", "x - x", "x * 0.0", "0.0 * x", "x / x", "x % 1.0", "f64(f32(x))"}) {
    expect_stays(fold_wrapping, of_floats(different));
  }
}

TEST(Fold, UsesIdentitiesOfTruth) {
  for (const char* same_as_p : {"p == true", "true == p", "p != false", "not not p", "not (p == false)"}) {
    expect_becomes(fold_wrapping, of_bools(same_as_p), of_bools("p"));
  }
  for (const char* negated : {"p == false", "p != true", "if p then false else true"}) {
    expect_becomes(fold_wrapping, of_bools(negated), of_bools("not p"));
  }
  for (const char* holds : {"n == n", "n <= n", "n >= n", "p == p", "not (n < n)", "not (n != n)"}) {
    expect_becomes(fold_wrapping, of_bools(holds), of_bools("true"));
  }
  expect_stays(fold_wrapping, of_bools("x == x"));
  expect_stays(fold_wrapping, of_bools("x <= x"));
}

TEST(Fold, TakesTheBranchOfAConstantCondition) {
  expect_becomes(fold_wrapping, of_integers("if 1 < 2 then a / b else a"), of_integers("a / b"));
  expect_becomes(fold_wrapping, of_integers("if 1 > 2 then a / b else a"), of_integers("a"));
  expect_becomes(fold_wrapping, of_integers("if true then if false then a else b + 1 else a"),
                 of_integers("b + 1"));
}

TEST(Fold, BranchesWithEqualResultsNeedNoBranch) {
  expect_becomes(fold_wrapping, of_integers("if a < b then a else a"), of_integers("a"));
  expect_becomes(fold_wrapping, of_integers("if a < b then 3 else 3"), of_integers("3"));
  expect_becomes(fold_wrapping, of_bools("if p then true else false"), of_bools("p"));
  expect_becomes(fold_wrapping, of_integers("if a < b then let u = 1 / a 3 else 3"),
                 of_integers("let v = if a < b then let u = 1 / a 3 else 3 3"));
}

TEST(Fold, ResultsOfABranchKeepTheirTypes) {
  const ir::Module folded =
      fold_wrapping(parse("data A = One | Two(x: i64)\n"
                          "data B = Three | Four(y: i64)\n"
                          "fn main(n: i64) -> (A, B) = if n > 0 then (One, Three) else (Two(n), Three)\n"));
  ir::verify(folded);
  const ir::Function& main = folded.functions[0];
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(main[main[main.body].results[i]].type, main.results[i]) << i;
  }
}

TEST(Fold, ALoopThatNeverBeginsIsItsInitialState) {
  expect_becomes(fold_wrapping, of_integers("with i = a while false do i + 1"), of_integers("a"));
  expect_stays(fold_wrapping, of_integers("with i = a while true do i + 1"));
}

}  // namespace
}  // namespace hiaton::passes
