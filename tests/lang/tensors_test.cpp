// Tensors in types, sizes, learned parameters, attributes, indices and brackets.
#include <gtest/gtest.h>

#include "lang/print_cases.h"

namespace hiaton {
namespace {

class TensorPrograms : public testing::TestWithParam<PrintCase> {};

TEST_P(TensorPrograms, PrintAndParseBack) {
  expect_printed(GetParam());
}

const PrintCase kTensorsPrograms[] = {
    {"BranchesMayDifferInSizesThatAreLeftOpen",
     "fn f(b: bool) -> f64[_] = if b then [1] else if not b then [1, 2] else [1, 2, 3]\n"
     "fn g(b: bool) -> f64 =\n  let (x: f64[_], y) = if b then ([1], 1) else ([1, 2], 2)\n  sum(x)\n"
     "fn h(x: f64[n]) -> f64[n] = if sum(x) > 0 then [1] else [1, 2]\n"
     "fn k(x: List[i64]) -> i64[_] = match x Nil -> [1] Cons(_, Nil) -> [1, 2] Cons -> [1, 2, 3]\n",
     "fn f(b: bool) -> f64[_] = if b then [1.0] else if not b then [1.0, 2.0] else [1.0, 2.0, 3.0]\n\n"
     "fn g(b: bool) -> f64 =\n  let (x: f64[_], y) = if b then ([1.0], 1) else ([1.0, 2.0], 2)\n"
     "  sum(x, axes=[])\n\n"
     "fn h(x: f64[n]) -> f64[n] =\n  let v1: f64[_] = if sum(x, axes=[]) > 0.0 then [1.0] else [1.0, 2.0]\n"
     "  check_size(v1, x, axis=0, like_axis=0)\n\n"
     "fn k(x: List[i64]) -> i64[_] = if variant(x) == 0 then [1] else\n"
     "  let v1 = variant(field(x, variant=1, field=1)) == 0\n"
     "  if v1 then [1, 2] else [1, 2, 3]\n"},
    {"SizesAreSubstituted",
     "fn f(x: f32[2*d, d/2 - 1], n: i64[(d + 1) % 3, -(-d)]) -> f32[2*d, d/2 - 1] = x * f32(d)\n"
     "size e = 2\nsize d = e * 2\n",
     "fn f(x: f32[8, 1], n: i64[2, 4]) -> f32[8, 1] =\n"
     "  let v1 = f32(4)\n"
     "  x * v1\n"},
    {"SymbolsAreValues",
     "fn f(x: f64[m, n], y: f64[n], m: i64) -> i64 = m * n + size(x, axis=0)\n"
     "fn g(x: f64[n]) -> List[i64] = map(fn(i) -> i + n, [1])\n"
     "fn h(x: f64[n]) -> i64 =\n  let n = n + 1\n  n\n",
     "fn f(x: f64[m, n], y: f64[n], m: i64) -> i64 = m * size(x, axis=1) + size(x, axis=0)\n\n"
     "fn g(x: f64[n]) -> List[i64] =\n  let v1 = size(x, axis=0)\n  let v2 = Cons[i64](1, Nil[i64])\n"
     "  map_g_lambda_2(v2, v1)\n\n"
     "fn h(x: f64[n]) -> i64 = size(x, axis=0) + 1\n\n"
     "fn g_lambda_2(x1: i64, captured2: i64) -> i64 = x1 + captured2\n\n"
     "fn map_g_lambda_2(xs: List[i64], extra1: i64) -> List[i64] = if variant(xs) == 0 then Nil[i64] else\n"
     "  let head = field(xs, variant=1, field=0)\n  let v1 = g_lambda_2(head, extra1)\n"
     "  let tail = field(xs, variant=1, field=1)\n  Cons[i64](v1, map_g_lambda_2(tail, extra1))\n"},
    {"SymbolsStay", "fn f(x: f32[n, 3], y: f32[_]) -> f32[n, 3] = x + 1\n",
     "fn f(x: f32[n, 3], y: f32[_]) -> f32[n, 3] = x + 1.0f32\n"},
    {"CallsBindSymbols",
     "fn twice(x: f32[n]) -> f32[n] = x * 2\n"
     "fn f(x: f32[3], y: f32[m]) -> (f32[3], f32[m]) = (twice(x), twice(y))\n",
     "fn twice(x: f32[n]) -> f32[n] = x * 2.0f32\n\n"
     "fn f(x: f32[3], y: f32[m]) -> (f32[3], f32[m]) = (twice(x), twice(y))\n"},
    {"LearnedParametersAreValues",
     "fn f(x: f32[4]) -> f32[3] = x @ W + b\n"
     "size d = 4\n"
     "param W: f32[d, d - 1] = normal(0.5)\n"
     "param b: f32[d - 1]\n"
     "param s: f64[2] = ones\n",
     "param W: f32[4, 3] = normal(0.5)\n"
     "param b: f32[3]\n"
     "param s: f64[2] = ones\n\n"
     "fn f(x: f32[4]) -> f32[3] = x @ W + b\n"},
    {"ParametersAndLetsHideLearnedParameters",
     "param W: f32[2]\n"
     "fn f(W: f32[2]) -> f32[2] = W * param W\n"
     "fn g() -> f32[2] =\n  let W = W * 2\n  W + W\n",
     "param W: f32[2]\n\n"
     "fn f(W: f32[2]) -> f32[2] = W * param W\n\n"
     "fn g() -> f32[2] =\n  let v1 = W * 2.0f32\n  v1 + v1\n"},
    {"TheSmallestSize", "size d = -9223372036854775808\nfn f(n: i64) -> i64 = n - d\n",
     "fn f(n: i64) -> i64 = n - -9223372036854775808\n"},
    {"SizesAreValues", "size d = 3\nfn f(n: i64) -> i64 = n * d + d\n", "fn f(n: i64) -> i64 = n * 3 + 3\n"},
    {"AttributesWithDefaultsListsAndSizes",
     "size d = 2\n"
     "fn f(x: f32[4, 6]) -> (f32[4], f32, f32[6, 4], f32[d, 2*d, 3], f32[4, d]) =\n"
     "  (sum(x, axes=[1]), sum(x), transpose(x), reshape(x, shape=[d, -1, 3]),\n"
     "   slice(x, axis=1, start=d - 2, length=d))\n",
     "fn f(x: f32[4, 6]) -> (f32[4], f32, f32[6, 4], f32[2, 4, 3], f32[4, 2]) = (sum(x, axes=[1]), sum(x, "
     "axes=[]), transpose(x, permutation=[]), reshape(x, shape=[2, -1, 3]), slice(x, axis=1, start=0, "
     "length=2))\n"},
    {"PiecesAreSlices",
     "size d = 2\n"
     "fn f(x: f32[5], y: f32[3, n]) -> (f32[2], f32[3], f32[3, 2], f32[3, 1]) =\n"
     "  let (a, b) = split(x, axis=0, lengths=[d, 5 - d])\n"
     "  let (p, q) = split(y, axis=-1, lengths=[d, 1])\n"
     "  (a, b, p, q)\n",
     "fn f(x: f32[5], y: f32[3, n]) -> (f32[2], f32[3], f32[3, 2], f32[3, 1]) =\n"
     "  let a = slice(x, axis=0, start=0, length=2)\n"
     "  let b = slice(x, axis=0, start=2, length=3)\n"
     "  let v1 = check_shape(y, shape=[3, 3])\n"
     "  let p = slice(v1, axis=-1, start=0, length=2)\n"
     "  let q = slice(v1, axis=-1, start=2, length=1)\n"
     "  (a, b, p, q)\n"},
    {"IndicesAreGathers",
     "param E: f32[9, 4]\n"
     "fn f(i: i64, x: i64[n]) -> (f32[4], f32, f32, f32[n, 4]) = (E[i], E[i, 2], -E[0][i + 1], E[x])\n",
     "param E: f32[9, 4]\n"
     "\n"
     "fn f(i: i64, x: i64[n]) -> (f32[4], f32, f32, f32[n, 4]) = (gather(E, i), gather(gather(E, i), 2), "
     "-gather(gather(E, 0), i + 1), gather(E, x))\n"},
    {"BracketsOfNumbersAreConstants",
     "fn f(x: f32[2]) -> (f32[2], f64[2, 2], i64[3], bool[1], i32[2]) =\n"
     "  (x + [1, 0.5], [[1, 2], [3, 4.5]], [1, -2, 3], [true], [1i32, 2i32])\n",
     "fn f(x: f32[2]) -> (f32[2], f64[2, 2], i64[3], bool[1], i32[2]) = "
     "(x + [1.0f32, 0.5f32], [[1.0, 2.0], [3.0, 4.5]], [1, -2, 3], [true], [1i32, 2i32])\n"},
    {"BracketsOfValuesAreStacked",
     "fn f(a: f32, x: f32[2]) -> (f32[2], f32[2, 2], f32[2, 2]) = ([a, 1], [x, [1, a]], [[0, 1], x])\n",
     "fn f(a: f32, x: f32[2]) -> (f32[2], f32[2, 2], f32[2, 2]) =\n"
     "  let v1 = stack(a, 1.0f32, axis=0)\n"
     "  let v2 = stack(x, stack(1.0f32, a, axis=0), axis=0)\n"
     "  (v1, v2, stack([0.0f32, 1.0f32], x, axis=0))\n"},
    {"ScalarsBroadcast",
     "fn f(x: f64[n], y: f64) -> (f64[n], bool[n], f32[n]) = (2 * x - y, x < 1, f32(x))\n",
     "fn f(x: f64[n], y: f64) -> (f64[n], bool[n], f32[n]) = (2.0 * x - y, x < 1.0, f32(x))\n"},
    {"RowsAndClassesAreIntegersBesideTensors",
     "fn f(x: f32[5], E: f32[3, 5]) -> (f32, f32[5]) = (cross_entropy(x, 2), gather(E, 1))\n",
     "fn f(x: f32[5], E: f32[3, 5]) -> (f32, f32[5]) = (cross_entropy(x, 2), gather(E, 1))\n"},
    {"LoopsOverTensors",
     "fn f(x: f32[n]) -> f32[n] = with y = x while sum(y) < 9 do y * 2\n"
     "fn g(x: f32[n]) -> f32[_] = with y: f32[_] = x for i in 0..3 do concat(y, x, axis=0)\n",
     "fn f(x: f32[n]) -> f32[n] = with y = x while sum(y, axes=[]) < 9.0f32 do y * 2.0f32\n"
     "\n"
     "fn g(x: f32[n]) -> f32[_] =\n"
     "  let (_, v1) = with i = 0, y: f32[_] = x while i < 3 do (i + 1, concat(y, x, axis=0))\n"
     "  v1\n"},
    {"WhatOnlyTheRunKnowsIsChecked",
     "fn f(x: f32[n]) -> f32[4] = concat(x, x, axis=0)\n"
     "fn g(x: f32[n], y: f32[n]) -> f32[n] = concat(x, y, axis=0)\n"
     "fn h(x: f32[_], y: f32[4]) -> f32[4] = g(x, y)\n",
     "fn f(x: f32[n]) -> f32[4] = check_shape(concat(x, x, axis=0), shape=[4])\n\n"
     "fn g(x: f32[n], y: f32[n]) -> f32[n] = check_size(concat(x, y, axis=0), x, axis=0, like_axis=0)\n\n"
     "fn h(x: f32[_], y: f32[4]) -> f32[4] = g(check_shape(x, shape=[4]), y)\n"},
    {"LongProductsOfMatrices", "fn f(a: f32[2, 2]) -> f32[2, 2] = a @ a * a @ (a @ a)\n",
     "fn f(a: f32[2, 2]) -> f32[2, 2] = a @ a * a @ (a @ a)\n"},
};

INSTANTIATE_TEST_SUITE_P(Programs, TensorPrograms, testing::ValuesIn(kTensorsPrograms),
                         name_of_case<PrintCase>);

class TensorErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(TensorErrors, SayWhatIsWrong) {
  expect_error(GetParam());
}

const ErrorCase kTensorsErrors[] = {
    {"WrongShape", "fn f(x: f32[3]) -> f32[4] = x", "1:29: the result of 'f': expected f32[4], found f32[3]"},
    {"WrongRank", "fn f(x: f32[3]) -> f32[3, 1] = x",
     "1:32: the result of 'f': expected f32[3, 1], found f32[3]"},
    {"WrongArgument", "fn g(x: f32[3]) -> f32 = 1\nfn f(x: f32[4]) -> f32 = g(x)",
     "2:28: argument 1 of 'g': expected f32[3], found f32[4]"},
    {"OneSymbolForTwoSizes",
     "fn g(x: f32[n], y: f32[n]) -> f32 = 1\nfn f(x: f32[3], y: f32[4]) -> f32 = g(x, y)",
     "2:37: arguments of 'g': expected (f32[n], f32[n]), found (f32[3], f32[4])"},
    {"ShapesDoNotGoTogether", "fn f(x: f32[3], y: f32[4]) -> f32[3] = x + y",
     "1:42: [+] expected shapes that go together (equal dimensions, or 1), found f32[3] and f32[4]"},
    {"PiecesThatAreNotAll", "fn f(x: f32[5]) -> (f32[2], f32[2]) = split(x, axis=0, lengths=[2, 2])",
     "1:39: [split] expected lengths that add up to the size of f32[5] along axis 0, found 2 + 2"},
    {"PiecesAlongNoAxis", "fn f(x: f32[5]) -> (f32[2], f32[3]) = split(x, axis=1, lengths=[2, 3])",
     "1:39: [split] expected an axis of f32[5], found 1"},
    {"PiecesOfNegativeLength", "fn f(x: f32[n]) -> (f32[_], f32[_]) = split(x, axis=0, lengths=[6, -1])",
     "1:39: [split] expected lengths of 0 or more, found -1"},
    {"NoPieces", "fn f(x: f32[0]) -> f32 = 1 + split(x, axis=0, lengths=[])",
     "1:30: [split] expected at least one length, found none"},
    {"PiecesOfANumber", "fn f(x: f32) -> (f32[_], f32[_]) = split(x, axis=0, lengths=[1, 2])",
     "1:36: [split] expected a tensor, found f32"},
    {"PiecesWithoutLengths", "fn f(x: f32[5]) -> f32[5] = split(x, axis=0)",
     "1:29: 'split' needs the attribute 'lengths': split(x, axis=..., lengths=[...])"},
    {"PiecesOfTwoTensors", "fn f(x: f32[2]) -> (f32[1], f32[1]) = split(x, x, axis=0, lengths=[1, 1])",
     "1:39: 'split' takes 1 argument, found 2: split(x, axis=..., lengths=[...])"},
    {"NegativeDimension", "size d = 1\nfn f(x: f32[d - 2]) -> f32 = 1",
     "2:13: expected a dimension of 0 or more, found -1"},
    {"DimensionByZero", "size d = 0\nfn f(x: f32[4 / d]) -> f32 = 1", "2:15: division by zero"},
    {"DimensionTooLarge", "fn f(x: f32[9223372036854775807 + 1]) -> f32 = 1",
     "1:33: the integer is out of the range of i64"},
    {"UnknownSizeInAComputedDimension", "fn f(x: f32[2 * n]) -> f32 = 1",
     "1:17: expected a size, or a symbol that is a dimension of a parameter by itself, found 'n'; a size is "
     "declared by a line 'size n = ...'"},
    {"ParameterOfAnySize", "param W: f32[_]\nfn f() -> i64 = 1",
     "1:10: expected a dimension that is known before the run, found '_'"},
    {"TooManyDimensions", "fn f(x: f32[1, 1, 1, 1, 1, 1, 1, 1, 1]) -> f32 = 1",
     "1:12: expected at most 8 dimensions, found 9"},
    {"ResultOfTooManyDimensions", "fn f(x: f32[1, 1, 1, 1, 1, 1, 1, 1]) -> f32 = sum([x])",
     "1:51: [stack] expected a result of at most 8 dimensions, found f32[1, 1, 1, 1, 1, 1, 1, 1, 1]"},
    {"ResultThatNoMemoryHolds", "fn f(x: f32) -> f32[_, _] = broadcast_to(x, shape=[4611686018427387905, 4])",
     "1:29: [broadcast_to] expected a result that fits into memory, found f32[4611686018427387905, 4]"},
    {"ReshapeToMoreElementsThanCanBeCounted",
     "fn f(x: f32[4]) -> f32[_, _] = reshape(x, shape=[4611686018427387905, 4])",
     "1:32: [reshape] expected fewer elements than 2^63, found the sizes 4611686018427387905, 4"},
    {"ReshapeToAnOpenSizeBesideZero", "fn f(x: f32[0]) -> f32[_, _] = reshape(x, shape=[0, -1])",
     "1:32: [reshape] expected no 0 beside the size that is left open (-1)"},
    {"NumbersInTooManyBrackets", "fn f() -> i64 = sum([[[[[[[[[1]]]]]]]]])",
     "1:21: [stack] expected a result of at most 8 dimensions, found i64[1, 1, 1, 1, 1, 1, 1, 1, 1]"},
    {"ShapeOfAScalar", "fn f(x: f32[]) -> f32 = x",
     "1:13: expected a dimension (the type of a scalar has no brackets), found ']'; f64[_] is a tensor of "
     "any "
     "size, f64[_, _] a matrix"},
    {"UnclosedShape", "fn f(x: f32[3) -> f32 = 1",
     "1:14: expected an operator, ',' or ']' in the shape of a type, found ')'"},
    {"SizeTwice", "size d = 1\nsize d = 2\nfn f() -> i64 = d",
     "2:6: expected a new name, found 'd', which is a size"},
    {"SizeOfAFloat", "size d = 1.5\nfn f() -> i64 = 1",
     "1:10: expected an integer: a number, a size or a sum or product of them, found the number 1.5"},
    {"TextBehindASize", "size d = 1 2\nfn f() -> i64 = d",
     "1:12: expected an operator, 'fn', 'data', 'param', 'size' or the end of the program, found the number "
     "2"},
    {"BranchesOfTwoSizes", "fn f(b: bool) -> f64 =\n  let x = if b then [1.0] else [1.0, 2.0]\n  sum(x)",
     "2:11: the branches of 'if' differ: f64[1] after 'then', f64[2] after 'else'; a 'let' or result of type "
     "f64[_] takes both"},
    {"BranchesOfTwoSizesAsAnOperand", "fn f(b: bool) -> f64 = sum(if b then [1.0] else [1.0, 2.0])",
     "1:28: the branches of 'if' differ: f64[1] after 'then', f64[2] after 'else'; a 'let' or result of type "
     "f64[_] takes both"},
    {"BranchesOfTwoSizesWhereOneIsWanted", "fn f(b: bool) -> f64[2] = if b then [1.0] else [1.0, 2.0]",
     "1:27: the branches of 'if' differ: f64[1] after 'then', f64[2] after 'else'"},
    {"BranchesOfTwoRanks", "fn f(b: bool) -> f64[_] = if b then [[1.0]] else [1.0]",
     "1:27: the branches of 'if' differ: f64[1, 1] after 'then', f64[1] after 'else'"},
    {"ArmsOfTwoSizes", "fn f(x: List[i64]) -> i64 =\n  let y = match x Nil -> [1] Cons -> [1, 2]\n  sum(y)",
     "2:38: the arms of 'match' differ: i64[1] in one before, i64[2] in this one; a 'let' or result of type "
     "i64[_] takes both"},
    {"MistypedSize", "size hidden = 4\nfn f(x: f32[3]) -> (f32[hiden], f32[hiden]) = (x, x)",
     "2:25: no size 'hiden'; did you mean 'hidden'? For any size write '_'"},
    {"MistypedSymbolInALet", "fn f(x: f32[rows]) -> f32[rows] =\n  let y: f32[rosw] = x\n  y",
     "2:14: no size 'rosw'; did you mean 'rows'? For any size write '_'"},
    {"SymbolOfAListAsAValue", "fn f(xs: List[f64[n]]) -> i64 = n", "1:33: unknown name 'n'"},
    {"SymbolAsAnAttribute", "fn f(x: f64[2, n]) -> f64[n, 2] = reshape(x, shape=[n, 2])",
     "1:53: expected an integer that is known before the run, found 'n', which stands for another size in "
     "each call"},
    {"ComputedDimensionOfALet",
     "fn f(x: f64[n]) -> f64 =\n  let y: f64[2 * n] = concat(x, x, axis=0)\n  sum(y)",
     "2:18: expected an integer that is known before the run, found 'n', which stands for another size in "
     "each call"},
    {"ComputedDimensionOfNoSymbolOfAParameter", "fn f(x: f64[n + 1]) -> f64[n] = x",
     "1:13: expected a size, or a symbol that is a dimension of a parameter by itself, found 'n'; a size is "
     "declared by a line 'size n = ...'"},
    {"ComputedDimensionInAList", "fn f(x: f64[n]) -> List[f64[n + 1]] = [x]",
     "1:29: expected an integer that is known before the run, found 'n', which stands for another size in "
     "each call"},
    {"ComputedDimensionOfAGradient",
     "fn f(x: f64[n]) -> f64 = sum(x)\nfn g(x: f64[n]) -> f64[2 * n] = grad(f)",
     "2:24: expected a number, a size, a symbol or '_' as a dimension of what a gradient takes or gives, "
     "found '2 * n'"},
    {"ComputedDimensionDividedByZero", "fn f(x: f64[n]) -> f64[n / (2 - 2)] = x", "1:26: division by zero"},
    {"ComputedDimensionOfAResultIsKnown",
     "fn pad(x: f64[n]) -> f64[(n + 1) * 2] = x\nfn f(x: f64[3]) -> f64[7] = pad(x)",
     "2:29: the result of 'f': expected f64[7], found f64[8]"},
    {"ComputedDimensionOfAResultIsNegative",
     "fn less(x: f64[n]) -> f64[n - 4] = x\nfn f(x: f64[3]) -> f64[_] = less(x)",
     "2:29: results of 'less': expected a dimension of 0 or more, found -1 (n - 4)"},
    {"ComputedDimensionOfAnArgumentIsKnown",
     "fn g(x: f64[n, k], y: f64[k % 2, n / 2]) -> f64 = 1\nfn f(x: f64[5, 3], y: f64[1, 3]) -> f64 = g(x, y)",
     "2:43: arguments of 'g': expected (f64[n, k], f64[k % 2, n / 2]), found (f64[5, 3], f64[1, 3])"},
    {"ArgumentsOfAFunctionWithComputedDimensions",
     "fn g(x: f64[n], y: f64[n+1]) -> f64 = 1\nfn f(x: f64[5]) -> f64 = g(x)",
     "2:26: 'g' takes 2 arguments, found 1: g(x: f64[n], y: f64[n+1])"},
    {"CallOfALearnedParameter", "param E: f32[3, 2]\nfn f(w: i64) -> f32[2] = E(w)",
     "2:26: expected a function, found 'E', which is a learned parameter; a row of it is written E[i]"},
    {"CallOfATensor", "fn f(x: f32[3]) -> f32 = x(0)",
     "1:26: expected a function, found 'x', which is a value; a row of it is written x[i]"},
    {"ParameterTwice", "param b: f32[2]\nparam b: f32[3]\nfn f() -> i64 = 1",
     "2:7: expected a new name, found 'b', which is a learned parameter"},
    {"ParameterOfASymbol", "param b: f32[n]\nfn f() -> i64 = 1",
     "1:10: expected a dimension that is known before the run, found 'n'; a size is declared by a line 'size "
     "n "
     "= ...'"},
    {"IntegerAsParameter", "param b: i64\nfn f() -> i64 = 1",
     "1:10: expected the type of a number or a tensor of f32 or f64 for a learned parameter, found i64"},
    {"IntegerParameter", "param b: i64[3]\nfn f() -> i64 = 1",
     "1:10: expected the type of a number or a tensor of f32 or f64 for a learned parameter, found "
     "i64[3]"},
    {"UnknownInitializer", "param b: f32[3] = random\nfn f() -> i64 = 1",
     "1:19: expected zeros, ones, uniform(a), normal(s) or glorot, found 'random'"},
    {"InitializerWithoutNumber", "param b: f32[3] = normal\nfn f() -> i64 = 1",
     "2:1: expected '(' and a number, found 'fn'"},
    {"InitializerOfZero", "param b: f32[3] = uniform(0)\nfn f() -> i64 = 1",
     "1:27: expected a number greater than 0: normal(s) is of mean 0 and standard deviation s, uniform(a) "
     "from -a to a"},
    {"UnknownLearnedParameter", "param b: f32[3]\nfn f() -> f32[3] = param c",
     "2:26: unknown learned parameter 'c'"},
    {"UnknownAttribute", "fn f(x: f32[3]) -> f32 = sum(x, axis=0)",
     "1:33: 'sum' has no attribute 'axis'; did you mean 'axes'?: sum(x, axes=[...])"},
    {"MissingAttribute", "fn f(x: f32[3]) -> f32[6] = concat(x, x)",
     "1:29: 'concat' needs the attribute 'axis': concat(parts..., axis=...)"},
    {"AttributeTwice", "fn f(x: f32[3]) -> f32 = sum(x, axes=0, axes=0)",
     "1:41: attribute 'axes' is given twice"},
    {"ListForOneInteger", "fn f(x: f32[3]) -> f32[6] = concat(x, x, axis=[0])",
     "1:42: attribute 'axis' of 'concat': expected one integer, found a list"},
    {"ListOfTheWrongLength",
     "fn f(x: f32[1, 4, 4]) -> f32[1, 2, 2] = max_pool2d(x, size=2, stride=[2, 2, 2])",
     "1:63: attribute 'stride' of 'max_pool2d': expected one integer or a list of 2, found a list of 3"},
    {"AttributeOfAValue", "fn f(x: f32[3], i: i64) -> f32 = sum(x, axes=i)",
     "1:46: expected an integer that is known before the run, found 'i', which only the run knows; x[i:], "
     "range(i) and zeros(i) take such a number"},
    {"AttributeOfAFloat", "fn f(x: f32[3]) -> f32 = sum(x, axes=0.5)",
     "1:38: expected an integer: a number, a size or a sum or product of them, found the number 0.5"},
    {"AttributesComeLast", "fn f(x: f32[3]) -> f32[6] = concat(axis=0, x, x)",
     "1:44: expected another 'name=value', found the name 'x'"},
    {"AttributeOfAFunction", "fn g(x: i64) -> i64 = x\nfn f(x: i64) -> i64 = g(x, axis=0)",
     "2:28: expected no 'name=value': only operations have attributes, and 'g' is none"},
    {"WrongAttribute", "fn f(x: f32[3]) -> f32 = sum(x, axes=1)",
     "1:26: [sum] expected an axis from -1 to 0, found 1"},
    {"UpdateOfAListAtAPlace", "fn f(xs: List[i64]) -> List[i64] = xs with [0] = 1",
     "1:39: expected a tensor before 'with [', found List[i64]"},
    {"UpdateAtAPlaceWithoutAValue", "fn f(x: f32[3]) -> f32[3] = x with [0]",
     "1:39: expected '=' and the value that is to stand there, found the end of the program"},
    {"UpdateAtAPlaceByAnotherType", "fn f(x: f32[3], y: f64) -> f32[3] = x with [0] = y",
     "1:39: [set_at] expected a tensor, what is to stand in it, and an i64 for each of the axes that this "
     "does not have, found f32[3] and f64 and i64"},
    {"TypeAsAValue", "fn f() -> f32[2] = zeros(f32[2])",
     "1:26: expected a value, found the type f32[2]; a tensor is made as zeros(2, 3) or [0.5, 1.5]"},
    {"IndexOfAScalar", "fn f(x: f32) -> f32 = x[0]", "1:24: expected a tensor before '[', found f32"},
    {"EmptyIndex", "fn f(x: f32[2]) -> f32 = x[]", "1:28: expected an index between '[' and ']', found ']'"},
    {"EmptyBrackets", "fn f() -> f32[2] = []",
     "1:20: expected elements between '[' and ']', found none; an empty list needs a type: Nil[i64]; an "
     "empty tensor is "
     "zeros(0)"},
    {"RowsOfTwoLengths", "fn f() -> i64[2, 2] = [[1, 2], [3]]",
     "1:23: [stack] expected numbers or tensors of one type, found i64[2] and i64[1]"},
    {"BracketsAtLineStart", "fn f(x: f32[2]) -> f32[2] = x\n  [0]",
     "2:3: expected 'fn' or the end of the program (a line that starts with '[' does not continue the line "
     "before), found '['"},
    {"TensorAsCondition", "fn f(x: bool[2]) -> i64 = if x then 1 else 2",
     "1:30: the condition of 'if': expected bool, found bool[2]; any(x) and all(x) are one truth value, "
     "where(x, a, b) "
     "chooses for each element"},
    {"TensorAsBound", "fn f(x: i64[2]) -> i64 = with s = 0 for i in 0..x do s",
     "1:49: a bound of 'for': expected an integer, found i64[2]"},
    {"OneBar", "fn f(a: bool) -> bool = a | a",
     "1:27: expected an operator, 'fn' or the end of the program, found '|'; logic is written 'and', 'or', "
     "'not'"},
};

INSTANTIATE_TEST_SUITE_P(Messages, TensorErrors, testing::ValuesIn(kTensorsErrors), name_of_case<ErrorCase>);

ir::Module parse_with(std::string text, std::map<std::string, int64_t> sizes) {
  return lang::parse(std::make_shared<Source>("test.hia", std::move(text)), {std::move(sizes)});
}

TEST(Sizes, OptionsReplaceThoseOfTheText) {
  const std::string text = "size d = 2\nsize e = d * 3\nfn f(x: f32[d, e]) -> f32[d, e] = x\n";
  EXPECT_EQ(print(parse_with(text, {})), "fn f(x: f32[2, 6]) -> f32[2, 6] = x\n");
  EXPECT_EQ(print(parse_with(text, {{"d", 5}})), "fn f(x: f32[5, 15]) -> f32[5, 15] = x\n");
  EXPECT_EQ(print(parse_with(text, {{"d", 5}, {"e", 1}})), "fn f(x: f32[5, 1]) -> f32[5, 1] = x\n");
}

TEST(Sizes, UnknownOnesInTheOptionsAreErrors) {
  try {
    parse_with("size d = 2\nsize e = 3\nfn f() -> i64 = d", {{"depth", 1}});
    FAIL();
  } catch (const ProgramError& error) {
    EXPECT_STREQ(error.what(), "the program has no size 'depth'; it has d, e");
  }
}

TEST(Sizes, AreKnownWithoutTheBodies) {
  const auto source = std::make_shared<Source>(
      "test.hia", "size d = 2\nsize e = d * 3\nsize f = ?\nfn f() -> i64 = nothing\n");
  using Sizes = std::map<std::string, int64_t>;
  EXPECT_EQ(lang::declared_sizes(source), (Sizes{{"d", 2}, {"e", 6}}));
  EXPECT_EQ(lang::declared_sizes(source, {{{"d", 5}}}), (Sizes{{"d", 5}, {"e", 15}}));
}

TEST(Sizes, ComputedOfSymbolsAreShort) {
  const auto program = [](int sums) { return "fn f(x: f64[n" + repeat(" + n", sums) + ", n]) -> i64 = 1"; };
  EXPECT_EQ(error_of(program(49)), "");
  EXPECT_NE(error_of(program(50))
                .find("1:13: error: expected at most 100 numbers, symbols and operators in a "
                      "dimension that is computed from symbols, found 101"),
            std::string::npos);
}

TEST(Sizes, MayBeNamesOfValues) {
  EXPECT_EQ(error_of("size size = 2\nfn f(size: i64) -> i64 =\n  let d = size\n  d\nsize d = 3\n"), "");
}

/// Short names, and those that differ in a number, are near each other on purpose.
TEST(Sizes, OfAResultMayBeNew) {
  EXPECT_EQ(error_of("size hi = 2\nfn f(x: f32[hi]) -> f32[ho] = x"), "");
  EXPECT_EQ(error_of("fn f(x: f32[rows1]) -> f32[rows2] = x"), "");
  EXPECT_EQ(error_of("fn f(x: f32[rows]) -> f32[_] =\n  let y: f32[columns] = x\n  y"), "");
  EXPECT_EQ(error_of("fn f(x: f32[rows]) -> f32[rows] = x\nfn g(x: f32[rosw]) -> f32[rosw] = x"), "");
}

TEST(LearnedParameters, BeginAsTheyAreDeclared) {
  const ir::Module module = parse(
      "param a: f32[2, 3]\nparam b: f32[3]\nparam c: f64[3] = uniform(0.25)\nparam d: f32[2] = glorot\n"
      "fn f() -> i64 = 1\n");
  ASSERT_EQ(module.parameters.size(), 4u);
  EXPECT_EQ(module.parameters[0].initial, (Initializer{Initializer::Kind::Glorot, 0}));
  EXPECT_EQ(module.parameters[1].initial, (Initializer{Initializer::Kind::Zeros, 0}));
  EXPECT_EQ(module.parameters[2].initial, (Initializer{Initializer::Kind::Uniform, 0.25}));
  EXPECT_EQ(module.parameters[3].initial, (Initializer{Initializer::Kind::Glorot, 0}));
  EXPECT_EQ(module.source->text(module.parameters[2].span), "c");
}

/// What a run that finds other sizes points at.
TEST(ChecksOfSizes, StandWhereTheValueStands) {
  const ir::Module module = parse(
      "fn f(x: f32[n], y: f32[m]) -> f32[n] =\n"
      "  let a = x + 1\n"
      "  let b: f32[4] = a\n"
      "  let c: f32[_] = with s = x for i in 0..3 do let d = s + 1 in concat(s, y, axis=0)\n"
      "  y\n");
  std::vector<std::string_view> places;
  for (const ir::Node& node : module.functions[0].nodes) {
    if (node.op != nullptr && node.op->name.value.starts_with("check_")) {
      places.push_back(module.source->text(node.span));
    }
  }
  EXPECT_EQ(places, (std::vector<std::string_view>{"a", "concat(s, y, axis=0)", "y"}));
}

/// Parameters are checked where the function begins, results where it gives them, and again behind a call
/// that knows more of them.
TEST(ChecksOfSizes, OfComputedDimensions) {
  const ir::Module module = parse(
      "fn pad(x: f64[n], y: f64[2 * n]) -> f64[n + 1] = concat(x, [0.0], axis=0)\n"
      "fn f(x: f64[3], y: f64[6]) -> f64[4] = pad(x, y)\n"
      "fn g(x: f64[n], y: f64[_]) -> f64[_] = pad(x, y)\n");
  const std::string text =
      "fn pad(x: f64[n], y: f64[_]) -> f64[_] =\n"
      "  let _ = check_dimension(y, checked_mul(2, size(x, axis=0)), axis=0)\n"
      "  check_dimension(concat(x, [0.0], axis=0), checked_add(size(x, axis=0), 1), axis=0)\n\n"
      "fn f(x: f64[3], y: f64[6]) -> f64[4] = check_shape(pad(x, y), shape=[4])\n\n"
      "fn g(x: f64[n], y: f64[_]) -> f64[_] = pad(x, y)\n";
  EXPECT_EQ(print(module), text);
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Tensors, LongProgramsNeedNoDeepRecursion) {
  EXPECT_EQ(error_of("fn f(a: f32[2, 2]) -> f32[2, 2] = a" + repeat(" @ a", 10'000)), "");
  EXPECT_NE(error_of("fn f(a: f32[2]) -> f32 = a" + repeat("[a", 100'000)).find("expected at most 1000"),
            std::string::npos);
  EXPECT_NE(error_of("fn f(a: f32[" + repeat("(", 100'000)).find("expected at most 1000"), std::string::npos);
  EXPECT_NE(error_of("fn f(a: " + repeat("List[", 100'000)).find("expected at most 1000"), std::string::npos);
  EXPECT_NE(error_of("fn f() -> i64 = " + repeat("grad(", 100'000)).find("fewer gradients"),
            std::string::npos);
}

}  // namespace
}  // namespace hiaton
