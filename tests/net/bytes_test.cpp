// Bytes of messages: those that are borrowed stand where they would if they were copied.
#include "net/bytes.h"

#include <gtest/gtest.h>

#include <random>

namespace hiaton::net {
namespace {

std::vector<std::byte> copy_of(const ByteWriter& writer) {
  std::vector<std::byte> all(writer.size());
  writer.copy_to(all.data());
  return all;
}

TEST(ByteWriter, BorrowedBytesStandWhereCopiesWould) {
  std::mt19937 random(3);
  std::vector<uint8_t> lent(300);
  for (uint8_t& one : lent) one = static_cast<uint8_t>(random());
  for (int round = 0; round < 200; ++round) {
    ByteWriter copied;
    ByteWriter borrowed;
    for (int step = 0; step < 12; ++step) {
      const std::size_t size = random() % lent.size();
      switch (random() % 3) {
        case 0:
          copied.number(static_cast<uint16_t>(step));
          borrowed.number(static_cast<uint16_t>(step));
          break;
        case 1:
          copied.align(8);
          borrowed.align(8);
          break;
        default:
          copied.raw(lent.data(), size);
          borrowed.borrow(lent.data(), size);
      }
    }
    EXPECT_EQ(borrowed.size(), copied.size());
    EXPECT_EQ(copy_of(borrowed), copy_of(copied));
    borrowed.clear();
    EXPECT_EQ(borrowed.size(), 0u);
    borrowed.align(8);
    EXPECT_TRUE(copy_of(borrowed).empty());
  }
}

}  // namespace
}  // namespace hiaton::net
