// UTF-8, as far as program text needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hiaton {

/// The length in bytes of the well-formed UTF-8 character at the start of `text`; 0 where there is none.
/// Overlong forms, surrogates and what lies beyond U+10FFFF are not well formed.
inline std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4 || !continues(1)) return 0;
  if (lead < 0xE0) return 2;
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F)) return 0;
  if (!continues(2)) return 0;
  if (lead < 0xF0) return 3;
  if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) return 0;
  return continues(3) ? 4 : 0;
}

/// The number of a well-formed character.
inline uint32_t utf8_code_point(std::string_view character) {
  if (character.size() == 1) return static_cast<unsigned char>(character[0]);
  uint32_t number = static_cast<unsigned char>(character[0]) & (0xFFu >> (character.size() + 1));
  for (char c : character.substr(1)) number = number << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return number;
}

/// The offset of the first byte that belongs to no well-formed character; the size of `text` where all do.
inline std::size_t utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = static_cast<unsigned char>(text[at]) < 0x80 ? 1 : utf8_length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

inline bool is_utf8(std::string_view text) {
  return utf8_prefix(text) == text.size();
}

}  // namespace hiaton
