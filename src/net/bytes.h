// Bytes of messages: written one after the other, and read with checks, since a reader trusts nobody.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hiaton::net {

/// Numbers have their fixed size, in the byte order that all processes of a run have.
///
/// Bytes that stand in memory already may be borrowed: they are copied once, to where they are sent from.
class ByteWriter {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void number(T value) { std::memcpy(extend(sizeof value), &value, sizeof value); }
  /// Small numbers take one byte: seven bits a byte, the lowest first.
  void compact(uint64_t value) {
    while (value >= 0x80) {
      number(static_cast<uint8_t>(value | 0x80));
      value >>= 7;
    }
    number(static_cast<uint8_t>(value));
  }
  void text(std::string_view value) {
    compact(value.size());
    raw(value.data(), value.size());
  }
  void raw(const void* bytes, std::size_t size) {
    if (size > 0) std::memcpy(extend(size), bytes, size);
  }
  /// Adds bytes that stay as they are until copy_to() has been called for the last time.
  void borrow(const void* bytes, std::size_t size) {
    if (size == 0) return;
    borrowed_.push_back({written_, static_cast<const std::byte*>(bytes), size});
    borrowed_bytes_ += size;
  }
  /// Makes room for `size` more bytes at once.
  void reserve(std::size_t size) {
    if (written_ + size > bytes_.size()) bytes_.resize(written_ + size);
  }
  /// Adds zeros up to a multiple of so many bytes.
  void align(std::size_t multiple) {
    const std::size_t zeros = (multiple - size() % multiple) % multiple;
    if (zeros > 0) std::memset(extend(zeros), 0, zeros);
  }
  /// Writes over what number() has written at a position.
  template <class T>
  requires std::is_arithmetic_v<T>
  void number_at(std::size_t position, T value) {
    std::memcpy(bytes_.data() + position, &value, sizeof value);
  }
  /// How many bytes there are, borrowed ones among them.
  std::size_t size() const { return written_ + borrowed_bytes_; }
  /// Writes all of them to memory that has room for them.
  void copy_to(std::byte* to) const;
  /// All bytes, where none is borrowed.
  std::span<const std::byte> bytes() const { return {bytes_.data(), written_}; }
  std::vector<std::byte> take() && {
    bytes_.resize(written_);
    written_ = 0;
    return std::move(bytes_);
  }
  void clear() {
    written_ = 0;
    borrowed_.clear();
    borrowed_bytes_ = 0;
  }

 private:
  struct Borrowed {
    std::size_t position;  ///< in bytes_, before which they stand
    const std::byte* bytes;
    std::size_t size;
  };

  std::byte* extend(std::size_t size) {
    if (written_ + size > bytes_.size()) [[unlikely]]
      bytes_.resize(std::max(2 * bytes_.size(), written_ + size));
    std::byte* const begin = bytes_.data() + written_;
    written_ += size;
    return begin;
  }

  std::vector<std::byte> bytes_;  ///< those that are written, and room for more
  std::size_t written_ = 0;
  std::vector<Borrowed> borrowed_;
  std::size_t borrowed_bytes_ = 0;
};

/// Throws ProgramError where the bytes are not what is asked for: "message from process 1, byte 17: expected
/// ..., found ...".
class ByteReader {
 public:
  /// `from` is what messages call the bytes; it must outlive the reader.
  ByteReader(std::span<const std::byte> bytes, std::string_view from) : bytes_(bytes), from_(from) {}

  template <class T>
  requires std::is_arithmetic_v<T> T number() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  uint64_t compact() {
    if (position_ < bytes_.size() && bytes_[position_] < std::byte{0x80})
      return static_cast<uint64_t>(bytes_[position_++]);
    return longer_compact();
  }
  std::string text();
  const std::byte* take(std::size_t size) {
    if (size > left()) fail_short(size);
    const std::byte* begin = bytes_.data() + position_;
    position_ += size;
    return begin;
  }
  /// Goes on behind what ByteWriter::align has added.
  void align(std::size_t size) { take((size - position_ % size) % size); }
  std::size_t left() const { return bytes_.size() - position_; }
  std::size_t position() const { return position_; }
  void require_end() const;
  /// `what` is "expected ..., found ...".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  uint64_t longer_compact();
  [[noreturn]] void fail_short(std::size_t size) const;

  std::span<const std::byte> bytes_;
  std::string_view from_;
  std::size_t position_ = 0;
};

}  // namespace hiaton::net
