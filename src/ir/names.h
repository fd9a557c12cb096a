// What may be a name in a program, however the program is made: text and Builder share these rules.
#pragma once

#include <array>
#include <string_view>

namespace hiaton::ir {

/// Every word that is no name. The last four belong to parts of the language that are still to come.
inline constexpr std::array<std::string_view, 25> kKeywords = {
    "fn",  "let",  "in",    "if",  "then", "else",   "on",     "with", "while", "for",   "do",    "and", "or",
    "not", "true", "false", "nan", "inf",  "nanf32", "inff32", "_",    "data",  "match", "param", "grad"};

bool is_keyword(std::string_view word);

constexpr bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9');
}

/// A letter or '_', then letters, digits and '_'; no keyword.
bool is_name(std::string_view word);

/// A name that a function may have: operations (and with them the types, which are casts) keep theirs.
bool is_function_name(std::string_view word);

}  // namespace hiaton::ir
