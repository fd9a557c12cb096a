#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/file_bytes.h"
#include "hiaton/error.h"

namespace hiaton {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void fail_to_read(const std::string& name, const std::string& reason) {
  throw ProgramError(fmt::format("cannot read '{}': {}", name, reason));
}

}  // namespace

std::string read_file(const std::string& name, std::size_t most_bytes) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(name.c_str(), "rb"));
  if (!file) fail_to_read(name, std::strerror(errno));
  std::string text;
  char chunk[1 << 16];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, file.get())) {
    if (count > most_bytes - text.size()) {
      fail_to_read(name,
                   fmt::format("it is larger than {} MiB, the most it may have", (most_bytes + 1) >> 20));
    }
    text.append(chunk, count);
  }
  if (std::ferror(file.get())) fail_to_read(name, std::strerror(errno));
  return text;
}

}  // namespace hiaton
