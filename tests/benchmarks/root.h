// The directory of the project.
#pragma once

#include <filesystem>

#include "tests_dir.h"

namespace hiaton::benchmarks {

inline const std::filesystem::path kRoot = tests_dir() / "..";

}  // namespace hiaton::benchmarks
