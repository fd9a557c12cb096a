#include "hiaton/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace hiaton {
namespace {

/// How often each of so many calls was made.
std::vector<int> calls_of(Crew& crew, std::size_t count) {
  std::vector<std::atomic<int>> calls(count);
  crew.run(count, [&](std::size_t i) { ++calls[i]; });
  return {calls.begin(), calls.end()};
}

TEST(Crew, MakesEachCallOnce) {
  for (int threads : {1, 2, 5}) {
    Crew crew(threads);
    EXPECT_EQ(crew.threads(), threads);
    for (std::size_t count : {0u, 1u, 2u, 3u, 100u, 10'000u})
      EXPECT_EQ(calls_of(crew, count), std::vector<int>(count, 1)) << threads << " " << count;
  }
}

TEST(Crew, MakesThemOnAllThreads) {
  Crew crew(2);
  std::atomic<int> here = 0;
  crew.run(2, [&](std::size_t) {  // each call waits for the other
    ++here;
    while (here.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(here.load(), 2);
}

TEST(Crew, WakesFromSleep) {
  Crew crew(3);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(calls_of(crew, 7), std::vector<int>(7, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Crew, WhatIsWrittenBeforeAndInACallIsSeenBehindIt) {
  Crew crew(4);
  std::vector<int> values(64);
  for (int round = 1; round < 2000; ++round) {
    crew.run(values.size(), [&](std::size_t i) { values[i] = values[i] + 1; });
    crew.run(values.size(), [&](std::size_t i) { values[values.size() - 1 - i] += round; });
  }
  EXPECT_EQ(std::set<int>(values.begin(), values.end()), std::set<int>{1999 + 1999 * 2000 / 2});
}

TEST(Crew, IsBusyForOneCallerAtATimeAndTheOthersDoWithoutIt) {
  Crew crew(2);
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) crew.run(3, [&](std::size_t) { ++calls; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls.load(), 3 * 200 * 3);
}

TEST(Crew, MayBeAskedFromItsOwnCalls) {
  Crew crew(2);
  std::atomic<int> calls = 0;
  crew.run(4, [&](std::size_t) { crew.run(5, [&](std::size_t) { ++calls; }); });
  EXPECT_EQ(calls.load(), 20);
}

TEST(Crew, PiecesMakeUpTheWhole) {
  Crew crew(2);
  for (Crew* each : {&crew, static_cast<Crew*>(nullptr)}) {
    for (std::size_t size : {0u, 1u, 9u, 10u, 11u, 1001u}) {
      std::vector<std::atomic<int>> seen(size);
      run_in_pieces(each, size, 10, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
      });
      for (const std::atomic<int>& count : seen) EXPECT_EQ(count.load(), 1);
    }
  }
}

}  // namespace
}  // namespace hiaton
