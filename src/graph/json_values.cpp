#include "graph/json_values.h"

#include <fmt/format.h>

#include <charconv>

#include "hiaton/error.h"

namespace hiaton::graph {
namespace {

constexpr std::string_view kBitsPrefix = "0x";

Value from_bits(DType dtype, std::string_view text) {
  const std::string_view digits = text.substr(kBitsPrefix.size());
  Slot slot;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), slot.bits, 16);
  const bool too_wide = dtype == DType::F32 && slot.bits >> 32 != 0;
  if (code != std::errc() || end != digits.data() + digits.size() || !is_float(dtype) || too_wide) {
    throw ProgramError(fmt::format("expected a value of type {}, found '{}'", name_of(dtype), text));
  }
  return Value(dtype, slot);
}

}  // namespace

std::string save_value(const Value& value) {
  std::string text = to_string(value);
  const bool reads_back = parse_value(value.dtype(), text) == value;
  return reads_back ? text : fmt::format("{}{:x}", kBitsPrefix, value.slot().bits);
}

Value load_value(DType dtype, std::string_view text) {
  return text.starts_with(kBitsPrefix) ? from_bits(dtype, text) : parse_value(dtype, text);
}

}  // namespace hiaton::graph
