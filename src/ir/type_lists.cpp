#include <fmt/format.h>

#include <algorithm>

#include "hiaton/error.h"
#include "ir/errors.h"

namespace hiaton {

std::string list_types(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) text += (text.empty() ? "" : ", ") + to_string(type);
  return "(" + text + ")";
}

void require_types(const std::vector<Type>& expected, const std::vector<Type>& found, std::string_view what) {
  if (std::equal(expected.begin(), expected.end(), found.begin(), found.end(), compatible)) return;
  throw ProgramError(fmt::format("{}: expected {}, found {}", what, list_types(expected), list_types(found)));
}

}  // namespace hiaton
