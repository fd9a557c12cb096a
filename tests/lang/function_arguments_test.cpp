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

const PrintCase kFunctionArgumentsPrograms[] = {
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

INSTANTIATE_TEST_SUITE_P(Lang, FunctionArguments, testing::ValuesIn(kFunctionArgumentsPrograms),
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
  EXPECT_THAT(found("apply(n, n)"),
              HasSubstr("3:32: error: expected a function, found 'n', which is a value"));
  EXPECT_THAT(found("apply(fn(x, y) -> x, n)"),
              HasSubstr("expected a function of 1 argument, found one of 2"));
  EXPECT_THAT(found("apply(fn(x) -> 0.5, n)"), HasSubstr("expected fn(i64) -> i64, found fn(i64) -> f64"));
  EXPECT_THAT(found("apply(fn(x) -> y, n)"), HasSubstr("3:41: error: unknown name 'y'"));
  EXPECT_THAT(
      found("apply(apply, n)"),
      HasSubstr("expected a function of 1 argument, found 'apply': apply(f: fn(i64) -> i64, n: i64)"));
  EXPECT_THAT(found("apply(lost, n)"), HasSubstr("3:32: error: unknown function 'lost'"));
  EXPECT_THAT(found("fn(x) -> x"), HasSubstr("expected a value, found a function"));
  EXPECT_THAT(found("apply(fn(x, x) -> x, n)"), HasSubstr("expected a function of 1 argument"));
  EXPECT_THAT(found("apply(size, n)"), HasSubstr("expected an operation without attributes, found 'size'"));
  EXPECT_THAT(found("apply(add, n)"), HasSubstr("expected fn(i64) -> i64, found fn(i64) -> ?"));
  EXPECT_THAT(found("apply(fn(x) -> i64 = x, n)"),
              HasSubstr("3:45: error: expected the end of a lambda, which has no result type"));
  EXPECT_THAT(found("map(fn(x, y) -> x, [n])"),
              HasSubstr("expected a function of 1 argument, found one of 2"));
}

/// The type of an operand says nothing of what stands beside it: a number goes with a tensor.
TEST(FunctionArguments, GiveWhatTheyGiveBesideATensor) {
  EXPECT_EQ(
      error_of(APPLY "fn first[A, B](a: A, b: B) -> A = a\n"
                     "fn f(x: f64[n], a: f64) -> f64[n] = x * apply(fn(y) -> y * a, 0.5) + first(a, x) * x\n"
                     "fn g(x: f64[n], a: f64) -> f64[n] = a * apply(fn(y) -> y + a, x)\n"),
      "");
}

/// A number has the type that the place of a fold wants, not that of the elements.
TEST(FunctionArguments, FirstValuesOfAFoldFollowItsPlace) {
  EXPECT_EQ(
      error_of("fn f(ns: List[i64]) -> f64 = fold(fn(sum, n) -> sum + f64(n) / 2, 0, ns)\n"
               "fn g(ns: List[i64], x: f64[2]) -> f64[2] = fold(fn(sum, n) -> sum + f64(n) * x, [0, 0], ns)\n"
               "fn h(ns: List[i64]) -> List[f64] = scan(fn(sum, n) -> sum + f64(n), 0, ns)\n"),
      "");
}

/// Where no place says a type, and the type of the elements does not do, the step tells it.
TEST(FunctionArguments, FirstValuesOfAFoldFollowItsStep) {
  EXPECT_EQ(
      error_of("param table: f32[9, 3]\n"
               "fn f(ns: List[i64]) -> f32 = sum(fold(fn(sum, n) -> sum + table[n], zeros(3), ns))\n"
               "fn g(ns: List[i64]) -> f32 = (let s = fold(fn(sum, n) -> sum + table[n], [0, 0, 0], ns) in "
               "sum(s * s))\n"
               "fn h(ns: i64[m]) -> f32 = (let s = fold(fn(sum, n) -> sum + table[n, 0], 0, ns) in s * s)\n"
               "fn i(ns: List[i64]) -> f32 = (let s = scan(fn(sum, n) -> table[n, 0], 0, ns) in fold(add, 0, "
               "s))\n"),
      "");
  // Where it does do, it is as it was.
  EXPECT_EQ(error_of("fn f(xs: List[f64]) -> f64 = (let n = fold(fn(n, x) -> n + 1, 0, xs) in n * 0.5)\n"),
            "");
}

TEST(FunctionArguments, NumbersOfAStepFollowTheFirstValueOfAFold) {
  EXPECT_EQ(
      error_of(
          "fn f(xs: List[f64]) -> (f64, f64) = fold(fn((s, t), x) -> (s + x, 1000), (0.0, 0.0), xs)\n"
          "fn g(xs: List[f32], y: f32) -> f32 = (let s = fold(fn(s, x) -> 1, y, xs) in s * y)\n"
          "fn h(ns: List[i64], y: f32) -> List[(f32, i64)] = scan(fn((s, k), n) -> (2, k + n), (y, 0), ns)\n"
          "fn i(x: f32[n], y: f32) -> f32 = (let last = fn(s, x) -> 1 in fold(last, y, x))\n"),
      "");
  EXPECT_THAT(error_of("fn f(xs: List[i64], n: i64) -> i64 = fold(fn(n, x) -> 0.5, n, xs)\n"),
              testing::HasSubstr("gives f64, but it starts with i64"));
}

TEST(FunctionArguments, OperationsOnStringsAndDataAreFunctions) {
  const std::string tree = "data Tree = Leaf(n: i64) | Node(l: Tree, r: Tree)\n";
  EXPECT_EQ(
      error_of(tree +
               "fn both[T](f: fn(T, T) -> bool, x: T) -> bool = f(x, x)\n"
               "fn f(s: str, t: Tree) -> bool = both(lt, s) and both(eq, s) and both(eq, t) and both(ne, t)\n"
               "fn g(words: List[str]) -> str = fold(add, \"\", map(str, map(length, words)))\n"
               "fn h(words: List[str], ts: List[Tree]) -> (List[f64], List[str], List[Tree]) =\n"
               "  (map(f64, words), map(str, ts), map(print, ts))\n"
               "fn k(b: bool) -> bool = (let f: fn(str, str) -> bool = if b then lt else gt in f(\"a\", "
               "\"b\"))\n"),
      "");
  const auto found = [&](const std::string& call) {
    return error_of(tree +
                    "fn apply[T, U](f: fn(T) -> U, x: T) -> U = f(x)\n"
                    "fn both[T](f: fn(T, T) -> bool, x: T) -> bool = f(x, x)\n"
                    "fn main(t: Tree, s: str, ts: List[Tree]) -> i64 = " +
                    call + "\n");
  };
  EXPECT_THAT(found("i64(both(lt, t))"),
              HasSubstr("4:60: error: [<] expected numbers of one type, found Tree and Tree"));
  EXPECT_THAT(found("(let _ = map(length, ts) in 1)"),
              HasSubstr("unknown function 'length'; import \"std/list\""));
  EXPECT_THAT(found("apply(abs, s)"), HasSubstr("[abs] expected"));
}

TEST(FunctionArguments, WordsForOperatorsAreFunctions) {
  EXPECT_EQ(error_of("fn both(f: fn(bool, bool) -> bool) -> bool = f(true, false)\n"
                     "fn g(xs: List[bool]) -> bool = fold(and, true, map(not, xs)) or both(or)\n"),
            "");
  EXPECT_EQ(error_of("fn f(a: bool) -> bool =\n  let g: fn(bool, bool) -> bool = if a then and else or\n"
                     "  let h = or\n  g(h(a, true), not\n  a)\n"),
            "");
  EXPECT_THAT(error_of("fn g(a: bool) -> bool = a or and\n"),
              HasSubstr("1:30: error: expected the type of the function 'and', which nothing here tells"));
  EXPECT_THAT(error_of("fn g(a: bool) -> bool = a or and a\n"),
              HasSubstr("1:30: error: expected an expression"));
}

TEST(FunctionArgumentErrors, AreReportedBesideOthers) {
  const std::string message = error_of(
      "fn apply(f: fn(i64) -> i64, n: i64) -> i64 = f(n)\n"
      "fn f(n: i64) -> i64 = m\n"
      "fn g(n: i64) -> i64 = apply(fn(x) -> apply(fn(y) -> x, x), n) + k\n");
  EXPECT_THAT(message, HasSubstr("2:23: error: unknown name 'm'"));
  EXPECT_THAT(message, HasSubstr("3:65: error: unknown name 'k'"));
}

TEST(FunctionArgumentErrors, ALambdaKeepsItsNameBesideOthers) {
  const std::string message = error_of(
      "fn f(n: i64) -> i64 = m\n"
      "fn g(n: i64) -> List[i64] =\n  let k = fn(x: i64) -> x + 1\n  let l = fn(x: i64) -> x + lost\n"
      "  [k(n), l(n + gone), fold(k, 0, map(k, [l(n)]))]\n");
  EXPECT_THAT(message, HasSubstr("1:23: error: unknown name 'm'"));
  EXPECT_THAT(message, HasSubstr("4:29: error: unknown name 'lost'"));
  EXPECT_THAT(message, HasSubstr("5:16: error: unknown name 'gone'"));
  EXPECT_THAT(message, testing::Not(HasSubstr("unknown function")));
}

TEST(FunctionArgumentErrors, FunctionsThatNeedEverMoreFunctions) {
  EXPECT_THAT(error_of("fn f[T](g: fn(T) -> T, x: T, n: i64) -> i64 =\n"
                       "  if n == 0 then 0 else f(fn(p: (T, i64)) -> p, (g(x), n), n - 1)\n"
                       "fn main(n: i64) -> i64 = f(neg, n, n)\n"),
              HasSubstr("2:25: error: this would need endlessly many functions: 'f' for T = i64, g = neg, "
                        "'f' for T = (i64, i64), g = lambda_2"));
}

TEST(FunctionArgumentErrors, NamesOfFunctions) {
  EXPECT_THAT(
      error_of("fn f(g: fn(i64) -> i64) -> i64 = g + 1\nfn h() -> i64 = f(neg)\n"),
      HasSubstr(
          "expected a value, found 'g', which is a function; a call is written g(...) (where g = neg)"));
  EXPECT_THAT(error_of("fn f(g: fn(i64) -> i64) -> i64 = g(1, 2)\nfn h() -> i64 = f(abs)\n"),
              HasSubstr("does not take 2 arguments"));
}

}  // namespace
}  // namespace hiaton
