// Files that are replaced as a whole: after a crash there is the old one or the new one, never a part.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hiaton::train {

/// Writes the parts one after the other to a temporary file beside `path`, makes sure that they reached the
/// disk, and renames it to `path`. Throws ProgramError; what `path` held before is untouched then.
void write_atomically(const std::filesystem::path& path, const std::vector<std::string_view>& parts);

/// Adds to the end of a file, made where missing. Throws ProgramError that names the file and the reason.
void append(const std::filesystem::path& path, std::string_view bytes);

}  // namespace hiaton::train
