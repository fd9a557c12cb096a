#include "graph/json_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "hiaton/error.h"

namespace hiaton::graph {
namespace {

std::string scalar_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string JsonPlace::path() const {
  if (parent_ == nullptr) return "";
  const std::string before = parent_->path();
  if (field_.empty()) return fmt::format("{}[{}]", before, index_);
  return before.empty() ? std::string(field_) : fmt::format("{}.{}", before, field_);
}

void JsonPlace::fail(std::string_view message) const {
  const std::string where = path();
  throw ProgramError(where.empty() ? fmt::format("{}: {}", file_, message)
                                   : fmt::format("{}: {}: {}", file_, where, message));
}

void JsonPlace::fail_expecting(std::string_view expected) const {
  constexpr std::size_t kShown = 40;
  std::string found = value_.is_array() ? "a list" : value_.is_object() ? "an object" : scalar_text(value_);
  if (found.size() > kShown) found = found.substr(0, kShown) + "...";
  fail(fmt::format("expected {}, found {}", expected, found));
}

void JsonPlace::require_fields(std::span<const std::string_view> allowed) const {
  if (!value_.is_object()) fail_expecting("an object");
  for (const auto& [name, value] : value_.items()) {
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      fail(fmt::format("expected one of the fields {}, found '{}'", fmt::join(allowed, ", "), name));
    }
  }
}

JsonPlace JsonPlace::field(std::string_view name) const {
  if (!value_.is_object()) fail_expecting("an object");
  const auto found = value_.find(name);
  if (found == value_.end()) fail(fmt::format("expected a field '{}', found none", name));
  return JsonPlace(*found, *this, name, 0);
}

std::size_t JsonPlace::size() const {
  if (!value_.is_array()) fail_expecting("a list");
  return value_.size();
}

JsonPlace JsonPlace::operator[](std::size_t index) const {
  return JsonPlace(value_[index], *this, {}, index);
}

uint32_t JsonPlace::number() const {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max() - 1;
  if (!value_.is_number_unsigned() || value_.get<uint64_t>() > kMost) {
    fail_expecting(fmt::format("a whole number from 0 to {}", kMost));
  }
  return value_.get<uint32_t>();
}

uint32_t JsonPlace::index(std::size_t end, std::string_view what) const {
  if (!value_.is_number_unsigned() || value_.get<uint64_t>() >= end) {
    fail_expecting(end == 0 ? fmt::format("{}, of which there are none", what)
                            : fmt::format("{}: a number from 0 to {}", what, end - 1));
  }
  return value_.get<uint32_t>();
}

int64_t JsonPlace::integer(int64_t least, int64_t most) const {
  const bool fits =
      value_.is_number_integer() &&
      !(value_.is_number_unsigned() && value_.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX));
  if (!fits || value_.get<int64_t>() < least || value_.get<int64_t>() > most) {
    fail_expecting(fmt::format("a whole number from {} to {}", least, most));
  }
  return value_.get<int64_t>();
}

uint64_t JsonPlace::unsigned_number() const {
  if (!value_.is_number_unsigned()) fail_expecting("a whole number from 0");
  return value_.get<uint64_t>();
}

double JsonPlace::real() const {
  if (value_.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value_.is_number()) fail_expecting("a number");
  return value_.get<double>();
}

bool JsonPlace::boolean() const {
  if (!value_.is_boolean()) fail_expecting("true or false");
  return value_.get<bool>();
}

std::string JsonPlace::text() const {
  if (value_.is_string()) return value_.get<std::string>();
  if (!value_.is_object()) fail_expecting("a text");
  require_fields({"hex"});
  const std::string hex = field("hex").text();
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    const char* end = hex.data() + std::min(i + 2, hex.size());
    const auto parsed = std::from_chars(hex.data() + i, end, byte, 16);
    if (parsed.ec != std::errc() || parsed.ptr != hex.data() + i + 2)
      fail_expecting("pairs of hexadecimal digits");
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace hiaton::graph
