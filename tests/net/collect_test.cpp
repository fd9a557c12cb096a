#include "net/collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/disordered.h"

namespace hiaton::net {
namespace {

class CollectTest : public ::testing::TestWithParam<Delivery> {};

TEST_P(CollectTest, MomentsMeanTheSameInEachProcess) {
  using std::chrono::nanoseconds;
  const nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  // Process 2 has begun first. All have one clock here, so what is measured may differ by half a round trip.
  const nanoseconds begins[] = {now + std::chrono::seconds(2), now + std::chrono::seconds(3), now};
  act_in_processes(disordered_links(3, GetParam(), 5), [&](Transport& transport) {
    transport.send((transport.self() + 1) % 3, {.aux = 1}, {});  // of a run that is over
    const auto self = static_cast<std::size_t>(transport.self());
    const auto made = collect(transport, begins[self], [&](nanoseconds earliest) {
      ByteWriter out;
      out.number(static_cast<uint8_t>(self));
      out.number((earliest - now).count());
      return std::move(out).take();
    });
    EXPECT_EQ(made.size(), self == 0 ? 3u : 0u);
    for (std::size_t i = 0; i < made.size(); ++i) {
      ByteReader in(made[i], "what was made");
      EXPECT_EQ(in.number<uint8_t>(), i);
      EXPECT_NEAR(static_cast<double>(in.number<int64_t>()), 0, 0.5e9);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Orders, CollectTest,
                         ::testing::Values(Delivery::InOrder, Delivery::LastFirst, Delivery::Random));

}  // namespace
}  // namespace hiaton::net
