// Whether calls are worth giving to other processes, by what the calls before them cost and brought.
#include "exec/direct/run/call_worth.h"

#include <gtest/gtest.h>

namespace hiaton::exec::direct {
namespace {

using namespace std::chrono_literals;
using Clock = CallWorth::Clock;

/// A run of which calls are given, each after what it did before.
class CallWorthTest : public ::testing::Test {
 protected:
  CallWorth::Given give(Clock::duration cost) {
    now_ += cost;
    const CallWorth::Given call{.cost = cost, .at = now_};
    worth_.given(call);
    return call;
  }
  void come_back(const CallWorth::Given& call, Clock::duration took) {
    now_ += took;
    worth_.came_back(call, now_, 0us, took, 0us);
  }
  void give_and_come_back(Clock::duration cost, Clock::duration took) { come_back(give(cost), took); }
  bool is_worth() const { return worth_.is_worth(now_ - begin_, now_); }

  CallWorth worth_;
  const Clock::time_point begin_{1h};
  Clock::time_point now_ = begin_;
};

TEST_F(CallWorthTest, CallsThatBringTwiceTheirCostAreGivenOn) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(is_worth());
    give_and_come_back(10us, 41us);
  }
}

TEST_F(CallWorthTest, FourCallsAreGivenBeforeTheyAreJudged) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(is_worth());
    give_and_come_back(10us, 1us);
  }
  EXPECT_FALSE(is_worth());
}

TEST_F(CallWorthTest, OneThatTheMachineInterruptsIsJudgedNoEarlier) {
  give_and_come_back(8ms, 1us);
  EXPECT_TRUE(is_worth());
}

TEST_F(CallWorthTest, WhatWasInVainIsTriedAgainForAHundredthOfTheTime) {
  int tried = 0;
  while (now_ < begin_ + 10s) {
    if (is_worth()) {
      ++tried;
      give_and_come_back(100us, 0us);
    }
    now_ += 50us;
  }
  EXPECT_GT(tried, 300);  // 200 us each, for both sides
  EXPECT_LT(tried, 510);
}

TEST_F(CallWorthTest, OneCallThatBringsMuchEndsTheDoubt) {
  for (int i = 0; i < 4; ++i) give_and_come_back(10us, 1us);
  now_ += 1s;
  EXPECT_TRUE(is_worth());
  const CallWorth::Given call = give(10us);
  EXPECT_FALSE(is_worth()) << "one at a time";
  come_back(call, 1s);
  EXPECT_TRUE(is_worth());
}

TEST_F(CallWorthTest, LargeOnesAreOnTrialWhileTheFirstIsUnderWay) {
  EXPECT_TRUE(worth_.holds(1'000'000));
  give(1ms);
  EXPECT_FALSE(is_worth());
  now_ += 3ms;
  EXPECT_FALSE(is_worth());
  now_ += 1ms;
  EXPECT_TRUE(is_worth()) << "twice as long as the cost of both sides";
}

TEST_F(CallWorthTest, WhatNoMessageHoldsIsNeverGiven) {
  EXPECT_FALSE(worth_.holds((std::size_t{1} << 30) + 1));
  EXPECT_FALSE(is_worth());
}

}  // namespace
}  // namespace hiaton::exec::direct
