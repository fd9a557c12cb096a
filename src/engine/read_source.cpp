#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

#include "hiaton/engine.h"
#include "hiaton/error.h"

namespace hiaton {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail_to_read(const std::string& name, const std::string& reason) {
  throw ProgramError(fmt::format("cannot read '{}': {}", name, reason));
}

/// Positions in a text are 32-bit offsets.
constexpr std::size_t kMaxTextSize = std::numeric_limits<uint32_t>::max() - 1;

std::string read_all(std::FILE* file, const std::string& name) {
  std::string text;
  char chunk[1 << 16];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, file)) {
    if (text.size() + count > kMaxTextSize) fail_to_read(name, "it is larger than 4 GiB");
    text.append(chunk, count);
  }
  if (std::ferror(file)) fail_to_read(name, std::strerror(errno));
  return text;
}

}  // namespace

std::shared_ptr<const Source> read_source(const std::filesystem::path& path) {
  const std::string name = path.string();
  const File file(std::fopen(name.c_str(), "rb"));
  if (!file) fail_to_read(name, std::strerror(errno));
  return std::make_shared<const Source>(name, read_all(file.get(), name));
}

}  // namespace hiaton
