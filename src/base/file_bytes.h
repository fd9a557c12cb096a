// The bytes of a file: all read at once, or by the system when they are looked at; and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hiaton {

/// All bytes. Throws ProgramError that names the file and says why it cannot be read, also where it is longer
/// than `most_bytes`; it reads no further then.
std::string read_file(const std::string& name, std::size_t most_bytes = SIZE_MAX);

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

/// CRC-32C (Castagnoli), as iSCSI and TFRecord use it. Eight bytes at a time, as in Kounavis and Berry, "A
/// systematic approach to building high performance software-based CRC generators", 2005.
uint32_t crc32c(std::string_view bytes);

/// Replaces a file as a whole: after a crash there is the old one or the new one, never a part. Writes the
/// parts one after the other to a temporary file beside `path`, makes sure that they reached the disk, and
/// renames it to `path`. Throws ProgramError; what `path` held before is untouched then.
void write_atomically(const std::filesystem::path& path, const std::vector<std::string_view>& parts);

/// Adds to the end of a file, made where missing. Throws ProgramError that names the file and the reason.
void append_to_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace hiaton
