// Each thread has its own, which goes when the thread ends.
#include "base/per_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace hiaton {
namespace {

std::atomic<int> alive{0};

struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }
  int value = 0;
};

TEST(PerThread, IsMadeOnceForEachThreadThatAsks) {
  {
    PerThread<Counted> each;
    EXPECT_EQ(alive, 0);
    each.get().value = 1;
    EXPECT_EQ(each.get().value, 1);
    std::thread([&] {
      EXPECT_EQ(each.get().value, 0);
      EXPECT_EQ(alive, 2);
    }).join();
    EXPECT_EQ(alive, 1);
    EXPECT_EQ(each.get().value, 1);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace hiaton
