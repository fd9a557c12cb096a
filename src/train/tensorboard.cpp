#include "train/tensorboard.h"

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/file_bytes.h"

namespace hiaton::train {
namespace {

/// TFRecord stores a checksum rotated and shifted, since one of data that holds checksums says little.
uint32_t mask(uint32_t crc) {
  constexpr uint32_t kMaskDelta = 0xA282EAD8;
  return std::rotr(crc, 15) + kMaskDelta;
}

template <typename Number>
std::string little_endian(Number number) {
  static_assert(std::endian::native == std::endian::little);
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

// The encoding of protobuf: a key of field number and wire type, then the value.
enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

std::string varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  return bytes + static_cast<char>(number);
}

std::string key(uint32_t field, Wire wire) {
  return varint(uint64_t{field} << 3 | static_cast<uint64_t>(wire));
}

std::string integer_field(uint32_t field, uint64_t value) {
  return key(field, Wire::Varint) + varint(value);
}

std::string double_field(uint32_t field, double value) {
  return key(field, Wire::Fixed64) + little_endian(value);
}

std::string float_field(uint32_t field, float value) {
  return key(field, Wire::Fixed32) + little_endian(value);
}

std::string bytes_field(uint32_t field, std::string_view value) {
  return key(field, Wire::Bytes) + varint(value.size()) + std::string(value);
}

/// Field numbers of event.proto and summary.proto.
struct EventField {
  enum : uint32_t { WallTime = 1, Step = 2, FileVersion = 3, Summary = 5, SessionLog = 7 };
};
constexpr uint32_t kSummaryValue = 1;
constexpr uint32_t kValueTag = 1;
constexpr uint32_t kValueSimple = 2;
constexpr uint32_t kSessionStatus = 1;
constexpr uint64_t kSessionStart = 1;
constexpr std::size_t kMostUnwritten = std::size_t{64} << 10;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string event(uint64_t step, const std::string& what) {
  return tf_record(double_field(EventField::WallTime, now()) + integer_field(EventField::Step, step) + what);
}

/// A name that sorts behind those of earlier files, and is not there.
std::filesystem::path new_file_in(const std::filesystem::path& directory) {
  const auto seconds = static_cast<uint64_t>(now());
  std::filesystem::path path;
  int index = 0;
  do {
    path = directory / fmt::format("events.out.tfevents.{:010}.{:04}.hiaton", seconds, index++);
  } while (std::filesystem::exists(path));
  return path;
}

}  // namespace

std::string tf_record(std::string_view bytes) {
  const std::string length = little_endian(static_cast<uint64_t>(bytes.size()));
  return length + little_endian(mask(crc32c(length))) + std::string(bytes) +
         little_endian(mask(crc32c(bytes)));
}

EventWriter::EventWriter(const std::filesystem::path& directory, uint64_t first_step)
    : path_(new_file_in(directory)) {
  unwritten_ = event(0, bytes_field(EventField::FileVersion, "brain.Event:2"));
  unwritten_ +=
      event(first_step, bytes_field(EventField::SessionLog, integer_field(kSessionStatus, kSessionStart)));
  flush();
}

void EventWriter::add_scalar(std::string_view tag, uint64_t step, double value) {
  const std::string scalar =
      bytes_field(kValueTag, tag) + float_field(kValueSimple, static_cast<float>(value));
  unwritten_ += event(step, bytes_field(EventField::Summary, bytes_field(kSummaryValue, scalar)));
  if (unwritten_.size() > kMostUnwritten) flush();
}

void EventWriter::flush() {
  append_to_file(path_, std::exchange(unwritten_, {}));
}

}  // namespace hiaton::train
