#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail_to_read(const std::string& name, const std::string& reason) {
  throw ProgramError(fmt::format("cannot read '{}': {}", name, reason));
}

std::string read_all(std::FILE* file, const std::string& name, std::size_t most_bytes) {
  std::string text;
  char chunk[1 << 16];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, file)) {
    if (count > most_bytes - text.size()) {
      fail_to_read(name,
                   fmt::format("it is larger than {} MiB, the most it may have", (most_bytes + 1) >> 20));
    }
    text.append(chunk, count);
  }
  if (std::ferror(file)) fail_to_read(name, std::strerror(errno));
  return text;
}

}  // namespace

std::shared_ptr<const Source> read_source(const std::filesystem::path& path, std::size_t most_bytes) {
  const std::string name = path.string();
  const File file(std::fopen(name.c_str(), "rb"));
  if (!file) fail_to_read(name, std::strerror(errno));
  return std::make_shared<const Source>(name, read_all(file.get(), name, most_bytes));
}

std::shared_ptr<const Source> read_program(const std::filesystem::path& path) {
  return read_source(path, path.extension() == ".json" ? graph::kMaxSavedBytes : lang::kMaxProgramBytes);
}

}  // namespace hiaton
