// Generic functions and data types.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lang/print_cases.h"

namespace hiaton {
namespace {

#define PAIR "data Pair[A, B] = Pair(first: A, second: B)\n"
#define OPTION "data Option[T] = None | Some(value: T)\n"
#define LENGTH \
  "fn length[T](xs: List[T]) -> i64 =\n  match xs\n    [] -> 0\n    [_, ..rest] -> 1 + length(rest)\n"

class GenericPrograms : public testing::TestWithParam<PrintCase> {};

TEST_P(GenericPrograms, PrintAndParseBack) {
  expect_printed(GetParam());
}

const PrintCase kGenericsPrograms[] = {
    {"OneFunctionForEachType",
     LENGTH "fn f(xs: List[i64], ys: List[List[f64]]) -> i64 = length(xs) + length(ys) + length(xs)\n",
     "fn f(xs: List[i64], ys: List[List[f64]]) -> i64 = length_i64(xs) + length_List_f64(ys) + "
     "length_i64(xs)\n"
     "\n"
     "fn length_i64(xs: List[i64]) -> i64 = if variant(xs) == 0 then 0 else\n"
     "  let rest = field(xs, variant=1, field=1)\n"
     "  1 + length_i64(rest)\n"
     "\n"
     "fn length_List_f64(xs: List[List[f64]]) -> i64 = if variant(xs) == 0 then 0 else\n"
     "  let rest = field(xs, variant=1, field=1)\n"
     "  1 + length_List_f64(rest)\n"},
    {"DataTypesWithTheirTypes",
     PAIR "fn f(n: i64) -> Pair[i64, Pair[f64, bool]] = Pair(n, Pair(0.5, second=true))\n",
     "data Pair[A, B] = Pair(first: A, second: B)\n"
     "\n"
     "fn f(n: i64) -> Pair[i64, Pair[f64, bool]] =\n"
     "  let v1 = Pair[f64, bool](0.5, true)\n"
     "  Pair[i64, Pair[f64, bool]](n, v1)\n"},
    {"LiteralsTakeTheTypeThatIsInferred",
     PAIR "fn same[T](a: T, b: T) -> T = b\nfn f(x: f32) -> Pair[f32, i32] = Pair(same(x, 1), 2)\n",
     "data Pair[A, B] = Pair(first: A, second: B)\n"
     "\n"
     "fn f(x: f32) -> Pair[f32, i32] = Pair[f32, i32](same_f32(x, 1.0f32), 2i32)\n"
     "\n"
     "fn same_f32(a: f32, b: f32) -> f32 = b\n"},
    {"AGradientThatHasAName", "fn square[T](x: T) -> T = x * x\nfn slope(x: f64) -> f64 = grad(square)\n",
     "fn slope(x: f64) -> f64 = grad(square_f64)\n\nfn square_f64(x: f64) -> f64 = x * x\n"},
    {"TheResultMayTell", OPTION "fn none[T]() -> Option[T] = None\nfn f() -> Option[f64] = none()\n",
     "data Option[T] = None | Some(value: T)\n"
     "\n"
     "fn f() -> Option[f64] = none_f64()\n"
     "\n"
     "fn none_f64() -> Option[f64] = None[f64]\n"},
    {"TypesInBrackets",
     OPTION "fn none[T]() -> Option[T] = None\nfn f() -> i64 = match none[i64]() None -> 0 Some(x) -> x\n",
     "data Option[T] = None | Some(value: T)\n"
     "\n"
     "fn f() -> i64 =\n"
     "  let v1 = none_i64()\n"
     "  if variant(v1) == 0 then 0 else field(v1, variant=1, field=0)\n"
     "\n"
     "fn none_i64() -> Option[i64] = None[i64]\n"},
    {"GenericFunctionsOverLists",
     "fn twice[T](x: T) -> T = x + x\nfn f(xs: List[f64]) -> List[f64] = map(twice, xs)\n",
     "fn f(xs: List[f64]) -> List[f64] = map_twice(xs)\n"
     "\n"
     "fn twice_f64(x: f64) -> f64 = x + x\n"
     "\n"
     "fn map_twice(xs: List[f64]) -> List[f64] = if variant(xs) == 0 then Nil[f64] else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = twice_f64(head)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  Cons[f64](v1, map_twice(tail))\n"},
    {"GradientsOfGenericFunctions",
     "fn cube[T](x: T) -> T = x * x * x\nfn f(x: f64) -> f64 = grad(cube)(x)\n",
     "fn f(x: f64) -> f64 = grad_cube_f64(x)\n"
     "\n"
     "fn cube_f64(x: f64) -> f64 = x * x * x\n"
     "\n"
     "fn grad_cube_f64(x: f64) -> f64 = grad(cube_f64)\n"},
    {"SizesOfTensorsAreNumbersOrOpen",
     OPTION "fn f(x: f32[n], y: f32[3]) -> (Option[f32[_]], Option[f32[3]]) = (Some(x), Some(y))\n",
     "data Option[T] = None | Some(value: T)\n"
     "\n"
     "fn f(x: f32[n], y: f32[3]) -> (Option[f32[_]], Option[f32[3]]) = (Some[f32[_]](x), Some[f32[3]](y))\n"},
};
INSTANTIATE_TEST_SUITE_P(Programs, GenericPrograms, testing::ValuesIn(kGenericsPrograms),
                         name_of_case<PrintCase>);

class GenericErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(GenericErrors, SayWhatIsWrong) {
  expect_error(GetParam());
}

const ErrorCase kGenericsErrors[] = {
    {"NothingTells", OPTION "fn f() -> i64 = (let x = None in 1)",
     "2:26: expected the type of 'x', which neither its value nor a use of it tells; it is written let x: "
     "Option[...] = None"},
    {"TooFewTypes", PAIR "fn f(p: Pair[i64]) -> i64 = 1",
     "2:9: 'Pair' takes 2 types in brackets, found 1: Pair[A, B]"},
    {"NoTypes", PAIR "fn f(p: Pair) -> i64 = 1",
     "2:9: 'Pair' takes 2 types in brackets, found 0: Pair[A, B]"},
    {"UnknownTypeArgument", PAIR "fn f(p: Pair[i64, Treee]) -> i64 = 1",
     "2:19: expected a type (bool, u8, i32, i64, f32, f64, str, List[...] or a data type), found 'Treee'"},
    {"TwoTypesForOneParameter", "fn same[T](a: T, b: T) -> T = a\nfn f(x: f64, n: i64) -> f64 = same(x, n)",
     "2:39: argument 2 of 'same': expected f64, found i64"},
    {"WrongCount", LENGTH "fn f() -> i64 = length()",
     "5:17: 'length' takes 1 argument, found 0: length[T](xs: List[T]) -> i64"},
    {"WrongBody", "fn twice[T](x: T) -> T = x + x\nfn f(x: bool) -> bool = twice(x)",
     "1:28: [+] expected numbers of one type, found bool and bool (where T = bool)"},
    {"WrongResult", "fn half[T](x: T) -> T = 0.5\nfn f(n: i64) -> i64 = half(n)",
     "1:25: the result of 'half': expected i64, found f64 (where T = i64)"},
    {"EndlessFunctions", "fn wrap[T](x: T) -> i64 = wrap(Cons(x, []))\nfn f() -> i64 = wrap(1)",
     "1:27: this would need endlessly many functions: 'wrap' for T = i64, 'wrap' for T = List[i64], 'wrap' "
     "for T "
     "= List[List[i64]], and so on (where T = List[List[List[List[List[List[List[List[List[List[List[L ...)"},
    {"EndlessTypes",
     PAIR "data Nest[T] = End | More(x: T, rest: Nest[Pair[T, T]])\nfn f(n: Nest[i64]) -> i64 = 1",
     "2:44: this would need endlessly many types: 'Pair' of 'Pair' of ever larger types"},
    {"EndlessListsOfTypes",
     "data Nest[T] = End | More(x: T, rest: Nest[List[T]])\nfn f(n: Nest[i64]) -> i64 = 1",
     "1:39: this would need endlessly many types: 'Nest' of 'Nest' of ever larger types"},
    {"SmallTypeParameter", "fn f[t](x: i64) -> i64 = x",
     "1:6: expected the name of a type parameter with a capital first letter, found 't'"},
    {"TypeParameterTwice", "fn f[T, T](x: T) -> i64 = 1", "1:9: type parameter 'T' is defined twice"},
    {"UnusedBodyIsRead", "fn f[T](x: T) -> i64 = (1 + \nfn g() -> i64 = 1",
     "2:1: expected an expression, found 'fn'"},
    {"ATypeHasNoEnd", "fn f[T](xs: List[T]) -> List[T = xs\ndata Entry = Entry(key: i64)\nfn g() -> i64 = 1",
     "2:1: expected ']' behind a type or dimensions, found 'data'; the '[' at test.hia:1:29 is not closed"},
    {"GenericVariantTwice", OPTION "data Other = Some\nfn f() -> i64 = 1",
     "2:14: variant 'Some' is defined twice; the first one belongs to 'Option'"},
    {"GenericTypeTwice", OPTION "data Option = X\nfn f() -> i64 = 1",
     "2:6: data type 'Option' is defined twice"},
    {"GenericFunctionTwice", LENGTH "fn length(n: i64) -> i64 = n",
     "5:4: function 'length' is defined twice; the first definition is in line 1"},
    {"MissingVariant", OPTION "fn f(o: Option[i64]) -> i64 = match o Some(x) -> x",
     "2:31: this 'match' has no arm for None"},
};
INSTANTIATE_TEST_SUITE_P(Messages, GenericErrors, testing::ValuesIn(kGenericsErrors),
                         name_of_case<ErrorCase>);

TEST(GenericErrors, ABodyThatIsWrongIsReportedForOneUse) {
  const std::string found = error_of(
      "fn twice[T](x: T) -> T = x + x\n"
      "fn f(x: bool, y: List[i64]) -> (bool, List[i64]) = (twice(x), twice(y))\n");
  EXPECT_EQ(found.find("(where T = bool)") != std::string::npos, true) << found;
  EXPECT_EQ(found.find("(where T = List[i64])"), std::string::npos) << found;
}

/// Each of many generic functions is used once: that ends.
TEST(GenericFunctions, MayUseAnyNumberOfOthers) {
  std::string program = "fn g0[T](x: T) -> i64 = 1\n";
  for (int i = 1; i < 100; ++i) program += fmt::format("fn g{}[T](x: T) -> i64 = g{}(x)\n", i, i - 1);
  EXPECT_EQ(error_of(program + "fn f(n: i64) -> i64 = g99(n) + g99(0.5)\n"), "");
}

/// What an expression tells of its type is asked for each part once.
TEST(GenericFunctions, StandInsideEachOtherToAnyDepth) {
  const std::string functions =
      "data Box[T] = Box(value: T)\nfn same[T](x: T) -> T = x\nfn first[A, B](a: A, b: B) -> A = a\n";
  const std::string calls = repeat("same(", 200) + "n" + repeat(")", 200);
  const std::string pairs = repeat("first(", 200) + "n" + repeat(", 1)", 200);
  const std::string boxes = repeat("Box(", 15) + "n" + repeat(")", 15);
  EXPECT_EQ(error_of(functions + "fn f(n: i64) -> i64 = (let x = " + calls + " + " + pairs + " in x)\n" +
                     "fn g(n: i64) -> i64 = (let x = if n > 1 then " + boxes + " else " + boxes + " in n)\n"),
            "");
}

}  // namespace
}  // namespace hiaton
