// What the environment says about how much to test.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace hiaton::properties {

inline uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace hiaton::properties
