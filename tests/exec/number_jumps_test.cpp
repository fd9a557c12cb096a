// Tests of one number that direct code makes one jump: the results of the tests one by one, for every number
// about which they differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "exec/direct/direct_plan.h"
#include "exec/programs.h"

namespace hiaton::exec::direct::testing {
using namespace exec::testing;

namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

struct Tests {
  std::string name;
  std::string text;                ///< of a function `f` of one number
  std::vector<int64_t> constants;  ///< what it tests for
  std::set<Opcode> jumps;

  friend std::ostream& operator<<(std::ostream& out, const Tests& tests) { return out << tests.name; }
};

std::vector<int64_t> multiples(int64_t of, int64_t count) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(of * (i - count / 3));
  return all;
}

std::string literal(int64_t number) {
  return number == kLeast ? "-9223372036854775808" : std::to_string(number);
}

/// `arm` says what the arm of a constant gives.
template <class Arm>
std::string match(const std::vector<int64_t>& constants, const Arm& arm) {
  std::string text = "fn f(n: i64) -> i64 =\n  match n\n";
  for (std::size_t i = 0; i < constants.size(); ++i) {
    text += "    " + std::to_string(constants[i]) + " -> " + arm(i) + "\n";
  }
  return text + "    _ -> n\n";
}

/// Compares by each of the operators in turn.
std::string ifs(const std::vector<int64_t>& constants, std::vector<std::string> operators) {
  std::string text = "fn f(n: i64) -> i64 =\n";
  for (std::size_t i = 0; i < constants.size(); ++i) {
    text += "  " + std::string(i == 0 ? "" : "else ") + "if n " + operators[i % operators.size()] + " " +
            literal(constants[i]) + " then n * " + std::to_string(i + 2) + "\n";
  }
  return text + "  else n\n";
}

std::vector<Tests> programs_with_tests() {
  const auto computed = [](std::size_t i) { return "n * " + std::to_string(i + 2); };
  const auto constant = [](std::size_t i) { return std::to_string(i % 5); };
  const auto mixed = [&](std::size_t i) { return i % 2 == 0 ? constant(i) : computed(i); };
  const std::vector<int64_t> few = multiples(1, 11);
  const std::vector<int64_t> dense = multiples(2, 20);
  const std::vector<int64_t> sparse = multiples(1000, 20);
  std::vector<int64_t> ends = multiples(1, 12);
  ends.insert(ends.end(), {kLeast, kLeast + 1, kMost - 1, kMost});
  std::vector<int64_t> twice = dense;
  twice.insert(twice.end(), dense.begin(), dense.end());
  std::vector<int64_t> at_least(14, kLeast);
  return {
      {"few", match(few, computed), few, {}},
      {"dense", match(dense, computed), dense, {Opcode::NumberJump}},
      {"dense_constants", match(dense, constant), dense, {Opcode::NumberJump}},
      {"dense_mixed", match(dense, mixed), dense, {Opcode::NumberJump}},
      {"sparse", match(sparse, computed), sparse, {Opcode::IntervalJump}},
      {"sparse_constants", match(sparse, constant), sparse, {Opcode::IntervalJump}},
      {"ends", ifs(ends, {"=="}), ends, {Opcode::IntervalJump}},
      {"one_constant", ifs(at_least, {"=="}), at_least, {Opcode::NumberJump}},
      {"below", ifs(dense, {"<"}), dense, {Opcode::NumberJump}},
      {"every_operator", ifs(sparse, {"<", "==", "<=", "!="}), sparse, {Opcode::IntervalJump}},
      {"decided_twice", ifs(twice, {"==", "<"}), twice, {Opcode::NumberJump}},
      {"above", ifs({sparse.rbegin(), sparse.rend()}, {">", ">="}), sparse, {Opcode::IntervalJump}},
  };
}

class MergedTests : public ::testing::TestWithParam<Tests> {};

TEST_P(MergedTests, GiveWhatTheReferenceGives) {
  const Tests& tests = GetParam();
  const std::string& f = tests.text;
  for (const std::string& main : {std::string("fn main(n: i64) -> i64 = f(n)\n"),
                                  std::string("fn main(n: i64) -> i64 = f(n) + f(n - 1) * 3\n")}) {
    const graph::Graph graph = graph_of(f + main);
    for (int64_t constant : tests.constants) {
      for (int64_t beside = -2; beside <= 2; ++beside) {
        const auto number =
            static_cast<int64_t>(static_cast<uint64_t>(constant) + static_cast<uint64_t>(beside));
        const Value expected = run({Executor::Reference}, graph, {number}).values[0];
        EXPECT_EQ(run({Executor::Production, 1}, graph, {number}).values[0], expected) << number;
      }
    }
  }
}

TEST_P(MergedTests, AreTheJumpThatTheConstantsAllow) {
  const graph::Graph graph = graph_of(GetParam().text + "fn main(n: i64) -> i64 = f(n)\n");
  std::string reason;
  const auto plan = compile(graph, {}, reason);
  ASSERT_NE(plan, nullptr) << reason;
  std::set<Opcode> jumps;
  for (const Opcode opcode : plan->opcodes) {
    if (opcode == Opcode::NumberJump || opcode == Opcode::IntervalJump) jumps.insert(opcode);
  }
  EXPECT_EQ(jumps, GetParam().jumps) << to_text(*plan, graph);
}

INSTANTIATE_TEST_SUITE_P(Programs, MergedTests, ::testing::ValuesIn(programs_with_tests()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hiaton::exec::direct::testing
