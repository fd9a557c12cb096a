// Pairs of integer operations that direct code runs at once: long chains of such operations, random ones,
// give what the reference gives.
#include "exec/direct/run/instruction_pairs.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exec/direct/direct_plan.h"
#include "exec/programs.h"

namespace hiaton::exec::testing {
namespace {

using OpcodePair = std::pair<direct::Opcode, direct::Opcode>;

constexpr std::size_t kWords = 6;         ///< arguments and results
constexpr std::size_t kOperations = 300;  ///< of a program

/// A function of some words whose operations take the latest words: their results, that of the one before
/// most often.
std::string random_chain(std::mt19937& random, const std::string& type) {
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  const auto name = [](std::size_t i) { return "w" + std::to_string(i); };
  std::string parameters;
  for (std::size_t i = 0; i < kWords; ++i) parameters += (i == 0 ? "" : ", ") + name(i) + ": " + type;
  std::string text = "fn main(" + parameters + ") -> (" + type;
  for (std::size_t i = 1; i < kWords; ++i) text += ", " + type;
  text += ") =\n";
  const std::string bits = type == "i32" ? "32" : "64";
  for (std::size_t i = kWords; i < kWords + kOperations; ++i) {
    const std::size_t latest = i - 1;
    const std::size_t older = latest - 1 - below(kWords - 1);
    const bool begins_with_latest = below(4) != 0;
    const std::string a = name(begins_with_latest ? latest : older);
    const std::string b =
        below(3) == 0 ? std::to_string(random() >> 1) : name(begins_with_latest ? older : older + 1);
    const std::string count = std::to_string(1 + below(31));
    const std::string operations[] = {a + " + " + b,
                                      a + " - " + b,
                                      "bitwise_and(" + a + ", " + b + ")",
                                      "bitwise_or(" + a + ", " + b + ")",
                                      "bitwise_xor(" + a + ", " + b + ")",
                                      "bitwise_or(bitwise_left_shift(" + a + ", " + count +
                                          "), bitwise_logical_right_shift(" + a + ", " + bits + " - " +
                                          count + "))"};
    text += "  let " + name(i) + " = " + operations[below(std::size(operations))] + "\n";
  }
  text += "  (";
  for (std::size_t i = 0; i < kWords; ++i) text += (i == 0 ? "" : ", ") + name(kOperations + i);
  return text + ")\n";
}

/// The pairs of opcodes that stand in the code of `plan`.
void note_pairs(const direct::Plan& plan, std::set<OpcodePair>& pairs) {
  for (std::size_t i = 1; i < plan.opcodes.size(); ++i) pairs.emplace(plan.opcodes[i - 1], plan.opcodes[i]);
}

template <class T>
void run_chains(const std::string& type, std::set<OpcodePair>& pairs) {
  std::mt19937 random(1);
  for (int program = 0; program < 40; ++program) {
    const std::string text = random_chain(random, type);
    SCOPED_TRACE(text);
    std::vector<Value> words;
    for (std::size_t i = 0; i < kWords; ++i) {
      words.emplace_back(static_cast<T>(uint64_t{random()} << 32 | random()));
    }
    const auto source = std::make_shared<Source>("main.hia", text);
    const graph::Graph graph = passes::lower(passes::simplify(lang::parse(source)));
    std::string reason;
    const auto plan = direct::compile(graph, {}, reason);
    ASSERT_NE(plan, nullptr) << reason;
    note_pairs(*plan, pairs);
    const std::vector<Value> expected = run({Executor::Reference}, graph, words).values;
    ASSERT_EQ(run({Executor::Production, 1}, graph, words).values, expected);
  }
}

TEST(InstructionPairs, GiveWhatTheReferenceGives) {
  std::set<OpcodePair> pairs;
  run_chains<int32_t>("i32", pairs);
  run_chains<int64_t>("i64", pairs);
#define HIATON_PAIR(T, Name, F, form, NextName, NextF, next_form)                                      \
  EXPECT_TRUE(pairs.contains({direct::Opcode::Name##_##form, direct::Opcode::NextName##_##next_form})) \
      << #Name "_" #form " " #NextName "_" #next_form " stands in none of the programs";
  HIATON_INSTRUCTION_PAIRS(HIATON_PAIR)
#undef HIATON_PAIR
}

}  // namespace
}  // namespace hiaton::exec::testing
