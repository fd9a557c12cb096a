// Strings, in every executor: what the operations give, what a run leaves behind, faults, and what is
// printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "engine/all_ways.h"
#include "engine/checked_run.h"
#include "engine/run_error.h"
#include "sized.h"

namespace hiaton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

TEST(Strings, AreValues) {
  const Value text("aé\u20ac\U0001F600");
  EXPECT_EQ(text.string(), "aé\u20ac\U0001F600");
  EXPECT_EQ(text.data().field(0).tensor().dims()[0], 4);
  EXPECT_EQ(text, Value(std::string("aé\u20ac\U0001F600")));
  EXPECT_FALSE(text == Value("ae\u20ac\U0001F600"));
  EXPECT_FALSE(text == Value("aé\u20ac"));
  EXPECT_EQ(Value("").string(), "");
  EXPECT_EQ(to_string(Value("a\"\\\n\t\x01"), string_type()), R"("a\"\\\n\t\u0001")");
  EXPECT_THROW(Value("ab\xff"), ProgramError);
  EXPECT_THROW(Value("\xed\xa0\x80"), ProgramError);  // a surrogate
}

TEST(Strings, AreReadAsJsonHasThem) {
  EXPECT_EQ(parse_value(string_type(), R"("a\"\\\/\n\u00e9\ud83d\ude00é")").string(), "a\"\\/\né\U0001F600é");
  for (const char* broken : {"", "a", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
                             "\"a\" b", "\"\xff\"", "\"\x01\""}) {
    EXPECT_THROW(parse_value(string_type(), broken), ProgramError) << broken;
  }
}

TEST(Strings, AreWhatTheirOperationsSay) {
  expect_in_all_ways(R"(
fn main(a: str, b: str, n: i64) -> (str, i64, i64, str, str, str, bool, bool, bool, bool) =
  (a + b + "!", length(a + b), b[n], (a + b)[1:n + 2], b[n:], a[:1], a == b, a != b, a < b, a + "x" <= a))",
                     {"né", "\u20ac\U0001F600z", int64_t{1}},
                     {"né\u20ac\U0001F600z!", int64_t{5}, int64_t{0x1F600}, "é\u20ac", "\U0001F600z", "n",
                      false, true, true, false});
  expect_in_all_ways(R"(
fn main(x: f64, n: i32, s: str) -> (str, str, str, str, i64, f64, bool, bool, str) =
  (str(x), str(n), str(n < 0), str([x, 2]), i64(s), f64(s), is_i64(s + "x"), is_f64(s + ".5"), from_code_point(i64(s) + 233)))",
                     {0.1, int32_t{-3}, "-12"},
                     {"0.1", "-3", "true", "[0.1, 2.0]", int64_t{-12}, -12.0, false, true, "\u00dd"});
}

/// Strings that begin alike may share what they begin with.
TEST(Strings, ThatGrowLeaveOthersAsTheyAre) {
  expect_in_all_ways(R"(
fn twice(s: str, n: i64) -> str = if n == 0 then s else twice(s + s, n - 1)
fn main(s: str, n: i64) -> (str, str, str, bool, str) =
  let long = twice(s, n)
  let one = long + "1"
  let other = long + "22"
  let both = one + other
  (one[length(long):], other[length(long):], (one + "3")[length(long):], long + long == both, both[length(both) - 2:]))",
                     {"abcdefghij", int64_t{4}}, {"1", "22", "13", false, "22"});
}

/// A thousand times longer is no more than so many times the work and the memory.
TEST(Strings, ThatAreMadePieceByPieceTakeMemoryByTheirLength) {
  const Program program = Program::from_text("test.hia", R"(
fn build(s: str, i: i64) -> str = if i == 0 then s else build(s + "abcdefghij", i - 1)
fn behind(i: i64) -> str = if i == 0 then "" else behind(i - 1) + "abcdefghij"
fn main(n: i64) -> (i64, i64, i64) =
  (length(with s = "" for i in 0..n do s + "abcdefghij"), length(build("", n)), length(behind(n))))");
  for (RunOptions way : all_ways()) {
    way.max_bytes = uint64_t{64} << 20;
    const std::vector<Value> lengths(3, Value(int64_t{40'000}));
    EXPECT_EQ(program.run({int64_t{4'000}}, way).values, lengths);
  }
}

TEST(Strings, StandInOtherValues) {
  expect_in_all_ways(R"(
data Entry[K] = Entry(key: K, text: str) | Nothing
fn find[K](entries: List[Entry[K]], key: K) -> str =
  match entries
    [Entry(k, text), ..rest] -> if k == key then text else find(rest, key)
    _ -> "none"
fn main(a: str) -> (str, str, bool, bool, str) =
  let entries: List[Entry[str]] = [Entry("x", "1"), Entry(a, "2")]
  let others: List[Entry[str]] = [Entry("x", "1")]
  (find(entries, a), find(entries, "y"), entries == Cons(Entry("x", "1"), [Entry("a", "2")]), entries == others,
   str((entries, Nothing[i64], 0.5))))",
                     {"a"},
                     {"2", "none", true, false, R"(([Entry("x", "1"), Entry("a", "2")], Nothing, 0.5))"});
}

TEST(Strings, ArePatterns) {
  expect_in_all_ways(R"(
fn code(s: str) -> i64 =
  match s
    "" -> 0
    "plus" -> 1
    "\u{20ac}" -> 2
    other -> 3 + length(other)
fn main(s: str) -> (i64, i64, i64, i64) = (code(s), code("plus"), code("\u{20ac}"), code("pluS")))",
                     {""}, {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{7}});
}

TEST(Strings, ArePatternsAmongMany) {
  const std::vector<std::string> known{"",    "a",    "b",    "ab",   "ba",    "add",     "and",     "sub",
                                       "sup", "push", "pull", "jump", "jumps", "h\u00e9", "h\u00ea", "halt"};
  std::string arms;
  std::string words;
  std::string expected;
  for (std::size_t i = 0; i < known.size(); ++i) {
    arms += "    \"" + known[i] + "\" -> \"" + std::to_string(i) + " \"\n";
    words += "\"" + known[i] + "\", ";
    expected += std::to_string(i) + " ";
  }
  for (const char* other : {"c", "aa", "adb", "suq", "pusl", "jumpt", "halting", "h\u00eb"}) {
    words += std::string("\"") + other + "\", ";
    expected += std::string("?") + other + " ";
  }
  expect_in_all_ways("fn code(s: str) -> str =\n  match s\n" + arms +
                         "    other -> \"?\" + other + \" \"\n"
                         "fn main(first: str) -> str = fold(fn(s, w) -> s + code(w), \"\", [" +
                         words + "first])\n",
                     {"sub"}, {expected + "7 "});
}

/// Each call appends to both, so that one of them is shared.
constexpr const char* kGrowing = R"(
fn grown(s: str, t: str, n: i64) -> (str, str) =
  if n == 0 then (s, t)
  else if n % 3 == 0 then grown(s + t[:1], s, n - 1)
  else grown(s + "ab", t + s[length(s) - 1:], n - 1)
fn spread(s: str, depth: i64) -> str =
  if depth == 0 then s + str(length(s)) else spread(s + "l", depth - 1) + spread(s + "r", depth - 1)
fn main(s: str, n: i64) -> (str, str, str, str, str) =
  let (a, b) = grown(s, "x", n)
  let c = with t = a for i in 0..n do if i % 2 == 0 then t + s else t + t[:2]
  (a, b, c, a, spread(s, 6)))";

TEST(Strings, LeaveNothingBehind) {
  const Program program = Program::from_text("growing.hia", kGrowing);
  for (const char* text : {"", "q", "é€"}) {
    for (const int64_t n : {0, 1, 7, 300}) {
      if (*text == '\0' && n > 0) continue;
      const std::vector<Value> expected = program.run({text, n}, {.executor = Executor::Reference}).values;
      for (const RunOptions& way : worker_ways()) EXPECT_EQ(run(program, {text, n}, way).values, expected);
      EXPECT_EQ(program.run({text, n}, {.executor = Executor::Flow}).values, expected);
    }
  }
}

TEST(Strings, LeaveNothingBehindAfterFaults) {
  const Program program = Program::from_text("faults.hia", R"(
fn spread(s: str, depth: i64) -> str =
  if depth == 0 then s + from_code_point(s[7]) else spread(s + "l", depth - 1) + spread(s + "r", depth - 1)
fn main(s: str, n: i64) -> (str, str, i64) = (spread(s, 5), s[n:n + 2], i64(s[n:])))");
  for (const RunOptions& way : worker_ways()) {
    EXPECT_EQ(fault_of(program, {"abc", int64_t{0}}, way), Fault::InvalidCast);
    EXPECT_EQ(fault_of(program, {"12", int64_t{0}}, way), Fault::Index);
    EXPECT_EQ(fault_of(program, {"123", int64_t{1}}, way), Fault::None);
  }
}

TEST(Strings, TellWhatFailed) {
  const auto message = [](const std::string& expression, const Value& argument) {
    const Program program = Program::from_text("f.hia", "fn main(s: str) -> (i64, str, str) = " + expression);
    std::string first;
    for (const RunOptions& way : all_ways()) {
      const RunError error = error_of(program, {argument}, way);
      if (first.empty()) first = error.what();
      EXPECT_EQ(error.what(), first);
    }
    return first;
  };
  EXPECT_THAT(message("(s[3], s, s)", "abc"), HasSubstr("string_code_point(\"abc\", 3)"));
  EXPECT_THAT(message("(1, s[2:1], s)", "abc"), HasSubstr("string_slice(\"abc\", 2, 1)"));
  EXPECT_THAT(message("(i64(s), s, s)", "1x"),
              HasSubstr("string_to_i64(\"1x\"): the string is no number of type i64"));
  EXPECT_THAT(message("(1, from_code_point(length(s) + 55295), s)", "a"),
              HasSubstr("from_code_point(55296)"));
  EXPECT_THAT(message("(1, s[0 - 1:], s)", "a"), HasSubstr("f.hia:1:"));
}

TEST(Strings, AreAppendedToInTheirPlace) {
  const Program program = Program::from_text("long.hia", R"(
fn long(s: str, n: i64) -> str = if n == 0 then s else long(s + "ab", n - 1)
fn count(s: str) -> i64 =
  let (_, sum) = with i = 0, sum = 0 while i < length(s) do (i + 1, sum + s[i])
  sum
fn main(n: i64) -> i64 = count(long("", n)))");
  // Copied each time, these would be up to a terabyte.
  const int64_t n = sized(1'000'000, 200'000);
  EXPECT_EQ(run(program, {n}).values[0], Value(195 * n));
}

/// What a run prints, in order.
std::vector<std::string> printed_by(const Program& program, const std::vector<Value>& arguments,
                                    RunOptions way) {
  std::mutex mutex;
  std::vector<std::string> lines;
  way.print = [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.emplace_back(line);
  };
  program.run(arguments, way);
  return lines;
}

TEST(Strings, ArePrintedInTheOrderOfWhatDependsOnThem) {
  const Program program = Program::from_text("print.hia", R"(
fn down(n: i64, before: i64) -> i64 = if n == 0 then before else down(n - 1, print(before + 1))
fn main(n: i64, s: str) -> (i64, str) = (down(n, 10), print(s + "!")))");
  for (const RunOptions& way : all_ways()) {
    std::vector<std::string> lines = printed_by(program, {int64_t{3}, "a\"b"}, way);
    EXPECT_EQ(std::erase(lines, "a\"b!"), 1u);
    EXPECT_THAT(lines, ElementsAre("11", "12", "13"));
  }
}

TEST(Strings, ArePrintedWhetherTheValueIsUsedOrNot) {
  const Program program = Program::from_text("print.hia", R"(
fn shown(n: i64) -> i64 = print(n)
fn main(n: i64) -> i64 =
  let _ = (shown(n), shown(n), print((n, ["x"])), print("same"), print("same"))
  n)");
  for (const RunOptions& way : all_ways()) {
    EXPECT_THAT(printed_by(program, {int64_t{3}}, way),
                UnorderedElementsAre("3", "3", "(3, [\"x\"])", "same", "same"));
  }
}

TEST(Strings, WhatTakesPrintedLinesMayThrow) {
  const Program program = Program::from_text("print.hia",
                                             "fn f(n: i64) -> i64 = if n <= 1 then print(n) else f(n - 1) + "
                                             "f(n - 2)\nfn main(n: i64) -> i64 = f(n)\n");
  for (RunOptions way : all_ways()) {
    way.print = [](std::string_view) { throw std::runtime_error("taken no more"); };
    EXPECT_THAT([&] { program.run({int64_t{16}}, way); }, ThrowsMessage<std::runtime_error>("taken no more"));
  }
}

/// Direct code that flow calls prints, and the same workers go on after it.
TEST(Strings, WhatTakesPrintedLinesMayThrowBelowFlow) {
  const Program program = Program::from_text("print.hia", R"(
data Tree = Leaf(v: f64) | Node(l: Tree, r: Tree)
fn total(t: Tree) -> f64 = match t Leaf(v) -> v * v Node(l, r) -> total(l) + total(r)
fn say(n: i64) -> i64 = if n == 0 then 0 else (let m = print(n) in say(m - 1))
fn main(n: i64, t: Tree) -> (f64, Tree, i64) =
  let (value, slopes) = value_and_grad(total)(t)
  (value, slopes, say(n)))");
  const Value leaf = Data(0, {1.5});
  const std::vector<Value> arguments = {int64_t{4}, Data(1, {leaf, leaf})};
  for (RunOptions way : all_ways()) {
    for (const char* problem : {"no more", "not again"}) {
      way.print = [&](std::string_view line) {
        if (line == "2") throw std::runtime_error(problem);
      };
      EXPECT_THAT([&] { program.run(arguments, way); }, ThrowsMessage<std::runtime_error>(problem));
    }
    EXPECT_THAT(printed_by(program, arguments, way), UnorderedElementsAre("4", "3", "2", "1"));
  }
}

TEST(Strings, PassGradientsWherePrinted) {
  const Program program = Program::from_text(
      "grad.hia", "fn f(x: f64) -> f64 = print(x * x) * 2\nfn main(x: f64) -> f64 = grad(f)(x)");
  for (RunOptions way : all_ways()) {
    EXPECT_THAT(printed_by(program, {3.0}, way), ElementsAre("9.0"));
    way.print = [](std::string_view) {};
    EXPECT_EQ(program.run({3.0}, way).values[0], Value(12.0));
  }
}

TEST(Strings, StandInSavedGraphs) {
  const Program program = Program::from_text("s.hia", "fn main(s: str) -> str = s + \"\\u{20ac}\\n\\\"\"");
  const graph::Graph read = graph::from_json(graph::to_json(program.graph()), "s.json");
  EXPECT_EQ(graph::to_json(read), graph::to_json(program.graph()));
}

}  // namespace
}  // namespace hiaton
