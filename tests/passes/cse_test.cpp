#include "passes/support.h"

namespace hiaton::passes {
namespace {

ir::Module merge(const ir::Module& module) {
  return merge_common(module, OverflowMode::Wrap);
}

std::string program(const std::string& body) {
  return "fn main(a: i64, b: i64) -> i64 = " + body +
         "\nfn harmless(n: i64) -> i64 = n * 3\n"
         "fn failing(n: i64) -> i64 = 3 / n\n"
         "fn looping(n: i64) -> i64 = with i = n while i < 3 do i + 1\n"
         "fn recursive(n: i64) -> i64 = if n < 1 then n else recursive(n - 1)\n";
}

TEST(MergeCommon, EqualOperationsAreDoneOnce) {
  expect_becomes(merge, program("a * b + a * b"), program("let p = a * b p + p"));
  expect_becomes(merge, program("(a + 1) * (a + 1)"), program("let p = a + 1 p * p"));
  expect_becomes(merge, program("a / b + a / b"), program("let p = a / b p + p"));
}

TEST(MergeCommon, OrderCountsUnlessTheOperationIsCommutative) {
  expect_becomes(merge, program("(a + b) * (b + a)"), program("let p = a + b p * p"));
  expect_stays(merge, program("(a - b) * (b - a)"));
}

TEST(MergeCommon, ReachesIntoBranchesAndLoopsButNotOut) {
  expect_becomes(merge, program("let p = a * b if a < b then a * b else p + 1"),
                 program("let p = a * b if a < b then p else p + 1"));
  expect_becomes(merge, program("let p = a * b with i = a while i < a * b do i + a * b"),
                 program("let p = a * b with i = a while i < p do i + p"));
  expect_stays(merge, program("if a < b then a * b else a * b + 1"));
  expect_stays(merge, program("(if a < b then a * b else 1) + a * b"));
}

TEST(MergeCommon, ConstantsOfDifferentTypeOrSignDiffer) {
  expect_stays(merge, "fn main(x: f64) -> (f64, f64) = (x / 0.0, x / -0.0)");
  expect_stays(merge, "fn main(x: f64, y: f32) -> (f64, f32) = (x / 2.0, y / 2.0)");
}

TEST(MergeCommon, CallsThatCanNeitherFailNorDivergeAreMadeOnce) {
  expect_becomes(merge, program("harmless(a) + harmless(a)"), program("let p = harmless(a) p + p"));
  expect_stays(merge, program("harmless(a) + harmless(b)"));
  expect_stays(merge, program("failing(a) + failing(a)"));
  expect_stays(merge, program("looping(a) + looping(a)"));
  expect_stays(merge, program("recursive(a) + recursive(a)"));
}

TEST(MergeCommon, PlacesStayApart) {
  expect_stays(merge, program("on \"process:0\" (a * b) + on \"process:1\" (a * b)"));
}

}  // namespace
}  // namespace hiaton::passes
