// What messages say of programs that were meant otherwise.
#include "lang/message_case.h"

namespace hiaton {
namespace {

class Hints : public testing::TestWithParam<MessageCase> {};

TEST_P(Hints, SayWhatIsWrittenInstead) {
  expect_message(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Hints,
    testing::Values(
        MessageCase{"AnAttributeThatTheRunKnows", "fn f(n: i64) -> f32[_] = normal(1, shape=[n])\n",
                    "found 'n', which only the run knows; x[n:], range(n) and zeros(n) take such a number"},
        MessageCase{"AnAttributeByALet", "fn f(x: f64[3]) -> f64[_] =\n  let k = 1\n  top_k(x, k=k)\n",
                    "found 'k', which only the run knows"},
        MessageCase{"AnAttributeWithoutAnyMeaning", "fn f(x: f64[3]) -> f64[_] = top_k(x, k=count)\n",
                    "found 'count'; a size is declared by a line 'size count = ...'"},
        MessageCase{"ASizeThatTheRunKnows", "fn f(n: i64) -> f64[n + 1] = zeros(n + 1)\n",
                    "found 'n', which only the run knows; '_' stands for any size"},
        MessageCase{"AWordOfAnotherLanguage", "def f(n: i64) -> i64 = n\n",
                    "expected a declaration, found 'def'; a function begins with 'fn'"},
        MessageCase{"AnImportWithoutQuotes", "import std/list\nfn f(n: i64) -> i64 = n\n",
                    "expected a declaration, found 'import'; the name of a file stands in quotes: import "
                    "\"std/list\""},
        MessageCase{
            "WhatIsNoDeclaration", "3\n",
            "expected a declaration ('fn', 'data', 'param', 'size', 'const', 'type' or 'import'), found the "
            "number 3"},
        MessageCase{
            "AVariableOfALoop",
            "data Option[T] = None | Some(value: T)\nfn f(n: i64) -> i64 = (let b = with b = None "
            "for i in 0..n do b in n)\n",
            "expected the type of 'b', which nothing here tells; it is written b: Option[...] = None"},
        MessageCase{"AListOfALoop", "fn f(n: i64) -> List[i64] = with xs = [] for i in 0..n do xs\n",
                    "it is written xs: List[...] = []"},
        MessageCase{"PrintOnALineOfItsOwn", "fn f(n: i64) -> i64 =\n  print(n)\n  n\n", "let _ = print(x)"},
        MessageCase{"PartsOfATuple", "fn f(n: i64) -> i64 = (let p = (n, n) in p.0)\n",
                    "the parts of a tuple get names by let (a, b) = ..."},
        MessageCase{
            "ALambdaThatCallsItself",
            "fn f(n: i64) -> i64 =\n  let fact = fn(k: i64) -> if k == 0 then 1 else k * fact(k - 1)\n  "
            "fact(n)\n",
            "unknown function 'fact'; a function that calls itself is written let fn fact("},
        MessageCase{"CodePointsAreNoStrings", "fn f(s: str) -> str = s[0] + s[1]\n",
                    "expected str, found i64; s[i:i + 1] is a part of a string"},
        MessageCase{"ANumberIsNoString", "fn f(n: i64) -> f64 = n\n", "expected f64, found i64\n"},
        MessageCase{
            "ATensorForAList",
            "fn f[T](xs: List[T]) -> i64 = 1\nfn g() -> i64 = (let xs = [1, 2] in f(xs))\n",
            "expected List[T], found i64[2]; numbers in brackets are a tensor where no list is wanted: let "
            "xs: "
            "List[i64] = [...] is a list"},
        MessageCase{"TheSumOfAList", "fn f(xs: List[i64]) -> i64 = sum(xs)\n",
                    "fold(add, 0, xs) is the sum of a list"},
        MessageCase{"MissingLists",
                    "fn f(xs: List[i64]) -> i64 = match xs [] -> 0 [_] -> 1 [_, _, _, ..] -> 2\n",
                    "this 'match' has no arm for [_, _]\n"},
        MessageCase{"MissingRests", "fn f(xs: List[i64]) -> i64 = match xs [] -> 0 [3, ..] -> 1\n",
                    "this 'match' has no arm for [0, ..]\n"},
        MessageCase{
            "OperationsOfOpenTypes",
            "fn curry[A, B, C](f: fn(A, B) -> C) -> fn(A) -> fn(B) -> C = fn(a) -> fn(b) -> f(a, b)\n"
            "fn f(n: i64) -> i64 = curry(add)(n)(2)\n",
            "expected the types of what 'add' takes, which nothing here tells; fn(x: i64, ...) -> add(x, "
            "...)"},
        MessageCase{"AnotherBranch", "fn f(n: i64) -> i64 = if n > 1 then 2 elif n > 0 then 1 else 0\n",
                    "found the name 'elif'; 'else if' begins another branch"},
        MessageCase{"TruthInAnotherLanguage", "fn f() -> bool = True\n",
                    "unknown name 'True'; it is written true"},
        MessageCase{"AnotherNameOfAType", "fn f(n: float) -> f64 = n\n",
                    "or a data type), found 'float'; floats are f64 or f32"},
        MessageCase{"ATypeThatIsLeftOpen", "fn f(x: T) -> i64 = 1\n",
                    "found 'T'; a type that is left open stands behind the name: fn f[T](...)"},
        MessageCase{"TheTypeOfAList", "fn f(xs: [i64]) -> i64 = 1\n", "a list of integers is List[i64]"},
        MessageCase{"CasesOfAnotherLanguage", "fn f(n: i64) -> i64 = case n of 1 -> 2\n",
                    "'match' tells values apart"},
        MessageCase{"AVariantOfTheLibrary", "fn f(n: i64) -> i64 = (let x = Some(n) in n)\n",
                    "unknown function 'Some'; import \"std/option\" brings one"},
        MessageCase{"AVariantWithoutFieldsOfTheLibrary", "fn f(n: i64) -> i64 = (let x = MapTip in n)\n",
                    "unknown name 'MapTip'; import \"std/map\" brings one"},
        MessageCase{"ALoopWithoutVariables", "fn f(n: i64) -> i64 = for i in 0..n do i\n",
                    "found 'for'; a loop gives a value: with sum = 0 for i in 0..n do sum + i"},
        MessageCase{"AFunctionBehindAPoint", "fn f(xs: List[i64]) -> List[i64] = xs.map(fn(x: i64) -> x)\n",
                    "a List[i64] has no field 'map'; 'map' is a function, which stands in front: map(...)"},
        MessageCase{"AnAssignmentWithAnOperation", "fn f(n: i64) -> i64 = n += 1\n",
                    "found '='; nothing is assigned: another value gets a name by 'let'"},
        MessageCase{"AFunctionWithoutFn",
                    "fn f(n: i64) -> i64 =\n  let twice(x: i64) -> i64 = 2 * x\n  twice(n)\n",
                    "found '('; a function inside another one is written: let fn name(x: i64) -> i64 = ..."},
        MessageCase{"ALetOfTheProgram", "let limit = 3\nfn f() -> i64 = limit\n",
                    "found 'let'; a name that all functions see is a constant: const name: i64 = ..."},
        MessageCase{"ALetBehindAFunction", "fn f() -> i64 = 1\nlet limit = 3\n",
                    "found 'let'; a name that all functions see is a constant: const name: i64 = ..."},
        MessageCase{"AParameterThatBeginsByACall", "param w: f64[2] = zeros()\nfn f() -> f64 = sum(w)\n",
                    "found '('; zeros and ones take no arguments: param w: f64[2] = zeros"},
        MessageCase{"SingleQuotes", "fn f() -> str = 'a'\n", "strings stand in double quotes"},
        MessageCase{"Braces", "fn f(n: i64) -> i64 { n }\n", "a function is one expression behind '='"},
        MessageCase{"Semicolons", "fn f(n: i64) -> i64 = let x = n; x\n",
                    "a new line, or 'in', ends the value of a 'let'"},
        MessageCase{"AnIndexFromTheEnd", "fn f(x: f64[3]) -> f64 = x[-1]\n",
                    "test.hia:1:28: error: expected an index of 0 or more, found -1; places count from the "
                    "beginning: the last "
                    "one of n is n - 1"},
        MessageCase{"AnIndexFromTheEndOfARow", "fn f(x: f64[3, 2]) -> f64[3] = x[:, -1]\n",
                    "expected an index of 0 or more, found -1"},
        MessageCase{"ARangeFromTheEnd", "fn f(x: f64[n]) -> f64[_] = x[1:-1]\n",
                    "found 1:-1; places count from the beginning: x[i:n - 1] ends before the last one"},
        MessageCase{"ACaseThatDiffers", "param W: f32[2]\nfn f(x: f32[2]) -> f32[2] = x * w\n",
                    "unknown name 'w'; did you mean 'W'?"},
        MessageCase{
            "AMethodOfAList", "fn f(xs: List[i64]) -> i64 = xs.length()\n",
            "expected a value of a data type before '.length', found List[i64]; length(xs) of \"std/list\""},
        MessageCase{"AnAttributeOfATensor", "fn f(x: f64[n]) -> i64 = x.shape\n",
                    "found f64[n]; size(x, axis=0) is the size of a tensor along an axis"},
        MessageCase{"ATypeOfTheLibrary", "fn f(m: Map[str, i64]) -> i64 = 1\n",
                    "found 'Map'; import \"std/map\" brings one"},
        MessageCase{
            "AStruct", "struct Point\nfn f() -> i64 = 1\n",
            "expected a declaration, found 'struct'; a data type is written data Point = Point(x: f64, y: "
            "f64)"},
        MessageCase{"AChoiceAsInC", "fn f(n: i64) -> i64 = n > 0 ? 1 : 2\n",
                    "a choice is written if c then a else b"},
        MessageCase{"AChoiceAsInPython", "fn f(n: i64) -> i64 = 1 if n > 0 else 2\n",
                    "found 'if'; a choice is written if c then a else b"},
        MessageCase{"APlaceBehindAnExpression", "fn f(x: f64) -> f64 = sin(x) on \"process:1\"\n",
                    "found 'on'; where an expression runs stands before it: on \"NAME\" expression"},
        MessageCase{"ADivisionWithTwoSlashes", "fn f(n: i64) -> i64 = n // 2\n",
                    "'/' of integers rounds toward zero"},
        MessageCase{"AShift", "fn f(n: i64) -> i64 = n >> 2\n",
                    "bits are moved by bitwise_left_shift(x, n) and bitwise_right_shift(x, n)"},
        MessageCase{"ATypedPattern",
                    "fn f(xs: List[(i64, i64)]) -> List[i64] = map(fn((a, b): (i64, i64)) -> a + b, xs)\n",
                    "found ':'; names in parentheses take no type: fn((a, b)) -> a + b"},
        MessageCase{"AnArrowOfTwoStrokes", "fn f(xs: List[i64]) -> List[i64] = map(x => x + 1, xs)\n",
                    "'->' stands in arms and in functions without a name"},
        MessageCase{"ALambdaBetweenBars", "fn f(xs: List[i64]) -> List[i64] = map(|x| x + 1, xs)\n",
                    "found '|'; a function without a name is written fn(x) -> x + 1"},
        MessageCase{"AMatchWithBars", "data T = A | B\nfn f(t: T) -> i64 = match t with | A -> 1 | B -> 2\n",
                    "the arms follow what is matched: match t A -> 1 B -> 2"},
        MessageCase{"ALoopAlongAList", "fn f(xs: List[i64]) -> i64 = with s = 0 for x in xs do s + x\n",
                    "along a list goes fold(fn(sum, x) -> sum + x, 0, xs)"},
        MessageCase{"AParameterWithAValue", "fn f(n: i64 = 2) -> i64 = n\n",
                    "found '='; a call gives all of the arguments"},
        MessageCase{"TheMaximumOfATensor", "fn f(x: f64[3]) -> f64 = max(x)\n",
                    "'max' takes 2 arguments, found 1: max(a, b); reduce_max(x) is that of a tensor"},
        MessageCase{"AListTimesANumber", "fn f(xs: List[f64]) -> List[f64] = xs * 2\n",
                    "map(fn(x) -> ..., xs) gives what becomes of each element of a list"},
        MessageCase{"SeveralValuesWithoutParentheses", "fn f(n: i64) -> (i64, i64) = n, n\n",
                    "several values stand in parentheses: (a, b)"},
        MessageCase{"NormalWithAMean", "param w: f32[2] = normal(1, 2)\nfn f() -> i64 = 1\n",
                    "normal(s) is of mean 0 and standard deviation s"},
        MessageCase{"AVariable", "fn f(n: i64) -> i64 =\n  var m = n\n  m\n", "a value gets a name by 'let'"},
        MessageCase{"AnAssertion", "fn f(n: i64) -> i64 =\n  assert n > 0\n  n\n",
                    "a condition that must hold is written let _ = assume(condition, id=1)"},
        MessageCase{"APrefixOfOperations", "fn f(x: f64) -> f64 = np.tanh(x)\n",
                    "unknown name 'np'; operations have no prefix: tanh(x)"},
        MessageCase{"TheUserOfTheLibrary",
                    "import \"std/list\"\nfn f(xs: List[List[i64]]) -> List[List[i64]] =\n  sort(xs)\n",
                    "(where T = List[i64], used at test.hia:3:3)"}),
    name_of_message);

}  // namespace
}  // namespace hiaton
