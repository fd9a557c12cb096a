// What is wrong with a module as a whole.
#pragma once

#include <string>

#include "hiaton/error.h"
#include "hiaton/ir.h"

namespace hiaton::ir {

/// Points at the head of the function where there is a text.
ProgramError error_in(const Module& module, const Function& function, const std::string& message);

}  // namespace hiaton::ir
