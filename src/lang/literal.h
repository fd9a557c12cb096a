// Number literals to values.
#pragma once

#include <string>
#include <string_view>

#include "hiaton/value.h"

namespace hiaton::lang {

/// The value of a number as the lexer reads it, sign apart. Throws ProgramError where it does not fit.
Value literal_value(std::string_view digits, bool negative, DType type);

}  // namespace hiaton::lang
