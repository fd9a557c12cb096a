// The directory of the project.
#pragma once

#include <filesystem>

namespace hiaton::benchmarks {

inline const std::filesystem::path kRoot = std::filesystem::path(HIATON_TESTS_DIR) / "..";

}  // namespace hiaton::benchmarks
