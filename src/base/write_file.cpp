#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file_bytes.h"
#include "hiaton/error.h"

namespace hiaton {
namespace {

/// Readable by all that the umask allows.
constexpr mode_t kMode = 0666;

class File {
 public:
  File(const std::filesystem::path& path, int flags)
      : file_(::open(path.c_str(), flags | O_CLOEXEC, kMode)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (file_ >= 0) ::close(file_);
  }

  bool is_open() const { return file_ >= 0; }

  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  /// Some file systems cannot sync a directory, which is no fault of the file.
  bool sync() const { return ::fsync(file_) == 0 || errno == EINVAL || errno == ENOTSUP; }

 private:
  int file_;
};

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int reason) {
  throw ProgramError(fmt::format("cannot {} '{}': {}", what, path.string(), std::strerror(reason)));
}

bool write_and_sync(const std::filesystem::path& path, const std::vector<std::string_view>& parts) {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open()) return false;
  for (const std::string_view part : parts) {
    if (!file.write(part)) return false;
  }
  return file.sync();
}

}  // namespace

void write_atomically(const std::filesystem::path& path, const std::vector<std::string_view>& parts) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  if (!write_and_sync(temporary, parts) || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    fail("write", path, reason);
  }
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  const File directory(parent, O_RDONLY | O_DIRECTORY);
  if (!directory.is_open() && errno == EACCES) return;  // may be written, but not read
  if (!directory.is_open() || !directory.sync()) fail("write", path, errno);
}

void append_to_file(const std::filesystem::path& path, std::string_view bytes) {
  const File file(path, O_WRONLY | O_CREAT | O_APPEND);
  if (!file.is_open() || !file.write(bytes)) fail("write", path, errno);
}

}  // namespace hiaton
