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
///
/// A program of several files is one text as well: the files that it imports stand behind its own, each
/// behind a line `#file "lib.hia"`, with the name relative to the program's own folder. So whoever keeps the
/// text of a program keeps all of its files.
class Source {
 public:
  Source(std::string name, std::string text);

  /// That of the program's own file.
  const std::string& name() const { return files_[0].name; }
  std::string_view text() const { return text_; }
  std::string_view text(Span span) const;
  /// A file of the program.
  struct File {
    std::string name;      ///< as messages call it
    std::string key;       ///< as behind `#file`; empty for the program's own
    uint32_t begin = 0;    ///< where its text begins
    std::size_t line = 0;  ///< how many lines of the whole text stand before it
  };
  /// The program's own first.
  const std::vector<File>& files() const { return files_; }
  /// The one that holds `offset`.
  const File& file_at(uint32_t offset) const;
  /// The line in its file.
  LineColumn locate(uint32_t offset) const;
  /// "lib.hia:3:7"
  std::string place_of(uint32_t offset) const;
  /// The line that holds `offset`, without its line break.
  std::string_view line_at(uint32_t offset) const;
  /// The offset at which that line begins.
  uint32_t line_begin(uint32_t offset) const { return line_starts_[line_index(offset)]; }

 private:
  std::size_t line_index(uint32_t offset) const;
  void begin_file(std::size_t mark, std::size_t line);

  std::vector<File> files_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

/// What the line before a file of a program begins with: behind it come the name, '"' and a line break.
inline constexpr std::string_view kFileMark = "#file \"";

}  // namespace hiaton
#pragma GCC visibility pop
