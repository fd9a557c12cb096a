#pragma once

#include <filesystem>

namespace hiaton {

/// The folder tests/ of the source tree. Its path stands in one source alone, so that a compiler cache has
/// the others for every checkout.
const std::filesystem::path& tests_dir();

}  // namespace hiaton
