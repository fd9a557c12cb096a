// Several types at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hiaton/type.h"

namespace hiaton {

/// "(i64, f64)"
std::string list_types(const std::vector<Type>& types);

/// Throws ProgramError that begins with `what` unless they are compatible.
void require_types(const std::vector<Type>& expected, const std::vector<Type>& found, std::string_view what);

}  // namespace hiaton
