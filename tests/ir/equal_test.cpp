#include <gtest/gtest.h>

#include "ir/support.h"

namespace hiaton {
namespace {

TEST(Equal, IgnoresNamesOfValuesPlacesAndLayout) {
  EXPECT_TRUE(equal(parse("fn f(n: i64) -> i64 =\n  let a = n + 1\n  a * a"),
                    parse("fn f(n: i64) -> i64 = # the same\n  let b =\n    n + 1 in b * b")));
}

TEST(Equal, IgnoresWhereConstantsStand) {
  EXPECT_TRUE(
      equal(parse("fn f(n: i64) -> i64 =\n  let one = 1\n  let unused = 7\n  if n < one then one else n"),
            parse("fn f(n: i64) -> i64 = if n < 1 then 1 else n")));
}

TEST(Equal, SeesEveryDifference) {
  const std::string base =
      "fn f(n: i64, m: i64) -> i64 = if n < m then g(n) + 1 else with i = 0 while i < n do i + m\n"
      "fn g(n: i64) -> i64 = n\nfn h(n: i64) -> i64 = n\n";
  const std::pair<const char*, const char*> changes[] = {
      {"fn f(n: i64, m: i64)", "fn f(n: i64, k: i64, m: i64)"},
      {"fn h", "fn k"},
      {"n < m", "m < n"},
      {"n < m", "n <= m"},
      {"g(n) + 1", "h(n) + 1"},
      {"g(n) + 1", "g(n) + 2"},
      {"g(n) + 1", "g(m) + 1"},
      {"g(n) + 1", "1 + g(n)"},
      {"g(n) + 1", "g(n) + n"},
      {"g(n) + 1", "g(n)"},
      {"g(n) + 1", "on \"a\" g(n) + 1"},
      {"i = 0", "i = 1"},
      {"i < n do", "n < i do"},
      {"i + m", "i + n"},
      {"fn h(n: i64) -> i64", "fn h(n: i64) -> i64 on \"a\""},
      {"fn h(n: i64) -> i64", "fn h(n: i64) -> i64 recompute"},
      {"fn h(n: i64) -> i64 = n", "fn h(n: i64) -> f64 = 1"},
      {"fn h(n: i64) -> i64 = n", "fn h(x: i64) -> i64 = x"},
      {"fn h(n: i64) -> i64 = n", "fn h(n: i64) -> (i64, i64) = (n, n)"},
      {"fn h(n: i64) -> i64 = n\n", ""},
  };
  EXPECT_TRUE(equal(parse(base), parse(base)));
  for (const auto& [from, to] : changes) {
    std::string changed = base;
    changed.replace(changed.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(equal(parse(base), parse(changed))) << to;
    EXPECT_FALSE(equal(parse(changed), parse(base))) << to;
  }
}

TEST(Equal, TellsConstantsByTypeAndBits) {
  const auto module = [](Value constant) {
    return module_of({}, {constant.type()}, [&](FunctionBuilder& f) -> Vars { return f.constant(constant); });
  };
  EXPECT_TRUE(equal(module(0.5), module(0.5)));
  EXPECT_FALSE(equal(module(0.0), module(-0.0)));
  EXPECT_FALSE(equal(module(1.0), module(1.0f)));
  Slot payload;
  payload.bits = 0xFFF8000000000001u;
  EXPECT_TRUE(equal(module(Value(DType::F64, payload)), parse("fn f() -> f64 = nan")));
}

}  // namespace
}  // namespace hiaton
