#include "ir/names.h"

#include <algorithm>

#include "hiaton/op.h"

namespace hiaton::ir {

bool is_keyword(std::string_view word) {
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

bool is_name(std::string_view word) {
  return !word.empty() && starts_name(word[0]) && std::all_of(word.begin(), word.end(), continues_name) &&
         !is_keyword(word);
}

bool is_function_name(std::string_view word) {
  return is_name(word) && !dtype_from_name(word) && word != "str";
}

bool is_name_for_made(std::string_view word) {
  return is_function_name(word) && catalog().find(word) == nullptr;
}

std::string as_name(std::string_view type) {
  std::string name;
  for (const char c : type) {
    if (continues_name(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

}  // namespace hiaton::ir
