// Packets in memory that processes share: they are read where they were written, and the memory is used again
// once nobody holds them.
#include "net/shared_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace hiaton::net {
namespace {

constexpr std::size_t kSize = std::size_t{4} << 20;
constexpr std::size_t kLarge = std::size_t{100} * 1024;

/// Both sides, which map the memory each for itself.
struct Shared {
  std::shared_ptr<SharedMemory> own = SharedMemory::make(kSize, 17);
  std::shared_ptr<SharedMemory> others = own == nullptr ? nullptr : SharedMemory::open(own->offer());
  SharedPackets packets{own};

  Packet receive(const SharedPacket& shared) const {
    return packet_in(reinterpret_cast<SharedBlock*>(others->begin() + shared.offset), others, shared.size,
                     shared.size);
  }
};

TEST(SharedMemory, PacketsAreReadWhereTheyWereWritten) {
  Shared shared;
  ASSERT_NE(shared.others, nullptr);
  EXPECT_NE(shared.own->begin(), shared.others->begin());
  Packet sent = *shared.packets.take(kLarge);
  EXPECT_EQ(sent.capacity(), kLarge);
  sent.resize(kLarge);
  std::memset(sent.data(), 5, kLarge);
  const SharedPacket note = *shared.packets.give(sent);
  EXPECT_TRUE(note.fits(kSize));
  sent = Packet();
  Packet received = shared.receive(note);
  ASSERT_EQ(received.size(), kLarge);
  EXPECT_EQ(received.data()[kLarge - 1], std::byte{5});
  // Held by the receiver.
  EXPECT_NE(shared.packets.take(kLarge)->data(), shared.own->begin() + note.offset + sizeof(SharedBlock));
  received = Packet();
  EXPECT_EQ(shared.packets.take(kLarge)->data(), shared.own->begin() + note.offset + sizeof(SharedBlock));
}

TEST(SharedMemory, APacketThatWasNotSentIsFreeAgain) {
  Shared shared;
  const std::byte* const first = shared.packets.take(kLarge)->data();
  EXPECT_EQ(shared.packets.take(kLarge)->data(), first);
}

TEST(SharedMemory, WhatIsFullGivesNothing) {
  Shared shared;
  EXPECT_FALSE(shared.packets.take(2 * kSize).has_value());
  EXPECT_FALSE(shared.packets.take(SIZE_MAX - 100).has_value());
  std::vector<Packet> held;
  while (std::optional<Packet> packet = shared.packets.take(kLarge)) held.push_back(std::move(*packet));
  EXPECT_GT(held.size(), kSize / kLarge / 2);
  held.pop_back();
  EXPECT_TRUE(shared.packets.take(kLarge).has_value());
}

TEST(SharedMemory, SmallPacketsDoNotTakeTheMemoryOfLargeOnes) {
  Shared shared;
  const std::byte* const large = shared.packets.take(kSize / 2)->data();
  const Packet small = *shared.packets.take(kLarge);
  EXPECT_NE(small.data(), large);
  EXPECT_EQ(shared.packets.take(kSize / 2)->data(), large);
}

TEST(SharedMemory, OtherPacketsAreNotThere) {
  Shared shared;
  EXPECT_FALSE(shared.packets.give(Packet(kLarge)).has_value());
  EXPECT_FALSE(shared.packets.give(Packet()).has_value());
  for (const SharedPacket wrong :
       {SharedPacket{0, 8}, SharedPacket{65, 8}, SharedPacket{kSize, 8}, SharedPacket{kSize - 64, 1},
        SharedPacket{64, kSize}, SharedPacket{UINT64_MAX - 63, 8}})
    EXPECT_FALSE(wrong.fits(kSize)) << wrong.offset << ", " << wrong.size;
}

TEST(SharedMemory, WhatIsNoOfferIsNotOpened) {
  Shared shared;
  SharedMemory::Offer offer = shared.own->offer();
  EXPECT_EQ(SharedMemory::open(SharedMemory::Offer()), nullptr);
  offer.token = 18;
  EXPECT_EQ(SharedMemory::open(offer), nullptr);
  offer = shared.own->offer();
  offer.size *= 2;
  EXPECT_EQ(SharedMemory::open(offer), nullptr);
  offer = shared.own->offer();
  offer.descriptor = 100000;
  EXPECT_EQ(SharedMemory::open(offer), nullptr);
}

TEST(Doorbell, WakesWhoSleepsInAnotherMapping) {
  constexpr std::chrono::hours kLong(1);
  Shared shared;
  ASSERT_NE(shared.others, nullptr);
  Doorbell& own = shared.own->bell();
  const uint32_t wakes = own.expect(1);
  shared.others->bell().ring();  // between the look and the sleep
  own.sleep(wakes, kLong);
  std::atomic<int> sent{0};
  std::thread sender([&] {
    for (int i = 0; i < 10'000; ++i) {
      sent.fetch_add(1, std::memory_order_relaxed);
      shared.others->bell().ring();
    }
  });
  for (;;) {
    const uint32_t expected = own.expect(1);
    if (sent.load(std::memory_order_relaxed) == 10'000) break;
    own.sleep(expected, kLong);
  }
  sender.join();
}

TEST(Doorbell, DoesNotRingWhereNobodyExpectsIt) {
  Doorbell bell;
  const uint32_t wakes = bell.expect(1);
  bell.ring();
  bell.ring();
  EXPECT_EQ(bell.expect(1), wakes + 1);
  bell.wake();
  bell.sleep(wakes + 1, std::chrono::hours(1));
}

TEST(Doorbell, WakesWhenItHasRungAsOftenAsWasSaid) {
  Doorbell bell;
  const uint32_t wakes = bell.expect(3);
  bell.ring();
  bell.ring();
  bell.sleep(wakes, std::chrono::milliseconds(1));
  EXPECT_EQ(bell.expect(2), wakes);
  bell.ring();
  EXPECT_EQ(bell.expect(2), wakes);
  bell.ring();
  bell.ring();
  bell.sleep(wakes, std::chrono::hours(1));
}

TEST(Doorbell, WakesWhenAllHaveRung) {
  constexpr int kOthers = 3;
  constexpr int kRounds = 2'000;
  Doorbell bell;
  std::array<std::atomic<int>, kOthers> sent{};
  std::atomic<int> round{0};
  std::vector<std::thread> others;
  for (std::atomic<int>& own : sent) {
    others.emplace_back([&] {
      for (int i = 1; i <= kRounds; ++i) {
        while (round.load() < i) std::this_thread::yield();
        own.store(i);
        bell.ring();
      }
    });
  }
  for (int i = 1; i <= kRounds; ++i) {
    const auto is_to_come = [i](const std::atomic<int>& one) { return one.load() < i; };
    const auto to_come = [&] { return static_cast<uint32_t>(std::ranges::count_if(sent, is_to_come)); };
    round.store(i);
    while (const uint32_t before = to_come()) {
      const uint32_t wakes = bell.expect(before);
      if (to_come() == before) bell.sleep(wakes, std::chrono::hours(1));
    }
  }
  for (std::thread& other : others) other.join();
}

}  // namespace
}  // namespace hiaton::net
