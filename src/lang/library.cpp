#include "lang/library.h"

namespace hiaton::lang {

std::span<const LibraryFile> library() {
  return {};
}

}  // namespace hiaton::lang
