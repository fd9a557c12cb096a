#include <fmt/format.h>

#include <algorithm>

#include "hiaton/error.h"
#include "ir/names.h"
#include "lang/token.h"

namespace hiaton::lang {
namespace {

/// Without underscores and without a type behind the number.
std::string plain_digits(std::string_view text, bool negative) {
  std::string plain = negative ? "-" : "";
  if (text.starts_with("nan") || text.starts_with("inf")) return plain + std::string(text.substr(0, 3));
  const std::size_t suffix = text.find_first_of("iuf");
  for (char c : text.substr(0, suffix)) {
    if (c != '_') plain += c;
  }
  return plain;
}

}  // namespace

Value literal_value(std::string_view digits, bool negative, DType type) {
  return parse_value(type, plain_digits(digits, negative));
}

}  // namespace hiaton::lang
