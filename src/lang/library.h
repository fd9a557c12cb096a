// The standard library: files of the language that are part of the program `hiaton` itself.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace hiaton::lang {

struct LibraryFile {
  std::string_view name;  ///< as in an import: "std/list"
  std::string_view text;
};

std::span<const LibraryFile> library();

/// Whether a name is one of files of the library, whatever comes behind the first part.
constexpr bool is_of_library(std::string_view name) {
  return name.starts_with("std/") && !name.ends_with(".hia");
}

}  // namespace hiaton::lang
