// The bytes of a file.
#pragma once

#include <cstddef>
#include <string>

namespace hiaton {

/// Throws ProgramError that names the file and says why it cannot be read, also where it is longer than
/// `most_bytes`; it reads no further then.
std::string read_file(const std::string& name, std::size_t most_bytes);

}  // namespace hiaton
