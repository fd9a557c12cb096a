#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file_bytes.h"
#include "hiaton/error.h"

namespace hiaton {
namespace {

[[noreturn]] void fail_to_map(const std::filesystem::path& path, int error) {
  throw ProgramError(fmt::format("cannot read '{}': {}", path.string(), std::strerror(error)));
}

struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) fail_to_map(path, errno);
  const Descriptor file{number};
  struct stat status {};
  if (::fstat(number, &status) != 0) fail_to_map(path, errno);
  if (S_ISDIR(status.st_mode)) fail_to_map(path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw ProgramError(
        fmt::format("cannot read '{}': expected a file, found a pipe or a device", path.string()));
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* const mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, number, 0);
  if (mapped == MAP_FAILED) fail_to_map(path, errno);
  begin_ = static_cast<const char*>(mapped);
}

MappedFile::~MappedFile() {
  if (begin_ != nullptr) ::munmap(const_cast<char*>(begin_), size_);
}

}  // namespace hiaton
