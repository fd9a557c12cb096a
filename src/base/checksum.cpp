// The checksum of what is written to files.
#include <array>
#include <bit>
#include <cstring>

#include "base/file_bytes.h"

namespace hiaton {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kPolynomial = 0x82F63B78;  ///< the polynomial of Castagnoli, bits reversed
constexpr std::size_t kAtOnce = 8;

using Tables = std::array<std::array<uint32_t, 256>, kAtOnce>;

/// What a byte adds to the checksum, by how many bytes come after it within the same eight.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t after = 1; after < kAtOnce; ++after) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[after - 1][byte];
      tables[after][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (; bytes.size() >= kAtOnce; bytes.remove_prefix(kAtOnce)) {
    uint64_t eight = 0;
    std::memcpy(&eight, bytes.data(), kAtOnce);
    eight ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < kAtOnce; ++i) crc ^= kTables[kAtOnce - 1 - i][(eight >> (8 * i)) & 0xFF];
  }
  for (const char byte : bytes)
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

}  // namespace hiaton
