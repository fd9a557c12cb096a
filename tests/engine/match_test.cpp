// Arms of a `match`: the right one is taken, however many there are and however many decisions lead to it.
#include "engine/all_ways.h"

namespace hiaton {
namespace {

Value number(int64_t n) {
  return Value(n);
}

/// A data type of `count` variants without fields.
std::string many_variants(int count) {
  std::string text = "data D = V0";
  for (int i = 1; i < count; ++i) text += " | V" + std::to_string(i);
  return text + "\n";
}

std::string arms(int first, int last) {
  std::string text;
  for (int i = last; i >= first; --i)
    text += "  V" + std::to_string(i) + " -> " + std::to_string(10 * i) + "\n";
  return text;
}

Value chosen(const Program& program, uint32_t variant) {
  return program.run({Value(Data(variant, {}))}).values[0];
}

TEST(Match, ManyVariants) {
  constexpr int kCount = 50;
  const std::string head = many_variants(kCount) + "fn main(d: D) -> i64 =\n match d\n";
  const Program all = Program::from_text("test.hia", head + arms(0, kCount - 1));
  const Program some = Program::from_text("test.hia", head + arms(10, 30) + "  _ -> -1\n");
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(chosen(all, static_cast<uint32_t>(i)), number(10 * i));
    EXPECT_EQ(chosen(some, static_cast<uint32_t>(i)), number(i >= 10 && i <= 30 ? 10 * i : -1));
  }
}

/// The last arm is reached by three ways, and holds a `match` that has such an arm too.
TEST(Match, ArmsThatSeveralDecisionsLeadTo) {
  const std::string functions =
      "data Tree = Leaf(n: i64) | Node(l: Tree, r: Tree)\n"
      "fn f(t: Tree, u: Tree) -> i64 =\n"
      "  match t\n"
      "    Node(Leaf(a), Leaf(b)) -> 10 * a + b\n"
      "    Node(Node(_, _), Leaf(c)) -> c\n"
      "    _ ->\n"
      "      match u\n"
      "        Node(Leaf(a), Leaf(b)) -> 100 * a + b\n"
      "        Node(x, Leaf(c)) -> c + f(x, t)\n"
      "        _ -> -1\n";
  const std::string program = functions + "fn main(t: Tree, u: Tree) -> i64 = f(t, u)\n";
  const Type type = Program::from_text("test.hia", program).parameters()[0].type;
  const auto expect = [&](const char* t, const char* u, int64_t expected) {
    expect_in_all_ways(program, {parse_value(type, t), parse_value(type, u)}, {number(expected)});
  };
  expect("Node(Leaf(1), Leaf(2))", "Leaf(0)", 12);
  expect("Node(Node(Leaf(1), Leaf(2)), Leaf(3))", "Leaf(0)", 3);
  expect("Leaf(1)", "Node(Leaf(4), Leaf(5))", 405);
  expect("Node(Leaf(1), Node(Leaf(1), Leaf(2)))", "Node(Leaf(4), Leaf(5))", 405);
  expect("Node(Node(Leaf(1), Leaf(2)), Node(Leaf(1), Leaf(2)))", "Leaf(3)", -1);
  expect("Leaf(1)", "Node(Node(Leaf(6), Leaf(7)), Leaf(5))", 72);
}

}  // namespace
}  // namespace hiaton
