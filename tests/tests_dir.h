// Where the files stand that tests read.
#pragma once

#include <filesystem>

namespace hiaton {

/// The folder tests/ of the source tree. Its path stands in one source alone, so that a compiler cache has
/// the others for every checkout.
const std::filesystem::path& tests_dir();

namespace benchmarks {
/// The root of the source tree.
inline const std::filesystem::path kRoot = tests_dir() / "..";
}  // namespace benchmarks

}  // namespace hiaton
