// What programs become: each is compared with its printed form, in which every type and placement is
// explicit.
#include <gtest/gtest.h>

#include "lang/programs.h"

namespace hiaton {
namespace {

struct ParseCase {
  const char* name;
  const char* program;
  const char* printed;
};

void PrintTo(const ParseCase& c, std::ostream* out) {
  *out << c.name;
}

class Parse : public testing::TestWithParam<ParseCase> {};

TEST_P(Parse, GivesTheExpectedFunctions) {
  EXPECT_EQ(print(parse(GetParam().program)), GetParam().printed);
}

TEST_P(Parse, PrintedTextParsesBackToAnEqualModule) {
  const ir::Module module = parse(GetParam().program);
  const std::string text = print(module);
  const ir::Module again = parse(text);
  EXPECT_TRUE(equal(module, again));
  EXPECT_EQ(print(again), text);
}

const ParseCase kParseCases[] = {
    {"Recursion", "fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1)",
     "fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1)\n"},
    {"CallsBeforeDefinition",
     "fn main(n: i64) -> bool = even(n)\n"
     "fn even(n: i64) -> bool = if n == 0 then true else odd(n - 1)\n"
     "fn odd(n: i64) -> bool = if n == 0 then false else even(n - 1)\n",
     "fn main(n: i64) -> bool = even(n)\n\n"
     "fn even(n: i64) -> bool = if n == 0 then true else odd(n - 1)\n\n"
     "fn odd(n: i64) -> bool = if n == 0 then false else even(n - 1)\n"},
    {"SeveralResults", "fn divmod(a: i64, b: i64) -> (i64, i64) = (a / b, a % b)",
     "fn divmod(a: i64, b: i64) -> (i64, i64) = (a / b, a % b)\n"},
    {"LetTakesResultsApart",
     "fn d(a: i64) -> (i64, i64) = (a, a)\n"
     "fn f(a: i64) -> i64 =\n  let (q, _) = d(a)\n  let x: i64 = q * 2 in x\n",
     "fn d(a: i64) -> (i64, i64) = (a, a)\n\n"
     "fn f(a: i64) -> i64 =\n  let (q, _) = d(a)\n  q * 2\n"},
    {"Precedence", "fn f(a: i64, b: bool) -> bool = b or not a + 2 * -a % 3 < a - 1 - 2 and b",
     "fn f(a: i64, b: bool) -> bool = "
     "if b then true else if not a + 2 * -a % 3 < a - 1 - 2 then b else false\n"},
    {"OperatorsAssociateToTheLeft", "fn f(a: i64) -> i64 = a - a - (a - a) / a / a",
     "fn f(a: i64) -> i64 = a - a - (a - a) / a / a\n"},
    {"OperatorAtLineStartContinues", "fn f(a: i64) -> i64 = a\n  + a\n  - 1\n",
     "fn f(a: i64) -> i64 = a + a - 1\n"},
    {"ParenthesisAtLineStartDoesNot", "fn f(a: i64) -> (i64, i64) =\n  let b = a\n  (b, a)\n",
     "fn f(a: i64) -> (i64, i64) = (a, a)\n"},
    {"LiteralsTakeTheTypeOfTheOtherOperand",
     "fn f(x: f32, i: i32) -> (f32, i32, bool) = (2 * x, i - 1, 0.5 < x)",
     "fn f(x: f32, i: i32) -> (f32, i32, bool) = (2.0f32 * x, i - 1i32, 0.5f32 < x)\n"},
    {"LiteralsTakeTheTypeOfAParameter", "fn g(x: f32) -> f32 = x\nfn f() -> f32 = g(1)\n",
     "fn g(x: f32) -> f32 = x\n\nfn f() -> f32 = g(1.0f32)\n"},
    {"LiteralsTakeTheTypeOfTheResult", "fn f() -> (f32, i32, f64) = (1, -2, 3)",
     "fn f() -> (f32, i32, f64) = (1.0f32, -2i32, 3.0)\n"},
    {"LiteralsTakeTheTypeOfTheOtherBranch",
     "fn f(c: bool, x: f32) -> f32 =\n  let y = if c then 1 else x\n  y",
     "fn f(c: bool, x: f32) -> f32 = if c then 1.0f32 else x\n"},
    {"LiteralsTakeTheTypeOfAnAnnotation", "fn f() -> f32 =\n  let y: f32 = 1 + 2\n  y",
     "fn f() -> f32 = 1.0f32 + 2.0f32\n"},
    {"LiteralsTakeTheTypeThroughOperations", "fn f(x: f32) -> f32 = min(1, 2) * x + max(-3, abs(4))",
     "fn f(x: f32) -> f32 =\n"
     "  let v1 = min(1.0f32, 2.0f32)\n"
     "  let v2 = v1 * x\n"
     "  let v3 = abs(4.0f32)\n"
     "  v2 + max(-3.0f32, v3)\n"},
    {"LiteralsAloneAreI64AndF64", "fn f() -> (bool, bool, bool) = (1 < 2, 1 < 2.5, 1.5 == 1.5)",
     "fn f() -> (bool, bool, bool) =\n"
     "  let v1 = 1 < 2\n"
     "  let v2 = 1.0 < 2.5\n"
     "  let v3 = 1.5 == 1.5\n"
     "  (v1, v2, v3)\n"},
    {"FloatOperationsTakeIntegerLiteralsAsF64", "fn f() -> f64 = sqrt(2)", "fn f() -> f64 = sqrt(2.0)\n"},
    {"SuffixesOfBytes", "fn f(x: u8[2]) -> (u8, u8, u8[2]) = (3u8, 2_5_5, x * 2)",
     "fn f(x: u8[2]) -> (u8, u8, u8[2]) = (3u8, 255u8, x * 2u8)\n"},
    {"Suffixes", "fn f() -> (i32, i64, f32, f64, f32) = (3i32, 4i64, 0.5f32, 1e-9f64, 7f32)",
     "fn f() -> (i32, i64, f32, f64, f32) = (3i32, 4, 0.5f32, 1e-09, 7.0f32)\n"},
    {"SpecialNumbers", "fn f() -> (f64, f64, f32, f32, i64) = (nan, -inf, nan, inf, 1_000_000)",
     "fn f() -> (f64, f64, f32, f32, i64) = (nan, -inf, nanf32, inff32, 1000000)\n"},
    {"ExtremeNumbers",
     "fn f() -> (i64, i64, i32, f64, f64) =\n"
     "  (-9223372036854775808, 9223372036854775807, -2147483648i32, 5e-324, -1.7976931348623157e308)",
     "fn f() -> (i64, i64, i32, f64, f64) = "
     "(-9223372036854775808, 9223372036854775807, -2147483648i32, 5e-324, -1.7976931348623157e+308)\n"},
    {"MinusOfANumberIsANumber", "fn f(a: i64) -> (i64, i64, f64) = (a - -1, -(1), -0.0)",
     "fn f(a: i64) -> (i64, i64, f64) =\n  let v1 = a - -1\n  let v2 = neg(1)\n  (v1, v2, -0.0)\n"},
    {"AndOrSkipTheirRightSide", "fn f(a: bool, b: bool, c: bool) -> bool = a and b or c",
     "fn f(a: bool, b: bool, c: bool) -> bool =\n"
     "  let v1 = if a then b else false\n"
     "  if v1 then true else c\n"},
    {"AndOrAsOperations", "fn f(a: bool, b: bool) -> bool = and(a, or(b, not a))",
     "fn f(a: bool, b: bool) -> bool = and(a, or(b, not a))\n"},
    {"Casts", "fn f(n: i64) -> (f64, i32, bool, f32) = (f64(n), i32(n), bool(n), f32(f64(n)))",
     "fn f(n: i64) -> (f64, i32, bool, f32) = (f64(n), i32(n), bool(n), f32(f64(n)))\n"},
    {"BranchesOfSeveralValues", "fn f(c: bool, a: i64) -> (i64, f64) = if c then (a, 1) else (2, 0.5)",
     "fn f(c: bool, a: i64) -> (i64, f64) = if c then (a, 1.0) else (2, 0.5)\n"},
    {"ElseIf", "fn f(n: i64) -> i64 = if n < 0 then -1 else if n == 0 then 0 else 1",
     "fn f(n: i64) -> i64 = if n < 0 then -1 else if n == 0 then 0 else 1\n"},
    {"While", "fn f(n: i64) -> (i64, i64) = with i = 0, acc = 1 while i < n do (i + 1, acc * 2)",
     "fn f(n: i64) -> (i64, i64) = with i = 0, acc = 1 while i < n do (i + 1, acc * 2)\n"},
    {"ForLeavesTheCounterOut",
     "fn g(n: i64) -> i64 = n\nfn f(n: i32) -> i64 = with acc = 0 for i in 0..n do acc + g(i64(i))",
     "fn g(n: i64) -> i64 = n\n\n"
     "fn f(n: i32) -> i64 =\n"
     "  let (_, v1) = with i = 0i32, acc = 0 while i < n do (i + 1i32, acc + g(i64(i)))\n"
     "  v1\n"},
    {"NestedLoops",
     "fn f(n: i64) -> i64 =\n"
     "  with total = 0 for i in 0..n do\n"
     "    let inner = with s = total for j in i..n do s + j\n"
     "    inner * 2\n",
     "fn f(n: i64) -> i64 =\n"
     "  let (_, v1) = with i = 0, total = 0 while i < n do\n"
     "    let v2 = i + 1\n"
     "    let (_, inner) = with j = i, s = total while j < n do (j + 1, s + j)\n"
     "    (v2, inner * 2)\n"
     "  v1\n"},
    {"LoopVariablesWithTypes", "fn f(x: f32) -> f32 = with s: f32 = 0 while s < x do s + 1",
     "fn f(x: f32) -> f32 = with s = 0.0f32 while s < x do s + 1.0f32\n"},
    {"UnusedCounter", "fn f(x: i64) -> i64 = with s = 1 for _ in 0..x do s * 2",
     "fn f(x: i64) -> i64 =\n"
     "  let (_, v1) = with v2 = 0, s = 1 while v2 < x do (v2 + 1, s * 2)\n"
     "  v1\n"},
    {"ShadowedNamesAreTakenApart", "fn f(x: i64) -> i64 =\n  let x = x + 1\n  let x = x * x\n  x + x\n",
     "fn f(x: i64) -> i64 =\n  let v1 = x + 1\n  let v2 = v1 * v1\n  v2 + v2\n"},
    {"UnusedCallsAreKept",
     "fn g(n: i64) -> i64 = n\nfn f(n: i64) -> i64 =\n  let _ = g(n)\n  let u = g(1)\n  n\n",
     "fn g(n: i64) -> i64 = n\n\nfn f(n: i64) -> i64 =\n  let _ = g(n)\n  let u = g(1)\n  n\n"},
    {"Placements",
     "fn f(a: i64) -> i64 on \"process:0\" =\n"
     "  let b = on \"gpu\" (a + on \"\" (a * 2))\n"
     "  on \"process:1\" if b < 1 then b else f(b)\n",
     "fn f(a: i64) -> i64 on \"process:0\" =\n"
     "  let v1 = a * 2\n"
     "  let b = on \"gpu\" (a + v1)\n"
     "  on \"process:1\" if b < 1 then b else f(b)\n"},
    {"FunctionsThatAreComputedAgain",
     "fn f(recompute: i64) -> i64 recompute on \"gpu\" = recompute\n"
     "fn recompute(a: f64) -> (f64, i64) recompute = (a, 1)\n",
     "fn f(recompute: i64) -> i64 recompute on \"gpu\" = recompute\n\n"
     "fn recompute(a: f64) -> (f64, i64) recompute = (a, 1)\n"},
    {"StringsWithEscapes", R"(fn f(a: i64) -> i64 on "a\"b\\c\x07ü" = a)",
     "fn f(a: i64) -> i64 on \"a\\\"b\\\\c\\x07ü\" = a\n"},
    {"CommentsCarriageReturnsAndCommas",
     "\xEF\xBB\xBF# a ü comment\r\nfn f(a: i64, b: i64,) -> (i64, i64,) = # more\r\n  (a, b,)\r\n# end",
     "fn f(a: i64, b: i64) -> (i64, i64) = (a, b)\n"},
    {"ValuesMayBeNamedLikeOperations",
     "fn f(min: i64, log: i64) -> i64 =\n  let exp = min(min, log)\n  exp + exp\n",
     "fn f(min: i64, log: i64) -> i64 =\n  let v1 = min(min, log)\n  v1 + v1\n"},
    {"LineThatWouldContinueStandsInParentheses", "fn f(a: i64) -> i64 =\n  let b = a * a\n  (-b + b)\n",
     "fn f(a: i64) -> i64 =\n  let b = a * a\n  (-b + b)\n"},
};

INSTANTIATE_TEST_SUITE_P(Programs, Parse, testing::ValuesIn(kParseCases),
                         [](const testing::TestParamInfo<ParseCase>& info) {
                           return std::string(info.param.name);
                         });

TEST(ParsePrefixes, AreReadToTheirEndAndNoFurther) {
  const std::string_view text =
      "size d = 2 * 3\n"
      "data T = Leaf(x: f32[d, _]) | Node(List[T], T)\n"
      "param w: f32[d + 1, 2] = normal(0.1)\n"
      "fn f(t: T, x: f32[n, d]) -> (f32[n], i64) =\n"
      "  match t\n"
      "    Leaf(y) -> (sum(x @ y, axes=[1]), 1)\n"
      "    _ -> with s: f32[n] = x[0], k = 0 for i in 0..n do (s * 2.0, k + 1)\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string prefix(text.substr(0, length));
    bool is_refused = false;
    try {
      parse(prefix);
    } catch (const ProgramError&) {
      is_refused = true;
    }
    const bool ends_in_a_head = length >= text.find("fn f") + 2 && length < text.find("Leaf(y)");
    EXPECT_TRUE(is_refused || !ends_in_a_head) << prefix;
  }
}

TEST(ParseSpans, NodesKnowTheirPlaceInTheText) {
  const std::string text = "fn f(n: i64) -> i64 =\n  if n < 1 then n / 2 else f(n - 1)\n";
  const ir::Module module = parse(text);
  std::vector<std::string> places;
  for (const ir::Node& node : module.functions[0].nodes) places.emplace_back(module.source->text(node.span));
  EXPECT_EQ(places, (std::vector<std::string>{"1", "<", "2", "/", "1", "-", "f(n - 1)", "if"}));
  EXPECT_EQ(module.source->text(module.functions[0].span), "fn f(n: i64) -> i64 =");
}

TEST(ParseNames, ParametersAndLetsKeepTheirNames) {
  const ir::Module module = parse("fn f(n: i64) -> i64 =\n  let m = n\n  let k = n + m\n  k\n");
  const ir::Function& f = module.functions[0];
  EXPECT_EQ(f.values[0].name, "n");
  EXPECT_EQ(f.values[1].name, "k");
}

}  // namespace
}  // namespace hiaton
