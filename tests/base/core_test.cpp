#include "base/core.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#if defined(__linux__)
#include <sched.h>

namespace hiaton {
namespace {

cpu_set_t allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  return allowed;
}

/// Pins the calling thread while it lives.
class Pinned {
 public:
  explicit Pinned(int core) : before_(allowed_cores()) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(core), &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  Pinned(const Pinned&) = delete;
  ~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

TEST(Core, IsLeftForAnotherOneThatTheThreadMayRunOn) {
  const cpu_set_t before = allowed_cores();
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "there is one core";
  // The system may move the thread back at any moment, but not time and again.
  int moved = 0;
  for (int i = 0; i < 20; ++i) {
    const std::atomic<int> core = current_core();
    leave_core(core);
    if (current_core() != core) ++moved;
  }
  EXPECT_GT(moved, 0);
  const cpu_set_t after = allowed_cores();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Core, IsNotLeftWhereTheThreadIsOnAnotherOne) {
  const int core = current_core();
  const Pinned pinned(core);
  const std::array<std::atomic<int>, 2> others{kNoCore, core + 1};
  leave_cores(others);
  EXPECT_EQ(current_core(), core);
}

TEST(Core, AThreadThatWasMadeBeginsOnAnotherOne) {
  const cpu_set_t before = allowed_cores();
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "there is one core";
  // The system may move both threads at any moment, but not time and again.
  int others = 0;
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> is_placed{false};
    const int own = current_core();
    std::jthread made([&] {
      is_placed.wait(false);
      if (current_core() != own) ++others;
      const cpu_set_t allowed = allowed_cores();
      EXPECT_TRUE(CPU_EQUAL(&before, &allowed));
    });
    move_to_other_core(made);
    is_placed.store(true);
    is_placed.notify_all();
  }
  EXPECT_GT(others, 0);
}

TEST(Core, AThreadThatWasMadeStaysWhereThereIsNoOther) {
  const int core = current_core();
  const Pinned pinned(core);
  std::jthread made([core] { EXPECT_EQ(current_core(), core); });
  move_to_other_core(made);
}

TEST(Core, IsNotLeftWhereThereIsNoOther) {
  const std::atomic<int> core = current_core();
  const Pinned pinned(core);
  leave_core(core);
  EXPECT_EQ(current_core(), core);
}

}  // namespace
}  // namespace hiaton
#endif
