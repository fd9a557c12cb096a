// Random programs in which an operation on strings, data values, lists or tuples is given as a function by
// its name, and sizes are values by their symbols: they give what a lambda and `size` give, in every
// executor.
//
// HIATON_PROGRAMS=100000 HIATON_SEED=7 test_properties --gtest_filter=*RandomBuiltInPrograms.*
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/all_ways.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kBuiltInPrograms = sized_programs(60, 6);

constexpr const char* kDeclared =
    "data Entry = Entry(key: i64, name: str) | None\n"
    "fn by[T, U](f: fn(T, T) -> U, x: T, y: T) -> U = f(x, y)\n";

class BuiltInWriter {
 public:
  explicit BuiltInWriter(uint64_t seed) : random_(seed) {}

  std::string program() {
    const std::string size = number(3);
    return fmt::format(
        "{}fn area(x: f64[m, n], k: i64) -> i64 = {}\n"
        "fn area_of(x: f64[_, _], k: i64) -> i64 =\n"
        "  let (m, n) = (size(x, axis=0), size(x, axis=1))\n  {}\n"
        "fn main(k: i64) -> (bool, bool, bool) =\n"
        "  ({}, {}, area(zeros(k, 2 * k), k) == area_of(zeros(k, 2 * k), k))\n",
        kDeclared, size, size, of_two(), of_each());
  }

 private:
  std::string string() {
    return random_.pick<std::string>({R"("")", R"("a")", R"("ab")", "str(k)", R"("é")"});
  }
  std::string integer() { return random_.pick<std::string>({"1", "k", "(k - 2)"}); }

  /// A value of one of the types that have no operation of the graph for `==`.
  std::string value(std::size_t type) {
    switch (type) {
      case 0:
        return string();
      case 1:
        return random_.percent(30) ? "None" : fmt::format("Entry({}, {})", integer(), string());
      case 2:
        return random_.percent(30) ? "Nil[i64]" : fmt::format("Cons({}, Nil[i64])", integer());
      default:
        return fmt::format("({}, {})", integer(), string());
    }
  }

  /// A function of two values by its name is what the operator gives.
  std::string of_two() {
    const std::size_t type = random_.below(4);
    const std::vector<std::vector<std::string>> operators = {
        {"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}, {"add", "+"}};
    const std::vector<std::string>& chosen = operators[random_.below(type == 0 ? operators.size() : 2)];
    const std::string x = value(type);
    const std::string y = value(type);
    return fmt::format("by({}, {}, {}) == ({} {} {})", chosen[0], x, y, x, chosen[1], y);
  }

  /// One of a value by its name, for each of a list, is what a call of it gives.
  std::string of_each() {
    const bool has_strings = random_.percent(50);
    const std::string word = has_strings ? random_.pick<std::string>({"str", "length", "is_f64"}) : "str";
    const std::size_t type = has_strings ? 0 : 1;
    const std::string xs = fmt::format("[{}, {}]", value(type), value(type));
    return fmt::format("map({}, {}) == map(fn(x) -> {}(x), {})", word, xs, word, xs);
  }

  std::string number(int depth) {
    if (depth == 0 || random_.percent(20)) return random_.pick<std::string>({"m", "n", "k", "3"});
    const std::string a = number(depth - 1);
    const std::string b = number(depth - 1);
    switch (random_.below(4)) {
      case 0:
        return fmt::format("(let n = {} in n - {})", a, b);
      case 1:
        return fmt::format("fold(fn(s, i) -> s + i * {}, {}, Cons(m, Nil[i64]))", a, b);
      case 2:
        return fmt::format("(if {} < m then {} else n)", a, b);
      default:
        return fmt::format("({} * 3 + {})", a, b);
    }
  }

  Random random_;
};

TEST(RandomBuiltInPrograms, GiveWhatLambdasAndSizeGive) {
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kBuiltInPrograms);
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    BuiltInWriter writer(seed);
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1");
    expect_in_all_ways(writer.program(), {Value(static_cast<int64_t>(1 + seed % 4))},
                       {Value(true), Value(true), Value(true)});
  }
}

}  // namespace
}  // namespace hiaton::properties
