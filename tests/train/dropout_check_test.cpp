// Which dropouts evaluation cannot switch off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "train/model_sizes.h"

namespace hiaton::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The warnings for a model of these functions, whose evaluation calls `loss`.
std::vector<std::string> warnings_for(const std::string& functions, bool evaluates_loss = true) {
  return dropout_warnings(Model::from_text("m.hia", "param w: f32[4]\n" + functions), evaluates_loss);
}

const std::string kLoss = "fn loss(y: f32, seed: i64) -> f32 = ";

TEST(DropoutWarnings, NameADropoutThatTheSeedDoesNotSwitchOff) {
  const std::string always = kLoss + "sum(dropout(w, 0.5, seed)) - y\n";
  EXPECT_THAT(warnings_for(always),
              ElementsAre(HasSubstr("the dropout at m.hia:2:41 drops elements in evaluations, too")));
  EXPECT_THAT(warnings_for(always, false), IsEmpty());
}

TEST(DropoutWarnings, AreNoneWhereTheSeedDecides) {
  EXPECT_THAT(warnings_for(kLoss + "sum(dropout(w, if seed == 0 then 0.0 else 0.5, seed)) - y\n"), IsEmpty());
  EXPECT_THAT(warnings_for(kLoss + "(if seed == 0 then sum(w) else sum(dropout(w, 0.5, seed))) - y\n"),
              IsEmpty());
  EXPECT_THAT(warnings_for("fn kept(seed: i64) -> f32[4] = dropout(w, 0.5, seed)\n" + kLoss +
                           "(if seed > 0 then sum(kept(seed)) else sum(w)) - y\n"),
              IsEmpty());
  EXPECT_THAT(warnings_for(kLoss + "sum(dropout(w, 0.0, seed)) - y\n"), IsEmpty());
  EXPECT_THAT(warnings_for(kLoss + "sum(w) - y\n"), IsEmpty());
}

TEST(DropoutWarnings, FollowRecursionsLoopsAndDataValues) {
  const std::string chain =
      "data Chain = End | Link(rest: Chain)\n"
      "fn encode(c: Chain, rate: f32, seed: i64) -> f32[4] =\n"
      "  match c\n"
      "    End -> w\n"
      "    Link(rest) -> dropout(encode(rest, rate, seed + 1), rate, seed)\n"
      "fn predict(c: Chain) -> f32 = sum(encode(c, 0.0, 0))\n";
  EXPECT_THAT(
      warnings_for(chain + "fn loss(c: Chain, seed: i64) -> f32 = sum(encode(c, if seed == 0 then 0.0 "
                           "else 0.2, seed))\n"),
      IsEmpty());
  EXPECT_THAT(warnings_for(chain + "fn loss(c: Chain, seed: i64) -> f32 = sum(encode(c, 0.2, seed))\n"),
              ElementsAre(HasSubstr("m.hia:6:19 drops elements in evaluations")));
  EXPECT_THAT(
      warnings_for("fn loss(n: i64, seed: i64) -> f32 =\n"
                   "  let (_, x) = with i = 0, x = w while i < n do (i + 1, dropout(x, 0.5, seed + i))\n"
                   "  sum(x)\n"),
      ElementsAre(HasSubstr("drops elements in evaluations")));
}

TEST(DropoutWarnings, NameOtherFunctionsThatDrop) {
  EXPECT_THAT(warnings_for("fn loss(y: f32) -> f32 = sum(dropout(w, 0.5, 7)) - y\n"),
              ElementsAre(HasSubstr("drops the same elements in each step")));
  const std::string good = kLoss + "sum(w) - y\n";
  EXPECT_THAT(warnings_for(good + "fn predict() -> f32 = sum(dropout(w, 0.5, 7))\n"),
              ElementsAre(HasSubstr("drops elements in 'predict', too")));
  EXPECT_THAT(warnings_for(good + "fn metrics(y: f32) -> f32 = sum(dropout(w, 0.5, 7))\n"),
              ElementsAre(HasSubstr("drops elements in 'metrics', too")));
}

}  // namespace
}  // namespace hiaton::train
