// Objects that refer to what they are: after a move they are nothing.
#pragma once

#include <string>
#include <string_view>

#include "hiaton/error.h"

namespace hiaton {

/// What an object points to. Throws ProgramError where it was moved from. `meant` and `found` are for the
/// message, as "a program" and "a Program".
template <class Pointer>
auto& not_moved(const Pointer& pointer, std::string_view meant, std::string_view found) {
  if (pointer == nullptr)
    throw ProgramError("expected " + std::string(meant) + ", found " + std::string(found) +
                       " that was moved from");
  return *pointer;
}

}  // namespace hiaton
