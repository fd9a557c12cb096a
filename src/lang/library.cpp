#include "lang/library.h"

#include <array>

namespace hiaton::lang {
namespace texts {

// Made by the build: src/lang/library.
extern const std::string_view option;
extern const std::string_view list;
extern const std::string_view map;
extern const std::string_view heap;
extern const std::string_view queue;
extern const std::string_view set;
extern const std::string_view string;
extern const std::string_view tensor;

}  // namespace texts

std::span<const LibraryFile> library() {
  static const std::array files = {
      LibraryFile{"std/heap", texts::heap},     LibraryFile{"std/list", texts::list},
      LibraryFile{"std/map", texts::map},       LibraryFile{"std/option", texts::option},
      LibraryFile{"std/queue", texts::queue},   LibraryFile{"std/set", texts::set},
      LibraryFile{"std/string", texts::string}, LibraryFile{"std/tensor", texts::tensor}};
  return files;
}

}  // namespace hiaton::lang
