// Waiting for messages: a wait ends when something has arrived, whoever took it from the link, and when it is
// woken.
#include <gtest/gtest.h>

#include <thread>

#include "net/disordered.h"
#include "net/transport.h"

namespace hiaton::net {
namespace {

using namespace std::chrono_literals;

TEST(Wait, EndsWhenItIsWoken) {
  const std::vector<std::unique_ptr<Link>> links = in_process_links(2);
  Transport transport(*links[0], {});
  EXPECT_TRUE(transport.wake());
  transport.wait(1h);  // woken before it
  std::thread waker([&] {
    std::this_thread::sleep_for(10ms);
    transport.wake();
  });
  transport.wait(1h);
  waker.join();
}

TEST(Wait, EndsWhenAnotherThreadHasTakenTheMessage) {
  for (int run = 0; run < 50; ++run) {
    act_in_processes(in_process_links(2), [](Transport& transport) {
      if (transport.self() == 1) {
        transport.send(0, {}, {});
        return transport.flush();
      }
      std::size_t taken = 0;  // the thread that keeps the transport alive may see the message first
      while (taken == 0) {
        transport.wait(1h);
        taken = transport.poll([](int, const Header&, std::span<const std::byte>) {});
      }
      EXPECT_EQ(taken, 1u);
    });
  }
}

TEST(KeepAlive, LooksMoreRarelyWhereNothingMoves) {
  const std::vector<std::unique_ptr<Link>> links = in_process_links(2);
  Transport transport(*links[0], {});
  const std::chrono::nanoseconds first = transport.keep_alive();
  std::chrono::nanoseconds last{0};
  for (int i = 0; i < 10; ++i) last = transport.keep_alive();
  EXPECT_LT(first, last);
  EXPECT_EQ(last, 16ms);
  Transport impatient(*links[1], {.longest_silence = 100ms});
  for (int i = 0; i < 10; ++i) last = impatient.keep_alive();
  EXPECT_EQ(last, 5ms);
}

TEST(KeepAlive, TakesOverWhatIsLostWhereNobodyNotices) {
  const std::vector<std::unique_ptr<Link>> links = in_process_links(2);
  Transport transport(*links[0], {.longest_silence = 1ms});
  EXPECT_FALSE(transport.take_over_failure(0ns).has_value());
  std::this_thread::sleep_for(5ms);
  transport.keep_alive();
  EXPECT_FALSE(transport.take_over_failure(1h).has_value());
  const std::optional<ProcessFailure> failure = transport.take_over_failure(0ns);
  ASSERT_TRUE(failure.has_value());
  EXPECT_TRUE(failure->is_reported_here());
  EXPECT_FALSE(failure->is_first_lost());
  EXPECT_FALSE(transport.take_over_failure(0ns).has_value());
  try {
    transport.poll([](int, const Header&, std::span<const std::byte>) {});
    ADD_FAILURE() << "expected a failure";
  } catch (const ProcessFailure& noticed) {
    EXPECT_FALSE(noticed.is_reported_here());
  }
  Transport second(*links[1], {.longest_silence = 1ms});
  std::this_thread::sleep_for(5ms);
  EXPECT_THROW(second.poll([](int, const Header&, std::span<const std::byte>) {}), ProcessFailure);
  EXPECT_FALSE(second.take_over_failure(0ns).has_value());
}

}  // namespace
}  // namespace hiaton::net
