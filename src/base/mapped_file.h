// The bytes of a file, read by the system when they are looked at.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace hiaton {

/// A file in the address space, so that it may be larger than memory. Nobody may cut it off meanwhile; one
/// that is replaced stays as it was.
class MappedFile {
 public:
  /// Throws ProgramError that names the file and says why it cannot be read.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {begin_, size_}; }

 private:
  const char* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hiaton
