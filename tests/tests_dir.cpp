#include "tests_dir.h"

namespace hiaton {

const std::filesystem::path& tests_dir() {
  static const std::filesystem::path directory = HIATON_TESTS_DIR;
  return directory;
}

}  // namespace hiaton
