// The thread that watches runs: any number of them, again after it rested, and in a child.
#include "exec/run_watch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>

namespace hiaton::exec::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A run that is watched, and what the watch said.
class Watched {
 public:
  explicit Watched(std::chrono::nanoseconds timeout)
      : options_(options(timeout)), watch_(options_, RunWatch::Clock::now(), [this](Fault fault) {
          fault_.store(fault);
          ++stops_;
        }) {}
  Watched(const Watched&) = delete;

  void cancel() { cancel_.store(true); }
  int stops() const { return stops_.load(); }
  Fault fault() const { return fault_.load(); }
  bool ends_within(std::chrono::nanoseconds time) const {
    const auto begin = RunWatch::Clock::now();
    while (stops_.load() == 0) {
      if (RunWatch::Clock::now() - begin > time) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }

 private:
  RunOptions options(std::chrono::nanoseconds timeout) {
    RunOptions options;
    options.cancel = &cancel_;
    options.timeout = timeout;
    return options;
  }

  std::atomic<bool> cancel_{false};
  std::atomic<Fault> fault_{Fault::None};
  std::atomic<int> stops_{0};
  const RunOptions options_;
  RunWatch watch_;  ///< last: it uses the rest
};

TEST(RunWatch, EndsEachRunForItsOwnReasonAndOnce) {
  std::vector<std::unique_ptr<Watched>> runs;
  for (int i = 0; i < 300; ++i)
    runs.push_back(std::make_unique<Watched>(i % 3 == 0 ? milliseconds(5) : milliseconds(100'000)));
  for (std::size_t i = 1; i < runs.size(); i += 3) runs[i]->cancel();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i % 3 < 2) {
      EXPECT_TRUE(runs[i]->ends_within(seconds(20)));
    }
  }
  std::this_thread::sleep_for(milliseconds(20));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i]->stops(), i % 3 < 2 ? 1 : 0);
    EXPECT_EQ(runs[i]->fault(), i % 3 == 0 ? Fault::Timeout : i % 3 == 1 ? Fault::Interrupted : Fault::None);
  }
}

TEST(RunWatch, SaysNothingAnyMoreWhenItIsGone) {
  const auto make_many = [] {
    for (int i = 0; i < 2000; ++i) {
      std::atomic<bool> is_gone{false};
      std::atomic<bool> cancel{true};
      RunOptions options;
      options.cancel = &cancel;
      {
        const RunWatch watch(options, RunWatch::Clock::now(), [&](Fault) { EXPECT_FALSE(is_gone.load()); });
        if (i % 100 == 0) std::this_thread::sleep_for(milliseconds(3));
      }
      is_gone.store(true);
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(make_many);
}

TEST(RunWatch, WatchesAgainAfterATimeWithoutRuns) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(Watched(milliseconds(1)).ends_within(seconds(20)));
    std::this_thread::sleep_for(milliseconds(250));
  }
}

#ifndef HIATON_SANITIZED  // the thread sanitizer allows no new threads in a child
TEST(RunWatch, WatchesInAChild) {
  Watched run_of_parent(seconds(1000));
  const pid_t child = fork();
  if (child == 0) {
    const bool ends = Watched(milliseconds(1)).ends_within(seconds(20));
    _exit(ends && run_of_parent.stops() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  run_of_parent.cancel();
  EXPECT_TRUE(run_of_parent.ends_within(seconds(20)));
}
#endif

}  // namespace
}  // namespace hiaton::exec::testing
