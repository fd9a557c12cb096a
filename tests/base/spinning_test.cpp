#include "base/spinning.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace hiaton {
namespace {

/// How often a wait looks for what does not come.
int looks_in_vain(Spinning& spinning) {
  int looks = 0;
  EXPECT_FALSE(spinning.look([&] {
    ++looks;
    return false;
  }));
  return looks;
}

TEST(Spinning, LooksAgainUntilItIsThere) {
  Spinning spinning;
  int looks = 0;
  EXPECT_TRUE(spinning.look([&] { return ++looks == 10; }));
  EXPECT_EQ(looks, 10);
}

TEST(Spinning, LooksOnceWhereItHasBroughtNothingOfLate) {
  Spinning spinning;
  int waits_with_one_look = 0;
  for (int wait = 0; wait < 1000; ++wait) {
    const int looks = looks_in_vain(spinning);
    waits_with_one_look += looks == 1 ? 1 : 0;
    EXPECT_TRUE(looks > 1 || wait > 2) << wait;
  }
  EXPECT_GT(waits_with_one_look, 950);
  EXPECT_LT(waits_with_one_look, 1000);
}

TEST(Spinning, LooksAgainAfterItHasBroughtSomething) {
  Spinning spinning;
  int looks = 0;
  const auto never = [&] {
    ++looks;
    return false;
  };
  const auto at_the_third_look = [&] { return ++looks == 3; };
  for (int wait = 0; wait < 3; ++wait) spinning.look(never);
  int waits_with_one_look = -1;
  do {
    looks = 0;
    ASSERT_LT(++waits_with_one_look, 100);
  } while (!spinning.look(at_the_third_look));
  EXPECT_GT(waits_with_one_look, 0);
  for (int wait = 0; wait < 10; ++wait) {
    looks = 0;
    EXPECT_TRUE(spinning.look(at_the_third_look));
  }
}

TEST(Spinning, GoesByWhatAnotherThreadHasFound) {
  Spinning spinning;
  std::thread other([&] {
    for (int wait = 0; wait < 3; ++wait) EXPECT_GT(looks_in_vain(spinning), 1);
  });
  other.join();
  EXPECT_EQ(looks_in_vain(spinning), 1);
}

TEST(Spinning, LooksForSeveralThreadsAtTheSameTime) {
  Spinning spinning;
  std::atomic<int> waits_with_one_look{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int wait = 0; wait < 250; ++wait) {
        if (looks_in_vain(spinning) == 1) waits_with_one_look.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(waits_with_one_look.load(), 900);
}

}  // namespace
}  // namespace hiaton
