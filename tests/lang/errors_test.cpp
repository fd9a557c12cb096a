// Golden messages: the whole text that a person sees.
#include <gtest/gtest.h>

#include "lang/programs.h"

namespace hiaton {
namespace {

struct Case {
  const char* name;
  std::string program;
  const char* message;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class Errors : public testing::TestWithParam<Case> {};

TEST_P(Errors, SayWhereWhatWasExpectedAndWhatWasFound) {
  EXPECT_EQ(error_of(GetParam().program), GetParam().message);
}

const Case kCases[] = {
    {"WrongResultType", "fn f(n: i64) -> f64 =\n  n + 1\n",
     "test.hia:2:3: error: the result of 'f': expected f64, found i64\n"
     " 2 |   n + 1\n"
     "   |   ^^^^^"},
    {"WrongResultOfSeveral", "fn f(n: i64) -> (i64, f64) = (n, n)",
     "test.hia:1:34: error: result 2 of 'f': expected f64, found i64\n"
     " 1 | fn f(n: i64) -> (i64, f64) = (n, n)\n"
     "   |                                  ^"},
    {"UnknownName", "fn f(count: i64) -> i64 = cuont + 1",
     "test.hia:1:27: error: unknown name 'cuont'; did you mean 'count'?\n"
     " 1 | fn f(count: i64) -> i64 = cuont + 1\n"
     "   |                           ^^^^^"},
    {"UnknownFunction", "fn fact(n: i64) -> i64 = fat(n)",
     "test.hia:1:26: error: unknown function 'fat'; did you mean 'fact'?\n"
     " 1 | fn fact(n: i64) -> i64 = fat(n)\n"
     "   |                          ^^^"},
    {"FunctionAsValue", "fn f(n: i64) -> i64 = n + f",
     "test.hia:1:27: error: expected a value, found 'f', which is a function; a call is written f(...)\n"
     " 1 | fn f(n: i64) -> i64 = n + f\n"
     "   |                           ^"},
    {"ValueAsFunction", "fn f(n: i64) -> i64 = n(1)",
     "test.hia:1:23: error: expected a function, found 'n', which is a value\n"
     " 1 | fn f(n: i64) -> i64 = n(1)\n"
     "   |                       ^"},
    {"WrongArity", "fn f(n: i64, x: f64) -> i64 = f(n)",
     "test.hia:1:31: error: 'f' takes 2 arguments, found 1: f(n: i64, x: f64)\n"
     " 1 | fn f(n: i64, x: f64) -> i64 = f(n)\n"
     "   |                               ^^^^"},
    {"WrongArityOfAnOperation", "fn f(x: f64) -> f64 = sqrt(x, x)",
     "test.hia:1:23: error: 'sqrt' takes 1 argument, found 2: sqrt(a)\n"
     " 1 | fn f(x: f64) -> f64 = sqrt(x, x)\n"
     "   |                       ^^^^^^^^^^"},
    {"WrongArgumentType", "fn f(n: i64) -> i64 = f(0.5)",
     "test.hia:1:25: error: argument 1 of 'f': expected i64, found f64\n"
     " 1 | fn f(n: i64) -> i64 = f(0.5)\n"
     "   |                         ^^^"},
    {"DuplicateFunction", "fn f(n: i64) -> i64 = n\nfn f(n: i64) -> i64 = n\n",
     "test.hia:2:4: error: function 'f' is defined twice; the first definition is in line 1\n"
     " 2 | fn f(n: i64) -> i64 = n\n"
     "   |    ^"},
    {"FunctionNamedLikeAType", "fn i32(n: i64) -> i64 = n",
     "test.hia:1:4: error: expected a new name for a function, found 'i32', which is a type\n"
     " 1 | fn i32(n: i64) -> i64 = n\n"
     "   |    ^^^"},
    {"FunctionNamedLikeAKeyword", "fn then(n: i64) -> i64 = n",
     "test.hia:1:4: error: expected the name of the function, found 'then', a keyword\n"
     " 1 | fn then(n: i64) -> i64 = n\n"
     "   |    ^^^^"},
    {"DuplicateParameter", "fn f(n: i64, n: i64) -> i64 = n",
     "test.hia:1:14: error: parameter 'n' is defined twice\n"
     " 1 | fn f(n: i64, n: i64) -> i64 = n\n"
     "   |              ^"},
    {"DuplicateNamesInALet", "fn f(n: i64) -> i64 =\n  let (a, a) = (n, n)\n  a",
     "test.hia:2:11: error: name 'a' is defined twice\n"
     " 2 |   let (a, a) = (n, n)\n"
     "   |           ^"},
    {"DuplicateLoopVariables", "fn f(n: i64) -> (i64, i64) = with i = 0, i = 1 while i < n do (i, i)",
     "test.hia:1:42: error: loop variable 'i' is defined twice\n"
     " 1 | fn f(n: i64) -> (i64, i64) = with i = 0, i = 1 while i < n do (i, i)\n"
     "   |                                          ^"},
    {"OperandTypesDiffer", "fn f(n: i64, x: f64) -> f64 = n * x",
     "test.hia:1:33: error: [*] expected numbers of one type, found i64 and f64; a cast such as f64(a) "
     "converts, and a name that begins as 0.0 is a float\n"
     " 1 | fn f(n: i64, x: f64) -> f64 = n * x\n"
     "   |                                 ^"},
    {"WrongOperandType", "fn f(n: i64) -> i64 = sqrt(n)",
     "test.hia:1:23: error: [sqrt] expected f32 or f64, found i64; f64(n) makes a float of an integer\n"
     " 1 | fn f(n: i64) -> i64 = sqrt(n)\n"
     "   |                       ^^^^^^^"},
    {"NotOfANumber", "fn f(n: i64) -> bool = not n",
     "test.hia:1:24: error: [not] expected bool, found i64\n"
     " 1 | fn f(n: i64) -> bool = not n\n"
     "   |                        ^^^"},
    {"AndOfANumber", "fn f(n: i64) -> bool = n < 1 and n",
     "test.hia:1:34: error: operand of 'and': expected bool, found i64\n"
     " 1 | fn f(n: i64) -> bool = n < 1 and n\n"
     "   |                                  ^"},
    {"AndOfTensors", "fn f(a: bool[2], b: bool) -> bool = b and a",
     "test.hia:1:43: error: operand of 'and': expected bool, found bool[2]; of tensors, write and(a, b)\n"
     " 1 | fn f(a: bool[2], b: bool) -> bool = b and a\n"
     "   |                                           ^"},
    {"ConditionIsNoBool", "fn f(n: i64) -> i64 = if n then 1 else 2",
     "test.hia:1:26: error: the condition of 'if': expected bool, found i64\n"
     " 1 | fn f(n: i64) -> i64 = if n then 1 else 2\n"
     "   |                          ^"},
    {"BranchesDifferInType", "fn f(c: bool, n: i64) -> i64 = if c then n else 0.5",
     "test.hia:1:32: error: the branches of 'if' differ: i64 after 'then', f64 after 'else'\n"
     " 1 | fn f(c: bool, n: i64) -> i64 = if c then n else 0.5\n"
     "   |                                ^^"},
    {"BranchesDifferInNumber", "fn f(c: bool, n: i64) -> i64 = if c then n else (n, n)",
     "test.hia:1:32: error: the branches of 'if' differ: 1 value after 'then', 2 values after 'else'\n"
     " 1 | fn f(c: bool, n: i64) -> i64 = if c then n else (n, n)\n"
     "   |                                ^^"},
    {"LoopStateChangesItsType",
     "fn f(n: i64) -> (i64, i64) =\n  with i = 0, x = 1 while i < n do (i + 1, 0.5)",
     "test.hia:2:44: error: the next value of 'x': expected i64, found f64\n"
     " 2 |   with i = 0, x = 1 while i < n do (i + 1, 0.5)\n"
     "   |                                            ^^^"},
    {"LoopStateChangesItsSize", "fn f(n: i64) -> (i64, i64) =\n  with i = 0, x = 1 while i < n do i + 1",
     "test.hia:2:36: error: the next values of the loop: expected 2 values, one for each loop variable, "
     "found 1 "
     "value\n"
     " 2 |   with i = 0, x = 1 while i < n do i + 1\n"
     "   |                                    ^^^^^"},
    {"LoopConditionIsNoBool", "fn f(n: i64) -> i64 = with i = 0 while n do i",
     "test.hia:1:40: error: the condition of 'while': expected bool, found i64\n"
     " 1 | fn f(n: i64) -> i64 = with i = 0 while n do i\n"
     "   |                                        ^"},
    {"ForCountsIntegersOnly", "fn f(n: f64) -> i64 = with s = 0 for i in 0..n do s",
     "test.hia:1:46: error: a bound of 'for': expected an integer, found f64\n"
     " 1 | fn f(n: f64) -> i64 = with s = 0 for i in 0..n do s\n"
     "   |                                              ^"},
    {"ForBoundsDiffer", "fn f(n: i64, m: i32) -> i64 = with s = 0 for i in n..m do s",
     "test.hia:1:54: error: the bounds of 'for' differ in type: expected i64, found i32\n"
     " 1 | fn f(n: i64, m: i32) -> i64 = with s = 0 for i in n..m do s\n"
     "   |                                                      ^"},
    {"TupleWhereOneValueIsWanted", "fn f(n: i64) -> i64 = n + (n, n)",
     "test.hia:1:25: error: [+] expected numbers of one type, found i64 and (i64, i64)\n"
     " 1 | fn f(n: i64) -> i64 = n + (n, n)\n"
     "   |                         ^"},
    {"CallOfSeveralWhereOneIsWanted", "fn d(n: i64) -> (i64, i64) = (n, n)\nfn f(n: i64) -> i64 = f(d(n))",
     "test.hia:2:25: error: argument 1 of 'f': expected i64, found (i64, i64)\n"
     " 2 | fn f(n: i64) -> i64 = f(d(n))\n"
     "   |                         ^^^^"},
    {"OneValueWhereSeveralAreWanted", "fn f(n: i64) -> (i64, i64) = n",
     "test.hia:1:30: error: expected 2 values, found 1 value\n"
     " 1 | fn f(n: i64) -> (i64, i64) = n\n"
     "   |                              ^"},
    {"LetOfTheWrongNumber", "fn f(n: i64) -> i64 =\n  let (a, b, c) = (n, n)\n  a",
     "test.hia:2:19: error: expected 3 values for the names after 'let', found 2 values\n"
     " 2 |   let (a, b, c) = (n, n)\n"
     "   |                   ^^^^^^"},
    {"LetOfTheWrongType", "fn f(n: i64) -> i64 =\n  let a: f64 = n\n  n",
     "test.hia:2:16: error: the value of 'a': expected f64, found i64\n"
     " 2 |   let a: f64 = n\n"
     "   |                ^"},
    {"IntegerOutOfRange", "fn f() -> i64 = 9223372036854775808",
     "test.hia:1:17: error: expected a value of type i64, found 9223372036854775808, which is out of its "
     "range\n"
     " 1 | fn f() -> i64 = 9223372036854775808\n"
     "   |                 ^^^^^^^^^^^^^^^^^^^"},
    {"IntegerOutOfRangeOfItsContext", "fn f(n: i32) -> i32 = n + 3000000000",
     "test.hia:1:27: error: expected a value of type i32, found 3000000000, which is out of its range\n"
     " 1 | fn f(n: i32) -> i32 = n + 3000000000\n"
     "   |                           ^^^^^^^^^^"},
    {"FloatOutOfRange", "fn f() -> f32 = 1e39",
     "test.hia:1:17: error: expected a value of type f32, found 1e39, which is out of its range\n"
     " 1 | fn f() -> f32 = 1e39\n"
     "   |                 ^^^^"},
    {"FloatWithIntegerSuffix", "fn f() -> i32 = 1.5i32",
     "test.hia:1:17: error: expected an integer before the suffix i32, found '1.5'\n"
     " 1 | fn f() -> i32 = 1.5i32\n"
     "   |                 ^^^^^^"},
    {"NumberWithUnknownSuffix", "fn f() -> i32 = 3u9",
     "test.hia:1:17: error: expected a number, perhaps with the suffix u8, i32, i64, f32 or f64, found "
     "'3u9'\n"
     " 1 | fn f() -> i32 = 3u9\n"
     "   |                 ^^^"},
    {"ByteOutOfRange", "fn f(n: u8) -> u8 = n + 256",
     "test.hia:1:25: error: expected a value of type u8, found 256, which is out of its range\n"
     " 1 | fn f(n: u8) -> u8 = n + 256\n"
     "   |                         ^^^"},
    {"ByteBelowItsRange", "fn f(n: u8) -> u8 = -1",
     "test.hia:1:21: error: expected a value of type u8, found -1, which is out of its range\n"
     " 1 | fn f(n: u8) -> u8 = -1\n"
     "   |                     ^^"},
    {"NumberWithoutDigitsAfterThePoint", "fn f() -> f64 = 1. + 2.0",
     "test.hia:1:17: error: expected digits after the point of a number\n"
     " 1 | fn f() -> f64 = 1. + 2.0\n"
     "   |                 ^^"},
    {"NumberWithoutDigitsBeforeThePoint", "fn f() -> f64 = .5",
     "test.hia:1:17: error: expected a token of the language, found the character '.'; write a digit before "
     "the "
     "point\n"
     " 1 | fn f() -> f64 = .5\n"
     "   |                 ^"},
    {"UnknownCharacter", "fn f(a: bool) -> bool = a && a",
     "test.hia:1:27: error: expected a token of the language, found the character '&'; logic is written "
     "'and', "
     "'or', 'not'\n"
     " 1 | fn f(a: bool) -> bool = a && a\n"
     "   |                           ^^"},
    {"CaretAsPower", "fn f(x: f64) -> f64 = x ^ 2",
     "test.hia:1:25: error: expected a token of the language, found the character '^'; a power is written "
     "pow(x, 2)\n"
     " 1 | fn f(x: f64) -> f64 = x ^ 2\n"
     "   |                         ^"},
    {"StarsAsPower", "fn f(x: f64) -> f64 = x ** 2",
     "test.hia:1:25: error: expected a token of the language, found the character '*'; a power is written "
     "pow(x, 2)\n"
     " 1 | fn f(x: f64) -> f64 = x ** 2\n"
     "   |                         ^^"},
    {"UnknownUnicodeCharacter", "fn f(ä: i64) -> i64 = 1",
     "test.hia:1:6: error: expected a token of the language, found the character 'ä' (U+00E4)\n"
     " 1 | fn f(ä: i64) -> i64 = 1\n"
     "   |      ^"},
    {"NoBreakSpace", "fn f() -> i64 =\u00A01",
     "test.hia:1:16: error: expected a token of the language, found the character '\u00A0' (U+00A0)\n"
     " 1 | fn f() -> i64 =\u00A01\n"
     "   |                ^"},
    {"ColumnsBehindAByteOrderMark", "\uFEFFfn f() -> i64 = n",
     "test.hia:1:17: error: unknown name 'n'\n"
     " 1 | fn f() -> i64 = n\n"
     "   |                 ^"},
    {"InvalidUtf8", "fn f() -> i64 = 1 # \xFF\xFE\n",
     "test.hia:1:21: error: expected UTF-8 text, found the byte 0xff\n"
     " 1 | fn f() -> i64 = 1 # ??\n"
     "   |                     ^"},
    {"UnterminatedString", "fn f() -> i64 on \"worker = 1\n",
     "test.hia:1:18: error: expected a closing '\"' on the same line\n"
     " 1 | fn f() -> i64 on \"worker = 1\n"
     "   |                  ^^^^^^^^^^^"},
    {"UnterminatedParenthesis", "fn f(n: i64) -> i64 = (n + 1\n",
     "test.hia:2:1: error: expected an operator, ',' or ')', found the end of the program; the '(' at "
     "test.hia:1:23 is not closed\n"
     " 2 | \n"
     "   | ^"},
    {"TheInnermostParenthesisIsNamed", "fn f(n: i64) -> i64 = (n + (n - (1)\nfn g() -> i64 = 1",
     "test.hia:2:1: error: expected an operator, ',' or ')', found 'fn'; the '(' at test.hia:1:28 is not "
     "closed\n"
     " 2 | fn g() -> i64 = 1\n"
     "   | ^^"},
    {"LinesOneAfterTheOther", "fn f(n: i64) -> i64 =\n  g(n)\n  n",
     "test.hia:3:3: error: expected an operator, 'fn' or the end of the program, found the name 'n'; a "
     "function "
     "is one expression, and values that it needs before get names by 'let'\n"
     " 3 |   n\n"
     "   |   ^"},
    {"AFunctionOfTheLibrary", "fn f(xs: List[i64]) -> i64 = length(xs)",
     "test.hia:1:37: error: argument 1 of 'length': expected str, found List[i64]; import \"std/list\" "
     "brings "
     "one for lists\n"
     " 1 | fn f(xs: List[i64]) -> i64 = length(xs)\n"
     "   |                                     ^^"},
    {"AFunctionOfOtherLanguages", "fn f(n: i64) -> i64 = println(n)",
     "test.hia:1:23: error: unknown function 'println'; print(x) prints a value and gives it on\n"
     " 1 | fn f(n: i64) -> i64 = println(n)\n"
     "   |                       ^^^^^^^"},
    {"UnterminatedIf", "fn f(n: i64) -> i64 = if n < 1 then 2\nfn g() -> i64 = 1",
     "test.hia:2:1: error: expected an operator or 'else' (an 'if' is a value, which both branches give), "
     "found "
     "'fn'\n"
     " 2 | fn g() -> i64 = 1\n"
     "   | ^^"},
    {"EmptyProgram", "",
     "test.hia:1:1: error: expected a function ('fn name(parameters) -> type = expression'), found the end "
     "of the "
     "program\n"
     " 1 | \n"
     "   | ^"},
    {"OnlyComments", "# nothing",
     "test.hia:1:10: error: expected a function ('fn name(parameters) -> type = expression'), found the end "
     "of the "
     "program\n"
     " 1 | # nothing\n"
     "   |          ^"},
    {"AssignmentInsteadOfEquality", "fn f(n: i64) -> i64 = if n = 1 then 2 else 3",
     "test.hia:1:28: error: expected an operator or 'then', found '='; equality is written '=='\n"
     " 1 | fn f(n: i64) -> i64 = if n = 1 then 2 else 3\n"
     "   |                            ^"},
    {"ChainedComparison", "fn f(n: i64) -> bool = 0 < n < 9",
     "test.hia:1:30: error: expected one comparison, found a second one: '<' and '<' do not chain; join two "
     "with "
     "'and'\n"
     " 1 | fn f(n: i64) -> bool = 0 < n < 9\n"
     "   |                              ^"},
    {"ParenthesisAtLineStart", "fn f(n: i64) -> i64 = f\n  (n)",
     "test.hia:2:3: error: expected 'fn' or the end of the program (a line that starts with '(' does not "
     "continue "
     "the line before), found '('\n"
     " 2 |   (n)\n"
     "   |   ^"},
    {"LetWithoutBody", "fn f(n: i64) -> i64 =\n  let a = n\n\nfn g() -> i64 = 1",
     "test.hia:4:1: error: expected the expression that the 'let' before is for, found 'fn'; a function "
     "ends with the expression that is its result\n"
     " 4 | fn g() -> i64 = 1\n"
     "   | ^^"},
    {"SymbolInAComputedDimension", "fn f(x: f32[2*d, e]) -> i64 = 1",
     "test.hia:1:15: error: expected a size, or a symbol that is a dimension of a parameter by itself, found "
     "'d'; a size is declared by a line 'size d = ...'\n"
     " 1 | fn f(x: f32[2*d, e]) -> i64 = 1\n"
     "   |               ^"},
    {"UnknownType", "fn f(x: float, y: i46) -> i64 = y",
     "test.hia:1:9: error: expected a type (bool, u8, i32, i64, f32, f64, str, List[...] or a data type), "
     "found "
     "'float'; floats are f64 or f32\n"
     " 1 | fn f(x: float, y: i46) -> i64 = y\n"
     "   |         ^^^^^\n"
     "test.hia:1:19: error: expected a type (bool, u8, i32, i64, f32, f64, str, List[...] or a data type), "
     "found "
     "'i46'; did you mean 'i64'?\n"
     " 1 | fn f(x: float, y: i46) -> i64 = y\n"
     "   |                   ^^^"},
    {"NoResult", "fn f(x: i64) -> () = x",
     "test.hia:1:18: error: expected the type of at least one result, found ')'\n"
     " 1 | fn f(x: i64) -> () = x\n"
     "   |                  ^"},
    {"MatchWithoutArms", "fn f(x: i64) -> i64 = match x",
     "test.hia:1:30: error: expected an operator or an arm ('Variant(names) -> expression' or '_ -> "
     "expression'), found the end of the program\n"
     " 1 | fn f(x: i64) -> i64 = match x\n"
     "   |                              ^"},
    {"TabsKeepTheCaretInPlace", "fn f(x: i64) -> i64 =\n\tx +\ty\n",
     "test.hia:2:6: error: unknown name 'y'\n"
     " 2 | \tx +\ty\n"
     "   | \t   \t^"},
};

INSTANTIATE_TEST_SUITE_P(Messages, Errors, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& info) {
                           return std::string(info.param.name);
                         });

TEST(ManyErrors, AreReportedInOneGoInTheOrderOfTheText) {
  const std::string message = error_of(
      "fn a(n: i64) -> i64 = nn\n"
      "fn b(n: i64) -> i64 = (n + \n"
      "fn c(n: i64) -> f64 =\n"
      "  let x = n +\n"
      "  let y = zz\n"
      "  y + n\n"
      "fn d(n: i64) -> i64 = c(n)\n");
  EXPECT_EQ(
      message,
      "test.hia:1:23: error: unknown name 'nn'; did you mean 'n'?\n"
      " 1 | fn a(n: i64) -> i64 = nn\n"
      "   |                       ^^\n"
      "test.hia:3:1: error: expected an expression, found 'fn'\n"
      " 3 | fn c(n: i64) -> f64 =\n"
      "   | ^^\n"
      "test.hia:5:3: error: expected an expression (a 'let' inside an expression stands in parentheses), "
      "found 'let'\n"
      " 5 |   let y = zz\n"
      "   |   ^^^\n"
      "test.hia:5:11: error: unknown name 'zz'\n"
      " 5 |   let y = zz\n"
      "   |           ^^\n"
      "test.hia:7:23: error: the result of 'd': expected i64, found f64\n"
      " 7 | fn d(n: i64) -> i64 = c(n)\n"
      "   |                       ^^^^");
}

TEST(ManyErrors, OneCauseGivesOneFinding) {
  const char* programs[] = {
      "fn f(n: i64) -> i64 =\n  let a = nn + 1\n  let b = a * 2\n  if b < a then a else b + sqrt(a)\n",
      "fn f(n: oops) -> i64 =\n  let a = n + 1.5\n  f(a)\n",
      "fn g(n: i64) -> oops = n\nfn f(n: i64) -> i64 = g(n) + 1\n",
      "fn g(n) -> i64 = n\nfn f(n: i64) -> i64 = g(n, 1) + 1\n",
      "fn f(n: i64) -> (i64, i64) = with a = oops, i = 0 while a < n and i < n do (a + 1.5, i + a)\n",
      "fn f(n: i64) -> i64 = with a = 0 for i in 0..oops do a + i\n",
      "fn f(n: i64) -> i64 =\n  let (a, b) = oops(n)\n  a + b\n",
      "fn f(n: i64) -> i64 =\n  let (a, b = (n, n)\n  let c = a + b\n  c\n",
      "fn f(n: i64) -> (i64, i64) = if oops then (n, n) else (n, n)\n",
      "size d = oops\nsize e = 2 * d\nfn f(x: f32[d, 2 * d + e]) -> f32[d] = f(x) * f32(d)\n",
      "size d = (1\nfn f(x: f32[d]) -> i64 = d\n",
      "param W: i64[2]\nfn f() -> i64[2] = W + param W\n",
      "param W: f32[2] = oops\nfn f() -> f32[2] = W\n",
      "data tree = Leaf(n: i64)\nfn f(t: tree) -> tree = match t Leaf(n) -> Leaf(n + 1)\n",
      "data Tree = Leaf(n: i64) | Node(Tree)\nfn f(t: Tree) -> Tree = match t Leaf(n) -> Node(t)\n",
      "fn g(n: i64) -> i64 = n\nfn f() -> i64 = g(n=3)\n",
  };
  for (const char* program : programs) {
    try {
      parse(program);
      ADD_FAILURE() << program;
    } catch (const ProgramError& error) {
      EXPECT_EQ(error.diagnostics().size(), 1u) << error.what();
    }
  }
}

TEST(ManyErrors, WhatIsNoTailIsReadOnce) {
  try {
    parse("fn g(n: i64) -> i64 = n\nfn f() -> List[i64] =\n  let a = Cons(1, g(oops))\n  a\n");
    FAIL();
  } catch (const ProgramError& error) {
    EXPECT_EQ(error.diagnostics().size(), 2u) << error.what();
  }
}

TEST(ManyErrors, OnlyTheFirstAreShown) {
  const std::string message = error_of(repeat("fn f(n: i64) -> i64 = a + b\n", 1000));
  EXPECT_EQ(std::count(message.begin(), message.end(), '^'), 20);
  EXPECT_TRUE(message.ends_with("\ntest.hia: 2979 more errors")) << message;
}

TEST(ManyErrors, DiagnosticsCarryTheirPlaces) {
  try {
    parse("fn f(n: i64) -> i64 = m");
    FAIL();
  } catch (const ProgramError& error) {
    ASSERT_EQ(error.diagnostics().size(), 1u);
    EXPECT_EQ(error.diagnostics()[0].span, (Span{22, 23}));
    EXPECT_EQ(error.diagnostics()[0].message, "unknown name 'm'");
  }
}

TEST(LongNames, AreCutInMessages) {
  const std::string name = repeat("x", 100'000);
  const std::string message = error_of("fn f(n: i64) -> i64 = " + name);
  EXPECT_EQ(message.find("test.hia:1:23: error: unknown name 'xxx"), 0u) << message.substr(0, 100);
  EXPECT_LT(message.size(), 2000u);
}

TEST(LongLines, AreCutAroundThePlace) {
  const std::string message = error_of(with_body(repeat("n + ", 1000) + "m" + repeat(" + n", 1000)));
  const std::size_t line = message.find("\n 1 | ") + 6;
  const std::size_t marks = message.find("\n   | ") + 6;
  ASSERT_NE(message.find('^'), std::string::npos);
  EXPECT_EQ(message[line + message.find('^') - marks], 'm') << message;
  EXPECT_LT(marks - line, 140u);
}

}  // namespace
}  // namespace hiaton
