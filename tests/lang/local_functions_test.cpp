// Functions with names that `let` gives, and those that hide others of the standard library.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/print_cases.h"

namespace hiaton {
namespace {

using testing::HasSubstr;

class LocalFunctions : public testing::TestWithParam<PrintCase> {};

TEST_P(LocalFunctions, PrintAndParseBack) {
  expect_printed(GetParam());
}

const PrintCase kLocalFunctionsPrograms[] = {
    {"OneForEachSetOfTypes",
     "fn f(n: i64, x: f64) -> (i64, f64, i64) =\n"
     "  let twice = fn(x) -> x + x\n"
     "  (twice(n), twice(x), twice(n + 1))\n",
     "fn f(n: i64, x: f64) -> (i64, f64, i64) = (f_lambda_2(n, x), f_lambda_2_2(x, x), "
     "f_lambda_2(n + 1, x))\n\n"
     "fn f_lambda_2(x1: i64, captured2: f64) -> i64 = x1 + x1\n\n"
     "fn f_lambda_2_2(x1: f64, captured2: f64) -> f64 = x1 + x1\n"},
    {"ItUsesWhatIsThereAtItsLet",
     "fn f(n: i64) -> i64 =\n"
     "  let add = fn(k: i64) -> k + n\n"
     "  let n = 2 * n\n"
     "  add(n)\n",
     "fn f(n: i64) -> i64 =\n"
     "  let v1 = 2 * n\n"
     "  f_lambda_2(v1, n)\n\n"
     "fn f_lambda_2(x1: i64, captured2: i64) -> i64 = x1 + captured2\n"},
    {"AnotherNameOfAFunction",
     "fn half(x: f64) -> f64 = x / 2\n"
     "fn f(x: f64) -> f64 =\n"
     "  let g = half\n"
     "  let h = g\n"
     "  let root = sqrt\n"
     "  g(root(h(x)))\n",
     "fn half(x: f64) -> f64 = x / 2.0\n\n"
     "fn f(x: f64) -> f64 = half(sqrt(half(x)))\n"},
};

INSTANTIATE_TEST_SUITE_P(Lang, LocalFunctions, testing::ValuesIn(kLocalFunctionsPrograms),
                         [](const auto& test) { return test.param.name; });

TEST(LocalFunctions, ThatUseEachOtherAreMadeOnceForTheSameTypes) {
  std::string text = "fn main(n: i64) -> i64 =\n  let f0 = fn(x) -> x + n\n";
  constexpr int kFunctions = 30;
  for (int i = 1; i < kFunctions; ++i) text += fmt::format("  let f{0} = fn(x) -> f{1}(f{1}(x))\n", i, i - 1);
  text += fmt::format("  f{}(0)\n", kFunctions - 1);
  EXPECT_EQ(lang::parse(std::make_shared<const Source>("test.hia", text)).functions.size(),
            std::size_t{kFunctions} + 1);
}

TEST(LocalFunctionErrors, SayWhatIsWrong) {
  const auto found = [](const std::string& body) {
    return error_of("fn apply(f: fn(i64) -> i64, n: i64) -> i64 = f(n)\nfn main(n: i64) -> i64 = " + body +
                    "\n");
  };
  EXPECT_EQ(found("(let f = fn(x) -> x in f(n))"), "");
  EXPECT_THAT(found("(let f = fn(x) -> x in f(n, n))"), HasSubstr("expected a function of 2 arguments"));
  EXPECT_THAT(found("(let f = fn(x: f64) -> 1 in f(n))"),
              HasSubstr("2:56: error: argument 1 of 'f': expected f64, found i64"));
  EXPECT_THAT(found("(let f = fn(x) -> x + y in (let y = 1 in f(n)))"),
              HasSubstr("2:48: error: unknown name 'y'\n"));
  EXPECT_THAT(found("(let f = fn(x: i64) -> z in n)"), HasSubstr("unknown name 'z'"));
  EXPECT_THAT(found("(let f = fn(x) -> x in n) + f(n)"), HasSubstr("unknown function 'f'"));
  EXPECT_THAT(found("(let f = fn(x) -> f(x) in f(n))"), HasSubstr("unknown function 'f'"));
  EXPECT_THAT(found("(let f = fn(x) -> 0.5 in apply(f, n))"),
              HasSubstr("expected fn(i64) -> i64, found fn(i64) -> f64"));
  EXPECT_THAT(
      found("(let f = if n == 0 then neg else abs in f(n))"),
      HasSubstr("2:50: error: expected the type of the function 'neg', which nothing here tells; it is "
                "written let f: fn(i64) -> i64 = neg"));
  EXPECT_THAT(found("(let f = fn(x) -> x in f + n)"),
              HasSubstr("expected a value, found 'f', which is a function"));
}

TEST(LocalFunctions, OfEachOther) {
  EXPECT_EQ(error_of("fn main(n: i64, x: f64) -> (i64, f64) =\n"
                     "  let apply = fn(y) -> (let f = fn(z) -> z * z in f(y))\n"
                     "  let more = fn(y) -> apply(y) + apply(y)\n"
                     "  let list = map(fn(k) -> more(k) + n, [n, n])\n"
                     "  (fold(add, more(n), list), more(x))\n"),
            "");
}

TEST(HiddenFunctions, AreThoseOfTheLibrary) {
  const std::string text =
      "import \"std/list\"\n"
      "fn merge(xs: List[i64], ys: List[i64]) -> List[i64] = xs\n"
      "fn main(xs: List[i64]) -> (List[i64], List[i64]) = (sort(xs), merge(xs, xs))\n";
  EXPECT_EQ(error_of(text), "");
  EXPECT_THAT(error_of("import \"std/list\"\nfn f() -> i64 = 1\nfn f() -> i64 = 2\n"),
              HasSubstr("function 'f' is defined twice"));
}

}  // namespace
}  // namespace hiaton
