// Branches and arms that differ in a size: values and gradients, in every executor.
#include "engine/all_ways.h"

namespace hiaton {
namespace {

Value numbers(const char* text) {
  return parse_value(Type(DType::F64, {unknown_dim()}), text);
}

TEST(BranchSizes, OfValues) {
  const std::string text =
      "fn rows(x: List[i64]) -> f64[_] =\n"
      "  match x\n"
      "    Nil -> [1]\n"
      "    Cons(_, Nil) -> [1, 2]\n"
      "    Cons -> [1, 2, 3]\n"
      "fn main(n: i64) -> (f64[_], i64) =\n"
      "  let x: f64[_] = with x: f64[_] = [5] for i in 0..n do if i == 0 then concat(x, x, axis=0) else "
      "[f64(i)]\n"
      "  (concat(x, rows([n]), axis=0), size(if n > 1 then rows(Nil) else rows([1, 2]), axis=0))\n";
  expect_in_all_ways(text, {Value(int64_t{1})}, {numbers("[5, 5, 1, 2]"), Value(int64_t{3})});
  expect_in_all_ways(text, {Value(int64_t{2})}, {numbers("[1, 1, 2]"), Value(int64_t{1})});
}

/// One number is stretched, and gathers the gradients of all.
TEST(BranchSizes, OfGradients) {
  const std::string text =
      "fn loss(b: bool, p: f64, x: f64[2]) -> f64 =\n"
      "  let y: f64[_] = if b then [p] else x\n"
      "  sum(y * x)\n"
      "fn main(b: bool) -> (f64, f64[2]) = grad(loss)(b, 2, [3, 4])\n";
  expect_in_all_ways(text, {Value(true)}, {Value(7.0), numbers("[2, 2]")});
  expect_in_all_ways(text, {Value(false)}, {Value(0.0), numbers("[6, 8]")});
}

}  // namespace
}  // namespace hiaton
