// Program text and positions in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace hiaton {

/// A half-open range of byte offsets in a Source. A default Span means "made without text" (by a Builder).
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool known() const { return end > begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// A place as people read it: both count from 1; columns count characters (UTF-8 code points), not bytes.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

/// The text of one program, without a byte order mark, and the name messages call it by. Immutable.
class Source {
 public:
  Source(std::string name, std::string text);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  std::string_view text(Span span) const;
  LineColumn locate(uint32_t offset) const;
  /// The line that holds `offset`, without its line break.
  std::string_view line_at(uint32_t offset) const;
  /// Where that line begins.
  uint32_t line_begin(uint32_t offset) const { return line_starts_[line_index(offset)]; }

 private:
  std::size_t line_index(uint32_t offset) const;

  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

}  // namespace hiaton
#pragma GCC visibility pop
