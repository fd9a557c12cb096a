// Functions that are made for a program: gradients, and what map, fold and scan do.
#include <gtest/gtest.h>

#include "lang/print_cases.h"

namespace hiaton {
namespace {

class GeneratedPrograms : public testing::TestWithParam<PrintCase> {};

TEST_P(GeneratedPrograms, PrintAndParseBack) {
  expect_printed(GetParam());
}

const PrintCase kGeneratedPrograms[] = {
    {"Gradients",
     "fn f(x: f32, n: i64, y: f32[3]) -> f32 = x\n"
     "fn g(x: f32, y: f32[3]) -> (f32, f32[3]) = grad(f)(x, 2, y)\n"
     "fn h(x: f32, y: f32[3]) -> (f32, f32, f32[3]) = value_and_grad(f)(x, 2, y)\n"
     "fn k(x: f32, y: f32[3]) -> (f32, f32[3]) = grad(f)(x, 3, y)\n",
     "fn f(x: f32, n: i64, y: f32[3]) -> f32 = x\n"
     "\n"
     "fn g(x: f32, y: f32[3]) -> (f32, f32[3]) = grad_f(x, 2, y)\n"
     "\n"
     "fn h(x: f32, y: f32[3]) -> (f32, f32, f32[3]) = value_and_grad_f(x, 2, y)\n"
     "\n"
     "fn k(x: f32, y: f32[3]) -> (f32, f32[3]) = grad_f(x, 3, y)\n"
     "\n"
     "fn grad_f(x: f32, n: i64, y: f32[3]) -> (f32, f32[3]) = grad(f)\n"
     "\n"
     "fn value_and_grad_f(x: f32, n: i64, y: f32[3]) -> (f32, f32, f32[3]) = value_and_grad(f)\n"},
    {"GradientsOfGradients",
     "fn f(x: f64) -> f64 = x * x * x\n"
     "fn g(x: f64) -> f64 = grad(grad(f))(x) + grad(f)(x)\n",
     "fn f(x: f64) -> f64 = x * x * x\n"
     "\n"
     "fn g(x: f64) -> f64 = grad_grad_f(x) + grad_f(x)\n"
     "\n"
     "fn grad_f(x: f64) -> f64 = grad(f)\n"
     "\n"
     "fn grad_grad_f(x: f64) -> f64 = grad(grad_f)\n"},
    {"GradientsByChosenParameters",
     "param W: f64[2] = ones\n"
     "fn f(x: f64, W: f64[n], y: f64) -> f64 = x * sum(W) * y\n"
     "fn g(x: f64, W: f64[n], y: f64) -> (f64, f64[2], f64) = grad(f, wrt=(y, param W, 0))\n"
     "fn h(x: f64) -> f64[2] = grad(f, wrt=W)(x, [1, 2], x) + vjp(f, wrt=param W)(x, [1, 2], x, 1)\n"
     "fn k(x: f64) -> f64 = grad(sin)(x) + 1\n",
     "param W: f64[2] = ones\n\n"
     "fn f(x: f64, W: f64[n], y: f64) -> f64 = x * sum(W, axes=[]) * y\n\n"
     "fn g(x: f64, W: f64[n], y: f64) -> (f64, f64[2], f64) = grad(f, wrt=(2, param W, 0))\n\n"
     "fn h(x: f64) -> f64[2] = grad_f(x, [1.0, 2.0], x) + vjp_f(x, [1.0, 2.0], x, 1.0)\n\n"
     "fn k(x: f64) -> f64 = grad_apply_sin(x) + 1.0\n\n"
     "fn grad_f(x: f64, W: f64[n], y: f64) -> f64[n] = grad(f, wrt=1)\n\n"
     "fn vjp_f(x: f64, W: f64[n], y: f64, g1: f64) -> f64[2] = vjp(f, wrt=param W)\n\n"
     "fn apply_sin(x1: f64) -> f64 = sin(x1)\n\n"
     "fn grad_apply_sin(x1: f64) -> f64 = grad(apply_sin)\n"},
    {"GradientsWithNames",
     "fn f(x: f64, w: f64[n]) -> f64 = x\n"
     "fn slope(a: f64, b: f64[n]) -> (f64, f64[n]) = grad(f)\n"
     "fn both(x: f64, w: f64[n]) -> (f64, f64, f64[n]) = value_and_grad(f)\n"
     "fn g(x: f64) -> (f64, f64[2]) = slope(x, [1, 2])\n",
     "fn f(x: f64, w: f64[n]) -> f64 = x\n"
     "\n"
     "fn slope(a: f64, b: f64[n]) -> (f64, f64[n]) = grad(f)\n"
     "\n"
     "fn both(x: f64, w: f64[n]) -> (f64, f64, f64[n]) = value_and_grad(f)\n"
     "\n"
     "fn g(x: f64) -> (f64, f64[2]) = slope(x, [1.0, 2.0])\n"},
    {"GradientsByDataThatHoldsFloats",
     "data T = L(x: f32) | N(left: T, right: T)\n"
     "data W = W(n: i64)\n"
     "fn f(t: T, w: W) -> f32 = 1\n"
     "fn g(t: T, w: W) -> T = grad(f)(t, w)\n",
     "data T = L(x: f32) | N(left: T, right: T)\n"
     "data W = W(n: i64)\n"
     "\n"
     "fn f(t: T, w: W) -> f32 = 1.0f32\n"
     "\n"
     "fn g(t: T, w: W) -> T = grad_f(t, w)\n"
     "\n"
     "fn grad_f(t: T, w: W) -> T = grad(f)\n"},
    {"MapOverALists",
     "fn f(x: f32, k: i64) -> f64 = f64(x)\n"
     "fn g(xs: List[f32], k: i64) -> List[f64] = map(f, xs, k)\n"
     "fn h(k: i64) -> List[f64] = map(f, [1, 2], 3)\n",
     "fn f(x: f32, k: i64) -> f64 = f64(x)\n"
     "\n"
     "fn g(xs: List[f32], k: i64) -> List[f64] = map_f(xs, k)\n"
     "\n"
     "fn h(k: i64) -> List[f64] =\n"
     "  let v1 = Cons[f32](2.0f32, Nil[f32])\n"
     "  map_f(Cons[f32](1.0f32, v1), 3)\n"
     "\n"
     "fn map_f(xs: List[f32], extra1: i64) -> List[f64] = if variant(xs) == 0 then Nil[f64] else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = f(head, extra1)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  Cons[f64](v1, map_f(tail, extra1))\n"},
    {"MapOfAnOperation", "fn g(xs: List[f64]) -> List[f64] = map(exp, xs)\n",
     "fn g(xs: List[f64]) -> List[f64] = map_exp(xs)\n"
     "\n"
     "fn map_exp(xs: List[f64]) -> List[f64] = if variant(xs) == 0 then Nil[f64] else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = exp(head)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  Cons[f64](v1, map_exp(tail))\n"},
    {"FoldAndScan",
     "fn f(a: f64, x: i64) -> f64 = a + f64(x)\n"
     "fn g(xs: List[i64]) -> (f64, List[f64], i64) = (fold(f, 0, xs), scan(f, 1, xs), fold(max, 0, [1, "
     "2]))\n",
     "fn f(a: f64, x: i64) -> f64 = a + f64(x)\n"
     "\n"
     "fn g(xs: List[i64]) -> (f64, List[f64], i64) =\n"
     "  let v1 = fold_f(0.0, xs)\n"
     "  let v2 = scan_f(1.0, xs)\n"
     "  let v3 = Cons[i64](2, Nil[i64])\n"
     "  (v1, v2, fold_max(0, Cons[i64](1, v3)))\n"
     "\n"
     "fn fold_f(acc: f64, xs: List[i64]) -> f64 = if variant(xs) == 0 then acc else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = f(acc, head)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  fold_f(v1, tail)\n"
     "\n"
     "fn scan_f(acc: f64, xs: List[i64]) -> List[f64] = if variant(xs) == 0 then Nil[f64] else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = f(acc, head)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  Cons[f64](v1, scan_f(v1, tail))\n"
     "\n"
     "fn fold_max(acc: i64, xs: List[i64]) -> i64 = if variant(xs) == 0 then acc else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = max(acc, head)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  fold_max(v1, tail)\n"},
    {"OneFunctionForEachUse",
     "fn f(x: f32[n]) -> f32[n] = x * 2\n"
     "fn g(xs: List[f32[2]], ys: List[f32[3]]) -> (List[f32[2]], List[f32[3]], List[f32[2]]) =\n"
     "  (map(f, xs), map(f, ys), map(f, map(f, xs)))\n",
     "fn f(x: f32[n]) -> f32[n] = x * 2.0f32\n"
     "\n"
     "fn g(xs: List[f32[2]], ys: List[f32[3]]) -> (List[f32[2]], List[f32[3]], List[f32[2]]) = (map_f(xs), "
     "map_f_2(ys), map_f(map_f(xs)))\n"
     "\n"
     "fn map_f(xs: List[f32[2]]) -> List[f32[2]] = if variant(xs) == 0 then Nil[f32[2]] else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = f(head)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  Cons[f32[2]](v1, map_f(tail))\n"
     "\n"
     "fn map_f_2(xs: List[f32[3]]) -> List[f32[3]] = if variant(xs) == 0 then Nil[f32[3]] else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = f(head)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  Cons[f32[3]](v1, map_f_2(tail))\n"},
    {"MapOverRows",
     "fn f(x: f32[n], k: f32) -> f32 = sum(x) + k\n"
     "fn g(x: f32[4, 5]) -> f32[4] = map(f, x, 2)\n"
     "fn h(x: f32[r, c]) -> f32[r] = map(f, x, 2)\n",
     "fn f(x: f32[n], k: f32) -> f32 = sum(x, axes=[]) + k\n"
     "\n"
     "fn g(x: f32[4, 5]) -> f32[4] = check_shape(map_f(x, 2.0f32), shape=[4])\n"
     "\n"
     "fn h(x: f32[r, c]) -> f32[r] =\n"
     "  let v1: f32[_] = if size(x, axis=0) == 0 then\n"
     "    let v2 = broadcast_to(0, shape=[0])\n"
     "    f32(v2)\n"
     "  else map_f_2(x, 2.0f32)\n"
     "  check_size(v1, x, axis=0, like_axis=0)\n"
     "\n"
     "fn map_f(xs: f32[_, 5], extra1: f32) -> f32[_] = if size(xs, axis=0) <= 1 then stack(f(gather(xs, 0), "
     "extra1), axis=0) else\n"
     "  let v1 = map_f(slice_half(xs, axis=0, index=0), extra1)\n"
     "  let v2 = map_f(slice_half(xs, axis=0, index=1), extra1)\n"
     "  concat(v1, v2, axis=0)\n"
     "\n"
     "fn map_f_2(xs: f32[_, c], extra1: f32) -> f32[_] = if size(xs, axis=0) <= 1 then stack(f(gather(xs, "
     "0), extra1), axis=0) else\n"
     "  let v1 = map_f_2(slice_half(xs, axis=0, index=0), extra1)\n"
     "  let v2 = map_f_2(slice_half(xs, axis=0, index=1), extra1)\n"
     "  concat(v1, v2, axis=0)\n"},
    {"FoldOverRows", "fn g(x: f32[r, 5]) -> f32[5] = fold(max, x[0], x)\n",
     "fn g(x: f32[r, 5]) -> f32[5] = fold_max(gather(x, 0), x)\n"
     "\n"
     "fn fold_max(acc: f32[5], xs: f32[_, 5]) -> f32[5] =\n"
     "  let v1 = size(xs, axis=0)\n"
     "  if v1 <= 1 then if v1 == 0 then acc else max(acc, gather(xs, 0)) else\n"
     "    let v2 = fold_max(acc, slice_half(xs, axis=0, index=0))\n"
     "    fold_max(v2, slice_half(xs, axis=0, index=1))\n"},
    {"ScanOverRows", "fn g(x: f32[4, 5]) -> f32[4, 5] = scan(max, x[0], x)\n",
     "fn g(x: f32[4, 5]) -> f32[4, 5] =\n"
     "  let (v1, _) = scan_max(gather(x, 0), x)\n"
     "  check_shape(v1, shape=[4, 5])\n"
     "\n"
     "fn scan_max(acc: f32[5], xs: f32[_, 5]) -> (f32[_, 5], f32[5]) = if size(xs, axis=0) <= 1 then\n"
     "  let v1 = max(acc, gather(xs, 0))\n"
     "  (stack(v1, axis=0), v1)\n"
     "else\n"
     "  let (v2, v3) = scan_max(acc, slice_half(xs, axis=0, index=0))\n"
     "  let (v4, v5) = scan_max(v3, slice_half(xs, axis=0, index=1))\n"
     "  (concat(v2, v4, axis=0), v5)\n"},
    {"OwnFunctionsOfTheseNames",
     "fn map(n: i64) -> i64 = n\nfn map_f(n: i64) -> i64 = map(n)\nfn grad_f(n: i64) -> i64 = n\n"
     "fn f(x: f32) -> f32 = x\n"
     "fn g(x: f32) -> f32 = grad(f)(x) + fold(max, 0, Nil[f32])\n",
     "fn map(n: i64) -> i64 = n\n"
     "\n"
     "fn map_f(n: i64) -> i64 = map(n)\n"
     "\n"
     "fn grad_f(n: i64) -> i64 = n\n"
     "\n"
     "fn f(x: f32) -> f32 = x\n"
     "\n"
     "fn g(x: f32) -> f32 = grad_f_2(x) + fold_max(0.0f32, Nil[f32])\n"
     "\n"
     "fn grad_f_2(x: f32) -> f32 = grad(f)\n"
     "\n"
     "fn fold_max(acc: f32, xs: List[f32]) -> f32 = if variant(xs) == 0 then acc else\n"
     "  let head = field(xs, variant=1, field=0)\n"
     "  let v1 = max(acc, head)\n"
     "  let tail = field(xs, variant=1, field=1)\n"
     "  fold_max(v1, tail)\n"},
};

INSTANTIATE_TEST_SUITE_P(Programs, GeneratedPrograms, testing::ValuesIn(kGeneratedPrograms),
                         name_of_case<PrintCase>);

class GeneratedErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(GeneratedErrors, SayWhatIsWrong) {
  expect_error(GetParam());
}

const ErrorCase kGeneratedErrors[] = {
    {"GradientOfAnInteger", "fn f(x: f32) -> i64 = 1\nfn g(x: f32) -> f32 = grad(f)(x)",
     "2:28: the gradient of 'f': expected a function whose first result is f32 or f64, "
     "found results (i64)"},
    {"GradientOfATensor", "fn f(x: f32[2]) -> f32[2] = x\nfn g(x: f32[2]) -> f32[2] = grad(f)(x)",
     "2:34: the gradient of 'f': expected a function whose first result is f32 or f64, "
     "found results (f32[2])"},
    {"GradientByNoFloats", "fn f(x: i64) -> f32 = 1\nfn g(x: i64) -> f32 = grad(f)(x)",
     "2:28: the gradient of 'f': expected a parameter that holds floats, found none"},
    {"GradientByLearnedParametersUnasked",
     "param w: f32[2]\nfn f() -> f32 = sum(w)\nfn main() -> f32[2] = grad(f)()",
     "3:28: the gradient of 'f': expected a parameter that holds floats, found none; by what is learned, it "
     "is "
     "written grad(f, wrt=w)"},
    {"GradientOfSeveral", "fn f(x: f32) -> (i64, f32) = (1, x)\nfn g(x: f32) -> f32 = grad(f)(x)",
     "2:28: the gradient of 'f': expected a function whose first result is f32 or f64, "
     "found results (i64, f32)"},
    {"GradientOfAnUnknownFunction", "fn fact(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = grad(fat)(x)",
     "2:28: unknown function 'fat'; did you mean 'fact'?"},
    {"GradientOfAnOperationWithAttributes", "fn g(x: f32) -> f32 = grad(sum)(x)",
     "1:23: expected a function of 1 argument, found the operation sum(x, axes=[...])"},
    {"GradientWithoutArguments", "fn f(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = grad(f) + 1",
     "2:23: expected a value, found a function; its arguments stand behind it in parentheses"},
    {"GradientByNothingOfTheFunction", "fn f(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = grad(f, wrt=y)(x)",
     "2:35: expected a parameter of 'f' or a learned parameter, found 'y': f(x: f32)"},
    {"GradientByTooLargeANumber", "fn f(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = grad(f, wrt=1)(x)",
     "2:35: expected a number less than 1, which is how many parameters 'f' has, found 1"},
    {"GradientByOneTwice", "fn f(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = grad(f, wrt=(0, x))(x)",
     "2:39: expected each parameter once, found one twice"},
    {"GradientByAnInteger", "fn f(x: f32, n: i64) -> f32 = x\nfn g(x: f32) -> i64 = grad(f, wrt=n)(x, 1)",
     "2:28: the gradient of 'f': expected a parameter that holds floats, found 'n', which is of type i64"},
    {"GradientByAFunction",
     "fn f(x: f32, g: fn(f32) -> f32) -> f32 = g(x)\nfn g(x: f32) -> f32 = grad(f, wrt=1)(x, fn(y) -> y)",
     "2:35: expected a parameter that holds floats, found parameter 1 of 'f', which is a function"},
    {"GradientWithAnotherWord", "fn f(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = grad(f, by=0)(x)",
     "2:31: expected 'wrt=' and what the gradient is by, found the name 'by'"},
    {"VjpOfIntegers", "fn f(x: f32) -> i64 = 1\nfn g(x: f32) -> f32 = vjp(f)(x, 1)",
     "2:27: the vjp of 'f': expected results that are numbers or tensors, some of them of floats, found "
     "(i64)"},
    {"VjpWithTooFewArguments", "fn f(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = vjp(f)(x)",
     "2:23: 'vjp(f)' takes 2 arguments, found 1: those of 'f', then a gradient for each float result"},
    {"GradientWithTooManyArguments", "fn f(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = grad(f)(x, x)",
     "2:23: 'f' takes 1 argument, found 2: f(x: f32)"},
    {"GradientOfAnArgument", "fn f(x: f32) -> f32 = x\nfn g(x: i64) -> f32 = grad(f)(x)",
     "2:31: argument 1 of 'f': expected f32, found i64"},
    {"NamedGradientOfOtherParameters", "fn f(x: f32) -> f32 = x\nfn g(x: f64) -> f32 = grad(f)",
     "2:4: the gradient of 'f' takes what 'f(x: f32)' takes"},
    {"NamedGradientOfOtherResults", "fn f(x: f32) -> f32 = x\nfn g(x: f32) -> f64 = grad(f)",
     "2:4: the gradient of 'f' gives (f32), found (f64)"},
    {"NamedGradientOfAnInteger", "fn f(x: f32) -> i64 = 1\nfn g(x: f32) -> f32 = grad(f)",
     "2:28: the gradient of 'f': expected a function whose first result is f32 or f64, "
     "found results (i64)"},
    {"MapOfAValue", "fn g(xs: List[i64], f: i64) -> List[i64] = map(f, xs)",
     "1:48: expected a function, found 'f', which is a value"},
    {"MapOfAVariant", "data D = Box(n: i64, m: i64)\nfn g(xs: List[i64]) -> List[D] = map(Box, xs)",
     "2:38: expected a function of 1 argument, found the variant 'Box'"},
    {"MapOfAMisspelledOperation", "fn g(xs: List[f64]) -> List[f64] = map(sqrtt, xs)",
     "1:40: unknown function 'sqrtt'; did you mean 'sqrt'?"},
    {"MapOfAnExpression", "fn g(xs: List[i64]) -> List[i64] = map(1 + 1, xs)",
     "1:40: expected a function: the name of one, or fn(x) -> ..."},
    {"MapOfTooFewArguments", "fn f(x: i64) -> i64 = x\nfn g(xs: List[i64]) -> List[i64] = map(f)",
     "2:36: expected 'map(function, elements, ...)' with the name of a function or fn(x) -> ..."},
    {"MapOverANumber", "fn f(x: i64) -> i64 = x\nfn g(x: i64) -> List[i64] = map(f, x)",
     "2:36: 'map': expected a list or a tensor, found i64"},
    {"MapOfAWrongFunction", "fn f(x: f32) -> f32 = x\nfn g(xs: List[i64]) -> List[f32] = map(f, xs)",
     "2:36: 'map': argument 1 of 'f': expected f32, found i64"},
    {"MapOfTooManyParameters",
     "fn f(x: i64, y: i64) -> i64 = x\nfn g(xs: List[i64]) -> List[i64] = map(f, xs)",
     "2:36: 'map': expected a function of 1 argument, found f(x: i64, y: i64)"},
    {"MapOfSeveralResults",
     "fn f(x: i64) -> (i64, i64) = (x, x)\nfn g(xs: List[i64]) -> List[i64] = map(f, xs)",
     "2:36: the result of 'g': expected List[i64], found List[(i64, i64)]"},
    {"FoldThatChangesItsType", "fn f(a: i64, x: i64) -> f64 = 1\nfn g(xs: List[i64]) -> f64 = fold(f, 0, xs)",
     "2:30: 'fold': 'f' gives f64, but it starts with i64"},
    {"ScanToData",
     "data D = D(x: f32)\nfn f(d: D, x: f32) -> D = d\nfn g(x: f32[3]) -> f32[3] = scan(f, D(1), x)",
     "3:29: 'scan': expected a function that gives a scalar or a tensor, found 'f'"},
    {"MapOfAnOperationWithAttributes", "fn g(xs: List[f32[2]]) -> List[f32] = map(sum, xs)",
     "1:43: expected an operation without attributes, found 'sum'; fn(x) -> sum(x, ...) gives them"},
    {"MapOfAWrongOperation", "fn g(xs: List[i64]) -> List[i64] = map(exp, xs)",
     "1:36: 'map': [exp] expected f32 or f64, found i64"},
    {"MapToData", "data D = D(x: f32)\nfn f(x: f32) -> D = D(x)\nfn g(x: f32[3]) -> f32[3] = map(f, x)",
     "3:29: 'map': expected a function that gives a scalar or a tensor, found 'f'"},
};

INSTANTIATE_TEST_SUITE_P(Messages, GeneratedErrors, testing::ValuesIn(kGeneratedErrors),
                         name_of_case<ErrorCase>);

TEST(GradientRequests, SayWhatIsToBeDerived) {
  const ir::Module module = parse(
      "fn f(x: f32, n: i64) -> f32 = x\n"
      "fn g(x: f32) -> (f32, f32) = value_and_grad(f)(x, 1)\n"
      "fn slope(x: f32, n: i64) -> f32 = grad(f)\n");
  ASSERT_EQ(module.functions.size(), 4u);
  ASSERT_EQ(module.gradient_requests.size(), 2u);
  const ir::GradientRequest& slope = module.gradient_requests[0];
  EXPECT_EQ(module[slope.function].name, "slope");
  EXPECT_EQ(module[slope.of].name, "f");
  EXPECT_EQ(slope.form, ir::GradientForm());
  const ir::GradientRequest& value = module.gradient_requests[1];
  EXPECT_EQ(module[value.function].name, "value_and_grad_f");
  EXPECT_EQ(value.form.kind, ir::GradientForm::Kind::ValueAndGradients);
  EXPECT_FALSE(module[value.function].body.valid());
  EXPECT_EQ(module[value.function].params.size(), 2u);
  EXPECT_EQ(module[value.function].results, (std::vector<Type>{DType::F32, DType::F32}));
  EXPECT_EQ(module.gradient_request(value.function), &value);
  EXPECT_EQ(module.gradient_request(value.of), nullptr);
}

}  // namespace
}  // namespace hiaton
