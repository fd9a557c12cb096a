// Strings: data values of one field, the code points of a text. Text outside of values is UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "hiaton/value.h"

namespace hiaton {

/// The characters of Unicode: 0 to 0x10FFFF without the surrogates.
constexpr bool is_code_point(int64_t number) {
  return number >= 0 && number <= 0x10FFFF && (number < 0xD800 || number > 0xDFFF);
}

/// Appends a code point in UTF-8.
void append_utf8(int32_t code_point, std::string& text);
std::string to_utf8(std::span<const int32_t> code_points);

/// The code points of a string that somebody else holds.
inline std::span<const int32_t> code_points_of(const DataObject* string) {
  const TensorObject& tensor = *string->slots()[0].tensor;
  return {reinterpret_cast<const int32_t*>(tensor.elements), static_cast<std::size_t>(tensor.dims[0])};
}

/// How many code points well-formed UTF-8 is.
std::size_t count_code_points(std::string_view text);

/// Calls `visit` with each code point of well-formed UTF-8.
template <class Visit>
void for_each_code_point(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    visit(static_cast<int32_t>(utf8_code_point(text.substr(0, length))));
    text.remove_prefix(length);
  }
}

/// As strings are printed and as JSON has them: in quotes, with escapes for '"', '\' and control characters.
std::string quoted_string(std::string_view text);

/// What went wrong in a quoted string, at which byte.
struct QuotedFault {
  std::size_t at;
  std::string_view expected;
};
/// The text that a string in quotes stands for, with the escapes of JSON; surrogates stand in pairs.
std::string unquoted(std::string_view quoted);

}  // namespace hiaton
