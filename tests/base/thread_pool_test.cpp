#include "hiaton/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>
#include <vector>

namespace hiaton {
namespace {

/// How often each of so many calls was made.
std::vector<int> calls_of(ThreadPool& pool, std::size_t count) {
  std::vector<std::atomic<int>> calls(count);
  pool.run(count, [&](std::size_t i) { ++calls[i]; });
  return {calls.begin(), calls.end()};
}

TEST(ThreadPool, MakesEachCallOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (std::size_t count : {0u, 1u, 2u, 3u, 100u, 10'000u})
      EXPECT_EQ(calls_of(pool, count), std::vector<int>(count, 1)) << threads << " " << count;
  }
}

TEST(ThreadPool, MakesThemOnAllThreads) {
  ThreadPool pool(2);
  std::atomic<int> here = 0;
  pool.run(2, [&](std::size_t) {  // each call waits for the other
    ++here;
    while (here.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(here.load(), 2);
}

TEST(ThreadPool, WakesFromSleep) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(calls_of(pool, 7), std::vector<int>(7, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(ThreadPool, WhatIsWrittenBeforeAndInACallIsSeenBehindIt) {
  ThreadPool pool(4);
  std::vector<int> values(64);
  for (int round = 1; round < 2000; ++round) {
    pool.run(values.size(), [&](std::size_t i) { values[i] = values[i] + 1; });
    pool.run(values.size(), [&](std::size_t i) { values[values.size() - 1 - i] += round; });
  }
  EXPECT_EQ(std::set<int>(values.begin(), values.end()), std::set<int>{1999 + 1999 * 2000 / 2});
}

TEST(ThreadPool, IsBusyForOneCallerAtATimeAndTheOthersDoWithoutIt) {
  ThreadPool pool(2);
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) pool.run(3, [&](std::size_t) { ++calls; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls.load(), 3 * 200 * 3);
}

TEST(ThreadPool, MayBeAskedFromItsOwnCalls) {
  ThreadPool pool(2);
  std::atomic<int> calls = 0;
  pool.run(4, [&](std::size_t) { pool.run(5, [&](std::size_t) { ++calls; }); });
  EXPECT_EQ(calls.load(), 20);
}

TEST(ThreadPool, HelpsWhileTheCallerGoesOn) {
  ThreadPool pool(2);
  std::atomic<int> calls = 0;
  const std::function<void(std::size_t)> work = [&](std::size_t) { ++calls; };
  for (int round = 1; round <= 200; ++round) {
    ASSERT_TRUE(pool.begin_help(2, work));
    EXPECT_FALSE(pool.begin_help(2, work)) << "it is busy";
    while (round == 1 && calls.load() == 0) std::this_thread::yield();  // for the other thread
    pool.end_help();
    EXPECT_EQ(calls.load(), 2 * round);
  }
  pool.run(3, work);
  EXPECT_EQ(calls.load(), 403);
  EXPECT_FALSE(ThreadPool(1).begin_help(1, work)) << "there is no other thread";
  EXPECT_EQ(calls.load(), 403);
}

TEST(ThreadPool, PiecesMakeUpTheWhole) {
  ThreadPool pool(2);
  for (ThreadPool* each : {&pool, static_cast<ThreadPool*>(nullptr)}) {
    for (std::size_t size : {0u, 1u, 9u, 10u, 11u, 1001u}) {
      std::vector<std::atomic<int>> seen(size);
      run_in_ranges(each, size, 10, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
      });
      for (const std::atomic<int>& count : seen) EXPECT_EQ(count.load(), 1);
    }
  }
}

}  // namespace
}  // namespace hiaton
