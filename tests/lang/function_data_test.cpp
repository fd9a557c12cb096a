// Functions as values: in data, lists and branches, as results, of open places, and as they declare
// themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/print_cases.h"

namespace hiaton {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class FunctionData : public testing::TestWithParam<PrintCase> {};

TEST_P(FunctionData, PrintAndParseBack) {
  expect_printed(GetParam());
}

const PrintCase kFunctionDataPrograms[] = {
    {"ACallTellsTheVariantsApart",
     "fn half(x: f64) -> f64 = x / 2\n"
     "fn pick(c: bool, a: f64) -> fn(f64) -> f64 = if c then half else fn(x) -> x * a\n"
     "fn f(c: bool, x: f64) -> f64 = pick(c, x)(x)\n",
     "data Function_f64_f64 = Fn_half | Fn_pick_lambda_2(captured1: f64)\n\n"
     "fn half(x: f64) -> f64 = x / 2.0\n\n"
     "fn pick(c: bool, a: f64) -> Function_f64_f64 = "
     "if c then Fn_half else Fn_pick_lambda_2(a)\n\n"
     "fn f(c: bool, x: f64) -> f64 = call_Function_f64_f64(x, pick(c, x))\n\n"
     "fn pick_lambda_2(x1: f64, captured2: f64) -> f64 = x1 * captured2\n\n"
     "fn call_Function_f64_f64(x1: f64, f: Function_f64_f64) -> f64 = if variant(f) < 1 then half(x1) else "
     "pick_lambda_2(x1, field(f, variant=1, field=0))\n"},
    {"AKnownFunctionIsCalledItself",
     "fn times(a: f64, b: f64) -> f64 = a * b\n"
     "fn f(x: f64) -> f64 =\n"
     "  let twice = times(_, 2)\n"
     "  twice(x)\n",
     "fn times(a: f64, b: f64) -> f64 = a * b\n\n"
     "fn f(x: f64) -> f64 = f_lambda_3(x)\n\n"
     "fn f_lambda_3(x1: f64) -> f64 = times(x1, 2.0)\n"},
    {"WhatAnOpenPlaceIsGivenIsComputedOnce",
     "fn times(a: f64, b: f64) -> f64 = a * b\n"
     "fn f(xs: List[f64], k: f64) -> List[f64] = map(times(exp(k), _), xs)\n",
     "fn times(a: f64, b: f64) -> f64 = a * b\n\n"
     "fn f(xs: List[f64], k: f64) -> List[f64] = map_f_lambda_2(xs, exp(k))\n\n"
     "fn f_lambda_2(x1: f64, captured2: f64) -> f64 = times(captured2, x1)\n\n"
     "fn map_f_lambda_2(xs: List[f64], extra1: f64) -> List[f64] = if variant(xs) == 0 then Nil[f64] else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = f_lambda_2(head, extra1)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  Cons[f64](v1, map_f_lambda_2(tail, extra1))\n"},
    {"LocalFunctionsCallEachOther",
     "fn f(n: i64, k: i64) -> bool =\n"
     "  let fn even(i: i64) -> bool = if i == k then true else odd(i - 1)\n"
     "  let fn odd(i: i64) -> bool = if i == 0 then false else even(i - 1)\n"
     "  even(n)\n",
     "fn f(n: i64, k: i64) -> bool = f_even(n, k)\n\n"
     "fn f_even(x1: i64, captured2: i64) -> bool = if x1 == captured2 then true else f_odd(x1 - 1, "
     "captured2)\n"
     "\n"
     "fn f_odd(x1: i64, captured2: i64) -> bool = if x1 == 0 then false else f_even(x1 - 1, captured2)\n"},
};

INSTANTIATE_TEST_SUITE_P(Lang, FunctionData, testing::ValuesIn(kFunctionDataPrograms),
                         [](const auto& test) { return test.param.name; });

std::string found(const std::string& body) {
  return error_of(
      "data Layer = Layer(f: fn(f64) -> f64)\n"
      "fn half(x: f64) -> f64 = x / 2\n"
      "fn main(n: i64, x: f64) -> f64 = " +
      body + "\n");
}

TEST(FunctionData, MayStandAnywhere) {
  EXPECT_EQ(found("Layer(half).f(x)"), "");
  EXPECT_EQ(found("Layer(fn(y) -> y + x).f(x)"), "");
  EXPECT_EQ(found("Layer(grad(half)).f(x)"), "");
  EXPECT_EQ(found("(let l = Layer(tanh) in l.f(x))"), "");
  EXPECT_EQ(found("(let l = Layer(half) with f = fn(y) -> y in l.f(x))"), "");
  EXPECT_EQ(found("(if n > 0 then half else fn(y) -> y)(x)"), "");
  EXPECT_EQ(found("(if n > 0 then fn(y) -> y else half)(x)"), "");
  EXPECT_EQ(found("(match n 0 -> fn(y) -> y 1 -> half _ -> exp)(x)"), "");
  EXPECT_EQ(found("fold(fn(y, f) -> f(y), x, [half, fn(y: f64) -> y + x])"), "");
  EXPECT_EQ(found("(let f: fn(f64) -> f64 = half in grad(f)(x))"), "");
  EXPECT_EQ(found("(let (f, y) = (half, x) in f(y))"), "");
  EXPECT_EQ(found("(let (f, y) = match (half, n)\n (g, 0) -> (g, x)\n (g, _) -> (half, g(x)) in f(y))"), "");
  EXPECT_EQ(found("(let fs = Nil[fn(f64) -> f64] in fold(fn(y, f) -> f(y), x, fs))"), "");
  EXPECT_EQ(found("(let ls = map(Layer, [half, fn(y) -> y]) in x)"), "");
}

TEST(FunctionData, IsCalledByParenthesesDirectlyBehindIt) {
  EXPECT_EQ(error_of("fn pair(x: f64) -> (f64, f64) = (x, x)\n"
                     "fn main(x: f64) -> (f64, f64) = (let (a, b) = pair(x) (b, a))\n"
                     "fn first(x: f64) -> f64 = match pair(x)\n  (a, _) -> a\n"),
            "");
}

TEST(FunctionData, HasTheTypeThatIsWritten) {
  EXPECT_THAT(found("(let f: fn(f64) -> i64 = half in x)"),
              HasSubstr("3:59: error: expected fn(f64) -> i64, found fn(f64) -> f64\n"));
  EXPECT_THAT(found("(let f: fn(f64, f64) -> f64 = half in x)"),
              HasSubstr("expected fn(f64, f64) -> f64, found fn(f64) -> f64\n"));
  EXPECT_THAT(found("Layer(n).f(x)"),
              HasSubstr("field 'f' of 'Layer': expected fn(f64) -> f64, found i64\n"));
  EXPECT_THAT(found("Layer(fn(a, b) -> a).f(x)"),
              HasSubstr("expected a function of 1 argument, found one of 2"));
  EXPECT_THAT(found("Layer(half).f(n)"), HasSubstr("argument 1 of 'fn': expected f64, found i64"));
  EXPECT_THAT(found("Layer(half).f(x, x)"), HasSubstr("'fn' takes 1 argument, found 2"));
  EXPECT_THAT(found("(if n > 0 then abs else neg)(x)"),
              HasSubstr("expected the type of the function 'abs', which nothing here tells"));
  EXPECT_THAT(found("(let f = [fn(a) -> a] in x)"),
              HasSubstr("expected the type of 'a', which nothing here tells"));
}

TEST(FunctionData, IsOnlyCalled) {
  EXPECT_THAT(
      found("(let f: fn(f64) -> f64 = half in if f == f then x else x)"),
      HasSubstr("3:72: error: [==] expected values that can be compared, found fn(f64) -> f64: functions "
                "are equal to nothing\n"));
  EXPECT_THAT(found("if Layer(half) == Layer(half) then x else x"),
              HasSubstr("expected values that can be compared, found Layer"));
  EXPECT_THAT(found("Layer(half).f + x"), HasSubstr("found fn(f64) -> f64 and f64"));
  EXPECT_THAT(found("Layer(half).f.captured1"),
              HasSubstr("expected a value of a data type before '.captured1', found fn(f64) -> f64"));
  EXPECT_THAT(found("(match Layer(half).f Fn_half -> x _ -> x)"), HasSubstr("found 'Fn_half'"));
  EXPECT_THAT(found("x(x)"), HasSubstr("expected a function, found 'x', which is a value"));
  EXPECT_THAT(found("(if n > 0 then x else x)(x)"), HasSubstr("expected a function before '(', found f64"));
}

TEST(FunctionData, IsNotGivenToARun) {
  EXPECT_THAT(
      error_of("fn main(f: fn(i64) -> i64) -> i64 = f(1)\n"),
      HasSubstr("1:9: error: parameter 'f' of 'main': expected a value that can be written, found the "
                "type of a function: no function can be given to a run"));
  EXPECT_THAT(
      error_of("fn main(fs: List[fn(i64) -> i64]) -> i64 = 1\n"),
      HasSubstr(
          "parameter 'fs' of 'main': expected a value that can be written, found List[fn(i64) -> i64]"));
  EXPECT_THAT(error_of("fn main(n: i64) -> fn(i64) -> i64 = fn(x) -> x + n\n"),
              HasSubstr("1:4: error: the result of 'main': expected a value that can be written, found "
                        "fn(i64) -> i64: a run cannot show a function"));
}

TEST(FunctionData, CallsThatGiveKnownFunctionsAreReportedAsOthers) {
  const std::string prefix =
      "fn derivative(f: fn(f64) -> f64) -> fn(f64) -> f64 = grad(f)\n"
      "fn wrong(f: fn(f64) -> f64) -> fn(f64) -> f64 = fn(x) -> f(x, x)\n";
  EXPECT_THAT(error_of(prefix + "fn main(x: f64) -> f64 = derivative(sin, cos)(x)\n"),
              HasSubstr("3:26: error: 'derivative' takes 1 argument, found 2"));
  EXPECT_THAT(error_of(prefix + "fn main(x: f64) -> f64 = derivative(x)(x)\n"), HasSubstr("3:37: error: "));
  EXPECT_THAT(error_of(prefix + "fn main(x: f64) -> f64 = wrong(sin)(x)\n"), HasSubstr("2:58: error: "));
  EXPECT_THAT(error_of(prefix + "fn main(x: f64) -> f64 = (let d = derivative(sin) in d(x, x))\n"),
              HasSubstr("'d' takes 1 argument, found 2"));
  EXPECT_EQ(error_of("fn more(f: fn(f64) -> f64) -> fn(f64) -> f64 = fn(x) -> more(more(f))(x)\n"
                     "fn main(x: f64) -> f64 = more(sin)(x)\n"),
            "");
}

TEST(FunctionData, GradientsOfGradientsByArguments) {
  EXPECT_EQ(error_of("fn slope(f: fn(f64) -> f64, x: f64) -> f64 = grad(f)(x)\n"
                     "fn main(x: f64) -> f64 = slope(slope(slope(sin, _), _), x)\n"),
            "");
}

TEST(LocalFunctionsByLetFn, SayWhatIsWrong) {
  EXPECT_THAT(found("(let fn go(i) -> f64 = x in go(n))"),
              HasSubstr("expected ':' and the type of the parameter"));
  EXPECT_THAT(found("(let fn go(i: i64) = x in go(n))"),
              HasSubstr("expected '->' and the type of the result"));
  EXPECT_THAT(found("(let fn go(i: i64) -> i64 = x in x)"),
              HasSubstr("the result of 'go': expected i64, found f64"));
  EXPECT_THAT(found("(let fn go(i: i64) -> f64 = x in go(x))"),
              HasSubstr("argument 1 of 'go': expected i64, found f64"));
  EXPECT_THAT(found("(let fn go() -> f64 = x let fn go() -> f64 = x in go())"),
              HasSubstr("function 'go' is defined twice"));
  EXPECT_THAT(found("(let fn go() -> f64 = come() let y = x let fn come() -> f64 = go() in y)"),
              HasSubstr("unknown function 'come'"));
  EXPECT_THAT(found("(let fn Layer() -> f64 = x in x)"), HasSubstr("found 'Layer', which is a variant"));
}

TEST(FunctionData, ATypeThatCannotBeReadIsReportedOnce) {
  for (const std::string type : {"fn( x i64) -> i64", "fn(i64) i64", "fn(i64 -> i64"}) {
    const std::string message = error_of("fn apply(f: " + type + ", n: i64) -> i64 = f(n)\n" +
                                         "fn main(n: i64) -> i64 = apply(neg, n) + apply(fn(x) -> x, n)\n");
    EXPECT_THAT(message, HasSubstr("1:")) << type;
    EXPECT_EQ(message.find("error: "), message.rfind("error: ")) << message;
  }
}

TEST(OpenPlaces, StandAmongArguments) {
  EXPECT_THAT(found("_"), HasSubstr("expected an expression, found '_'"));
  EXPECT_THAT(found("x + _"), HasSubstr("expected an expression, found '_'"));
  EXPECT_THAT(found("half(_)"), HasSubstr("expected a value, found a function"));
  EXPECT_THAT(found("(let f = max(_, x) in f(n))"), HasSubstr("expected numbers of one type"));
  EXPECT_EQ(found("(let f = max(_, x) in f(2.0))"), "");
}

}  // namespace
}  // namespace hiaton
