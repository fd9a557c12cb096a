// Functions as arguments of functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/print_cases.h"

namespace hiaton {
namespace {

using testing::HasSubstr;

#define APPLY "fn apply[A, B](f: fn(A) -> B, x: A) -> B = f(x)\n"

class FunctionArguments : public testing::TestWithParam<PrintCase> {};

TEST_P(FunctionArguments, PrintAndParseBack) {
  expect_printed(GetParam());
}

const PrintCase kPrograms[] = {
    {"OneBodyForEachFunction",
     APPLY
     "fn half(x: f64) -> f64 = x / 2\nfn f(x: f64) -> f64 = apply(half, x) + apply(neg, apply(half, x))\n",
     "fn half(x: f64) -> f64 = x / 2.0\n\n"
     "fn f(x: f64) -> f64 = apply_f64_f64_half(x) + apply_f64_f64_neg(apply_f64_f64_half(x))\n\n"
     "fn apply_f64_f64_half(x: f64) -> f64 = half(x)\n\n"
     "fn apply_f64_f64_neg(x: f64) -> f64 = -x\n"},
    {"ALambdaTakesWhatItUses", APPLY "fn f(n: i64, k: i64) -> i64 = apply(fn(x) -> x * k + 1, n)\n",
     "fn f(n: i64, k: i64) -> i64 = apply_i64_i64_lambda_2(n, k)\n\n"
     "fn f_lambda_2(x1: i64, captured2: i64) -> i64 = x1 * captured2 + 1\n\n"
     "fn apply_i64_i64_lambda_2(x: i64, captured1: i64) -> i64 = f_lambda_2(x, captured1)\n"},
    {"AFunctionIsHandedOn",
     "fn count(f: fn(i64) -> bool, n: i64) -> i64 = if n == 0 then 0 else i64(f(n)) + count(f, n - 1)\n"
     "fn f(n: i64, k: i64) -> i64 = count(fn(x) -> x < k, n)\n",
     "fn f(n: i64, k: i64) -> i64 = count_lambda_2(n, k)\n\n"
     "fn f_lambda_2(x1: i64, captured2: i64) -> bool = x1 < captured2\n\n"
     "fn count_lambda_2(n: i64, captured1: i64) -> i64 = if n == 0 then 0 else i64(f_lambda_2(n, captured1)) "
     "+ "
     "count_lambda_2(n - 1, captured1)\n"},
    {"MapWithALambda", "fn f(xs: List[i64], k: i64) -> List[i64] = map(fn(x) -> x + k, xs)\n",
     "fn f(xs: List[i64], k: i64) -> List[i64] = map_f_lambda_1(xs, k)\n\n"
     "fn f_lambda_1(x1: i64, captured2: i64) -> i64 = x1 + captured2\n\n"
     "fn map_f_lambda_1(xs: List[i64], extra1: i64) -> List[i64] = if variant(xs) == 0 then Nil[i64] else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = f_lambda_1(head, extra1)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  Cons[i64](v1, map_f_lambda_1(tail, extra1))\n"},
};

INSTANTIATE_TEST_SUITE_P(Lang, FunctionArguments, testing::ValuesIn(kPrograms),
                         [](const auto& test) { return test.param.name; });

TEST(FunctionArgumentErrors, SayWhatIsWrong) {
  const auto found = [](const std::string& call) {
    return error_of(
        "fn apply(f: fn(i64) -> i64, n: i64) -> i64 = f(n)\nfn half(x: f64) -> f64 = x / 2\n"
        "fn main(n: i64) -> i64 = " +
        call + "\n");
  };
  EXPECT_THAT(found("apply(half, n)"),
              HasSubstr("3:32: error: argument 1 of 'apply': expected fn(i64) -> i64, found fn(f64) -> f64"));
  EXPECT_THAT(found("apply(n, n)"), HasSubstr("3:32: error: expected a function: the name of one, or fn(x)"));
  EXPECT_THAT(found("apply(fn(x, y) -> x, n)"),
              HasSubstr("expected a function of 1 argument, found one of 2"));
  EXPECT_THAT(found("apply(fn(x) -> 0.5, n)"), HasSubstr("expected fn(i64) -> i64, found fn(i64) -> f64"));
  EXPECT_THAT(found("apply(fn(x) -> y, n)"), HasSubstr("3:41: error: unknown name 'y'"));
  EXPECT_THAT(found("apply(apply, n)"), HasSubstr("expected a function of values, found 'apply'"));
  EXPECT_THAT(found("apply(lost, n)"), HasSubstr("3:32: error: unknown function 'lost'"));
  EXPECT_THAT(found("(let f = fn(x) -> x in n)"), HasSubstr("expected a value, found a function"));
  EXPECT_THAT(found("apply(fn(x, x) -> x, n)"), HasSubstr("expected a function of 1 argument"));
  EXPECT_THAT(found("apply(size, n)"), HasSubstr("expected an operation without attributes, found 'size'"));
  EXPECT_THAT(found("apply(add, n)"), HasSubstr("expected fn(i64) -> i64, found fn(i64) -> ?"));
  EXPECT_THAT(found("map(fn(x, y) -> x, [n])"),
              HasSubstr("expected a function of 1 argument, found one of 2"));
}

TEST(FunctionArgumentErrors, AreReportedBesideOthers) {
  const std::string message = error_of(
      "fn apply(f: fn(i64) -> i64, n: i64) -> i64 = f(n)\n"
      "fn f(n: i64) -> i64 = m\n"
      "fn g(n: i64) -> i64 = apply(fn(x) -> apply(fn(y) -> x, x), n) + k\n");
  EXPECT_THAT(message, HasSubstr("2:23: error: unknown name 'm'"));
  EXPECT_THAT(message, HasSubstr("3:65: error: unknown name 'k'"));
}

TEST(FunctionArgumentErrors, FunctionsThatNeedEverMoreFunctions) {
  EXPECT_THAT(
      error_of("fn f(g: fn(i64) -> i64, n: i64) -> i64 = if n == 0 then g(n) else f(fn(x) -> g(x) + n, n)\n"
               "fn main(n: i64) -> i64 = f(neg, n)\n"),
      HasSubstr("this would need endlessly many functions: 'f' for g = neg, 'f' for g = lambda_1"));
}

TEST(FunctionArgumentErrors, FunctionsAreNoValues) {
  EXPECT_THAT(error_of("fn f(g: List[fn(i64) -> i64]) -> i64 = 1\n"),
              HasSubstr("1:14: error: expected the type of a value, found that of a function"));
  EXPECT_THAT(
      error_of("fn f(g: fn(i64) -> i64) -> i64 = g + 1\nfn h() -> i64 = f(neg)\n"),
      HasSubstr(
          "expected a value, found 'g', which is a function; a call is written g(...) (where g = neg)"));
  EXPECT_THAT(error_of("fn f(g: fn(i64) -> i64) -> i64 = g(1, 2)\nfn h() -> i64 = f(abs)\n"),
              HasSubstr("does not take 2 arguments"));
}

}  // namespace
}  // namespace hiaton
