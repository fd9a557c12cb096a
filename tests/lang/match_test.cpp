// Matches inside each other, of many variants, and how many tests they need.
#include <gtest/gtest.h>

#include <string>

#include "lang/programs.h"

namespace hiaton {
namespace {

/// Where the columns of arms leave open which `match` is meant.
TEST(Match, InsideAnother) {
  const char* programs[] = {
      "  match a\n    A -> 1\n    _ -> match b\n    A -> 2\n    B -> 3",
      "  match a\n    A -> (match b\n      A -> 1\n    B -> 2)\n    B -> 3",
      "  match a\n    A -> abs(match b\n      A -> 1\n    B -> 2)\n    B -> 3",
      "  match a A -> 1 B -> match b\n    A -> 2\n  B -> 3",
  };
  for (const char* program : programs) {
    EXPECT_EQ(error_of(std::string("data AB = A | B\nfn f(a: AB, b: AB) -> i64 =\n") + program), "");
  }
}

TEST(Match, OfManyVariantsAndDeepPatterns) {
  std::string variants;
  std::string arms;
  for (int i = 0; i < 5000; ++i) {
    variants += (i == 0 ? "V" : " | V") + std::to_string(i) + "(x: i64)";
    arms += "  V" + std::to_string(i) + "(x) -> x + " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(error_of("data D = " + variants + "\nfn f(d: D) -> i64 = match d\n" + arms), "");

  const std::string deep = repeat("S(", 100'000) + "_" + repeat(")", 100'000);
  EXPECT_NE(error_of("data N = Z | S(n: N)\nfn f(n: N) -> i64 = match n " + deep + " -> 1 _ -> 0\n")
                .find("expected at most 1000 expressions inside each other"),
            std::string::npos);
}

TEST(Match, OfMoreVariantsThanBranchesMayStandInsideEachOther) {
  std::string variants = "V0";
  std::string arms;
  for (int i = 1; i < 6000; ++i) {
    variants += " | V" + std::to_string(i);
    if (i < 5000) arms += "  V" + std::to_string(i) + " -> 1\n";
  }
  const std::string message =
      error_of("data D = " + variants + "\nfn f(d: D) -> i64 = match d\n" + arms + "  _ -> 0\n");
  EXPECT_NE(message.find("2:21: error: the patterns of this 'match' need too many tests"), std::string::npos)
      << message;
}

std::size_t nodes_of_fallbacks(int depth) {
  std::string inner = "0";
  for (int i = 0; i < depth; ++i) {
    inner = "(match t Node(Leaf(a), Leaf(b)) -> a Node(Node(_, _), Leaf(c)) -> c _ -> " + inner + ")";
  }
  return parse("data Tree = Leaf(word: i64) | Node(left: Tree, right: Tree)\nfn f(t: Tree) -> i64 = " +
               inner + "\n")
      .functions[0]
      .nodes.size();
}

TEST(Match, InsideTheLastArmsOfOthersGrowsNoFasterThanTheProgram) {
  EXPECT_LT(nodes_of_fallbacks(10), 3 * nodes_of_fallbacks(5));
}

TEST(Match, OfAnExponentialNumberOfCasesIsAnError) {
  // Each arm looks at two fields of its own.
  std::string fields;
  std::string arms;
  const int count = 40;
  for (int i = 0; i < count; ++i) fields += (i == 0 ? "f" : ", f") + std::to_string(i) + ": B";
  for (int i = 0; i < count; ++i) {
    arms += "P(";
    for (int j = 0; j < count; ++j)
      arms += std::string(j == 0 ? "" : ", ") + (j == i || j == (i * 7 + 3) % count ? "T" : "_");
    arms += ") -> " + std::to_string(i) + "\n";
  }
  const std::string message = error_of("data B = T | F\ndata P = P(" + fields +
                                       ")\nfn f(p: P) -> i64 = match p\n" + arms + "_ -> 0\n");
  EXPECT_NE(message.find("need too many tests"), std::string::npos) << message;
}

}  // namespace
}  // namespace hiaton
