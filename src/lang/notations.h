// What stands here for notations of other languages.
#pragma once

#include <string_view>

#include "lang/token.h"

namespace hiaton::lang {

/// What to write instead of what begins with the token `next`, where `what` is expected: "a list with a new
/// first element is [x, ..xs]". Empty where no such notation is known. `first` is the first token of the
/// program.
std::string_view written_instead_of_notation(std::string_view what, const Token* first, const Token* next);

}  // namespace hiaton::lang
