#include "tests_dir.h"

#include <fstream>
#include <sstream>

namespace hiaton {

const std::filesystem::path& tests_dir() {
  static const std::filesystem::path directory = HIATON_TESTS_DIR;
  return directory;
}

std::string file_text(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace hiaton
