// What may be a name in a program, however the program is made: text and Builder share these rules.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "hiaton/type.h"

namespace hiaton::ir {

/// Every word that is no name.
inline constexpr std::array<std::string_view, 28> kKeywords = {
    "fn", "let",  "in",    "if",    "then", "else",           "on",  "with",         "while",  "for",
    "do", "and",  "or",    "not",   "true", "false",          "nan", "inf",          "nanf32", "inff32",
    "_",  "data", "match", "param", "grad", "value_and_grad", "vjp", "value_and_vjp"};

bool is_keyword(std::string_view word);

constexpr bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9');
}

/// A letter or '_', then letters, digits and '_'; no keyword.
bool is_name(std::string_view word);

/// Variants and data types begin with an upper-case letter.
constexpr bool is_capitalized(std::string_view name) {
  return !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
}

/// Lists, "List[i64]".
inline bool is_list(const DataType& data) {
  return data.name.starts_with("List[");
}

/// The data types that are not declared themselves: lists, uses of generic data types, "Pair[i64, f64]", and
/// the types of gradients, "Gradient[Tree]", and tuples, "(i64, f64)".
inline bool is_built_in(const DataType& data) {
  return data.name.ends_with("]") || data.name.starts_with("(");
}

/// A name that a function may have. Types keep theirs. Where it is an operation's, the function is what the
/// program calls by it.
bool is_function_name(std::string_view word);

/// The same for what is made for a program: it leaves operations theirs too.
bool is_name_for_made(std::string_view word);

/// A type as a part of the name of a function: "List_i64".
std::string as_name(std::string_view type);

}  // namespace hiaton::ir
