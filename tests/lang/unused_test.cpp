// What is said of generic functions that nothing uses: mistakes, whatever their types are, and no more.
#include "lang/message_case.h"

namespace hiaton {
namespace {

#define TWO "fn two(a: i64, b: i64) -> i64 = a + b\n"
#define OPTION "data Option[T] = None | Some(value: T)\n"

class Unused : public testing::TestWithParam<MessageCase> {};

TEST_P(Unused, IsCheckedForWhatIsWrongForAnyTypes) {
  expect_message(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Unused,
    testing::Values(
        MessageCase{"AnUnknownName", "fn f[T](x: T) -> i64 = nme + 1\n", "unknown name 'nme'"},
        MessageCase{"AnUnknownFunction", "fn f[T](x: T) -> T = change(x)\n", "unknown function 'change'"},
        MessageCase{"TooFewArguments", TWO "fn f[T](x: T) -> i64 = two(1)\n",
                    "'two' takes 2 arguments, found 1: two(a: i64, b: i64)"},
        MessageCase{"AnArgument", TWO "fn f[T](x: T) -> i64 = two(\"a\", 1)\n",
                    "argument 1 of 'two': expected i64, found str"},
        MessageCase{"ACondition", "fn f[T](x: T) -> i64 = if 3 then 1 else 2\n",
                    "the condition of 'if': expected bool, found i64"},
        MessageCase{"AResult", "fn f[T](x: T) -> i64 = \"a\"\n",
                    "the result of 'f': expected i64, found str"},
        MessageCase{"AMissingArm", "fn f[T](xs: List[T]) -> i64 = match xs [] -> 0\n",
                    "this 'match' has no arm for"},
        MessageCase{"AParameterThatIsAFunction", "fn f(g: fn(i64) -> i64, x: i64) -> i64 = g(x) + q\n",
                    "unknown name 'q'"},
        MessageCase{"AWrongCallOfAParameter", "fn f[T](g: fn(T) -> T, x: T) -> T = g(x, x)\n",
                    "'g' takes 1 argument, found 2"},
        MessageCase{"AnUnknownTypeOfAParameter", "fn f[T](x: T, y: Tre) -> i64 = 1\n", "found 'Tre'"},
        MessageCase{"ASyntaxErrorIsReportedOnce", "fn f[T](x: T) -> T = x +\n", "expected an expression"},
        MessageCase{"WhatIsRightForNumbers", "fn f[T](x: T) -> T = x * x + abs(x)\n"},
        MessageCase{"WhatIsRightForFloats", "fn f[T](x: T) -> T = x * 0.5 + sin(x)\n"},
        MessageCase{"WhatIsRightForStrings", "fn f[T](x: T) -> str = x + \"s\" + str(x[0])\n"},
        MessageCase{"WhatIsRightForTensors", "fn f[T](x: T) -> f64 = sum(x @ x)\n"},
        MessageCase{"WhatIsRightForMatrices", "fn f[T](x: T) -> f64 = x[0, 1]\n"},
        MessageCase{"WhatIsRightForFunctions", "fn f[F](g: F, x: i64) -> i64 = g(x) + g(x + 1)\n"},
        MessageCase{"WhatIsRightForFunctionsOfTwo", "fn f[F](g: F, x: i64) -> i64 = g(x, x)\n"},
        MessageCase{"WhatIsRightForDataValues",
                    "data P = P(x: i64)\nfn f[T](p: T) -> T = p with x = p.x + 1\n"},
        MessageCase{"WhatIsRightForVariants",
                    OPTION "fn f[T](p: T) -> i64 = match p None -> 0 Some(x) -> x\n"},
        MessageCase{"WhatIsRightForTuples",
                    "fn f[T](p: T) -> i64 = (let (a, b) = p in a + b)\n"
                    "fn g[T](p: T) -> i64 = (let (a, b, c) = p in a + b + c)\n"},
        MessageCase{"WhatIsRightForLists",
                    "fn f[T](xs: T) -> i64 = match xs [] -> 0 [x, ..rest] -> x + f(rest)\n"
                    "fn g[T](xs: T) -> i64 = fold(fn(s, x) -> s + x, 0, xs)\n"},
        MessageCase{"WhatIsRightForTruthValues", "fn f[T](x: T) -> i64 = if x then 1 else 2\n"},
        MessageCase{"WhatIsRightForOneTypeAlone", TWO
                    "fn f[T](x: T) -> i64 = two(x, 1)\nfn g[A, B](x: A, y: B) -> A = if y then x else x\n"},
        MessageCase{"WhatGrowsWithItself",
                    "fn f[T](x: T, n: i64) -> i64 = if n == 0 then 0 else f([x], n - 1)\n"},
        MessageCase{"Gradients", "fn f[T](x: T) -> T = grad(fn(y) -> y * y)(x)\n"},
        MessageCase{"FunctionsAsArguments",
                    "fn map2[A, B](f: fn(A) -> B, xs: List[A]) -> List[B] = map(f, xs)\n"
                    "fn twice[T](f: fn(T) -> T, x: T) -> T = f(f(x))\n"
                    "fn compose[A, B, C](f: fn(A) -> B, g: fn(B) -> C) -> fn(A) -> C = fn(x) -> g(f(x))\n"}),
    name_of_message);

}  // namespace
}  // namespace hiaton
