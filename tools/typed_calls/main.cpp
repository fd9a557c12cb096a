// Writes the public header of typed calls, hiaton/ops.h: one C++ function for each operation of the
// catalogue.
//
//   hiaton_typed_calls FILE
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/op.h"

namespace hiaton {
namespace {

/// The keywords of C++, which are no names there.
constexpr std::string_view kKeywords[] = {
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq"};

/// A cast is named to_f32, a keyword of C++ and_, all others as in programs.
std::string cpp_name(std::string_view name) {
  if (dtype_from_name(name)) return fmt::format("to_{}", name);
  const bool is_keyword = std::ranges::find(kKeywords, name) != std::end(kKeywords);
  return std::string(name) + (is_keyword ? "_" : "");
}

/// The text as lines of a comment.
std::string comment(std::string_view text) {
  constexpr std::size_t kWidth = 110;
  std::string made = "///";
  std::size_t width = made.size();
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (width + 1 + word.size() > kWidth) {
      made += "\n///";
      width = 3;
    }
    made += fmt::format(" {}", word);
    width += 1 + word.size();
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return made + '\n';
}

/// The parts of one function.
struct Call {
  std::vector<std::string> parameters;
  std::string builder;     ///< whose `op` is called
  std::string operands;    ///< its second argument
  std::string attributes;  ///< its third; empty: none
};

void add_operands(const OpDef& op, Call& call) {
  std::vector<std::string> single;
  std::string others;
  for (std::string_view operand : op.operands.value) {
    const bool is_list = operand.ends_with("...");
    if (is_list) operand.remove_suffix(3);
    const std::string name = cpp_name(operand);
    call.parameters.push_back(fmt::format("{}{}", is_list ? "const std::vector<Var>& " : "Var ", name));
    (is_list ? others : single.emplace_back()) = name;
  }
  call.operands = fmt::format("{{{}}}", fmt::join(single, ", "));
  if (!others.empty())
    call.operands = single.empty() ? others : fmt::format("typed_calls::join({}, {})", call.operands, others);
  if (op.takes_type) {
    call.builder = "f";
  } else {
    call.builder =
        single.empty() ? fmt::format("typed_calls::builder_of({})", others) : single[0] + ".builder()";
  }
}

void add_attributes(const OpDef& op, Call& call) {
  std::vector<std::string> single;
  std::string list;
  for (const AttributeDef& attribute : op.attributes) {
    const std::string name = cpp_name(attribute.name);
    if (attribute.is_list) {
      list = name;
      call.parameters.push_back(
          fmt::format("const Attributes& {}{}", name, attribute.otherwise ? " = {}" : ""));
      continue;
    }
    const bool is_one = attribute.count == 1;
    for (std::size_t i = 0; i < attribute.count; ++i)
      single.push_back(is_one ? name : fmt::format("{}[{}]", name, i));
    const std::string type = is_one ? "int64_t" : fmt::format("typed_calls::Each<{}>", attribute.count);
    const std::string otherwise = attribute.otherwise ? fmt::format(" = {}", *attribute.otherwise) : "";
    call.parameters.push_back(fmt::format("{} {}{}", type, name, otherwise));
  }
  if (op.attributes.empty()) return;
  call.attributes = fmt::format("Attributes{{{}}}", fmt::join(single, ", "));
  if (!list.empty())
    call.attributes = single.empty() ? list : fmt::format("typed_calls::join({}, {})", call.attributes, list);
}

std::string function_of(const OpDef& op) {
  Call call;
  if (op.takes_type) call.parameters = {"FunctionBuilder& f", "const Type& type"};
  add_operands(op, call);
  add_attributes(op, call);
  std::string arguments = fmt::format("\"{}\", {}", op.name.value, call.operands);
  if (op.takes_type && call.attributes.empty()) call.attributes = "Attributes{}";
  if (!call.attributes.empty()) arguments += ", " + call.attributes;
  if (op.takes_type) arguments += ", &type";
  const std::string name = cpp_name(op.name.value);
  const std::string_view for_tidy =
      name.ends_with('_') ? "  // NOLINT(readability-identifier-naming): a keyword of C++" : "";
  return fmt::format("{}inline Var {}({}) {{{}\n  return {}.op({});\n}}\n", comment(op.doc.value), name,
                     fmt::join(call.parameters, ", "), for_tidy, call.builder, arguments);
}

constexpr std::string_view kHead =
    R"(// The operations as C++ functions, for bodies that hiaton/builder.h makes: exp(x), matmul(a, b).
//
// Made from the catalogue when Hiaton is built. Operands come first, then attributes. Each function throws ProgramError
// where the type rule of its operation refuses the operands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hiaton/builder.h"

namespace hiaton {

namespace typed_calls {

/// Throws ProgramError where there is no operand that tells it.
inline FunctionBuilder& builder_of(const std::vector<Var>& operands) {
  return (operands.empty() ? Var() : operands[0]).builder();
}
/// An integer for each of several axes; one alone is that of all of them: 2, or {1, 2}.
template <std::size_t count>
struct Each {
  Each(int64_t all) { values.fill(all); }  // NOLINT(google-explicit-constructor): it stands for each
  template <class... Integers>
    requires(sizeof...(Integers) == count && count > 1)
  Each(Integers... each)  // NOLINT(google-explicit-constructor): it takes more than one
      : values{static_cast<int64_t>(each)...} {}

  int64_t operator[](std::size_t axis) const { return values[axis]; }

  std::array<int64_t, count> values;
};
template <class List>
List join(List first, const List& rest) {
  for (const auto& element : rest) first.push_back(element);
  return first;
}
inline std::vector<Var> join(std::initializer_list<Var> first, const std::vector<Var>& rest) {
  return join(std::vector<Var>(first), rest);
}

}  // namespace typed_calls
)";

std::string header(const Catalog& operations) {
  std::string text(kHead);
  for (const OpDef* op : operations.all()) text += '\n' + function_of(*op);
  return text + "\n}  // namespace hiaton\n";
}

}  // namespace
}  // namespace hiaton

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "expected the name of the file to write\n";
    return 2;
  }
  std::ofstream file(arguments[1]);
  file << hiaton::header(hiaton::catalog());
  file.close();
  if (!file.fail()) return 0;
  std::cerr << "cannot write " << arguments[1] << '\n';
  return 1;
}
