// What messages about a module say: where it is wrong, and several types at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/ir.h"
#include "hiaton/type.h"

namespace hiaton {

/// "(i64, f64)"
std::string list_types(const std::vector<Type>& types);

/// Throws ProgramError that begins with `what` unless they are compatible.
void require_types(const std::vector<Type>& expected, const std::vector<Type>& found, std::string_view what);

namespace ir {

/// An error of the module as a whole, which points at the head of the function where there is a text.
ProgramError error_in(const Module& module, const Function& function, const std::string& message);

}  // namespace ir

}  // namespace hiaton
