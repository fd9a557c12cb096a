// Text that was read, as messages show it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace hiaton {

/// In quotes; of a text that is long or has several lines its beginning.
inline std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::size_t end = std::min(text.find_first_of("\r\n"), kMost);
  if (text.size() <= end) return fmt::format("'{}'", text);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("'{}...'", text.substr(0, end));
}

}  // namespace hiaton
