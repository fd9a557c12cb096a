#include "hiaton/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace hiaton {

Source::Source(std::string name, std::string text) : text_(std::move(text)) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
  files_.push_back({.name = std::move(name), .key = ""});
  line_starts_.push_back(0);
  for (std::size_t i = text_.find('\n'); i != std::string::npos; i = text_.find('\n', i + 1)) {
    line_starts_.push_back(static_cast<uint32_t>(i + 1));
    if (text_.compare(i + 1, kFileMark.size(), kFileMark) == 0) begin_file(i + 1, line_starts_.size());
  }
}

/// Files are found beside the program's own; names without an ending are no files.
void Source::begin_file(std::size_t mark, std::size_t line) {
  const std::size_t begin = mark + kFileMark.size();
  const std::size_t end = text_.find_first_of("\"\n", begin);
  if (end == std::string::npos || text_[end] != '"') return;
  if (end + 1 < text_.size() && text_[end + 1] != '\n') return;
  const std::filesystem::path key = text_.substr(begin, end - begin);
  const std::filesystem::path folder = std::filesystem::path(name()).parent_path();
  const bool is_file = key.has_extension();
  files_.push_back({.name = is_file ? (folder / key).lexically_normal().string() : key.string(),
                    .key = key.string(),
                    .begin = static_cast<uint32_t>(std::min(end + 2, text_.size())),
                    .line = line});
}

const Source::File& Source::file_at(uint32_t offset) const {
  const auto after = std::upper_bound(files_.begin() + 1, files_.end(), offset,
                                      [](uint32_t at, const File& file) { return at < file.begin; });
  return after[-1];
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
  return {static_cast<uint32_t>(line + 1 - file_at(offset).line), column};
}

std::string Source::place_of(uint32_t offset) const {
  const LineColumn at = locate(offset);
  return fmt::format("{}:{}:{}", file_at(offset).name, at.line, at.column);
}

std::string_view Source::line_at(uint32_t offset) const {
  const std::size_t line = line_index(std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size())));
  const std::string_view from_start = std::string_view(text_).substr(line_starts_[line]);
  std::string_view content = from_start.substr(0, from_start.find('\n'));
  if (content.ends_with('\r')) content.remove_suffix(1);
  return content;
}

}  // namespace hiaton
