#include "net/bytes.h"

#include <fmt/format.h>

#include "hiaton/error.h"

namespace hiaton::net {

void ByteWriter::copy_to(std::byte* to) const {
  std::size_t position = 0;
  const auto copy = [&to](const std::byte* from, std::size_t size) {
    if (size > 0) std::memcpy(to, from, size);
    to += size;
  };
  for (const Borrowed& borrowed : borrowed_) {
    copy(bytes_.data() + position, borrowed.position - position);
    copy(borrowed.bytes, borrowed.size);
    position = borrowed.position;
  }
  copy(bytes_.data() + position, written_ - position);
}

uint64_t ByteReader::longer_compact() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = number<uint8_t>();
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      if (shift == 63 && byte > 1) break;
      return value;
    }
  }
  fail("expected a number of 64 bits, found a longer one");
}

std::string ByteReader::text() {
  const uint64_t size = compact();
  if (size > left()) fail(fmt::format("expected a text of {} bytes, found {}", size, left()));
  const std::byte* begin = take(size);
  return {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(size)};
}

void ByteReader::require_end() const {
  if (left() > 0) fail(fmt::format("expected the end, found {} more bytes", left()));
}

void ByteReader::fail(const std::string& what) const {
  throw ProgramError(fmt::format("{}, byte {}: {}", from_, position_, what));
}

void ByteReader::fail_short(std::size_t size) const {
  fail(fmt::format("expected {} bytes, found {}", size, left()));
}

}  // namespace hiaton::net
