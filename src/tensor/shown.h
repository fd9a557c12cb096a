// Text that was read, and values that do not fit, as messages show them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "hiaton/value.h"

namespace hiaton {

/// In quotes; of a text that is long or has several lines its beginning.
inline std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::size_t end = std::min(text.find_first_of("\r\n"), kMost);
  if (text.size() <= end) return fmt::format("'{}'", text);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("'{}...'", text.substr(0, end));
}

/// What does not fit, as a message names what it found: "1.5 (f64)", "f32[2, 3]", or the first part of a data
/// value that does not, with the field that it is. Nothing where all fits.
std::optional<std::string> misfit(const Value& value, const Type& type);

}  // namespace hiaton
