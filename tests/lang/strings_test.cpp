// Strings in programs: literals, what their operators become, and messages.
#include <gtest/gtest.h>

#include "lang/print_cases.h"

namespace hiaton {
namespace {

class StringPrograms : public testing::TestWithParam<PrintCase> {};

TEST_P(StringPrograms, PrintAndParseBack) {
  expect_printed(GetParam());
}

const PrintCase kStringsPrograms[] = {
    {"Literals", "fn f(s: str) -> (str, str) = (s + \"a\\n\\t\\r\\\"\\\\\\u{e9}\\u{1F600}\\x01é\", \"\")\n",
     "fn f(s: str) -> (str, str) =\n"
     "  let v1 = string_join(s, \"a\\n\\t\\x0d\\\"\\\\é\U0001F600\\x01é\")\n"
     "  (v1, \"\")\n"},
    {"Operators",
     "fn f(s: str, n: i64) -> (bool, bool, bool, i64, str, str, i64) =\n"
     "  (s == \"a\", s != \"b\", s <= s, s[n], s[1:n], s[n:], length(s))\n",
     "fn f(s: str, n: i64) -> (bool, bool, bool, i64, str, str, i64) = (string_equal(s, \"a\"), not "
     "string_equal(s, "
     "\"b\"), string_compare(s, s) <= 0, string_code_point(s, n), string_slice(s, 1, n), string_slice(s, n, "
     "string_length(s)), string_length(s))\n"},
    {"Casts",
     "fn f(s: str, x: f32) -> (i64, f64, str, str, str) = (i64(s), f64(s), str(x), str(s), print(s))\n",
     "fn f(s: str, x: f32) -> (i64, f64, str, str, str) = "
     "(string_to_i64(s), string_to_f64(s), string_of(x), s, print_text(s, s))\n"},
};

INSTANTIATE_TEST_SUITE_P(Lang, StringPrograms, testing::ValuesIn(kStringsPrograms), name_of_case<PrintCase>);

class StringErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(StringErrors, SayWhatIsWrong) {
  expect_error(GetParam());
}

const ErrorCase kStringsErrors[] = {
    {"NumberBehindString", "fn f(s: str, n: i64) -> str = s + n",
     "1:33: [+] expected numbers of one type, found str and i64; str(x) is the text of a value"},
    {"StringTimesNumber", "fn f(s: str) -> str = s * 2",
     "1:25: [*] expected numbers of one type, found str and i64"},
    {"NoUtf8", "fn f() -> str = \"a\\xff\"", "1:17: expected text in UTF-8, found the byte 0xff at offset 1"},
    {"NoEscape", "fn f() -> str = \"a\\q\"",
     "1:19: expected \\\", \\\\, \\n, \\t, \\r, \\u{...} or \\x with two digits 0-9a-f after '\\' in a "
     "string"},
    {"Surrogate", "fn f() -> str = \"\\u{d800}\"",
     "1:18: expected a code point of Unicode in \\u{...}, as in \\u{1F600}"},
    {"LengthOfNumber", "fn f(n: i64) -> i64 = length(n)",
     "1:30: argument 1 of 'length': expected str, found i64"},
    {"TwoToPrint", "fn f(n: i64) -> i64 = print(n, n)", "1:23: 'print' takes 1 argument, found 2"},
    {"NoRest", "fn f(s: str) -> i64 =\n  match s\n    \"a\" -> 1\n", "2:3: this 'match' has no arm for _"},
    {"SameTwice", "fn f(s: str) -> i64 =\n  match s\n    \"a\" -> 1\n    \"a\" -> 2\n    _ -> 3\n",
     "4:5: this arm is never reached: the arms before it take everything"},
    {"StringForNumber", "fn f(n: i64) -> i64 =\n  match n\n    \"a\" -> 1\n    _ -> 3\n",
     "3:5: expected a pattern for a value of type i64, found \"a\""},
    {"NumberForString", "fn f(s: str) -> i64 =\n  match s\n    1 -> 1\n    _ -> 3\n",
     "3:5: expected a pattern for a value of type str, found 1"},
    {"FunctionOfItsName", "fn str(n: i64) -> i64 = n",
     "1:4: expected a new name for a function, found 'str', which is a type"},
    {"IndexOfI32", "fn f(s: str, i: i32) -> i64 = s[i]",
     "1:32: [gather] expected a tensor and row numbers of type i64, found str and i32"},
    {"BoundOfF64", "fn f(s: str, x: f64) -> str = s[x:]",
     "1:33: a bound of a range: expected i64, found f64"},
};

INSTANTIATE_TEST_SUITE_P(Messages, StringErrors, testing::ValuesIn(kStringsErrors), name_of_case<ErrorCase>);

}  // namespace
}  // namespace hiaton
