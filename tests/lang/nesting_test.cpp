// Programs that are deep or long: a clear message or a module, never an overflow of the stack, and never a
// time that grows faster than the program.
#include <gtest/gtest.h>

#include "lang/programs.h"

namespace hiaton {
namespace {

#if defined(HIATON_SANITIZED)
constexpr int kMany = 10'000;  // enough for the stack of a sanitized build, which is much slower
#else
constexpr int kMany = 100'000;
#endif

struct NestedCase {
  const char* name;
  std::string (*program)();  ///< called by the test alone: such texts are long
};

void PrintTo(const NestedCase& c, std::ostream* out) {
  *out << c.name;
}

class TooDeep : public testing::TestWithParam<NestedCase> {};

TEST_P(TooDeep, IsAnErrorThatNamesTheLimit) {
  const std::string message = error_of(GetParam().program());
  EXPECT_NE(message.find("expected at most 1000 expressions inside each other"), std::string::npos)
      << message;
  EXPECT_EQ(message.find("error:"), message.rfind("error:")) << "more than one finding: " << message;
}

INSTANTIATE_TEST_SUITE_P(
    Programs, TooDeep,
    testing::Values(
        NestedCase{"Parentheses", [] { return with_body(repeat("(", kMany) + "n" + repeat(")", kMany)); }},
        NestedCase{"OpenParentheses", [] { return with_body(repeat("(", kMany)); }},
        NestedCase{"Minuses", [] { return with_body(repeat("-", kMany) + "n"); }},
        NestedCase{"MinusesBeforeANumber", [] { return with_body(repeat("-", kMany) + "1"); }},
        NestedCase{"Nots", [] { return with_body(repeat("not ", kMany) + "n"); }},
        NestedCase{
            "Ifs",
            [] { return with_body(repeat("if n == 1 then ", kMany) + "n" + repeat(" else n", kMany)); }},
        NestedCase{"ElseIfs", [] { return with_body(repeat("if n == 1 then n else ", kMany) + "n"); }},
        NestedCase{"Conditions",
                   [] { return with_body(repeat("if ", kMany) + "n" + repeat(" then n else n", kMany)); }},
        NestedCase{"Calls", [] { return with_body(repeat("f(", kMany) + "n" + repeat(")", kMany)); }},
        NestedCase{"Operations", [] { return with_body(repeat("abs(", kMany) + "n" + repeat(")", kMany)); }},
        NestedCase{"Tuples", [] { return with_body(repeat("(", kMany) + "n" + repeat(", n)", kMany)); }},
        NestedCase{"Lets", [] { return with_body(repeat("let x = ", kMany) + "n"); }},
        NestedCase{"LetsInLines", [] { return with_body(repeat("let x =\n", kMany) + "n"); }},
        NestedCase{"Loops", [] { return with_body(repeat("with i = ", kMany) + "n"); }},
        NestedCase{"LoopBodies", [] { return with_body(repeat("with i = 0 while i < n do ", kMany) + "i"); }},
        NestedCase{"Placements", [] { return with_body(repeat("on \"a\" ", kMany) + "n"); }},
        NestedCase{"AllOperators",
                   [] {
                     return with_body(repeat("n or n and not n < n + n * -(", kMany) + "n" +
                                      repeat(")", kMany));
                   }},
        NestedCase{"RightOperands",
                   [] { return with_body(repeat("n - (", kMany) + "n" + repeat(")", kMany)); }}),
    [](const testing::TestParamInfo<NestedCase>& info) { return std::string(info.param.name); });

class JustDeepEnough : public testing::TestWithParam<NestedCase> {};

TEST_P(JustDeepEnough, SurvivesPrintingAndParsing) {
  const ir::Module module = parse(GetParam().program());
  const ir::Module again = parse(print(module));
  EXPECT_TRUE(equal(module, again));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, JustDeepEnough,
    testing::Values(
        NestedCase{"Parentheses", [] { return with_body(repeat("(", 1000) + "n" + repeat(")", 1000)); }},
        NestedCase{"Minuses", [] { return with_body(repeat("-", 1000) + "n"); }},
        NestedCase{"Ifs",
                   [] { return with_body(repeat("if n == 1 then ", 1000) + "n" + repeat(" else n", 1000)); }},
        NestedCase{"ElseIfs", [] { return with_body(repeat("if n == 1 then n else ", 1000) + "n"); }},
        NestedCase{
            "NestedLogic",
            [] { return "fn f(n: bool) -> bool = " + repeat("n or n and (", 330) + "n" + repeat(")", 330); }},
        NestedCase{"Calls", [] { return with_body(repeat("f(", 1000) + "n" + repeat(")", 1000)); }},
        NestedCase{"LoopBodies", [] { return with_body(repeat("with i = 0 while i < n do ", 1000) + "i"); }},
        NestedCase{"Products",
                   [] { return with_body(repeat("n * (n + ", 1000) + "n" + repeat(")", 1000)); }}),
    [](const testing::TestParamInfo<NestedCase>& info) { return std::string(info.param.name); });

std::string numbered(const std::string& before, const std::string& after, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += before + std::to_string(i) + after;
  return text;
}

class Long : public testing::TestWithParam<NestedCase> {};

TEST_P(Long, ProgramsParseAndSurvivePrinting) {
  const ir::Module module = parse(GetParam().program());
  EXPECT_TRUE(equal(module, parse(print(module))));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Long,
    testing::Values(
        NestedCase{"Sum", [] { return with_body(repeat("n + ", kMany) + "n"); }},
        NestedCase{"SumOfLiterals", [] { return with_body(repeat("1 + ", kMany) + "n"); }},
        NestedCase{"SumInLines", [] { return with_body("n" + repeat("\n  - n", kMany)); }},
        NestedCase{"Conjunction", [] { return "fn f(n: bool) -> bool = " + repeat("n and ", kMany) + "n"; }},
        NestedCase{"Lets",
                   [] { return "fn f(n: i64) -> i64 =\n" + numbered("let x", " = n + 1\n", kMany) + "x7"; }},
        NestedCase{"ShadowingLets",
                   [] { return "fn f(n: i64) -> i64 =\n" + repeat("let n = n + 1\n", kMany) + "n"; }},
        NestedCase{"Functions", [] { return numbered("fn g", "(n: i64) -> i64 = g7(n)\n", kMany); }},
        NestedCase{"Parameters", [] { return "fn f(" + numbered("a", ": i64, ", kMany) + ") -> i64 = a7"; }},
        NestedCase{"Arguments",
                   [] {
                     return "fn f(" + numbered("a", ": i64, ", 1000) + ") -> i64 = f(" +
                            repeat("a3, ", 1000) + ")";
                   }},
        NestedCase{"Comments", [] { return repeat("# nothing\n", kMany) + "fn f() -> i64 = 1"; }},
        NestedCase{"Names",
                   [] { return "fn f(" + repeat("x", kMany) + ": i64) -> i64 = " + repeat("x", kMany); }}),
    [](const testing::TestParamInfo<NestedCase>& info) { return std::string(info.param.name); });

TEST(Branches, OfMatchesInsideEachOtherHaveALimitToo) {
  std::string inner = "0";
  for (int i = 0; i < 800; ++i) inner = "match d A -> 1 B -> 2 C -> 3 D -> " + inner;
  const std::string message = error_of("data D = A | B | C | D\nfn f(d: D) -> i64 = " + inner);
  EXPECT_EQ(
      message.find("test.hia:2:1: error: function 'f': expected at most 2000 branches and loops inside each "
                   "other, found more\n 2 | fn f(d: D) -> i64 ="),
      0u)
      << message.substr(0, 200);
}

/// Every text ends in a module or in a ProgramError.
TEST(AnyText, IsAProgramOrAnError) {
  const std::string_view tokens[] = {"fn",  "f",     "(",    ")",     "n",   ":",    "i64", "->",   "=",
                                     "let", "in",    "if",   "n",     "<",   "then", "1",   "else", "2",
                                     "on",  "\"w\"", "with", "while", "for", "..",   "do",  "and",  "not",
                                     "+",   "-",     "*",    ",",     "\n",  "true"};
  uint64_t random = 88172645463325252u;
  int programs = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string text = round % 2 == 0 ? "fn f(n: i64) -> i64 = " : "";
    for (int i = 0; i < 30; ++i) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      text += tokens[random % std::size(tokens)];
      text += ' ';
      programs += error_of(text).empty() ? 1 : 0;
    }
  }
  EXPECT_GT(programs, 0);
}

TEST(AnyText, BytesOfAnyKindAreAProgramOrAnError) {
  for (int first = 0; first < 256; ++first) {
    for (const char* around : {"", "fn f(n: i64) -> i64 = n ", "# ", "fn f() -> i64 on \"", "12", "fn f"}) {
      std::string text = around;
      text += static_cast<char>(first);
      text += static_cast<char>(255 - first);
      error_of(text);
      error_of(text + "\n\"");
    }
  }
}

}  // namespace
}  // namespace hiaton
