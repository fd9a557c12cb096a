// Patterns where names are bound: in `let`, as parameters of lambdas and as loop variables; arms on one line.
#include "lang/message_case.h"

namespace hiaton {
namespace {

class TakingApart : public testing::TestWithParam<MessageCase> {};

TEST_P(TakingApart, IsReadWhereNamesAreBound) {
  expect_message(GetParam());
}

#define POINT "data Point = Point(x: f64, y: f64)\n"

INSTANTIATE_TEST_SUITE_P(
    Programs, TakingApart,
    testing::Values(
        MessageCase{"TuplesInTuples",
                    "fn f(n: i64) -> i64 =\n  let (x, (y, _)) = (1, (n, 0.5))\n  let z = x\n  z + y\n"},
        MessageCase{
            "TypesInParenthesesAreNoPatterns",
            "fn f(n: i64) -> i64 =\n  let (x: (i64, i64), y: List[(i64, f64)]) = ((n, n), [])\n  n\n"},
        MessageCase{"Fields", POINT "fn f(p: Point) -> f64 =\n  let Point(x, y) = p\n  x * y\n"},
        MessageCase{"FieldsInATuple", POINT
                    "fn f(p: Point) -> f64 =\n  let (Point(x, _), whole @ Point) = (p, p)\n  x * whole.y\n"},
        MessageCase{
            "Parameters", POINT
            "fn f(ps: List[(Point, i64)]) -> List[f64] = map(fn((Point(x, _), n)) -> x * f64(n), ps)\n"},
        MessageCase{"ParametersOfLambdasInEachOther",
                    "fn f(ps: List[(i64, i64)]) -> List[List[i64]] =\n"
                    "  map(fn((a, b)) -> map(fn((c, d)) -> a * c + b * d, ps), ps)\n"},
        MessageCase{"LoopVariables",
                    "fn f(n: i64) -> (i64, i64) = with (a, b) = (0, 1) while b < n do (b, a + b)\n"},
        MessageCase{
            "LoopVariablesBesideOthers",
            "fn f(n: i64) -> ((i64, i64), i64) = with (a, b) = (0, 1), c = n for i in 0..n do ((b, a + i), "
            "c + b)\n"},
        MessageCase{
            "WhatDoesNotFitAll", "fn f(xs: List[i64]) -> i64 =\n  let [x, ..] = xs\n  x\n",
            "expected a pattern that fits every value, found one that does not fit []; a 'match' has an arm "
            "for "
            "each case"},
        MessageCase{"WhatHasNoSuchParts", "fn f(n: i64) -> i64 =\n  let (x, (y, z)) = (n, n)\n  x\n",
                    "expected a pattern for one value of type i64, found 2 patterns"},
        MessageCase{"WithoutAResult", "fn f(n: i64) -> i64 =\n  let (x, (y, z)) = (n, (n, n))\n",
                    "expected the expression that the 'let' before is for, found the end of the program"},
        MessageCase{"ListsOnOneLine",
                    "fn f(xs: List[i64]) -> i64 = match xs [] -> 0 [x, ..rest] -> x + f(rest)\n"},
        MessageCase{"TuplesOnOneLine",
                    "fn f(e: (i64, i64)) -> i64 = match e (a, b) if a > b -> a (a, b) -> b\n"},
        MessageCase{"OnOneLineInALambda",
                    "fn f(es: List[(i64, i64)]) -> List[i64] = map(fn(e) -> match e (a, b) -> a + b, es)\n"},
        MessageCase{"ARestWithoutAName", "fn f(xs: List[i64]) -> i64 = match xs [x, ..] -> x _ -> 0\n"},
        MessageCase{"AnIndexBehindABlank",
                    "fn f(x: f64[3], i: i64) -> f64 = match i 0 -> x [i] _ -> x [0]\n"},
        MessageCase{
            "StringsHaveNoFields", "fn f(s: str) -> str = s with code_points = [97i32]\n",
            "expected a value of a data type before '.code_points', found str: length(s) is the length of a "
            "string, s[i] its code point at i, s[i:j] a part of it"}),
    name_of_message);

}  // namespace
}  // namespace hiaton
