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

TEST(PerThread, GoesBeforeItsKeyWhereThreadsAreKeptForRuns) {
  {
    PerThread<Counted> each;
    std::atomic<int> here = 0;
    BorrowedPool(2).get()->run(2, [&](std::size_t) {
      each.get();
      ++here;
      while (here.load() < 2) std::this_thread::yield();
    });
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace hiaton
