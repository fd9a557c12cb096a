#include "base/borrowed_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <vector>

namespace hiaton {
namespace {

/// The threads that make calls which wait for each other, one each.
std::set<std::thread::id> threads_of(const BorrowedPool& pool) {
  const auto count = static_cast<std::size_t>(pool.get()->threads());
  std::vector<std::thread::id> ids(count);
  std::atomic<std::size_t> here = 0;
  pool.get()->run(count, [&](std::size_t i) {
    ids[i] = std::this_thread::get_id();
    ++here;
    while (here.load() < count) std::this_thread::yield();
  });
  return {ids.begin(), ids.end()};
}

TEST(BorrowedPools, HaveTheThreadsOfThoseBefore) {
  std::set<std::thread::id> first;
  {
    const BorrowedPool pool(3);
    EXPECT_EQ(pool.get()->threads(), 3);
    first = threads_of(pool);
    EXPECT_EQ(first.size(), 3);
  }
  {
    const BorrowedPool other(2);
    EXPECT_EQ(other.get()->threads(), 2);
  }
  const BorrowedPool again(3);
  EXPECT_EQ(threads_of(again), first);
}

TEST(BorrowedPools, AtOnceShareNoThreads) {
  const BorrowedPool one(2);
  const BorrowedPool other(2);
  std::set<std::thread::id> all = threads_of(one);
  all.merge(threads_of(other));
  EXPECT_EQ(all.size(), 3);  // this one is of both
}

TEST(BorrowedPools, MayBeTakenByManyThreads) {
  std::atomic<int> calls = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&calls] {
        for (int round = 0; round < 100; ++round)
          BorrowedPool(2 + round % 2).get()->run(4, [&calls](std::size_t) { ++calls; });
      });
    }
  }
  EXPECT_EQ(calls.load(), 6 * 100 * 4);
}

#ifndef HIATON_SANITIZED  // the thread sanitizer allows no new threads in a child
TEST(BorrowedPools, OfAForkedProcessHaveThreadsOfTheirOwn) {
  const BorrowedPool pool(2);
  { const BorrowedPool idle(2); }
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // who waits for threads that are not there would do so for ever
    const bool works = threads_of(BorrowedPool(2)).size() == 2 && threads_of(BorrowedPool(2)).size() == 2;
    _exit(works ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(threads_of(pool).size(), 2);
  EXPECT_EQ(threads_of(BorrowedPool(2)).size(), 2);
}
#endif

TEST(BorrowedPools, EndWhenTheyAreAskedTo) {
  const BorrowedPool used(2);
  { const BorrowedPool idle(2); }
  end_idle_pools();
  EXPECT_EQ(threads_of(used).size(), 2);
  EXPECT_EQ(threads_of(BorrowedPool(2)).size(), 2);
}

TEST(HelpersTest, MakeEachCallWhileThisThreadGoesOn) {
  std::atomic<int> here = 0;
  const auto meet = [&here] {
    ++here;
    while (here.load() < 3) std::this_thread::yield();
  };
  std::vector<int> calls(2);
  Helpers helpers;
  helpers.begin(nullptr, 2, [&](std::size_t i) {
    meet();
    ++calls[i];
  });
  meet();
  helpers.end();
  EXPECT_EQ(calls, (std::vector{1, 1}));
}

TEST(HelpersTest, OfABusyPoolDoNothing) {
  ThreadPool pool(2);
  const std::function<void(std::size_t)> nothing = [](std::size_t) {};
  ASSERT_TRUE(pool.begin_help(1, nothing));
  std::atomic<int> calls = 0;
  Helpers helpers;
  helpers.begin(&pool, 1, [&calls](std::size_t) { ++calls; });
  helpers.end();
  pool.end_help();
  EXPECT_EQ(calls.load(), 0);
}

}  // namespace
}  // namespace hiaton
