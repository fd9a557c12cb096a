#include "base/file_bytes.h"
#include "hiaton/engine.h"
#include "hiaton/lang.h"

namespace hiaton {

std::shared_ptr<const Source> read_source(const std::filesystem::path& path, std::size_t most_bytes) {
  const std::string name = path.string();
  return std::make_shared<const Source>(name, read_file(name, most_bytes));
}

std::shared_ptr<const Source> read_program(const std::filesystem::path& path) {
  if (path.extension() == ".json") return read_source(path, graph::kMaxSavedBytes);
  return lang::with_imports(read_source(path, lang::kMaxProgramBytes));
}

}  // namespace hiaton
