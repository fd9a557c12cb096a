#include "hiaton/source.h"

#include <algorithm>

namespace hiaton {

Source::Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
  }
}

std::string_view Source::text(Span span) const {
  return std::string_view(text_).substr(span.begin, span.end - span.begin);
}

std::size_t Source::line_index(uint32_t offset) const {
  auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<std::size_t>(after - line_starts_.begin()) - 1;
}

LineColumn Source::locate(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size()));
  const std::size_t line = line_index(offset);
  uint32_t column = 1;
  for (uint32_t i = line_starts_[line]; i < offset; ++i) {
    const bool continues_a_character = (static_cast<unsigned char>(text_[i]) & 0xC0) == 0x80;
    if (!continues_a_character) ++column;
  }
  return {static_cast<uint32_t>(line + 1), column};
}

std::string_view Source::line_at(uint32_t offset) const {
  const std::size_t line = line_index(std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size())));
  const std::string_view from_start = std::string_view(text_).substr(line_starts_[line]);
  std::string_view content = from_start.substr(0, from_start.find('\n'));
  if (content.ends_with('\r')) content.remove_suffix(1);
  return content;
}

}  // namespace hiaton
