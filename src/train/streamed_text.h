// The text of a data file that may be larger than memory.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file_bytes.h"
#include "hiaton/error.h"

namespace hiaton::train {

/// A line of such a text, which is read again when it is used.
struct StreamedLine {
  uint64_t begin;
  uint32_t bytes;
  uint32_t number;  ///< from 1
};

class StreamedText {
 public:
  /// Throws ProgramError where the file cannot be read.
  explicit StreamedText(const std::filesystem::path& path) : name_(path.string()), file_(path) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    text_ = file_.bytes();
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  std::string_view line(const StreamedLine& line) const { return text_.substr(line.begin, line.bytes); }

  /// `at` counts bytes from the begin of the line.
  [[noreturn]] void fail(uint32_t line, std::size_t begin, std::size_t at, std::string_view message) const {
    const std::string_view before = text_.substr(begin, at);
    const auto column = std::ranges::count_if(before, [](char c) { return (c & '\xC0') != '\x80'; }) + 1;
    throw ProgramError(fmt::format("{}:{}:{}: error: {}", name_, line, column, message));
  }

 private:
  std::string name_;
  MappedFile file_;
  std::string_view text_;
};

}  // namespace hiaton::train
