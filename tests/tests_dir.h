// The files that tests read.
#pragma once

#include <filesystem>
#include <string>

namespace hiaton {

/// The folder tests/ of the source tree. Its path stands in one source alone, so that a compiler cache has
/// the others for every checkout.
const std::filesystem::path& tests_dir();

/// All that stands in a file; nothing where there is none.
std::string file_text(const std::filesystem::path& path);

namespace benchmarks {
/// The root of the source tree.
inline const std::filesystem::path kRoot = tests_dir() / "..";
}  // namespace benchmarks

}  // namespace hiaton
